"""Which GPUs a node has, as far as its labels and resources say.

Labels: GPU feature discovery (k8s-device-plugin, internal/lm) for NVIDIA, GKE's for its own node pools, instance types
of AWS and Azure, AMD's node labeller. What only a name of a machine says is a guess, and is marked as one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tenancy.live.matching import product
from tenancy.live.nodes import LiveNode
from tenancy.model.devices import SHARED
from tenancy.model.gpus import CATALOGUE, COUNT, MIG_RESOURCE_PREFIX, NVIDIA_GPU, PRODUCT, Gpu
from tenancy.model.syntax import is_dns_subdomain, is_label_key

PRESENT: Final = "nvidia.com/gpu.present"
"""What the operator puts on each node with a GPU of NVIDIA."""
STRATEGY: Final = "nvidia.com/mig.strategy"
ACCELERATOR: Final = "cloud.google.com/gke-accelerator"
ACCELERATOR_COUNT: Final = "cloud.google.com/gke-accelerator-count"
PARTITION: Final = "cloud.google.com/gke-gpu-partition-size"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"

_MEMORY: Final = "nvidia.com/gpu.memory"
_GKE: Final[Mapping[str, str]] = {
    "nvidia-tesla-t4": "T4",
    "nvidia-tesla-v100": "V100-SXM2-16GB",
    "nvidia-tesla-a100": "A100-SXM4-40GB",
    "nvidia-a100-80gb": "A100-SXM4-80GB",
    "nvidia-l4": "L4",
    "nvidia-h100-80gb": "H100-SXM-80GB",
    "nvidia-h100-mega-80gb": "H100-SXM-80GB",
    "nvidia-h200-141gb": "H200-SXM-141GB",
    "nvidia-b200": "B200",
    "nvidia-gb200": "GB200",
    "nvidia-gb300": "GB300",
    "nvidia-rtx-pro-6000": "RTX-PRO-6000",
}
_INSTANCES: Final = (
    (r"p3\..*", "V100-SXM2-16GB"),
    (r"p3dn\..*", "V100-SXM2-32GB"),
    (r"p4d\..*", "A100-SXM4-40GB"),
    (r"p4de\..*", "A100-SXM4-80GB"),
    (r"p5\..*", "H100-SXM-80GB"),
    (r"p5en?\..*", "H200-SXM-141GB"),
    (r"p6-b200\..*", "B200"),
    (r"p6-b300\..*", "B300"),
    (r"p6e-gb200\..*", "GB200"),
    (r"g4dn\..*", "T4"),
    (r"g5\..*", "A10G"),
    (r"g6\..*", "L4"),
    (r"g6e\..*", "L40S"),
    (r"Standard_NC\d+as_T4_v3", "T4"),
    (r"Standard_NC\d+ads_A100_v4", "A100-PCIE-80GB"),
    (r"Standard_NC\d+adi?s_H100_v5", "H100-NVL-94GB"),
    (r"Standard_ND96asr_v4", "A100-SXM4-40GB"),
    (r"Standard_ND96amsr_A100_v4", "A100-SXM4-80GB"),
    (r"Standard_ND96isr_H100_v5", "H100-SXM-80GB"),
    (r"Standard_ND96isr_H200_v5", "H200-SXM-141GB"),
)
"""Instance types whose GPUs are whole boards; the first pattern that fits counts."""

_OTHERS: Final = (
    ("amd.com/gpu", "amd.com/gpu.product-name", "amd.com/gpu.vram"),
    ("gpu.intel.com/i915", "gpu.intel.com/product", ""),
    ("gpu.intel.com/xe", "gpu.intel.com/product", ""),
    ("habana.ai/gaudi", "", ""),
)
"""Resources of other vendors with the labels that name the board and its memory; empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The GPUs of a node, all alike."""

    name: str
    """A key of the catalogue, or what the vendor calls it."""
    resource: str
    memory_gib: int = 0
    """Of one GPU; 0 where nothing says it. Without meaning for a board of the catalogue."""
    label: str = field(default="", compare=False)
    """The label that says so; empty where nothing does."""
    guessed: bool = field(default=False, compare=False)
    """Whether it follows from the name of a machine only."""

    @property
    def gpu(self) -> Gpu | None:
        """The board in the catalogue."""
        return CATALOGUE.get(self.name) if self.resource == NVIDIA_GPU else None


def board_of(node: LiveNode) -> Board | None:
    """The GPUs of a node; None for a node without any."""
    if any(key.startswith((NVIDIA_GPU, MIG_RESOURCE_PREFIX)) for key in offered(node)) or _marked(node):
        return _nvidia(node)
    return next((board for vendor in _OTHERS if (board := _other(node, *vendor)) is not None), _unknown(node))


def offered(node: LiveNode) -> dict[str, int]:
    """The GPUs, slices and shares that a node offers, by resource, sorted; those that are there but unfit count 0."""
    found = {**dict.fromkeys(node.capacity, 0), **node.allocatable}
    return {name: found[name] for name in sorted(found) if _is_gpu(name) and (found[name] or node.capacity.get(name))}


def gpus_by_label(node: LiveNode) -> int | None:
    """The GPUs of a node as a label counts them; None where none does, or where it counts slices."""
    if node.labels.get(STRATEGY) == "single" and "-MIG-" in node.labels.get(PRODUCT, ""):
        return None
    text = node.labels.get(COUNT) or node.labels.get(ACCELERATOR_COUNT) or ""
    return int(text) if re.fullmatch(r"[1-9]\d{0,2}", text, re.ASCII) else None


def shown(board: Board) -> str:
    """The board as a person would name it."""
    return board.name or board.resource


def _nvidia(node: LiveNode) -> Board:
    if name := product(node):
        key = next((each.name for each in CATALOGUE.values() if name in each.products), "")
        if key:
            return Board(name=key, resource=NVIDIA_GPU, label=PRODUCT)
        memory = node.labels.get(_MEMORY, "")
        mebibytes = int(memory) if memory.isascii() and memory.isdecimal() else 0
        return Board(
            name=name.removeprefix("NVIDIA-"), resource=NVIDIA_GPU, memory_gib=-(-mebibytes // 1024), label=PRODUCT
        )
    if key := _GKE.get(node.labels.get(ACCELERATOR, ""), ""):
        return Board(name=key, resource=NVIDIA_GPU, label=ACCELERATOR)
    machine = node.labels.get(INSTANCE_TYPE, "")
    if key := next((key for pattern, key in _INSTANCES if re.fullmatch(pattern, machine)), ""):
        return Board(name=key, resource=NVIDIA_GPU, label=INSTANCE_TYPE, guessed=True)
    return Board(name="", resource=NVIDIA_GPU)


def _marked(node: LiveNode) -> bool:
    """Whether a label says that there are GPUs of NVIDIA, though none is offered."""
    return node.labels.get(PRESENT) == "true" or PRODUCT in node.labels or ACCELERATOR in node.labels


def _other(node: LiveNode, resource: str, name: str, memory: str) -> Board | None:
    if resource not in offered(node):
        return None
    text = node.labels.get(name, "")
    size = re.fullmatch(r"(\d{1,5})G(i?B?)?", node.labels.get(memory, ""), re.ASCII)
    # AMD_Instinct_MI300X_OAM: the vendor, the line and the form are not what tells boards apart.
    short = re.sub(r"^(AMD_)?(Instinct_|Radeon_)?|_OAM$", "", text)
    return Board(name=short, resource=resource, memory_gib=int(size[1]) if size else 0, label=name if text else "")


def _unknown(node: LiveNode) -> Board | None:
    return next((Board(name="", resource=name) for name in offered(node)), None)


def _is_gpu(resource: str) -> bool:
    """Whether a resource is one of GPUs: of a vendor that is known here, or called `gpu` by another."""
    whole = resource.removesuffix(SHARED)
    if whole == NVIDIA_GPU or whole.startswith(MIG_RESOURCE_PREFIX) or any(whole == each[0] for each in _OTHERS):
        return True
    prefix, slash, name = whole.partition("/")
    return (
        bool(slash)
        and name == "gpu"
        and is_dns_subdomain(prefix)
        and is_label_key(whole)
        and "kubernetes.io" not in prefix
    )
