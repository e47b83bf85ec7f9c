"""How the GPUs of a whole job are divided into equal pods: by default into as few as fit on the nodes of a flavor."""

from __future__ import annotations

from dataclasses import replace

from tenancy.backend.job_request import Job, NoSuchJob, offering
from tenancy.backend.waiting import nodes
from tenancy.model.hardware import GPUS, Hardware
from tenancy.plan.values import ClusterPlan, Queue


def shapes(cluster: ClusterPlan, queue: Queue, whole: Job) -> tuple[Job, ...]:
    """The job of each pod, once for each flavor that has what the whole asks for, of those within reach if it can be.

    The GPUs of `whole` are those of all its pods together; cpu and memory are of each pod, as everywhere. Raises
    `NoSuchJob` where nothing has it, or no flavor can divide it.
    """
    if whole.gpus is None and whole.profile is None:
        return (whole,)
    key, total = whole.profile or GPUS, 1 if whole.gpus is None else whole.gpus
    found: list[Job] = []
    refused: list[NoSuchJob] = []
    offers = offering(cluster, queue, whole, key)
    for flavor in [each for each in offers if each.name in queue.flavors] or offers:
        try:
            gpus, pods = _divided(flavor, key, total, whole.pods)
        except NoSuchJob as error:
            refused.append(error)
        else:
            found.append(replace(whole, gpus=gpus, pods=pods, counted=flavor.name))
    if not found:
        raise refused[0]
    return tuple(found)


def most(flavor: Hardware, key: str) -> int:
    """The most of a budget's key that one pod may have: what a node of the flavor offers, or one share of a GPU."""
    return 1 if flavor.shares > 1 else max(node.get(flavor.names[key], 0) for _, node in nodes(flavor))


def _divided(flavor: Hardware, key: str, total: int, pods: int | None) -> tuple[int, int]:
    """What each pod gets, and how many there are."""
    fits = max(1, most(flavor, key))
    count = -(-total // fits) if pods is None else pods
    if total % count == 0:
        return total // count, count
    what = "GPUs" if key == GPUS else key
    if pods is not None:
        raise NoSuchJob(f"{total} {what} are not equal parts for {pods} pods: ask for {_or(_nearest(total, pods))}")
    fewest = next(each for each in range(count + 1, total + 1) if total % each == 0)
    below, above = range(total - 1, 0, -1), range(total + 1, count * fits + 1)
    near = {next(each for each in numbers if each % -(-each // fits) == 0) for numbers in (below, above)}
    whole = {(count - 1) * fits, count * fits}
    raise NoSuchJob(
        f"a node of {flavor.name} has {fits} {what}, and {total} are not equal parts for the {count} pods that they "
        f"take: ask for {_or(sorted(near | whole))}, or say --pods {fewest}"
    )


def _nearest(total: int, pods: int) -> list[int]:
    below = total - total % pods
    return [each for each in (below, below + pods) if each]


def _or(numbers: list[int]) -> str:
    return " or ".join(filter(None, (", ".join(map(str, numbers[:-1])), str(numbers[-1]))))
