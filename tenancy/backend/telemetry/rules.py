"""PrometheusRules: one for what is recorded and alerted for, and one for what the units of each department are.

Their size is bounded by what Prometheus' operator takes, 512 KiB of rules in one object (`ValidateRule` in its
pkg/operator/rules.go), and by what `kubectl apply` can note of an object, 256 KiB: a large department has several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import obj
from tenancy.backend.telemetry import kueue, native, volcano
from tenancy.backend.telemetry.alerts import alerts
from tenancy.backend.telemetry.names import (
    BORROWED,
    DEPARTMENT_BORROWED,
    DEPARTMENT_QUOTA,
    DEPARTMENT_USED,
    DEPARTMENT_WAIT_P90,
    FLAVOR_PROMISED,
    FLAVOR_USED,
    QUOTA,
    UNIT,
    USED,
    WAIT_BUCKET,
    WAIT_P50,
    WAIT_P90,
)
from tenancy.backend.telemetry.promql import record
from tenancy.backend.telemetry.units import capacity, infos, of_department, queues_below, top_departments
from tenancy.plan.values import ClusterPlan

API: Final = "monitoring.coreos.com/v1"
MOST: Final = 500
"""Rules in one object; with the longest names one is 430 bytes."""


Measured: TypeAlias = Callable[[ClusterPlan], Iterable[dict[str, Any]]]

USE: Final[Mapping[str, Measured]] = {"kueue": kueue.use, "volcano": volcano.use, "native": native.use}
"""By scheduler: what units use and have."""

WAITING: Final[Mapping[str, Measured]] = {
    "kueue": kueue.waiting,
    "volcano": volcano.waiting,
    "native": native.waiting,
}
"""By scheduler: what waits and what moves."""


def rules(plan: ClusterPlan) -> Iterator[Object]:
    """All rules of a cluster: the shared ones first, then by department."""
    groups = {
        "tenancy-units": [*infos(plan), *capacity(plan)],
        "tenancy-use": _use(plan),
        "tenancy-waiting": _waiting(plan),
        "tenancy-alerts": list(alerts(plan)),
    }
    yield _object(plan, "tenancy", plan.labels, {name: found for name, found in groups.items() if found})
    below = queues_below(plan)
    for department in top_departments(plan):
        found = list(of_department(plan, department, below.get(department.title, [])))
        for start in range(0, len(found), MOST):
            name = f"tenancy-{department.name}{f'.{start // MOST + 1}' if start else ''}"
            yield _object(plan, name, department.labels, {name: found[start : start + MOST]})


def _use(plan: ClusterPlan) -> list[dict[str, Any]]:
    department, flavor = "department, flavor, resource", "flavor, resource"
    borrowed, of_department = _more(USED, QUOTA), _more(DEPARTMENT_USED, DEPARTMENT_QUOTA)
    lends = plan.cluster.scheduler != "native"
    return [
        *USE[plan.cluster.scheduler](plan),
        record(DEPARTMENT_USED, f"sum by ({department}) ({USED})"),
        *([record(BORROWED, borrowed), record(DEPARTMENT_BORROWED, of_department)] if lends else []),
        record(FLAVOR_USED, f"sum by ({flavor}) ({USED})"),
        record(FLAVOR_PROMISED, f"sum by ({flavor}) ({DEPARTMENT_QUOTA})"),
    ]


def _waiting(plan: ClusterPlan) -> list[dict[str, Any]]:
    found = list(WAITING[plan.cluster.scheduler](plan))
    if all(rule["record"] != WAIT_BUCKET for rule in found):
        return found
    return [
        *found,
        record(WAIT_P50, _quantile(0.5, *UNIT)),
        record(WAIT_P90, _quantile(0.9, *UNIT)),
        record(DEPARTMENT_WAIT_P90, _quantile(0.9, "department")),
    ]


def _more(used: str, quota: str) -> str:
    """What is used beyond a quota, which is nothing where there is none."""
    return f"clamp_min({used} - {quota} or {used}, 0)"


def _quantile(share: float, *labels: str) -> str:
    """Absent where no job was admitted: NaN is not 0 or more."""
    return f"histogram_quantile({share}, sum by ({', '.join(labels)}, le) ({WAIT_BUCKET})) >= 0"


def _object(plan: ClusterPlan, name: str, labels: Any, groups: dict[str, list[dict[str, Any]]]) -> Object:
    telemetry = plan.cluster.telemetry
    every = dict(sorted({**telemetry.labels, **labels}.items()))
    spec = {"groups": [{"name": group, "rules": found} for group, found in groups.items()]}
    return obj(API, "PrometheusRule", name, every, namespace=telemetry.namespace, spec=spec)
