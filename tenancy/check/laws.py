"""The laws of the three numbers: the triple is ordered, and a unit hands on no more than it has (docs/concepts.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tenancy.check import mending
from tenancy.check.finding import Check, Finding
from tenancy.check.wording import (
    amount_of,
    breaking,
    by_flavor,
    comparable,
    derivation,
    entry_text,
    following,
    largest_first,
    number_path,
)
from tenancy.diagnostics import Rule, Severity
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node, Org
from tenancy.model.reach import borrows

RESERVED_ABOVE_QUOTA: Final = Rule(
    "reserved-above-quota",
    Severity.ERROR,
    "A reserve above the unit's quota",
    "A queue cannot keep what it does not own: Kueue refuses a lendingLimit (quota less reserved) below zero, Volcano "
    "a guarantee above what is deserved.",
)
QUOTA_ABOVE_LIMIT: Final = Rule(
    "quota-above-limit",
    Severity.ERROR,
    "A quota above the unit's own limit",
    "A part of the quota could never be used. Kueue has no limit below the quota (borrowingLimit would be negative, "
    "which its webhook refuses), and Volcano refuses a deserved above the capability.",
)
QUOTA_ABOVE_PARENT: Final = Rule(
    "quota-above-parent",
    Severity.ERROR,
    "Units with more quota than the unit above them",
    "The same GPUs would be promised twice, and under load somebody's quota does not come back. Kueue accepts it and "
    "adds the children up; Volcano refuses the queues.",
)
RESERVED_ABOVE_PARENT: Final = Rule(
    "reserved-above-parent",
    Severity.ERROR,
    "Units that reserve more than the unit above them",
    "What the children never lend is already kept from everybody else; a smaller number above them would promise the "
    "neighbours GPUs that they cannot get.",
)
POOL_UNUSED: Final = Rule(
    "pool-unused",
    Severity.WARNING,
    "A pool that no unit below may use",
    "The part of a quota that is not handed on is a pool for the units below; where none of them may borrow, it "
    "stands idle or serves other departments only.",
)


def ordered(org: Org) -> Iterator[Finding]:
    """reserved ≤ quota ≤ limit, where a reserve or a limit was written."""
    flavors = comparable(org)
    for unit in org.units:
        for name in unit.budget:
            entry = unit.entries.get(name)
            if entry is None or entry.broken or name not in flavors:
                continue
            for resource in entry.written.get("reserved", ()):
                if entry.amounts[resource].reserved > entry.amounts[resource].quota:
                    yield _reserved_above_quota(unit, flavors[name], resource)
            for resource in entry.written.get("limit", ()):
                if entry.amounts[resource].quota > entry.amounts[resource].limit:
                    yield _quota_above_limit(unit, flavors[name], resource)


def _reserved_above_quota(unit: Node, flavor: Hardware, resource: str) -> Finding:
    entry = unit.entries[flavor.name]
    reserved, quota, _ = entry.amounts[resource]
    return Finding(
        RESERVED_ABOVE_QUOTA,
        number_path(unit, flavor, "reserved", resource),
        f"`{unit.title}` reserves {amount_of(reserved, resource)} on `{flavor.name}`, more than its "
        f"{'share' if entry.share else 'quota'} of {amount_of(quota, resource)}"
        f"{derivation(unit, flavor, 'quota', resource)}",
        f"reserve at most {amount_of(quota, resource)}, or raise the quota to {amount_of(reserved, resource)}",
        (("the quota", number_path(unit, flavor, "quota", resource)),),
        edits=() if entry.share else mending.amount(unit, flavor, "reserved", resource, quota),
    )


def _quota_above_limit(unit: Node, flavor: Hardware, resource: str) -> Finding:
    entry = unit.entries[flavor.name]
    _, quota, limit = entry.amounts[resource]
    said = "quota" in entry.written
    how = derivation(unit, flavor, "quota", resource)
    if not said and not entry.share:
        how = " (what it reserves, as no quota is written)"
    return Finding(
        QUOTA_ABOVE_LIMIT,
        number_path(unit, flavor, "limit", resource),
        f"`{unit.title}` has a limit of {amount_of(limit, resource)} on `{flavor.name}`, below its quota of "
        f"{amount_of(quota, resource)}{how}",
        f"raise the limit to at least {amount_of(quota, resource)}, or lower the quota",
        (("the quota", number_path(unit, flavor, "quota", resource)),) if said else (),
        edits=() if entry.share else mending.amount(unit, flavor, "limit", resource, quota),
    )


def handed_on(org: Org) -> Iterator[Finding]:
    """Children have no more quota than the unit and reserve no more than it; the organization's own is its hardware."""
    flavors = comparable(org)
    for unit in org.units:
        for name, children in by_flavor(unit).items() if unit.children else ():
            flavor, entry = flavors.get(name), unit.entries[name]
            if flavor is None or entry.broken or any(child.entries[name].broken for child in unit.children):
                continue
            amounts = [child.entries[name].amounts for child in children]
            total = {resource: sum([each[resource].quota for each in amounts]) for resource in flavor.resources}
            for resource in breaking(flavor, {r for r in total if total[r] > entry.amounts[r].quota}):
                yield _above_parent(unit, flavor, resource, total, children)
            written = entry.written.get("reserved", {})
            total = {resource: sum([each[resource].reserved for each in amounts]) for resource in written}
            for resource in breaking(flavor, {r for r in written if total[r] > written[r]}):
                yield _reserved_above_parent(unit, flavor, resource, total[resource], children)


