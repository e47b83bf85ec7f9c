"""The plan: what the organization comes to, in words that every scheduler shares.

All values are read-only once made. Amounts are in base units (milli-cpu, bytes, GPUs, MIG slices).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TypeAlias

from tenancy.model.document import ApiServer, Cluster, Dns, Keda, Service
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Quota, Rules
from tenancy.model.priorities import Priority
from tenancy.plan.gitops import GitOps
from tenancy.plan.nodes import FlavorNodes

Quotas: TypeAlias = Mapping[str, Mapping[str, Quota]]
"""From flavor to resource to the three promises."""

Pools: TypeAlias = Mapping[str, Mapping[str, int]]
"""From flavor to resource to an amount."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """An inner unit: a department, or a team whose projects have budgets. Only the organization has no parent."""

    name: str
    title: str
    parent: str | None
    weight: float
    quotas: Quotas
    pool: Pools
    """What it does not hand on: shared by all below it."""
    labels: Mapping[str, str]
    folder: str
    """The department whose folder it is written to; empty for the organization."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Where work waits: a team, a budgeted project, or the projects of a team that share what is left."""

    name: str
    title: str
    parent: str
    weight: float
    quotas: Quotas
    flavors: tuple[str, ...]
    """The flavors that it may reach, in the order in which they are tried: cpu first, then its own, then others."""
    rules: Rules
    state: str
    namespaces: tuple[str, ...]
    labels: Mapping[str, str]
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The subjects of one access level in a namespace."""

    level: str
    """`admin`, `member` or `viewer`."""
    subjects: tuple[str, ...]
    """As written: `group:…`, `user:…`, `serviceaccount:NAMESPACE/NAME`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """Where the pods of a namespace may connect to, beside DNS and their own team."""

    team: tuple[str, ...]
    services: tuple[Service, ...] = ()
    internet: bool = False
    api_server: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """What GPU jobs get that ask for no topology themselves."""

    mode: str
    """`required`: one place for all pods of a job, or it waits. `preferred`: as few places as can be."""
    level: str
    """The key of the node label that tells the places apart."""
    flavors: tuple[str, ...]
    """The GPU flavors within reach whose nodes have the level."""
    lacking: tuple[str, ...]
    """Those with the same resources whose nodes do not: jobs that choose one get no default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """A namespace with all that belongs to it."""

    name: str
    queue: str
    title: str
    labels: Mapping[str, str]
    own_labels: Mapping[str, str]
    annotations: Mapping[str, str]
    service_accounts: tuple[str, ...]
    grants: tuple[Grant, ...]
    isolation: Isolation
    objects: Mapping[str, int]
    """Object counts by ResourceQuota key."""
    storage: Mapping[str, int]
    """Bytes per storage class: where anything is said, every class of the organization; else nothing is bounded."""
    container: Mapping[str, int]
    """Default requests of a container, per resource."""
    topology: Topology | None
    """None where the unit says none, or nothing in the cluster looks at it."""
    priorities: tuple[str, ...]
    """The names of the priorities that its work may have, sorted."""
    borrows: bool
    """Whether its work may use GPUs beyond the unit's quota, which others then take back."""
    pod_security: str
    """The level of the Pod Security Standards that is enforced."""
    keda: bool
    """Whether its members may scale their work with KEDA."""
    most_pods: int
    """How many pods its work can ever be at once."""
    folder: str
    file: str
    """The stem of the file that it is written to: the team's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """How long the pods of a job may take to become ready, and how often the job is tried again."""

    start_timeout: timedelta
    retries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFacts:
    """What policies must know of a cluster's network."""

    dns: Dns
    api_server: ApiServer | None
    metadata: tuple[str, ...]
    cluster_ranges: tuple[str, ...]
    keda: Keda


@dataclass(frozen=True, kw_only=True)
class ClusterPlan:
    """All that one cluster gets."""

    name: str
    organization: str
    domain: str
    cluster: Cluster
    kubernetes: str
    """Minor version."""
    kueue: str
    """Minor version; empty where another scheduler runs."""
    volcano: str
    """Minor version; empty where another scheduler runs."""
    packed: bool
    """Whether jobs are packed onto nodes, and start only where these have room."""
    resources: tuple[str, ...]
    """Every resource that a flavor of the cluster has: cpu, memory, then the others by name."""
    flavors: Mapping[str, Hardware]
    nodes: Mapping[str, FlavorNodes]
    """By flavor: what its nodes carry."""
    groups: tuple[Group, ...]
    """Parents before children; the organization first."""
    queues: tuple[Queue, ...]
    namespaces: tuple[Namespace, ...]
    priorities: Mapping[str, Priority]
    """By name, sorted."""
    gang: Gang
    network: NetworkFacts
    admins: tuple[str, ...]
    auditors: tuple[str, ...]
    labels: Mapping[str, str]
    """Labels of what belongs to the organization as a whole."""
    departments: Mapping[str, str]
    """From the folder of each department to that of the top-level department around it."""
    api_shares: Mapping[str, int]
    """Shares of the API server's concurrency by top-level department with a namespace; empty where they have none."""
    gitops: GitOps | None
    """None where the organization has no engine."""

    @cached_property
    def below(self) -> Mapping[str, tuple[Group | Queue, ...]]:
        """The units right below each group, by its name."""
        found: dict[str, tuple[Group | Queue, ...]] = {}
        units: tuple[Group | Queue, ...] = (*self.groups, *self.queues)
        for unit in units:
            if unit.parent is not None:
                found[unit.parent] = (*found.get(unit.parent, ()), unit)
        return found

    @cached_property
    def flavors_of(self) -> Mapping[str, tuple[str, ...]]:
        """The flavors that each queue may reach, by its name."""
        return {queue.name: queue.flavors for queue in self.queues}

    @property
    def device_classes(self) -> Mapping[str, str]:
        """From the resources that are counted in claims, sorted, to the DeviceClass that claims name."""
        counted = (device for flavor in self.flavors.values() for device in flavor.devices if device.device_class)
        return dict(sorted((device.resource, device.device_class) for device in counted))
