"""A unit explained: its numbers, where they can come from, who may take them back, and what becomes of a job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from json import dumps
from typing import Any, Final

from tenancy.model.quantity import canonical, human
from tenancy.report.explain_words import WORDS, Words
from tenancy.report.report import plural
from tenancy.report.terminal import table, visible, wrap

VERSION: Final = 1
"""The version of the JSON: a new key keeps it, a key that goes or changes its meaning raises it."""

_NAMED: Final = 6
"""So many units are named in a sentence; of more only the number is told."""


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
class Pool:
    """What a unit above keeps for all below it."""

    unit: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lender:
    """A unit whose idle quota may be borrowed, and how it takes it back."""

    unit: str
    amount: int
    reclaim: str
    """`any`, `lower-priority` or `never`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan:
    """Where a unit may borrow a resource of a flavor."""

    flavor: str
    resource: str
    pools: tuple[Pool, ...]
    """Of the units above, the nearest first."""
    lenders: tuple[Lender, ...]


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
    parts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """What each namespace may use, where several have parts of their own."""
    topology: Topology | None = None
    answer: Answer | None = None
    unasked: tuple[str, ...] = ()
    """Units to ask instead, where a job was asked about and the unit has no queue of its own."""


def json(explanations: Sequence[Explanation]) -> str:
    """One object in ASCII; amounts are Kubernetes quantities."""
    content = {"version": VERSION, "clusters": [_data(each) for each in explanations]}
    return dumps(content, indent=2) + "\n"


def text(explanations: Sequence[Explanation], width: int = 100) -> str:
    """A block per cluster, its sentences within `width` cells."""
    return "\n\n".join("\n".join(_block(each, width)) for each in explanations) + "\n"


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
                **asdict(loan),
                "pools": [_amounts(asdict(pool), loan.resource) for pool in loan.pools],
                "lenders": [_amounts(asdict(lender), loan.resource) for lender in loan.lenders],
            }
            for loan in each.loans
        ],
        "fragmentation": [asdict(found) for found in each.fragmentation],
        "parts": {name: _quantities(amounts) for name, amounts in each.parts.items()},
        "topology": asdict(each.topology) if each.topology else None,
        "job": {**asdict(answer), "pod": _quantities(answer.pod)} if answer else None,
        "ask": list(each.unasked),
    }


_PLAIN: Final = ("unit", "kind", "cluster", "scheduler", "queue", "shared", "state", "reclaim")


def _amounts(data: dict[str, Any], resource: str) -> dict[str, Any]:
    return {key: canonical(value, resource) if isinstance(value, int) else value for key, value in data.items()}


def _quantities(amounts: Mapping[str, int]) -> dict[str, str]:
    return {resource: canonical(amount, resource) for resource, amount in amounts.items()}


def _block(each: Explanation, width: int) -> Iterator[str]:
    words = WORDS[each.scheduler]
    yield visible(_head(each))
    if each.shared:
        yield words.shared.format(queue=each.queue)
    if each.state != "active":
        yield f"It is {each.state}: nothing new starts."
    yield ""
    yield from _table(each.promises)
    yield from _parts(each.parts)
    for loan in each.loans:
        yield ""
        yield f"{loan.flavor} {loan.resource}"
        yield from _sentences(_loan(loan, words), width)
    if each.loans or words.alone:
        yield ""
        yield from _sentences(_borrowing(each, words), width, "")
    for found in each.fragmentation:
        yield ""
        yield from _sentences([_fragmentation(found, words)], width, "")
    if each.topology is not None:
        yield ""
        yield from _sentences(_topology(each.topology, words), width, "")
    yield from _job(each, words, width)


def _head(each: Explanation) -> str:
    queues = f", queue{'s' if len(each.queues) > 1 else ''} {_names(each.queues)}" if each.queues else ""
    namespaces = f", namespaces {_names(each.namespaces)}" if each.namespaces else ""
    return f"{each.unit} ({each.kind}) in {each.cluster}{queues}{namespaces}"


def _table(promises: Sequence[Promise]) -> Iterator[str]:
    if not promises:
        yield "It reaches no flavor here."
        return
    rows: list[tuple[str, ...]] = [("FLAVOR", "RESOURCE", "RESERVED", "QUOTA", "LIMIT", "REACHABLE")]
    for each in promises:
        numbers = (each.reserved, each.quota, each.limit, each.reachable)
        cells = (human(number, each.resource) for number in numbers)
        rows.append((each.flavor, each.resource, *cells))
    yield from table(rows)


