"""Volcano (1.14.2 and later): the plan as one tree of Queues for each flavor, with guarantee, deserved, capability."""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.manifest import Manifest, Object, Page
from tenancy.backend.shared import platform, tenant, tenants
from tenancy.backend.shared.priorities import priority_classes
from tenancy.backend.volcano.configuration import pages
from tenancy.backend.volcano.names import leaves_of
from tenancy.backend.volcano.policies import policies
from tenancy.backend.volcano.queues import default_queue, top_queue, unit_queues
from tenancy.backend.volcano.topology import hyper_nodes
from tenancy.backend.volcano.topology_defaults import marks
from tenancy.backend.volcano.work import WORK
from tenancy.plan.values import ClusterPlan, Namespace


def compile(plan: ClusterPlan) -> Iterator[Manifest | Page]:
    """Everything that a cluster with Volcano gets, file by file; paths are relative to the cluster's folder."""
    yield Manifest("platform/roles.yaml", tuple(platform(plan, WORK)))
    if plan.priorities:
        yield Manifest("platform/priorities.yaml", tuple(priority_classes(plan, "PreemptLowerPriority")))
    yield from pages(plan)
    if found := tuple(policies(plan)):
        yield Manifest("policies/admission.yaml", found)
    yield from _queues(plan)
    yield from _tenants(plan)


def _queues(plan: ClusterPlan) -> Iterator[Manifest]:
    """A file for each flavor's tree and nodes, one for the queue of work that names none, one for each department."""
    for flavor in plan.flavors.values():
        yield Manifest(f"queues/flavors/{flavor.name}.yaml", (*hyper_nodes(plan, flavor), top_queue(plan, flavor)))
    yield Manifest("queues/default.yaml", (default_queue(plan),))
    for folder, queues in unit_queues(plan).items():
        yield Manifest(f"queues/departments/{folder}.yaml", tuple(queues))


def _tenants(plan: ClusterPlan) -> Iterator[Manifest]:
    """Each namespace says which queues it may name, and what its jobs get that ask for no topology."""
    queues = {queue.name: queue for queue in plan.queues}
    names = {name: ",".join(leaves_of(plan, queue)) for name, queue in queues.items()}
    key = f"{plan.domain}/queues"

    def objects(namespace: Namespace) -> Iterator[Object]:
        defaults = marks(plan, namespace, queues[namespace.queue])
        return tenant(plan, namespace, WORK, {key: names[namespace.queue], **defaults})

    return tenants(plan, objects)
