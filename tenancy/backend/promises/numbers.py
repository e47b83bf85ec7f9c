"""What the budgets of a unit promise, flavor by flavor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tenancy.backend.promises.said import Key, Look, Maker, Said
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node
from tenancy.model.reach import borrows, budgeted


def _amounts(unit: Node, flavor: Hardware, number: str) -> dict[str, int]:
    """What budgets count, without what there is nothing of."""
    amounts = unit.entries[flavor.name].amounts
    return {main: count for main in flavor.mains if (count := getattr(amounts[main], number))}


def _reserved(seen: Look, unit: Node) -> Iterator[Said]:
    """Of a unit that holds others only what it says itself: the rest is what those inside say."""
    for flavor in seen.flavors:
        reserved = _amounts(unit, flavor, "reserved")
        if reserved and unit.inner:
            own = unit.entries[flavor.name].written.get("reserved", {})
            reserved = {main: count for main, count in reserved.items() if main in own}
        if reserved:
            yield Said("reserved", unit, "it never lends {}", flavor, reserved)


def _quota(seen: Look, unit: Node) -> Iterator[Said]:
    for flavor in seen.flavors:
        if quota := _amounts(unit, flavor, "quota"):
            yield Said("quota", unit, "it owns {}", flavor, quota)


def _limit(seen: Look, unit: Node) -> Iterator[Said]:
    """What is said, or less than all there is: to have no more than that needs no promise."""
    for flavor in seen.flavors:
        entry, limit = unit.entries[flavor.name], _amounts(unit, flavor, "limit")
        bound = "limit" in entry.written or any(limit.get(main, 0) < flavor.capacity[main] for main in flavor.mains)
        if bound and (limit or entry.stated):
            yield Said("limit", unit, "it never has more than {}" if limit else "it has {}", flavor, limit)


def _borrowing(seen: Look, unit: Node) -> Iterator[Said]:
    for flavor in seen.flavors:
        amounts = unit.entries[flavor.name].amounts
        more = {main: amounts[main].limit - amounts[main].quota for main in flavor.mains if borrows(unit, flavor, main)}
        if more:
            yield Said("borrowing", unit, "it may borrow {} while others leave as much idle", flavor, more)


def _pool(seen: Look, unit: Node) -> Iterator[Said]:
    """What a unit does not hand on, where somebody inside may borrow it."""
    if not unit.inner:
        return
    root = unit.parent is None
    group = seen.groups[unit.queue or seen.plan.organization]
    words = f"it keeps {{}} for all {'who may borrow' if root else 'inside it'}"
    for flavor in seen.flavors:
        left = {main: count for main in flavor.mains if (count := group.pool[flavor.name][main])}
        left = {
            main: count for main, count in left.items() if any(borrows(child, flavor, main) for child in budgeted(unit))
        }
        if left:
            yield Said("pool", unit, words, flavor, left, at=flavor.path if root else None)


NUMBERS: Final[Mapping[Key, Maker]] = {
    "reserved": _reserved,
    "quota": _quota,
    "limit": _limit,
    "borrowing": _borrowing,
    "pool": _pool,
}
"""By the key of the promise. The organization has a pool of its own, and no other number."""
