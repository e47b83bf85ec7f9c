"""What Volcano makes of each promise."""

from __future__ import annotations

from typing import Final

from tenancy.backend.parity import KEPT, Answer, Answers, Fate, Made, differently, kept, losing
from tenancy.backend.promises import Look, Said, borrowers
from tenancy.backend.shared.admission import mutates
from tenancy.backend.shared.losses import (
    DRAIN_ENDS_NOTHING,
    HOLD_LETS_PENDING_START,
    PREEMPTION,
    QUEUEING_NOT_STRICT,
    guarded,
)
from tenancy.backend.volcano.losses import (
    BORROWING_PREEMPTION_LOST,
    DEPARTMENT_UNPROTECTED,
    FEWER,
    GANG_NOT_TIMED,
    KILLED,
    LIMIT_STOPS_RECLAIM,
    PART,
    QUOTA_BACK,
    RECLAIM_UNCONDITIONAL,
    RESERVE_BACK,
    RESERVE_LENT_OUT,
    SLACK,
    SLACK_RECLAIMS_MORE,
    WEIGHT_NOT_A_SHARE,
)
from tenancy.check.wording import amount_of, number_path
from tenancy.model.hardware import CPU, MEMORY, Hardware
from tenancy.model.organization import Node
from tenancy.model.reach import budgeted, rivalled
from tenancy.model.versions import number

_PROTECTS: Final = (1, 15)
"""The first minor whose capacity plugin has ancestorReclaimLevel."""


def _reserved(seen: Look, said: Said) -> Made:
    """One borrower alone is held back (run on 1.15.1)."""
    flavor = said.flavor
    if flavor is None or not any(borrowers(seen, flavor, main, said.unit.queue) > 1 for main in said.amounts):
        return KEPT
    return losing(
        RESERVE_LENT_OUT,
        f"two borrowers together use that up while it is idle; eviction brings it back in {RESERVE_BACK}",
    )


def _quota(seen: Look, said: Said) -> Made:
    """Of a unit that holds others, whether it is protected; of a queue, whether its cpu and memory go with its GPUs."""
    unit, flavor = said.unit, said.flavor
    if flavor is None:
        return KEPT
    if unit.inner and number(seen.plan.volcano) < _PROTECTS and _exposed(seen, unit, flavor):
        return losing(DEPARTMENT_UNPROTECTED, "other units take back of it what one inside has beyond its own")
    return _slack(seen, unit, flavor) or KEPT


def _exposed(seen: Look, unit: Node, flavor: Hardware) -> bool:
    """Whether a queue inside may use more than its own of the unit's quota, while others have a quota to take back."""
    whole, pool = seen.org.root.entries[flavor.name].amounts, seen.groups[seen.plan.organization].pool[flavor.name]
    own = unit.entries[flavor.name].amounts
    inside = [child.entries[flavor.name].amounts for child in budgeted(unit)]
    if (shared := seen.queues.get(unit.queue)) is not None:
        inside.append(dict(shared.quotas[flavor.name]))
    return any(
        whole[main].quota - pool[main] > own[main].quota
        and any(each[main].limit > each[main].quota < own[main].quota for each in inside)
        for main in flavor.mains
    )


def _slack(seen: Look, unit: Node, flavor: Hardware) -> Made | None:
    """What of cpu and memory in the quota of the unit's queue is not what follows its GPUs."""
    queue = seen.queues.get(unit.queue)
    if flavor.is_cpu or queue is None:
        return None
    amounts = queue.quotas[flavor.name]
    for resource in (CPU, MEMORY):
        follow = sum(amounts[main].quota * flavor.follows[main][resource] for main in flavor.mains)
        if amounts[resource].quota != follow:
            has, goes = amount_of(amounts[resource].quota, resource), amount_of(follow, resource)
            becomes = (
                f"it has {has} where {goes} go with its GPUs: what is left over of one takes back more of the other"
            )
            return losing(SLACK_RECLAIMS_MORE, becomes, number_path(unit, flavor, "quota", resource))
    return None


def _weight(seen: Look, said: Said) -> Made:
    del seen
    becomes = "it goes to who waits and uses the smallest part of its quota"
    return losing(WEIGHT_NOT_A_SHARE, becomes) if said.value == "differs" else Made(Fate.DIFFERENTLY, becomes)


def _reclaim(seen: Look, said: Said) -> Made:
    if (around := _walled(seen, said.unit)) is not None:
        becomes = f"not from units inside `{around.title}` while that is at its limit and a node has room"
        return losing(LIMIT_STOPS_RECLAIM, becomes)
    return KEPT if said.value == "any" else losing(RECLAIM_UNCONDITIONAL, "it comes back on demand, from any job")


