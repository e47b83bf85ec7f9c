"""A unit explained, as values and as JSON: its numbers and where they come from, what it can reach, who may take it
back, and what becomes of a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from json import dumps
from typing import Any, Final

from tenancy.model.interruption import Interruption
from tenancy.model.loans import Loan
from tenancy.model.origins import Origin
from tenancy.model.quantity import canonical
from tenancy.model.unit_origins import Fact

VERSION: Final = 1
"""The version of the JSON: a new key keeps it, a key that goes or changes its meaning raises it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The promises of a unit on one resource of a flavor, with the most that it can come to use; in base units."""

    flavor: str
    resource: str
    reserved: int
    quota: int
    limit: int
    reachable: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragmentation:
    """A flavor on which a pod that takes a whole node may wait though its GPUs are free."""

    flavor: str
    gpus: int
    neighbours: int
    """Other queues that may run smaller jobs there."""
    message: str
    """What is said meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """What GPU jobs of a unit get that ask for no topology themselves."""

    mode: str
    """`required` or `preferred`."""
    level: str
    """A label key."""
    lacking: tuple[str, ...]
    """GPU flavors within reach whose nodes do not have the level."""
    given: bool
    """Whether the API server gives it to jobs; else they ask by themselves."""
    asking: Mapping[str, str]
    """By flavor that has the level: what a job writes to ask for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A promise of a unit with where it comes from."""

    flavor: str
    resource: str
    number: str
    """`reserved`, `quota` or `limit`."""
    amount: int
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """What is to know about the nodes of a flavor before a job is written for it."""

    flavor: str
    autoscaler: str
    """`karpenter`, `provisioning-request`, or empty where all nodes are there."""
    device_classes: Mapping[str, str]
    """Where pods get GPUs by claims: from the keys of a budget to the DeviceClass that claims name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What becomes of a job; the fields are those of `tenancy.backend.waiting`."""

    pod: Mapping[str, int]
    pods: int
    outcome: str
    flavor: str
    cause: str
    message: str
    waits: str
    fragmented: str
    toleration: str
    """A taint that its pods must tolerate by themselves, because the cluster's API server adds nothing."""
    queue: str = ""
    started: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A unit in one cluster."""

    unit: str
    kind: str
    cluster: str
    scheduler: str = "kueue"
    queue: str
    """Where its jobs wait; empty for a unit that holds others."""
    queues: tuple[str, ...] = ()
    """What that is called in the cluster: one for each flavor where the scheduler has it so, none where it has none."""
    shared: bool
    """Whether the queue belongs to the unit above, so that the numbers do, too."""
    namespaces: tuple[str, ...]
    state: str
    reclaim: str
    weighted: bool
    """Whether the cluster divides what is borrowed by weight."""
    promises: tuple[Promise, ...]
    loans: tuple[Loan, ...]
    fragmentation: tuple[Fragmentation, ...]
    numbers: tuple[Number, ...] = ()
    facts: tuple[Fact, ...] = ()
    """What holds for the unit beside its numbers."""
    hints: tuple[Hint, ...] = ()
    parts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """What each namespace may use, where several have parts of their own."""
    topology: Topology | None = None
    interruption: Interruption | None = None
    """None where no priority says `preemptible`, or nothing is lent."""
    scaled: Mapping[str, int] = field(default_factory=dict)
    """By namespace in which KEDA may be used, to how many pods it may scale."""
    answer: Answer | None = None
    unasked: tuple[str, ...] = ()
    """Units to ask instead, where a job was asked about and the unit has no queue of its own."""


def json(explanations: Sequence[Explanation]) -> str:
    """One object in ASCII; amounts are Kubernetes quantities."""
    content = {"version": VERSION, "clusters": [_data(each) for each in explanations]}
    return dumps(content, indent=2) + "\n"


def _data(each: Explanation) -> dict[str, Any]:
    answer = each.answer
    return {
        **{key: getattr(each, key) for key in _PLAIN},
        "queues": list(each.queues),
        "namespaces": list(each.namespaces),
        "sharing": "weighted" if each.weighted else "first-come",
        "promises": [_amounts(asdict(promise), promise.resource) for promise in each.promises],
        "loans": [
            {
                **_amounts(asdict(loan), loan.resource),
                "pools": [_amounts(asdict(pool), loan.resource) for pool in loan.pools],
                "lenders": [_amounts(asdict(lender), loan.resource) for lender in loan.lenders],
                "borrowers": [_amounts(asdict(borrower), loan.resource) for borrower in loan.borrowers],
            }
            for loan in each.loans
        ],
        "fragmentation": [asdict(found) for found in each.fragmentation],
        "origins": [_number(number) for number in each.numbers],
        "facts": [{"name": fact.name, "value": fact.value, **_origin(fact.origin)} for fact in each.facts],
        "nodes": [
            {"flavor": hint.flavor, "autoscaler": hint.autoscaler, "deviceClasses": dict(hint.device_classes)}
            for hint in each.hints
        ],
        "parts": {name: quantities(amounts) for name, amounts in each.parts.items()},
        "topology": asdict(each.topology) if each.topology else None,
        "interruption": asdict(each.interruption) if each.interruption else None,
        "scaled": dict(each.scaled),
        "job": {**asdict(answer), "pod": quantities(answer.pod)} if answer else None,
        "ask": list(each.unasked),
    }


_PLAIN: Final = ("unit", "kind", "cluster", "scheduler", "queue", "shared", "state", "reclaim")


def _amounts(data: dict[str, Any], resource: str) -> dict[str, Any]:
    return {key: canonical(value, resource) if isinstance(value, int) else value for key, value in data.items()}


def quantities(amounts: Mapping[str, int]) -> dict[str, str]:
    """Amounts as Kubernetes writes them."""
    return {resource: canonical(amount, resource) for resource, amount in amounts.items()}


def _number(number: Number) -> dict[str, Any]:
    return {
        "flavor": number.flavor,
        "resource": number.resource,
        "number": number.number,
        "amount": canonical(number.amount, number.resource),
        **_origin(number.origin),
    }


def _origin(origin: Origin) -> dict[str, Any]:
    places = [{"file": place.file, "line": place.line, "column": place.column} for place in origin.places]
    return {"rule": origin.rule, "detail": origin.detail, "places": places}
