"""Fill in the promises of every unit: what budgets say, what follows from it, and what the policy allows.

Quotas and limits go down the tree (shares split what a parent has, limits are bounded by it), reserves go up (a parent
reserves what its children do, unless it says more).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from tenancy.diagnostics import KeyPath
from tenancy.model.document import TRIPLE, BudgetEntry, Triple
from tenancy.model.hardware import CPU, GPUS, MEMORY, Hardware, amount
from tenancy.model.organization import Entry, Node, Org, Quota
from tenancy.model.shares import split

SHARE: Final = "share"


def promise(org: Org) -> None:
    """Give every unit an entry for every flavor, and the clusters in which it has a queue."""
    for flavor in org.flavors.values():
        capacity = {resource: Quota(0, count, count) for resource, count in flavor.capacity.items()}
        org.root.entries[flavor.name] = Entry(flavor.path, capacity)
        _descend(org, org.root, flavor)
        _reserve(org.root, flavor)
    _place(org)


def written(entry: BudgetEntry, flavor: Hardware) -> tuple[dict[str, dict[str, int]], bool, bool]:
    """What a budget entry says: amounts per number and resource; whether its quota is a share; whether all was read."""
    numbers: dict[str, Any] = (
        {name: getattr(entry, name) for name in TRIPLE} if isinstance(entry, Triple) else {"quota": entry}
    )
    said: dict[str, dict[str, int]] = {}
    share, whole = False, True
    for number, value in numbers.items():
        if value == SHARE and number == "quota":
            share = True
        elif value is not None:
            said[number], read = _amounts(value, flavor)
            whole = whole and read
    return said, share, whole


def _amounts(value: Any, flavor: Hardware) -> tuple[dict[str, int], bool]:
    """The amounts of one number, per resource name; False where one could not be read."""
    pairs: Mapping[str, Any] = value if isinstance(value, Mapping) else {GPUS: value}
    amounts: dict[str, int] = {}
    for key, quantity in pairs.items():
        resource = flavor.names.get(key)
        read = amount(quantity, resource) if resource is not None else None
        if resource is None or read is None:
            return amounts, False
        amounts[resource] = read
    return amounts, True


def _descend(org: Org, parent: Node, flavor: Hardware) -> None:
    """Entries of the children of `parent`, then of theirs."""
    above = parent.entries[flavor.name]
    silent: dict[tuple[str, KeyPath], dict[str, Quota]] = {}
    sharers: list[Node] = []
    for child in parent.children:
        said = child.budget.get(flavor.name)
        if said is None:
            key = (child.rules.borrowing, child.lender.path if child.lender is not None else ())
            if key not in silent:
                silent[key] = _fill(child, flavor, {}, above)
            hidden = bool(org.left_out) and org.hides((*child.path, "budget", flavor.name))
            child.entries[flavor.name] = Entry(child.path, silent[key], broken=hidden)
            continue
        path = (*child.path, "budget", flavor.name)
        numbers, share, whole = written(said, flavor)
        broken = not whole or (bool(org.left_out) and org.hides(path))
        child.entries[flavor.name] = Entry(path, {}, numbers, stated=True, share=share, broken=broken)
        if share:
            sharers.append(child)
        else:
            child.entries[flavor.name].amounts = _fill(child, flavor, numbers, above)
    if sharers:
        _share(parent, sharers, flavor)
    for child in parent.children:
        if child.children:
            _descend(org, child, flavor)


def _share(parent: Node, sharers: list[Node], flavor: Hardware) -> None:
    """Split what the fixed quotas leave of the parent's among `sharers`, per main resource."""
    above = parent.entries[flavor.name]
    fixed = [entry for child in parent.children if not (entry := child.entries[flavor.name]).share]
    weights = [Fraction(str(child.document.weight)) if child.document else Fraction(0) for child in sharers]
    quotas: list[dict[str, int]] = [{} for _ in sharers]
    for main in flavor.mains:
        pool = above.amounts[main].quota - sum(entry.amounts[main].quota for entry in fixed)
        caps = [child.entries[flavor.name].written.get("limit", {}).get(main) for child in sharers]
        for quota, part in zip(quotas, split(pool, weights, caps, flavor.steps[main]), strict=True):
            quota[main] = part
    for child, quota in zip(sharers, quotas, strict=True):
        entry = child.entries[flavor.name]
        follow = followers(flavor, quota)
        cut = {name: min(count, entry.written.get("limit", {}).get(name, count)) for name, count in follow.items()}
        entry.amounts = _fill(child, flavor, {**entry.written, "quota": {**cut, **quota}}, above)


