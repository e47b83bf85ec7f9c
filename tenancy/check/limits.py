"""Limits that cannot mean what they say: above the parent's, beyond what the policy lends, or out of reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check import mending
from tenancy.check.finding import Check, Finding
from tenancy.check.wording import amount_of, breaking, comparable, largest_first, number_path
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node, Org

LIMIT_ABOVE_PARENT: Final = Rule(
    "limit-above-parent",
    Severity.ERROR,
    "A limit above the parent's limit",
    "Schedulers check every level of the tree, so the unit stops at its parent's limit; the larger number would "
    "promise GPUs that no load can ever reach.",
)
LIMIT_ABOVE_BORROWING: Final = Rule(
    "limit-above-borrowing",
    Severity.ERROR,
    "A limit above what the policy lets the unit borrow",
    "The policy and the limit contradict each other, and the scheduler can follow one of them only.",
)
LIMIT_UNREACHABLE: Final = Rule(
    "limit-unreachable",
    Severity.WARNING,
    "A limit that can never be reached",
    "The unit never gets what its siblings reserve, so it stops earlier, without a message that says why.",
)
LIMIT_OF_NOTHING: Final = Rule(
    "limit-of-nothing",
    Severity.ERROR,
    "A limit on a flavor that the unit can get nothing of",
    "The unit owns none of it and nobody may lend it any: a job for this flavor would wait for ever.",
)


def limits(org: Org) -> Iterator[Finding]:
    """Every written limit above the quota can be reached, by the policy and on every level above."""
    reserves: dict[tuple[KeyPath, str], dict[str, int]] = {}
    flavors = comparable(org)
    for unit in org.units:
        for name in unit.budget:
            flavor, entry = flavors.get(name), unit.entries.get(name)
            if flavor is None or entry is None or entry.broken or unit.parent is None:
                continue
            written = entry.written.get("limit")
            if written is None or unit.parent.entries[name].broken:
                continue
            found = {
                resource: finding
                for resource in written
                if (finding := _judge(unit, flavor, resource, reserves)) is not None
            }
            for resource in breaking(flavor, found) if found else ():
                yield found[resource]


def _judge(
    unit: Node, flavor: Hardware, resource: str, reserves: dict[tuple[KeyPath, str], dict[str, int]]
) -> Finding | None:
    """The first thing that keeps the unit below the limit it wrote."""
    _, quota, limit = unit.entries[flavor.name].amounts[resource]
    if limit <= quota or unit.parent is None:
        return None
    above = unit.parent.entries[flavor.name].amounts[resource].limit
    lender = unit.lender
    lent = above if lender is None else lender.entries[flavor.name].amounts[resource].quota
    if quota == 0 and min(lent, above) <= 0:
        return _nothing(unit, flavor, resource, lender)
    if quota > min(lent, above):
        return None  # A quota above that of a unit above is a finding of its own.
    if limit > lent and lender is not None:
        return _beyond_policy(unit, flavor, resource, lender)
    if limit > above:
        return _beyond_parent(unit, flavor, resource)
    reach = _reach(unit, flavor, resource, reserves)
    if quota <= reach < limit:
        return _beyond_reach(unit, flavor, resource, reach)
    return None


def _reach(unit: Node, flavor: Hardware, resource: str, reserves: dict[tuple[KeyPath, str], dict[str, int]]) -> int:
    """What the levels above leave to the unit when all that siblings do not reserve stands idle."""
    parent = unit.parent
    if parent is None:
        return unit.entries[flavor.name].amounts[resource].limit
    entry, own = parent.entries[flavor.name], unit.entries[flavor.name].amounts[resource]
    # A parent with a limit of its own is judged itself; going further up would repeat its finding here.
    top = entry.amounts[resource].limit
    if resource not in entry.written.get("limit", {}):
        top = min(top, _reach(parent, flavor, resource, reserves))
    kept = reserves.get((parent.path, flavor.name))
    if kept is None:
        kept = {r: sum(c.entries[flavor.name].amounts[r].reserved for c in parent.children) for r in flavor.resources}
        reserves[parent.path, flavor.name] = kept
    return top - (kept[resource] - own.reserved)


def _says(unit: Node, flavor: Hardware, resource: str) -> str:
    limit = unit.entries[flavor.name].amounts[resource].limit
    return f"`{unit.title}` has a limit of {amount_of(limit, resource)} on `{flavor.name}`"


def _nothing(unit: Node, flavor: Hardware, resource: str, lender: Node | None) -> Finding:
    holder = lender if lender is not None and lender is not unit else unit.parent
    if lender is unit:
        cause = f"it owns none of it and `borrowing: {unit.rules.borrowing}` lets it borrow nothing"
    elif holder is None or holder.parent is None:
        cause = f"`{flavor.name}` has none of it outside spare nodes"
    else:
        cause = f"neither it nor `{holder.title}` has a quota of it, and nobody else may lend it any"
    related = (("the unit above", holder.path),) if holder is not None and holder.path else ()
    return Finding(
        LIMIT_OF_NOTHING,
        number_path(unit, flavor, "limit", resource),
        f"{_says(unit, flavor, resource)}, but {cause}",
        _way_out(unit, flavor, resource),
        related,
    )


def _way_out(unit: Node, flavor: Hardware, resource: str) -> str:
    """Borrowing helps where the unit above may use some; where that owns nothing either, the quota starts there."""
    parent = unit.parent
    if parent is None or (parent.parent is None and not parent.entries[flavor.name].amounts[resource].limit):
        return "remove the limit, or the flavor until it has nodes"
    above = parent.entries[flavor.name].amounts[resource]
    who = f"`{unit.title}`" if parent.parent is None or above.quota else f"`{parent.title}` and `{unit.title}`"
    borrow = ", let it borrow from the organization (`borrowing: organization`)" if above.limit else ""
    return f"give {who} a quota on `{flavor.name}`{borrow}, or remove the limit"


def _beyond_policy(unit: Node, flavor: Hardware, resource: str, lender: Node) -> Finding:
    lent = amount_of(lender.entries[flavor.name].amounts[resource].quota, resource)
    whose = "its quota" if lender is unit else f"the quota of `{lender.title}`"
    related = (
        () if lender is unit else ((f"the quota of `{lender.title}`", number_path(lender, flavor, "quota", resource)),)
    )
    where = _origin(unit)
    above = unit.parent.entries[flavor.name].amounts[resource].limit if unit.parent is not None else 0
    most = amount_of(min(lender.entries[flavor.name].amounts[resource].quota, above), resource)
    further = ", leave it out, or let the unit borrow further: `policy: {borrowing: organization}`"
    far = above >= unit.entries[flavor.name].amounts[resource].limit
    return Finding(
        LIMIT_ABOVE_BORROWING,
        number_path(unit, flavor, "limit", resource),
        f"{_says(unit, flavor, resource)}, but `borrowing: {unit.rules.borrowing}` lets it use no more than "
        f"{whose}: {lent}",
        f"write a limit of at most {most}{further if far else ', or leave it out'}",
        (*related, ("the policy", where)) if where else related,
    )


def _origin(unit: Node) -> KeyPath | None:
    """Where the borrowing policy of a unit was written; at the organization if no unit says one."""
    node: Node | None = unit
    while node is not None and node.document is not None:
        if node.document.policy.borrowing is not None:
            return (*node.path, "policy", "borrowing")
        node = node.parent
    return ("policy", "borrowing")


def _beyond_parent(unit: Node, flavor: Hardware, resource: str) -> Finding:
    parent = unit.parent
    assert parent is not None
    above = amount_of(parent.entries[flavor.name].amounts[resource].limit, resource)
    if parent.parent is None:
        whose, related = f"what `{flavor.name}` has without its spare nodes", ("its nodes", (*flavor.path, "nodes"))
    else:
        explicit = resource in parent.entries[flavor.name].written.get("limit", {})
        whose = f"the limit of `{parent.title}`"
        related = (whose, number_path(parent, flavor, "limit" if explicit else "quota", resource))
    return Finding(
        LIMIT_ABOVE_PARENT,
        number_path(unit, flavor, "limit", resource),
        f"{_says(unit, flavor, resource)}, above {whose}: {above}",
        f"write a limit of at most {above}, or leave it out: it is then as far as the units above allow",
        (related,),
        edits=mending.amount(unit, flavor, "limit", resource, parent.entries[flavor.name].amounts[resource].limit),
    )


def _beyond_reach(unit: Node, flavor: Hardware, resource: str, reach: int) -> Finding:
    siblings = [child for child in unit.parent.children if child is not unit] if unit.parent is not None else []
    return Finding(
        LIMIT_UNREACHABLE,
        number_path(unit, flavor, "limit", resource),
        f"{_says(unit, flavor, resource)}, but can reach only {amount_of(reach, resource)}: others reserve the rest",
        f"write a limit of at most {amount_of(reach, resource)}, or reserve less elsewhere",
        largest_first(siblings, flavor, "reserved", resource),
        edits=mending.amount(unit, flavor, "limit", resource, reach),
    )


RULES: Final = (LIMIT_ABOVE_PARENT, LIMIT_ABOVE_BORROWING, LIMIT_UNREACHABLE, LIMIT_OF_NOTHING)
CHECKS: Final[tuple[Check, ...]] = (limits,)
