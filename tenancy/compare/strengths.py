"""Whose promise gets weaker or stronger by the numbers and rules of others, without a change of their own numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tenancy.compare.effects import Side


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthChange:
    """One promise of a unit that is worth more or less than before."""

    cluster: str
    unit: str
    flavor: str
    """Empty where it is about all flavors."""
    stronger: bool
    what: str
    """What changes for the people of the unit, a sentence without a period, numbers included."""


def strengths(old: Mapping[str, Side], new: Mapping[str, Side]) -> tuple[StrengthChange, ...]:
    """Weaker ones first."""
    del old, new
    return ()
