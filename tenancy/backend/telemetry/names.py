"""The names of what is recorded, the same under every scheduler: dashboards and alerts read nothing else.

One Prometheus looks at one cluster, so no series says which. `resource` is the name that pods use; cpu is in cores.
"""

from __future__ import annotations

from typing import Final

UNIT: Final = ("queue", "unit", "department", "team")
"""What every series of a unit has: its queue, its path, the department at the top level and the team around it."""

QUEUE_INFO: Final = "tenancy:queue_info"
QUEUE_STOPPED: Final = "tenancy:queue_stopped"
"""1 where a unit is held or draining, with its `state`; absent elsewhere."""
VOLCANO_QUEUE_INFO: Final = "tenancy:volcano_queue_info"
"""Which unit and flavor a Queue of Volcano is for."""
NAMESPACE_INFO: Final = "tenancy:namespace_info"
"""Which unit a namespace is for, where nothing but namespaces is counted."""

USED: Final = "tenancy:used"
QUOTA: Final = "tenancy:quota"
LIMIT: Final = "tenancy:limit"
"""Absent where a unit has no limit."""
BORROWED: Final = "tenancy:borrowed"
DEPARTMENT_USED: Final = "tenancy:department_used"
DEPARTMENT_QUOTA: Final = "tenancy:department_quota"
DEPARTMENT_BORROWED: Final = "tenancy:department_borrowed"
FLAVOR_USED: Final = "tenancy:flavor_used"
FLAVOR_CAPACITY: Final = "tenancy:flavor_capacity"
FLAVOR_PROMISED: Final = "tenancy:flavor_promised"

PENDING: Final = "tenancy:pending_jobs"
STARTING: Final = "tenancy:queue_starting"
"""1 where a job of the queue has been admitted in the last five minutes; absent elsewhere."""
WAIT_BUCKET: Final = "tenancy:wait_seconds_bucket:rate1h"
WAIT_P50: Final = "tenancy:wait_seconds:p50"
WAIT_P90: Final = "tenancy:wait_seconds:p90"
DEPARTMENT_WAIT_P90: Final = "tenancy:department_wait_seconds:p90"
ADMISSIONS: Final = "tenancy:admissions:rate1h"
EVICTIONS: Final = "tenancy:evictions:rate1h"
"""Both in jobs per second over the last hour, as `rate` is."""
INACTIVE: Final = "tenancy:inactive"
"""1 where the scheduler does not work on a queue, whether it is stopped, broken or missing; else 0."""
