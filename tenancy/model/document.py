"""The language: what may be written under org/, as pydantic models.

The JSON Schema for editors and the reference in docs/ are generated from these models, so every field says what it means.
The models fix shapes only: names, references, quantities and laws are judged by `tenancy.check`, which can point at them.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, PlainValidator, Tag, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

API_VERSION = "tenancy/v1alpha1"
TRIPLE = ("reserved", "quota", "limit")
NODE_RESOURCES = ("gpus", "cpu", "memory")


def _scalar(value: Any) -> str | int | float:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    raise PydanticCustomError("scalar_type", "Input should be a number or a quantity such as 64Gi")


Scalar: TypeAlias = Annotated[
    Any,
    PlainValidator(_scalar),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}),
]
"""A quantity as written: a number or a text such as `64Gi` or `500m`; `tenancy.check.quantities` judges it."""

Amounts: TypeAlias = dict[str, Scalar]


def _shape_of_amount(value: Any) -> str:
    return "(amounts)" if isinstance(value, Mapping) else "(amount)"


def _shape_of_entry(value: Any) -> str:
    if not isinstance(value, Mapping):
        return "(amount)"
    keys = [key for key in value if isinstance(key, str)]
    if any(key in TRIPLE for key in keys):
        return "(triple)"
    misspelt = any(key not in NODE_RESOURCES and get_close_matches(key, TRIPLE, 1, 0.7) for key in keys)
    return "(triple)" if misspelt else "(amounts)"


def _shape_of_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "(mapping)"
    return "(list)" if isinstance(value, list) else "(text)"


Amount: TypeAlias = Annotated[
    Annotated[Scalar, Tag("(amount)")] | Annotated[Amounts, Tag("(amounts)")], Discriminator(_shape_of_amount)
]


class Document(BaseModel):
    """What all parts of the language share: no unknown keys, no silent conversions, read-only once parsed."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        alias_generator=to_camel,
        validate_by_name=False,
        protected_namespaces=(),
    )


class Triple(Document):
    """The three promises of a budget entry: reserved ≤ quota ≤ limit."""

    reserved: Amount | None = Field(
        None,
        description="Never lent: free the moment the unit asks. Default 0 for a team, the children's sum otherwise.",
    )
    quota: Amount | None = Field(
        None,
        description="The unit's own: lent when idle, taken back on demand. `share` splits what the siblings leave by weight.",
    )
    limit: Amount | None = Field(
        None,
        description="Never more than this, borrowing included. Default: what the ancestors and `policy.borrowing` allow.",
    )


BudgetEntry: TypeAlias = Annotated[
    Annotated[Scalar, Tag("(amount)")] | Annotated[Amounts, Tag("(amounts)")] | Annotated[Triple, Tag("(triple)")],
    Discriminator(_shape_of_entry),
]


class Versions(Document):
    """Versions of the components of a cluster; they pick API versions and rules."""

    kubernetes: str | None = Field(None, description='Kubernetes minor version, quoted: "1.36".')
    kueue: str | None = Field(None, description='Kueue minor version, quoted: "0.19".')
    volcano: str | None = Field(None, description='Volcano minor version, quoted: "1.15".')


class Cluster(Document):
    """One Kubernetes cluster."""

    scheduler: Literal["kueue", "volcano", "native"] = Field(
        "kueue", description="The backend that keeps the promises."
    )
    versions: Versions = Field(Versions(), description="Component versions.")
    destination: dict[str, str] | None = Field(None, description="Argo CD destination (`name` or `server`).")
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
        Annotated[Annotated[str, Tag("(text)")] | Annotated[CustomGpu, Tag("(mapping)")], Discriminator(_shape_of_text)]
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
            Discriminator(_shape_of_text),
        ]
        | None
    ) = Field(
        None,
        description="MIG layout of every GPU, profile to count; or a list of layouts with `gpus:` (of a node) or `nodes:` each.",
    )
    sharing: FlavorSharing | None = Field(None, description="GPUs handed out in shares.")
    allocation: Literal["device-plugin", "dra"] = Field("device-plugin", description="How GPUs are handed to pods.")
    topology: list[str] | None = Field(
        None, description="Node labels from wide to narrow, ending in kubernetes.io/hostname."
    )
    cpu_jobs: Literal["fence", "lend"] | None = Field(
        None,
        description="Jobs without GPUs on these nodes: `fence` keeps them out (default with a taint), `lend` lets them in.",
    )
    autoscaling: Literal["karpenter", "provisioning-request"] | None = Field(
        None, description="What adds nodes on demand."
    )
    price: Scalar | None = Field(None, description="Price of one GPU-hour (of one node-hour of a CPU flavor).")


