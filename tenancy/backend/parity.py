"""What becomes of a promise under a scheduler: the lines of the parity table, which the loss diagnostics are read from.

`tenancy.backend.promises` lists what an organization promises, whoever schedules. A backend answers for each kind of
promise in its own `parity.py`; a kind without an answer is a type error, so none can be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias, TypedDict

from tenancy.backend.promises import KEYS, Key, Look, Said, look, promises
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.organization import Org
from tenancy.plan.values import ClusterPlan


class Fate(StrEnum):
    """What a scheduler does with a promise."""

    KEPT = "kept"
    DIFFERENTLY = "differently"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Loss(Rule):
    """A promise that a scheduler does not keep. An error where it is lost, a warning where it is kept differently."""

    instead: str
    """What to write so that it is not promised."""


class Made(NamedTuple):
    """What a scheduler makes of a promise."""

    fate: Fate
    becomes: str = ""
    loss: Loss | None = None
    path: KeyPath = ()
    """The place, where it is another than that of the promise."""


KEPT: Final = Made(Fate.KEPT)


@dataclass(frozen=True, slots=True)
class Answer:
    """How a scheduler answers for one kind of promise."""

    short: str
    """For the table of docs/parity.md; empty where it is kept."""
    made: Callable[[Look, Said], Made]
    losses: tuple[Loss, ...] = ()
    """All that `made` may give."""


class Answers(TypedDict):
    """An answer for every key of `tenancy.backend.promises.KEYS`."""

    gang: Answer
    priorities: Answer
    interruption: Answer
    placement: Answer
    flavors: Answer
    reclaimTime: Answer
    reclaimGangs: Answer
    reclaimEvictions: Answer
    reclaimBounds: Answer
    cpuJobs: Answer
    spareNodes: Answer
    wholeNodes: Answer
    topology: Answer
    topologyDefault: Answer
    unitPriorities: Answer
    reserved: Answer
    quota: Answer
    limit: Answer
    borrowing: Answer
    pool: Answer
    weight: Answer
    reclaim: Answer
    preemption: Answer
    borrowingPreemption: Answer
    queueing: Answer
    state: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A promise of the organization and what a scheduler makes of it."""

    cluster: str
    scheduler: str
    unit: str
    """Its title, `research/vision`; empty for the organization."""
    promise: Key
    """`reserved`, `quota`, `limit`, `weight`, `reclaim`, `state`, …"""
    flavor: str = ""
    """Where the promise is about one."""
    said: str
    """What the organization promises, with its number: `it never lends 8 GPUs`."""
    fate: Fate
    becomes: str = ""
    """What the scheduler makes of it, with its number; empty where it is kept as it is."""
    loss: Loss | None = None
    """None where it is kept, and where the difference is one to know rather than one to accept."""
    accepted: bool = False
    """Whether the cluster accepts the loss."""
    path: KeyPath = ()
    """Where it is said."""


Found: TypeAlias = tuple[Said, Made]


def parity(org: Org, plan: ClusterPlan, answers: Answers) -> Iterator[Promise]:
    """Every promise that holds in a cluster, those of the organization first, then unit by unit."""
    seen = look(org, plan)
    for said in promises(seen):
        fate, becomes, loss, path = answers[said.key].made(seen, said)
        yield Promise(
            cluster=plan.name,
            scheduler=plan.cluster.scheduler,
            unit=said.unit.title,
            promise=said.key,
            flavor=said.flavor.name if said.flavor is not None else "",
            said=said.text,
            fate=fate,
            becomes=becomes,
            loss=loss,
            accepted=loss is not None and loss.code in plan.cluster.accept,
            path=path or said.path,
        )


def lost(org: Org, plan: ClusterPlan, answers: Answers) -> dict[Loss, list[Found]]:
    """The promises of a cluster that a loss concerns. Kinds of promises that are never lost are not even looked at."""
    seen = look(org, plan)
    found: dict[Loss, list[Found]] = {}
    for said in promises(seen, [key for key in KEYS if answers[key].losses]):
        made = answers[said.key].made(seen, said)
        if made.loss is not None:
            found.setdefault(made.loss, []).append((said, made))
    return found


def kept(short: str = "") -> Answer:
    """Kept, whatever was said."""
    return Answer(short, lambda _, __: KEPT)


def differently(becomes: str, short: str = "") -> Answer:
    """Kept in another way, which is to be known."""
    return Answer(short or becomes, lambda _, __: Made(Fate.DIFFERENTLY, becomes))


def losing(loss: Loss, becomes: str, path: KeyPath = ()) -> Made:
    """A loss, as heavy as its rule says."""
    return Made(Fate.LOST if loss.severity is Severity.ERROR else Fate.DIFFERENTLY, becomes, loss, path)
