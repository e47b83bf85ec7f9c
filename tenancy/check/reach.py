"""Units that could run nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import comparable, runs_jobs
from tenancy.diagnostics import Rule, Severity
from tenancy.model.organization import Node, Org

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
    if org.left_out or not flavors or len(comparable(org)) < len(flavors) or not org.document.clusters:
        return  # What is wrong with a flavor or a cluster leaves units without anything to use, and says so itself.
    for unit in org.units:
        if runs_jobs(unit) and not any(unit.reaches(flavor) for flavor in flavors) and not _unread(org, unit):
            yield _nothing(unit)


def _unread(org: Org, unit: Node) -> bool:
    """Whether a budget of the unit has a finding of its own that leaves it with nothing."""
    budget = unit.document.budget if unit.document is not None else {}
    return any(name not in org.flavors or unit.entries[name].broken for name in budget)


def _nothing(unit: Node) -> Finding:
    return Finding(
        NOTHING_TO_USE,
        unit.path,
        f"`{unit.title}` has no quota on any flavor and may borrow none",
        "give it a budget, or let it borrow: `policy: {borrowing: department}`",
        at_key=True,
    )


CHECKS: Final[tuple[Check, ...]] = (teams,)