def followers(flavor: Hardware, amounts: Mapping[str, int]) -> dict[str, int]:
    """cpu and memory that follow from the main resources among `amounts`."""
    if flavor.is_cpu:
        return {}
    cpu = memory = 0
    for main, follows in flavor.follows.items():
        if count := amounts.get(main):
            cpu += count * follows[CPU]
            memory += count * follows[MEMORY]
    return {CPU: cpu, MEMORY: memory}


def _fill(child: Node, flavor: Hardware, said: Mapping[str, Mapping[str, int]], above: Entry) -> dict[str, Quota]:
    """The three numbers of every resource, from what is said, what follows and what the parent and the policy allow."""
    explicit = said.get("reserved", {})
    reserved = {**followers(flavor, explicit), **explicit}
    quota = {**{name: explicit.get(name, 0) for name in flavor.mains}, **said.get("quota", {})}
    quota = {**followers(flavor, quota), **quota}
    limit = dict(said.get("limit", {}))
    for name in flavor.mains:
        if name not in limit:
            limit[name] = max(quota[name], _bound(child, flavor, name, quota, above))
    for name, count in followers(flavor, limit).items():
        if name not in limit:
            limit[name] = max(quota[name], min(count, _bound(child, flavor, name, quota, above)))
    filled: dict[str, Quota] = {}
    for name in flavor.resources:
        own, first = quota.get(name, 0), reserved.get(name, 0)
        filled[name] = Quota(first if name in explicit else min(first, own), own, limit.get(name, 0))
    return filled


def _bound(child: Node, flavor: Hardware, name: str, quota: Mapping[str, int], above: Entry) -> int:
    """The largest limit that the policy and the parent allow."""
    lender = child.lender
    if lender is None:
        return above.amounts[name].limit
    if lender is child:
        return quota.get(name, 0)
    return min(above.amounts[name].limit, lender.entries[flavor.name].amounts[name].quota)


def _reserve(node: Node, flavor: Hardware) -> None:
    """Reserve for an inner unit what its children reserve, where it does not say otherwise."""
    for child in node.children:
        if child.children:
            _reserve(child, flavor)
    if node.parent is None or not node.children:
        return
    entry = node.entries[flavor.name]
    explicit = entry.written.get("reserved", {})
    sums = {
        name: sum(child.entries[flavor.name].amounts[name].reserved for child in node.children)
        for name in flavor.resources
    }
    if any(sums.values()):
        entry.amounts = {
            name: quota if name in explicit else quota._replace(reserved=max(quota.reserved, sums[name]))
            for name, quota in entry.amounts.items()
        }


def _place(org: Org) -> None:
    """Decide in which clusters each unit has a queue: where it, a unit above or a unit below has a budget.

    A unit without any budget around it is wherever the unit above it is, in the end everywhere. A team is only where it
    may use something, unless that is nowhere; a project is wherever its team is, since the team's namespaces are one
    place to work in.
    """
    everywhere = frozenset(org.document.clusters)
    org.root.clusters = everywhere
    if len(everywhere) <= 1:
        for unit in org.units:
            unit.clusters = everywhere
        return
    for unit in org.units:
        above = unit.parent.clusters if unit.parent and unit.parent is not org.root else frozenset()
        unit.clusters = _own_clusters(org, unit) | above
    for unit in reversed(org.units):
        if unit.parent is not None:
            unit.parent.clusters |= unit.clusters
    for unit in org.units:
        above = unit.parent.clusters if unit.parent is not None else everywhere
        unit.clusters = above if unit.kind == "project" else unit.clusters or above
        if unit.kind == "team":
            unit.clusters = _usable(org, unit) or unit.clusters


def _usable(org: Org, team: Node) -> frozenset[str]:
    """The clusters of a team in which it, or one of its projects, may use anything: in others its jobs would wait for
    ever."""
    for project in team.children:
        project.clusters = team.clusters
    return frozenset(
        flavor.cluster
        for flavor in org.flavors.values()
        if any(unit.reaches(flavor) for unit in (team, *team.children))
    )


def _own_clusters(org: Org, unit: Node) -> frozenset[str]:
    return frozenset(org.flavors[name].cluster for name in unit.budget if name in org.flavors)
