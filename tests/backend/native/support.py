"""A small organization on a cluster without a batch scheduler, and what it compiles to."""

from __future__ import annotations

from typing import Any

from tenancy.backend import native
from tenancy.backend.manifest import Manifest, Object
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.orgs import organized

GPU = "nvidia.com/gpu"
DAEMONS = {"cpu": 2, "memory": "4Gi"}
H100 = {"gpu": "H100-SXM-80GB", "nodes": 4, "node": {"gpus": 8, "cpu": 82, "memory": "804Gi"}, "daemons": DAEMONS}
"""Nodes that leave 10 cores and 100 GiB to each GPU."""
CPU = {"nodes": 2, "node": {"cpu": 66, "memory": "260Gi"}, "daemons": DAEMONS}
MIG = {
    "gpu": "A100-SXM4-80GB",
    "nodes": 1,
    "node": {"gpus": 8, "cpu": 114, "memory": "900Gi"},
    "daemons": DAEMONS,
    "mig": {"3g.40gb": 1, "1g.10gb": 4},
}


def planned(team: dict[str, Any], flavors: dict[str, Any] | None = None, **organization: Any) -> ClusterPlan:
    """The plan of an organization whose team `research/vision` says `team`, beside a team `research/other`."""
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {"scheduler": "native"}},
        "flavors": flavors or {"h100": H100},
        "departments": {"research": {"budget": team.get("budget", {}), "teams": {"vision": team, "other": {}}}},
        **organization,
    }
    (cluster,) = plan(organized(tree))
    return cluster


def objects(cluster: ClusterPlan, kind: str = "") -> list[Object]:
    """What is emitted, all of it or of one kind."""
    found = [obj for item in native.compile(cluster) if isinstance(item, Manifest) for obj in item.objects]
    return [obj for obj in found if kind in ("", obj["kind"])]


def quota(cluster: ClusterPlan, name: str, namespace: str = "research-vision") -> Object:
    """A ResourceQuota of a namespace."""
    (found,) = [
        obj
        for obj in objects(cluster, "ResourceQuota")
        if (obj["metadata"]["namespace"], obj["metadata"]["name"]) == (namespace, name)
    ]
    return found


def hard(cluster: ClusterPlan, namespace: str = "research-vision") -> dict[str, str]:
    """What a namespace may request, by resource."""
    found: dict[str, str] = quota(cluster, "tenancy-compute", namespace)["spec"]["hard"]
    assert all(name.startswith("requests.") for name in found)
    return {name.removeprefix("requests."): count for name, count in found.items()}
