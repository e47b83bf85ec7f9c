"""Units as groups and queues with their promises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node, Org, Quota, namespaces
from tenancy.plan.labels import unit_labels
from tenancy.plan.values import Group, Queue


def groups(org: Org, cluster: str, flavors: Mapping[str, Hardware]) -> Iterator[Group]:
    """The organization and its inner units in `cluster`, parents first."""
    for node in (org.root, *org.units):
        if node.inner and cluster in node.clusters:
            quotas = {name: node.entries[name].amounts for name in flavors}
            yield Group(
                name=node.queue or org.document.name,
                title=node.title,
                parent=_parent(org, node),
                weight=node.document.weight if node.document else 1,
                quotas=quotas,
                pool=_pool(quotas, (child for child in node.children if cluster in child.clusters), node),
                labels=unit_labels(org, node),
                folder=folder(node),
            )


def queues(org: Org, cluster: str, flavors: Mapping[str, Hardware]) -> Iterator[Queue]:
    """Where work waits in `cluster`, in the order of the units."""
    for node in org.units:
        if node.kind == "department" or cluster not in node.clusters:
            continue
        if node.kind == "team" and not node.inner:
            yield _queue(org, node, flavors, {name: node.entries[name].amounts for name in flavors})
        elif node.kind == "team":
            if rest := [child for child in node.children if not child.budget]:
                yield _shared_queue(org, node, rest, flavors)
        elif node.parent is not None and node.parent.inner and node.budget:
            yield _queue(org, node, flavors, {name: node.entries[name].amounts for name in flavors})


def folder(node: Node) -> str:
    """The department that a unit is filed under, as a folder name; empty for the organization."""
    department = node
    while department.kind not in ("department", "organization") and department.parent is not None:
        department = department.parent
    return department.queue


def _parent(org: Org, node: Node) -> str | None:
    if node.parent is None:
        return None
    return node.parent.queue or org.document.name


def _queue(org: Org, node: Node, flavors: Mapping[str, Hardware], quotas: dict[str, dict[str, Quota]]) -> Queue:
    return Queue(
        name=node.queue,
        title=node.title,
        parent=_parent(org, node) or org.document.name,
        weight=node.document.weight if node.document else 1,
        quotas=quotas,
        flavors=_reached(node, flavors),
        rules=node.rules,
        state=node.state,
        namespaces=tuple(sorted(name for name, _ in namespaces(node))),
        labels=unit_labels(org, node),
        folder=folder(node),
    )


def _shared_queue(org: Org, team: Node, rest: list[Node], flavors: Mapping[str, Hardware]) -> Queue:
    """The queue of the projects without a budget: it has what the team's budgeted projects leave."""
    budgeted = [child for child in team.children if child.budget]
    alone = team.rules.borrowing == "none"
    quotas = {
        name: _left(team.entries[name].amounts, [child.entries[name].amounts for child in budgeted], alone=alone)
        for name in flavors
    }
    return Queue(
        name=team.queue,
        title=team.title,
        parent=team.queue,
        weight=1,
        quotas=quotas,
        flavors=_reached(team, flavors),
        rules=team.rules,
        state=team.state,
        namespaces=tuple(sorted(name for child in rest for name, _ in namespaces(child))),
        labels=unit_labels(org, team),
        folder=folder(team),
    )


def _left(whole: Mapping[str, Quota], parts: list[dict[str, Quota]], *, alone: bool) -> dict[str, Quota]:
    """What the parts leave of each resource. Of a reserve of the whole it keeps no more than the quota that is left;
    `alone` it may not borrow, from the parts as little as from others."""
    left: dict[str, Quota] = {}
    for resource, (reserved, quota, limit) in whole.items():
        own = max(0, quota - sum(part[resource].quota for part in parts))
        kept = max(0, reserved - sum(part[resource].reserved for part in parts))
        left[resource] = Quota(min(kept, own), own, own if alone else limit)
    return left


def _reached(node: Node, flavors: Mapping[str, Hardware]) -> tuple[str, ...]:
    """cpu flavors first, then those with a quota of its own, then those that it may only borrow."""
    reached = [flavor for flavor in flavors.values() if node.reaches(flavor)]
    reached.sort(key=lambda flavor: (not flavor.is_cpu, not node.owns(flavor), flavor.name))
    return tuple(flavor.name for flavor in reached)


def _pool(quotas: Mapping[str, Mapping[str, Quota]], children: Iterable[Node], node: Node) -> dict[str, dict[str, int]]:
    """What the children leave of the unit's quota. The shared queue of a team takes all that its projects leave."""
    handed = list(children)
    if node.kind == "team" and any(not child.budget for child in handed):
        return {flavor: dict.fromkeys(amounts, 0) for flavor, amounts in quotas.items()}
    pool: dict[str, dict[str, int]] = {}
    for flavor, amounts in quotas.items():
        parts = [child.entries[flavor].amounts for child in handed]
        pool[flavor] = {
            resource: max(0, quota.quota - sum([part[resource].quota for part in parts]))
            for resource, quota in amounts.items()
        }
    return pool
