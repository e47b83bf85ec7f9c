"""What Kueue makes of each promise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.parity import Promise
from tenancy.diagnostics import Rule
from tenancy.model.organization import Org
from tenancy.plan.values import ClusterPlan

RULES: Final[tuple[Rule, ...]] = ()


def parity(org: Org, plan: ClusterPlan) -> Iterator[Promise]:
    """Every promise, in the order of the units."""
    del org, plan
    yield from ()
