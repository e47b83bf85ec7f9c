"""A unit explained, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from tenancy.model.loans import Borrower, Lender, Loan
from tenancy.model.quantity import human
from tenancy.report.explain import Answer, Explanation, Fragmentation, Hint, Promise, Topology, quantities
from tenancy.report.explain_origins import origins as origins_view
from tenancy.report.explain_words import WORDS, Words
from tenancy.report.report import plural
from tenancy.report.terminal import table, visible, wrap

Party = TypeVar("Party", Lender, Borrower)

_NAMED: Final = 6
"""So many units are named in a sentence; of more only the number is told."""


def text(explanations: Sequence[Explanation], width: int = 100, *, origins: bool = False) -> str:
    """A block per cluster, its sentences within `width` cells; with `origins`, where everything comes from."""
    return "\n\n".join("\n".join(_block(each, width, origins=origins)) for each in explanations) + "\n"


def job(each: Explanation, width: int = 100) -> str:
    """Only what becomes of the job."""
    return "\n".join([visible(_head(each)), *_job(each, WORDS[each.scheduler], width)]) + "\n"


def _block(each: Explanation, width: int, *, origins: bool) -> Iterator[str]:
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
        yield from _sentences(_loan(each, loan, words), width)
    if borrowing := list(_borrowing(each, words)):
        yield ""
        yield from _sentences(borrowing, width, "")
    if each.interruption is not None:
        yield ""
        yield from _sentences([each.interruption.words], width, "")
    for found in each.fragmentation:
        yield ""
        yield from _sentences([_fragmentation(found, words)], width, "")
    for sentence in _hints(each.hints, words):
        yield ""
        yield from _sentences([sentence], width, "")
    if each.topology is not None:
        yield ""
        yield from _sentences(_topology(each.topology, words), width, "")
    if each.scaled:
        yield ""
        yield from _sentences(_scaled(each.scaled), width, "")
    if origins:
        yield ""
        yield from origins_view(each, width)
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


def _loan(each: Explanation, loan: Loan, words: Words) -> Iterator[str]:
    for pool in loan.pools:
        yield f"{pool.unit} keeps {human(pool.amount, loan.resource)} in its pool, for all below it."
    if not loan.pools and not loan.lenders:
        yield "It borrows from nobody."
    for reclaim, how in words.taken_back.items():
        found = [lender for lender in _largest(loan.lenders) if lender.reclaim == reclaim]
        if found:
            named = [f"{lender.unit} ({human(lender.amount, loan.resource)})" for lender in found]
            yield f"It may borrow what is idle of {_names(named)}; {how} (`reclaim: {reclaim}`)."
    borrowers = [f"{found.unit} ({human(found.amount, loan.resource)})" for found in _largest(loan.borrowers)]
    if borrowers:
        yield f"What it leaves idle may be borrowed by {_names(borrowers)}."
    elif loan.quota and each.kind != "organization":
        yield "Nobody may borrow what it leaves idle."


def _borrowing(each: Explanation, words: Words) -> Iterator[str]:
    """What holds for every resource."""
    if words.alone:
        yield words.alone
    elif each.queue and each.loans:
        yield f"Its own quota, lent while it is idle, comes back {words.comes_back[each.reclaim]}."
    if each.weighted and any(loan.pools or loan.lenders for loan in each.loans):
        yield (
            "Who borrows shares by weight: a borrower below its share may evict what another runs above its own "
            "(`sharing: weighted`)."
        )


def _largest(parties: Iterable[Party]) -> list[Party]:
    return sorted(parties, key=lambda each: (-each.amount, each.unit))


def _hints(hints: Sequence[Hint], words: Words) -> Iterator[str]:
    """What a job meets on nodes that are not there yet, or whose GPUs are claimed."""
    for autoscaler, sentence in words.autoscaled.items():
        if flavors := [hint.flavor for hint in hints if hint.autoscaler == autoscaler]:
            yield sentence.format(flavor=_names(flavors))
    for hint in hints:
        if classes := [f"{name} for {key}" for key, name in hint.device_classes.items()]:
            yield (
                f"{hint.flavor}: pods get GPUs by claims. A ResourceClaimTemplate names the class ({_names(classes)}), "
                "the pod names the template in `resourceClaims`, its container the claim in `resources.claims`; "
                "`--job batch` writes all of it."
            )


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


def _scaled(scaled: Mapping[str, int]) -> Iterator[str]:
    """How far KEDA goes, in each namespace where that differs."""
    most = [plural(number, "pod") for number in set(scaled.values())]
    if len(most) > 1:
        most = [f"{plural(number, 'pod')} in {namespace}" for namespace, number in scaled.items()]
    yield f"KEDA scales its work to no more than {_names(most)}: a ScaledObject that asks for more is refused."


def _job(each: Explanation, words: Words, width: int) -> Iterator[str]:
    if each.unasked:
        yield ""
        yield from _sentences([f"It has no queue, so it runs no job itself. Ask: {_names(each.unasked)}."], width, "")
    if each.answer is None:
        return
    answer = each.answer
    pod = ", ".join(f"{amount} {resource}" for resource, amount in quantities(answer.pod).items())
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
