"""Losses that mean the same under every scheduler that has them, and the answer that is the same as well."""

from __future__ import annotations

from typing import Final

from tenancy.backend.parity import KEPT, Answer, Fate, Loss, Made, losing
from tenancy.backend.promises import Look, Said
from tenancy.backend.shared.admission import Guard, level
from tenancy.diagnostics import Severity

NO_PREEMPTION_INSIDE: Final = Loss(
    "no-preemption-inside",
    Severity.ERROR,
    "Jobs evict none of their own queue",
    "An urgent job waits until one of its own team ends, however low the priority of that one is: nobody is evicted "
    "inside a queue.",
    "write `policy: {preemption: never}`",
)
QUEUEING_NOT_STRICT: Final = Loss(
    "queueing-not-strict",
    Severity.ERROR,
    "A queue in which smaller jobs pass",
    "Each job is tried by itself, so one that fits starts before one that does not: a large job may wait for ever "
    "behind a stream of small ones.",
    "write `policy: {queueing: best-effort}`",
)
HOLD_LETS_PENDING_START: Final = Loss(
    "hold-lets-pending-start",
    Severity.WARNING,
    "A held unit whose waiting jobs still start",
    "An admission policy or a quota refuses what is new; what was submitted before is in the cluster already, and "
    "starts when there is room.",
    "end the jobs that wait by hand",
)
DRAIN_ENDS_NOTHING: Final = Loss(
    "drain-ends-nothing",
    Severity.ERROR,
    "A draining unit whose jobs go on",
    "Nothing in the cluster ends a job because its unit is drained: its GPUs stay in use until the job ends by itself, "
    "or somebody deletes it.",
    "write `state: held`, and delete the jobs that run by hand",
)

RULES: Final = (NO_PREEMPTION_INSIDE, QUEUEING_NOT_STRICT, HOLD_LETS_PENDING_START, DRAIN_ENDS_NOTHING)


_LEVELS: Final = {
    "warn": "whoever submits other work is only warned",
    "audit": "other work is only noted in the audit log",
    "off": "nothing keeps other work out",
}
"""By the level of a guard: what becomes of work that breaks it, where it is not refused."""


def guarded(guard: Guard) -> Answer:
    """Kept by an admission policy, where that refuses."""

    def made(seen: Look, said: Said) -> Made:
        del said
        said_level = level(seen.plan, guard)
        return Made(Fate.DIFFERENTLY, _LEVELS[said_level]) if said_level in _LEVELS else KEPT

    return Answer(f"only told or noted where `guards: {{{guard}: …}}` is not `deny`", made)


def _preemption(seen: Look, said: Said) -> Made:
    del seen
    return KEPT if said.value == "never" else losing(NO_PREEMPTION_INSIDE, "they wait until one of these ends")


PREEMPTION: Final = Answer("always as `never`", _preemption, (NO_PREEMPTION_INSIDE,))
"""Of a scheduler that evicts nobody inside a queue."""
