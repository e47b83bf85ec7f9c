"""Units that could run nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import runs_jobs
from tenancy.diagnostics import Rule, Severity
from tenancy.model.organization import Node, Org

NOTHING_TO_USE: Final = Rule(
    "nothing-to-use",
    Severity.WARNING,
    "Team that may use nothing",
    "It owns nothing and may borrow nothing, so every job that its people submit waits for ever.",
)

RULES: Final = (NOTHING_TO_USE,)


def teams(org: Org) -> Iterator[Finding]:
    """Teams, and projects with a queue of their own, that could run nothing."""
    if org.left_out or not org.flavors:
        return
    for unit in org.units:
        if not runs_jobs(unit):
            continue
        if not any(unit.reaches(flavor) for flavor in org.flavors.values()):
            yield _nothing(unit)


def _nothing(unit: Node) -> Finding:
    return Finding(
        NOTHING_TO_USE,
        unit.path,
        f"`{unit.title}` has no quota on any flavor and may borrow none",
        "give it a budget, or let it borrow: `policy: {borrowing: department}`",
        at_key=True,
    )


CHECKS: Final[tuple[Check, ...]] = (teams,)
