"""An independent model of Kueue's quota arithmetic over emitted objects, for property tests.

It knows the formulas of a cohort tree (pkg/cache/scheduler of Kueue, the same from 0.17 to 0.19) and nothing of this
project: it reads plain `Cohort` and `ClusterQueue` objects of v1beta2. Amounts are whole numbers per cell, a pair of
flavor and resource; cpu in milli, everything else in whole units rounded up.

A state maps ClusterQueue names to what their admitted workloads use of one cell. What a set of queues can use is a
polymatroid (each queue feeds a tree of capacities), so every order of filling ends at the same total: `limit` and
`reserved` are exact although they fill greedily, and the tests of this module check that against every order and unit
steps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

Cell: TypeAlias = tuple[str, str]
"""(flavor, resource)."""
Node: TypeAlias = tuple[str, str]
"""(kind, name): a Cohort and a ClusterQueue may share a name."""
State: TypeAlias = Mapping[str, int]

COHORT, QUEUE = "Cohort", "ClusterQueue"
_QUANTITY = re.compile(r"([+-]?[0-9.]+)(?:[eE]([+-]?[0-9]+)|([a-zA-Z]*))")
_SUFFIXES = {"": Fraction(1), "m": Fraction(1, 10**3), "u": Fraction(1, 10**6), "n": Fraction(1, 10**9)} | {
    suffix: Fraction(base**power)
    for base, suffixes in ((1000, "kMGTPE"), (1024, ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")))
    for power, suffix in enumerate(suffixes, start=1)
}


@dataclass(frozen=True, slots=True)
class Quota:
    """One cell of one node; None is an absent limit."""

    nominal: int = 0
    lending_limit: int | None = None
    borrowing_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Tree:
    """All cohorts and queues, with the parent of each (None for a root) and its quotas by cell."""

    parents: dict[Node, Node | None] = field(default_factory=dict)
    quotas: dict[Node, dict[Cell, Quota]] = field(default_factory=dict)
    subtrees: dict[tuple[Node, Cell], int] = field(default_factory=dict, compare=False, repr=False)
    """What `subtree` has found: it depends on no state, and every question asks it of the whole tree below."""

    def children(self, node: Node) -> list[Node]:
        """The nodes directly below."""
        return [child for child, parent in self.parents.items() if parent == node]

    def below(self, node: Node) -> list[Node]:
        """The node and everything below it."""
        return [node, *(deeper for child in self.children(node) for deeper in self.below(child))]

    def queues(self, node: Node | None = None) -> list[str]:
        """The names of the queues of a subtree, or of all."""
        nodes = self.parents if node is None else self.below(node)
        return [name for kind, name in nodes if kind == QUEUE]

    def cells(self) -> list[Cell]:
        """Every cell that a node lists, sorted."""
        return sorted({cell for quotas in self.quotas.values() for cell in quotas})

    def quota(self, node: Node, cell: Cell) -> Quota:
        """The cell's entry; without one nothing is owned and nothing is limited."""
        return self.quotas[node].get(cell, Quota())


def amount(quantity: str | int | float, resource: str) -> int:
    """A Kubernetes quantity in the unit of its resource: milli for cpu, else whole; fractions are rounded up."""
    matched = _QUANTITY.fullmatch(str(quantity))
    if matched is None:
        raise ValueError(quantity)
    number, exponent, suffix = matched.groups()
    scale = Fraction(10) ** int(exponent) if exponent else _SUFFIXES[suffix or ""]
    return math.ceil(Fraction(number) * scale * (1000 if resource == "cpu" else 1))


def build(objects: Iterable[Mapping[str, Any]]) -> Tree:
    """The tree of all Cohorts and ClusterQueues among the objects; a cohort that is only named is an empty root."""
    tree = Tree()
    for manifest in objects:
        if manifest["kind"] not in (COHORT, QUEUE):
            continue
        spec, node = manifest.get("spec") or {}, (manifest["kind"], manifest["metadata"]["name"])
        parent = spec.get("parentName" if manifest["kind"] == COHORT else "cohortName")
        tree.parents[node] = (COHORT, parent) if parent else None
        tree.quotas[node] = _quotas(spec.get("resourceGroups") or ())
    for parent_node in {parent for parent in tree.parents.values() if parent and parent not in tree.parents}:
        tree.parents[parent_node], tree.quotas[parent_node] = None, {}
    return tree


