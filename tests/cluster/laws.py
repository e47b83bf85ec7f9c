"""The laws of budgets (DESIGN.md 2.2), from what Kueue and the nodes report to a list of what is broken.

They know the promises as the organization has them and nothing of how they are lowered; only `idle` reads the live
Cohorts and ClusterQueues, through the model of Kueue's arithmetic. A promise is in GPUs, not in places: a law that says
a job must run holds where the nodes have room for its pods now (`_placeable`), or where all pods on the flavor are
multiples of its own, so that any GPUs that become free are places for it (`_fits_anywhere`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tenancy.model.organization import Quota
from tests.cluster.at_rest import Books, Eviction, Job, State, Unit, landing
from tests.kueue_model import QUEUE, Cell, Node, available


def violations(state: State) -> list[str]:
    """What is broken, one sentence each; empty when every law holds."""
    return [sentence for law in LAWS for sentence in law(state)]


def books(state: State) -> Iterator[str]:
    """What Kueue says that a queue holds is what the queue's admitted jobs request."""
    for kind, name in state.units:
        if kind == QUEUE:
            held: dict[Cell, int] = {}
            for job in state.jobs:
                for resource, count in job.wants.items() if job.queue == name and job.flavor else ():
                    held[job.flavor, resource] = held.get((job.flavor, resource), 0) + count
            said = {cell: count for cell, count in state.reserved.get(name, {}).items() if count}
            if said != held:
                yield f"Kueue says that {name} holds {said}, its admitted jobs request {held}"


def limits(state: State) -> Iterator[str]:
    """No unit holds more than its limit."""
    for node, unit in state.units.items():
        for cell in _cells(unit):
            held, most = _held(state.units, node, cell, state.reserved, kept=False), _promise(unit, cell).limit
            if held > most:
                yield f"{unit.title} holds {held} of {_named(cell)}, its limit is {most}"


def capacity(state: State) -> Iterator[str]:
    """All together hold no more than there is without spare nodes, and no node holds more than it has."""
    for name, flavor in state.flavors.items():
        for resource, most in flavor.capacity.items():
            held = sum(cells.get((name, resource), 0) for cells in state.reserved.values())
            if held > most:
                yield f"{held} of {_named((name, resource))} are held, there are {most}"
        for index, free in enumerate(flavor.free):
            yield from (f"node {index} of {name} is short of {-left} {key}" for key, left in free.items() if left < 0)


def places(state: State) -> Iterator[str]:
    """Every pod of an admitted job runs: nothing is admitted that has no node."""
    for job in state.jobs:
        if job.flavor and job.bound != job.pods:
            yield f"{_told(state, job)} is admitted on {job.flavor} and {job.bound} of its pods run there"


def reserved(state: State) -> Iterator[str]:
    """No job waits that fits into what its unit, or a unit above it, has reserved and does not use."""

    def due(job: Job, flavor: str) -> str:
        if not (_placeable(state, job, flavor) or _fits_anywhere(state, job, flavor)):
            return ""
        owner = _owner(state, job, flavor, "reserved")
        return owner and f"{_told(state, job)} waits, and {owner} has reserved enough of {flavor} for it"

    yield from _waiting(state, due)


def quota(state: State) -> Iterator[str]:
    """No job waits that fits into the unused quota of its unit, or of one above it, where lent quota comes back."""

    def due(job: Job, flavor: str) -> str:
        if not state.units[QUEUE, job.queue].reclaims or not _fits_anywhere(state, job, flavor):
            return ""
        owner = _owner(state, job, flavor, "quota")
        return owner and f"{_told(state, job)} waits, and {owner} has unused quota enough of {flavor} for it"

    yield from _waiting(state, due)


def idle(state: State) -> Iterator[str]:
    """No job waits that could run without taking anything from anybody."""

    def due(job: Job, flavor: str) -> str:
        wants = job.wants.items()
        free = all(count <= _available(state, job.queue, (flavor, key)) for key, count in wants)
        return f"{_told(state, job)} waits, and {flavor} is free" if free and _placeable(state, job, flavor) else ""

    yield from _waiting(state, due)


LAWS = (books, limits, capacity, places, reserved, quota, idle)


def owners(units: Mapping[Node, Unit], asked: Books, evictions: list[Eviction]) -> Iterator[str]:
    """No unit whose jobs, all together, ask for no more than its quota loses one to somebody outside.

    A unit that asks for so little never holds more, whatever the order of events was. `asked` has, by cell, what the
    jobs of a queue could have held since the last look, on every flavor where they could have landed.
    """
    for each in evictions:
        for node in _chain(units, each.victim):
            if _inside(units, each.preemptor, node):
                break
            cells = [cell for cell in _cells(units[node]) if cell[0] in each.flavors]
            if all(_held(units, node, cell, asked, kept=True) <= _promise(units[node], cell).quota for cell in cells):
                yield f"{units[node].title} asked for no more than its quota and lost a job to {each.preemptor}"
                break


