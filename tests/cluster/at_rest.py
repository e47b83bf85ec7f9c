"""A cluster at rest as plain values: what units are promised, what flavors have, and what jobs hold or wait for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tenancy.plan.values import Quotas
from tests.kueue_model import QUEUE, Cell, Node, Tree

Amounts: TypeAlias = Mapping[str, int]
"""By resource, in base units."""
Books: TypeAlias = Mapping[str, Mapping[Cell, int]]
"""What each ClusterQueue has, by cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What the organization promises a unit. Only a queue's rules count."""

    title: str
    parent: Node | None
    quotas: Quotas
    active: bool = True
    strict: bool = False
    reclaims: bool = True
    """Whether lent quota comes back whatever the priorities are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavor:
    """A flavor as it stands: one node as jobs find it empty, and what is free on each."""

    capacity: Amounts
    """Without spare nodes."""
    mains: frozenset[str]
    """What its nodes are asked for: GPUs, slices, or the cpu of a CPU flavor; cpu and memory beside GPUs have slack."""
    fenced: bool
    node: Amounts
    free: tuple[Amounts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A Workload of one pod set."""

    uid: str
    name: str
    queue: str
    pods: int
    pod: Amounts
    flavor: str = ""
    """Where Kueue admitted it; empty while it waits."""
    bound: int = 0
    """Pods that run on nodes of the flavor."""

    @property
    def wants(self) -> Amounts:
        """What all its pods request."""
        return {resource: count * self.pods for resource, count in self.pod.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A cluster at rest."""

    units: Mapping[Node, Unit]
    flavors: Mapping[str, Flavor]
    tree: Tree
    """The live Cohorts and ClusterQueues."""
    reserved: Books
    """ClusterQueue.status.flavorsReservation."""
    jobs: tuple[Job, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Eviction:
    """A job of one queue was evicted for a job of another."""

    victim: str
    preemptor: str
    flavors: tuple[str, ...]
    """Where the preemptor could land."""


def landing(state: State, job: Job) -> list[str]:
    """The flavors where a job may land: those that its queue lists, less those that are fenced off from it."""
    listed = {flavor for flavor, _ in state.tree.quotas[QUEUE, job.queue]}
    return [
        name
        for name, flavor in state.flavors.items()
        if name in listed
        and job.pod.keys() <= flavor.node.keys()
        and (not flavor.fenced or job.pod.keys() & flavor.mains)
    ]
