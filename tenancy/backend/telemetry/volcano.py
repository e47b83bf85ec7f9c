"""What Volcano measures, by unit: a Queue for each flavor, so that the queue says the flavor (pkg/scheduler/metrics and
pkg/controllers/metrics of 1.15.1; the same names in 1.14).

Scalars are in thousandths, cpu in milli-cpu. How long jobs waited it does not say: its times per job are written
whenever a pod of the job is tried on a node, also where the gang is then given up (`allocateResourcesForTask` in
pkg/scheduler/actions/allocate). Evictions are not counted by queue, and the state of a queue is not exported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tenancy.backend.telemetry.names import (
    FLAVOR_CAPACITY,
    INACTIVE,
    LIMIT,
    PENDING,
    QUOTA,
    STARTING,
    UNIT,
    USED,
    VOLCANO_QUEUE_INFO,
)
from tenancy.backend.telemetry.promql import Source, born, changed, one_of, record, renamed
from tenancy.model.hardware import CPU, MEMORY
from tenancy.plan.values import ClusterPlan

SCHEDULER: Final = "volcano_queue_allocated_milli_cpu"
CONTROLLER: Final = "volcano_queue_pod_group_pending_count"
_SOURCE: Final = Source("queue_name", VOLCANO_QUEUE_INFO, (*UNIT, "flavor"))
_NUMBERS: Final = {USED: "allocated", QUOTA: "deserved", LIMIT: "capacity"}


def use(plan: ClusterPlan) -> Iterator[dict[str, Any]]:
    """What units use, what they are owed and what they may have, of the resources that the flavor has."""
    scalars = set(plan.resources) - {CPU, MEMORY}
    for name, said in _NUMBERS.items():
        metric = f"volcano_queue_{said}"
        yield _use(name, f"max by (queue_name) ({metric}_milli_cpu) / 1000", CPU)
        yield _use(name, f"max by (queue_name) ({metric}_memory_bytes)", MEMORY)
        if scalars:
            metric = f"{metric}_scalar_resources{{resource=~{one_of(scalars)}}}"
            found = _SOURCE.of_units(f"max by (queue_name, resource) ({metric}) / 1000", "flavor", "resource")
            yield record(name, f"{found} and on (flavor, resource) {FLAVOR_CAPACITY}")


def waiting(_: ClusterPlan) -> Iterator[dict[str, Any]]:
    """Jobs that wait, whether any starts, and queues that the scheduler does not know."""
    phases = (f"max by (queue_name) (volcano_queue_pod_group_{phase}_count)" for phase in ("pending", "inqueue"))
    yield record(PENDING, _SOURCE.of_units(f"({' + '.join(phases)})"))
    tried = f"group by (queue) ({born('volcano_e2e_job_scheduling_last_time')})"
    moves = f"group by (queue_name) ({changed('volcano_queue_pod_group_running_count')})"
    started = f"{moves} or group by (queue_name) ({renamed(tried, 'queue', 'queue_name')})"
    yield record(STARTING, _SOURCE.any_of_units(started))
    known = f"0 * ({VOLCANO_QUEUE_INFO} and on (queue_name) {SCHEDULER})"
    missing = f"{VOLCANO_QUEUE_INFO} and on () group({SCHEDULER})"
    yield record(INACTIVE, f"max by ({', '.join(UNIT)}) ({known} or {missing})")


def _use(name: str, expression: str, resource: str) -> dict[str, Any]:
    return record(name, _SOURCE.of_units(expression, "flavor"), resource=resource)
