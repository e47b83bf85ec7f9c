"""The language of clusters and flavors: what there is, and how it is handed out."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from tenancy.model.document_base import Document, Scalar, shape_of_text


class Versions(Document):
    """Versions of the components of a cluster; they pick API versions and rules."""

    kubernetes: str | None = Field(None, description='Kubernetes minor version, quoted: "1.36".')
    kueue: str | None = Field(None, description='Kueue minor version, quoted: "0.19".')
    volcano: str | None = Field(
        None, description='Volcano version, quoted: "1.15", or with its patch: "1.14.2". Not older than 1.14.2.'
    )


class Cluster(Document):
    """One Kubernetes cluster."""

    scheduler: Literal["kueue", "volcano", "native"] = Field(
        "kueue",
        description="The backend that keeps the promises: `kueue` keeps all of them, `tenancy parity` lists what the others do.",
    )
    versions: Versions = Field(Versions(), description="Component versions.")
    accept: list[str] = Field(
        [], description="Losses of this scheduler that are accepted, by their codes (docs/parity.md)."
    )
    destination: dict[str, str] | None = Field(
        None, description="Argo CD destination (`name` or `server`). Not supported yet."
    )
    placement: Literal["packed", "plain"] = Field(
        "packed",
        description="`packed`: topology-aware scheduling on every flavor, jobs are packed onto nodes. `plain`: quota only.",
    )
    sharing: Literal["weighted", "first-come"] = Field(
        "weighted", description="How siblings share what is idle: in proportion to `weight`, or by who asks first."
    )


class NodeSize(Document):
    """What one node offers to pods (its allocatable)."""

    gpus: int | None = Field(None, ge=1, le=64, description="GPUs of one node.")
    cpu: Scalar = Field(description="CPU cores of one node.")
    memory: Scalar = Field(description="Memory of one node.")


class CpuAndMemory(Document):
    """An amount of cpu and memory."""

    cpu: Scalar | None = Field(None, description="CPU cores.")
    memory: Scalar | None = Field(None, description="Memory.")


class CustomGpu(Document):
    """A GPU that the built-in catalogue does not know."""

    name: str = Field(description="Board name.")
    memory: Scalar = Field(description="Memory of one GPU.")
    resource: str = Field(description="Extended resource that its device plugin offers, such as `amd.com/gpu`.")


class FlavorSharing(Document):
    """GPUs handed out in shares by the device plugin."""

    time_slicing: int | None = Field(None, description="Shares per GPU by time-slicing.")
    mps: int | None = Field(None, description="Shares per GPU by MPS.")


class Flavor(Document):
    """One kind of node in one cluster."""

    cluster: str | None = Field(None, description="The cluster of these nodes; may be left out when there is one.")
    gpu: (
        Annotated[Annotated[str, Tag("(text)")] | Annotated[CustomGpu, Tag("(mapping)")], Discriminator(shape_of_text)]
        | None
    ) = Field(
        None,
        description="Key of the GPU catalogue (`tenancy gpus`), or name, memory and resource of another GPU. Without it: a CPU flavor.",
    )
    nodes: int = Field(ge=0, description="Number of nodes.")
    spare_nodes: int = Field(0, ge=0, description="Nodes kept out of budgets, so that the promises survive their loss.")
    node: NodeSize = Field(description="What one node offers to pods.")
    per_gpu: CpuAndMemory = Field(
        CpuAndMemory(),
        description="cpu and memory that follow one GPU. Default: the node less `daemons`, divided by its GPUs.",
    )
    daemons: CpuAndMemory | None = Field(None, description="What DaemonSets use on each node. Default: 2 cpu and 4Gi.")
    whole_nodes: bool = Field(False, description="Budgets and jobs in whole nodes: the promise then holds per node.")
    labels: dict[str, str] | None = Field(
        None, description="Existing node labels that select these nodes. Default: `<domain>/flavor: NAME`."
    )
    taint: str | None = Field(None, description="Taint of these nodes: `key[=value]:Effect`.")
    taints: list[str] | None = Field(None, description="Several taints of these nodes.")
    mig: (
        Annotated[
            Annotated[dict[str, int], Tag("(mapping)")] | Annotated[list[dict[str, int]], Tag("(list)")],
            Discriminator(shape_of_text),
        ]
        | None
    ) = Field(
        None,
        description="MIG layout of every GPU, profile to count; or a list of layouts with `gpus:` (of a node) or `nodes:` each.",
    )
    sharing: FlavorSharing | None = Field(None, description="GPUs handed out in shares. Not supported yet.")
    allocation: Literal["device-plugin", "dra"] = Field(
        "device-plugin", description="How GPUs are handed to pods; `dra` is not supported yet."
    )
    topology: list[str] | None = Field(
        None, description="Node labels from wide to narrow, ending in kubernetes.io/hostname."
    )
    cpu_jobs: Literal["fence", "lend"] | None = Field(
        None,
        description="Jobs without GPUs on these nodes: `fence` keeps them out (default with a taint), `lend` lets them in.",
    )
    autoscaling: Literal["karpenter", "provisioning-request"] | None = Field(
        None, description="What adds nodes on demand. Not supported yet."
    )
    price: Scalar | None = Field(None, description="Price of one GPU-hour (of one node-hour of a CPU flavor).")
