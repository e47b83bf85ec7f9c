"""Nodes and the plan of an organization, made for the tests of this folder."""

from __future__ import annotations

from typing import Any

from tenancy.live.nodes import LiveNode, live_node
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.orgs import organized

H100, A100 = "NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB"


def flavor(gpu: str, nodes: int = 4, **more: Any) -> dict[str, Any]:
    """A flavor of nodes with eight GPUs."""
    return {"gpu": gpu, "nodes": nodes, "node": {"gpus": 8, "cpu": 96, "memory": "960Gi"}, **more}


def planned(flavors: dict[str, Any], **cluster: Any) -> ClusterPlan:
    """The only cluster of an organization with these flavors."""
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "domain": "acme.example",
        "clusters": {"main": cluster},
        "flavors": flavors,
        "departments": {"research": {"teams": {"vision": {}}}},
    }
    (made,) = plan(organized(tree))
    return made


def node(
    name: str,
    *taints: str,
    labels: dict[str, str] | None = None,
    by: dict[str, str] | None = None,
    record: str = "",
    product: str = "",
) -> LiveNode:
    """A node with taints written `key=value:Effect`; `by` names the field manager of a label."""
    parts = [(key, effect, *pair) for key, effect, *pair in map(_taint, taints)]
    managed = [
        {"manager": manager, "operation": "Apply", "fieldsV1": {"f:metadata": {"f:labels": {f"f:{key}": {}}}}}
        for key, manager in (by or {}).items()
    ]
    return live_node(
        {
            "metadata": {
                "name": name,
                "labels": {**(labels or {}), **({"nvidia.com/gpu.product": product} if product else {})},
                "annotations": {"acme.example/taints": record} if record else {},
                "managedFields": managed,
            },
            "spec": {"taints": [{"key": key, "value": value, "effect": effect} for key, effect, value in parts]},
        }
    )


def _taint(text: str) -> tuple[str, str, str]:
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return key, effect, value
