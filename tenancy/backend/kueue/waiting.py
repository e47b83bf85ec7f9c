"""What Kueue makes of a job: whether it can run, on whose promise, and what its Workload says while it waits.

The formulas and the words are those of Kueue's scheduler: pkg/scheduler/flavorassigner (which flavor, and why not),
pkg/cache/scheduler (`potentialAvailable`, `notFitMessage`) and pkg/controller/core (stopped queues), read in 0.17.0,
0.18.4 and 0.19.2 and compared with the conditions of real Workloads on 0.17.0 and 0.19.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tenancy.backend.kueue.capacity import capacity, reach
from tenancy.backend.kueue.topology_defaults import asking
from tenancy.backend.waiting import (
    Cause,
    Outcome,
    Request,
    Verdict,
    Waiting,
    main_of,
    promise,
    queue_of,
    quota_of,
    refused,
    room,
    scatters,
    untolerated,
)
from tenancy.model.hardware import Hardware
from tenancy.model.quantity import canonical
from tenancy.model.versions import number
from tenancy.plan.values import ClusterPlan, Queue

NAMES_EVERY_RESOURCE: Final = (0, 19)
"""From this minor on Kueue names every resource of which a flavor has too little; before, the first that its random
order of resources comes to (`fitsResourceQuota` in a loop that ended there)."""

OWN_LABEL_KEYS: Final = (0, 18)
"""From this minor on a node selector is compared with the label keys of the flavor at hand; before, with those of all
flavors of the queue."""

BYPASSED: Final = "Bypassed scheduling evaluation because an equivalent workload recently failed"
"""What Kueue 0.19 says of the second of equal jobs, and of the first where its scheduler gives no reason (no flavor was
refused: only a resource is missing). The true words are then in the Workload's events."""

_NEARNESS: Final[tuple[Cause, ...]] = ("nodes", "topology", "capacity", "taint", "selector")
"""Why a flavor does not take a job, from almost right to hopeless."""


@dataclass(frozen=True, slots=True)
class _Look:
    """What Kueue finds when it tries a flavor. Without a cause the job runs there, by `outcome`."""

    flavor: str
    outcome: Outcome
    cause: Cause = ""
    message: str = ""


def verdict(cluster: ClusterPlan, queue: str, request: Request) -> Verdict:
    """What becomes of a job in a queue of the cluster: the first flavor that takes it, in the order of the queue.

    Raises `KeyError` for a queue or a flavor that the cluster does not have.
    """
    found = queue_of(cluster, queue)
    wanted = {name: count for name, count in request.pod.items() if count}
    if found.state != "active":
        return Verdict(outcome="never", cause="stopped", message=f"ClusterQueue {queue} is ")
    if (answer := refused(cluster, found, request)) is not None:
        return answer
    covered = {name: count for name, count in wanted.items() if name in _covered(cluster, found)}
    looks = [_look(cluster, found, cluster.flavors[name], request, covered) for name in found.flavors]
    if missing := [name for name in wanted if name not in covered]:
        message = _unavailable(number(cluster.kueue), missing, [*covered], looks, found)
        return Verdict(outcome="never", cause="resource", message=message)
    fits = next((look for look in looks if not look.cause), None)
    if fits is None:
        return _never(found, looks, main_of(wanted))
    return Verdict(
        outcome=fits.outcome,
        flavor=fits.flavor,
        waits=f"insufficient unused quota for {main_of(wanted)} in flavor {fits.flavor}, ",
        fragmented=_fragmented(cluster, cluster.flavors[fits.flavor], wanted, request.pods),
    )


def _look(cluster: ClusterPlan, queue: Queue, flavor: Hardware, request: Request, wanted: Mapping[str, int]) -> _Look:
    """What Kueue finds on one flavor, in its order: taints, node selector, quota, nodes."""
    name, total = flavor.name, {resource: count * request.pods for resource, count in wanted.items()}
    if taint := untolerated(cluster, flavor, request):
        words = f"{{{taint.key} {taint.value} {taint.effect} <nil>}}"
        return _Look(name, "never", "taint", f"untolerated taint {words} in flavor {name}")
    if request.flavor and not _selects(cluster, queue, flavor, cluster.flavors[request.flavor].labels):
        return _Look(name, "never", "selector", f"flavor {name} doesn't match node affinity")
    if short := dict(_short(cluster, queue, name, total)):
        return _Look(name, "never", "capacity", _too_much(cluster, name, total, short))
    fit = room(flavor, wanted)
    if fit >= request.pods:
        return _Look(name, promise(queue, name, total))
    if not cluster.packed:
        return _Look(name, "never", "nodes")
    return _Look(name, "never", "topology", _no_place(name, fit, request.pods))


