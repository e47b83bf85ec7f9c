"""A small organization and its objects, for the tests of what every backend emits."""

from __future__ import annotations

from typing import Any

from tenancy.backend.kueue.work import WORK
from tenancy.backend.manifest import Object
from tenancy.backend.shared import platform, tenant
from tenancy.backend.shared.work import Work
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.orgs import organized


def planned(team: dict[str, Any] | None = None, **organization: Any) -> ClusterPlan:
    """The plan of an organization whose one team `research/vision` says `team`."""
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {"versions": {"kubernetes": "1.36"}}},
        "flavors": {
            "h100": {
                "gpu": "H100-SXM-80GB",
                "nodes": 4,
                "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"},
                "daemons": {"cpu": 2, "memory": "4Gi"},
            }
        },
        "departments": {"research": {"budget": {"h100": 32}, "teams": {"vision": team or {}}}},
        **organization,
    }
    org = organized(tree)
    (cluster,) = plan(org)
    return cluster


def objects(cluster: ClusterPlan, kind: str, namespace: str | None = None, work: Work = WORK) -> list[Object]:
    """The emitted objects of a kind, of one namespace if named."""
    found = [*platform(cluster, work), *(each for space in cluster.namespaces for each in tenant(cluster, space, work))]
    return [obj for obj in found if obj["kind"] == kind and namespace in (None, obj["metadata"].get("namespace"))]


def one(cluster: ClusterPlan, kind: str, name: str | None = None, work: Work = WORK) -> Object:
    """The only object of a kind, or of a kind and name."""
    (found,) = [obj for obj in objects(cluster, kind, work=work) if name in (None, obj["metadata"]["name"])]
    return found
