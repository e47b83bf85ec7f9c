"""The default topology of a unit's jobs, `required LEVEL` or `preferred LEVEL`, and which node label its level means.

A level is written as the label key of some flavor's topology, or as the last part of one: `rack` for
`cloud.example/rack`. What that means is a question to the flavors of one cluster: another may have other labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from tenancy.model.hardware import HOSTNAME, Hardware

MODES: Final = ("required", "preferred")

_HOST: Final = "host"
"""What people call the level of `kubernetes.io/hostname`."""


class UnitTopology(NamedTuple):
    """What a unit says."""

    mode: str
    """`required` or `preferred`."""
    level: str
    """As written."""


def parse_topology(text: str) -> UnitTopology | None:
    """What a unit says, or None where it is not a mode and a level."""
    words = text.split()
    return UnitTopology(*words) if len(words) == 2 and words[0] in MODES else None


def levels_of(flavor: Hardware, scheduler: str) -> tuple[str, ...]:
    """The levels that a job may ask for: Volcano has no HyperNode of a single host, so no tier for it."""
    if scheduler == "volcano":
        return tuple(level for level in flavor.levels if level != HOSTNAME)
    return flavor.levels


def meanings(level: str, keys: Iterable[str]) -> list[str]:
    """The label keys that a level may mean, sorted: itself, else all that end in it. More than one is ambiguous."""
    known = sorted(set(keys))
    if level in known:
        return [level]
    return [key for key in known if _short(key) == level or (level == _HOST and key == HOSTNAME)]


def _short(key: str) -> str:
    return key.rpartition("/")[2]
