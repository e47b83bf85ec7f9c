"""What the nodes of a flavor have in common: board, GPUs, how these are divided and shared, taints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tenancy.check.flavors import MOST
from tenancy.live.boards import (
    ACCELERATOR,
    PARTITION,
    STRATEGY,
    Board,
    board_of,
    gpus_by_label,
    offered,
    shown,
)
from tenancy.live.devices import MIG_STATE
from tenancy.live.inventory import PASSING
from tenancy.live.layout import fewest, layout_of
from tenancy.live.nodes import LiveNode
from tenancy.model.devices import SHARED
from tenancy.model.gpus import COUNT, MIG_RESOURCE_PREFIX, NVIDIA_GPU, PRODUCT
from tenancy.model.hardware import Taint, parse_taint
from tenancy.model.syntax import is_label_key, is_label_value

MOST_GPUS: Final = 64
"""GPUs of a node in the language."""

_REPLICAS: Final = "nvidia.com/gpu.replicas"
_SHARING: Final = "nvidia.com/gpu.sharing-strategy"
_GKE_SHARING: Final = "cloud.google.com/gke-gpu-sharing-strategy"
_GKE_CLIENTS: Final = "cloud.google.com/gke-max-shared-clients-per-gpu"
_MIG_SUFFIX: Final = re.compile(r"-MIG-(\d+g\.\d+gb\S*?)(-SHARED)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Nodes with the same of these are of one flavor. All fields hash, so that nodes can be grouped by them."""

    board: Board | None
    gpus: int = 0
    slices: tuple[tuple[str, int], ...] = ()
    """MIG slices of the node by profile, before sharing."""
    whole: int = 0
    """GPUs that are not divided, before sharing."""
    shares: int = 1
    mps: bool = False
    single: bool = False
    """Whether slices are called `nvidia.com/gpu`."""
    taints: tuple[Taint, ...] = ()
    remarks: tuple[str, ...] = field(default=(), compare=False)
    """What was guessed or cannot be said."""

    @property
    def mig(self) -> Any:
        """The layout as the language has it; None without slices, or where no layout comes to them."""
        if self.board is None or self.board.gpu is None or not self.slices:
            return None
        found = layout_of(self.board.gpu, self.gpus - self.whole, dict(self.slices))
        if found is None or not self.whole:
            return found
        if isinstance(found, list):
            return [*found, {"gpus": self.whole}]
        return [{"gpus": self.gpus - self.whole, **found}, {"gpus": self.whole}]

    @property
    def sharing(self) -> Mapping[str, int]:
        """As the language has it; MPS does not go with MIG."""
        return {"mps" if self.mps and not self.slices else "timeSlicing": self.shares} if self.shares > 1 else {}


def kind_of(node: LiveNode) -> Kind:
    """What a node has."""
    board = board_of(node)
    taints, remarks = _taints(node)
    if board is None:
        return Kind(board=None, taints=taints, remarks=remarks)
    known = [] if board.label else ["no label says which board it is"]
    known += [f"the board is guessed from the machine, `{board.label}`"] if board.guessed else []
    kind, more = _devices(node, board)
    return Kind(**kind, board=board, taints=taints, remarks=(*known, *more, *remarks))


