"""Flavors that would describe the nodes of a cluster, with what was guessed and what must be looked at."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tenancy.check.wording import node_count
from tenancy.live.boards import INSTANCE_TYPE, PRESENT
from tenancy.live.hardware import MOST_GPUS, Kind, kind_of
from tenancy.live.levels import ZONE, levels_of, pool_of, pools_of
from tenancy.live.matching import product
from tenancy.live.nodes import LiveNode
from tenancy.live.seen import grouped, named
from tenancy.model.gpus import NVIDIA_GPU, PRODUCT
from tenancy.model.hardware import CPU, DEFAULT_DAEMONS, HOSTNAME, MEMORY
from tenancy.model.quantity import canonical
from tenancy.model.syntax import is_dns_subdomain

_ROLES: Final = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_PLATFORM: Final = "CriticalAddonsOnly"
"""The taint of node pools for the platform: AKS sets it on system pools, and add-ons everywhere tolerate it."""
_ALIKE: Final = 0.9
"""Nodes of one kind whose cpu and memory differ by less are of one flavor, which then says the least."""
_LISTED: Final = 16
"""So many nodes are listed by name where nothing else tells them."""
_GIB: Final = 1 << 30
_STEP: Final = {CPU: 1000, MEMORY: _GIB}
_CRUMBS: Final = {CPU: 16, MEMORY: 16 << 20}
"""So much of a node for each share leaves the smallest MIG slice something: a twelfth of a GPU, and whole MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A flavor for some nodes."""

    name: str
    nodes: tuple[LiveNode, ...]
    entry: Mapping[str, Any]
    """The flavor as the language has it."""
    remarks: tuple[str, ...]
    """What was guessed, and what to look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Flavors for a cluster."""

    flavors: tuple[Proposed, ...]
    cluster: Mapping[str, Any]
    """What the cluster of the organization must say beside: settings of the GPU operator."""
    left: Mapping[str, tuple[LiveNode, ...]]
    """Nodes of no flavor, by the reason."""


@dataclass(frozen=True, slots=True)
class _Group:
    kind: Kind
    nodes: tuple[LiveNode, ...]
    remarks: tuple[str, ...]


def propose(nodes: Iterable[LiveNode]) -> Proposal:
    """Flavors for all nodes that can run jobs."""
    every = sorted(nodes, key=lambda node: node.name)
    kinds = {node.name: kind_of(node) for node in every}
    left = grouped(every, lambda node: _unfit(node, kinds[node.name]) or None)
    usable = [node for node in every if not _unfit(node, kinds[node.name])]
    groups = [
        _Group(kind, part, _remarks(part, kinds))
        for kind, members in grouped(usable, lambda node: kinds[node.name]).items()
        for part in _by_size(members)
    ]
    groups.sort(key=_order)
    names = _names(groups)
    flavors = tuple(_proposed(name, group, groups, every) for name, group in zip(names, groups, strict=True))
    shown = {reason: tuple(members) for reason, members in left.items()}
    return Proposal(flavors=flavors, cluster=_cluster(groups), left=shown)


def _unfit(node: LiveNode, kind: Kind) -> str:
    """Why a node is in no flavor; empty where it can be in one."""
    if any(role in node.labels for role in _ROLES) and (
        kind.board is None or any(taint.key in _ROLES for taint in node.taints)
    ):
        return "of the control plane"
    if kind.board is None and any(taint.key == _PLATFORM for taint in node.taints):
        return f"for the platform's own pods (taint `{_PLATFORM}`)"
    if node.allocatable.get(CPU, 0) < 1000 or node.allocatable.get(MEMORY, 0) < _GIB:
        return "too small for jobs (less than 1 cpu or 1Gi), or without a status"
    if kind.board is not None and not 1 <= kind.gpus <= MOST_GPUS:
        return f"with GPUs that cannot be counted, or more than {MOST_GPUS}"
    if any(_left(node, size) < kind.gpus * kind.shares * unit for size, unit in _CRUMBS.items()):
        return "with more GPUs or shares than cpu and memory for them"
    return ""


def _remarks(nodes: Sequence[LiveNode], kinds: Mapping[str, Kind]) -> tuple[str, ...]:
    """What is to be said of all nodes, or of some by name."""
    of: dict[str, list[LiveNode]] = {}
    for node in nodes:
        for remark in kinds[node.name].remarks:
            of.setdefault(remark, []).append(node)
    return tuple(
        remark if len(some) == len(nodes) else f"{remark} ({named(some)})" for remark, some in sorted(of.items())
    )


def _left(node: LiveNode, resource: str) -> int:
    """What a node has beside the usual DaemonSets; all of it where these would take the whole."""
    size, daemons = node.allocatable[resource], DEFAULT_DAEMONS[resource]
    return size if size < daemons + _STEP[resource] else size - daemons - _STEP[resource]


def _by_size(nodes: Sequence[LiveNode]) -> Iterator[tuple[LiveNode, ...]]:
    """Parts of a kind in which cpu and memory are about the same, the largest nodes first."""
    rest = sorted(nodes, key=lambda node: (-node.allocatable[MEMORY], -node.allocatable[CPU], node.name))
    while rest:
        most = rest[0].allocatable
        alike = [
            node
            for node in rest
            if all(_ALIKE <= node.allocatable[size] / most[size] <= 1 / _ALIKE for size in (CPU, MEMORY))
        ]
        yield tuple(sorted(alike, key=lambda node: node.name))
        rest = [node for node in rest if node not in alike]


def _order(group: _Group) -> tuple[bool, str, int, int, str]:
    board = group.kind.board
    return board is None, board.name if board else "", -group.kind.gpus, -len(group.nodes), group.nodes[0].name


def _names(groups: Sequence[_Group]) -> list[str]:
    """Short names of boards and of how they are handed out; longer ones, and in the end numbers, where they meet."""
    short = [_named(group, long=False) for group in groups]
    boards: dict[str, set[str]] = {}
    for name, group in zip(short, groups, strict=True):
        boards.setdefault(name, set()).add(group.kind.board.name if group.kind.board else str(_cores(group)))
    chosen = [
        _named(group, long=len(boards[name]) > 1 and Counter(short)[name] > 1)
        for name, group in zip(short, groups, strict=True)
    ]
    taken: list[str] = []
    for name in chosen:
        free = (f"{name}-{number}" for number in range(2, len(groups) + 2))
        taken.append(name if name not in taken else next(each for each in free if each not in taken + chosen))
    return taken


def _named(group: _Group, *, long: bool) -> str:
    kind = group.kind
    if kind.board is None:
        return f"cpu-{_cores(group)}" if long else "cpu"
    full = re.sub(r"[^a-z0-9]+", "-", kind.board.name.lower()).strip("-")[:40].strip("-") or "gpu"
    short = full if full.startswith("rtx") or not kind.board.gpu else full.partition("-")[0]
    how = "-mig" if kind.slices else ""
    return f"{full if long else short}{how}{'-shared' if kind.shares > 1 else ''}"


def _cores(group: _Group) -> int:
    return min(node.allocatable[CPU] for node in group.nodes) // 1000


def _proposed(name: str, group: _Group, groups: Sequence[_Group], every: Sequence[LiveNode]) -> Proposed:
    kind, nodes = group.kind, group.nodes
    remarks = [*group.remarks]
    if kind.board is None:
        remarks.append("take it out where only the platform runs there")
    entry: dict[str, Any] = {**_gpu(kind, remarks), "nodes": len(nodes), "node": _node(group)}
    if entry["node"]["cpu"] <= DEFAULT_DAEMONS[CPU] // 1000 or _least(group, MEMORY) <= DEFAULT_DAEMONS[MEMORY]:
        entry["daemons"] = {"cpu": 0, "memory": 0}
        remarks.append("write under `daemons` what DaemonSets use: the usual 2 cpu and 4Gi would be the whole node")
    entry |= _selected(group, groups, every, remarks)
    taints = [taint.text for taint in kind.taints]
    entry |= {"taint": taints[0]} if len(taints) == 1 else {"taints": taints} if taints else {}
    if (mig := kind.mig) is not None:
        entry["mig"] = mig
        if isinstance(mig, list) and not kind.whole:
            remarks.append("which GPU has which layout is guessed from the sum: compare with `nvidia-smi mig -lgi`")
    elif kind.slices:
        shown = ", ".join(f"{count} {profile}" for profile, count in kind.slices)
        remarks.append(f"no layout of {kind.gpus} GPUs comes to {shown}: write `mig` yourself")
    entry |= {"sharing": kind.sharing} if kind.sharing else {}
    levels, unused = levels_of(nodes)
    if levels != [HOSTNAME]:
        entry["topology"] = levels
    remarks += [f"`{label}` is no level: {why}" for label, why in unused.items() if not _dull(label, why)]
    remarks += _states(nodes)
    return Proposed(name=name, nodes=nodes, entry=entry, remarks=tuple(remarks))


def _gpu(kind: Kind, remarks: list[str]) -> dict[str, Any]:
    board = kind.board
    if board is None:
        return {}
    if board.gpu is not None:
        return {"gpu": board.name}
    if not board.memory_gib:
        remarks.append("write the memory of one GPU: no label says it, 1Gi stands for it here")
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", board.name).strip("-.") or "unknown"
    if board.resource == NVIDIA_GPU and board.label:
        remarks.append("the catalogue (`tenancy gpus`) does not know the board, so that it has no MIG here")
    return {"gpu": {"name": name, "memory": f"{board.memory_gib or 1}Gi", "resource": board.resource}}


def _least(group: _Group, resource: str) -> int:
    return min(node.allocatable[resource] for node in group.nodes)


def _node(group: _Group) -> dict[str, Any]:
    """The least that a node offers, in whole cores and GiB."""
    memory = canonical(_least(group, MEMORY) // _GIB * _GIB, MEMORY)
    gpus = {"gpus": group.kind.gpus} if group.kind.board else {}
    return {**gpus, "cpu": _cores(group), "memory": memory}


def _selected(group: _Group, groups: Sequence[_Group], every: Sequence[LiveNode], remarks: list[str]) -> dict[str, Any]:
    """How the nodes are told from all others: by their pool, by their board, by their names."""
    nodes = group.nodes
    members = {node.name for node in nodes}
    others = [node for node in every if node.name not in members]
    if pool := pool_of(nodes, others):
        return {"labels": pool}
    if len(pools := pools_of(nodes)) > 1:
        remarks.append(f"they come from {len(pools)} pools: {', '.join(pools[:4])}{', ...' if len(pools) > 4 else ''}")
    board = group.kind.board
    if board is not None and board.gpu is not None and board.gpu.products:
        alone = sum(each.kind.board is not None and each.kind.board.name == board.name for each in groups) == 1
        alone = alone and not any(product(node) in board.gpu.products for node in others)
        if alone and all(PRODUCT in node.labels for node in nodes):
            remarks.append(f"told by `{PRODUCT}`; `tenancy nodes --apply` or the NodeFeatureRule gives them its label")
            return {}
    if machine := pool_of(nodes, others, (INSTANCE_TYPE,)):
        return {"labels": machine}
    if pattern := _pattern(sorted(members), [node.name for node in others]):
        return {"nodeNames": [pattern]}
    if len(nodes) <= _LISTED and all(map(is_dns_subdomain, members)):
        return {"nodeNames": sorted(members)}
    remarks.append("nothing tells them from other nodes: label them, and write the label under `labels`")
    return {}


def _pattern(names: Sequence[str], others: Sequence[str]) -> str:
    """A beginning that all these names have and no other; empty where there is none of some length."""
    first, last = names[0], names[-1]
    length = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    start = re.sub(r"[0-9]+$", "", first[:length])
    fits = len(names) > 1 and len(start) > 1 and is_dns_subdomain(start.rstrip("-."))
    return f"{start}*" if fits and not any(other.startswith(start) for other in others) else ""


def _states(nodes: Sequence[LiveNode]) -> Iterator[str]:
    if lost := [node for node in nodes if not node.ready]:
        yield f"{node_count(len(lost))} not ready: {named(lost)}"
    if cordoned := [node for node in nodes if node.unschedulable]:
        yield f"{node_count(len(cordoned))} cordoned: {named(cordoned)}"
    if all("karpenter.sh/nodepool" in node.labels for node in nodes):
        yield "Karpenter makes them: with `autoscaling: karpenter` write under `nodes` the most there may be"


def _dull(label: str, why: str) -> bool:
    """Zones seldom are a level of one kind of node, and nobody asks why."""
    return label == ZONE and "then add it" not in why


def _cluster(groups: Sequence[_Group]) -> dict[str, Any]:
    """Settings of NVIDIA's operator that the nodes show."""
    found = [group for group in groups if group.kind.board and group.kind.board.resource == NVIDIA_GPU]
    nodes = [node for group in found for node in group.nodes]
    settings: dict[str, Any] = {}
    if nodes and not any(PRESENT in node.labels for node in nodes):
        settings["installed"] = False
    if any(group.kind.single for group in found):
        settings["migStrategy"] = "single"
    return {"gpuOperator": settings} if settings else {}
