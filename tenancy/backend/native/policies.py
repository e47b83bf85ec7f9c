"""Admission policies that make promises true where quotas cannot: fences, whole nodes, shares."""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.manifest import Object
from tenancy.backend.shared.fences import fences
from tenancy.backend.shared.shares import shares
from tenancy.backend.shared.whole_nodes import whole_nodes
from tenancy.plan.values import ClusterPlan


def policies(plan: ClusterPlan) -> Iterator[Object]:
    """The policies that the cluster needs, each with its binding."""
    yield from fences(plan, injects=False)
    yield from whole_nodes(plan)
    yield from shares(plan)
