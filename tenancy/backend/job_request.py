"""What somebody asks about in words of the language, GPUs or slices of a profile, as resources of one pod."""

from __future__ import annotations

from dataclasses import dataclass

from tenancy.backend.waiting import Request
from tenancy.model.hardware import CPU, GPUS, MEMORY, Hardware
from tenancy.model.quantity import QuantityError, parse
from tenancy.plan.values import ClusterPlan, Queue


class NoSuchJob(ValueError):
    """Nothing in the cluster is called so, or an amount cannot be read; the text says what, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What was asked about: per pod GPUs (or slices of a MIG profile), cpu and memory, and how many pods."""

    gpus: int | None = None
    pods: int | None = None
    flavor: str | None = None
    profile: str | None = None
    cpu: str | None = None
    memory: str | None = None
    counted: str = ""
    """The flavor that its GPUs are counted on where it selects none; empty: the first that has them."""

    @property
    def asked(self) -> bool:
        """Whether there is a job; a flavor alone narrows what is shown."""
        return any(value is not None for value in (self.gpus, self.profile, self.cpu, self.memory))


def request(cluster: ClusterPlan, queue: Queue, job: Job, namespace: str = "") -> Request:
    """The job in resources: what is not said of cpu and memory follows from the GPUs, as in a budget, or is what a
    container without requests gets. Raises `NoSuchJob`."""
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
    pods = 1 if job.pods is None else job.pods
    return Request(pod=pod, pods=pods, flavor=job.flavor or "", namespace=namespace)


def offering(cluster: ClusterPlan, queue: Queue, job: Job, key: str) -> list[Hardware]:
    """The flavors that have what the job asks for: the given one, or all, those first that the queue reaches. Raises
    `NoSuchJob` where there is none."""
    name = job.flavor
    names = [name] if name is not None else dict.fromkeys([*queue.flavors, *cluster.flavors])
    found = [flavor for each in names if key in (flavor := cluster.flavors[each]).names and flavor.gpu]
    if not found:
        where = f"flavor {name!r}" if name is not None else f"cluster {cluster.name!r}"
        offered = dict.fromkeys(each for flavor in names for each in cluster.flavors[flavor].names if each != key)
        instead = [f"--profile {each}" for each in offered if each not in (GPUS, CPU, MEMORY)]
        what = "whole GPUs" if key == GPUS and instead else "GPUs" if key == GPUS else f"MIG profile {key!r}"
        raise NoSuchJob(f"{where} has no {what} to ask for" + (f": {' or '.join(instead)}" if instead else ""))
    return found


def _flavor(cluster: ClusterPlan, queue: Queue, job: Job, key: str) -> Hardware:
    """The flavor that the GPUs are counted on: as given, or the first that has them, of those that the queue reaches
    if it can be. Several for one pod are no shares where there is a choice."""
    found, several = offering(cluster, queue, job, key), job.gpus is not None and job.gpus > 1
    within = [flavor for flavor in found if flavor.name == job.counted]
    within = within or [flavor for flavor in found if flavor.name in queue.flavors]
    return min(within or found, key=lambda flavor: several and flavor.shares > 1)


def _amount(written: str, resource: str) -> int:
    try:
        return parse(written, resource)
    except QuantityError as error:
        raise NoSuchJob(f"--{resource}: {error}") from error
