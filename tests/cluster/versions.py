"""The one table of what the test bed is made of: each part, the Go module it is built from, and its version.

Kubernetes and Kueue come from the table of the schemas, so that what is checked offline is what is run here.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tools.schemas import VERSIONS


class Part(NamedTuple):
    """A program built from a published Go module."""

    name: str
    """Of the binary."""
    module: str
    version: str
    package: str = ""
    """What `go install` builds; empty where our own `sources/` folder holds a `main` that calls the module."""
    source: str = ""
    """The folder under `sources/`."""


KUBERNETES: Final = {minor: VERSIONS["kubernetes"][minor] for minor in ("1.36", "1.35")}
KUEUE: Final = {minor: VERSIONS["kueue"][minor] for minor in ("0.19", "0.17")}
DEFAULT_KUBERNETES: Final = "1.36"
DEFAULT_KUEUE: Final = "0.19"

ETCD: Final = Part("etcd", "go.etcd.io/etcd/server/v3", "v3.6.16", source="etcd")
KWOK: Final = Part("kwok", "sigs.k8s.io/kwok", "v0.7.0", package="cmd/kwok")


def kubernetes(minor: str) -> Part:
    """kube-apiserver, kube-controller-manager, kube-scheduler and kubectl in one binary that is told which to be."""
    return Part(f"kube-{minor}", "k8s.io/kubernetes", KUBERNETES[minor], source="kubernetes")


def kueue(minor: str) -> Part:
    """Kueue's manager."""
    return Part(f"kueue-{minor}", "sigs.k8s.io/kueue", KUEUE[minor], package="cmd/kueue")


def parts(kubernetes_minor: str = DEFAULT_KUBERNETES) -> tuple[Part, ...]:
    """Everything that a run needs, the quickest builds first."""
    return (ETCD, KWOK, kubernetes(kubernetes_minor), *map(kueue, KUEUE))
