"""From an organization, its plans and (where there is one) a comparison to what the pages show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from tenancy.backend import WAITING
from tenancy.compare.amounts import measure, shown
from tenancy.compare.balance import Balance, monthly
from tenancy.compare.comparison import Comparison
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node, Org, Quota
from tenancy.model.reach import budgeted, queue_node
from tenancy.plan.interruption import interruption
from tenancy.plan.values import ClusterPlan, Group, Queue
from tenancy.site.values import Bar, ClusterPage, Loan, Loans, People, Row, Stock, UnitPage

_LEVELS: Final = ("admins", "members", "viewers")
_POLICY: Final = ("borrowing", "reclaim", "preemption", "queueing")
_NOTHING: Final = Quota(0, 0, 0)

_SHOWN: Final = 8
"""Lenders or borrowers that a page names."""

_Changed: TypeAlias = Mapping[tuple[str, str, str, str], Quota]
"""From cluster, unit, flavor and resource to the promises before, where they change."""


_Finder: TypeAlias = Callable[["_Cluster", Node, str, str], Iterator[tuple[Node, int]]]


@dataclass(frozen=True, slots=True)
class _Cluster:
    """One cluster with what is looked up for every unit of it."""

    org: Org
    plan: ClusterPlan
    held: Mapping[str, Group | Queue]
    """By name."""
    namespaces: Mapping[str, tuple[str, ...]]
    """By the title of their unit."""
    before: _Changed

    @property
    def flavors(self) -> Mapping[str, Hardware]:
        return self.plan.flavors


def clusters(org: Org, plans: tuple[ClusterPlan, ...], comparison: Comparison | None = None) -> tuple[ClusterPage, ...]:
    """A page for each cluster, with a page for each unit in it."""
    before = _before(comparison)
    return tuple(_cluster(_Cluster(org, plan, _held(plan), _by_title(plan), before), comparison) for plan in plans)


def _held(plan: ClusterPlan) -> dict[str, Group | Queue]:
    units: tuple[Group | Queue, ...] = (*plan.groups, *plan.queues)
    return {unit.name: unit for unit in units}


def _by_title(plan: ClusterPlan) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for each in plan.namespaces:
        found[each.title] = (*found.get(each.title, ()), each.name)
    return found


def _before(comparison: Comparison | None) -> _Changed:
    changes = comparison.effects.quotas if comparison is not None else ()
    return {
        (each.cluster, each.unit, each.flavor, each.resource): each.before or _NOTHING
        for each in changes
        if each.after is not None
    }


def _cluster(cluster: _Cluster, comparison: Comparison | None) -> ClusterPage:
    departments = _children(cluster, cluster.org.root)
    scale = _scale(cluster, departments)
    return ClusterPage(
        name=cluster.plan.name,
        scheduler=cluster.plan.cluster.scheduler,
        stock=tuple(_stock(cluster, comparison)),
        departments=tuple(_unit(cluster, child, (), scale) for child in departments),
    )


def _stock(cluster: _Cluster, comparison: Comparison | None) -> Iterator[Stock]:
    found = comparison.balances if comparison is not None else ()
    was = {(each.cluster, each.flavor, each.resource): each for each in found}
    for flavor in cluster.flavors.values():
        for resource in flavor.mains:
            capacity = cluster.org.root.entries[flavor.name].amounts[resource].quota
            promised = sum(
                child.entries[flavor.name].amounts[resource].quota for child in _children(cluster, cluster.org.root)
            )
            installed = flavor.installed.get(resource, 0)
            old = was.get((cluster.plan.name, flavor.name, resource))
            yield Stock(
                flavor=flavor.name,
                gpu=flavor.gpu.name if flavor.gpu is not None else "",
                measure=measure(resource),
                installed=shown(installed, resource),
                spare=shown(installed - capacity, resource) if installed != capacity else "",
                promised=shown(promised, resource),
                free=shown(capacity - promised, resource),
                before=_promised_before(old, resource),
                promised_percent=_percent(promised, installed),
                spare_percent=_percent(installed - capacity, installed),
            )


def _promised_before(old: Balance | None, resource: str) -> str:
    if old is None or old.promised_before == old.promised_after:
        return ""
    return shown(old.promised_before, resource)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else "0"


def _unit(
    cluster: _Cluster, node: Node, parents: tuple[tuple[str, str], ...], scale: Mapping[tuple[str, str], int]
) -> UnitPage:
    children = _children(cluster, node)
    above = (*parents, (node.name, _page(cluster, node)))
    below = _scale(cluster, children)
    pages = tuple(_unit(cluster, child, above, below) for child in children)
    document, held = node.document, cluster.held.get(queue_node(node).queue if not node.inner else node.queue)
    return UnitPage(
        cluster=cluster.plan.name,
        scheduler=cluster.plan.cluster.scheduler,
        title=node.title,
        name=node.name,
        kind=node.kind,
        page=_page(cluster, node),
        label=(document.display_name if document else "") or node.name,
        parents=parents,
        queue=node.queue if isinstance(held, Queue) else "",
        state=node.state,
        owner=node.inherited("owner"),
        cost_center=node.inherited("cost_center"),
        expires=(document.expires if document else "") or "",
        cost=_money(_cost(cluster, node)),
        topology=f"{node.topology.mode} {node.topology.level}" if node.topology else "",
        policy=tuple((key, str(getattr(node.rules, key))) for key in _POLICY),
        bars=tuple(_bars(cluster, node, scale)),
        rows=tuple(_rows(cluster, node, held)),
        borrows=tuple(_loans(cluster, node, _borrowed)),
        lends=tuple(_loans(cluster, node, _lent)),
        interruption=said.words if (said := interruption(cluster.plan, node)) is not None else "",
        people=tuple(_people(node)),
        namespaces=_namespaces(cluster, node),
        children=pages,
        teams=sum(page.teams for page in pages) if node.inner else 1,
    )


def _page(cluster: _Cluster, node: Node) -> str:
    """The file of a unit, without folders; of several clusters each has its own."""
    several = len(cluster.org.document.clusters) > 1
    return f"{cluster.plan.name}.{node.queue}.html" if several else f"{node.queue}.html"


def _counted(cluster: _Cluster) -> Iterator[tuple[Hardware, str]]:
    for flavor in cluster.flavors.values():
        for resource in flavor.mains:
            yield flavor, resource


def _scale(cluster: _Cluster, nodes: list[Node]) -> dict[tuple[str, str], int]:
    """By flavor and resource: the most that one of these units may use or own."""
    return {
        (flavor.name, resource): max((each.entries[flavor.name].amounts[resource].limit for each in nodes), default=0)
        for flavor, resource in _counted(cluster)
    }


def _bars(cluster: _Cluster, node: Node, scale: Mapping[tuple[str, str], int]) -> Iterator[Bar]:
    """What the unit owns or says, and what it owned."""
    for flavor, resource in _counted(cluster):
        now = node.entries[flavor.name].amounts[resource]
        before = cluster.before.get((cluster.plan.name, node.title, flavor.name, resource))
        if now.quota or node.entries[flavor.name].stated or (before and before.quota):
            yield Bar(
                flavor=flavor.name,
                measure=measure(resource),
                now=now,
                texts=_texts(now, resource),
                before=before,
                before_texts=_texts(before, resource) if before else None,
                scale=max(scale[flavor.name, resource], before.limit if before else 0),
            )


def _texts(quota: Quota, resource: str) -> tuple[str, str, str]:
    return shown(quota.reserved, resource), shown(quota.quota, resource), shown(quota.limit, resource)


def _rows(cluster: _Cluster, node: Node, held: Group | Queue | None) -> Iterator[Row]:
    reach = WAITING[cluster.plan.cluster.scheduler].reach
    for flavor in cluster.flavors.values():
        if not node.reaches(flavor):
            continue
        for resource in sorted(flavor.resources, key=lambda name: (name not in flavor.mains, name)):
            amounts = node.entries[flavor.name].amounts[resource]
            if amounts.limit:
                reserved, quota, limit = _texts(amounts, resource)
                most = reach(cluster.plan, held, flavor.name, resource) if held is not None else amounts.limit
                yield Row(
                    flavor=flavor.name,
                    measure=measure(resource),
                    reserved=reserved,
                    quota=quota,
                    limit=limit,
                    reach=shown(most, resource),
                )


def _loans(cluster: _Cluster, node: Node, found: _Finder) -> Iterator[Loans]:
    """What is found for each flavor and resource; nothing under a scheduler that lends nothing."""
    if not WAITING[cluster.plan.cluster.scheduler].lends:
        return
    for flavor, resource in _counted(cluster):
        loans = sorted(found(cluster, node, flavor.name, resource), key=lambda each: (-each[1], each[0].title))
        if loans:
            yield Loans(
                flavor=flavor.name,
                measure=measure(resource),
                loans=tuple(_loan(cluster, node, each, amount, resource) for each, amount in loans[:_SHOWN]),
                more=max(0, len(loans) - _SHOWN),
            )


def _loan(cluster: _Cluster, node: Node, other: Node, amount: int, resource: str) -> Loan:
    return Loan(
        page=_page(cluster, other) if other.parent is not None else "",
        name=other.title or other.name,
        amount=shown(amount, resource),
        pool=other.parent is None or other in node.chain(),
    )


def _borrowed(cluster: _Cluster, node: Node, flavor: str, resource: str) -> Iterator[tuple[Node, int]]:
    """Level by level upwards, as far as limits let it: what the unit above keeps, and what those beside it lend."""
    at = node
    while at.parent is not None:
        amounts = at.entries[flavor].amounts[resource]
        if amounts.limit <= amounts.quota:
            return
        others = _children(cluster, at.parent)
        kept = at.parent.entries[flavor].amounts[resource].quota
        kept -= sum(each.entries[flavor].amounts[resource].quota for each in others)
        if kept > 0:
            yield at.parent, kept
        for other in others:
            lent = other.entries[flavor].amounts[resource]
            if other is not at and lent.quota > lent.reserved:
                yield other, lent.quota - lent.reserved
        at = at.parent


def _lent(cluster: _Cluster, node: Node, flavor: str, resource: str) -> Iterator[tuple[Node, int]]:
    """The units beside it, and beside those above, that may use what it leaves idle, with the most they may borrow."""
    idle = min(
        (each.entries[flavor].amounts[resource] for each in node.chain()),
        key=lambda amounts: amounts.quota - amounts.reserved,
    )
    at = node
    while at.parent is not None:
        amounts = at.entries[flavor].amounts[resource]
        if amounts.quota <= amounts.reserved:
            return
        for other in _children(cluster, at.parent):
            most = other.entries[flavor].amounts[resource]
            if other is not at and most.limit > most.quota:
                yield other, min(most.limit - most.quota, idle.quota - idle.reserved)
        at = at.parent


def _children(cluster: _Cluster, node: Node) -> list[Node]:
    """Those with numbers of their own; other projects are namespaces of their team."""
    return [each for each in budgeted(node) if cluster.plan.name in each.clusters]


def _people(node: Node) -> Iterator[People]:
    """Those of the unit and of all above it: access goes down the tree."""
    for each in reversed(node.chain()):
        if each.document is not None:
            for level in _LEVELS:
                if subjects := tuple(getattr(each.document.access, level)):
                    yield People(level=level, subjects=subjects, unit=each.title)


def _namespaces(cluster: _Cluster, node: Node) -> tuple[str, ...]:
    if node.kind == "department":
        return ()
    return tuple(sorted(name for each in (node, *node.children) for name in cluster.namespaces.get(each.title, ())))


def _cost(cluster: _Cluster, node: Node) -> Fraction:
    return monthly({name: node.entries[name].amounts for name in cluster.flavors}, cluster.flavors.values())


def _money(amount: Fraction) -> str:
    return f"{round(amount):,}" if amount else ""
