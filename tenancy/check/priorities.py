"""Priorities: names and values that every scheduler takes, who may have them, and what their jobs take when their GPUs
are taken back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check import mending
from tenancy.check.finding import Check, Finding
from tenancy.check.wording import amount_of, comparable, listed, nearest, under_kueue
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Gang
from tenancy.model.document_guards import Priority
from tenancy.model.duration import parse_duration, spoken
from tenancy.model.organization import Node, Org, namespaces
from tenancy.model.priorities import HIGHEST, LOWEST, preemptible, priorities
from tenancy.model.reach import borrows_gpus, kept, queue_node, usable
from tenancy.model.syntax import is_dns_subdomain

PRIORITY_RANGE: Final = Rule(
    "priority-range",
    Severity.ERROR,
    "A priority outside the range of Kubernetes",
    "Kueue cannot read a WorkloadPriorityClass above int32, which the API server refuses only from Kubernetes 1.36 "
    "on: before, after the manager's next restart no job of the whole cluster is admitted. PriorityClasses above "
    "1000000000 are kept for the system and refused.",
)
PRIORITY_NAME: Final = Rule(
    "priority-name",
    Severity.ERROR,
    "A name that a priority cannot have",
    "Jobs choose a priority by a label, whose value has at most 63 characters. Names that start with system- are kept "
    "for the cluster: the API server refuses a PriorityClass of that name, though Kueue's own class would pass.",
)
PRIORITY_DEFAULT: Final = Rule(
    "priority-default",
    Severity.WARNING,
    "A priority called `default`",
    "From Kueue 0.20 on (0.18 with a feature gate) the class called `default` is given to every job that names "
    "none: an upgrade would change the order of all queues.",
)
UNKNOWN_PRIORITY: Final = Rule(
    "unknown-priority",
    Severity.ERROR,
    "A priority that the organization does not have",
    "There is no class of that name: a job that names it is refused, and those of the priority that is meant are "
    "refused as well.",
)
PRIORITY_BEYOND_PARENT: Final = Rule(
    "priority-beyond-parent",
    Severity.ERROR,
    "A priority that the unit above may not have",
    "What a unit allows holds for all below it: with a higher priority a team would evict jobs of the others, which "
    "whoever answers for the unit above has ruled out.",
)
NO_PREEMPTIBLE_PRIORITY: Final = Rule(
    "no-preemptible-priority",
    Severity.WARNING,
    "A unit that may borrow GPUs and has no priority for it",
    "GPU jobs of a unit that may borrow must have a priority that is `preemptible`: what is borrowed may be taken "
    "back at any time. Without one, every GPU job of the unit breaks the guard `interruption`, also within its quota.",
)
GRACE_PERIOD: Final = Rule(
    "grace-period",
    Severity.ERROR,
    "A grace period that gives no time",
    "It is what the pods of a `checkpointed` job have between SIGTERM and SIGKILL, to save their state a last time.",
)
GRACE_OUTLASTS_START: Final = Rule(
    "grace-outlasts-start",
    Severity.WARNING,
    "A grace period as long as the start timeout",
    "Kueue admits the owner's job as soon as a borrower is evicted, while the borrower's pods still end on its GPUs "
    "(run on 0.19.2). The start timeout runs meanwhile: when it is over, the owner's job is evicted itself, and after "
    "its retries it is given up.",
)


def values(org: Org) -> Iterator[Finding]:
    """Priorities have values and names that both Kueue and Kubernetes take."""
    for name, found in priorities(org.document).items():
        path, value = ("priorities", name), found.value
        if not LOWEST <= value <= HIGHEST:
            message = f"priority `{name}` is `{value}`, which is out of range"
            help_ = f"write a number from {LOWEST} to {HIGHEST}"
            yield Finding(PRIORITY_RANGE, _number(org, name), message, help_)
        if name.startswith("system-") or len(name) > 63 or not is_dns_subdomain(name):
            message = f"`{name}` cannot be the name of a priority"
            help_ = "write lower-case letters, digits, `-` and `.`, at most 63 characters, not starting with `system-`"
            yield Finding(PRIORITY_NAME, path, message, help_, at_key=True)
        if name == "default" and any(cluster.scheduler == "kueue" for cluster in org.document.clusters.values()):
            message = "priority `default` will be given to jobs that name none"
            yield Finding(PRIORITY_DEFAULT, path, message, "give it another name, such as `standard`", at_key=True)


def _number(org: Org, name: str) -> KeyPath:
    """Where the value of a priority stands."""
    whole = isinstance(org.document.priorities[name], Priority)
    return ("priorities", name, "value") if whole else ("priorities", name)


def graces(org: Org) -> Iterator[Finding]:
    """A grace period is a time, and belongs to a priority whose jobs save their state."""
    for name, entry in org.document.priorities.items():
        if not isinstance(entry, Priority) or entry.grace_period is None:
            continue
        path, said = ("priorities", name, "gracePeriod"), entry.grace_period
        time = parse_duration(said)
        if entry.preemptible != "checkpointed":
            what = f"is `{entry.preemptible}`" if entry.preemptible else "says nothing of being interrupted"
            message = f"priority `{name}` has a grace period, but {what}, so nobody keeps it"
            help_ = "write `preemptible: checkpointed` beside it, or remove it"
            yield Finding(GRACE_PERIOD, path, message, help_)
        elif not time:
            what = "is not a duration" if time is None else "is no time at all"
            help_ = "write hours, minutes and seconds, such as `90s` or `5m`; for work that saves nothing"
            help_ += " write `preemptible: restartable` without it"
            yield Finding(GRACE_PERIOD, path, f"the grace period `{said}` of priority `{name}` {what}", help_)


def patience(org: Org) -> Iterator[Finding]:
    """What is taken back is free before the job that waits for it is given up."""
    written = org.document.policy.gang is not None
    said = (org.document.policy.gang or Gang()).start_timeout
    start = parse_duration(said)
    if not start or not any(under_kueue(org, cluster) for cluster in org.document.clusters):
        return
    for name, found in priorities(org.document).items():
        if found.grace >= start:
            message = (
                f"pods of priority `{name}` may take {spoken(found.grace)} to end, and a job that "
                f"waits for their GPUs is evicted after `{said}`"
            )
            help_ = "write a shorter grace period, or a longer `startTimeout` in `policy.gang`"
            other = (("the start timeout", ("policy", "gang", "startTimeout")),) if written else ()
            yield Finding(GRACE_OUTLASTS_START, ("priorities", name, "gracePeriod"), message, help_, other)


def lists(org: Org) -> Iterator[Finding]:
    """A unit has priorities of the organization, and no others than the unit above."""
    known = list(org.document.priorities)
    for unit in org.units:
        for index, name in enumerate((unit.document.priorities or ()) if unit.document is not None else ()):
            path = (*unit.path, "priorities", index)
            if name not in known:
                has = f"it has {listed(known)}" if known else "it has none yet: write it under `priorities`"
                yield Finding(
                    UNKNOWN_PRIORITY,
                    path,
                    f"`{unit.title}` may have priority `{name}`, which the organization does not have",
                    f"{nearest(name, known)}{has}",
                    edits=mending.meant(path, name, known),
                )
            elif unit.parent is not None and name not in unit.parent.priorities:
                above = _lister(unit.parent)
                yield Finding(
                    PRIORITY_BEYOND_PARENT,
                    path,
                    f"`{unit.title}` may have priority `{name}`, which `{above.title}` around it may not",
                    f"remove it, or add `{name}` to the priorities of `{above.title}`",
                    ((f"the priorities of `{above.title}`", (*above.path, "priorities")),),
                )


def _lister(unit: Node) -> Node:
    """The unit whose list holds for this one; the organization where nobody has one."""
    while unit.parent is not None and (unit.document is None or unit.document.priorities is None):
        unit = unit.parent
    return unit


def interruptible(org: Org) -> Iterator[Finding]:
    """Where GPUs are borrowed there is a priority for work that may be interrupted; a finding for each list."""
    ways = preemptible(priorities(org.document))
    if not ways or org.left_out or len(comparable(org)) < len(org.flavors):
        return
    found: dict[KeyPath, list[Node]] = {}
    for team in org.units:
        for _, unit in namespaces(team) if team.kind == "team" else ():
            if not set(unit.priorities) & set(ways) and _guarded(org, unit):
                found.setdefault(_lister(unit).path, []).append(unit)
    for path, units in found.items():
        yield _unprepared(org, path, units, ways)


def _unprepared(org: Org, path: KeyPath, units: list[Node], ways: tuple[str, ...]) -> Finding:
    unit = units[0]
    others = f" (and {len(units) - 1} more)" if len(units) > 1 else ""
    own, more = _amounts(org, unit)
    message = (
        f"`{unit.title}`{others} may borrow {more} beside its own {own}, and none of its priorities is "
        "`preemptible`: its GPU jobs break the guard `interruption`"
    )
    above = _lister(unit).parent
    within = [name for name in ways if above is None or name in above.priorities]
    both = "" if within or above is None else f" and to those of `{_lister(above).title}`"
    help_ = (
        f"add {listed(within or list(ways), 'or')} to its priorities{both}; or, for work that must not be interrupted, "
        f"write `policy: {{borrowing: none}}`: it reaches {more} less, and nobody takes GPUs back from it"
    )
    return Finding(NO_PREEMPTIBLE_PRIORITY, (*path, "priorities"), message, help_)


def _guarded(org: Org, unit: Node) -> bool:
    """Whether the guard acts on work of the unit, in some cluster."""
    return any(
        cluster.guards.interruption != "off"
        and cluster.scheduler != "native"
        and name in unit.clusters
        and borrows_gpus(queue_node(unit), [flavor for flavor in org.flavors.values() if flavor.cluster == name])
        for name, cluster in org.document.clusters.items()
    )


def _amounts(org: Org, unit: Node) -> tuple[str, str]:
    """What of GPUs is the own of the unit's queue, and what it may come to borrow, of flavors where that is any."""
    queue = queue_node(unit)
    own, more = [], []
    for flavor in org.flavors.values():
        for main in flavor.mains if not flavor.is_cpu and queue.reaches(flavor) else ():
            mine = kept(queue, flavor, main)
            if usable(queue, flavor, main) > mine:
                own.append(f"{amount_of(mine, main)} on {flavor.name}")
                more.append(f"{amount_of(usable(queue, flavor, main) - mine, main)} on {flavor.name}")
    return _few(own), _few(more)


def _few(amounts: list[str]) -> str:
    return f"{', '.join(amounts[:-1])} and {amounts[-1]}" if len(amounts) > 1 else "".join(amounts)


CHECKS: Final[tuple[Check, ...]] = (values, graces, patience, lists, interruptible)
RULES: Final = (
    PRIORITY_RANGE,
    PRIORITY_NAME,
    PRIORITY_DEFAULT,
    UNKNOWN_PRIORITY,
    PRIORITY_BEYOND_PARENT,
    NO_PREEMPTIBLE_PRIORITY,
    GRACE_PERIOD,
    GRACE_OUTLASTS_START,
)
