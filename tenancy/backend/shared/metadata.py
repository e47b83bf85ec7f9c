"""Metadata of objects: names, labels, and what Argo CD must know to sync and prune them in the right order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from tenancy.backend.manifest import Object

WAVE: Final = "argocd.argoproj.io/sync-wave"
SYNC_OPTIONS: Final = "argocd.argoproj.io/sync-options"

WAVES: Final[Mapping[str, int]] = {
    "Namespace": -4,
    "AdmissionCheck": -2,
    "HyperNode": -2,
    "ResourceFlavor": -2,
    "Cohort": -1,
    "Application": 0,
    "ClusterQueue": 0,
    "Queue": 0,
    "LocalQueue": 1,
}
"""As few waves as order needs (each costs Argo CD two seconds); kinds not listed go in `OTHERS`. All Queues of Volcano
are in one: growing wants the parent first and shrinking the child, and a retry converges where waves in a fixed order
would not."""

OTHERS: Final = -3

GUARDS: Final[Mapping[str, str]] = {
    "Namespace": "Prune=confirm,Delete=confirm",
    "ClusterQueue": "Prune=confirm,Delete=confirm",
    "LocalQueue": "Prune=confirm,Delete=confirm",
    "Application": "Prune=confirm,Delete=confirm",
    "Kustomization": "Prune=confirm,Delete=confirm",
    "NodePool": "Prune=confirm,Delete=confirm",
    "AdmissionCheck": "PruneLast=true",
    "DeviceClass": "PruneLast=true",
    "HyperNode": "PruneLast=true",
    "NodeFeatureRule": "PruneLast=true",
    "ProvisioningRequestConfig": "PruneLast=true",
    "ResourceFlavor": "PruneLast=true",
    "Topology": "PruneLast=true",
}
"""Pruning a namespace, a queue, a node pool or what syncs them ends work, so a person confirms it. Not a Queue of
Volcano: while a confirmation is awaited nothing else of its wave is created (run against Argo CD 3.2), and all Queues
are in one; the room of the one that goes may be what another waits for, and deletions go first.

Flavors, topologies and admission checks go last, or replacing one deadlocks the sync on its finalizer (run against Argo
CD 3.2); so do the rules of nodes, whose labels and taints go with them."""


def obj(
    api_version: str,
    kind: str,
    name: str,
    labels: Mapping[str, str],
    *,
    namespace: str | None = None,
    annotations: Mapping[str, str] | None = None,
    **body: Any,
) -> Object:
    """A Kubernetes object with its wave and guards; keys stand in the order that people write them.

    `labels` stand as given: the plan sorts those of a unit once, for all of its objects.
    """
    marks = _marks(kind)
    metadata: dict[str, Any] = {"name": name}
    if namespace is not None:
        metadata["namespace"] = namespace
    metadata["labels"] = {**labels}
    metadata["annotations"] = dict(sorted({**annotations, **marks}.items())) if annotations else {**marks}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


@cache
def _marks(kind: str) -> Mapping[str, str]:
    """What Argo CD must know of a kind, sorted."""
    guard = {SYNC_OPTIONS: GUARDS[kind]} if kind in GUARDS else {}
    return {**guard, WAVE: str(WAVES.get(kind, OTHERS))}
