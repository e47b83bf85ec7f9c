"""Admission policies of a cluster with Volcano: queues that cannot be left, states, fences, whole nodes, topologies.

There is none about requests: Volcano counts pods, which the API server has completed. What it computes from templates,
the minimum of a PodGroup, is for the `enqueue` action, which our configuration leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.manifest import Object
from tenancy.backend.shared.fences import fences
from tenancy.backend.shared.guards.interruption import interruption
from tenancy.backend.shared.guards.placement import placement
from tenancy.backend.shared.guards.priorities import priorities
from tenancy.backend.shared.guards.scaling import DEPLOYMENT, LEADER_WORKER_SET, STATEFUL_SET, scaling
from tenancy.backend.shared.guards.security import security
from tenancy.backend.shared.guards.services import services
from tenancy.backend.shared.shares import shares
from tenancy.backend.shared.whole_nodes import whole_nodes
from tenancy.backend.volcano.binding import MADE_BY_VOLCANO, binding
from tenancy.backend.volcano.cluster import commands, foreign_queues
from tenancy.backend.volcano.defaults import defaults
from tenancy.backend.volcano.pod_groups import pod_groups
from tenancy.backend.volcano.pod_templates import KINDS
from tenancy.backend.volcano.states import states
from tenancy.backend.volcano.topology_defaults import topology_defaults
from tenancy.plan.values import ClusterPlan


def policies(plan: ClusterPlan) -> Iterator[Object]:
    """The policies with their bindings."""
    yield from binding(plan)
    yield from pod_groups(plan)
    yield from commands(plan)
    yield from foreign_queues(plan)
    yield from defaults(plan)
    yield from states(plan)
    yield from placement(plan, KINDS, schedulers=())
    yield from priorities(plan, KINDS, more=MADE_BY_VOLCANO)
    yield from interruption(plan, KINDS, more=MADE_BY_VOLCANO)
    yield from security(plan, KINDS)
    yield from services(plan)
    yield from scaling(plan, (DEPLOYMENT, STATEFUL_SET, LEADER_WORKER_SET))
    yield from fences(plan, injects=False, kinds=KINDS)
    yield from whole_nodes(plan, KINDS)
    yield from shares(plan, KINDS)
    yield from topology_defaults(plan)
