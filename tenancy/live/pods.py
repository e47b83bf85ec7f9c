"""Pods of a node, reduced to whether a change of the node would end or break them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tenancy.model.hardware import Taint


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePod:
    """A pod that runs or is about to."""

    name: str
    """With its namespace: `team/train-0`."""
    resources: frozenset[str]
    """What any of its containers asks for."""
    claims: bool
    """Whether it holds devices by ResourceClaims, whatever these are."""
    tolerations: tuple[Mapping[str, Any], ...]

    def uses(self, device: str) -> bool:
        """Whether it holds devices of the vendor of `device`, such as `nvidia.com/gpu`, by any name."""
        vendor = device.partition("/")[0] + "/"
        return self.claims or any(resource.startswith(vendor) for resource in self.resources)

    def tolerates(self, taint: Taint) -> bool:
        """Whether it stays for good on a node that gets a NoExecute taint."""
        return any(_tolerates(each, taint) for each in self.tolerations)


def live_pod(obj: Mapping[str, Any]) -> LivePod:
    """A v1 Pod object of the API server."""
    metadata, spec = obj["metadata"], obj.get("spec") or {}
    return LivePod(
        name=f"{metadata.get('namespace', '')}/{metadata.get('name', '')}",
        resources=frozenset(_resources(spec)),
        claims=bool(spec.get("resourceClaims")),
        tolerations=tuple(spec.get("tolerations") or ()),
    )


def _resources(spec: Mapping[str, Any]) -> Iterator[str]:
    for kind in ("containers", "initContainers"):
        for container in spec.get(kind) or ():
            yield from (container.get("resources") or {}).get("requests") or {}
            yield from (container.get("resources") or {}).get("limits") or {}


def _tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    """As Kubernetes matches them; one with tolerationSeconds only delays the end."""
    if toleration.get("tolerationSeconds") is not None or toleration.get("effect") not in (None, "", taint.effect):
        return False
    key, exists = toleration.get("key") or "", toleration.get("operator") == "Exists"
    if not key:
        return exists
    return bool(key == taint.key and (exists or (toleration.get("value") or "") == taint.value))