class Gang(Document):
    """What happens to a job whose pods do not all start. One setting for a cluster."""

    start_timeout: str = Field(
        "10m", description="How long all pods of a job may take to become ready, as `10m` or `1h30m`."
    )
    retries: int = Field(5, ge=0, description="How often the job is requeued before it is put aside.")


class Policy(Document):
    """How idle quota is used and taken back. Each key may be overridden by a department, a team or a project."""

    borrowing: Literal["organization", "department", "none"] | None = Field(
        None, description="How far idle quota may be used (organization)."
    )
    reclaim: Literal["any", "lower-priority", "never"] | None = Field(
        None, description="Whose jobs an owner may evict to get lent quota back (any)."
    )
    preemption: Literal["lower-priority", "lower-or-newer-equal", "never"] | None = Field(
        None, description="Whose jobs a job may evict inside its own queue (lower-priority)."
    )
    borrowing_preemption: Literal["never", "lower-priority"] | None = Field(
        None,
        description="Whether a job that would borrow may evict borrowers of lower priority (never). Needs `sharing: first-come`.",
    )
    queueing: Literal["best-effort", "strict"] | None = Field(
        None, description="Whether smaller jobs may pass a job that does not fit (best-effort)."
    )
    gang: Gang | None = Field(None, description="When a job's pods do not all start. At the organization only.")


class Access(Document):
    """Who may do what. Subjects are `group:NAME`, `user:NAME` or `serviceaccount:NAMESPACE/NAME`."""

    admins: list[str] = Field(
        [], description="May do what members may, and manage configuration, secrets and service accounts."
    )
    members: list[str] = Field([], description="May submit, watch and delete jobs.")
    viewers: list[str] = Field([], description="May look, but read no secrets.")
    service_accounts: list[str] = Field(
        [], description="Service accounts made in each namespace, with the rights of members."
    )


class PlatformAccess(Document):
    """Platform staff."""

    admins: list[str] = Field([], description="May change queues, quotas and policies.")
    auditors: list[str] = Field([], description="May read everything but secrets.")


class Egress(Document):
    """Where the pods of a unit may connect to, beside their team and DNS."""

    internet: bool | None = Field(None, description="Addresses outside the cluster's own ranges (false).")
    api_server: bool | None = Field(
        None, description="The Kubernetes API server (false); needs `network.apiServer` of the organization."
    )
    services: list[str] = Field(
        [], description="Shared services by NAME, or NAMESPACE/APP:PORT for pods labelled app.kubernetes.io/name=APP."
    )


class UnitNetwork(Document):
    """Network isolation of a unit; what ancestors allow is allowed too."""

    egress: Egress = Field(Egress(), description="Outgoing connections.")


class Service(Document):
    """A shared service that units may name."""

    namespace: str | None = Field(None, description="Namespace of its pods.")
    pods: dict[str, str] | None = Field(None, description="Labels of its pods.")
    cidr: str | None = Field(None, description="Or its address range.")
    ports: list[int] = Field(description="TCP ports.", min_length=1)


class Dns(Document):
    """Where the cluster's DNS answers."""

    namespace: str = Field("kube-system", description="Namespace of the DNS pods.")
    pods: dict[str, str] = Field({"k8s-app": "kube-dns"}, description="Labels of the DNS pods.")
    port: int = Field(53, ge=1, le=65535, description="Port that the pods listen on, UDP and TCP.")
    node_local: str | None = Field(
        "169.254.20.10", description="Address of the node-local cache; null where there is none."
    )


class ApiServer(Document):
    """Where the Kubernetes API server answers, as pods see it after address translation."""

    cidrs: list[str] = Field(description="Address ranges of the API server.", min_length=1)
    port: int = Field(6443, ge=1, le=65535, description="Its port.")


class Network(Document):
    """Facts about the clusters' networks."""

    services: dict[str, Service] = Field({}, description="Shared services by name.")
    dns: Dns = Field(Dns(), description="The cluster's DNS.")
    api_server: ApiServer | None = Field(None, description="The API server's addresses.")
    metadata: list[str] = Field(
        ["169.254.169.254/32"], description="Addresses of the cloud's metadata service: never reachable."
    )
    cluster_ranges: list[str] = Field(
        ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"],
        description="Ranges of nodes, pods and services: not part of the internet.",
    )


