"""Explain a unit: its numbers, what it can reach, who lends and takes back, and what becomes of a job."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import click

from tenancy.backend import CODES, WAITING
from tenancy.backend.shared.admission import mutates
from tenancy.backend.waiting import Request, Waiting, quota_of
from tenancy.commands.findings import show, status, width
from tenancy.commands.status import Status
from tenancy.commands.where import organization
from tenancy.model.hardware import CPU, GPUS, MEMORY, Hardware
from tenancy.model.organization import Node, Org
from tenancy.model.quantity import QuantityError, parse
from tenancy.model.reach import queue_node
from tenancy.pipeline import Options, examine
from tenancy.plan import plan
from tenancy.plan.topology import default_topology
from tenancy.plan.values import ClusterPlan, Group, Queue
from tenancy.report import explain as view
from tenancy.report.explain import Answer, Explanation, Fragmentation, Lender, Loan, Pool, Promise, Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What was asked about: per pod GPUs (or slices of a MIG profile), cpu and memory, and how many pods."""

    gpus: int | None = None
    pods: int | None = None
    flavor: str | None = None
    profile: str | None = None
    cpu: str | None = None
    memory: str | None = None

    @property
    def asked(self) -> bool:
        """Whether there is a job; a flavor alone narrows what is shown."""
        return any(value is not None for value in (self.gpus, self.profile, self.cpu, self.memory))


def explain(unit: str, org: Path | None, job: Job, *, format_: str) -> Status:
    """Print what the organization comes to for one unit; errors of the organization are shown instead.

    What a scheduler does not keep is no error here: it is what there is to explain.
    """
    if job.pods is not None and not job.asked:
        raise click.UsageError("--pods needs a job: --gpus N, or --cpu and --memory")
    found = examine(organization(org), Options(accepted=CODES))
    show(found, "text", stream=sys.stderr, quiet=True)
    result = status(found.diagnostics)
    if result is not Status.CLEAN or found.org is None:
        return result
    node = _unit(found.org, unit)
    if job.flavor is not None:
        _known(job.flavor, list(found.org.flavors), "flavor")
    explanations = [
        _explained(found.org, cluster, node, job)
        for cluster in found.plans or plan(found.org)
        if _concerns(found.org, cluster, node, job)
    ]
    if not explanations:
        raise click.UsageError(f"{node.title or node.name} has no queue in the cluster of flavor {job.flavor!r}")
    shown = view.json(explanations) if format_ == "json" else view.text(explanations, width(sys.stdout))
    click.echo(shown, nl=False)
    return Status.CLEAN


def _unit(org: Org, given: str) -> Node:
    """The unit of a path, or of the name of its queue; the organization by its own name."""
    named = {**{node.queue: node for node in org.units}, **{node.title: node for node in org.units}}
    named.setdefault(org.document.name, org.root)
    _known(given.strip("/"), list(named), "unit")
    return named[given.strip("/")]


def _known(given: str, names: list[str], what: str) -> None:
    if given not in names:
        near = get_close_matches(given, names, 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(sorted(names)[:8])}"
        raise click.UsageError(f"no {what} {given!r} in the organization; {hint}")


def _concerns(org: Org, cluster: ClusterPlan, node: Node, job: Job) -> bool:
    here = job.flavor is None or org.flavors[job.flavor].cluster == cluster.name
    return here and cluster.name in node.clusters


def _explained(org: Org, cluster: ClusterPlan, node: Node, job: Job) -> Explanation:
    waiting = WAITING[cluster.cluster.scheduler]
    queue = _queue(cluster, node)
    held: Group | Queue = queue or next(group for group in cluster.groups if group.name == (node.queue or node.name))
    flavors = [flavor for flavor in cluster.flavors.values() if job.flavor in (None, flavor.name)]
    shown = Explanation(
        unit=node.title or node.name,
        kind=node.kind,
        cluster=cluster.name,
        scheduler=cluster.cluster.scheduler,
        queue=queue.name if queue else "",
        queues=waiting.queues(cluster, queue) if queue else (),
        shared=queue is not None and (queue_node(node) is not node or queue.title != node.title),
        namespaces=_namespaces(cluster, node),
        state=node.state,
        reclaim=(queue or node).rules.reclaim,
        weighted=waiting.weighs and cluster.cluster.sharing == "weighted",
        promises=tuple(_promises(cluster, node, held, flavors)),
        loans=tuple(_loans(cluster, held, flavors)) if waiting.lends else (),
        fragmentation=tuple(_fragmentation(cluster, held, flavors)),
        parts=waiting.parts(cluster, queue) if waiting.parts and queue else {},
        topology=_topology(org, cluster, node),
    )
    if not job.asked:
        return shown
    if queue is None:
        below = [unit.title for unit in _leaves(node) if cluster.name in unit.clusters]
        return replace(shown, unasked=tuple(below))
    return replace(shown, answer=_answer(cluster, queue, job, shown.namespaces))


