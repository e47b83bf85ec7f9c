"""Units that could run nothing: no cluster holds them, or nothing that they may use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import runs_jobs
from tenancy.diagnostics import Rule, Severity
from tenancy.model.organization import Node, Org

UNIT_IN_NO_CLUSTER: Final = Rule(
    "unit-in-no-cluster",
    Severity.ERROR,
    "Team that no cluster holds",
    "With several clusters a unit has queues and namespaces where it, or a unit around it, has a budget. Without any "
    "budget it would get nothing at all, and nobody would be told.",
)
NOTHING_TO_USE: Final = Rule(
    "nothing-to-use",
    Severity.WARNING,
    "Team that may use nothing",
    "It owns nothing and may borrow nothing, so every job that its people submit waits for ever.",
)

RULES: Final = (UNIT_IN_NO_CLUSTER, NOTHING_TO_USE)


def teams(org: Org) -> Iterator[Finding]:
    """Teams, and projects with a queue of their own, that could run nothing."""
    if org.left_out or not org.flavors:
        return
    for unit in org.units:
        if not runs_jobs(unit):
            continue
        if not unit.clusters:
            yield _no_cluster(org, unit)
        elif not any(unit.reaches(flavor) for flavor in org.flavors.values()):
            yield _nothing(unit)


def _no_cluster(org: Org, unit: Node) -> Finding:
    flavor = min(org.flavors)
    return Finding(
        UNIT_IN_NO_CLUSTER,
        unit.path,
        f"`{unit.title}` belongs to no cluster: neither it nor a unit above it has a budget",
        f"give it or its department a budget, such as `{flavor}: {{quota: 0}}` for what it may borrow there",
        at_key=True,
    )


def _nothing(unit: Node) -> Finding:
    return Finding(
        NOTHING_TO_USE,
        unit.path,
        f"`{unit.title}` has no quota on any flavor and may borrow none",
        "give it a budget, or let it borrow: `policy: {borrowing: department}`",
        at_key=True,
    )


CHECKS: Final[tuple[Check, ...]] = (teams,)
