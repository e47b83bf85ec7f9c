"""What must run on every node of a flavor tolerates its taints: a DaemonSet that is kept out takes the GPUs with it.

A node whose taint the operator's DaemonSets do not tolerate offers no GPU at all (NVIDIA/gpu-operator#26).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from tenancy.model.gpus import NVIDIA_GPU
from tenancy.model.hardware import Hardware
from tenancy.plan.values import ClusterPlan

STACK: Final = {"key": NVIDIA_GPU, "operator": "Exists", "effect": "NoSchedule"}
"""What NVIDIA's charts tolerate by themselves; a list of one's own replaces theirs."""


def flavor_tolerations(plan: ClusterPlan, given: Sequence[dict[str, Any]] = (STACK,)) -> list[dict[str, Any]]:
    """The tolerations of what runs on the nodes with NVIDIA's GPUs: those of its chart (`given`) first."""
    return tolerations((flavor for flavor in plan.flavors.values() if flavor.nvidia), given)


def tolerations(flavors: Iterable[Hardware], given: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """`given`, then one for each key and effect of the flavors' taints that it does not cover, sorted.

    Whatever the value: a taint may get another one by hand, and the node must not lose its GPUs for that.
    PreferNoSchedule keeps nothing out.
    """
    taints = {(taint.key, taint.effect) for flavor in flavors for taint in flavor.taints if taint.keeps_out}
    covered = {(each["key"], each["effect"]) for each in given if each["operator"] == "Exists"}
    added = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in sorted(taints - covered)]
    return [*map(dict, given), *added]
