"""What a flavor is, in numbers: which resources its nodes have, how many, and what cpu and memory follow a GPU.

Values that cannot be read count as absent here; `tenancy.check` reports them where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from tenancy.diagnostics import KeyPath
from tenancy.model.devices import GPUS, Device, Layout, board, devices, home, layouts_of, shares
from tenancy.model.document import Autoscaling, CpuAndMemory, Flavor, Organization
from tenancy.model.gpus import NVIDIA_GPU, Gpu
from tenancy.model.quantity import amount

__all__ = [
    "CPU",
    "DEFAULT_DAEMONS",
    "EFFECTS",
    "GPUS",
    "HOSTNAME",
    "MEMORY",
    "Hardware",
    "Kind",
    "Layout",
    "Taint",
    "amount",
    "autoscaler",
    "board",
    "hardware",
    "layouts_of",
    "packed",
    "parse_taint",
    "taints_of",
    "tolerated",
]

CPU: Final = "cpu"
MEMORY: Final = "memory"
HOSTNAME: Final = "kubernetes.io/hostname"
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
DEFAULT_DAEMONS: Final = {CPU: 2000, MEMORY: 4 << 30}
"""What DaemonSets are taken to use on each node (2 cpu, 4Gi) where a flavor does not say."""

_MEBIBYTE = 1 << 20
_TAINT = re.compile(r"(?P<key>[^=:\s]+)(=(?P<value>[^:\s]*))?:(?P<effect>[A-Za-z]+)")


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint as Kubernetes has it."""

    key: str
    value: str
    effect: str

    @property
    def text(self) -> str:
        """As people write it: `key=value:Effect`, or `key:Effect` without a value."""
        return f"{self.key}{'=' if self.value else ''}{self.value}:{self.effect}"

    @property
    def spec(self) -> dict[str, str]:
        """As objects of Kubernetes have it; without a value, none is written."""
        value = {"value": self.value} if self.value else {}
        return {"key": self.key, **value, "effect": self.effect}

    @property
    def keeps_out(self) -> bool:
        """Whether it bars pods: Kueue and the scheduler ignore PreferNoSchedule."""
        return self.effect != "PreferNoSchedule"


@dataclass(frozen=True, slots=True)
class Kind:
    """Nodes of a flavor whose GPUs are divided alike."""

    nodes: int
    layouts: tuple[int, ...]
    """Indexes of the flavor's layouts that share the GPUs of each of these nodes."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """A flavor in numbers, in base units (milli-cpu, bytes, GPUs, MIG slices)."""

    name: str
    path: KeyPath
    cluster: str
    gpu: Gpu | None
    """The board; None for a CPU flavor."""
    mains: tuple[str, ...]
    """The resources that budgets count: the GPU, its MIG profiles, or cpu and memory of a CPU flavor."""
    names: Mapping[str, str]
    """From the keys of a budget (`gpus`, `1g.10gb`, `cpu`) to resource names."""
    installed: Mapping[str, int]
    """What jobs can use of all nodes without the DaemonSets, per resource."""
    capacity: Mapping[str, int]
    """What jobs can use without the spare nodes and the DaemonSets, per resource."""
    follows: Mapping[str, Mapping[str, int]]
    """cpu and memory that come with one of a main resource."""
    steps: Mapping[str, int]
    """In which multiples a main resource is shared out."""
    nodes: int
    node: Mapping[str, int]
    """One node less its DaemonSets: cpu, memory and the GPUs that are built in, whatever is handed out of them."""
    whole_nodes: bool
    layouts: tuple[Layout, ...]
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    levels: tuple[str, ...]
    fenced: bool
    """Whether jobs without GPUs are kept off these nodes."""
    price: Fraction
    """Per hour of one GPU; of one node of a CPU flavor."""
    resources: tuple[str, ...] = field(default=())
    shares: int = 1
    """Into how many shares each GPU or MIG slice is handed out."""
    devices: tuple[Device, ...] = ()
    """What `mains` of a GPU flavor are."""
    claimed: bool = False
    """Whether pods get its GPUs by claims (`allocation: dra`), and not from the device plugin."""
    autoscaler: str = ""
    """What adds nodes: `karpenter`, `provisioning-request`, or "" where all of `nodes` are there."""

    @property
    def is_cpu(self) -> bool:
        """Whether its nodes have no GPUs."""
        return self.gpu is None

    @property
    def nvidia(self) -> bool:
        """Whether its GPUs are of NVIDIA, so that its tools look after the nodes."""
        return self.gpu is not None and self.gpu.resource == NVIDIA_GPU

    @property
    def divided(self) -> bool:
        """Whether MIG divides any of its GPUs."""
        return any(layout.profiles for layout in self.layouts)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Layouts that share the GPUs of a node make one kind of nodes, those of different nodes one each."""
        indexes = tuple(range(len(self.layouts)))
        if all(layout.nodes == self.nodes for layout in self.layouts):
            return (Kind(self.nodes, indexes),)
        return tuple(Kind(self.layouts[index].nodes, (index,)) for index in indexes)

    def offers(self, kind: Kind) -> dict[str, int]:
        """The devices of one node of a kind, by resource, sorted."""
        counts: dict[str, int] = {}
        for device in self.devices:
            there = sum(device.per_gpu.get(index, 0) * self.layouts[index].gpus for index in kind.layouts)
            if there:
                counts[device.resource] = counts.get(device.resource, 0) + there
        return dict(sorted(counts.items()))