def _parts(parts: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    if len(parts) < 2:
        return
    yield ""
    yield "Each of its namespaces has a part of its own:"
    for name, amounts in parts.items():
        shown = [f"{human(amount, resource)} of {resource}" for resource, amount in amounts.items() if amount]
        yield f"  {name}: {', '.join(shown) or 'nothing'}"


def _loan(loan: Loan, words: Words) -> Iterator[str]:
    for pool in loan.pools:
        yield f"{pool.unit} keeps {human(pool.amount, loan.resource)} in its pool, for all below it."
    if not loan.pools and not loan.lenders:
        yield "It borrows from nobody."
    for reclaim, how in words.taken_back.items():
        found = [lender for lender in _largest(loan.lenders) if lender.reclaim == reclaim]
        if found:
            named = [f"{lender.unit} ({human(lender.amount, loan.resource)})" for lender in found]
            yield f"It may borrow what is idle of {_names(named)}; {how} (`reclaim: {reclaim}`)."


def _borrowing(each: Explanation, words: Words) -> Iterator[str]:
    """What holds for every resource."""
    if words.alone:
        yield words.alone
    elif each.queue:
        yield f"Its own quota, lent while it is idle, comes back {words.comes_back[each.reclaim]}."
    if each.weighted and any(loan.pools or loan.lenders for loan in each.loans):
        yield (
            "Who borrows shares by weight: a borrower below its share may evict what another runs above its own "
            "(`sharing: weighted`)."
        )


def _largest(lenders: Iterable[Lender]) -> list[Lender]:
    return sorted(lenders, key=lambda lender: (-lender.amount, lender.unit))


def _fragmentation(found: Fragmentation, words: Words) -> str:
    others = plural(found.neighbours, f"other {words.unit}")
    return words.fragmentation.format(flavor=found.flavor, gpus=found.gpus, others=others, message=found.message)


def _topology(topology: Topology, words: Words) -> Iterator[str]:
    """What jobs get, or have to ask for, and on which flavors there is nothing to get."""
    default = f"`{topology.mode} {topology.level}`"
    if topology.given:
        yield (
            f"{words.gangs} that ask for no topology get {default} on {_names(list(topology.asking))}: each runs "
            f"{words.places[topology.mode]}."
        )
    else:
        every = list(dict.fromkeys(topology.asking.values()))
        asked = [f"`{text}`" for text in every]
        if len(every) > 1:
            asked = [f"`{text}` on {flavor}" for flavor, text in topology.asking.items()]
        yield f"Its topology is {default}, and before Kubernetes 1.36 jobs ask for it by themselves: {_names(asked)}."
    if topology.lacking and topology.given:
        yield words.lacking[topology.mode].format(flavors=_names(list(topology.lacking)))


def _job(each: Explanation, words: Words, width: int) -> Iterator[str]:
    if each.unasked:
        yield ""
        yield from _sentences([f"It has no queue, so it runs no job itself. Ask: {_names(each.unasked)}."], width, "")
    if each.answer is None:
        return
    answer = each.answer
    pod = ", ".join(f"{amount} {resource}" for resource, amount in _quantities(answer.pod).items())
    yield ""
    yield from _sentences([f"{plural(answer.pods, 'pod')} of {pod}: {_outcome(each, answer, words)}"], width, "")
    if answer.toleration:
        yield from _sentences([f"Its pods must tolerate {answer.toleration} by themselves."], width)
    if answer.queue and answer.outcome != "never":
        yield from _sentences([f"It must name the queue {answer.queue}."], width)
    said = [
        ("It says:", answer.message),
        ("While it waits:", answer.waits),
        ("For lack of a node:", answer.fragmented),
    ]
    for lead, message in said:
        if message:
            yield f"  {lead} {visible(message.rstrip())}{'' if lead == 'It says:' else '…'}"


def _outcome(each: Explanation, answer: Answer, words: Words) -> str:
    if answer.outcome != "never":
        return words.outcomes[answer.outcome].format(flavor=answer.flavor, back=words.comes_back.get(each.reclaim, ""))
    why = words.causes[answer.cause].format(
        flavor=answer.flavor,
        queue=each.queue,
        named=answer.queue,
        state=each.state,
        started=answer.started,
        pods=plural(answer.pods, "pod"),
    )
    return f"it NEVER runs{' as a whole' if answer.cause == 'part' else ''}: {why}"


def _sentences(sentences: Iterable[str], width: int, indent: str = "  ") -> Iterator[str]:
    for sentence in sentences:
        yield from (indent + line for line in wrap(sentence, width - len(indent)))


def _names(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:_NAMED])} and {more} more"
