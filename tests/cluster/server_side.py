"""What is live and was not written by us: every such field with the reason why it is not emitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_IN_USE: Final = "Kueue's own guard against deletion while in use: its webhook or controller adds and removes it"

ADDED: Final[Mapping[tuple[str, str], str]] = {
    ("AdmissionCheck", "metadata.finalizers"): _IN_USE,
    ("ClusterQueue", "metadata.finalizers"): _IN_USE,
    ("ResourceFlavor", "metadata.finalizers"): _IN_USE,
    ("Topology", "metadata.finalizers"): _IN_USE,
    ("Queue", "spec.guarantee"): "the scheduler makes the Queue `default` with an empty one, which says nothing",
    ("Namespace", "metadata.labels.kubernetes.io/metadata.name"): "the API server's own, always the name",
    ("Namespace", "spec"): "the finalizer of the namespace controller, which only the API server may set",
}
"""From kind and path to the reason."""

REORDERED: Final[Mapping[str, str]] = {
    "ValidatingAdmissionPolicy": "the controller-manager applies its status by server-side apply too, and the API"
    " server sorts managers of one operation by time: the next apply moves our entry, once, and nothing else"
}
"""Kinds whose resourceVersion a second application moves once although nothing in them changes."""
