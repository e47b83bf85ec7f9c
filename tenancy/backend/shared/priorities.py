"""The organization's priorities: what their objects say of them, and as PriorityClasses, for clusters whose scheduler
reads them from the pod."""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import obj
from tenancy.model.duration import go_duration
from tenancy.model.priorities import Priority
from tenancy.plan.values import ClusterPlan


def priority_marks(plan: ClusterPlan, priority: Priority) -> dict[str, str]:
    """What a priority says of being interrupted, as annotations: for people, and for a plan that compares objects."""
    grace = go_duration(priority.grace) if priority.grace else ""
    said = {"preemptible": priority.preemptible, "grace-period": grace}
    return {f"{plan.domain}/{key}": value for key, value in said.items() if value}


def priority_classes(plan: ClusterPlan, preemption: str) -> Iterator[Object]:
    """A PriorityClass for each priority, with this preemptionPolicy; no pod gets one that it does not name.

    `globalDefault: false` is not written: the API server drops it, and the live object would differ from out/.
    """
    for name, priority in plan.priorities.items():
        yield obj(
            "scheduling.k8s.io/v1",
            "PriorityClass",
            name,
            plan.labels,
            annotations=priority_marks(plan, priority),
            value=priority.value,
            preemptionPolicy=preemption,
            description=f"Priority {name}.",
        )
