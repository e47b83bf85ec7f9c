"""Concurrency of an API server: the levels that Kubernetes brings, and those of the departments beside them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from tenancy.model.organization import Org
from tenancy.model.shares import split

SEATS: Final = 600
"""Requests that a server works on at a time, by its defaults: 400 that read and 200 that write."""

ENOUGH: Final = 2
"""Shares of a department however small its weight: four seats beside the built-in levels and 60 shares in all. Half of
them are lent while it is idle, so two requests of whoever comes back run at once."""

BUILT_IN: Final[Mapping[str, int]] = MappingProxyType(
    {
        "system": 30,
        "node-high": 40,
        "leader-election": 10,
        "workload-high": 40,
        "workload-low": 100,
        "global-default": 20,
        "catch-all": 5,
    }
)
"""Shares of the levels that every server has (k8s.io/apiserver 0.36, pkg/apis/flowcontrol/bootstrap/default.go)."""


def api_shares(org: Org, cluster: str) -> dict[str, int]:
    """The shares of each top-level department with a team in `cluster`; empty where departments have none."""
    shares = org.document.clusters[cluster].api_shares
    return divided(shares, department_weights(org, cluster)) if shares else {}


def department_weights(org: Org, cluster: str) -> dict[str, Fraction]:
    """The weights of those departments."""
    there = {team.names[0] for team in org.units if team.kind == "team" and cluster in team.clusters}
    return {
        department.name: Fraction(str(department.document.weight))
        for department in org.root.children
        if department.name in there and department.document is not None
    }


def divided(shares: int, weights: Mapping[str, Fraction]) -> dict[str, int]:
    """Whole shares in proportion to the weights, and for everybody `ENOUGH`, as far as there are so many, or one: a
    level without any would take no request at all, even if that is more than there is to divide.
    """
    alike, least = not any(weights.values()), ENOUGH if shares >= ENOUGH * len(weights) else 1
    given, names = dict.fromkeys(weights, least), list(weights)
    while names:
        left = shares - least * (len(weights) - len(names))
        parts = split(left, [Fraction(1) if alike else weights[name] for name in names], [None] * len(names))
        if min(parts) >= least:
            return given | dict(zip(names, parts, strict=True))
        names = [name for name, part in zip(names, parts, strict=True) if part >= least]
    return given


def seats(shares: int, departments: int) -> int:
    """The seats of a level with so many shares, where the departments have `departments` together.

    Rounded up, as the server does (apf_controller.go of 0.36, finishQueueSetReconfigsLocked).
    """
    return -(-SEATS * shares // (sum(BUILT_IN.values()) + departments))
