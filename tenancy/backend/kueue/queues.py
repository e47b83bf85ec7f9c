"""Cohorts, ClusterQueues and LocalQueues, with every default stated so that no webhook has anything to fill in."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from tenancy.backend.kueue.admission_checks import strategy
from tenancy.backend.kueue.quotas import cohort_groups, queue_groups
from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import obj
from tenancy.model.organization import Rules
from tenancy.model.quantity import canonical_number
from tenancy.plan.values import ClusterPlan, Group, Namespace, Queue

API: Final = "kueue.x-k8s.io/v1beta2"

STOP: Final = {"active": "None", "held": "Hold", "draining": "HoldAndDrain"}
"""State of a unit to stopPolicy. It acts on the ClusterQueue: stopping a LocalQueue called `default` would let jobs
without a label start outside the queue (docs/kueue.md)."""

QUEUEING: Final = {"best-effort": "BestEffortFIFO", "strict": "StrictFIFO"}
RECLAIM: Final = {"any": "Any", "lower-priority": "LowerPriority", "never": "Never"}
PREEMPTION: Final = {
    "lower-priority": "LowerPriority",
    "lower-or-newer-equal": "LowerOrNewerEqualPriority",
    "never": "Never",
}
BORROWING_PREEMPTION: Final = {"never": "Never", "lower-priority": "LowerPriority"}

LOCAL_QUEUE: Final = "default"
"""Kueue puts jobs without a queue label into the LocalQueue of this name, so that none is let through."""


def cohort(plan: ClusterPlan, group: Group) -> Object:
    """The Cohort of an inner unit; that of the organization holds what no department has."""
    spec: dict[str, Any] = {}
    if group.parent is not None:
        spec["parentName"] = group.parent
    spec["fairSharing"] = {"weight": _weight(group.weight)}
    if groups := cohort_groups(group, plan.resources):
        spec["resourceGroups"] = groups
    unit = {f"{plan.domain}/unit": group.title} if group.title else None
    return obj(API, "Cohort", group.name, group.labels, annotations=unit, spec=spec)


def cluster_queue(plan: ClusterPlan, queue: Queue) -> Object:
    """The ClusterQueue of a leaf unit."""
    spec: dict[str, Any] = {
        "cohortName": queue.parent,
        "namespaceSelector": _selector(queue.namespaces),
        "queueingStrategy": QUEUEING[queue.rules.queueing],
        "stopPolicy": STOP[queue.state],
        "preemption": _preemption(queue.rules),
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "fairSharing": {"weight": _weight(queue.weight)},
        "resourceGroups": queue_groups(queue, plan.resources),
        **strategy(plan, queue),
    }
    return obj(
        API, "ClusterQueue", queue.name, queue.labels, annotations={f"{plan.domain}/unit": queue.title}, spec=spec
    )


def local_queue(namespace: Namespace) -> Object:
    """The LocalQueue of a namespace."""
    spec = {"clusterQueue": namespace.queue, "stopPolicy": "None"}
    return obj(API, "LocalQueue", LOCAL_QUEUE, namespace.labels, namespace=namespace.name, spec=spec)


def _preemption(rules: Rules) -> dict[str, Any]:
    return {
        "reclaimWithinCohort": RECLAIM[rules.reclaim],
        "borrowWithinCohort": {"policy": BORROWING_PREEMPTION[rules.borrowing_preemption]},
        "withinClusterQueue": PREEMPTION[rules.preemption],
    }


def _selector(namespaces: tuple[str, ...]) -> dict[str, Any]:
    """By the name that the API server keeps; any other label gives queues to whoever may label namespaces."""
    name = "kubernetes.io/metadata.name"
    return {"matchExpressions": [{"key": name, "operator": "In", "values": list(namespaces)}]}


@lru_cache(maxsize=4096)
def _weight(weight: float) -> str:
    """A weight in the canonical spelling of a quantity."""
    return canonical_number(weight)
