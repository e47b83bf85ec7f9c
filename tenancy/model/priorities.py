"""Priorities: their values, and what their jobs take when the GPUs that they run on are taken back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final, NamedTuple

from tenancy.model.document import Organization
from tenancy.model.document_guards import PriorityEntry
from tenancy.model.duration import parse_duration

LOWEST: Final = -(2**31)
HIGHEST: Final = 1_000_000_000
"""Bounds of a value: int32, and what Kubernetes leaves to PriorityClasses that are not the system's."""
GRACE: Final = timedelta(minutes=1)
"""What a job has to save its state where its priority does not say."""


class Priority(NamedTuple):
    """A priority with nothing left open."""

    value: int
    preemptible: str = ""
    """`checkpointed` or `restartable`; empty where its jobs should not be interrupted."""
    grace: timedelta = timedelta()
    """How long a checkpointed job may take to save its state; nothing for others."""

    @property
    def seconds(self) -> int:
        """The grace in whole seconds, as pods say it."""
        return int(self.grace.total_seconds())


def priorities(document: Organization) -> dict[str, Priority]:
    """The priorities of the organization by name, sorted."""
    return {name: priority(entry) for name, entry in sorted(document.priorities.items())}


def priority(entry: PriorityEntry) -> Priority:
    """A priority as it may be written, with its defaults."""
    if isinstance(entry, int):
        return Priority(entry)
    grace = (parse_duration(entry.grace_period) if entry.grace_period else None) or GRACE
    return Priority(entry.value, entry.preemptible or "", grace if entry.preemptible == "checkpointed" else timedelta())


def preemptible(found: Mapping[str, Priority]) -> tuple[str, ...]:
    """Those whose jobs may be interrupted, by value from high to low; none where the organization says it of none."""
    names = [name for name, each in found.items() if each.preemptible]
    return tuple(sorted(names, key=lambda name: (-found[name].value, name)))
