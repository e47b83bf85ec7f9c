"""The language: what may be written under org/, as pydantic models.

The JSON Schema for editors and the reference in docs/ are generated from these models, so every field says what it means.
The models fix shapes only: names, references, quantities and laws are judged by `tenancy.check`, which can point at them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tenancy.model.document_base import (
    API_VERSION,
    NODE_RESOURCES,
    TRIPLE,
    Amount,
    Amounts,
    BudgetEntry,
    Document,
    Scalar,
    Triple,
)
from tenancy.model.document_guards import Guards, PodSecurity, Priority, PriorityEntry, Telemetry
from tenancy.model.document_hardware import (
    Autoscaling,
    Cluster,
    CpuAndMemory,
    CustomGpu,
    Destination,
    Flavor,
    FlavorSharing,
    GpuOperator,
    Karpenter,
    NodeClass,
    NodeSize,
    ProvisioningRequest,
    Versions,
)
from tenancy.model.document_network import ApiServer, Dns, Egress, Keda, Network, Service, UnitNetwork

__all__ = [
    "API_VERSION",
    "NODE_RESOURCES",
    "TRIPLE",
    "Access",
    "Amount",
    "Amounts",
    "ApiServer",
    "Autoscaling",
    "BudgetEntry",
    "Cluster",
    "CpuAndMemory",
    "CustomGpu",
    "Department",
    "DepartmentReference",
    "Departments",
    "Destination",
    "Dns",
    "Document",
    "Egress",
    "Flavor",
    "FlavorSharing",
    "Gang",
    "GitOps",
    "GpuOperator",
    "Guards",
    "Karpenter",
    "Keda",
    "Limits",
    "Network",
    "NodeClass",
    "NodeSize",
    "Organization",
    "PlatformAccess",
    "PodSecurity",
    "Policy",
    "Priority",
    "PriorityEntry",
    "Project",
    "ProvisioningRequest",
    "Scalar",
    "Service",
    "Team",
    "Telemetry",
    "Triple",
    "Unit",
    "UnitNetwork",
    "Versions",
]


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


class GitOps(Document):
    """Where out/ lives."""

    engine: Literal["argocd", "flux"] = Field("argocd", description="The engine that syncs out/.")
    repo: str = Field(description="URL of the repository, without credentials.")
    branch: str = Field("main", description="Branch.")
    path: str = Field("out", description="Folder of the output inside the repository.")
    namespace: str | None = Field(
        None, description="Namespace in which the engine runs. Default: `argocd` or `flux-system`."
    )
    tenant_repos: list[str] | None = Field(
        None,
        description="Repositories from which teams may deploy into their own namespaces with Argo CD, `*` for any part "
        "of a URL. Without it there are no projects for them.",
    )


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
    weight: float = Field(
        1, ge=0, le=1_000_000_000, allow_inf_nan=False, description="Share of what is idle, among siblings (1)."
    )
    budget: dict[str, BudgetEntry] = Field(
        {}, description="Per flavor: an amount (the quota), or reserved, quota and limit."
    )
    policy: Policy = Field(Policy(), description="Overrides of the organization's policy, for this unit and below.")
    access: Access = Field(Access(), description="People and service accounts of this unit and below.")
    network: UnitNetwork = Field(UnitNetwork(), description="Network isolation.")
    storage: dict[str, Scalar] = Field({}, description="Storage per class, summed like budgets.")
    priorities: list[str] | None = Field(
        None, description="The priorities that its jobs may have. Default: those of the unit above, in the end all."
    )
    pod_security: PodSecurity | None = Field(
        None, description="What its pods may ask of the host. Default: as the unit above, in the end `baseline`."
    )
    topology: str | None = Field(
        None,
        description="`required LEVEL` or `preferred LEVEL`: what its GPU jobs get that ask for no topology themselves.",
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
    autoscaling: Literal["keda"] | None = Field(
        None, description="`keda`: its members may scale their work with KEDA, within its queue's limit."
    )


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
    priorities: dict[str, PriorityEntry] = Field(
        {}, description="Priorities by name: a value, of which a higher one goes first, or what else there is to say."
    )
    policy: Policy = Field(Policy(), description="Defaults of all units.")
    departments: dict[str, Department] = Field(description="Departments by name.")
    access: PlatformAccess = Field(PlatformAccess(), description="Who runs the platform, and who audits it.")
    network: Network = Field(
        Network(), description="Shared services and what policies must know of the clusters' networks."
    )
    gitops: GitOps | None = Field(None, description="Where out/ lives; without it no objects of an engine are written.")


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
