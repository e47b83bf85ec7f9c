"""A ResourceQuota that keeps claims of GPUs within what their unit may ever use.

Kueue counts the ResourceClaimTemplate that a job names while the job waits, and never again. Whoever puts another one
of the same name in its place gets its GPUs with the next pod (run on 0.19.2). What is admitted never comes to more than
the limit of the unit, so the bound refuses nothing that Kueue lets in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.claims import devices_key, foreign_devices
from tenancy.backend.shared.metadata import obj
from tenancy.backend.waiting import quota_of
from tenancy.model.quantity import canonical
from tenancy.plan.values import ClusterPlan, Namespace, Queue

CLAIMS: Final = "tenancy-claims"


def claims(plan: ClusterPlan, namespace: Namespace, queue: Queue) -> Iterator[Object]:
    """The quota of a namespace, where a flavor of the cluster is allocated by claims."""
    bounds = {
        devices_key(name): canonical(sum(quota_of(queue, flavor, resource).limit for flavor in queue.flavors), resource)
        for resource, name in plan.device_classes.items()
    }
    if bounds:
        spec = {"hard": bounds | foreign_devices(plan)}
        yield obj("v1", "ResourceQuota", CLAIMS, namespace.labels, namespace=namespace.name, spec=spec)
