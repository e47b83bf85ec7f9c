"""Kueue (v1beta2, 0.17 to 0.19): the plan as Cohorts and ClusterQueues, with a LocalQueue in each namespace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenancy.backend.kueue.admission_checks import admission_checks
from tenancy.backend.kueue.claims import claims
from tenancy.backend.kueue.configuration import configuration
from tenancy.backend.kueue.configuration_schema import violations
from tenancy.backend.kueue.flavors import flavors, priorities
from tenancy.backend.kueue.policies import policies
from tenancy.backend.kueue.queues import cluster_queue, cohort, local_queue
from tenancy.backend.kueue.topology_defaults import marks
from tenancy.backend.kueue.work import WORK
from tenancy.backend.manifest import Manifest, Nonconforming, Object, Page
from tenancy.backend.shared import platform, tenant, tenants
from tenancy.backend.waiting import queue_of
from tenancy.plan.values import ClusterPlan, Namespace


def compile(plan: ClusterPlan) -> Iterator[Manifest | Page]:
    """Everything that a cluster with Kueue gets, file by file; paths are relative to the cluster's folder."""
    yield Manifest("platform/roles.yaml", tuple(platform(plan, WORK)))
    if plan.priorities:
        yield Manifest("platform/priorities.yaml", tuple(priorities(plan)))
    yield Page("platform/kueue-values.yaml", "kueue/values.yaml.j2", {"configuration": _configuration(plan)})
    if found := tuple(policies(plan)):
        yield Manifest("policies/admission.yaml", found)
    yield Manifest("queues/organization/flavors.yaml", tuple(flavors(plan)))
    if checks := tuple(admission_checks(plan)):
        yield Manifest("queues/organization/admission-checks.yaml", checks)
    yield from _queues(plan)
    yield from tenants(plan, lambda namespace: _of_tenant(plan, namespace))


def _of_tenant(plan: ClusterPlan, namespace: Namespace) -> Iterator[Object]:
    yield from tenant(plan, namespace, WORK, marks(plan, namespace))
    if plan.device_classes:
        yield from claims(plan, namespace, queue_of(plan, namespace.queue))
    yield local_queue(namespace)


def _configuration(plan: ClusterPlan) -> dict[str, Any]:
    """The manager's configuration, which nothing after us checks before the manager stops on it."""
    result = configuration(plan)
    if found := violations(result, plan.kueue):
        raise Nonconforming(f"the configuration of Kueue {plan.kueue} would stop its manager: {'; '.join(found)}")
    return result


def _queues(plan: ClusterPlan) -> Iterator[Manifest]:
    """A file for the organization's Cohort and one for each department's Cohorts and ClusterQueues.

    Each department at the top level has a folder, since Applications are made of folders.
    """
    folders: dict[str, list[Object]] = {}
    for group in plan.groups:
        folders.setdefault(group.folder, []).append(cohort(plan, group))
    for queue in plan.queues:
        folders.setdefault(queue.folder, []).append(cluster_queue(plan, queue))
    for folder, objects in folders.items():
        path = f"departments/{plan.departments[folder]}/{folder}" if folder else "organization/cohort"
        yield Manifest(f"queues/{path}.yaml", tuple(objects))
