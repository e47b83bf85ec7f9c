"""What changes of Volcano's Queues need: an order that no sync finds, and what happens to work in queues that go.

Volcano's webhook compares each Queue with those that are stored, so that one sync can be refused for ever; the order
itself is `tenancy.backend.volcano.order`. What to do is said in the words of budgets, since those are what people edit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from tenancy.backend.reading import note
from tenancy.backend.volcano.order import inner, steps
from tenancy.compare.amounts import few, measure, shown
from tenancy.compare.effects import Effects
from tenancy.compare.procedures import Mark, Names, Procedure, about
from tenancy.compare.snapshot import Identity, Snapshot, Value
from tenancy.model.hardware import CPU, MEMORY
from tenancy.model.quantity import parse

_GROUP: Final = "scheduling.volcano.sh"
_FEW_PASSES: Final = 3
"""Of a sync that nobody needs to hear about."""
_SHOWN: Final = 6
"""Units whose first budgets are listed."""

_CONVERTED: Final = (
    "Under this name is a queue of units on one side and a queue of work on the other: work that waits in it stops the "
    "scheduling of the whole cluster while it has a queue below it, and running pods make Volcano refuse that queue.",
    "Give the unit another name, so that a new queue comes and the old one goes.",
)  # Run on Volcano 1.15.1.

_MIXED: Final = (
    "Each gives something and takes something that is only free once others have given: Volcano refuses each for the "
    "other, and a sync may never end."
)

_PARKED: Final = (
    "It moves below another queue, which needs the room that it leaves: Volcano refuses the one for the other.",
    "After the merge, when the sync is refused, move it out of the way by hand, `kubectl patch "
    'queues.scheduling.volcano.sh NAME --type merge -p \'{"spec": {"parent": "root"}}\'`; the next try of the sync '
    "puts it in its place.",
)  # Below `root` the webhook compares nothing; the way there and back was run on Volcano 1.15.1.

_REMOVED: Final = (
    "Volcano deletes a queue under its running pods: they go on, and no quota counts them.",
    "Merge `state: draining` first and wait until nothing runs there, or delete the jobs. Close no queue for that: "
    "while one is closing, Volcano refuses every edit of it, and so the sync.",
)  # Run on Volcano 1.15.1.


def queue_changes(old: Snapshot, new: Snapshot, effects: Effects, named: Names) -> Iterator[Procedure]:
    """Everything to know of the Queues of every cluster before the merge; `named` says how an object is called."""
    removed: list[str] = []
    for cluster in sorted({*old.clusters, *new.clusters}):
        was, now = _queues(old, cluster), _queues(new, cluster)
        if was == now:
            continue

        def name(queue: str, cluster: str = cluster) -> str:
            return named(Identity(cluster, _GROUP, "Queue", "", queue))

        yield from _ordered(was, now, name)
        removed += _removed(was, now, _warned(effects, cluster))
    yield from about(Mark.WARNING, dict.fromkeys(removed), *_REMOVED)


def _queues(snapshot: Snapshot, cluster: str) -> dict[str, Value]:
    return {each.name: value for each, value in snapshot.items.items() if each[:3] == (cluster, _GROUP, "Queue")}


def _ordered(was: Mapping[str, Value], now: Mapping[str, Value], name: Callable[[str], str]) -> Iterator[Procedure]:
    """What a sync does not do by itself. The passes of a first one are no news: each level waits for the one above."""
    plan = steps(was.values(), now.values())
    yield from about(Mark.OUTAGE, map(name, plan.conversions), *_CONVERTED)
    mixed = [step.queue for step in (*plan.commits, ())[0] if step.name in plan.mixed and note(step.queue, "unit")]
    budgets = [_budget(was[_name(queue)], queue, now[_name(queue)]) for queue in mixed]
    yield from about(Mark.STEPS, map(_place, mixed), _MIXED, _first(budgets))
    yield from about(Mark.STEPS, (name(step.name) for step in plan.parking), *_PARKED)
    if plan.passes > _FEW_PASSES and was:
        yield from about(
            Mark.WARNING,
            [name(step.name) for commit in plan.commits for step in commit],
            f"What gives must be there before what takes: the sync may be refused and try again up to {plan.passes} "
            "times.",
            "Leave it to its retries, and close no queue meanwhile.",
        )


def _first(budgets: list[str]) -> str:
    """What the first of two merges holds. The hardware of a flavor, which is no unit's, need not wait for it."""
    return (
        f"First merge only what gets smaller, with these budgets: {few(budgets, _SHOWN, '; ')}. Merge the rest once "
        "that is synced."
    )


def _budget(was: Value, between: Value, now: Value) -> str:
    """The numbers that change and that a unit has in between, as far as people write them."""
    sides = [_numbers(queue) for queue in (was, between, now)]
    devices = {name for side in sides for name, _ in side} - {CPU, MEMORY}
    numbers = [
        f"{measure(name)} {promise} {shown(amount, name)}"
        for (name, promise), amount in sorted(sides[1].items())
        if name in (devices or {CPU, MEMORY}) and sides[0].get((name, promise)) != sides[2].get((name, promise))
    ]
    return f"{_place(between)}: {', '.join(numbers)}"


def _numbers(queue: Value) -> dict[tuple[str, str], int]:
    """By resource and promise."""
    spec = queue["spec"]
    lists = {"reserved": spec["guarantee"]["resource"], "quota": spec["deserved"], "limit": spec["capability"]}
    return {(name, key): parse(text, name) for key, each in lists.items() for name, text in each.items()}


def _name(queue: Value) -> str:
    return str(queue["metadata"]["name"])


def _place(queue: Value) -> str:
    """The unit and the flavor, or what the queue is called where it is no unit's."""
    title, flavor = note(queue, "unit"), note(queue, "flavor")
    return f"{title} on {flavor}" if title else _name(queue)


def _removed(was: Mapping[str, Value], now: Mapping[str, Value], warned: set[str]) -> Iterator[str]:
    """Queues of work that go, though their units took work until then."""
    for queue in sorted(was.keys() - now.keys() - inner(was)):
        title, state = (note(was[queue], key) for key in ("unit", "state"))
        if title not in {"", *warned} and state != "draining":
            yield _place(was[queue])


def _warned(effects: Effects, cluster: str) -> set[str]:
    """Units that go with namespaces of theirs, of which is warned already."""
    destroyed = [f"{each.unit}/" for each in effects.namespaces if not each.added and each.cluster == cluster]
    gone = {each.unit for each in effects.units if not each.added and each.cluster == cluster}
    return {unit for unit in gone if any(name.startswith(f"{unit}/") for name in destroyed)}
