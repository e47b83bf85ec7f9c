"""What the organization promises for all, and of its flavors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tenancy.backend.promises.said import Key, Look, Maker, Said
from tenancy.check.wording import runs_jobs
from tenancy.model.duration import spoken
from tenancy.model.hardware import HOSTNAME
from tenancy.model.organization import Node
from tenancy.model.priorities import Priority, preemptible
from tenancy.model.reach import lends


def _gang(seen: Look, root: Node) -> Iterator[Said]:
    gang, written = seen.plan.gang, seen.org.document.policy.gang
    after = spoken(gang.start_timeout)
    again = {0: "is given up", 1: "is put back once"}.get(gang.retries, f"is put back {gang.retries} times at most")
    words = f"the pods of a job start together, or none; a job that is not ready after {after} {again}"
    yield Said("gang", root, words, value="written" if written is not None else "", at=("policy", "gang"))


def _priorities(seen: Look, root: Node) -> Iterator[Said]:
    ordered = sorted(seen.plan.priorities.items(), key=lambda item: (-item[1].value, item[0]))
    if ordered:
        words = f"jobs go by priority: {', '.join(f'{name} ({priority.value})' for name, priority in ordered)}"
        yield Said("priorities", root, words, at=("priorities",))


def _interruption(seen: Look, root: Node) -> Iterator[Said]:
    """Where somebody borrows, so that there is something to take back."""
    found = seen.plan.priorities
    made = [f"of `{name}` {_interrupted(found[name])}" for name in preemptible(found)]
    if made and any(namespace.borrows for namespace in seen.plan.namespaces):
        words = f"GPU jobs where GPUs are borrowed are made to be interrupted: those {', those '.join(made)}"
        yield Said("interruption", root, words, at=("priorities", preemptible(found)[0]))


def _interrupted(priority: Priority) -> str:
    return f"have {spoken(priority.grace)} to save their state" if priority.grace else "begin again"


def _placement(seen: Look, root: Node) -> Iterator[Said]:
    if seen.plan.packed:
        at = ("clusters", seen.plan.name, "placement")
        yield Said("placement", root, "jobs are packed onto nodes, and start only where these have room", at=at)


def _flavors(seen: Look, root: Node) -> Iterator[Said]:
    if any(len(queue.flavors) > 1 for queue in seen.plan.queues):
        words = "a job that names no flavor goes to the first of its team's that has room"
        yield Said("flavors", root, words, at=("flavors",))


def _taking_back(key: Key, words: str) -> Maker:
    """What holds for whoever takes back; said where somebody does."""

    def made(seen: Look, root: Node) -> Iterator[Said]:
        units = (unit for unit in seen.units if unit.rules.reclaim != "never" and runs_jobs(unit))
        if any(lends(unit, flavor, seen.known) for unit in units for flavor in seen.flavors):
            yield Said(key, root, words, at=("policy", "reclaim"))

    return made


def _cpu_jobs(seen: Look, root: Node) -> Iterator[Said]:
    for flavor in seen.flavors:
        written = seen.org.document.flavors[flavor.name].cpu_jobs
        if flavor.gpu is not None and flavor.fenced:
            words, value = "jobs without GPUs stay off its nodes", "fence"
        elif flavor.gpu is not None and written == "lend":
            words, value = "jobs without GPUs may use what is idle on its nodes", "lend"
        else:
            continue
        yield Said("cpuJobs", root, words, flavor, value=value, at=(*flavor.path, "cpuJobs"))


def _spare_nodes(seen: Look, root: Node) -> Iterator[Said]:
    for flavor in seen.flavors:
        if spare := seen.org.document.flavors[flavor.name].spare_nodes:
            words = f"{spare} node{'' if spare == 1 else 's'} of it stay{'s' if spare == 1 else ''} out of use"
            yield Said("spareNodes", root, words, flavor, at=(*flavor.path, "spareNodes"))


def _whole_nodes(seen: Look, root: Node) -> Iterator[Said]:
    for flavor in seen.flavors:
        if flavor.whole_nodes and flavor.gpu is not None:
            yield Said("wholeNodes", root, "it is given out in whole nodes", flavor, at=(*flavor.path, "wholeNodes"))


def _topology(seen: Look, root: Node) -> Iterator[Said]:
    for flavor in seen.flavors:
        if levels := [f"`{level}`" for level in flavor.levels if level != HOSTNAME]:
            words = f"a job may ask to stay within one {' or '.join(levels)}"
            yield Said("topology", root, words, flavor, at=(*flavor.path, "topology"))


ORGANIZATION: Final[Mapping[Key, Maker]] = {
    "gang": _gang,
    "priorities": _priorities,
    "interruption": _interruption,
    "placement": _placement,
    "flavors": _flavors,
    "reclaimTime": _taking_back("reclaimTime", "what was lent is back in about a second for each job that is evicted"),
    "reclaimGangs": _taking_back("reclaimGangs", "who takes back gets all that the job asks for"),
    "reclaimEvictions": _taking_back("reclaimEvictions", "no more jobs are evicted than it takes"),
    "reclaimBounds": _taking_back("reclaimBounds", "nobody takes back more than the own quota"),
    "cpuJobs": _cpu_jobs,
    "spareNodes": _spare_nodes,
    "wholeNodes": _whole_nodes,
    "topology": _topology,
}
"""By the key of the promise."""
