"""Nodes as a cluster has them, from its API or from a file of `kubectl get nodes -o yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tenancy.model.hardware import Taint
from tenancy.model.quantity import QuantityError, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveNode:
    """A node, reduced to what flavors are about."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    allocatable: Mapping[str, int]
    """In base units (milli-cpu, bytes, devices); resources whose quantity cannot be read are left out."""
    unschedulable: bool
    ready: bool


def live_node(obj: Mapping[str, Any]) -> LiveNode:
    """A v1 Node object as plain data; parts that are missing count as empty."""
    metadata, spec, status = (obj.get(key) or {} for key in ("metadata", "spec", "status"))
    conditions = {each.get("type"): each.get("status") for each in status.get("conditions") or ()}
    return LiveNode(
        name=str(metadata.get("name", "")),
        labels={str(key): str(value) for key, value in (metadata.get("labels") or {}).items()},
        taints=tuple(
            Taint(str(each.get("key", "")), str(each.get("value") or ""), str(each.get("effect", "")))
            for each in spec.get("taints") or ()
        ),
        allocatable=_amounts(status.get("allocatable") or {}),
        unschedulable=bool(spec.get("unschedulable")),
        ready=conditions.get("Ready", "True") == "True",
    )


def _amounts(written: Mapping[str, Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for resource, quantity in written.items():
        try:
            found[resource] = parse(quantity, resource)
        except QuantityError:
            continue
    return found
