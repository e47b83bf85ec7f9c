"""What becomes of the GPU jobs of a unit when their GPUs are taken back: `tenancy.plan.interruption` works it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from tenancy.model.duration import spoken


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """Who must expect to lose GPUs, with which notice, and what that asks of jobs."""

    borrows: bool
    """Whether any may be taken back: only beyond the unit's own quota."""
    refused: bool
    """Whether the API server refuses GPU jobs that are not made for it."""
    priorities: Mapping[str, int]
    """Those of the unit that are `preemptible`, with the seconds in which a job saves its state; 0 where it begins
    again."""

    @property
    def words(self) -> str:
        """For people."""
        if not self.borrows:
            return "It borrows no GPUs, so none of its jobs is ever evicted for another unit, whatever its priority."
        taken = "What its GPU jobs have beyond its quota may be taken back while they run"
        if not self.priorities:
            so = ", so each of them is refused" if self.refused else ""
            return (
                f"{taken}, and it has no `preemptible` priority{so}. The ways out: give it one, or `borrowing: none`."
            )
        notices = " one of ".join(f"{name} {_notice(grace)}," for name, grace in self.priorities.items())
        must = " Every GPU job here needs one of these priorities." if self.refused else ""
        return f"{taken}: a job of {notices[:-1]}.{must}"


def _notice(grace: int) -> str:
    return f"has {spoken(timedelta(seconds=grace))} to save its state" if grace else "begins again"
