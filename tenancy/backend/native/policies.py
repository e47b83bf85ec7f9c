"""Admission policies of a cluster without a batch scheduler: the guards, where quotas cannot keep a promise."""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.manifest import Object
from tenancy.backend.shared.fences import fences
from tenancy.backend.shared.guards.placement import placement
from tenancy.backend.shared.guards.priorities import priorities
from tenancy.backend.shared.guards.scaling import DEPLOYMENT, STATEFUL_SET, scaling
from tenancy.backend.shared.guards.security import security
from tenancy.backend.shared.guards.services import services
from tenancy.backend.shared.shares import shares
from tenancy.backend.shared.whole_nodes import whole_nodes
from tenancy.plan.values import ClusterPlan


def policies(plan: ClusterPlan) -> Iterator[Object]:
    """The policies that the cluster needs, each with its binding."""
    yield from placement(plan)
    yield from priorities(plan)
    yield from security(plan)
    yield from services(plan)
    yield from scaling(plan, (DEPLOYMENT, STATEFUL_SET))
    yield from fences(plan, injects=False)
    yield from whole_nodes(plan)
    yield from shares(plan)
