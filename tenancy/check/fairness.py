"""The departments' shares of the API server: enough for each, and not at the price of what keeps the cluster alive."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.diagnostics import Rule, Severity
from tenancy.model.fairness import BUILT_IN, ENOUGH, SEATS, api_shares, department_weights, divided, seats
from tenancy.model.organization import Org

LEAST: Final = 4
"""Seats of a department. Half of them are lent while it is idle, so two requests of whoever comes back run at once."""
SQUEEZED: Final = Fraction(1, 3)
"""The part of its seats that a level of the server may lose."""
MOST: Final = int(sum(BUILT_IN.values()) * SQUEEZED / (1 - SQUEEZED))
"""Shares of all departments together at which they just keep the rest."""
_SHOWN: Final = ("system", "workload-high")
"""Nodes; the controllers and the scheduler of Kubernetes."""

API_SHARES_THIN: Final = Rule(
    "api-shares-thin",
    Severity.WARNING,
    "A department with next to nothing of the API server",
    f"Seats are the requests that the API server works on at a time, {SEATS} by its defaults. A department with less "
    f"than {LEAST} has one left at first when it was idle: a single slow list lets everybody in it wait.",
)
API_SHARES_SQUEEZE: Final = Rule(
    "api-shares-squeeze",
    Severity.WARNING,
    "Shares that squeeze what keeps the cluster alive",
    "Every share that departments get takes from the levels of nodes, controllers and schedulers, "
    f"{sum(BUILT_IN.values())} shares together. With too few seats heartbeats and controllers wait behind tenants, and "
    "nodes are taken for dead. Departments do not need it: what is idle is lent to them anyway.",
)


def thin(org: Org) -> Iterator[Finding]:
    """Every department has enough seats to work with."""
    for cluster in org.document.clusters:
        shares = api_shares(org, cluster)
        every = sum(shares.values())
        poor = [name for name, count in shares.items() if seats(count, every) < LEAST]
        if poor:
            least = min(poor, key=lambda name: shares[name])
            others = f" ({len(poor) - 1} more have less than {LEAST})" if len(poor) > 1 else ""
            message = (
                f"`{least}` has {seats(shares[least], every)} of the {SEATS} seats of cluster `{cluster}`'s API server"
                f"{others}"
            )
            yield Finding(API_SHARES_THIN, ("clusters", cluster, "apiShares"), message, _way_out(org, cluster, least))


def squeeze(org: Org) -> Iterator[Finding]:
    """The levels that the server brings keep most of their seats."""
    whole = sum(BUILT_IN.values())
    for cluster in org.document.clusters:
        every = sum(api_shares(org, cluster).values())
        if Fraction(every, whole + every) > SQUEEZED:
            lost = " and ".join(
                f"`{name}` {seats(BUILT_IN[name], every)} of {seats(BUILT_IN[name], 0)} seats" for name in _SHOWN
            )
            message = f"departments have {every} shares of cluster `{cluster}`'s API server, which leaves {lost}"
            help_ = f"write {MOST} or less" if org.document.clusters[cluster].api_shares > MOST else _TOO_MANY
            yield Finding(API_SHARES_SQUEEZE, ("clusters", cluster, "apiShares"), message, help_)


def _way_out(org: Org, cluster: str, poorest: str) -> str:
    """The least `apiShares` with which nobody is below `LEAST` and nobody else is squeezed, if there is one."""
    weights = department_weights(org, cluster)
    if ENOUGH * len(weights) > MOST:
        return _TOO_MANY
    for shares in range(org.document.clusters[cluster].api_shares, MOST + 1):
        found = divided(shares, weights)
        if seats(min(found.values()), sum(found.values())) >= LEAST:
            return f"write `apiShares: {shares}`, or give `{poorest}` a larger `weight`"
    return f"give `{poorest}` a larger `weight`, or write `apiShares: 0`: then no department has a level of its own"


_TOO_MANY: Final = (
    "put departments below others, since each at the top level has its own shares, or write `apiShares: 0`"
)

RULES: Final = (API_SHARES_THIN, API_SHARES_SQUEEZE)
CHECKS: Final[tuple[Check, ...]] = (thin, squeeze)
