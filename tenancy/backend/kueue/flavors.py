"""ResourceFlavors with their topologies, and priorities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenancy.backend.kueue.queues import API
from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import obj
from tenancy.backend.shared.priorities import priority_marks
from tenancy.model.hardware import Hardware, Taint
from tenancy.plan.values import ClusterPlan


def flavors(plan: ClusterPlan) -> Iterator[Object]:
    """Each flavor of the cluster, with a Topology of its own where placement is packed.

    In one ClusterQueue all flavors have a topology or none: a mix leaves plain jobs pending (run on 0.17.0).
    """
    packed = plan.packed
    for flavor in plan.flavors.values():
        if packed:
            levels = [{"nodeLabel": level} for level in flavor.levels]
            yield obj(API, "Topology", flavor.name, plan.labels, spec={"levels": levels})
        yield obj(API, "ResourceFlavor", flavor.name, plan.labels, spec=_flavor_spec(flavor, packed=packed))


def priorities(plan: ClusterPlan) -> Iterator[Object]:
    """The organization's priorities; Kueue orders and preempts by them, kube-scheduler does not see them."""
    for name, priority in plan.priorities.items():
        yield obj(
            API,
            "WorkloadPriorityClass",
            name,
            plan.labels,
            annotations=priority_marks(plan, priority),
            value=priority.value,
            description=f"Priority {name}.",
        )


def _flavor_spec(flavor: Hardware, *, packed: bool) -> dict[str, Any]:
    """A fenced flavor carries its taint and no toleration, so only pods that tolerate it land there; a lent one injects
    the toleration (run on 0.17.0)."""
    spec: dict[str, Any] = {"nodeLabels": dict(sorted(flavor.labels.items()))}
    if flavor.taints and flavor.fenced:
        spec["nodeTaints"] = [taint.spec for taint in flavor.taints]
    elif flavor.taints:
        spec["tolerations"] = [_toleration(taint) for taint in flavor.taints]
    if packed:
        spec["topologyName"] = flavor.name
    return spec


def _toleration(taint: Taint) -> dict[str, str]:
    if taint.value:
        return {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
    return {"key": taint.key, "operator": "Exists", "effect": taint.effect}
