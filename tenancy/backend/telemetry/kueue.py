"""What Kueue measures, by unit: the same names in 0.17 to 0.19 (pkg/metrics/metrics.go; compared in each with what the
manager exports in tests/cluster/test_metrics.py).

Of several managers only the leader decides, and those that wait repeat its gauges under the role `follower`. Limits
that are not set are 0 before 0.19 and +Inf from it on; every queue of ours has them all.
"""

from __future__ import annotations

from typing import Any, Final

from tenancy.backend.telemetry.names import (
    ADMISSIONS,
    EVICTIONS,
    INACTIVE,
    LIMIT,
    PENDING,
    QUEUE_INFO,
    QUOTA,
    STARTING,
    USED,
    WAIT_BUCKET,
)
from tenancy.backend.telemetry.promql import Source, born, changed, per_second, record, renamed
from tenancy.plan.values import ClusterPlan

LEADER: Final = '{replica_role!="follower"}'
STATUS: Final = 'kueue_cluster_queue_status{replica_role!="follower", status="active"}'
_SOURCE: Final = Source("queue", QUEUE_INFO, ("unit", "department", "team"))
_ADMITTED: Final = "kueue_admitted_workloads_total"


def use(_: ClusterPlan) -> list[dict[str, Any]]:
    """What units use of their quota, admitted or about to be, and what they have."""
    kept = ("flavor", "resource")
    used, quota, more = (
        _largest(f"kueue_cluster_queue_{name}{LEADER}", *kept)
        for name in ("resource_reservation", "nominal_quota", "borrowing_limit")
    )
    return [
        record(USED, _of_units(used, *kept)),
        record(QUOTA, _of_units(quota, *kept)),
        record(LIMIT, _of_units(f"({quota} + {more} < +Inf)", *kept)),
    ]


def waiting(_: ClusterPlan) -> list[dict[str, Any]]:
    """Jobs that wait, how long those waited that were admitted, and what was evicted."""
    pending = f"sum by (cluster_queue) ({_largest(f'kueue_pending_workloads{LEADER}', 'status')})"
    started = f"{changed(_ADMITTED)} or {born(_ADMITTED)}"
    wait = f"sum by (cluster_queue, le) ({per_second('kueue_admission_wait_time_seconds_bucket')})"
    admitted = f"sum by (cluster_queue) ({per_second(_ADMITTED)})"
    evicted = f"sum by (cluster_queue, reason) ({per_second('kueue_evicted_workloads_total')})"
    active = renamed(_largest(STATUS), "cluster_queue", "queue")
    return [
        record(PENDING, _of_units(pending)),
        record(
            STARTING, _SOURCE.any_of_units(renamed(f"group by (cluster_queue) ({started})", "cluster_queue", "queue"))
        ),
        record(WAIT_BUCKET, _of_units(wait, "le")),
        record(ADMISSIONS, _of_units(admitted)),
        record(EVICTIONS, _of_units(evicted, "reason")),
        # A queue that Kueue does not know is not active, as long as Kueue says anything.
        record(
            INACTIVE,
            f"{QUEUE_INFO} - on (queue) group_left () {active} or {QUEUE_INFO} and on () group({STATUS})",
        ),
    ]


def _largest(metric: str, *kept: str) -> str:
    """While a new manager takes over from an old one both may say the same."""
    return f"max by ({', '.join(('cluster_queue', *kept))}) ({metric})"


def _of_units(expression: str, *kept: str) -> str:
    return _SOURCE.of_units(renamed(expression, "cluster_queue", "queue"), *kept)
