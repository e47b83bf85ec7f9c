"""The one table of what the test bed is made of: each part, the Go module it is built from, and its version.

Kubernetes, Kueue and Volcano come from the table of the schemas, so that what is checked offline is what is run here.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tools.schemas import VERSIONS


class Staged(NamedTuple):
    """A module that a part's repository holds in `staging/` and that was never published in that version."""

    module: str
    version: str
    """The nearest that was published."""
    file: str
    text: str
    """What the part uses and that version lacks, in a new file of its own."""


class Part(NamedTuple):
    """A program built from a published Go module, or several of one module."""

    name: str
    """Of the binary."""
    module: str
    version: str
    package: str = ""
    """What `go install` builds in the module, if not the module itself."""
    source: str = ""
    """The folder under `sources/` with our own `main` that calls the module."""
    programs: tuple[str, ...] = ()
    """Those below the module's `cmd/` that together are the part, in a folder of its name."""
    staged: Staged | None = None


KUBERNETES: Final = {minor: VERSIONS["kubernetes"][minor] for minor in ("1.36", "1.35")}
KUEUE: Final = {minor: VERSIONS["kueue"][minor] for minor in ("0.19", "0.17")}
VOLCANO: Final = {minor: VERSIONS["volcano"][minor] for minor in ("1.15",)}
DEFAULT_KUBERNETES: Final = "1.36"
DEFAULT_KUEUE: Final = "0.19"
DEFAULT_VOLCANO: Final = "1.15"

ETCD: Final = Part("etcd", "go.etcd.io/etcd/server/v3", "v3.6.16", source="etcd")
GPU_OPERATOR: Final = ("github.com/NVIDIA/gpu-operator", "v0.0.0-20250917190837-d73a0086a6ba")
"""Nothing of it runs without a GPU: its chart and its own files are read."""
KWOK: Final = Part("kwok", "sigs.k8s.io/kwok", "v0.7.0", package="cmd/kwok")
ARGOCD: Final = Part("argocd", "github.com/argoproj/argo-cd/v3", "v3.2.11", source="argocd")
"""Not v3.2.12, which does not compile: it calls a function that it does not have."""
KUSTOMIZE: Final = Part("kustomize", "sigs.k8s.io/kustomize/kustomize/v5", "v5.8.1")
"""Argo CD calls it."""
VOLCANO_APIS: Final = Staged(
    "volcano.sh/apis",
    "v1.14.0",
    "pkg/apis/scheduling/v1beta1/gate.go",
    'package v1beta1\n\nconst QueueAllocationGateKey = GroupName + "/queue-allocation-gate"\n',
)


class Kinds(NamedTuple):
    """CustomResourceDefinitions of a framework, read from its published Go module."""

    module: str
    versions: dict[str, str]
    """By Kueue minor: the one that Kueue's own go.mod names."""
    folder: str
    files: tuple[str, ...]
    """Without `.yaml`."""


def _kubeflow(*plurals: str) -> tuple[str, ...]:
    return tuple(f"kubeflow.org_{each}" for each in plurals)


FRAMEWORKS: Final = (
    Kinds(
        "sigs.k8s.io/jobset",
        {"0.19": "v0.12.0", "0.17": "v0.11.1"},
        "config/components/crd/bases",
        ("jobset.x-k8s.io_jobsets",),
    ),
    Kinds(
        "sigs.k8s.io/lws",
        {"0.19": "v0.9.0", "0.17": "v0.8.0"},
        "config/crd/bases",
        ("leaderworkerset.x-k8s.io_leaderworkersets",),
    ),
    # Its MPIJob is v1 and has the name of the mpi-operator's v2beta1, which is the one that Kueue knows.
    Kinds(
        "github.com/kubeflow/training-operator",
        {"0.19": "v1.9.3", "0.17": "v1.9.3"},
        "manifests/base/crds",
        _kubeflow("pytorchjobs", "tfjobs", "jaxjobs", "xgboostjobs", "paddlejobs"),
    ),
    Kinds(
        "github.com/kubeflow/mpi-operator",
        {"0.19": "v0.8.2", "0.17": "v0.8.0"},
        "manifests/base",
        _kubeflow("mpijobs"),
    ),
    Kinds(
        "github.com/kubeflow/trainer/v2",
        {"0.19": "v2.2.1", "0.17": "v2.2.0"},
        "manifests/base/crds",
        tuple(f"trainer.{each}" for each in _kubeflow("trainjobs", "trainingruntimes", "clustertrainingruntimes")),
    ),
    Kinds(
        "github.com/ray-project/kuberay/ray-operator",
        {"0.19": "v1.6.2", "0.17": "v1.6.0"},
        "config/crd/bases",
        ("ray.io_rayclusters", "ray.io_rayjobs", "ray.io_rayservices"),
    ),
    Kinds(
        "github.com/project-codeflare/appwrapper",
        {"0.19": "v1.2.2", "0.17": "v1.2.0"},
        "config/crd/bases",
        ("workload.codeflare.dev_appwrappers",),
    ),
)
"""Every framework among our integrations that Kubernetes does not bring itself."""


KEDA: Final = ("github.com/kedacore/keda/v2", "v2.21.0", "config")
"""Module, version and folder of KEDA's kinds and of its operator's rights. It is not run."""
PROVISIONING: Final = ("k8s.io/autoscaler/cluster-autoscaler/apis", "v0.0.0-20240830133931-adfbe7e45277", "config/crd")
"""Module, version and folder of the kind by which Kueue asks the cluster autoscaler for nodes."""
NODE_KINDS: Final = (
    *("nodefeaturerules.nfd.k8s-sigs.io", "nodepools.karpenter.sh"),
    *("prometheusrules.monitoring.coreos.com", "servicemonitors.monitoring.coreos.com"),
    "provisioningrequests.autoscaling.x-k8s.io",
)
"""What every cluster serves beside its scheduler; versions of all but the last are in the table of the schemas."""


def kubernetes(minor: str) -> Part:
    """kube-apiserver, kube-controller-manager, kube-scheduler and kubectl in one binary that is told which to be."""
    return Part(f"kube-{minor}", "k8s.io/kubernetes", KUBERNETES[minor], source="kubernetes")


def kueue(minor: str) -> Part:
    """Kueue's manager."""
    return Part(f"kueue-{minor}", "sigs.k8s.io/kueue", KUEUE[minor], package="cmd/kueue")


def volcano(minor: str) -> Part:
    """Volcano's three programs."""
    programs = ("scheduler", "controller-manager", "webhook-manager")
    return Part(f"volcano-{minor}", "volcano.sh/volcano", VOLCANO[minor], programs=programs, staged=VOLCANO_APIS)


def parts(kubernetes_minor: str = DEFAULT_KUBERNETES, *, argocd: bool = False) -> tuple[Part, ...]:
    """Everything that a run needs, the longest builds first."""
    gitops = (ARGOCD, KUSTOMIZE) if argocd else ()
    return (*gitops, kubernetes(kubernetes_minor), *map(volcano, VOLCANO), *map(kueue, KUEUE), KWOK, ETCD)
