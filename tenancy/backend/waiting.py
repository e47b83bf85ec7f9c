"""What becomes of a job, in words that every scheduler shares: `tenancy explain` asks, each backend's `waiting` says.

What is used at the moment is not known here: a verdict holds for a cluster whose nodes are all there, and says what the
job can come to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tenancy.model.hardware import CPU, MEMORY, Hardware, Taint, tolerated
from tenancy.model.organization import Quota
from tenancy.plan.values import ClusterPlan, Group, Queue, Topology

Outcome: TypeAlias = Literal["reserved", "quota", "borrows", "never"]
"""The weakest promise that the job needs: what is never lent, what is its own, or what others leave idle."""

Cause: TypeAlias = Literal[
    "", "stopped", "whole-nodes", "shares", "resource", "selector", "taint", "capacity", "part", "topology", "nodes"
]
"""Why it never runs: the unit is stopped; the API server refuses parts of a node, or several shares for one container;
no flavor of the unit has the resource; none has the labels; a taint; more than the unit can come to (`part`: pods of it
start all the same); no node is large enough, or there are too few (`topology`: the scheduler says so and starts
nothing; `nodes`: pods are made that never start)."""

WHOLE_NODES: Final = "These GPUs are given out in whole nodes"
"""How the refusal of the admission policy begins (`tenancy.backend.shared.whole_nodes`)."""
SHARES: Final = "These GPUs are handed out in shares"
"""How that of the other one begins (`tenancy.backend.shared.shares`)."""

_NOTHING: Final = Quota(0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A job: equal pods that start together."""

    pod: Mapping[str, int]
    """What one pod requests, by resource name, in base units."""
    pods: int = 1
    flavor: str = ""
    """The flavor whose node labels the pods select; empty: they select none."""
    tolerates: bool = True
    """Whether the pods tolerate the fenced flavors that have the GPUs they ask for, as pods do to which the admission
    policy (from Kubernetes 1.36 on) or a job template gives the tolerations."""
    namespace: str = ""
    """Where it is submitted; empty: in that of the unit which has the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What becomes of a job."""

    outcome: Outcome
    flavor: str = ""
    """Where it runs; of one that never does, the flavor that comes nearest. Empty where no flavor does."""
    message: str = ""
    """Of a job that never runs: what the scheduler or the API server says of it, as far as that is certain. Empty where
    it runs, and where pods are made that never start without a word."""
    cause: Cause = ""
    waits: str = ""
    """Of a job that runs: what is said while others, or its own team, use what it needs."""
    fragmented: str = ""
    """Of a job whose pods may find no node though the GPUs are free: what is said while it waits for place. Empty where
    that cannot be."""
    queue: str = ""
    """The queue that its author must name for this flavor; empty where nothing is to be named."""
    started: int = 0
    """Of a job of which only some pods start: how many."""

    @property
    def runs(self) -> bool:
        """Whether it can run at all."""
        return self.outcome != "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How a scheduler deals with jobs."""

    verdict: Callable[[ClusterPlan, str, Request], Verdict]
    """What becomes of a job in the queue of a name. Raises `KeyError` for one that the cluster does not have."""
    reach: Callable[[ClusterPlan, Group | Queue, str, str], int]
    """The most of a flavor's resource that a unit can use while all others stand idle."""
    queues: Callable[[ClusterPlan, Queue], tuple[str, ...]]
    """What a queue of the plan is called in the cluster: one name for each flavor where the scheduler has it so."""
    lends: bool = True
    """Whether what stands idle may be used by others."""
    weighs: bool = False
    """Whether `sharing: weighted` has an effect."""
    injects: bool = False
    """Whether the scheduler gives jobs the tolerations of flavors without a fence."""
    parts: Callable[[ClusterPlan, Queue], Mapping[str, Mapping[str, int]]] | None = None
    """What each namespace of a unit may use, where they cannot share it."""
    asking: Callable[[ClusterPlan, Topology, str], str] | None = None
    """What a job writes to ask for a topology on a flavor; None where the scheduler looks at none."""


def queue_of(cluster: ClusterPlan, name: str) -> Queue:
    """The queue of a name. Raises `KeyError` where the cluster has none."""
    found = next((queue for queue in cluster.queues if queue.name == name), None)
    if found is None:
        raise KeyError(name)
    return found


def quota_of(unit: Group | Queue, flavor: str, resource: str) -> Quota:
    """The promises of a unit; nothing where it has none."""
    return unit.quotas.get(flavor, {}).get(resource, _NOTHING)