def savers(units: Mapping[Node, Unit], asked: Books, evictions: list[Eviction]) -> Iterator[str]:
    """Nobody is evicted for a queue whose jobs, all together, ask for no more than it has reserved."""
    for each in evictions:
        unit = units[QUEUE, each.preemptor]
        cells = [cell for cell in _cells(unit) if cell[0] in each.flavors]
        wants = asked.get(each.preemptor, {})
        if all(wants.get(cell, 0) <= _promise(unit, cell).reserved for cell in cells):
            yield f"{unit.title} asked for no more than it has reserved, and a job of {each.victim} was evicted for it"


def _waiting(state: State, due: Callable[[Job, str], str]) -> Iterator[str]:
    """What is due to the waiting jobs of active queues; a strict queue owes nothing while its first may have to wait,
    and which one is first is not known of jobs that came in the same second."""
    for (kind, name), unit in state.units.items():
        waiting = [job for job in state.jobs if job.queue == name and not job.flavor]
        if kind == QUEUE and unit.active:
            found = [next(filter(None, (due(job, each) for each in landing(state, job))), "") for job in waiting]
            if not unit.strict or all(found):
                yield from filter(None, found)


def _owner(state: State, job: Job, flavor: str, promise: str) -> str:
    """The lowest unit, from the job's own upwards, whose promise has room for the job; empty where there is none or a
    limit on the way stands against it."""
    added = {(flavor, key): _of(state.reserved, job.queue, (flavor, key)) + count for key, count in job.wants.items()}
    books = {**state.reserved, job.queue: {**state.reserved.get(job.queue, {}), **added}}
    for node in _chain(state.units, job.queue):
        unit = state.units[node]
        room = [(_promise(unit, cell), _held(state.units, node, cell, books, kept=True)) for cell in added]
        if all(held <= getattr(promised, promise) for promised, held in room):
            return unit.title
        if any(held > promised.limit for promised, held in room):
            return ""
    return ""


def _held(units: Mapping[Node, Unit], node: Node, cell: Cell, books: Books, *, kept: bool) -> int:
    """What the queues of a unit hold. `kept` counts what a unit inside has reserved as held: nobody else can use it."""
    if node[0] == QUEUE:
        return _of(books, node[1], cell)
    held = 0
    for child, unit in units.items():
        if unit.parent == node:
            inside = _held(units, child, cell, books, kept=kept)
            held += max(inside, _promise(unit, cell).reserved) if kept else inside
    return held


def _placeable(state: State, job: Job, flavor: str) -> bool:
    """Whether the nodes have room for all pods now."""
    room = (min(free.get(key, 0) // count for key, count in job.pod.items()) for free in state.flavors[flavor].free)
    return sum(room) >= job.pods


def _fits_anywhere(state: State, job: Job, flavor: str) -> bool:
    """Whether every node is filled by pods of multiples of the job's own size, so that what is free has a place; a pod
    without GPUs on a GPU flavor spoils it."""
    here = state.flavors[flavor]
    others = [each.pod for each in state.jobs if each.flavor == flavor]
    ours = job.pod.keys() & here.mains
    return (
        bool(ours)
        and all(each.keys() & here.mains for each in others)
        and all(each.get(key, 0) % job.pod[key] == 0 for key in ours for each in (here.node, *others))
    )


def _available(state: State, queue: str, cell: Cell) -> int:
    if cell not in state.tree.quotas[QUEUE, queue]:
        return 0
    used = {name: cells.get(cell, 0) for name, cells in state.reserved.items()}
    return available(state.tree, (QUEUE, queue), cell, used)


def _chain(units: Mapping[Node, Unit], queue: str) -> Iterator[Node]:
    """The queue and the units above it, without the organization."""
    node: Node | None = (QUEUE, queue)
    while node in units and node is not None:
        yield node
        node = units[node].parent


def _inside(units: Mapping[Node, Unit], queue: str, node: Node) -> bool:
    return node in _chain(units, queue)


def _cells(unit: Unit) -> list[Cell]:
    return [(flavor, resource) for flavor, amounts in unit.quotas.items() for resource in amounts]


def _promise(unit: Unit, cell: Cell) -> Quota:
    return unit.quotas[cell[0]][cell[1]]


def _of(books: Books, queue: str, cell: Cell) -> int:
    return books.get(queue, {}).get(cell, 0)


def _named(cell: Cell) -> str:
    return f"{cell[0]} {cell[1]}"


def _told(state: State, job: Job) -> str:
    return f"{job.name} of {state.units[QUEUE, job.queue].title} ({job.pods} pods of {dict(job.pod)})"
