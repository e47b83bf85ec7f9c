"""What kube-state-metrics says of ResourceQuotas, by unit: no scheduler counts anything, and nothing waits in a queue.

A quota counts a resource over all flavors. Where one flavor alone has it, that is said; else there is no `flavor`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from tenancy.backend.native.quotas import COMPUTE, keys
from tenancy.backend.telemetry.names import LIMIT, NAMESPACE_INFO, QUOTA, UNIT, USED
from tenancy.backend.telemetry.promql import Source, one_of, record
from tenancy.plan.values import ClusterPlan

QUOTAS: Final = f'kube_resourcequota{{resourcequota="{COMPUTE}"}}'
_SOURCE: Final = Source("namespace", NAMESPACE_INFO, UNIT)


def use(plan: ClusterPlan) -> Iterator[dict[str, Any]]:
    """What units use and own of each resource; nothing is lent, so what they own is all that they may have."""
    for resource in plan.resources:
        counted = keys(plan, resource)
        flavors = [flavor.name for flavor in plan.flavors.values() if flavor.capacity.get(resource)]
        labels = {"resource": resource, **({"flavor": flavors[0]} if len(flavors) == 1 else {})}
        yield record(USED, _sum("used", counted), **labels)
        yield record(QUOTA, _sum("hard", counted[:1]), **labels)
        yield record(LIMIT, _sum("hard", counted[:1]), **labels)


def waiting(_: ClusterPlan) -> tuple[()]:
    """Nothing: what does not fit is refused, and what comes later is another pod."""
    return ()


def pods_wait() -> str:
    """The units whose pods wait for a node. Others in phase Pending have one, and pull an image or mount a volume."""
    return _SOURCE.any_of_units("max by (namespace) (kube_pod_status_unschedulable) > 0")


def _sum(kind: str, counted: Iterable[str]) -> str:
    """A claim and a pod that gets devices of a class without one are counted by two keys, each in one of them."""
    chosen = f'{QUOTAS[:-1]}, type="{kind}", resource=~{one_of(counted)}}}'
    return _SOURCE.of_units(f"max by (namespace, resource) ({chosen})")
