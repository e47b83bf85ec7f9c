"""Nodes as a cluster has them, from its API or from a file of `kubectl get nodes -o yaml`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tenancy.model.hardware import Taint
from tenancy.model.quantity import amount

MANAGER: Final = "tenancy-nodes"
"""The field manager under which `tenancy nodes` writes."""


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
    capacity: Mapping[str, int] = field(default_factory=dict)
    """As `allocatable`, before what is reserved or unhealthy."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    uid: str = ""
    owners: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Field managers by label; empty in a file without managed fields, which kubectl leaves out by default."""
    tainters: frozenset[str] = frozenset()
    """Field managers of the taints, likewise: the API server knows them for the list as a whole alone."""


def live_node(obj: Mapping[str, Any]) -> LiveNode:
    """A v1 Node object as plain data; parts that are missing count as empty."""
    metadata, spec, status = (obj.get(key) or {} for key in ("metadata", "spec", "status"))
    managed = metadata.get("managedFields") or ()
    return LiveNode(
        name=str(metadata.get("name", "")),
        labels=_texts(metadata.get("labels")),
        taints=tuple(
            Taint(str(each.get("key", "")), str(each.get("value") or ""), str(each.get("effect", "")))
            for each in spec.get("taints") or ()
        ),
        allocatable=_amounts(status.get("allocatable") or {}),
        unschedulable=bool(spec.get("unschedulable")),
        ready=all(
            each.get("status") == "True" for each in status.get("conditions") or () if each.get("type") == "Ready"
        ),
        capacity=_amounts(status.get("capacity") or {}),
        annotations=_texts(metadata.get("annotations")),
        uid=str(metadata.get("uid", "")),
        owners=_owners(managed),
        tainters=frozenset(str(each.get("manager", "")) for each in managed if "f:taints" in _within(each, "f:spec")),
    )


def _amounts(written: Mapping[str, Any]) -> dict[str, int]:
    read = {resource: amount(quantity, resource) for resource, quantity in written.items()}
    return {resource: found for resource, found in read.items() if found is not None}


def _texts(written: Mapping[str, Any] | None) -> dict[str, str]:
    return {str(key): str(value) for key, value in (written or {}).items()}


def _owners(managed: Iterable[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for entry in managed:
        labels = _within(entry, "f:metadata").get("f:labels") or {}
        for key in (each.removeprefix("f:") for each in labels if each != "."):
            found[key] = found.get(key, frozenset()) | {str(entry.get("manager", ""))}
    return found


def _within(entry: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    return (entry.get("fieldsV1") or {}).get(part) or {}
