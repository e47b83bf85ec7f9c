"""Units that could run nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import comparable, runs_jobs
from tenancy.diagnostics import Rule, Severity
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node, Org
from tenancy.model.reach import usable

NOTHING_TO_USE: Final = Rule(
    "nothing-to-use",
    Severity.WARNING,
    "A team that may use nothing",
    "It owns nothing and may borrow nothing, so every job that its people submit waits for ever.",
)

RULES: Final = (NOTHING_TO_USE,)


def teams(org: Org) -> Iterator[Finding]:
    """Teams, and projects with a queue of their own, that could run nothing."""
    flavors = list(org.flavors.values())
    whole = [flavor for flavor in comparable(org).values() if flavor.nodes]
    if org.left_out or not flavors or len(whole) < len(flavors) or not org.document.clusters:
        return  # What is wrong with a flavor or a cluster leaves units without anything to use, and says so itself.
    for unit in org.units:
        if runs_jobs(unit) and not any(_uses(unit, flavor) for flavor in flavors) and not _unread(org, unit):
            yield _nothing(unit, flavors)


def _unread(org: Org, unit: Node) -> bool:
    """Whether a budget of the unit has a finding of its own that leaves it with nothing."""
    return any(name not in org.flavors or unit.entries[name].broken for name in unit.budget)


def _uses(unit: Node, flavor: Hardware) -> bool:
    return unit.reaches(flavor) and any(usable(unit, flavor, main) > 0 for main in flavor.mains)


def _nothing(unit: Node, flavors: list[Hardware]) -> Finding:
    if any(unit.reaches(flavor) for flavor in flavors):
        message = f"`{unit.title}` has no quota on any flavor, and others reserve all that it could borrow"
        return Finding(NOTHING_TO_USE, unit.path, message, "give it a budget, or reserve less elsewhere", at_key=True)
    message = f"`{unit.title}` has no quota on any flavor and may borrow none"
    return Finding(NOTHING_TO_USE, unit.path, message, _way_out(unit, flavors), at_key=True)


def _way_out(unit: Node, flavors: list[Hardware]) -> str:
    """A budget, or the narrowest policy that would let the unit borrow something; none helps where a limit is 0."""
    silent = [flavor for flavor in flavors if flavor.cluster in unit.clusters and flavor.name not in unit.budget]
    parent = unit.parent
    if parent is None or not silent:
        return "give it a budget, or a `limit` above 0"
    if not any(_amount(parent, flavor, "limit") for flavor in silent):
        free = parent.parent is not None and any(_amount(parent.parent, flavor, "limit") for flavor in silent)
        borrow = f", or let `{parent.title}` borrow: `policy: {{borrowing: organization}}`" if free else ""
        return f"give `{parent.title}` and it a budget{borrow}"
    department = next((above for above in unit.ancestors() if above.kind == "department"), parent)
    own = any(min(_amount(department, flavor, "quota"), _amount(parent, flavor, "limit")) for flavor in silent)
    return f"give it a budget, or let it borrow: `policy: {{borrowing: {'department' if own else 'organization'}}}`"


def _amount(unit: Node, flavor: Hardware, number: str) -> int:
    return max((getattr(unit.entries[flavor.name].amounts[main], number) for main in flavor.mains), default=0)


CHECKS: Final[tuple[Check, ...]] = (teams,)
