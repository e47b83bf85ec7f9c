"""Volcano (1.14.2 and later): the plan as one tree of Queues for each flavor, with guarantee, deserved, capability."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from tenancy.backend.manifest import Manifest, Page
from tenancy.backend.shared import platform, tenant
from tenancy.plan.values import ClusterPlan


def compile(plan: ClusterPlan) -> Iterator[Manifest | Page]:
    """Everything that a cluster with Volcano gets, file by file; paths are relative to the cluster's folder."""
    yield Manifest("platform/roles.yaml", tuple(platform(plan)))
    for (folder, team), found in groupby(plan.namespaces, key=lambda namespace: (namespace.folder, namespace.file)):
        objects = [each for namespace in found for each in tenant(plan, namespace)]
        yield Manifest(f"tenants/{folder}/{team}.yaml", tuple(objects))