def _topology(org: Org, cluster: ClusterPlan, node: Node) -> Topology | None:
    """What jobs of the unit get that ask for none, and what they write where nothing gives it."""
    found = default_topology(org, node.topology, node if node.inner else queue_node(node), cluster.flavors)
    asking = WAITING[cluster.cluster.scheduler].asking
    if found is None or asking is None:
        return None
    return Topology(
        mode=found.mode,
        level=found.level,
        lacking=found.lacking,
        given=mutates(cluster),
        asking={flavor: asking(cluster, found, flavor) for flavor in found.flavors},
    )


def _queue(cluster: ClusterPlan, node: Node) -> Queue | None:
    """The queue that takes the unit's jobs; None for a unit that holds others."""
    if node.inner:
        return None
    return next(queue for queue in cluster.queues if queue.name == queue_node(node).queue)


def _leaves(node: Node) -> Iterator[Node]:
    """The nearest units below that run jobs."""
    for child in node.children:
        if child.inner:
            yield from _leaves(child)
        else:
            yield child


def _namespaces(cluster: ClusterPlan, node: Node) -> tuple[str, ...]:
    """Those of the unit itself; a unit that holds others has none of its own."""
    inside = f"{node.title}/"
    found = (each.name for each in cluster.namespaces if each.title == node.title or each.title.startswith(inside))
    return () if node.inner else tuple(sorted(found))


def _promises(cluster: ClusterPlan, node: Node, held: Group | Queue, flavors: list[Hardware]) -> Iterator[Promise]:
    """The resources of which the unit has, or may have, anything."""
    reach = WAITING[cluster.cluster.scheduler].reach
    for flavor in flavors:
        for resource in sorted(flavor.resources, key=lambda name: (name not in flavor.mains, name)):
            reserved, quota, limit = quota_of(held, flavor.name, resource)
            if limit and (flavor.name in held.flavors if isinstance(held, Queue) else node.reaches(flavor)):
                yield Promise(
                    flavor=flavor.name,
                    resource=resource,
                    reserved=reserved,
                    quota=quota,
                    limit=limit,
                    reachable=reach(cluster, held, flavor.name, resource),
                )


def _loans(cluster: ClusterPlan, held: Group | Queue, flavors: list[Hardware]) -> Iterator[Loan]:
    """For what the unit may use of what budgets count."""
    for flavor in flavors:
        for main in flavor.mains:
            if quota_of(held, flavor.name, main).limit:
                pools, lenders = _sources(cluster, held, flavor.name, main)
                yield Loan(flavor=flavor.name, resource=main, pools=tuple(pools), lenders=tuple(lenders))


def _sources(cluster: ClusterPlan, held: Group | Queue, flavor: str, resource: str) -> tuple[list[Pool], list[Lender]]:
    """Pools and lenders on every level that the unit's limit, and those of the units above it, let it borrow from."""
    groups = {group.name: group for group in cluster.groups}
    pools: list[Pool] = []
    lenders: list[Lender] = []
    at: Group | Queue = held
    while at.parent is not None and quota_of(at, flavor, resource).limit > quota_of(at, flavor, resource).quota:
        above = groups[at.parent]
        if amount := above.pool[flavor].get(resource, 0):
            pools.append(Pool(unit=above.title or above.name, amount=amount))
        for queue in cluster.queues:
            way = _way(queue, groups, above)
            if way and at not in way:
                lent = min(quota.quota - quota.reserved for quota in (quota_of(unit, flavor, resource) for unit in way))
                lenders += [Lender(unit=queue.title, amount=lent, reclaim=queue.rules.reclaim)] if lent > 0 else []
        at = above
    return pools, lenders