def within_limits(cluster: ClusterPlan, unit: Group | Queue, flavor: str, resource: str) -> int:
    """What limits leave to a unit while all others stand idle: on every level its own, less what siblings reserve."""
    own = quota_of(unit, flavor, resource)
    if unit.parent is None:
        return own.limit
    above = next(group for group in cluster.groups if group.name == unit.parent)
    siblings = sum(quota_of(child, flavor, resource).reserved for child in cluster.below.get(above.name, ()))
    left = within_limits(cluster, above, flavor, resource) - (siblings - own.reserved)
    return max(own.quota, min(own.limit, left))


def promise(queue: Queue, flavor: str, total: Mapping[str, int]) -> Outcome:
    """The weakest promise that one of the resources needs."""
    quotas = {resource: quota_of(queue, flavor, resource) for resource in total}
    if all(count <= quotas[resource].reserved for resource, count in total.items()):
        return "reserved"
    return "quota" if all(count <= quotas[resource].quota for resource, count in total.items()) else "borrows"


def room(flavor: Hardware, wanted: Mapping[str, int]) -> int:
    """How many such pods the nodes of the flavor hold while they are empty."""
    return sum(
        count * min((node.get(resource, 0) // amount for resource, amount in wanted.items()), default=count)
        for count, node in nodes(flavor)
    )


def nodes(flavor: Hardware) -> Iterator[tuple[int, dict[str, int]]]:
    """Kinds of nodes of the flavor: how many there are, and what jobs can use of one, by resource name."""
    base = {CPU: flavor.node[CPU], MEMORY: flavor.node[MEMORY]}
    for kind in flavor.kinds:
        yield kind.nodes, {**base, **flavor.offers(kind)}


def untolerated(cluster: ClusterPlan, flavor: Hardware, request: Request) -> Taint | None:
    """The first taint of a fenced flavor that the pods do not tolerate. No policy sees what they claim, so that pods
    with claims get the tolerations of all flavors that are allocated so."""
    if not flavor.fenced:
        return None
    asked = {name for name, count in request.pod.items() if count}
    asked |= set(cluster.device_classes) if asked & set(cluster.device_classes) else set()
    offering = [each for each in cluster.flavors.values() if each.gpu and each.fenced and asked & set(each.mains)]
    given = [taint for each in offering for taint in each.taints] if request.tolerates else []
    hard = (taint for taint in flavor.taints if taint.keeps_out)
    return next((taint for taint in hard if not any(tolerated(taint, each) for each in given)), None)


def refused(cluster: ClusterPlan, queue: Queue, request: Request) -> Verdict | None:
    """What an admission policy says to pods with so many of the GPU resources; None where it lets them in.

    A pod is taken for one of a single container: each of several could have a share of its own.
    """
    wanted = {resource: count for resource, count in request.pod.items() if count}
    if any(_parts(cluster, queue, resource, count) for resource, count in wanted.items()):
        return Verdict(outcome="never", cause="whole-nodes", message=WHOLE_NODES, flavor=request.flavor)
    several = [resource for resource, count in wanted.items() if count > 1]
    sharing = [flavor for flavor in cluster.flavors.values() if flavor.shares > 1 and {*flavor.mains} & {*several}]
    if sharing:
        return Verdict(outcome="never", cause="shares", message=SHARES, flavor=request.flavor)
    return None


def _parts(cluster: ClusterPlan, queue: Queue, resource: str, count: int) -> bool:
    """Whether so many GPUs are no whole nodes of any flavor of the queue, and it has them in whole nodes only."""
    offers = [flavor for name in queue.flavors if (flavor := cluster.flavors[name]).gpu and resource in flavor.mains]
    sizes = {flavor.steps[resource] for flavor in offers}
    return bool(offers) and all(flavor.whole_nodes for flavor in offers) and count not in sizes


def scatters(flavor: Hardware, wanted: Mapping[str, int]) -> bool:
    """Whether pods may find no node with enough free GPUs although as many are free."""
    mains = [wanted[main] for main in flavor.mains if main in wanted]
    return flavor.gpu is not None and not flavor.whole_nodes and max(mains, default=0) > 1


def main_of(resources: Iterable[str]) -> str:
    """The resource that a job is about: a GPU before cpu and memory."""
    return next((name for name in sorted(resources) if name not in (CPU, MEMORY)), min(resources, default=CPU))
