"""What Kubernetes alone makes of each promise: quotas that are fixed numbers, and no queue."""

from __future__ import annotations

from typing import Final

from tenancy.backend.native.losses import (
    FLAVORS_NOT_TOLD_APART,
    NO_BORROWING,
    NO_GANGS,
    NO_QUEUE,
    NO_TOPOLOGY,
    QUOTA_DIVIDED,
)
from tenancy.backend.native.quotas import parts
from tenancy.backend.parity import KEPT, Answer, Answers, Fate, Loss, Made, differently, kept, losing
from tenancy.backend.promises import Look, Said, in_words
from tenancy.backend.shared.losses import (
    DRAIN_ENDS_NOTHING,
    HOLD_LETS_PENDING_START,
    PREEMPTION,
    QUEUEING_NOT_STRICT,
    guarded,
)
from tenancy.model.hardware import GPUS, Hardware
from tenancy.plan.values import Queue

_NAMED: Final = 3
"""Namespaces that a text names."""


def _always(loss: Loss, becomes: str, short: str = "") -> Answer:
    return Answer(short or becomes, lambda _, __: losing(loss, becomes), (loss,))


def _owned(seen: Look, said: Said) -> Made:
    """What is a queue's own lies in its namespaces; a unit that holds others has no more than they have."""
    queue = seen.queues.get(said.unit.queue)
    if queue is None or said.flavor is None or len(queue.namespaces) < 2 or not _some(queue, said.flavor):
        return KEPT
    divided = parts(seen.plan, queue)
    named = []
    for namespace in queue.namespaces[:_NAMED]:
        part = divided[namespace][said.flavor.name]
        named.append(f"`{namespace}` has {in_words({main: part[main] for main in said.flavor.mains if part[main]})}")
    more = len(queue.namespaces) - _NAMED
    rest = f", and so on for {more} more" if more > 0 else ""
    return losing(QUOTA_DIVIDED, f"each namespace has a part: {', '.join(named)}{rest}")


def _some(queue: Queue, flavor: Hardware) -> bool:
    return any(queue.quotas[flavor.name][main].quota for main in flavor.mains)


def _quota(seen: Look, said: Said) -> Made:
    queue, flavor = seen.queues.get(said.unit.queue), said.flavor
    if queue is not None and flavor is not None and (others := _alike(seen, queue, flavor)):
        return losing(FLAVORS_NOT_TOLD_APART, f"it is counted together with {others}")
    return _owned(seen, said)


def _alike(seen: Look, queue: Queue, flavor: Hardware) -> str:
    """What a quota cannot tell from a flavor: others with its GPUs, and cpu and memory that come with GPUs."""
    found = []
    for other in seen.flavors:
        shared = [main for main in flavor.mains if other is not flavor and main in other.resources]
        if any(main in other.mains or queue.quotas[other.name][main].quota for main in shared):
            what = "" if set(shared) & set(other.mains) else "cpu and memory of "
            found.append(f"{what}`{other.name}`")
    return " and ".join(found)


def _weight(seen: Look, said: Said) -> Made:
    del seen, said
    return losing(NO_BORROWING, "it gets nothing")


def _queueing(seen: Look, said: Said) -> Made:
    del seen
    if said.value == "strict":
        return losing(QUEUEING_NOT_STRICT, "nothing is queued: whichever is tried while there is room starts")
    return losing(NO_QUEUE, "pods above the quota are refused, and Jobs try again")


def _state(seen: Look, said: Said) -> Made:
    del seen
    if said.value == "draining":
        return losing(DRAIN_ENDS_NOTHING, "every new pod is refused; what runs goes on to its end")
    becomes = "every new pod is refused, also one that replaces a failed one; pods that wait for a node still start"
    return losing(HOLD_LETS_PENDING_START, becomes)


def _gang(seen: Look, said: Said) -> Made:
    """Where all that a unit may use fits onto one node, a job is seldom torn apart."""
    becomes = "they start one by one, as nodes have room, and a job is never put back"
    return losing(NO_GANGS, becomes) if said.value or _several_nodes(seen) else Made(Fate.DIFFERENTLY, becomes)


def _several_nodes(seen: Look) -> bool:
    """Whether some queue owns more GPUs than a node has."""
    return any(
        queue.quotas[flavor.name][flavor.names[GPUS]].quota > flavor.node[GPUS]
        for flavor in seen.flavors
        if GPUS in flavor.names and flavor.gpu is not None
        for queue in seen.plan.queues
    )


ANSWERS: Final[Answers] = {
    "gang": Answer("pod by pod", _gang, (NO_GANGS,)),
    "priorities": differently("they order the pods that wait for a node; what the quota refuses is in no order"),
    "interruption": kept("nothing is lent"),
    "placement": differently("pods are spread over the nodes, as Kubernetes does by default"),
    "flavors": kept(),
    "reclaimTime": kept("nothing is lent"),
    "reclaimGangs": kept("nothing is lent"),
    "reclaimEvictions": kept("nothing is lent"),
    "reclaimBounds": kept("nothing is lent"),
    "cpuJobs": kept(),
    "spareNodes": kept(),
    "wholeNodes": kept(),
    "topology": _always(NO_TOPOLOGY, "they go wherever there is room"),
    "topologyDefault": _always(NO_TOPOLOGY, "they go wherever there is room"),
    "unitPriorities": guarded("priorities"),
    "reserved": Answer("in parts, where a unit has several namespaces", _owned, (QUOTA_DIVIDED,)),
    "quota": Answer(
        "in parts, where a unit has several namespaces; together with other flavors of the same resource",
        _quota,
        (QUOTA_DIVIDED, FLAVORS_NOT_TOLD_APART),
    ),
    "limit": kept("the quota"),
    "borrowing": _always(NO_BORROWING, "it has no more than its quota"),
    "pool": _always(NO_BORROWING, "nobody can use it"),
    "weight": Answer("nothing is lent", _weight, (NO_BORROWING,)),
    "reclaim": kept("nothing is lent"),
    "preemption": PREEMPTION,
    "borrowingPreemption": _always(NO_BORROWING, "nothing is borrowed"),
    "queueing": Answer("pods above the quota are refused", _queueing, (NO_QUEUE, QUEUEING_NOT_STRICT)),
    "state": Answer(
        "no new pod, nor one that replaces a failed one; what waits for a node still starts, and nothing is ended",
        _state,
        (HOLD_LETS_PENDING_START, DRAIN_ENDS_NOTHING),
    ),
}
