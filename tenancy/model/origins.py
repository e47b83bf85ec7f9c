"""Where a value comes from: the place where it was written, or the rule that made it of what was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tenancy.diagnostics import KeyPath, Place
from tenancy.load.source import Sources

WRITTEN: Final = "written"
DEFAULT: Final = "default"
"""Of what nobody says: the language has a value for it."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one value comes from."""

    rule: str
    """`written`, `default`, or the name of the rule that derives it."""
    detail: str = ""
    """The rule with its numbers, for people; empty where the place says all."""
    places: tuple[Place, ...] = ()
    """What was written: the value itself, or what the rule was given. Empty where nothing was."""


def written(sources: Sources, path: KeyPath, detail: str = "") -> Origin:
    """Of a value that stands there as it is."""
    return Origin(WRITTEN, detail, (sources.value(path),))


def derived(sources: Sources, rule: str, detail: str, paths: Iterable[KeyPath] = ()) -> Origin:
    """Of a value that a rule makes of what stands at some paths; those that were not written down are left out."""
    return Origin(
        rule, detail, tuple(dict.fromkeys(sources.value(path) for path in paths if is_written(sources, path)))
    )


def is_written(sources: Sources, path: KeyPath) -> bool:
    """Whether there is a value at the path, and not a default."""
    value = sources.tree
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def plain(number: float) -> str:
    """A weight as people write it."""
    return str(number).removesuffix(".0")
