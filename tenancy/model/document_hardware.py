"""The language of clusters and flavors: what there is, and how it is handed out."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from tenancy.model.document_base import Document, Scalar, shape_of_text
from tenancy.model.document_guards import Guards, Telemetry


class Versions(Document):
    """Versions of the components of a cluster; they pick API versions and rules."""

    kubernetes: str | None = Field(None, description='Kubernetes minor version, quoted: "1.36".')
    kueue: str | None = Field(None, description='Kueue minor version, quoted: "0.19".')
    volcano: str | None = Field(
        None, description='Volcano version, quoted: "1.15", or with its patch: "1.14.2". Not older than 1.14.2.'
    )


class GpuOperator(Document):
    """NVIDIA's GPU operator in a cluster."""

    installed: bool = Field(
        True,
        description="Whether it runs there. Where it does not (managed offers, other vendors), nothing is written for it.",
    )
    namespace: str = Field("gpu-operator", description="Its namespace.")
    mig_strategy: Literal["mixed", "single"] = Field(
        "mixed",
        description="Resource names of MIG slices: `mixed` names each profile, `single` calls every slice `nvidia.com/gpu`.",
    )


class Destination(Document):
    """Where Argo CD finds a cluster: one of the two."""

    name: str | None = Field(None, description="Name that the cluster has in Argo CD.")
    server: str | None = Field(None, description="URL of its API server, as Argo CD knows it.")


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
    destination: Destination | None = Field(
        None, description="Where Argo CD finds the cluster. Default: the cluster in which it runs itself."
    )
    placement: Literal["packed", "plain"] | None = Field(
        None,
        description="`packed`: topology-aware scheduling on every flavor, jobs are packed onto nodes. `plain`: quota only. "
        "Default: `packed`, but `plain` under Kueue where a flavor is autoscaled or allocated by DRA.",
    )
    sharing: Literal["weighted", "first-come"] = Field(
        "weighted", description="How siblings share what is idle: in proportion to `weight`, or by who asks first."
    )
    gpu_operator: GpuOperator = Field(GpuOperator(), description="NVIDIA's GPU operator.")
    guards: Guards = Field(Guards(), description="Admission policies over what tenants create.")
    api_shares: int = Field(
        60,
        ge=0,
        le=1000,
        description="Concurrency shares of the API server that the departments divide by their weights, beside the 245 "
        "that it has for others; 0: departments have none of their own.",
    )
    telemetry: Telemetry = Field(Telemetry(), description="Rules, alerts, scrape targets and dashboards.")


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
    """GPUs handed out in shares by the device plugin: one of the two ways."""

    time_slicing: int | None = Field(None, description="Shares per GPU by time-slicing, 2 or more.")
    mps: int | None = Field(None, description="Shares per GPU by MPS, 2 to 48 (16 on Volta).")
    across_departments: bool = Field(
        False, description="Accept that departments share GPUs without isolation of memory and faults."
    )


class NodeClass(Document):
    """The provider's object that says how a node of Karpenter is made."""

    group: str = Field("karpenter.k8s.aws", description="API group.")
    kind: str = Field("EC2NodeClass", description="Kind.")
    name: str = Field("default", description="Name of the object.")


class Karpenter(Document):
    """Nodes that Karpenter makes."""

    node_class: NodeClass = Field(NodeClass(), description="What makes the nodes.")
    requirements: dict[str, list[str]] = Field(
        {},
        description="Further requirements of the nodes, label to values, such as instance types. On AWS the GPU and its "
        "number are required already.",
    )


class ProvisioningRequest(Document):
    """Nodes that the cluster autoscaler adds for a whole gang, asked by Kueue."""

    provisioning_class: str = Field(
        "best-effort-atomic-scale-up.autoscaling.x-k8s.io",
        description="`provisioningClassName` of the requests, such as `queued-provisioning.gke.io`.",
    )


class Autoscaling(Document):
    """What adds nodes on demand, in detail: one of the two."""

    karpenter: Karpenter | None = Field(None, description="Karpenter, with a NodePool for the flavor.")
    provisioning_request: ProvisioningRequest | None = Field(
        None, description="The cluster autoscaler, asked by Kueue once there is quota."
    )


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
    node_names: list[str] | None = Field(
        None,
        description="Names of the nodes, `*` for any text. Default: found by `labels` or, where one flavor has the board, by product.",
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
    sharing: FlavorSharing | None = Field(None, description="GPUs handed out in shares: budgets count shares.")
    allocation: Literal["device-plugin", "dra"] = Field(
        "device-plugin",
        description="How GPUs are handed to pods: extended resources of the device plugin, or claims (dynamic resource allocation).",
    )
    topology: list[str] | None = Field(
        None, description="Node labels from wide to narrow, ending in kubernetes.io/hostname."
    )
    cpu_jobs: Literal["fence", "lend"] | None = Field(
        None,
        description="Jobs without GPUs on these nodes: `fence` keeps them out (default with a taint), `lend` lets them in.",
    )
    autoscaling: (
        Annotated[
            Annotated[Literal["karpenter", "provisioning-request"], Tag("(text)")]
            | Annotated[Autoscaling, Tag("(mapping)")],
            Discriminator(shape_of_text),
        ]
        | None
    ) = Field(
        None,
        description="What adds nodes on demand, up to `nodes`: `karpenter` or `provisioning-request`, or one of them in detail.",
    )
    price: Scalar | None = Field(None, description="Price of one GPU-hour (of one node-hour of a CPU flavor).")
