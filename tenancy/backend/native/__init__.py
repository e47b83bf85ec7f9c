"""Kubernetes alone: the plan as ResourceQuotas, for an organization with a dozen GPUs and one team."""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.manifest import Manifest, Object, Page
from tenancy.backend.native.policies import policies
from tenancy.backend.native.quotas import parts, quotas
from tenancy.backend.native.work import WORK
from tenancy.backend.shared import platform, tenant, tenants
from tenancy.backend.shared.priorities import priority_classes
from tenancy.plan.values import ClusterPlan, Namespace


def compile(plan: ClusterPlan) -> Iterator[Manifest | Page]:
    """Everything that a cluster without a batch scheduler gets; paths are relative to the cluster's folder."""
    yield Manifest("platform/roles.yaml", tuple(platform(plan, WORK)))
    if plan.priorities:
        # kube-scheduler orders pods by them; it would also evict those of other teams, which no promise allows.
        yield Manifest("platform/priorities.yaml", tuple(priority_classes(plan, "Never")))
    if found := tuple(policies(plan)):
        yield Manifest("policies/admission.yaml", found)
    yield from _tenants(plan)


def _tenants(plan: ClusterPlan) -> Iterator[Manifest]:
    """Each namespace has its part of what its unit owns."""
    queues = {queue.name: queue for queue in plan.queues}
    has = {namespace: part for queue in plan.queues for namespace, part in parts(plan, queue).items()}

    def objects(namespace: Namespace) -> Iterator[Object]:
        yield from tenant(plan, namespace, WORK)
        yield from quotas(plan, namespace, queues[namespace.queue], has[namespace.name])

    return tenants(plan, objects)
