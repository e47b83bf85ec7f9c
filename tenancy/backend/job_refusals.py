"""Why a job can never be admitted, beside its size, and what would be admitted instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from tenancy.backend.job_priority import Author, interruptible, priorities
from tenancy.backend.job_request import Job, NoSuchJob, offering, request
from tenancy.backend.job_shape import shapes
from tenancy.backend.waiting import Request, Waiting, nodes
from tenancy.model.hardware import GPUS, HOSTNAME, Hardware
from tenancy.plan.values import ClusterPlan, Namespace, Queue, Topology

_ANY: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the cluster would do with such a job, and what to write instead."""

    why: str
    ways: tuple[str, ...]


def refusal(
    cluster: ClusterPlan,
    kind: str,
    flavor: Hardware,
    asked: Request,
    home: Namespace,
    topology: Topology | None,
    author: Author,
) -> Refusal | None:
    """Why a job that quotas let run is never admitted all the same, by its kind, place and priority."""
    found = _of_reach(cluster, flavor, asked, home) or _of_priority(cluster, asked, home, author)
    found = found or _of_place(flavor, asked, topology)
    return found or (_of_train_job(flavor, asked) if kind == "trainjob" else None)


def ways(cluster: ClusterPlan, waiting: Waiting, queue: Queue, whole: Job, namespace: str) -> tuple[str, ...]:
    """Options of a job that runs in place of one that does not: other nodes, other pods, the nearest size."""

    def runs(job: Job) -> Job | None:
        """The first shape of a whole job that runs, if one does."""
        try:
            found = shapes(cluster, queue, job)
        except NoSuchJob:
            return None
        asked = ((each, request(cluster, queue, each, namespace)) for each in found)
        return next((each for each, job in asked if waiting.verdict(cluster, queue.name, job).runs), None)

    elsewhere = (name for name in queue.flavors if name != whole.flavor and runs(replace(whole, flavor=name)))
    larger = (job for job in _whole_nodes(cluster, queue, whole) if runs(job))
    smaller = (job for job in _smaller(cluster, queue, whole) if runs(job))
    divides = whole.pods is not None and (whole.gpus is not None or whole.profile is not None)
    divided = runs(replace(whole, pods=None)) if divides else None
    return (
        *(f"--flavor {name}" for name in elsewhere),
        *([f"--pods {divided.pods}"] if divided is not None else []),
        *(_options(job) for job in (next(larger, None), next(smaller, None)) if job is not None),
    )


def _of_reach(cluster: ClusterPlan, flavor: Hardware, asked: Request, home: Namespace) -> Refusal | None:
    """Nodes of others, to which a batch scheduler would bring nothing: without one a job may come there if it names
    none of them."""
    reach = cluster.flavors_of[home.queue]
    if flavor.name in reach or cluster.cluster.guards.placement != "deny":
        return None
    if not asked.flavor and not any(taint.keeps_out for taint in flavor.taints):
        return None
    return Refusal(
        f"no node of {flavor.name} is for the unit, and the admission policy refuses work that names one",
        tuple(f"--flavor {name}" for name in reach),
    )


def _of_priority(cluster: ClusterPlan, asked: Request, home: Namespace, author: Author) -> Refusal | None:
    guards, own = cluster.cluster.guards, home.priorities
    if author.priority and author.priority not in own and guards.priorities == "deny":
        instead = tuple(f"--priority {name}" for name in own) or ("no --priority: the unit has none",)
        return Refusal(
            f"priority {author.priority} is not one of the unit's, and the admission policy refuses it", instead
        )
    if guards.interruption != "deny" or not interruptible(cluster, home, asked):
        return None
    offered = priorities(cluster, home, asked)
    if offered and author.priority in ("", *offered):
        return None
    named = tuple(f"--priority {name}" for name in offered)
    return Refusal(
        f"{_unprepared(author.priority, own)}, and the owners of what the unit borrows take it back by interrupting; "
        "the admission policy refuses it",
        (
            *named,
            "`borrowing: none` for the unit, or for a project of it with a budget of its own",
            *(() if named else ("a `preemptible` priority among those of the unit",)),
        ),
    )


def _unprepared(priority: str, own: tuple[str, ...]) -> str:
    """What is wrong with a priority, or with all that the unit has."""
    if not priority and not own:
        return "the unit has no priority that says how its jobs are interrupted"
    which = f"priority {priority}" if priority else "every priority of the unit"
    return f"{which} is for work that should not be interrupted"


def _of_place(flavor: Hardware, asked: Request, topology: Topology | None) -> Refusal | None:
    """A default that keeps all pods on one node. How many nodes a rack or a block has the organization does not say."""
    if topology is None or topology.mode != "required" or topology.level != HOSTNAME:
        return None
    if flavor.name not in topology.flavors or asked.pods == 1:
        return None
    fit = max(_fit(node, asked.pod) for _, node in nodes(flavor))
    if fit >= asked.pods:
        return None
    return Refusal(
        f"the unit's topology is `required {HOSTNAME}`, and a node of {flavor.name} has place for {fit} of its pods",
        ("fewer pods", "`topology: preferred host` for the unit"),
    )


def _fit(node: Mapping[str, int], pod: Mapping[str, int]) -> int:
    """How many such pods a node has place for; as many as one likes of those that ask for nothing."""
    return min((node.get(name, 0) // count for name, count in pod.items() if count), default=_ANY)


def _places(flavor: Hardware, pod: Mapping[str, int]) -> int:
    """How many such pods all nodes of a flavor have place for."""
    return sum(count * _fit(node, pod) for count, node in nodes(flavor))


def _of_train_job(flavor: Hardware, asked: Request) -> Refusal | None:
    """Its pods are those of a runtime, of which it may change little (PodSpecPatch of Trainer 2.2)."""
    if flavor.claimed and asked.pod.keys() & {device.resource for device in flavor.devices}:
        return Refusal(f"a TrainJob cannot claim the GPUs of {flavor.name}: its runtime does", ("--framework jobset",))
    return None


def _smaller(cluster: ClusterPlan, queue: Queue, whole: Job) -> Iterator[Job]:
    """The same pods, but fewer of them: as many as there are places for at most."""
    each = shapes(cluster, queue, whole)[0]
    asked = request(cluster, queue, each)
    places = max(_places(flavor, asked.pod) for flavor in cluster.flavors.values())
    for pods in range(min((each.pods or 1) - 1, places), 0, -1):
        yield replace(whole, pods=pods, gpus=each.gpus * pods if each.gpus is not None else None)


def _whole_nodes(cluster: ClusterPlan, queue: Queue, whole: Job) -> Iterator[Job]:
    """As many GPUs as the whole nodes have that hold them."""
    if whole.gpus is None or whole.profile is not None:
        return
    for flavor in offering(cluster, queue, whole, GPUS):
        node = flavor.steps[flavor.names[GPUS]]
        if flavor.whole_nodes and whole.gpus % node:
            yield replace(whole, gpus=whole.gpus + -whole.gpus % node, pods=None)


def _options(job: Job) -> str:
    gpus = f"--gpus {job.gpus}" if job.gpus is not None else ""
    return " ".join(each for each in (gpus, f"--pods {job.pods}" if job.pods is not None else "") if each)