def _selects(cluster: ClusterPlan, queue: Queue, flavor: Hardware, selected: Mapping[str, str]) -> bool:
    """Whether a node selector leads to the flavor; keys that do not count are left to the nodes."""
    keys = set(flavor.labels)
    if number(cluster.kueue) < OWN_LABEL_KEYS:
        keys = {key for name in queue.flavors for key in cluster.flavors[name].labels}
    return all(flavor.labels.get(key) == value for key, value in selected.items() if key in keys)


def _covered(cluster: ClusterPlan, queue: Queue) -> set[str]:
    return {resource for name in queue.flavors for resource in queue.quotas[name]} & set(cluster.resources)


def _short(cluster: ClusterPlan, queue: Queue, flavor: str, total: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """The resources of which the queue can never have as much, with the most that it can have."""
    for resource, count in total.items():
        most = capacity(cluster, queue.name, flavor, resource)
        if count > most:
            yield resource, most


def _too_much(cluster: ClusterPlan, flavor: str, total: Mapping[str, int], short: Mapping[str, int]) -> str:
    asked = f"in flavor {flavor}, previously considered podsets requests (0) + current podset request ("
    if len(short) > 1 and number(cluster.kueue) < NAMES_EVERY_RESOURCE:
        return asked  # which resource Kueue names is chance
    resource = main_of(short)
    amounts = canonical(total[resource], resource), canonical(short[resource], resource)
    return f"insufficient quota for {resource} {asked}{amounts[0]}) > maximum capacity ({amounts[1]})"


def _no_place(topology: str, fit: int, pods: int) -> str:
    if fit == 0:
        return f'topology "{topology}" doesn\'t allow to fit any of {pods} pod(s)'
    return f'topology "{topology}" allows to fit only {fit} out of {pods} pod(s)'


def _fragmented(cluster: ClusterPlan, flavor: Hardware, wanted: Mapping[str, int], pods: int) -> str:
    """What is said where no node has enough free GPUs for a pod; of several pods some may have found a node."""
    if not cluster.packed or not scatters(flavor, wanted):
        return ""
    return _no_place(flavor.name, 0, pods) if pods == 1 else f'topology "{flavor.name}" '


def _unavailable(
    minor: tuple[int, int], missing: list[str], covered: list[str], looks: list[_Look], queue: Queue
) -> str:
    """Kueue stops at the first resource of a job that it cannot give. Until 0.18 the order of resources is chance."""
    first = f"resource {min(missing, key=_hash)} unavailable in ClusterQueue"
    passed = next((index for index, look in enumerate(looks) if look.cause in ("", "topology", "nodes")), None)
    if minor < NAMES_EVERY_RESOURCE:
        if covered and passed is None:
            return "couldn't assign flavors to pod set "
        return first if len(missing) == 1 else " unavailable in ClusterQueue"
    if not covered or _hash(min(missing, key=_hash)) < min(map(_hash, covered)):
        return first
    if passed is None:
        return _nearest(queue, looks, main_of(covered)).message
    return first if passed else BYPASSED


def _hash(resource: str) -> int:
    """The order in which Kueue 0.19 asks for resources: FNV-1a (`hashResourceName` in pkg/resources)."""
    value = 0xCBF29CE484222325
    for byte in resource.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def _never(queue: Queue, looks: list[_Look], main: str) -> Verdict:
    """The flavor that comes nearest, and the words of that which Kueue tries last.

    Where quotas let a job onto a flavor whose nodes do not, Kueue goes on with the flavors after it, in a cycle of its
    own that overwrites the message of the one before.
    """
    nearest = _nearest(queue, looks, main)
    placed = max((index for index, look in enumerate(looks) if look.cause in ("topology", "nodes")), default=-1)
    told = _nearest(queue, looks[placed + 1 :] or looks[placed:], main)
    message = "" if nearest.cause == "nodes" else told.message
    return Verdict(outcome="never", cause=nearest.cause, message=message, flavor=nearest.flavor)


def _nearest(queue: Queue, looks: list[_Look], main: str) -> _Look:
    """The first of those that have the resource which the job is about, if one has; of these the most nearly right."""
    return min(looks, key=lambda look: (not quota_of(queue, look.flavor, main).limit, _NEARNESS.index(look.cause)))


WAITING: Final = Waiting(
    verdict=verdict,
    reach=reach,
    queues=lambda _, queue: (queue.name,),
    weighs=True,
    injects=True,
    asking=asking,
)