def _devices(node: LiveNode, board: Board) -> tuple[dict[str, Any], list[str]]:
    """The GPUs of a node and how they are handed out, as fields of a kind, and remarks."""
    gpu, fit = board.gpu, offered(node)
    # Where some are unfit the capacity counts; what is not offered any more beside others is left from before.
    there = {name: max(count, node.capacity.get(name, 0)) for name, count in fit.items()}
    found = {name: count if fit[name] or not any(fit.values()) else 0 for name, count in there.items()}
    unfit = [f"{fit[name]} of {count} `{name}` are fit" for name, count in found.items() if 0 < fit[name] < count]
    if not any(fit.values()):
        unfit.append("no GPU is offered: the device plugin does not run there, or a MIG change is under way")
    if board.resource != NVIDIA_GPU:
        return {"gpus": found.get(board.resource, 0)}, unfit
    shares, mps, remarks = _shares(node, found)
    remarks += unfit
    counted: dict[str, int] = {}
    for name, count in found.items():
        counted[name.removesuffix(SHARED)] = counted.get(name.removesuffix(SHARED), 0) + count // shares
    whole = counted.get(NVIDIA_GPU, 0)
    profile = _single(node)
    if profile and gpu is not None and profile in gpu.profiles:
        gpus = gpus_by_label(node) or whole // gpu.profiles[profile].maximum
        remarks.append("its slices are called `nvidia.com/gpu` (strategy `single`)")
        fields = {"gpus": gpus, "slices": ((profile, whole),), "single": True, "shares": shares, "mps": mps}
        return fields, remarks
    slices, unknown = _slices(board, counted)
    remarks += unknown
    gpus = gpus_by_label(node) or whole + (fewest(gpu, dict(slices)) if gpu and slices else 0)
    whole = min(whole, gpus) if slices else gpus
    if (state := node.labels.get(MIG_STATE, "success")) != "success":
        remarks.append(f"its MIG layout is not settled: `{MIG_STATE}` is `{state}`")
    if slices and gpus_by_label(node) is None:
        remarks.append(f"the number of GPUs is guessed from the slices, because `{COUNT}` is absent")
    fields = {"gpus": gpus, "slices": slices, "whole": whole if slices else 0, "shares": shares, "mps": mps}
    return fields, remarks


def _shares(node: LiveNode, found: Mapping[str, int]) -> tuple[int, bool, list[str]]:
    """Into how many shares GPUs are handed out, whether by MPS, and remarks."""
    if _GKE_SHARING in node.labels:
        clients = node.labels.get(_GKE_CLIENTS, "several")
        what = f"GKE hands out each GPU to {clients} pods under its own name: what is counted here are shares"
        return 1, False, [what]
    text, count = node.labels.get(_REPLICAS, ""), gpus_by_label(node)
    renamed = [name for name in found if name.endswith(SHARED) and found[name]]
    shares = int(text) if re.fullmatch(r"[1-9]\d?", text, re.ASCII) else 1
    if renamed and shares == 1 and count:
        shares = max(1, sum(found[name] for name in renamed if name == NVIDIA_GPU + SHARED) // count)
    how = node.labels.get(_SHARING, "none")
    if not renamed and (shares == 1 or how == "none"):
        return 1, False, []
    remarks = (
        [] if renamed else ["shares are called `nvidia.com/gpu` today; `tenancy` calls them `nvidia.com/gpu.shared`"]
    )
    return shares, how == "mps" and shares <= 48, remarks


def _single(node: LiveNode) -> str:
    """The profile whose slices are called `nvidia.com/gpu`; empty where they are not."""
    if PARTITION in node.labels and ACCELERATOR in node.labels:
        return node.labels[PARTITION]
    match = _MIG_SUFFIX.search(node.labels.get(PRODUCT, ""))
    return match[1].replace(".me", "+me") if match and node.labels.get(STRATEGY, "single") == "single" else ""


def _slices(board: Board, counted: Mapping[str, int]) -> tuple[tuple[tuple[str, int], ...], list[str]]:
    """Slices by profile of the board, and a remark on those that it does not have."""
    named = {profile.resource: name for name, profile in (board.gpu.profiles if board.gpu else {}).items()}
    offers = {name: count for name, count in counted.items() if name.startswith(MIG_RESOURCE_PREFIX) and count}
    slices = tuple(sorted((named[name], count) for name, count in offers.items() if name in named))
    unknown = [f"`{name}` is no slice of `{shown(board)}`" for name in offers if name not in named]
    return slices, unknown


def _taints(node: LiveNode) -> tuple[tuple[Taint, ...], tuple[str, ...]]:
    """The taints that a flavor can declare, and remarks on others; those of a node's state are neither."""
    kept: dict[tuple[str, str], Taint] = {}
    remarks = []
    for taint in sorted(node.taints, key=lambda taint: taint.text):
        if taint.key.startswith(PASSING):
            continue
        legal = is_label_key(taint.key) and is_label_value(taint.value) and parse_taint(taint.text) == taint
        if legal and taint.keeps_out and len(kept) < MOST:
            kept.setdefault((taint.key, taint.effect), taint)
        else:
            remarks.append(
                f"the taint `{taint.text}` is left out" + ("" if taint.keeps_out else ": it keeps nobody out")
            )
    return tuple(kept.values()), tuple(remarks)
