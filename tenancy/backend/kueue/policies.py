"""Admission policies that make promises true: right requests, fences, whole nodes, shares and topologies."""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.kueue.requests import requests
from tenancy.backend.kueue.topology_defaults import topology_defaults
from tenancy.backend.manifest import Object
from tenancy.backend.shared.fences import fences
from tenancy.backend.shared.shares import shares
from tenancy.backend.shared.whole_nodes import whole_nodes
from tenancy.plan.values import ClusterPlan


def policies(plan: ClusterPlan) -> Iterator[Object]:
    """The policies that the cluster needs, each with its binding."""
    yield from requests(plan)
    yield from fences(plan, injects=True)
    yield from whole_nodes(plan)
    yield from topology_defaults(plan)
    yield from shares(plan)