def _walled(seen: Look, unit: Node) -> Node | None:
    """The nearest unit around this one that has a limit below all there is, and inside which others borrow from it."""
    for flavor in seen.flavors:
        for main in flavor.mains:
            if unit.entries[flavor.name].amounts[main].quota:
                for around in rivalled(unit, flavor, main, seen.known):
                    if around.entries[flavor.name].amounts[main].limit < flavor.capacity[main]:
                        return around
    return None


def _borrowing_preemption(seen: Look, said: Said) -> Made:
    del seen, said
    return losing(BORROWING_PREEMPTION_LOST, "they wait until something is idle")


def _queueing(seen: Look, said: Said) -> Made:
    del seen
    return KEPT if said.value == "best-effort" else losing(QUEUEING_NOT_STRICT, "a job that fits starts before it")


def _state(seen: Look, said: Said) -> Made:
    del seen
    if said.value == "draining":
        return losing(DRAIN_ENDS_NOTHING, "what runs goes on to its end, and what waited before still starts")
    return losing(HOLD_LETS_PENDING_START, "what waited before it was held still starts")


def _gang(seen: Look, said: Said) -> Made:
    del seen
    becomes = "a job that is not ready is never put back"
    return losing(GANG_NOT_TIMED, becomes) if said.value == "written" else Made(Fate.DIFFERENTLY, becomes)


def _cpu_jobs(seen: Look, said: Said) -> Made:
    del seen
    return KEPT if said.value == "fence" else Made(Fate.DIFFERENTLY, "only those that name a queue of this flavor")


def _topology_default(seen: Look, said: Said) -> Made:
    del said
    becomes = "Volcano jobs do, by the flavor of their queue; other work is placed pod by pod"
    return Made(Fate.DIFFERENTLY, becomes if mutates(seen.plan) else "nothing gives it to them: a job asks by itself")


ANSWERS: Final[Answers] = {
    "gang": Answer("together, or none, if minAvailable is all of them; never put back", _gang, (GANG_NOT_TIMED,)),
    "priorities": kept(),
    "interruption": guarded("interruption"),
    "placement": kept(),
    "flavors": differently("a job names a queue, and that is of one flavor"),
    "reclaimTime": differently(f"it is back in {QUOTA_BACK}"),
    "reclaimGangs": differently(f"no more than its minAvailable: {PART}; nothing where {FEWER}"),
    "reclaimEvictions": differently(f"gangs restart as a whole, which ended {KILLED}"),
    "reclaimBounds": differently(
        f"a queue that has cpu or memory left over takes GPUs back beyond its quota: {SLACK}",
        "more, where cpu or memory of its quota are left over",
    ),
    "cpuJobs": Answer("`lend`: only jobs that name a queue of the flavor", _cpu_jobs),
    "spareNodes": differently("who may borrow uses them as well; all quotas hold without them"),
    "wholeNodes": kept(),
    "topology": differently("Volcano learns the levels from the nodes' labels, and enforces none before it has"),
    "topologyDefault": Answer("Volcano jobs alone; before Kubernetes 1.36 a job asks by itself", _topology_default),
    "unitPriorities": guarded("priorities"),
    "reserved": Answer(f"lent to two borrowers together; back in {RESERVE_BACK}", _reserved, (RESERVE_LENT_OUT,)),
    "quota": Answer(
        "where cpu and memory do not follow the GPUs, a queue takes back more; before 1.15 a department may be pushed "
        "below its own",
        _quota,
        (SLACK_RECLAIMS_MORE, DEPARTMENT_UNPROTECTED),
    ),
    "limit": kept(),
    "borrowing": kept(),
    "pool": kept(),
    "weight": Answer("to who waits and uses the smallest part of its quota", _weight, (WEIGHT_NOT_A_SHARE,)),
    "reclaim": Answer(
        "always as `any`; not inside a unit that is at its limit while a node has room",
        _reclaim,
        (RECLAIM_UNCONDITIONAL, LIMIT_STOPS_RECLAIM),
    ),
    "preemption": PREEMPTION,
    "borrowingPreemption": Answer("always as `never`", _borrowing_preemption, (BORROWING_PREEMPTION_LOST,)),
    "queueing": Answer("always as `best-effort`", _queueing, (QUEUEING_NOT_STRICT,)),
    "state": Answer(
        "nothing new is taken; what waited still starts, and nothing is ended",
        _state,
        (HOLD_LETS_PENDING_START, DRAIN_ENDS_NOTHING),
    ),
}
