"""What Kubernetes alone makes of a job: the API server refuses what is above the quota, kube-scheduler places the rest.

There is no queue: whatever made a refused pod tries again by itself. The words are those of the API server's admission
of ResourceQuota and of kube-scheduler's events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from tenancy.backend.native.quotas import COMPUTE, hard, keys, parts, stopped
from tenancy.backend.waiting import (
    Request,
    Verdict,
    Waiting,
    main_of,
    nodes,
    queue_of,
    quota_of,
    refused,
    room,
    scatters,
    untolerated,
)
from tenancy.model.hardware import Hardware
from tenancy.model.quantity import canonical
from tenancy.plan.values import ClusterPlan, Group, Queue

UNALLOCATED: Final = "cannot allocate all claims"
"""What kube-scheduler says where no node has devices for a pod's claims (its plugin dynamicresources)."""
_REFUSED: Final = f"exceeded quota: {COMPUTE}, requested: "


def verdict(cluster: ClusterPlan, queue: str, request: Request) -> Verdict:
    """What becomes of a job in a namespace of a unit, while nothing else runs there.

    Raises `KeyError` for a queue or a flavor that the cluster does not have.
    """
    found = queue_of(cluster, queue)
    wanted = {name: count for name, count in request.pod.items() if count}
    if found.state != "active":
        message = f"exceeded quota: {stopped(found.state)}, requested: pods=1, used: "
        return Verdict(outcome="never", cause="stopped", message=message)
    if (answer := refused(cluster, found, request)) is not None:
        return answer
    has = _most(cluster, found, request.namespace, main_of(wanted))
    starts = min((has.get(name, 0) // count for name, count in wanted.items()), default=request.pods)
    short = [name for name, count in wanted.items() if count * (starts + 1) > has.get(name, 0)]
    # Pods are refused for what they request; one that is not is still refused its claim.
    short = [name for name in short if name not in cluster.device_classes] or short
    asked = ",".join(f"{keys(cluster, name)[0]}={canonical(wanted[name], name)}" for name in sorted(short))
    message = f"{_REFUSED}{asked}, used: "
    if not starts:
        return Verdict(outcome="never", cause="capacity", message=message)
    placed = _placed(cluster, found, replace(request, pods=min(starts, request.pods)), wanted)
    if starts >= request.pods or not placed.runs:
        return placed
    return Verdict(outcome="never", cause="part", message=message, started=starts, flavor=placed.flavor)


def reach(cluster: ClusterPlan, unit: Group | Queue, flavor: str, resource: str) -> int:
    """What a unit owns, or those below it together: nothing is borrowed, and what is not handed on is nobody's."""
    if isinstance(unit, Queue):
        return quota_of(unit, flavor, resource).quota
    return sum(reach(cluster, child, flavor, resource) for child in cluster.below.get(unit.name, ()))


def namespaces(cluster: ClusterPlan, queue: Queue) -> dict[str, dict[str, int]]:
    """What each namespace of a unit may request, all flavors together."""
    return {name: hard(cluster, part) for name, part in parts(cluster, queue).items()}


def _most(cluster: ClusterPlan, queue: Queue, namespace: str, main: str) -> Mapping[str, int]:
    """What the namespace has; without one, that which has the most of what the job is about."""
    found = namespaces(cluster, queue)
    return found[namespace] if namespace else max(found.values(), key=lambda has: has.get(main, 0))


def _placed(cluster: ClusterPlan, queue: Queue, request: Request, wanted: Mapping[str, int]) -> Verdict:
    """Where kube-scheduler finds nodes: no quota ties a pod to a flavor, so any that it may run on will do."""
    names = [request.flavor] if request.flavor else dict.fromkeys([*queue.flavors, *cluster.flavors])
    flavors = [cluster.flavors[name] for name in names]
    opened = [flavor for flavor in flavors if not untolerated(cluster, flavor, request)]
    if not opened:
        return Verdict(outcome="never", cause="taint", message="untolerated taint", flavor=flavors[0].name)
    place = {flavor.name: room(flavor, wanted) for flavor in opened}
    main = main_of(wanted)
    nearest = max(opened, key=lambda each: (min(place[each.name], request.pods), main in each.resources))
    scarce = _scarcest(nearest, wanted)
    message = UNALLOCATED if scarce in cluster.device_classes else f"Insufficient {scarce}"
    if sum(place.values()) < request.pods:
        return Verdict(outcome="never", cause="nodes", message=message, flavor=nearest.name)
    scattered = message if scatters(nearest, wanted) else ""
    return Verdict(outcome="quota", flavor=nearest.name, waits=_REFUSED, fragmented=scattered)


def _scarcest(flavor: Hardware, wanted: Mapping[str, int]) -> str:
    """The resource that the nodes of a flavor run out of first, a GPU before others."""
    fits = [{name: node.get(name, 0) // count for name, count in wanted.items()} for _, node in nodes(flavor)]
    most = max(fits, key=lambda each: min(each.values(), default=0))
    return main_of(name for name, pods in most.items() if pods == min(most.values(), default=0))


WAITING: Final = Waiting(verdict=verdict, reach=reach, queues=lambda _, __: (), lends=False, parts=namespaces)
