"""The priority of a job, and what it says of being interrupted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tenancy.backend.shared.guards.marks import CHECKPOINT
from tenancy.backend.waiting import Request
from tenancy.model.hardware import CPU, MEMORY
from tenancy.model.priorities import preemptible
from tenancy.plan.values import ClusterPlan, Namespace


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """What the author of a job says beside its size. What is empty is chosen, or marked for a person."""

    priority: str = ""
    name: str = ""
    image: str = ""
    checkpoint: str = ""
    """Where or how a checkpointed job saves its state."""


def interruptible(cluster: ClusterPlan, home: Namespace, request: Request) -> bool:
    """Whether the job must have a priority whose jobs may be interrupted: it may run on GPUs that others lend, and the
    organization says of some priority what an interruption takes."""
    gpus = any(count for name, count in request.pod.items() if name not in (CPU, MEMORY))
    guarded = cluster.cluster.guards.interruption != "off"
    return gpus and guarded and home.borrows and bool(preemptible(cluster.priorities))


def priorities(cluster: ClusterPlan, home: Namespace, request: Request) -> tuple[str, ...]:
    """Those that the job may have, the one first that is for work like most: the lowest that is not below the default
    of 0. None where the unit has none, or none that the job may have."""
    values = {name: cluster.priorities[name] for name in home.priorities}
    if interruptible(cluster, home, request):
        values = {name: each for name, each in values.items() if each.preemptible}
    ordered = sorted(values, key=lambda name: (values[name].value < 0, abs(values[name].value)))
    return (*ordered[:1], *sorted(ordered[1:]))


def offered(cluster: ClusterPlan, home: Namespace, request: Request, author: Author) -> tuple[str, ...]:
    """The priority that its author says, else those that it may have; the first is taken."""
    return (author.priority,) if author.priority else priorities(cluster, home, request)


def saving(cluster: ClusterPlan, priority: str, author: Author) -> dict[str, Any]:
    """What a job of the priority says of being interrupted, `key`, `where` and `grace` in seconds; nothing where its
    jobs save no state."""
    if not priority or cluster.priorities[priority].preemptible != "checkpointed":
        return {}
    grace = cluster.priorities[priority].seconds
    return {"key": f"{cluster.domain}/{CHECKPOINT}", "where": author.checkpoint, "grace": grace}
