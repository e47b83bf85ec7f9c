"""Make the plan: scheduler-neutral values from an organization that passed every check."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from tenancy.model.document import Gang as GangDocument
from tenancy.model.duration import parse_duration
from tenancy.model.fairness import api_shares
from tenancy.model.hardware import CPU, MEMORY, Hardware, packed
from tenancy.model.organization import Org
from tenancy.model.priorities import priorities
from tenancy.model.versions import kubernetes_minor, kueue_minor, volcano_minor
from tenancy.plan.gitops import git_ops
from tenancy.plan.labels import organization_labels
from tenancy.plan.nodes import flavor_nodes
from tenancy.plan.queues import groups, queues
from tenancy.plan.tenants import tenant_namespaces
from tenancy.plan.values import ClusterPlan, Gang, NetworkFacts

_START: Final = timedelta(minutes=10)


def plan(org: Org) -> tuple[ClusterPlan, ...]:
    """One plan for each cluster, in the order of their names."""
    return tuple(_cluster(org, name) for name in sorted(org.document.clusters))


def _cluster(org: Org, name: str) -> ClusterPlan:
    document = org.document
    cluster = document.clusters[name]
    flavors = {flavor.name: flavor for flavor in org.flavors.values() if flavor.cluster == name}
    return ClusterPlan(
        name=name,
        organization=document.name,
        domain=document.domain,
        cluster=cluster,
        kubernetes=kubernetes_minor(cluster),
        kueue=kueue_minor(cluster.versions) if cluster.scheduler == "kueue" else "",
        volcano=volcano_minor(cluster.versions) if cluster.scheduler == "volcano" else "",
        packed=packed(document, name),
        resources=_resources(flavors),
        flavors=flavors,
        nodes=flavor_nodes(document, name, flavors),
        groups=tuple(groups(org, name, flavors)),
        queues=tuple(queues(org, name, flavors)),
        namespaces=tuple(tenant_namespaces(org, name, flavors)),
        priorities=priorities(document),
        gang=_gang(document.policy.gang or GangDocument()),
        network=NetworkFacts(
            dns=document.network.dns,
            api_server=document.network.api_server,
            metadata=tuple(document.network.metadata),
            cluster_ranges=tuple(document.network.cluster_ranges),
            keda=document.network.keda,
        ),
        admins=tuple(sorted(set(document.access.admins))),
        auditors=tuple(sorted(set(document.access.auditors))),
        labels=organization_labels(org),
        departments={
            unit.queue: unit.names[0] for unit in org.units if unit.kind == "department" and name in unit.clusters
        },
        api_shares=api_shares(org, name),
        gitops=git_ops(org, name),
    )


def _resources(flavors: dict[str, Hardware]) -> tuple[str, ...]:
    others = {resource for flavor in flavors.values() for resource in flavor.resources} - {CPU, MEMORY}
    return (CPU, MEMORY, *sorted(others))


def _gang(gang: GangDocument) -> Gang:
    return Gang(start_timeout=parse_duration(gang.start_timeout) or _START, retries=gang.retries)
