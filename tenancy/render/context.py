"""What a template can see: plain dicts, lists, texts and integers, made for each unit. docs/templates.md lists it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from tenancy.model.organization import Node, Org, namespaces
from tenancy.model.quantity import canonical
from tenancy.model.reach import queue_node
from tenancy.plan.labels import organization_labels, unit_labels
from tenancy.plan.values import ClusterPlan, Queue, Quotas

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "organization": ("organization", "cluster", "departments", "teams", "labels", "budget"),
    "cluster": ("organization", "cluster", "departments", "teams", "labels", "budget"),
    "department": ("organization", "cluster", "department", "teams", "labels", "budget"),
    "team": ("organization", "cluster", "department", "team", "projects", "labels", "budget"),
    "project": ("organization", "cluster", "department", "team", "project", "labels", "budget"),
}
"""The variables of each level."""

_View: TypeAlias = Callable[[Node], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One unit in one cluster, for which every template of its level is rendered."""

    level: str
    folder: str
    """Where its files go, below the cluster's folder."""
    namespaces: tuple[str, ...]
    """Its own namespaces in the cluster; none for the organization and the cluster."""
    labels: Mapping[str, str]
    context: Mapping[str, Any]


def targets(org: Org, plan: ClusterPlan, level: str) -> Iterator[Target]:
    """The units of a level in a cluster, in the order of the plan."""
    if level in ("organization", "cluster"):
        yield _whole(org, plan, level)
        return
    queues = {queue.name: queue for queue in plan.queues}
    # Every unit below a department shows it, so its view is made once; templates cannot change it.
    views: dict[str, _View] = {**_VIEWS, "department": cache(_department)}
    for node in org.units:
        if node.kind == level and plan.name in node.clusters:
            yield _target(org, plan, node, queues, views)


def _whole(org: Org, plan: ClusterPlan, level: str) -> Target:
    labels = organization_labels(org)
    context = _common(org, plan, labels, _amounts(org.root, plan)) | {
        "departments": _units(org.units, "department", plan, _department),
        "teams": _units(org.units, "team", plan, _team),
    }
    return Target(
        level=level,
        folder=f"custom/{level}",
        namespaces=(),
        labels=labels,
        context=context,
    )


def _target(org: Org, plan: ClusterPlan, node: Node, queues: Mapping[str, Queue], views: Mapping[str, _View]) -> Target:
    labels = unit_labels(org, node)
    context = _common(org, plan, labels, _budget(node, plan, queues))
    for unit in node.chain():
        context[unit.kind] = views[unit.kind](unit)
    if node.kind == "department":
        context["teams"] = _units(_below(node), "team", plan, _team)
    elif node.kind == "team":
        context["projects"] = _units(node.children, "project", plan, _project)
    return Target(
        level=node.kind,
        folder=f"custom/{node.kind}s/{node.queue}",
        namespaces=tuple(_namespaces(node)),
        labels=labels,
        context=context,
    )


def _common(org: Org, plan: ClusterPlan, labels: Mapping[str, str], budget: dict[str, Any]) -> dict[str, Any]:
    document = org.document
    return {
        "organization": {
            "name": document.name,
            "displayName": document.display_name or document.name,
            "domain": document.domain,
        },
        "cluster": {
            "name": plan.name,
            "scheduler": plan.cluster.scheduler,
            "kubernetes": plan.kubernetes,
            "kueue": plan.kueue,
        },
        "labels": dict(sorted(labels.items())),
        "budget": budget,
    }


def _units(
    nodes: Iterator[Node] | tuple[Node, ...] | list[Node],
    kind: str,
    plan: ClusterPlan,
    view: _View,
) -> list[dict[str, Any]]:
    return [view(node) for node in nodes if node.kind == kind and plan.name in node.clusters]


def _below(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _below(child)


def _unit(node: Node) -> dict[str, Any]:
    """What every unit has; a cost centre and an owner come from the nearest unit that says one."""
    return {
        "name": node.name,
        "path": node.title,
        "queue": queue_node(node).queue if node.kind == "project" else node.queue,
        "displayName": (node.document.display_name if node.document else None) or node.name,
        "costCenter": node.inherited("cost_center"),
        "owner": node.inherited("owner"),
    }


def _department(node: Node) -> dict[str, Any]:
    return {**_unit(node), "namespaces": _namespaces(node)}


def _team(node: Node) -> dict[str, Any]:
    department = _unit(node.parent) if node.parent is not None else {}
    return {**_unit(node), "namespaces": _namespaces(node), "department": department}


def _project(node: Node) -> dict[str, Any]:
    return {**_unit(node), "namespace": _namespaces(node)[0]}


_VIEWS: Final[Mapping[str, _View]] = {"department": _department, "team": _team, "project": _project}


def _namespaces(node: Node) -> list[str]:
    teams = [unit for unit in (node, *_below(node)) if unit.kind == "team"] if node.kind == "department" else [node]
    return sorted({name for team in teams for name, _ in namespaces(team)})


def _budget(node: Node, plan: ClusterPlan, queues: Mapping[str, Queue]) -> dict[str, Any]:
    """The promises of a unit; those of its queue where it is a project, since that is what its jobs get."""
    if node.kind != "project":
        return _amounts(node, plan)
    queue = queues[queue_node(node).queue]
    return _shown({name: queue.quotas[name] for name in queue.flavors})


def _amounts(node: Node, plan: ClusterPlan) -> dict[str, Any]:
    return _shown({name: node.entries[name].amounts for name, flavor in plan.flavors.items() if node.reaches(flavor)})


def _shown(quotas: Quotas) -> dict[str, Any]:
    return {
        flavor: {
            resource: {
                "reserved": canonical(amounts.reserved, resource),
                "quota": canonical(amounts.quota, resource),
                "limit": canonical(amounts.limit, resource),
            }
            for resource, amounts in resources.items()
        }
        for flavor, resources in quotas.items()
    }
