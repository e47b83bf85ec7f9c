"""The promises of a unit as quotas of Kueue's tree (docs/kueue.md, run to the GPU).

A Cohort's own quota adds to its children's, so an inner unit carries only what it does not hand on. Every flavor has
every resource of the group, "0" where it has none: an absent limit would mean unlimited.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tenancy.model.organization import Quota
from tenancy.model.quantity import canonical
from tenancy.plan.values import Group, Queue

_NOTHING = Quota(0, 0, 0)


def queue_groups(queue: Queue, resources: Iterable[str]) -> list[dict[str, Any]]:
    """The resource groups of a ClusterQueue: one, or none where the queue reaches nothing."""
    offered = {resource for name in queue.flavors for resource in queue.quotas[name]}
    covered = [resource for resource in resources if resource in offered]
    flavors = [
        {
            "name": name,
            "resources": [_of_queue(resource, queue.quotas[name].get(resource, _NOTHING)) for resource in covered],
        }
        for name in queue.flavors
    ]
    return [{"coveredResources": covered, "flavors": flavors}] if flavors else []


def cohort_groups(group: Group, resources: Iterable[str]) -> list[dict[str, Any]]:
    """The resource groups of a Cohort: every flavor and resource of the cluster, so that each limit is stated."""
    covered = list(resources)
    flavors = [
        {
            "name": name,
            "resources": [_of_cohort(resource, group, name) for resource in covered],
        }
        for name in group.quotas
    ]
    return [{"coveredResources": covered, "flavors": flavors}] if flavors else []


def _of_queue(resource: str, quota: Quota) -> dict[str, str]:
    return {
        "name": resource,
        "nominalQuota": canonical(quota.quota, resource),
        "borrowingLimit": canonical(quota.limit - quota.quota, resource),
        "lendingLimit": canonical(quota.quota - quota.reserved, resource),
    }


def _of_cohort(resource: str, group: Group, flavor: str) -> dict[str, str]:
    quota = group.quotas[flavor].get(resource, _NOTHING)
    own: Mapping[str, int] = group.pool[flavor]
    nominal = {"name": resource, "nominalQuota": canonical(own.get(resource, 0), resource)}
    if group.parent is None:
        return nominal
    return {
        **nominal,
        "borrowingLimit": canonical(quota.limit - quota.quota, resource),
        "lendingLimit": canonical(quota.quota - quota.reserved, resource),
    }
