"""Admission policies of a cluster with Kueue: the guards, and what gives work what it needs."""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.kueue.queueing import APP_WRAPPER, KINDS, queueing
from tenancy.backend.kueue.requests import TRAIN_JOB, requests
from tenancy.backend.kueue.topology_defaults import topology_defaults
from tenancy.backend.manifest import Object
from tenancy.backend.shared.fences import fences
from tenancy.backend.shared.guards.cluster import cluster
from tenancy.backend.shared.guards.interruption import interruption
from tenancy.backend.shared.guards.placement import placement
from tenancy.backend.shared.guards.priorities import priorities
from tenancy.backend.shared.guards.scaling import DEPLOYMENT, LEADER_WORKER_SET, scaling
from tenancy.backend.shared.guards.security import security
from tenancy.backend.shared.guards.services import services
from tenancy.backend.shared.shares import shares
from tenancy.backend.shared.whole_nodes import whole_nodes
from tenancy.plan.values import ClusterPlan


def policies(plan: ClusterPlan) -> Iterator[Object]:
    """The policies that the cluster needs, each with its binding."""
    yield from queueing(plan)
    yield from requests(plan)
    yield from placement(plan)
    yield from priorities(plan, KINDS, labels=True, more=_MORE)
    yield from interruption(plan, KINDS, labels=True, more=_MORE)
    yield from security(plan)
    yield from services(plan)
    yield from scaling(plan, _SCALED)
    yield from cluster(plan)
    yield from fences(plan, injects=True)
    yield from whole_nodes(plan)
    yield from topology_defaults(plan)
    yield from shares(plan)


_MORE = (TRAIN_JOB.owner, APP_WRAPPER.owner)
_SCALED = (DEPLOYMENT, LEADER_WORKER_SET)
"""No StatefulSet: Kueue counts it as it was made, and its webhook does not see the way by which KEDA scales. One that
grew so ran pods that nobody had counted, then lost all of them for good (run on 0.19.2)."""
