"""What Volcano makes of a job: which queue it must name, and what its PodGroup says while it waits.

A flavor is chosen by the queue, and a job that names none never starts. Its pods are made at once and wait for the
whole gang. The words are those of the gang plugin's condition of a PodGroup (`OnSessionClose` and `JobInfo.FitError` in
Volcano 1.15.1), for a gang of all its pods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tenancy.backend.volcano.names import leaf, leaves_of
from tenancy.backend.volcano.topology_defaults import asking
from tenancy.backend.waiting import (
    Cause,
    Request,
    Verdict,
    Waiting,
    main_of,
    promise,
    queue_of,
    refused,
    room,
    scatters,
    untolerated,
    within_limits,
)
from tenancy.model.hardware import Hardware
from tenancy.plan.values import ClusterPlan, Queue

_NEARNESS: Final[tuple[Cause, ...]] = ("", "nodes", "capacity", "taint", "resource")
"""Why a flavor does not take a job, from not at all to hopeless."""


def verdict(cluster: ClusterPlan, queue: str, request: Request) -> Verdict:
    """What becomes of a job in the queues of a unit: on the flavor that it selects, or on the first that takes it.

    Raises `KeyError` for a queue or a flavor that the cluster does not have.
    """
    found = queue_of(cluster, queue)
    wanted = {name: count for name, count in request.pod.items() if count}
    if found.state != "active":
        return Verdict(outcome="never", cause="stopped", message=f"The unit of this namespace is {found.state}, so ")
    if (answer := refused(cluster, found, request)) is not None:
        return answer
    names = [request.flavor] if request.flavor else found.flavors
    looks = [_look(cluster, found, cluster.flavors[name], request, wanted) for name in names if name in found.flavors]
    if not looks:
        return Verdict(outcome="never", cause="selector", flavor=request.flavor)
    return min(looks, key=lambda look: _NEARNESS.index(look.cause))


def _look(cluster: ClusterPlan, queue: Queue, flavor: Hardware, request: Request, wanted: Mapping[str, int]) -> Verdict:
    """What becomes of it in the queue of one flavor."""
    name, total = flavor.name, {resource: count * request.pods for resource, count in wanted.items()}
    waits = f"tasks in gang unschedulable: pod group is not ready, {request.pods} Pending, {request.pods} minAvailable"
    cause = _cause(cluster, queue, flavor, request, wanted)
    if cause:
        message = waits if cause in ("nodes", "capacity", "taint") else ""
        return Verdict(outcome="never", cause=cause, message=message, flavor=name, queue=leaf(queue, name))
    return Verdict(
        outcome=promise(queue, name, total),
        flavor=name,
        queue=leaf(queue, name),
        waits=waits,
        fragmented=f"Insufficient {main_of(wanted)}" if scatters(flavor, wanted) else "",
    )


def _cause(cluster: ClusterPlan, queue: Queue, flavor: Hardware, request: Request, wanted: Mapping[str, int]) -> Cause:
    if not wanted.keys() <= set(flavor.resources):
        return "resource"
    if untolerated(cluster, flavor, request):
        return "taint"
    most = {resource: within_limits(cluster, queue, flavor.name, resource) for resource in wanted}
    if any(count * request.pods > most[resource] for resource, count in wanted.items()):
        return "capacity"
    return "nodes" if room(flavor, wanted) < request.pods else ""


WAITING: Final = Waiting(verdict=verdict, reach=within_limits, queues=leaves_of, asking=asking)