def _way(queue: Queue, groups: dict[str, Group], above: Group) -> list[Group | Queue]:
    """A queue and the units between it and `above`, each of which lends no more than it does not reserve; empty where
    the queue is not below."""
    way: list[Group | Queue] = [queue]
    while (parent := way[-1].parent) is not None:
        if parent == above.name:
            return way
        way.append(groups[parent])
    return []


def _fragmentation(cluster: ClusterPlan, held: Group | Queue, flavors: list[Hardware]) -> Iterator[Fragmentation]:
    """Flavors of which the unit owns whole nodes while others may run smaller jobs there."""
    waiting = WAITING[cluster.cluster.scheduler]
    for flavor in flavors:
        gpus, resource = flavor.node[GPUS], flavor.names.get(GPUS)
        if flavor.shares > 1:
            continue
        if resource is None or not isinstance(held, Queue) or quota_of(held, flavor.name, resource).quota < gpus:
            continue
        others = sum(
            bool(waiting.reach(cluster, queue, flavor.name, resource)) for queue in cluster.queues if queue is not held
        )
        message = waiting.verdict(cluster, held.name, Request(pod={resource: gpus}, flavor=flavor.name)).fragmented
        if others and message:
            yield Fragmentation(flavor=flavor.name, gpus=gpus, neighbours=others, message=message)


def _answer(cluster: ClusterPlan, queue: Queue, job: Job, namespaces: tuple[str, ...]) -> Answer:
    waiting = WAITING[cluster.cluster.scheduler]
    request = replace(_request(cluster, queue, job), namespace=namespaces[0] if len(namespaces) == 1 else "")
    found = waiting.verdict(cluster, queue.name, request)
    return Answer(
        pod=request.pod,
        pods=request.pods,
        outcome=found.outcome,
        flavor=found.flavor,
        cause=found.cause,
        message=found.message,
        waits=found.waits,
        fragmented=found.fragmented,
        toleration=_toleration(cluster, waiting, cluster.flavors[found.flavor]) if found.runs else "",
        queue=found.queue,
        started=found.started,
    )


def _toleration(cluster: ClusterPlan, waiting: Waiting, flavor: Hardware) -> str:
    """The taints that neither the scheduler nor the API server gets a pod past."""
    helped = mutates(cluster) or (waiting.injects and not flavor.fenced)
    return "" if helped else ", ".join(taint.text for taint in flavor.taints if taint.keeps_out)


def _request(cluster: ClusterPlan, queue: Queue, job: Job) -> Request:
    """The job in resources: what is not said of cpu and memory follows from the GPUs, as in a budget, or is what a
    container without requests gets."""
    pod: dict[str, int] = {}
    if job.gpus is not None or job.profile is not None:
        key, count = job.profile or GPUS, 1 if job.gpus is None else job.gpus
        flavor = _flavor(cluster, queue, job, key)
        resource = flavor.names[key]
        pod = {resource: count, **{name: amount * count for name, amount in flavor.follows[resource].items()}}
    else:
        pod = dict(next(each for each in cluster.namespaces if each.name in queue.namespaces).container)
    for name, written in ((CPU, job.cpu), (MEMORY, job.memory)):
        if written is not None:
            pod[name] = _amount(written, name)
    return Request(pod=pod, pods=1 if job.pods is None else job.pods, flavor=job.flavor or "")


def _flavor(cluster: ClusterPlan, queue: Queue, job: Job, key: str) -> Hardware:
    """The flavor that the GPUs are counted on: as given, or the first that has them, of those that the queue reaches
    if it can be. Several for one pod are no shares where there is a choice."""
    name, several = job.flavor, job.gpus is not None and job.gpus > 1
    names = [name] if name is not None else [*queue.flavors, *cluster.flavors]
    found = [flavor for each in names if key in (flavor := cluster.flavors[each]).names and flavor.gpu]
    if not found:
        where = f"flavor {name!r}" if name is not None else f"cluster {cluster.name!r}"
        raise click.UsageError(f"{where} has no {'GPUs' if key == GPUS else f'MIG profile {key!r}'} to ask for")
    within = [flavor for flavor in found if flavor.name in queue.flavors]
    return min(within or found, key=lambda flavor: several and flavor.shares > 1)


def _amount(written: str, resource: str) -> int:
    try:
        return parse(written, resource)
    except QuantityError as error:
        raise click.UsageError(f"--{resource}: {error}") from error
