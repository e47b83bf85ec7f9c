"""An explanation of a unit in one cluster, put together from what the plan says and what the scheduler answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tenancy.backend import WAITING
from tenancy.backend.job_kinds import known
from tenancy.backend.job_notes import notes
from tenancy.backend.job_priority import Author, offered, saving
from tenancy.backend.job_refusals import Refusal, refusal, ways
from tenancy.backend.job_request import Job, request
from tenancy.backend.job_templates import NOBODY, job_template
from tenancy.backend.manifest import Page
from tenancy.backend.shared.admission import mutates
from tenancy.backend.waiting import Request, Verdict, Waiting, quota_of
from tenancy.load.source import Sources
from tenancy.model.budget_origins import numbers, origins
from tenancy.model.hardware import GPUS, Hardware
from tenancy.model.organization import Node, Org
from tenancy.model.reach import queue_node
from tenancy.model.unit_origins import facts
from tenancy.plan.interruption import interruption
from tenancy.plan.lending import held_by, leaves, loans, queue_of_unit
from tenancy.plan.topology import default_topology
from tenancy.plan.values import ClusterPlan, Group, Namespace, Queue
from tenancy.plan.values import Topology as DefaultTopology
from tenancy.report.explain import Answer, Explanation, Fragmentation, Hint, Number, Promise, Topology


@dataclass(frozen=True, slots=True)
class Look:
    """A unit in one cluster."""

    org: Org
    sources: Sources
    cluster: ClusterPlan
    node: Node

    @property
    def waiting(self) -> Waiting:
        """How the cluster's scheduler deals with jobs."""
        return WAITING[self.cluster.cluster.scheduler]

    @property
    def queue(self) -> Queue | None:
        """Where its jobs wait; None for a unit that holds others."""
        return queue_of_unit(self.cluster, self.node)

    @property
    def namespaces(self) -> tuple[Namespace, ...]:
        """Those of the unit itself, sorted; a unit that holds others has none of its own."""
        inside = f"{self.node.title}/"
        found = [each for each in self.cluster.namespaces if f"{each.title}/".startswith(inside)]
        return () if self.node.inner else tuple(sorted(found, key=lambda each: each.name))

    @property
    def topology(self) -> DefaultTopology | None:
        """What jobs of the unit get that ask for none; None where nothing looks at it."""
        holder = self.node if self.node.inner else queue_node(self.node)
        found = default_topology(self.org, self.node.topology, holder, self.cluster.flavors)
        return found if self.waiting.asking is not None else None


def explanation(look: Look, job: Job) -> Explanation:
    """All there is to say of the unit, on the flavor of the job or on all, and of the job if there is one. Raises
    `NoSuchJob`."""
    cluster, node, queue, waiting = look.cluster, look.node, look.queue, look.waiting
    flavors = [flavor for flavor in cluster.flavors.values() if job.flavor in (None, flavor.name)]
    held, promises = held_by(cluster, node), tuple(_promises(look, flavors))
    shown = Explanation(
        unit=node.title or node.name,
        kind=node.kind,
        cluster=cluster.name,
        scheduler=cluster.cluster.scheduler,
        queue=queue.name if queue else "",
        queues=waiting.queues(cluster, queue) if queue else (),
        shared=queue is not None and (queue_node(node) is not node or queue.title != node.title),
        namespaces=tuple(each.name for each in look.namespaces),
        state=node.state,
        reclaim=(queue or node).rules.reclaim,
        weighted=waiting.weighs and cluster.cluster.sharing == "weighted",
        promises=promises,
        loans=tuple(loans(cluster, held, flavors)) if waiting.lends else (),
        fragmentation=tuple(_fragmentation(look, held, flavors)),
        numbers=tuple(_numbers(look, promises)),
        facts=tuple(facts(look.org, look.sources, node)),
        hints=tuple(_hints([flavor for flavor in flavors if flavor.name in {each.flavor for each in promises}])),
        parts=waiting.parts(cluster, queue) if waiting.parts and queue else {},
        topology=_topology(look),
        interruption=interruption(cluster, node),
        scaled={each.name: each.most_pods for each in look.namespaces if each.keda},
    )
    if not job.asked:
        return shown
    if queue is None:
        below = [unit.title for unit in leaves(node) if cluster.name in unit.clusters]
        return replace(shown, unasked=tuple(below))
    namespace = look.namespaces[0].name if len(look.namespaces) == 1 else ""
    return replace(shown, answer=_answer(look, *_answered(look, queue, job, namespace)))


