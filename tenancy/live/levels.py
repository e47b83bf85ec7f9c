"""Well-known node labels: levels of a topology from wide to narrow, and pools that select nodes.

Sources: GKE's and EKS' documentation of their node labels, Oracle's OKE guide for RDMA clusters, NVIDIA's Topograph
(tier 0 is closest to the node; older releases wrote datacenter, spine, block or core, spine, leaf), CoreWeave's labels
of the InfiniBand fabric, GPU feature discovery for the NVLink domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tenancy.live.nodes import LiveNode
from tenancy.live.seen import doing, named
from tenancy.model.hardware import HOSTNAME
from tenancy.model.syntax import is_label_value

ZONE: Final = "topology.kubernetes.io/zone"
LEVELS: Final = (
    ZONE,
    "topology.k8s.aws/network-node-layer-1",
    "topology.k8s.aws/network-node-layer-2",
    "topology.k8s.aws/network-node-layer-3",
    "topology.k8s.aws/network-node-layer-4",
    "topology.k8s.aws/ultraserver-id",
    "cloud.google.com/gce-topology-block",
    "cloud.google.com/gce-topology-subblock",
    "oci.oraclecloud.com/rdma.hpc_island_id",
    "oci.oraclecloud.com/rdma.network_block_id",
    "oci.oraclecloud.com/rdma.local_block_id",
    "backend.coreweave.cloud/fabric",
    "backend.coreweave.cloud/superpod",
    "backend.coreweave.cloud/leafgroup",
    "network.topology.nvidia.com/datacenter",
    "network.topology.nvidia.com/core",
    "network.topology.nvidia.com/tier-2",
    "network.topology.nvidia.com/spine",
    "network.topology.nvidia.com/tier-1",
    "network.topology.nvidia.com/block",
    "network.topology.nvidia.com/leaf",
    "network.topology.nvidia.com/tier-0",
    "network.topology.nvidia.com/accelerator",
    "nvidia.com/gpu.clique",
)
"""The host itself (`gce-topology-host`, `rdma.host_id`) is no level above the host name."""

POOLS: Final = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "karpenter.sh/nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "oke.oraclecloud.com/pool.name",
    "compute.coreweave.com/node-pool",
    "doks.digitalocean.com/node-pool",
)
"""What managed clusters and Karpenter call the pool that a node was made in."""


def levels_of(nodes: Sequence[LiveNode]) -> tuple[list[str], dict[str, str]]:
    """The levels that tell these nodes apart, the host name last; and why a label that is there is none of them."""
    levels: list[str] = []
    left: dict[str, str] = {}
    for label in LEVELS:
        values = [node.labels.get(label, "") for node in nodes]
        missing = [node for node in nodes if not node.labels.get(label)]
        kinds = len(set(values))
        if len(missing) == len(nodes) or len(nodes) < 2:
            continue
        if missing:
            left[label] = f"{doing(missing, 'lack')} it: {named(missing)}; label them, then add it"
        elif kinds == 1:
            left[label] = "it is the same on all"
        elif kinds == len(nodes):
            left[label] = "it is different on each"
        elif any(not _within(nodes, label, wider) for wider in levels):
            left[label] = f"its groups reach across those of `{levels[-1]}`"
        elif levels and _kinds(nodes, levels[-1]) == kinds:
            left[label] = f"it tells the same groups apart as `{levels[-1]}`"
        else:
            levels.append(label)
    return [*levels, HOSTNAME], left


def pool_of(nodes: Sequence[LiveNode], others: Sequence[LiveNode], keys: Sequence[str] = POOLS) -> dict[str, str]:
    """A label that all these nodes have and no other node; empty where there is none."""
    for key in keys:
        value = nodes[0].labels.get(key, "")
        alike = value and is_label_value(value) and all(node.labels.get(key) == value for node in nodes)
        if alike and not any(node.labels.get(key) == value for node in others):
            return {key: value}
    return {}


def pools_of(nodes: Sequence[LiveNode]) -> list[str]:
    """The pools that these nodes were made in."""
    key = next((key for key in POOLS if any(key in node.labels for node in nodes)), "")
    return sorted({node.labels[key] for node in nodes if key in node.labels})


def _within(nodes: Sequence[LiveNode], narrow: str, wide: str) -> bool:
    """Whether each value of the narrow level lies in one value of the wide one."""
    pairs = {(node.labels[narrow], node.labels[wide]) for node in nodes}
    return len(pairs) == _kinds(nodes, narrow)


def _kinds(nodes: Sequence[LiveNode], label: str) -> int:
    return len({node.labels[label] for node in nodes})
