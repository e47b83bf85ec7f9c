"""Kubernetes alone: the plan as ResourceQuotas, for an organization with a dozen GPUs and one team."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from tenancy.backend.manifest import Manifest, Page
from tenancy.backend.shared import platform, tenant
from tenancy.plan.values import ClusterPlan


def compile(plan: ClusterPlan) -> Iterator[Manifest | Page]:
    """Everything that a cluster without a batch scheduler gets; paths are relative to the cluster's folder."""
    yield Manifest("platform/roles.yaml", tuple(platform(plan)))
    for (folder, team), found in groupby(plan.namespaces, key=lambda namespace: (namespace.folder, namespace.file)):
        objects = [each for namespace in found for each in tenant(plan, namespace)]
        yield Manifest(f"tenants/{folder}/{team}.yaml", tuple(objects))
