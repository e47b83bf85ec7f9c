"""The order in which the Queues of a cluster can change, and whether one sync gets there at all.

What gives goes before what takes: queues that go, children first; cuts, from the leaves up; then growth and new queues,
from the top down. A sync that knows no order and tries again gets there too, unless a queue gives one thing and takes
another inside a parent that is full. Then a first commit holds the smaller of both numbers everywhere, and the second
the rest. A queue that moves to another parent may find no room there before it has left: it is parked below `root`,
where the webhook compares nothing.

The state between is always valid: of two valid trees, the smaller numbers of the children are together at most the
smaller numbers of the parent. It is always reached: only cuts lead to it and only growth leads away, so from the leaves
up and from the top down nothing is ever in the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import SYNC_OPTIONS
from tenancy.backend.volcano.acceptance import Amounts, Change, Entry, State, capable, change, entry, rounds, summed
from tenancy.backend.volcano.names import holds_units
from tenancy.model.quantity import canonical
from tenancy.model.volcano import DEFAULT, ROOT

_KEPT: Final = "Prune=false"

Queues: TypeAlias = Mapping[str, Object]
"""By name."""


@dataclass(frozen=True, slots=True)
class Step:
    """One request to the API server."""

    action: Literal["create", "update", "delete"]
    name: str
    queue: Object
    """What is sent; of a queue that goes, what was there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to get from one state of a cluster's Queues to another. Nothing is refused where it is followed in order."""

    parking: tuple[Step, ...]
    """Moves below `root` before all else. No organization says that, so somebody does it by hand."""
    commits: tuple[tuple[Step, ...], ...]
    """None where nothing changes; two where one sync may never end."""
    passes: int
    """The most passes that the sync of a commit takes if it sends all that is pending in whatever order, deletions
    before all else, and sends again what was refused."""
    mixed: tuple[str, ...]
    """Why there are two: queues that give one thing and take another, where no sync is certain to end."""
    conversions: tuple[str, ...]
    """Queues that hold other queues on one side and work on the other. No order helps: work that waits in a queue stops
    the scheduling of the whole cluster once the queue has a child, and running pods refuse the child (run on 1.15.1).
    """


def steps(old: Iterable[Object], new: Iterable[Object]) -> Plan:
    """The plan from the Queues of one cluster to those that shall be there.

    Each side must be valid by itself, and no queue above another on one side and below it on the other: in some orders
    the webhook would take a cycle of the two (run on 1.15.1). `compile` writes neither.
    """
    now = _by_name(new)
    was = {name: queue for name, queue in _by_name(old).items() if name in now or not _stays(name, queue)}
    both = was.keys() & now.keys()
    moving = {name for name in both if _parent(was[name]) != _parent(now[name])}
    gone = was.keys() - now.keys()
    parked = {name for name in moving if _parent(was[name]) in gone}
    start = _parked(was, parked)
    syncs = [_sync(start, now)]
    if not moving.isdisjoint(syncs[0].blocked):
        parked |= moving & syncs[0].blocked
        start = _parked(was, parked)
        syncs = [_sync(start, now)]
    mixed = sorted(name for name in (syncs[0].blocked & both) - moving if all(_change(was[name], now[name])))
    if syncs[0].blocked:
        parked, start = moving, _parked(was, moving)
        between = _smaller(start, now)
        syncs = [_sync(start, between), _sync(between, now)]
    return Plan(
        parking=tuple(Step("update", name, start[name]) for name in sorted(parked) if start[name] != was[name]),
        commits=tuple(sync.steps for sync in syncs if sync.steps),
        passes=max(sync.passes for sync in syncs),
        mixed=tuple(mixed),
        conversions=tuple(sorted((inner(was) ^ inner(now)) & both)),
    )


def inner(queues: Queues) -> set[str]:
    """The queues that no work may name: those above others, and those of units that hold units."""
    return {_parent(queue) for queue in queues.values()} | {name for name in queues if holds_units(queues[name])}


class _Sync(NamedTuple):
    """What one sync does."""

    steps: tuple[Step, ...]
    passes: int
    blocked: frozenset[str]
    """Queues that it may never change."""


