"""What becomes of a promise under a scheduler: the lines of the parity table, which the loss diagnostics are read from.

Each backend says what it keeps in a `parity.py` of its own; nothing here knows one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from tenancy.diagnostics import KeyPath, Rule
from tenancy.model.organization import Org
from tenancy.plan.values import ClusterPlan


class Fate(StrEnum):
    """What a scheduler does with a promise."""

    KEPT = "kept"
    DIFFERENTLY = "differently"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A promise of the organization and what a scheduler makes of it."""

    cluster: str
    unit: str
    """Its title, `research/vision`; empty for the organization."""
    promise: str
    """The key of the language: `reserved`, `quota`, `limit`, `weight`, `reclaim`, `state`, …"""
    flavor: str = ""
    """Where the promise is about one."""
    said: str
    """What the organization promises, with its number: `8 GPUs are never lent`."""
    fate: Fate
    becomes: str = ""
    """What the scheduler makes of it, with its number; empty where it is kept as it is."""
    rule: Rule | None = None
    """The loss; None where the promise is kept."""
    path: KeyPath = ()
    """Where it is said."""


Parity: TypeAlias = Callable[[Org, ClusterPlan], Iterator[Promise]]
"""From an organization and what one of its clusters comes to, to every promise in the order of the units."""
