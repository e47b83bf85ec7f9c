"""How the API server treats departments: each has a priority level of its own (`tenancy.backend.shared.fairness`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tenancy.backend.telemetry.dashboards.grafana import Line, Panel, chart
from tenancy.backend.telemetry.promql import one_of

SEATS: Final = "apiserver_flowcontrol_current_executing_seats"
OWN_SEATS: Final = "apiserver_flowcontrol_nominal_limit_seats"
REJECTED: Final = "apiserver_flowcontrol_rejected_requests_total"
WAIT: Final = "apiserver_flowcontrol_request_wait_duration_seconds_bucket"
SERIES: Final = (SEATS, OWN_SEATS, REJECTED, WAIT)
"""Of kube-apiserver, the same from Kubernetes 1.33 to 1.36, where all are beta
(k8s.io/apiserver, pkg/util/flowcontrol/metrics/metrics.go)."""

_RECENT: Final = "[$__rate_interval]"


def panels(departments: Sequence[str]) -> Iterator[Panel]:
    """What the departments' requests take, wait and lose."""
    levels = f"{{priority_level=~{one_of(f'tenancy-{department}' for department in departments)}}}"
    yield chart(
        "Seats in use",
        "How much of its own seats at the API server each department takes; above 100 % it uses those of idle ones, "
        "and whoever stays there should list and watch less.",
        [_by_department(f"sum by (priority_level) ({SEATS}{levels}) / sum by (priority_level) ({OWN_SEATS}{levels})")],
        "percentunit",
        names=departments,
    )
    yield chart(
        "Wait for a seat",
        "So long did 99 in 100 of a department's requests wait at most; above a second its tools feel slow: find the "
        "client that floods by the audit log, or give the department a larger weight.",
        [
            _by_department(
                f"histogram_quantile(0.99, sum by (priority_level, le) (rate({WAIT}{levels}{_RECENT}))) >= 0",
            )
        ],
        "s",
        names=departments,
        empty="no request came",
    )
    none = f"0 * sum by (priority_level) ({OWN_SEATS}{levels})"
    yield chart(
        "Requests refused",
        "Requests a second that the API server answered with 429 because a queue of the department was full; clients "
        "try again, so more than a few mean a client that floods.",
        [_by_department(f"sum by (priority_level) (rate({REJECTED}{levels}{_RECENT})) or {none}")],
        "reqps",
        names=departments,
    )


def _by_department(query: str) -> Line:
    return Line("{{department}}", f'label_replace({query}, "department", "$1", "priority_level", "tenancy-(.+)")')
