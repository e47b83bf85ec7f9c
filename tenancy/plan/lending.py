"""Who lends to whom: what stands idle goes up the tree as far as reserves let it, and down as far as limits do.

On its way up a unit hands on no more than it does not reserve; on its way down it takes no more than its limit leaves
above its quota. Both hold for every unit between the one that lends and the nearest unit above both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tenancy.model.hardware import Hardware
from tenancy.model.loans import Borrower, Lender, Loan, Pool
from tenancy.model.organization import Node, Quota
from tenancy.model.reach import queue_node
from tenancy.plan.values import ClusterPlan, Group, Queue

_NOTHING = Quota(0, 0, 0)


def queue_of_unit(cluster: ClusterPlan, node: Node) -> Queue | None:
    """The queue that takes the unit's jobs; None for a unit that holds others."""
    if node.inner:
        return None
    return next(queue for queue in cluster.queues if queue.name == queue_node(node).queue)


def held_by(cluster: ClusterPlan, node: Node) -> Group | Queue:
    """The unit as it holds promises: its queue, or the group that it is."""
    return queue_of_unit(cluster, node) or next(
        group for group in cluster.groups if group.name == (node.queue or node.name)
    )


def leaves(node: Node) -> Iterator[Node]:
    """The nearest units below that run jobs."""
    for child in node.children:
        if child.inner:
            yield from leaves(child)
        else:
            yield child


def loans(cluster: ClusterPlan, held: Group | Queue, flavors: Iterable[Hardware]) -> Iterator[Loan]:
    """For what the unit may use of what budgets count."""
    levels = list(_levels(cluster, held))
    for flavor in flavors:
        for main in flavor.mains:
            if (own := _quota(held, flavor.name, main)).limit:
                pools, lenders = _sources(levels, flavor.name, main)
                yield Loan(
                    flavor=flavor.name,
                    resource=main,
                    quota=own.quota,
                    pools=tuple(pools),
                    lenders=tuple(lenders),
                    borrowers=tuple(_borrowers(levels, own.quota, flavor.name, main)),
                )


class _Level(NamedTuple):
    """The unit, or one above it, with its parent."""

    at: Group | Queue
    above: Group
    beside: tuple[tuple[Queue, tuple[Group | Queue, ...]], ...]
    """The queues below the parent that are not in `at`, each with its way there, itself included."""


def _levels(cluster: ClusterPlan, held: Group | Queue) -> Iterator[_Level]:
    """From the unit upwards."""
    groups = {group.name: group for group in cluster.groups}
    at = held
    while at.parent is not None:
        above = groups[at.parent]
        ways = ((queue, _way(queue, groups, above)) for queue in cluster.queues)
        yield _Level(at, above, tuple((queue, way) for queue, way in ways if way and at not in way))
        at = above


def _sources(levels: Iterable[_Level], flavor: str, resource: str) -> tuple[list[Pool], list[Lender]]:
    """Pools and lenders on every level that the unit's limit, and those of the units above it, let it borrow from."""
    pools: list[Pool] = []
    lenders: list[Lender] = []
    for level in levels:
        if _room(level.at, flavor, resource) <= 0:
            break
        if amount := level.above.pool[flavor].get(resource, 0):
            pools.append(Pool(unit=level.above.title or level.above.name, amount=amount))
        for queue, way in level.beside:
            lent = min(_lendable(unit, flavor, resource) for unit in way)
            lenders += [Lender(unit=queue.title, amount=lent, reclaim=queue.rules.reclaim)] if lent > 0 else []
    return pools, lenders


def _borrowers(levels: Iterable[_Level], quota: int, flavor: str, resource: str) -> Iterator[Borrower]:
    """Queues outside of the unit that may use what it leaves idle of its quota, level by level upwards."""
    lent = quota
    for level in levels:
        lent = min(lent, _lendable(level.at, flavor, resource))
        if lent <= 0:
            return
        for queue, way in level.beside:
            room = min(_room(unit, flavor, resource) for unit in way)
            if room > 0:
                yield Borrower(unit=queue.title, amount=min(lent, room))


def _way(queue: Queue, groups: Mapping[str, Group], above: Group) -> tuple[Group | Queue, ...]:
    """A queue and the units between it and `above`; empty where the queue is not below."""
    way: list[Group | Queue] = [queue]
    while (parent := way[-1].parent) is not None:
        if parent == above.name:
            return tuple(way)
        way.append(groups[parent])
    return ()


def _quota(unit: Group | Queue, flavor: str, resource: str) -> Quota:
    return unit.quotas.get(flavor, {}).get(resource, _NOTHING)


def _lendable(unit: Group | Queue, flavor: str, resource: str) -> int:
    own = _quota(unit, flavor, resource)
    return own.quota - own.reserved


def _room(unit: Group | Queue, flavor: str, resource: str) -> int:
    own = _quota(unit, flavor, resource)
    return own.limit - own.quota