class GitOps(Document):
    """Where out/ lives."""

    engine: Literal["argocd", "flux"] = Field("argocd", description="The engine that syncs out/.")
    repo: str = Field(description="URL of the repository.")
    branch: str = Field("main", description="Branch.")
    path: str = Field("out", description="Folder of the output inside the repository.")


class Limits(Document):
    """Object counts and container defaults where the built-in ones do not fit."""

    objects: dict[str, Scalar] = Field(
        {}, description="Object-count quotas of each namespace, such as `pods: 2000` or `count/jobs.batch: 500`."
    )
    container: dict[str, Scalar] = Field(
        {}, description="Default requests of a container that names none, such as `cpu: 2`."
    )


class Unit(Document):
    """What every unit may say."""

    display_name: str | None = Field(None, description="Name for people.")
    cost_center: str | None = Field(None, description="Cost centre, for reports.")
    owner: str | None = Field(None, description="Who answers for the unit.")
    weight: float = Field(1, ge=0, description="Share of what is idle, among siblings (1).")
    budget: dict[str, BudgetEntry] = Field(
        {}, description="Per flavor: an amount (the quota), or reserved, quota and limit."
    )
    policy: Policy = Field(Policy(), description="Overrides of the organization's policy, for this unit and below.")
    access: Access = Field(Access(), description="People and service accounts of this unit and below.")
    network: UnitNetwork = Field(UnitNetwork(), description="Network isolation.")
    storage: dict[str, Scalar] = Field({}, description="Storage per class, summed like budgets.")
    priorities: list[str] | None = Field(None, description="The priorities its jobs may use (all).")
    topology: str | None = Field(
        None, description="`required LEVEL` or `preferred LEVEL`: default of its job templates."
    )
    limits: Limits = Field(Limits(), description="Object counts and container defaults.")
    labels: dict[str, str] = Field({}, description="Labels of its namespaces.")
    annotations: dict[str, str] = Field({}, description="Annotations of its namespaces.")
    state: Literal["active", "held", "draining"] = Field(
        "active", description="`held` admits nothing new; `draining` also ends what runs."
    )
    expires: str | None = Field(None, description="Last day of an ephemeral unit, as 2027-03-31.")


class Project(Unit):
    """A namespace of a team; with a budget it has a queue of its own."""

    namespace: str | None = Field(None, description="Name of the namespace. Default: the path joined by `-`.")


class Team(Unit):
    """Where work runs."""

    projects: dict[str, Project] = Field(
        {}, description="Namespaces of the team. Without any, the team has one of its own."
    )
    namespace: str | None = Field(None, description="Name of the team's namespace. Default: the path joined by `-`.")


class Department(Unit):
    """A department: teams and departments under one budget."""

    departments: dict[str, Department] = Field({}, description="Departments inside this one.")
    teams: dict[str, Team] = Field({}, description="Teams of this department.")


class Organization(Document):
    """The root of org/org.yaml."""

    api_version: Literal["tenancy/v1alpha1"] = Field(description="Version of the language.")
    kind: Literal["Organization"] = Field(description="What this document is.")
    name: str = Field(description="Name of the organization: the root of the queues.")
    display_name: str | None = Field(None, description="Name for people.")
    domain: str = Field("tenancy.internal", description="Prefix of every label and annotation.")
    clusters: dict[str, Cluster] = Field(description="Clusters by name.", json_schema_extra={"minProperties": 1})
    flavors: dict[str, Flavor] = Field(description="Kinds of nodes by name.", json_schema_extra={"minProperties": 1})
    priorities: dict[str, int] = Field({}, description="Priorities by name; a higher value goes first.")
    policy: Policy = Field(Policy(), description="Defaults of all units.")
    departments: dict[str, Department] = Field(description="Departments by name.")
    access: PlatformAccess = Field(PlatformAccess(), description="Platform staff.")
    network: Network = Field(Network(), description="Facts about the clusters' networks.")
    gitops: GitOps | None = Field(None, description="Where out/ lives; without it no Argo CD objects are written.")


class DepartmentReference(Document):
    """In org.yaml: the department is defined in a file of its own."""

    file: str = Field(description="Path of the file, relative to org.yaml.")


class Departments(Document):
    """A file under org/departments/ that adds departments."""

    api_version: Literal["tenancy/v1alpha1"] = Field(description="Version of the language.")
    kind: Literal["Departments"] = Field(description="What this document is.")
    parent: str | None = Field(
        None, description="Path of the department these are inside, joined by `/`. Absent: top level."
    )
    departments: dict[str, Department] = Field(description="Departments by name.")
