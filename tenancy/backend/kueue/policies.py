"""Admission policies that make promises about flavors true: fences, and whole nodes."""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.kueue.fences import fences
from tenancy.backend.kueue.whole_nodes import whole_nodes
from tenancy.backend.manifest import Object
from tenancy.plan.values import ClusterPlan


def policies(plan: ClusterPlan) -> Iterator[Object]:
    """The policies that the cluster needs, each with its binding."""
    yield from fences(plan)
    yield from whole_nodes(plan)