def _sync(was: Queues, now: Queues) -> _Sync:
    """From one state to another at once."""
    gone = was.keys() - now.keys()
    depth = _depths({name: _parent(queue) for name, queue in was.items()}) if gone else {}
    deletes = [Step("delete", name, was[name]) for name in sorted(gone, key=lambda name: (-depth[name], name))]
    before = {name: entry(queue) for name, queue in was.items() if name in now}
    after = {name: before[name] if was.get(name) is queue else entry(queue) for name, queue in now.items()}
    found, blocked = rounds(before, after)
    changed = [name for name, queue in now.items() if was.get(name) != queue]
    turn = {name: index for index, names in enumerate(found) for name in names}
    applies = [
        Step("update" if name in was else "create", name, now[name])
        for name in sorted(changed, key=_sequence(before, after, changed, turn))
    ]
    going, coming = _levels(was, gone), max(len(found), 1 if changed else 0)
    return _Sync((*deletes, *applies), going + coming - (1 if going and coming else 0), frozenset(blocked))


def _sequence(
    was: State, now: State, changed: Iterable[str], turn: Mapping[str, int]
) -> Callable[[str], tuple[int, int, int, str]]:
    """The key of a sequence in which nothing is refused: cuts from the leaves up, then growth from the top down. Where
    more than that happens, the turns in which things become certain come first."""
    changes = {name: change(was[name], now[name]) for name in changed if name in was}
    moved = {name for name in changes if was[name].parent != now[name].parent}
    simple = all(was[name].parent == ROOT for name in moved) and not any(map(all, changes.values()))
    depth = _depths({name: each.parent for name, each in now.items()})

    def key(name: str) -> tuple[int, int, int, str]:
        cut = name in changes and name not in moved and changes[name].shrinks
        order = (0, -depth[name]) if cut else (1, depth[name])
        return (0 if simple else turn.get(name, 0), *order, name)

    return key


def _smaller(was: Queues, now: Queues) -> dict[str, Object]:
    """The queues of both sides, with the smaller of both numbers; in the place where they are."""
    found: dict[str, Object] = {}
    for name in was.keys() & now.keys():
        one, other = entry(was[name]), entry(now[name])
        least = _least(one, other)
        if least == other:
            found[name] = now[name]
        else:
            found[name] = was[name] if least == one else _with(was[name], least)
    return found


def _least(one: Entry, other: Entry) -> Entry:
    """The parent of the first. A guarantee or deserved that is not named is less than 0, a capability without limit."""
    guarantee, deserved = (
        {name: min(summed(mine, name), summed(yours, name)) for name in mine.keys() & yours.keys()}
        for mine, yours in zip(one.summed, other.summed, strict=True)
    )
    names = one.capability.keys() | other.capability.keys()
    capability = {name: min(capable(one.capability, name), capable(other.capability, name)) for name in names}
    return Entry(one.parent, (guarantee, deserved), capability)


def _with(queue: Object, lists: Entry) -> Object:
    guarantee, deserved = map(_written, lists.summed)
    numbers = {"capability": _written(lists.capability), "deserved": deserved, "guarantee": {"resource": guarantee}}
    return {**queue, "spec": {**queue["spec"], **numbers}}


def _written(amounts: Amounts) -> dict[str, str]:
    return {name: canonical(amount, name) for name, amount in sorted(amounts.items())}


def _parked(queues: Queues, names: Iterable[str]) -> dict[str, Object]:
    """The queues with some of them below `root`."""
    moved = {name: {**queues[name], "spec": {**queues[name]["spec"], "parent": ROOT}} for name in names}
    return {**queues, **moved}


def _by_name(queues: Iterable[Object]) -> dict[str, Object]:
    return {name: queue for queue in queues if (name := queue["metadata"]["name"]) != ROOT}


def _stays(name: str, queue: Object) -> bool:
    """Whether it stays where it is no longer written: Volcano refuses to delete its own queues."""
    options: str = (queue["metadata"].get("annotations") or {}).get(SYNC_OPTIONS, "")
    return name == DEFAULT or _KEPT in options.split(",")


def _change(was: Object, now: Object) -> Change:
    return change(entry(was), entry(now))


def _parent(queue: Object) -> str:
    return str((queue.get("spec") or {}).get("parent") or ROOT)


def _depths(parents: Mapping[str, str]) -> dict[str, int]:
    """How many queues each has above it."""
    depths: dict[str, int] = {}

    def depth(name: str) -> int:
        if name not in depths:
            depths[name] = depth(parents[name]) + 1 if parents[name] in parents else 0
        return depths[name]

    return {name: depth(name) for name in parents}


def _levels(queues: Queues, gone: Iterable[str]) -> int:
    """How many passes the deletions take: a queue goes once those below it are gone."""
    going = set(gone)
    children = {_parent(queues[name]) for name in going}
    levels = 0
    while going:
        levels += 1
        going -= {name for name in going if name not in children}
        children = {_parent(queues[name]) for name in going}
    return levels
