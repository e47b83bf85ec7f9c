"""What the queue of a unit can come to use, and how many pods it may admit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeAlias

from tenancy.diagnostics import KeyPath
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node
from tenancy.model.quantity import LARGEST

Borrowers: TypeAlias = dict[tuple[KeyPath, str, str], list[Node]]
"""From the path of a unit, flavor and resource to units in it that borrow."""


def queue_node(node: Node) -> Node:
    """The unit whose queue takes the jobs of `node`'s namespace: itself, or its team."""
    own_queue = node.kind == "team" or (node.parent is not None and node.parent.inner and bool(node.budget))
    return node if own_queue or node.parent is None else node.parent


def budgeted(node: Node) -> list[Node]:
    """The children that have a queue of their own, or hold units that do."""
    return [child for child in node.children if child.kind != "project" or child.budget]


def borrows(node: Node, flavor: Hardware, resource: str) -> bool:
    """Whether some queue of a unit may use more than its own, with what the levels up to that unit own."""
    amounts = node.entries[flavor.name].amounts[resource]
    if amounts.limit <= amounts.quota or (node.clusters and flavor.cluster not in node.clusters):
        return False
    below = budgeted(node)
    if node.kind == "department" or (below and len(below) == len(node.children)):
        return any(borrows(child, flavor, resource) for child in below)
    return True


def lends(unit: Node, flavor: Hardware, known: Borrowers) -> bool:
    """Whether somebody may use idle quota of the unit: projects of its own, or units beside it or above."""
    return unit.entries[flavor.name].stated and any(
        bool(_borrowers(unit, flavor, main, known)) or _lends_to_some(unit, flavor, main, known)
        for main in flavor.mains
    )


def _lends_to_some(unit: Node, flavor: Hardware, resource: str, known: Borrowers) -> bool:
    """Level by level upwards, as long as not all is reserved."""
    amounts, parent = unit.entries[flavor.name].amounts[resource], unit.parent
    if parent is None or amounts.quota <= amounts.reserved:
        return False
    if any(other is not unit for other in _borrowers(parent, flavor, resource, known)):
        return True
    return _beside_others(unit) or _lends_to_some(parent, flavor, resource, known)


def rivalled(unit: Node, flavor: Hardware, resource: str, known: Borrowers) -> Iterator[Node]:
    """The units above, without the organization, inside which somebody else may use idle quota of the unit."""
    node, parent, rivals = unit, unit.parent, _beside_others(unit)
    while parent is not None and parent.parent is not None:
        rivals = rivals or any(other is not node for other in _borrowers(parent, flavor, resource, known))
        if rivals:
            yield parent
        node, parent = parent, parent.parent


def _beside_others(unit: Node) -> bool:
    """Whether it is a budgeted project beside others without a budget, which together borrow from it as one."""
    team = unit.parent
    if unit.kind != "project" or team is None or team.rules.borrowing == "none":
        return False
    return len(budgeted(team)) < len(team.children)


def _borrowers(parent: Node, flavor: Hardware, resource: str, known: Borrowers) -> list[Node]:
    """Two of the units in `parent` that borrow, if there are as many: one of them is another than the one who asks."""
    key = (parent.path, flavor.name, resource)
    if key not in known:
        known[key] = list(islice((unit for unit in budgeted(parent) if borrows(unit, flavor, resource)), 2))
    return known[key]


def within_reach(node: Node, flavor: Hardware, resource: str) -> int:
    """The most that the queues of a unit can use while all others stand idle: on every level the limit, less what
    siblings reserve. No less than its quota where the laws hold."""
    own, parent = node.entries[flavor.name].amounts[resource], node.parent
    if parent is None:
        return own.limit
    siblings = own.reserved
    if parent.parent is None or parent.entries[flavor.name].amounts[resource].reserved:
        siblings = sum(child.entries[flavor.name].amounts[resource].reserved for child in parent.children)
    return max(own.quota, min(own.limit, within_reach(parent, flavor, resource) - (siblings - own.reserved)))


def usable(node: Node, flavor: Hardware, resource: str) -> int:
    """The same for the queue that takes the unit's own jobs: for a team of budgeted projects, that of the others."""
    reserved = sum(child.entries[flavor.name].amounts[resource].reserved for child in _parts(node))
    return max(kept(node, flavor, resource), within_reach(node, flavor, resource) - reserved)


def kept(node: Node, flavor: Hardware, resource: str) -> int:
    """The quota of the queue that takes the unit's own jobs: what the unit's budgeted projects leave of its own."""
    parts = sum(child.entries[flavor.name].amounts[resource].quota for child in _parts(node))
    return node.entries[flavor.name].amounts[resource].quota - parts


def borrows_gpus(queue: Node, flavors: Iterable[Hardware]) -> bool:
    """Whether a queue may come to use GPUs beyond what is left to it of its unit's quota, which others take back."""
    return any(
        usable(queue, flavor, main) > kept(queue, flavor, main)
        for flavor in flavors
        if not flavor.is_cpu and queue.reaches(flavor)
        for main in flavor.mains
    )


def _parts(node: Node) -> list[Node]:
    return budgeted(node) if node.kind == "team" else []


def most_gpu_pods(queue: Node, flavors: Mapping[str, Hardware]) -> int:
    """How many pods of one GPU, MIG slice or share each the queue may admit at once."""
    return sum(
        queue.entries[flavor.name].amounts[main].limit
        for flavor in flavors.values()
        if not flavor.is_cpu and queue.reaches(flavor)
        for main in flavor.mains
    )


def most_pods(queue: Node, flavors: Mapping[str, Hardware], container: Mapping[str, int]) -> int:
    """How many pods the queue may admit at once: one for each GPU, MIG slice or share, and on nodes without GPUs as
    many as fit into its limit with the requests of `container`."""
    return most_gpu_pods(queue, flavors) + sum(
        min(
            (
                queue.entries[flavor.name].amounts[main].limit // container[main]
                for main in flavor.mains
                if container[main]
            ),
            default=LARGEST,
        )
        for flavor in flavors.values()
        if flavor.is_cpu and queue.reaches(flavor)
    )
