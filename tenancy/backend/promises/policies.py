"""What the policy, the weight, the state and the topology of a unit promise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tenancy.backend.promises.said import Key, Look, Maker, Said, Weights, borrows_here
from tenancy.check.wording import listed, runs_jobs
from tenancy.model.organization import Node
from tenancy.model.reach import budgeted, lends, queue_node
from tenancy.plan.topology import default_topology


def _weight(seen: Look, unit: Node) -> Iterator[Said]:
    parent = unit.parent
    if seen.plan.cluster.sharing != "weighted" or parent is None or not borrows_here(seen, unit):
        return
    if parent.path not in seen.weights:
        seen.weights[parent.path] = _sum(seen, parent)
    total, differ = seen.weights[parent.path]
    own = _weight_of(unit)
    if total > own:
        words = f"it gets {own:g} of {total:g} parts of what is idle"
        yield Said("weight", unit, words, value="differs" if differ else "", at=(*unit.path, "weight"))


def _sum(seen: Look, parent: Node) -> Weights:
    """Projects without a budget are one sibling of weight 1."""
    children = [unit for unit in budgeted(parent) if seen.plan.name in unit.clusters]
    weights = [_weight_of(unit) for unit in children if borrows_here(seen, unit)]
    if parent.kind == "team" and len(children) < len(parent.children) and borrows_here(seen, parent):
        weights.append(1)
    return sum(weights), len(set(weights)) > 1


def _weight_of(unit: Node) -> float:
    return unit.document.weight if unit.document is not None else 1


def _reclaim(seen: Look, unit: Node) -> Iterator[Said]:
    """Where somebody may borrow from the unit."""
    if runs_jobs(unit) and any(lends(unit, flavor, seen.known) for flavor in seen.flavors):
        yield Said("reclaim", unit, _RECLAIM[unit.rules.reclaim], value=unit.rules.reclaim)


_RECLAIM: Final = {
    "any": "what it has lent comes back on demand, whoever runs there",
    "lower-priority": "what it has lent comes back on demand from jobs of lower priority only",
    "never": "what it has lent comes back when the jobs there end, and nobody is evicted for it",
}


def _preemption(seen: Look, unit: Node) -> Iterator[Said]:
    """Without priorities all jobs are equal, and only newer ones of the same could be evicted."""
    value = unit.rules.preemption
    if runs_jobs(unit) and (seen.plan.priorities or value == "lower-or-newer-equal"):
        yield Said("preemption", unit, _PREEMPTION[value], value=value)


_PREEMPTION: Final = {
    "lower-priority": "its jobs evict those of lower priority in its own queue",
    "lower-or-newer-equal": "its jobs evict those of lower priority, and newer ones of the same, in its own queue",
    "never": "its jobs evict none in its own queue",
}


def _borrowing_preemption(seen: Look, unit: Node) -> Iterator[Said]:
    """Under weighted sharing it is refused, or without effect."""
    in_force = unit.rules.borrowing_preemption == "lower-priority" and seen.plan.cluster.sharing == "first-come"
    if in_force and runs_jobs(unit) and borrows_here(seen, unit):
        yield Said("borrowingPreemption", unit, "its jobs that borrow evict borrowers of lower priority")


def _queueing(seen: Look, unit: Node) -> Iterator[Said]:
    del seen
    if runs_jobs(unit):
        yield Said("queueing", unit, _QUEUEING[unit.rules.queueing], value=unit.rules.queueing)


_QUEUEING: Final = {
    "best-effort": "its jobs wait in a queue, and one that fits passes one that does not",
    "strict": "its jobs wait in a queue, and none passes the one before it",
}


def _state(seen: Look, unit: Node) -> Iterator[Said]:
    del seen
    if unit.state != "active" and runs_jobs(unit):
        said = (above for above in (unit, *unit.ancestors()) if above.document and above.document.state == unit.state)
        yield Said("state", unit, _STATES[unit.state], value=unit.state, at=(*next(said, unit).path, "state"))


_STATES: Final = {"held": "nothing new starts", "draining": "nothing new starts, and what runs is ended"}


def _topology_default(seen: Look, unit: Node) -> Iterator[Said]:
    """Of the unit that says it; projects without numbers of their own stand with their team."""
    for each in (unit, *(child for child in unit.children if child.kind == "project" and not child.budget)):
        if each.document is not None and each.document.topology is not None:
            found = default_topology(seen.org, each.topology, queue_node(each), seen.plan.flavors)
            if found is not None:
                one = f"one `{found.level}`" if found.mode == "required" else f"as few `{found.level}` as can be"
                words = f"its GPU jobs that ask for no topology stay within {one}"
                yield Said("topologyDefault", each, words, at=(*each.path, "topology"))


def _priorities(seen: Look, unit: Node) -> Iterator[Said]:
    """Of the unit that says it; projects without numbers of their own stand with their team."""
    for each in (unit, *(child for child in unit.children if child.kind == "project" and not child.budget)):
        if each.document is not None and each.document.priorities is not None and seen.plan.priorities:
            may = f"no other priority than {listed(each.priorities, 'or')}" if each.priorities else "no priority at all"
            words = f"its jobs have {may}"
            yield Said("unitPriorities", each, words, at=(*each.path, "priorities"))


POLICIES: Final[Mapping[Key, Maker]] = {
    "weight": _weight,
    "reclaim": _reclaim,
    "preemption": _preemption,
    "borrowingPreemption": _borrowing_preemption,
    "queueing": _queueing,
    "state": _state,
    "topologyDefault": _topology_default,
    "unitPriorities": _priorities,
}
"""By the key of the promise."""