def hardware(document: Organization) -> dict[str, Hardware]:
    """Every flavor of the organization by name, sorted: CPU flavors first, then by name."""
    flavors = [_hardware(document, name, flavor) for name, flavor in document.flavors.items()]
    flavors.sort(key=lambda flavor: (not flavor.is_cpu, flavor.name))
    return {flavor.name: flavor for flavor in flavors}


def taints_of(name: str, flavor: Flavor) -> Iterator[tuple[KeyPath, str]]:
    """The taints as written, each with its place."""
    if flavor.taint is not None:
        yield ("flavors", name, "taint"), flavor.taint
    for index, text in enumerate(flavor.taints or ()):
        yield ("flavors", name, "taints", index), text


def parse_taint(text: str) -> Taint | None:
    """A taint written `key[=value]:Effect`, or None where the text is not one."""
    match = _TAINT.fullmatch(text)
    if match is None or match["effect"] not in EFFECTS:
        return None
    return Taint(match["key"], match["value"] or "", match["effect"])


def tolerated(taint: Taint, given: Taint) -> bool:
    """Whether the toleration that a flavor with the taint `given` gives to its jobs gets them past `taint` as well.

    For a taint without a value it tolerates any value.
    """
    return (given.key, given.effect) == (taint.key, taint.effect) and given.value in ("", taint.value)


def autoscaler(flavor: Flavor) -> str:
    """What adds nodes of the flavor: `karpenter`, `provisioning-request`, or "" where all are there."""
    if not isinstance(flavor.autoscaling, Autoscaling):
        return flavor.autoscaling or ""
    if flavor.autoscaling.karpenter is not None:
        return "karpenter"
    return "provisioning-request" if flavor.autoscaling.provisioning_request is not None else ""


def packed(document: Organization, cluster: str) -> bool:
    """Whether jobs are packed onto nodes: under Kueue not where it cannot see the nodes or devices of a flavor.

    Topology-aware scheduling of Kueue places jobs on nodes that are there, by resources of pods (docs/kueue.md).
    """
    written = document.clusters[cluster]
    if written.placement is not None or written.scheduler != "kueue":
        return written.placement != "plain"
    flavors = [flavor for flavor in document.flavors.values() if home(document, flavor) == cluster]
    return not any(autoscaler(flavor) or flavor.allocation == "dra" for flavor in flavors)