def _answered(look: Look, queue: Queue, job: Job, namespace: str) -> tuple[Request, Verdict]:
    """The job in resources, and what becomes of it."""
    asked = request(look.cluster, queue, job, namespace)
    return asked, look.waiting.verdict(look.cluster, queue.name, asked)


def document(
    look: Look, queue: Queue, job: Job, kind: str, author: Author = NOBODY, *, noted: bool = False
) -> Page | Refusal | None:
    """A job of a kind that lands in the unit, in one of the namespaces in which it runs, and with `noted` what is to be
    known of it; or why it is refused all the same. None where its size never runs."""
    answers = {namespace.name: _answered(look, queue, job, namespace.name) for namespace in look.namespaces}
    running = tuple(each for each in look.namespaces if answers[each.name][1].runs)
    if not running:
        return None
    running = tuple(each for each in running if each.priorities == running[0].priorities)
    cluster, topology = look.cluster, look.topology
    asked, verdict = answers[running[0].name]
    flavor, kind = cluster.flavors[verdict.flavor], known(kind)
    refused = refusal(cluster, kind, flavor, asked, running[0], topology, author)
    if refused is not None:
        return refused
    saves = saving(cluster, "".join(offered(cluster, running[0], asked, author)[:1]), author)
    told = notes(cluster, kind, look.node.title, flavor, asked, verdict, topology, author, saves) if noted else ()
    return job_template(cluster, look.waiting, kind, asked, verdict, running, topology, author, told)


def instead(look: Look, queue: Queue, whole: Job) -> tuple[str, ...]:
    """What to ask for in place of a job that never runs, in the namespace of the unit, or in the first of them."""
    return ways(look.cluster, look.waiting, queue, whole, look.namespaces[0].name)


def _topology(look: Look) -> Topology | None:
    found, asking = look.topology, look.waiting.asking
    if found is None or asking is None:
        return None
    return Topology(
        mode=found.mode,
        level=found.level,
        lacking=found.lacking,
        given=mutates(look.cluster),
        asking={flavor: asking(look.cluster, found, flavor) for flavor in found.flavors},
    )


def _promises(look: Look, flavors: list[Hardware]) -> Iterator[Promise]:
    """The resources of which the unit has, or may have, anything."""
    held = held_by(look.cluster, look.node)
    for flavor in flavors:
        for resource in sorted(flavor.resources, key=lambda name: (name not in flavor.mains, name)):
            reserved, quota, limit = quota_of(held, flavor.name, resource)
            if limit and (flavor.name in held.flavors if isinstance(held, Queue) else look.node.reaches(flavor)):
                yield Promise(
                    flavor=flavor.name,
                    resource=resource,
                    reserved=reserved,
                    quota=quota,
                    limit=limit,
                    reachable=look.waiting.reach(look.cluster, held, flavor.name, resource),
                )


def _numbers(look: Look, promises: tuple[Promise, ...]) -> Iterator[Number]:
    for each in promises:
        found = origins(look.org, look.sources, look.node, look.org.flavors[each.flavor], each.resource)
        for number, origin in numbers(found):
            amount = getattr(each, number)
            yield Number(flavor=each.flavor, resource=each.resource, number=number, amount=amount, origin=origin)


def _hints(flavors: list[Hardware]) -> Iterator[Hint]:
    for flavor in flavors:
        classes = {device.key: device.device_class for device in flavor.devices if device.device_class}
        if flavor.autoscaler or classes:
            yield Hint(flavor=flavor.name, autoscaler=flavor.autoscaler, device_classes=classes)


def _fragmentation(look: Look, held: Group | Queue, flavors: list[Hardware]) -> Iterator[Fragmentation]:
    """Flavors of which the unit owns whole nodes while others may run smaller jobs there."""
    cluster, waiting = look.cluster, look.waiting
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


def _answer(look: Look, asked: Request, found: Verdict) -> Answer:
    return Answer(
        pod=asked.pod,
        pods=asked.pods,
        outcome=found.outcome,
        flavor=found.flavor,
        cause=found.cause,
        message=found.message,
        waits=found.waits,
        fragmented=found.fragmented,
        toleration=_toleration(look, look.cluster.flavors[found.flavor]) if found.runs else "",
        queue=found.queue,
        started=found.started,
    )


def _toleration(look: Look, flavor: Hardware) -> str:
    """The taints that neither the scheduler nor the API server gets a pod past."""
    helped = mutates(look.cluster) or (look.waiting.injects and not flavor.fenced)
    return "" if helped else ", ".join(taint.text for taint in flavor.taints if taint.keeps_out)
