"""What Karpenter and its provider for AWS call machines, and which node labels a NodePool can have.

Sources: pkg/apis/v1/labels.go of karpenter v1.13.0 and of karpenter-provider-aws (August 2026), whose list of instance
types (its reference, instance types) gives the names and the memory of boards.
"""

from __future__ import annotations

from typing import Final

from tenancy.model.gpus import Gpu

AWS: Final = "karpenter.k8s.aws"
"""The API group of node classes on AWS, and the domain of its labels."""
GROUP: Final = "karpenter.sh"
CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
POOL: Final = "karpenter.sh/nodepool"
"""The label with the name of the pool, which Karpenter sets by itself."""
HOSTNAME: Final = "kubernetes.io/hostname"

WELL_KNOWN: Final = frozenset(
    {
        CAPACITY_TYPE,
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "node.kubernetes.io/windows-build",
        "topology.k8s.aws/zone-id",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)
"""Labels that say which machine a node is: Karpenter chooses by them, it does not set them."""

_OF_AWS: Final = (
    *("ec2nodeclass", "nitro-sandbox", "placement-group-id", "placement-group-partition"),
    *("capacity-reservation-id", "capacity-reservation-interruptible", "capacity-reservation-type"),
    *("instance-accelerator-count", "instance-accelerator-manufacturer", "instance-accelerator-name"),
    *("instance-capability-flex", "instance-category", "instance-cpu", "instance-cpu-manufacturer"),
    *("instance-cpu-sustained-clock-speed-mhz", "instance-ebs-bandwidth", "instance-encryption-in-transit-supported"),
    *("instance-family", "instance-generation", "instance-gpu-count", "instance-gpu-manufacturer"),
    *("instance-gpu-memory", "instance-gpu-name", "instance-hypervisor", "instance-local-nvme", "instance-memory"),
    *("instance-network-bandwidth", "instance-size", "instance-tenancy"),
)
AWS_LABELS: Final = frozenset(f"{AWS}/{name}" for name in _OF_AWS)
"""Every label in the domain of AWS that its CRD of NodePools allows."""

ANYWHERE: Final = WELL_KNOWN - {"node.kubernetes.io/instance-type"}
"""Of these, the ones that machines of every size have."""

AWS_GPUS: Final[dict[str, tuple[str, int]]] = {
    "A100-SXM4-40GB": ("a100", 40960),
    "A100-SXM4-80GB": ("a100", 81920),
    "A10G": ("a10g", 22888),
    "B200": ("b200", 183359),
    "B300": ("b300", 275040),
    "H100-SXM-80GB": ("h100", 81920),
    "H200-SXM-141GB": ("h200", 144384),
    "L4": ("l4", 22888),
    "L40S": ("l40s", 45776),
    "RTX-PRO-6000": ("rtx-pro-server-6000", 98304),
    "T4": ("t4", 16384),
    "V100-SXM2-16GB": ("v100", 16384),
    "V100-SXM2-32GB": ("v100", 32768),
}
"""By board, the values of `instance-gpu-name` and `instance-gpu-memory` (MiB of one GPU)."""


def aws_gpu(gpu: Gpu, count: int) -> dict[str, list[str]]:
    """The requirements of machines on AWS with so many GPUs of a board; empty where AWS has no such machine.

    The memory is asked for only where boards of two sizes have one name.
    """
    if gpu.name not in AWS_GPUS:
        return {}
    name, memory = AWS_GPUS[gpu.name]
    wanted = {f"{AWS}/instance-gpu-count": [str(count)], f"{AWS}/instance-gpu-name": [name]}
    if sum(other == name for other, _ in AWS_GPUS.values()) > 1:
        wanted[f"{AWS}/instance-gpu-memory"] = [str(memory)]
    return wanted


def set_by_pool(key: str) -> bool:
    """Whether every node of a pool has the label, with the name of the pool, without being told."""
    return key == POOL


def is_requirement(key: str, group: str) -> bool:
    """Whether a label is one by which machines are chosen, where nodes are made by node classes of an API group."""
    return key in WELL_KNOWN or below(key, group)


def chooses(key: str) -> bool:
    """Whether a requirement on the label says what sort of machine it is to be."""
    return key not in ANYWHERE


def is_restricted(key: str, group: str) -> bool:
    """Whether neither a pool nor its requirements may have the label: the API server refuses the NodePool.

    Up to Karpenter 1.8 it refuses all of kubernetes.io and k8s.io but the well-known labels too.
    """
    if key in (HOSTNAME, POOL) or (key.rpartition("/")[0].endswith(GROUP) and key != CAPACITY_TYPE):
        return True
    return group == AWS and key.rpartition("/")[0].endswith(AWS) and key not in AWS_LABELS


def below(key: str, domain: str) -> bool:
    """Whether a label is in a domain or one below it."""
    prefix = key.rpartition("/")[0]
    return prefix == domain or prefix.endswith(f".{domain}")
