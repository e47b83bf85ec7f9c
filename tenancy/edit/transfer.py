"""GPUs, slices or CPU handed from one unit to another, with what every unit between them must give or get for it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field

from tenancy.diagnostics import Edit, KeyPath
from tenancy.edit.budgets import number_path, set_number
from tenancy.edit.errors import Unlawful
from tenancy.edit.targets import value_at
from tenancy.edit.values import Written
from tenancy.load.source import Raw
from tenancy.model.hardware import GPUS, Hardware
from tenancy.model.organization import Node
from tenancy.model.quantity import amount, canonical, human


@dataclass(slots=True)
class Transfer:
    """What is to be edited, and what that means in a sentence for each number."""

    edits: list[Edit] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def transfer(tree: Raw, source: Node, goal: Node, flavor: Hardware, amounts: Mapping[str, int]) -> Transfer:
    """Take the amounts, by the key of a budget, from one unit and give them to the other.

    Both numbers change up to the unit that both are in, so that what that unit and its other units have stays the
    same. Raises Unlawful where the one does not have it to give, or the other may not have it.
    """
    common = _common(source, goal)
    giving, getting = _below(source, common), _below(goal, common)
    if not getting:
        _check_sharers(goal, flavor)
    moving = _Moving(copy.deepcopy(tree), flavor)
    for key, count in amounts.items():
        resource = flavor.names[key]
        _check_pool(source, flavor, resource, count)
        for unit in giving:
            _check_share(unit, flavor)
            moving.lower(unit, key, count)
        for unit in getting:
            _check_share(unit, flavor)
            _check_limit(unit, flavor, resource, count)
            moving.move(unit, "quota", key, unit.entries[flavor.name].amounts[resource].quota + count)
    return moving.made


def _common(one: Node, other: Node) -> Node:
    """The lowest unit that is, or holds, both; in the end the organization."""
    above = [one, *_above(one)]
    return next(unit for unit in (other, *_above(other)) if unit in above)


def _above(unit: Node) -> list[Node]:
    found: list[Node] = []
    while unit.parent is not None:
        unit = unit.parent
        found.append(unit)
    return found


def _below(unit: Node, top: Node) -> list[Node]:
    """A unit and those above it, up to the one below `top`."""
    chain = [unit, *_above(unit)]
    return chain[: chain.index(top)]


def _check_pool(unit: Node, flavor: Hardware, resource: str, count: int) -> None:
    """What a unit has handed on to its own units is theirs to give."""
    quota = unit.entries[flavor.name].amounts[resource].quota
    handed = sum(child.entries[flavor.name].amounts[resource].quota for child in unit.children)
    if quota - handed >= count:
        return
    who, has = f"`{unit.title or unit.name}`", _amount(flavor, resource, quota)
    if handed:
        left = _amount(flavor, resource, max(0, quota - handed))
        raise Unlawful(f"{who} has {has} on `{flavor.name}`, but only {left} that its own units do not have")
    raise Unlawful(f"{who} has only {has} on `{flavor.name}`")


def _check_sharers(unit: Node, flavor: Hardware) -> None:
    """A unit keeps nothing for itself where units in it share what the others leave."""
    sharers = [f"`{child.title}`" for child in unit.children if child.entries[flavor.name].share]
    if sharers:
        raise Unlawful(
            f"`{unit.title or unit.name}` keeps nothing of `{flavor.name}` for itself: {' and '.join(sharers)} would "
            "get it, as a share of what the others leave"
        )


def _check_share(unit: Node, flavor: Hardware) -> None:
    if unit.entries[flavor.name].share:
        raise Unlawful(
            f"the quota of `{unit.title}` on `{flavor.name}` is a share, which follows from the weights: change a "
            f"weight, or give it a number first (`tenancy set {unit.title} budget.{flavor.name}.quota=N`)"
        )


def _check_limit(unit: Node, flavor: Hardware, resource: str, count: int) -> None:
    entry = unit.entries[flavor.name]
    quota, limit = entry.amounts[resource].quota + count, entry.written.get("limit", {}).get(resource)
    if limit is not None and quota > limit:
        raise Unlawful(
            f"`{unit.title}` has a limit of {_amount(flavor, resource, limit)} on `{flavor.name}`, below the "
            f"{_amount(flavor, resource, quota)} that it would own: raise the limit first"
        )


def _amount(flavor: Hardware, resource: str, count: int) -> str:
    key = next((key for key, name in flavor.names.items() if name == resource), resource)
    return f"{human(count, resource)} GPUs" if key == GPUS else f"{human(count, resource)} of {key}"


@dataclass(slots=True)
class _Moving:
    """Edits collected on a copy of the tree, since one number of an entry changes how the next is written."""

    tree: Raw
    flavor: Hardware
    made: Transfer = field(default_factory=Transfer)

    def lower(self, unit: Node, key: str, count: int) -> None:
        """Take an amount from a unit, and from its reserve and its limit what would then exceed the rest."""
        entry, resource = unit.entries[self.flavor.name], self.flavor.names[key]
        reserved, quota, _ = entry.amounts[resource]
        left = quota - count
        if left < 0:
            raise Unlawful(f"`{unit.title}` has only {_amount(self.flavor, resource, quota)} on `{self.flavor.name}`")
        self.move(unit, "quota", key, left)
        if resource in entry.written.get("reserved", {}) and reserved > left:
            self.move(unit, "reserved", key, left)
        limit = entry.written.get("limit", {}).get(resource)
        if limit is not None and unit.lender is unit and limit > left:
            self.move(unit, "limit", key, left)

    def move(self, unit: Node, number: str, key: str, count: int) -> None:
        """Set one number of a unit, in the spelling of the old one where that can say it."""
        path: KeyPath = (*unit.path, "budget", self.flavor.name)
        said = value_at(self.tree, path)
        resource = self.flavor.names[key]
        inside: KeyPath = (number,) if key == GPUS and not self._is_map(said, path, number) else (number, key)
        old = value_at(self.tree, number_path(said, path, inside))
        edit = set_number(said, path, inside, _spelled(count, resource, old))
        self.made.edits.append(edit)
        _put(self.tree, edit.path, edit.value)
        before = getattr(unit.entries[self.flavor.name].amounts[resource], number)
        self.made.said.append(
            f"{unit.title} on {self.flavor.name}: {number} {human(before, resource)} → "
            f"{human(count, resource)}{'' if key == GPUS else f' ({key})'}"
        )

    def _is_map(self, said: Raw, path: KeyPath, number: str) -> bool:
        return isinstance(value_at(self.tree, number_path(said, path, (number,))), dict) and (isinstance(said, dict))


def _spelled(count: int, resource: str, old: Raw) -> Written:
    """An amount as a value: in the unit of the old one, such as Gi, where it is a whole number of them."""
    suffix = old[-2:] if isinstance(old, str) and old.endswith("i") else ""
    unit = amount(f"1{suffix}", resource) if suffix else None
    text = f"{count // unit}{suffix}" if unit and count % unit == 0 else canonical(count, resource)
    return Written(int(text) if text.isdecimal() else text)


def _put(tree: Raw, path: KeyPath, value: Raw | Written) -> None:
    for step in path[:-1]:
        tree = tree.setdefault(step, {})
    tree[path[-1]] = value.value if isinstance(value, Written) else value
