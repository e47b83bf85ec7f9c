"""How much a queue can come to use, by Kueue's own formulas, and how many pods the nodes of a flavor hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tenancy.model.hardware import CPU, GPUS, MEMORY, Hardware
from tenancy.model.organization import Quota
from tenancy.plan.values import ClusterPlan, Group, Queue

_NOTHING: Final = Quota(0, 0, 0)


def capacity(cluster: ClusterPlan, queue: str, flavor: str, resource: str) -> int:
    """The most of a resource that the queue can use while all others stand idle (`potentialAvailable`).

    Raises `KeyError` for a queue that the cluster does not have.
    """
    found = queue_of(cluster, queue)
    quota = quota_of(found, flavor, resource)
    # A unit keeps what it does not lend, and has no more than its limit beside what its children keep for themselves.
    return min(quota.limit, quota.reserved + _above(cluster, found.parent, flavor, resource))


def queue_of(cluster: ClusterPlan, name: str) -> Queue:
    """The queue of a name. Raises `KeyError` where the cluster has none."""
    found = next((queue for queue in cluster.queues if queue.name == name), None)
    if found is None:
        raise KeyError(name)
    return found


def quota_of(unit: Group | Queue, flavor: str, resource: str) -> Quota:
    """The promises of a unit; nothing where it has none."""
    return unit.quotas.get(flavor, {}).get(resource, _NOTHING)


def _above(cluster: ClusterPlan, name: str, flavor: str, resource: str) -> int:
    """What a Cohort offers to one of its children beyond what the child keeps."""
    group = next(group for group in cluster.groups if group.name == name)
    units: tuple[Group | Queue, ...] = (*cluster.groups, *cluster.queues)
    children = [quota_of(child, flavor, resource) for child in units if child.parent == name]
    # A Cohort's own quota is its pool; its subtree has that and what the children lend.
    subtree = group.pool.get(flavor, {}).get(resource, 0) + sum(child.quota - child.reserved for child in children)
    if group.parent is None:
        return subtree
    reserved, quota, limit = quota_of(group, flavor, resource)
    kept = max(0, subtree - (quota - reserved))
    return min(subtree + limit - quota, kept + _above(cluster, group.parent, flavor, resource))


def room(flavor: Hardware, wanted: Mapping[str, int]) -> int:
    """How many such pods the nodes of the flavor hold while they are empty."""
    return sum(
        count * min((node.get(resource, 0) // amount for resource, amount in wanted.items()), default=count)
        for count, node in nodes(flavor)
    )


def nodes(flavor: Hardware) -> Iterator[tuple[int, dict[str, int]]]:
    """Kinds of nodes of the flavor: how many there are, and what jobs can use of one, by resource name.

    MIG layouts that share the GPUs of a node make one kind; those of different nodes make one each.
    """
    base = {CPU: flavor.node[CPU], MEMORY: flavor.node[MEMORY]}
    if flavor.gpu is None:
        yield flavor.nodes, base
        return
    shared: dict[str, int] = {}
    for layout in flavor.layouts:
        slices = {flavor.gpu.profiles[profile].resource: count for profile, count in layout.profiles.items()}
        devices = {name: each * layout.gpus for name, each in (slices or {flavor.gpu.resource: 1}).items()}
        if layout.gpus == flavor.node[GPUS]:
            yield layout.nodes, {**base, **devices}
        else:
            shared = {name: shared.get(name, 0) + devices.get(name, 0) for name in {*shared, *devices}}
    if shared:
        yield flavor.nodes, {**base, **shared}
