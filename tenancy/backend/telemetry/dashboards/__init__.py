"""Dashboards for Grafana: one of the cluster, and one of each department at the top level with its units.

Each is a ConfigMap, from which Grafana's sidecar takes them. They ask for recorded series alone, and for what the API
server says of itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import obj
from tenancy.backend.telemetry.dashboards import department as of_department
from tenancy.backend.telemetry.dashboards import overview
from tenancy.backend.telemetry.dashboards.grafana import Link, chosen, dashboard, text
from tenancy.backend.telemetry.dashboards.grid import placed
from tenancy.backend.telemetry.dashboards.measures import Kind, kinds, measured
from tenancy.backend.telemetry.units import queues_below, top_departments
from tenancy.plan.values import ClusterPlan, Group, Queue

LONGEST: Final = 40
"""Characters of a uid."""
_DIGEST: Final = 8


def config_maps(plan: ClusterPlan) -> Iterator[Object]:
    """The ConfigMaps of a cluster, the overview first; none where there is nothing to use."""
    if not plan.flavors:
        return
    board = cluster_board(plan)
    yield _object(plan, "tenancy-dashboard", plan.labels, board)
    below = queues_below(plan)
    for department in top_departments(plan):
        whole = department_board(plan, department, below.get(department.title, []))
        yield _object(plan, f"tenancy-dashboard-{department.name}", department.labels, whole)


def cluster_board(plan: ClusterPlan) -> dict[str, Any]:
    """The dashboard of the cluster."""
    found = kinds(plan, plan.flavors)
    names = [department.title for department in top_departments(plan)]
    # Where a name is too long for its uid to be made from it, the menu of departments is the way.
    short = all(len(name) < LONGEST - _DIGEST for name in names)
    where = f"/d/{uid(plan)}-${{__value.raw}}?${{__url_time_range}}&${{datasource:queryparam}}" if short else ""
    return dashboard(
        uid(plan),
        f"{plan.organization} / {plan.name}",
        f"The GPUs of the cluster {plan.name}: what there is, who uses it, and whose jobs wait.",
        tags=_tags(plan),
        links=[Link("Departments", "The departments with their units.", (*_tags(plan), "department"))],
        variables=[_choice(found)],
        panels=placed(overview.sections(measured(plan), found, names, [*plan.api_shares], where)),
    )


def department_board(plan: ClusterPlan, department: Group, queues: list[Queue]) -> dict[str, Any]:
    """The dashboard of a department at the top level."""
    own, name = uid(plan, department.name), department.title
    reached = {flavor for queue in queues for flavor in queue.flavors}
    found = _own_first(department, kinds(plan, reached or plan.flavors))
    return dashboard(
        own,
        f"{plan.organization} / {plan.name} / {name}",
        f"What the units of {name} own, use and borrow in the cluster {plan.name}, and how long their jobs wait.",
        tags=(*_tags(plan), "department"),
        links=[
            Link("Overview", "The cluster with all departments.", url=f"/d/{uid(plan)}"),
            Link("Departments", "The other departments.", (*_tags(plan), "department")),
        ],
        variables=[_choice(found), *of_department.variables(plan, department, queues)],
        panels=placed(of_department.sections(plan, measured(plan), department, queues, own)),
    )


def uid(plan: ClusterPlan, department: str = "") -> str:
    """What a dashboard is known by, the same for ever; different ones where one Grafana looks at several clusters."""
    prefix = _digest([plan.organization, plan.name])[:_DIGEST]
    if not department:
        return prefix
    whole = f"{prefix}-{department}"
    return whole if len(whole) <= LONGEST else f"{whole[:27]}-{_digest([department])[:12]}"


def _digest(names: list[str]) -> str:
    return hashlib.sha256(json.dumps(names).encode()).hexdigest()


def _tags(plan: ClusterPlan) -> tuple[str, ...]:
    return ("tenancy", f"{plan.organization}/{plan.name}")


def _choice(found: Iterable[Kind]) -> dict[str, Any]:
    options = ((kind.title, kind.selector) for kind in found)
    return chosen("kind", "Kind", "The kind of GPUs, or of other resources, that is looked at.", options)


def _own_first(department: Group, found: Iterable[Kind]) -> list[Kind]:
    """Kinds of which the department owns something come first."""
    owned = {
        f'flavor="{flavor}",resource="{resource}"'
        for flavor, amounts in department.quotas.items()
        for resource, promise in amounts.items()
        if promise.quota
    }
    return sorted(found, key=lambda kind: not any(kind.selector in each for each in owned))


def _object(plan: ClusterPlan, name: str, labels: Any, board: dict[str, Any]) -> Object:
    marked = dict(sorted({**labels, "grafana_dashboard": "1"}.items()))
    return obj(
        "v1",
        "ConfigMap",
        name,
        marked,
        namespace=plan.cluster.telemetry.namespace,
        annotations={"grafana_folder": plan.organization},
        data={f"{board['uid']}.json": text(board)},
    )