def _above_parent(unit: Node, flavor: Hardware, resource: str, totals: dict[str, int], children: list[Node]) -> Finding:
    total = totals[resource]
    entry, quota = unit.entries[flavor.name], unit.entries[flavor.name].amounts[resource].quota
    places = largest_first(children, flavor, "quota", resource)
    together, derived = amount_of(total, resource), following(flavor, resource, children)
    if not entry.stated:
        return Finding(
            QUOTA_ABOVE_PARENT,
            places[0][1],
            f"the units in `{unit.title}` have quotas of {together}{derived} on `{flavor.name}`, but "
            f"`{unit.title}` has no budget for it",
            f"add {entry_text(flavor, resource, total)} to the budget of `{unit.title}`",
            (("the unit above, without a budget for it", unit.path), *places[1:]),
            edits=mending.budget(unit, flavor, totals),
        )
    own = "share" if entry.share else "quota"
    also = " and its limit" if "limit" in entry.written and total > entry.amounts[resource].limit else ""
    return Finding(
        QUOTA_ABOVE_PARENT,
        number_path(unit, flavor, "quota", resource),
        f"the units in `{unit.title}` have quotas of {together}{derived} on `{flavor.name}`, "
        f"{amount_of(total - quota, resource)} more than its {own} of "
        f"{amount_of(quota, resource)}{derivation(unit, flavor, 'quota', resource)}",
        f"take {amount_of(total - quota, resource)} from the units in `{unit.title}`, or raise its quota{also} "
        f"to {together}",
        places,
    )


def _reserved_above_parent(unit: Node, flavor: Hardware, resource: str, total: int, children: list[Node]) -> Finding:
    own = amount_of(unit.entries[flavor.name].written["reserved"][resource], resource)
    return Finding(
        RESERVED_ABOVE_PARENT,
        number_path(unit, flavor, "reserved", resource),
        f"the units in `{unit.title}` reserve {amount_of(total, resource)} on `{flavor.name}`, more than the {own} "
        f"that `{unit.title}` reserves",
        f"raise it to {amount_of(total, resource)}, or leave `reserved` out: it is then the sum",
        largest_first(children, flavor, "reserved", resource),
        edits=mending.amount(unit, flavor, "reserved", resource, total),
    )


def pool_unused(org: Org) -> Iterator[Finding]:
    """Somebody below may use what a department, or a team of budgeted projects, does not hand on."""
    flavors = comparable(org)
    for unit in org.units:
        if unit.document is None or not _keeps_pool(unit) or (org.left_out and _unread(org, unit)):
            continue
        for name in unit.budget:
            flavor, entry = flavors.get(name), unit.entries.get(name)
            if flavor is None or entry is None or any(child.entries[name].broken for child in (unit, *unit.children)):
                continue
            left = {
                resource: count
                for resource in flavor.mains
                if (count := _kept(unit, name, resource)) > 0
                and not any(borrows(child, flavor, resource) for child in unit.children)
            }
            if left:
                yield _unused(unit, flavor, left)


def _keeps_pool(unit: Node) -> bool:
    """Whether what the unit does not hand on is no queue's: a team with a project without a budget has one for it."""
    if unit.kind == "team":
        return bool(unit.children) and all(child.budget for child in unit.children)
    return unit.kind == "department"


def _unread(org: Org, unit: Node) -> bool:
    """Whether units below may be missing here because they could not be read."""
    return any(org.hides((*unit.path, key)) for key in ("departments", "teams", "projects"))


def _kept(unit: Node, flavor: str, resource: str) -> int:
    handed = sum(child.entries[flavor].amounts[resource].quota for child in unit.children)
    return unit.entries[flavor].amounts[resource].quota - handed


def _unused(unit: Node, flavor: Hardware, left: Mapping[str, int]) -> Finding:
    amount = " and ".join(amount_of(count, resource) for resource, count in left.items())
    if unit.children:
        message = f"`{unit.title}` keeps {amount} on `{flavor.name}` that no unit in it may use, since none may borrow"
        far = "organization" if any(child.kind == "department" for child in unit.children) else "department"
        help_text = (
            f"hand the {amount} on to its units, or let them borrow: `policy: {{borrowing: {far}}}` and no `limit` at "
            "their quota"
        )
    else:
        message = f"`{unit.title}` has {amount} on `{flavor.name}`, but no team"
        help_text = f"add a team under `teams:` of `{unit.title}`, or remove the budget until there is one"
    return Finding(POOL_UNUSED, number_path(unit, flavor, "quota", next(iter(left))), message, help_text)


RULES: Final = (RESERVED_ABOVE_QUOTA, QUOTA_ABOVE_LIMIT, QUOTA_ABOVE_PARENT, RESERVED_ABOVE_PARENT, POOL_UNUSED)
CHECKS: Final[tuple[Check, ...]] = (ordered, handed_on, pool_unused)