def _quotas(groups: Iterable[Mapping[str, Any]]) -> dict[Cell, Quota]:
    quotas: dict[Cell, Quota] = {}
    for group in groups:
        for flavor in group["flavors"]:
            for entry in flavor["resources"]:
                resource = entry["name"]
                lending, borrowing = (
                    None if entry.get(key) is None else amount(entry[key], resource)
                    for key in ("lendingLimit", "borrowingLimit")
                )
                nominal = amount(entry.get("nominalQuota", 0), resource)
                quotas[flavor["name"], resource] = Quota(nominal, lending, borrowing)
    return quotas


def subtree(tree: Tree, node: Node, cell: Cell) -> int:
    """The quota of the node and what its children lend upwards."""
    if (node, cell) not in tree.subtrees:
        lent = sum(subtree(tree, child, cell) - local(tree, child, cell) for child in tree.children(node))
        tree.subtrees[node, cell] = tree.quota(node, cell).nominal + lent
    return tree.subtrees[node, cell]


def local(tree: Tree, node: Node, cell: Cell) -> int:
    """What the node keeps: usable below it alone."""
    lending_limit = tree.quota(node, cell).lending_limit
    return 0 if lending_limit is None else max(0, subtree(tree, node, cell) - lending_limit)


def usage(tree: Tree, node: Node, cell: Cell, state: State) -> int:
    """What a queue uses, and what a cohort's children use beyond what they keep."""
    if node[0] == QUEUE:
        return state.get(node[1], 0)
    return sum(max(0, usage(tree, child, cell, state) - local(tree, child, cell)) for child in tree.children(node))


def available(tree: Tree, node: Node, cell: Cell, state: State) -> int:
    """What the node can still take without preemption; negative at a root whose quota was cut below its usage."""
    whole, used, parent = subtree(tree, node, cell), usage(tree, node, cell, state), tree.parents[node]
    if parent is None:
        return whole - used
    kept = local(tree, node, cell)
    from_parent = available(tree, parent, cell, state)
    borrowing_limit = tree.quota(node, cell).borrowing_limit
    if borrowing_limit is not None:
        from_parent = min(from_parent, whole - kept - max(0, used - kept) + borrowing_limit)
    return max(0, kept - used) + from_parent


def potential(tree: Tree, node: Node, cell: Cell) -> int:
    """The largest request that could ever fit at the node."""
    whole, parent = subtree(tree, node, cell), tree.parents[node]
    if parent is None:
        return whole
    reach = local(tree, node, cell) + potential(tree, parent, cell)
    borrowing_limit = tree.quota(node, cell).borrowing_limit
    return reach if borrowing_limit is None else min(whole + borrowing_limit, reach)


def fill(tree: Tree, queues: Iterable[str], cell: Cell, state: State | None = None, step: int = 0) -> dict[str, int]:
    """The state after each queue in turn has taken all that it can, at most `step` per admitted workload if positive.

    A queue that does not list the cell takes nothing.
    """
    filled = dict(state or {})
    for name in queues:
        node = (QUEUE, name)
        while cell in tree.quotas[node] and (free := available(tree, node, cell, filled)) > 0:
            filled[name] = filled.get(name, 0) + (min(free, step) if step else free)
    return filled


def limit(tree: Tree, unit: Node, cell: Cell) -> int:
    """The most that the queues below the unit reach together while everything else is idle."""
    return sum(fill(tree, tree.queues(unit), cell).values())


def reserved(tree: Tree, unit: Node, cell: Cell) -> int:
    """What the queues below the unit can still take, nobody preempted, after all others have taken all they can."""
    inside = tree.queues(unit)
    outside = [name for name in tree.queues() if name not in inside]
    full = fill(tree, outside, cell)
    return sum(fill(tree, inside, cell, full).values()) - sum(full.values())


def with_guests(tree: Tree) -> Tree:
    """The tree with one more queue in every cohort that owns nothing and may borrow and lend without limit.

    The limits of real queues can keep them from borrowing all that is lent, or from using all their cohort may. With
    guests a unit's `reserved` and a cohort's `limit` are those of its own numbers and its ancestors', whoever its
    neighbours and children are.
    """
    guests: dict[Node, Node | None] = {
        (QUEUE, f"{name}/guest"): (kind, name) for kind, name in tree.parents if kind == COHORT
    }
    quotas = {guest: {cell: Quota() for cell in tree.cells()} for guest in guests}
    return Tree(tree.parents | guests, tree.quotas | quotas)


def quota(tree: Tree, unit: Node, cell: Cell) -> int:
    """What the unit owns, and gets back under reclaim Any: every nominal quota of its subtree.

    Children whose limits add up to less cannot use all of it: `limit` of a unit below its quota says so.
    """
    return sum(tree.quota(node, cell).nominal for node in tree.below(unit))
