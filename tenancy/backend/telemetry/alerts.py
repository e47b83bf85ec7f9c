"""Alerts, with the labels by which they are routed and the section of the documentation that says what to do.

A queue that is stopped on purpose is none of them. A counter that is gone, a limit that is not there and a capacity of
0 raise nothing: what is missing altogether is an alert of its own. What is missing for a moment counts as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenancy.backend.telemetry import kueue, native, volcano
from tenancy.backend.telemetry.names import (
    ADMISSIONS,
    EVICTIONS,
    FLAVOR_CAPACITY,
    FLAVOR_PROMISED,
    FLAVOR_USED,
    INACTIVE,
    LIMIT,
    PENDING,
    QUEUE_STOPPED,
    STARTING,
)
from tenancy.backend.telemetry.promql import lately, one_of
from tenancy.plan.values import ClusterPlan

RUNBOOK: Final = "docs/telemetry.md"
FULL: Final = 0.95
"""Of a flavor: jobs of several GPUs seldom fill the rest."""
FEW: Final = 5
"""Evictions in an hour that are no reason to look."""
OFTEN: Final = 0.25
"""Of as many jobs as were admitted."""
ON_PURPOSE: Final = "ClusterQueueStopped|LocalQueueStopped"

_WITHOUT_STOPPED: Final = f"unless on (queue) {QUEUE_STOPPED}"
_WAITING: Final = f"{lately(PENDING)} > 0 {_WITHOUT_STOPPED}"


def alerts(plan: ClusterPlan) -> Iterator[dict[str, Any]]:
    """All alerts of a cluster, as far as its scheduler says what they need."""
    after = plan.cluster.telemetry.pending_after
    if not _native(plan):
        yield _jobs_pending(after)
    yield _flavor_saturated(plan, after)
    yield from _over_promised(plan)
    if not _native(plan):
        yield _queue_inactive(plan)
    if plan.kueue:
        yield _evictions()
    # Where there is no queue, a scheduler has nothing to say.
    if plan.queues:
        yield _scheduler_down(plan)


def _jobs_pending(after: str) -> dict[str, Any]:
    return _alert(
        "TenancyJobsPending",
        f"{_WAITING} unless on (queue) {STARTING}",
        after,
        "warning",
        summary="Jobs of {{ $labels.unit }} wait, and none starts",
        description=f"{{{{ $value }}}} jobs wait in the queue {{{{ $labels.queue }}}}; none was started for {after}.",
    )


def _flavor_saturated(plan: ClusterPlan, after: str) -> dict[str, Any]:
    """Only where jobs wait that could use the flavor: being full is what GPUs are bought for."""
    full = f"{lately(FLAVOR_USED)} / ({FLAVOR_CAPACITY} > 0) >= {FULL}"
    wait = native.pods_wait() if _native(plan) else _WAITING
    return _alert(
        "TenancyFlavorSaturated",
        f"{full} and on (flavor, resource) ({lately(LIMIT)} > 0 and on (queue) ({wait}))",
        after,
        "info",
        summary="{{ $labels.flavor }} is full, and jobs wait for it",
        description="{{ $value | humanizePercentage }} of {{ $labels.resource }} of {{ $labels.flavor }} are used, and "
        f"for {after} jobs have waited that may use it.",
    )


def _over_promised(plan: ClusterPlan) -> Iterator[dict[str, Any]]:
    """For each kind of GPU; nodes that an autoscaler adds are not all there, and claims are in no node's numbers."""
    flavors: dict[str, list[str]] = {}
    for flavor in plan.flavors.values():
        if flavor.gpu and not flavor.autoscaler and not flavor.claimed:
            for resource in flavor.mains:
                flavors.setdefault(resource, []).append(flavor.name)
    for resource, names in sorted(flavors.items()):
        promised = f'sum({FLAVOR_PROMISED}{{resource="{resource}", flavor=~{one_of(names)}}})'
        yield _alert(
            "TenancyOverPromised",
            f"{promised} - ({_offered(resource)}) > 0",
            "30m",
            "warning",
            {"resource": resource},
            summary=f"More {resource} are promised than nodes offer",
            description=f"Departments were promised {{{{ $value }}}} {resource} more than the nodes offer "
            "that are ready and schedulable.",
        )


def _offered(resource: str) -> str:
    """What nodes have that pods may go to; kube-state-metrics spells resources in a way of its own (`SanitizeLabelName`
    of its package store), and none of a resource is 0, as long as it says anything."""
    spelt = re.sub(r"[^a-zA-Z0-9_]", "_", resource)
    there = f'max by (node) (kube_node_status_allocatable{{resource="{spelt}"}})'
    cordoned = "max by (node) (kube_node_spec_unschedulable) == 1"
    unready = 'max by (node) (kube_node_status_condition{condition="Ready", status="true"}) == 0'
    usable = f"sum({there} unless on (node) ({cordoned}) unless on (node) ({unready}))"
    return f"{usable} or 0 * sum(kube_node_spec_unschedulable)"


def _queue_inactive(plan: ClusterPlan) -> dict[str, Any]:
    why = "Kueue does not admit from it" if plan.kueue else "Volcano does not know it"
    return _alert(
        "TenancyQueueInactive",
        f"{lately(INACTIVE)} == 1 {_WITHOUT_STOPPED}",
        "15m",
        "critical",
        summary="The queue of {{ $labels.unit }} is not active, and no job starts",
        description=f"The queue {{{{ $labels.queue }}}} has not been active for 15m: {why}.",
    )


def _evictions() -> dict[str, Any]:
    """Of one reason, and in proportion to what was admitted: of many small jobs more are evicted than of few."""
    evicted = f'{EVICTIONS}{{reason!~"{ON_PURPOSE}"}}'
    seldom = f"{evicted} <= on (queue) group_left () ({OFTEN} * {ADMISSIONS})"
    return _alert(
        "TenancyEvictions",
        f"{evicted} * 3600 > {FEW} {_WITHOUT_STOPPED} unless {seldom}",
        "15m",
        "warning",
        summary="Jobs of {{ $labels.unit }} are evicted again and again",
        description='{{ $value | printf "%.0f" }} jobs of the queue {{ $labels.queue }} were evicted in an hour, '
        "with the reason {{ $labels.reason }}.",
    )


def _scheduler_down(plan: ClusterPlan) -> dict[str, Any]:
    parts = {
        "Kueue's manager": f"kueue_cluster_queue_status{kueue.LEADER}",
        "Volcano's scheduler": volcano.SCHEDULER,
        "Volcano's controller": volcano.CONTROLLER,
        "kube-state-metrics": native.QUOTAS,
    }
    chosen = "Kueue" if plan.kueue else "Volcano" if plan.volcano else "kube"
    absent = (
        f'label_replace(absent(group({series})), "component", "{part}", "", "")'
        for part, series in parts.items()
        if part.startswith(chosen)
    )
    return _alert(
        "TenancySchedulerDown",
        " or ".join(absent),
        "10m",
        "critical",
        summary="Nothing is heard of {{ $labels.component }}",
        description="For 10m no series of {{ $labels.component }} has come: it does not run, or is not scraped.",
    )


def _native(plan: ClusterPlan) -> bool:
    return not (plan.kueue or plan.volcano)


def _alert(
    name: str, expression: str, after: str, severity: str, labels: Mapping[str, str] | None = None, **words: str
) -> dict[str, Any]:
    return {
        "alert": name,
        "expr": expression,
        "for": after,
        "labels": {"severity": severity, **(labels or {})},
        "annotations": {**words, "runbook": f"{RUNBOOK}#{name.lower()}"},
    }
