"""How much a change risks, and why: one word for the head of a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from tenancy.backend.manifest import Object
from tenancy.backend.reading import note
from tenancy.backend.shared.guards.security import LEVEL
from tenancy.compare.amounts import few
from tenancy.compare.diff import Change, Delete, Update
from tenancy.compare.effects import NOTHING, Effects
from tenancy.compare.procedures import Mark, Procedure
from tenancy.compare.reaches import ReachChange
from tenancy.compare.rule_changes import GUARD
from tenancy.compare.strengths import StrengthChange
from tenancy.compare.usage import Overrun


class Level(StrEnum):
    """From harmless to what cannot be taken back."""

    NONE = "none"
    """Nothing changes for anybody."""
    LOW = "low"
    """Somebody gains, nobody loses."""
    MEDIUM = "medium"
    """Somebody loses quota, access or a setting; nothing that runs is ended by the sync itself."""
    HIGH = "high"
    """Work that runs may be ended, one unit may harm all others, or a step by hand is needed."""
    DESTRUCTIVE = "destructive"
    """Namespaces, queues or data go for good, or the cluster may stop."""


@dataclass(frozen=True, slots=True)
class Risk:
    """The level, with the reasons for it: those of the level itself first."""

    level: Level
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """What a change comes to, as far as it bears on its risk."""

    changes: tuple[Change, ...]
    effects: Effects
    procedures: tuple[Procedure, ...]
    overruns: tuple[Overrun, ...]
    reaches: tuple[ReachChange, ...]
    strengths: tuple[StrengthChange, ...]
    there: frozenset[str]
    """The clusters of the old side."""


_RULES: Final = (
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "Role",
    "ClusterRole",
    "MutatingAdmissionPolicy",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
)
"""Kinds that say what people and pods may do, whose meaning no other part of a plan tells."""

PRIVILEGED: Final = "privileged"
"""The level at which a pod is root on its node."""

_ENDING: Final = {"kueue": ("draining",)}
"""By scheduler: the states in which what runs is evicted."""

_GAINED: Final = (
    ("state", "active"),
    ("autoscaling", "keda"),
    ("prometheus", "operator"),
    ("grafana", "sidecar"),
)
"""Settings that take nothing from anybody: a unit takes work again, members may do more, people are told more."""

_STOPS: Final = {"kueue": f"{GUARD}cluster"}
"""By scheduler: the guard without which one object stops the cluster. Volcano cannot do without (guard-is-safety)."""

_MARKS: Final = {
    Mark.OUTAGE: Level.DESTRUCTIVE,
    Mark.REPLACEMENT: Level.HIGH,
    Mark.MAINTENANCE: Level.HIGH,
    Mark.STEPS: Level.HIGH,
    Mark.RESTART: Level.HIGH,
}
"""How heavy a procedure is. A warning weighs what causes it, and is high where it asks for a step by hand."""


def risk(found: Findings) -> Risk:
    """The gravest of what is there."""
    reasons: dict[Level, list[str]] = {level: [] for level in reversed(Level)}
    for level, rules in _REASONS.items():
        for rule in rules:
            reasons[level] += rule(found)
    for procedure in found.procedures:
        level = _MARKS.get(procedure.mark, Level.HIGH if procedure.by_hand else Level.NONE)
        if level is not Level.NONE:
            mark = "step by hand" if procedure.mark is Mark.WARNING else procedure.mark
            reasons[level].append(f"{mark}: {few(procedure.subjects)}")
    level = next((level for level, said in reasons.items() if said), Level.NONE)
    told = [each for each in reasons if each is level or each is not Level.LOW]
    return Risk(level, tuple(reason for each in told for reason in dict.fromkeys(reasons[each])))


def _destroyed(found: Findings) -> Iterator[str]:
    names = [each.namespace for each in found.effects.namespaces if not each.added]
    yield from _counted(names, "namespace is destroyed", "namespaces are destroyed")


def _queues(found: Findings) -> Iterator[str]:
    names = [each.unit for each in found.effects.units if not each.added and not each.inner]
    yield from _counted(names, "unit that runs work goes", "units that run work go")


def _ended(found: Findings) -> Iterator[str]:
    names = [
        unit
        for each in found.effects.settings
        if each.key == "state" and each.after in _ENDING.get(found.effects.schedulers[each.cluster], ())
        for unit in each.units
    ]
    yield from _counted(names, "unit is drained: what runs there is evicted", "units are drained: what runs is evicted")


def _stoppable(found: Findings) -> Iterator[str]:
    """A cluster that one object of one tenant stops from now on."""
    for each in found.effects.settings:
        if each.before == "deny" and each.key == _STOPS.get(found.effects.schedulers[each.cluster]):
            yield f"guard cluster {each.before} → {each.after}: one object may stop the scheduler of {each.cluster}"


def _privileged(found: Findings) -> Iterator[str]:
    """Units whose pods are root on nodes that they share, those that come too."""
    names = [
        note(each.new, "unit")
        for each in found.changes
        if not isinstance(each, Delete) and each.identity.kind == "Namespace" and each.identity.cluster in found.there
        if _level(each.new) == PRIVILEGED != (_level(each.old) if isinstance(each, Update) else "")
    ]
    yield from _counted(names, "unit may be root on nodes of others", "units may be root on nodes of others")


def _level(namespace: Object) -> str:
    found: str = namespace["metadata"].get("labels", {}).get(LEVEL, "")
    return found


def _over(found: Findings) -> Iterator[str]:
    names = [each.unit for each in found.overruns if each.certain]
    yield from _counted(names, "unit uses more than it will own", "units use more than they will own")


def _quota(found: Findings) -> Iterator[str]:
    """Of units that stay; those that go have reasons of their own."""
    lost = [
        each.unit
        for each in found.effects.quotas
        if each.after and any(now < then for then, now in zip(each.before or NOTHING, each.after, strict=True))
    ]
    yield from _counted(lost, "unit loses promises", "units lose promises")


def _reach(found: Findings) -> Iterator[str]:
    names = [each.unit for each in found.reaches if each.after is not None and each.gain < 0]
    yield from _counted(names, "unit can reach less", "units can reach less")


def _weaker(found: Findings) -> Iterator[str]:
    names = [each.unit or "the organization" for each in found.strengths if not each.stronger]
    yield from _counted(names, "unit has a weaker promise", "units have weaker promises")


def _access(found: Findings) -> Iterator[str]:
    names = [each.subject for each in found.effects.access if not each.gained]
    yield from _counted(names, "subject loses access", "subjects lose access")


def _settings(found: Findings) -> Iterator[str]:
    """Of most settings somebody may lose."""
    changed = [each for each in found.effects.settings if (each.key, each.after) not in _GAINED]
    for each in changed:
        yield f"{each.key.replace('_', ' ')} {each.before} → {each.after}: {few(each.units)}"


def _rules(found: Findings) -> Iterator[str]:
    """Of what stays: rules that come with a namespace or a cluster, or go with it, are part of it."""
    whole = {
        (each.identity.cluster, each.identity.name)
        for each in found.changes
        if each.identity.kind == "Namespace" and not isinstance(each, Update)
    }
    counts = Counter(
        each.identity.kind
        for each in found.changes
        if each.identity.kind in _RULES
        and each.identity.cluster in found.there
        and (each.identity.cluster, each.identity.namespace) not in whole
    )
    if counts:
        said = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        yield f"rules for people or pods change: {said}"


def _gains(found: Findings) -> Iterator[str]:
    """What a unit that comes owns and reaches is part of that it comes."""
    effects = found.effects
    units = [each.unit for each in effects.units if each.added]
    namespaces = [each.namespace for each in effects.namespaces if each.added]
    gained = [
        each.unit
        for each in effects.quotas
        if each.before and any(now > then for then, now in zip(each.before, each.after or NOTHING, strict=True))
    ]
    reached = [each.unit for each in found.reaches if each.before is not None and each.gain > 0]
    subjects = [each.subject for each in effects.access if each.gained]
    yield from _counted(units, "unit comes", "units come")
    yield from _counted(namespaces, "namespace comes", "namespaces come")
    yield from _counted(gained, "unit gains promises", "units gain promises")
    yield from _counted(reached, "unit reaches more", "units reach more")
    yield from _counted(subjects, "subject gains access", "subjects gain access")


def _others(found: Findings) -> Iterator[str]:
    """Objects of the cluster, where nothing else is to be said of them; documents change nothing for anybody."""
    if next(_gains(found), ""):
        return
    if count := sum(1 for each in found.changes if each.identity.kind):
        yield f"{count} {'object changes' if count == 1 else 'objects change'}"


_Reason: TypeAlias = Callable[[Findings], Iterator[str]]

_REASONS: Final[dict[Level, tuple[_Reason, ...]]] = {
    Level.DESTRUCTIVE: (_destroyed, _queues),
    Level.HIGH: (_ended, _over, _stoppable, _privileged),
    Level.MEDIUM: (_quota, _reach, _weaker, _access, _settings, _rules),
    Level.LOW: (_gains, _others),
}
"""By level, in the order in which people read them."""


def _counted(names: list[str], one: str, several: str) -> Iterator[str]:
    """`2 units lose promises: a, b`; nothing without names."""
    if unique := [*dict.fromkeys(names)]:
        yield f"{len(unique)} {one if len(unique) == 1 else several}: {few(unique)}"
