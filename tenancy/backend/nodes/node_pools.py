"""NodePools: Karpenter makes the nodes of a flavor, with every label and taint from the start.

Nodes with GPUs end only when they are empty. Their jobs start together and lose what they did when one pod goes, so
nothing that Karpenter does of its own accord (better packing, a newer image, age) may take a node from under them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.shared.metadata import obj
from tenancy.model.hardware import GPUS, Hardware
from tenancy.model.karpenter import AWS, CAPACITY_TYPE, aws_gpu, is_requirement, set_by_pool
from tenancy.plan.nodes import FlavorNodes
from tenancy.plan.values import ClusterPlan

API: Final = "karpenter.sh/v1"

WHEN_EMPTY: Final[Mapping[str, Any]] = {
    "consolidationPolicy": "WhenEmpty",
    "consolidateAfter": "5m",
    "budgets": [{"nodes": "0", "reasons": ["Drifted", "Underutilized"]}],
}
"""Of GPU flavors. An empty node ends after five minutes, which the next job of a queue may use; a node of an outdated
pool or image only then."""
AS_USUAL: Final[Mapping[str, Any]] = {
    "consolidationPolicy": "WhenEmptyOrUnderutilized",
    "consolidateAfter": "5m",
    "budgets": [{"nodes": "10%"}],
}
"""Of CPU flavors: Karpenter's own defaults, but for the pause."""

ON_TIME: Final = ("on-demand", "reserved")
"""What a promise can be kept with: a spot machine may be taken back at any moment, so only who writes it gets it."""


def node_pools(plan: ClusterPlan) -> Iterator[Manifest]:
    """A pool for each flavor whose nodes Karpenter makes."""
    pools = tuple(
        _pool(plan, plan.flavors[name], nodes) for name, nodes in plan.nodes.items() if nodes.karpenter is not None
    )
    if pools:
        yield Manifest("platform/node-pools.yaml", pools)


def _pool(plan: ClusterPlan, flavor: Hardware, nodes: FlavorNodes) -> Object:
    spec = {"template": _template(flavor, nodes), "disruption": dict(AS_USUAL if flavor.is_cpu else WHEN_EMPTY)}
    return obj(API, "NodePool", flavor.name, plan.labels, spec={**spec, "limits": _limits(flavor)})


def _template(flavor: Hardware, nodes: FlavorNodes) -> dict[str, Any]:
    """Labels that the organization wrote are there too: Karpenter makes no node for a pod that selects others."""
    assert nodes.karpenter is not None
    made_by = nodes.karpenter.node_class
    written = {key: value for key, value in nodes.match.labels.items() if not set_by_pool(key)}
    asked = {key: value for key, value in written.items() if is_requirement(key, made_by.group)}
    labels = {key: value for key, value in {**written, **nodes.uniform_labels}.items() if key not in asked}
    spec: dict[str, Any] = {
        "nodeClassRef": {"group": made_by.group, "kind": made_by.kind, "name": made_by.name},
        "requirements": _requirements(flavor, nodes, asked),
    }
    if nodes.taints:
        spec["taints"] = [taint.spec for taint in nodes.taints]
    spec["expireAfter"] = "720h" if flavor.is_cpu else "Never"
    metadata = {"metadata": {"labels": dict(sorted(labels.items()))}} if labels else {}
    return {**metadata, "spec": spec}


def _requirements(flavor: Hardware, nodes: FlavorNodes, asked: Mapping[str, str]) -> list[dict[str, Any]]:
    """What the board says, unless it is written otherwise; labels by which pods select go before all else."""
    assert nodes.karpenter is not None
    wanted: dict[str, list[str]] = {}
    if nodes.karpenter.node_class.group == AWS:
        wanted |= {CAPACITY_TYPE: list(ON_TIME), **(aws_gpu(flavor.gpu, flavor.node[GPUS]) if flavor.gpu else {})}
    wanted |= nodes.karpenter.requirements
    wanted |= {key: [value] for key, value in asked.items()}
    return [{"key": key, "operator": "In", "values": list(values)} for key, values in sorted(wanted.items())]


def _limits(flavor: Hardware) -> dict[str, str]:
    """A second fence behind the quotas: the nodes of the flavor, and the GPUs that are built into them."""
    limits = {"nodes": str(flavor.nodes)}
    if flavor.gpu is not None:
        limits[flavor.gpu.resource] = str(flavor.nodes * flavor.node[GPUS])
    return dict(sorted(limits.items()))
