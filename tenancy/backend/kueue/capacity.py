"""How much a queue can come to use, by Kueue's own formulas."""

from __future__ import annotations

from tenancy.backend.waiting import queue_of, quota_of, within_limits
from tenancy.plan.values import ClusterPlan, Group, Queue


def reach(cluster: ClusterPlan, unit: Group | Queue, flavor: str, resource: str) -> int:
    """The most of a resource that the queues of a unit can use while all others stand idle."""
    if isinstance(unit, Queue):
        return capacity(cluster, unit.name, flavor, resource)
    return within_limits(cluster, unit, flavor, resource)


def capacity(cluster: ClusterPlan, queue: str, flavor: str, resource: str) -> int:
    """The most of a resource that the queue can use while all others stand idle (`potentialAvailable`).

    Raises `KeyError` for a queue that the cluster does not have.
    """
    found = queue_of(cluster, queue)
    quota = quota_of(found, flavor, resource)
    # A unit keeps what it does not lend, and has no more than its limit beside what its children keep for themselves.
    return min(quota.limit, quota.reserved + _above(cluster, found.parent, flavor, resource))


def _above(cluster: ClusterPlan, name: str, flavor: str, resource: str) -> int:
    """What a Cohort offers to one of its children beyond what the child keeps."""
    group = next(group for group in cluster.groups if group.name == name)
    children = [quota_of(child, flavor, resource) for child in cluster.below.get(name, ())]
    # A Cohort's own quota is its pool; its subtree has that and what the children lend.
    subtree = group.pool.get(flavor, {}).get(resource, 0) + sum(child.quota - child.reserved for child in children)
    if group.parent is None:
        return subtree
    reserved, quota, limit = quota_of(group, flavor, resource)
    kept = max(0, subtree - (quota - reserved))
    return min(subtree + limit - quota, kept + _above(cluster, group.parent, flavor, resource))
