"""What Prometheus cannot know from a scheduler: whose a queue is, what departments were promised, what there is.

Each is a rule with a number for an expression. All other rules join on them, so that these stay few in kind and each
says one thing; a change of the organization changes these alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenancy.backend.telemetry.names import (
    DEPARTMENT_QUOTA,
    FLAVOR_CAPACITY,
    NAMESPACE_INFO,
    QUEUE_INFO,
    QUEUE_STOPPED,
    UNIT,
    VOLCANO_QUEUE_INFO,
)
from tenancy.backend.telemetry.promql import constant, number, record
from tenancy.backend.volcano.names import leaf, reached
from tenancy.plan.values import ClusterPlan, Group, Queue

Rules = Iterator[dict[str, Any]]


def top_departments(plan: ClusterPlan) -> tuple[Group, ...]:
    """The departments at the top level."""
    root = plan.groups[0].name
    return tuple(group for group in plan.groups if group.parent == root)


def queues_below(plan: ClusterPlan) -> dict[str, list[Queue]]:
    """The queues of each department at the top level."""
    found: dict[str, list[Queue]] = {}
    for queue in plan.queues:
        found.setdefault(plan.departments[queue.folder], []).append(queue)
    return found


def of_department(plan: ClusterPlan, department: Group, queues: list[Queue]) -> Rules:
    """Whose the queues of a department are, and what it was promised of each flavor."""
    for queue in queues:
        labels = labels_of(plan, queue)
        yield from _infos(plan, queue, labels)
        if queue.state != "active":
            yield constant(QUEUE_STOPPED, **labels, state=queue.state)
    for flavor, amounts in department.quotas.items():
        for resource, promise in amounts.items():
            if promise.limit:
                value = number(promise.quota, resource)
                yield constant(DEPARTMENT_QUOTA, value, department=department.title, flavor=flavor, resource=resource)


def labels_of(plan: ClusterPlan, queue: Queue) -> dict[str, str]:
    """The labels of a unit's series."""
    team = queue.labels[f"{plan.domain}/team"]
    values = (queue.name, queue.title, plan.departments[queue.folder], team)
    return dict(zip(UNIT, values, strict=True))


def _infos(plan: ClusterPlan, queue: Queue, labels: dict[str, str]) -> Rules:
    if plan.volcano:
        for flavor in reached(plan, queue):
            yield constant(VOLCANO_QUEUE_INFO, **labels, flavor=flavor.name, queue_name=leaf(queue, flavor.name))
    elif plan.kueue:
        yield constant(QUEUE_INFO, **labels)
    else:
        for namespace in queue.namespaces:
            yield constant(NAMESPACE_INFO, **labels, namespace=namespace)


def infos(plan: ClusterPlan) -> Rules:
    """One series for each queue, where a unit has several or none."""
    if not plan.kueue:
        info = VOLCANO_QUEUE_INFO if plan.volcano else NAMESPACE_INFO
        yield record(QUEUE_INFO, f"group by ({', '.join(UNIT)}) ({info})")


def capacity(plan: ClusterPlan) -> Rules:
    """What may be promised of each flavor: its nodes without the spare ones and without what DaemonSets use."""
    for flavor in plan.flavors.values():
        for resource, amount in flavor.capacity.items():
            yield constant(FLAVOR_CAPACITY, number(amount, resource), flavor=flavor.name, resource=resource)