def _hardware(document: Organization, name: str, flavor: Flavor) -> Hardware:
    gpu, node = board(flavor), _node(flavor)
    layouts = layouts_of(name, flavor) if gpu else ()
    counted = devices(document, flavor, layouts)
    counts = _counts(counted, layouts, flavor.spare_nodes)
    capacity = {**_sizes(node, flavor.nodes - flavor.spare_nodes), **counts}
    mains = tuple(counts) if gpu else (CPU, MEMORY)
    whole = flavor.node.gpus or 1
    return Hardware(
        name=name,
        path=("flavors", name),
        cluster=home(document, flavor),
        gpu=gpu,
        mains=mains,
        names={CPU: CPU, MEMORY: MEMORY, **{device.key: device.resource for device in counted}},
        installed={**_sizes(node, flavor.nodes), **_counts(counted, layouts, 0)},
        capacity=capacity,
        follows=_follows(flavor, node, counted),
        steps={main: whole if flavor.whole_nodes and gpu else _step(main) for main in mains},
        nodes=flavor.nodes,
        node=node,
        whole_nodes=flavor.whole_nodes,
        layouts=layouts,
        labels=flavor.labels if flavor.labels is not None else {f"{document.domain}/flavor": name},
        taints=tuple(taint for _, text in taints_of(name, flavor) if (taint := parse_taint(text))),
        levels=tuple(flavor.topology or (HOSTNAME,)),
        fenced=_fenced(flavor),
        price=Fraction(amount(flavor.price, CPU) or 0, 1000) if flavor.price is not None else Fraction(0),
        resources=tuple(capacity),
        shares=shares(flavor),
        devices=counted,
        claimed=flavor.allocation == "dra",
        autoscaler=autoscaler(flavor),
    )


def _fenced(flavor: Flavor) -> bool:
    """A taint fences a GPU flavor by default; jobs of a CPU flavor have no GPU that could let them in."""
    if flavor.cpu_jobs is not None:
        return flavor.cpu_jobs == "fence"
    return flavor.gpu is not None and bool(flavor.taint or flavor.taints)


def _node(flavor: Flavor) -> dict[str, int]:
    """What one node leaves to jobs."""
    daemons = flavor.daemons or CpuAndMemory()
    left: dict[str, int] = {}
    for resource, size, written in (
        (CPU, flavor.node.cpu, daemons.cpu),
        (MEMORY, flavor.node.memory, daemons.memory),
    ):
        used = amount(written, resource) if written is not None else None
        used = DEFAULT_DAEMONS[resource] if used is None else used
        left[resource] = max(0, (amount(size, resource) or 0) - used)
    return {**left, GPUS: flavor.node.gpus or 0}


def _sizes(node: Mapping[str, int], nodes: int) -> dict[str, int]:
    return {resource: max(0, nodes) * node[resource] for resource in (CPU, MEMORY)}


def _counts(counted: tuple[Device, ...], layouts: tuple[Layout, ...], spare: int) -> dict[str, int]:
    """What there is of each device; any nodes may be the lost ones, so each layout loses the spare ones."""
    gpus = [max(0, layout.gpus) * max(0, layout.nodes - spare) for layout in layouts]
    counts: dict[str, int] = {}
    for device in counted:
        there = sum(gpus[index] * count for index, count in device.per_gpu.items())
        counts[device.resource] = counts.get(device.resource, 0) + there
    return counts


def _follows(flavor: Flavor, node: Mapping[str, int], counted: tuple[Device, ...]) -> dict[str, Mapping[str, int]]:
    """cpu in whole milli-cpu and memory in whole MiB for one device: its part of what follows a GPU."""
    gpus = max(1, node[GPUS])
    whole = {CPU: Fraction(node[CPU], gpus), MEMORY: Fraction(node[MEMORY], gpus)}
    for resource, written in ((CPU, flavor.per_gpu.cpu), (MEMORY, flavor.per_gpu.memory)):
        read = amount(written, resource) if written is not None else None
        whole[resource] = Fraction(read) if read is not None else whole[resource]
    return {
        device.resource: {
            CPU: int(whole[CPU] * device.part),
            MEMORY: int(whole[MEMORY] * device.part) // _MEBIBYTE * _MEBIBYTE,
        }
        for device in counted
    }


def _step(resource: str) -> int:
    """Shares are given in whole cores, whole GiB and whole GPUs."""
    return {CPU: 1000, MEMORY: 1 << 30}.get(resource, 1)
