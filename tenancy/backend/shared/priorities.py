"""The organization's priorities as PriorityClasses, for clusters whose scheduler reads them from the pod."""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import obj
from tenancy.plan.values import ClusterPlan


def priority_classes(plan: ClusterPlan, preemption: str) -> Iterator[Object]:
    """A PriorityClass for each priority, with this preemptionPolicy; no pod gets one that it does not name.

    `globalDefault: false` is not written: the API server drops it, and the live object would differ from out/.
    """
    for name, value in plan.priorities.items():
        yield obj(
            "scheduling.k8s.io/v1",
            "PriorityClass",
            name,
            plan.labels,
            value=value,
            preemptionPolicy=preemption,
            description=f"Priority {name}.",
        )
