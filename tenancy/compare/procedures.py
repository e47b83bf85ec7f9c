"""Changes that applying files cannot make, or that need a step by hand before or after: what happens, and what to do.

Each was run against the real API server, schedulers and Argo CD; the sources stand at the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from tenancy.compare.diff import Change, Update
from tenancy.compare.effects import NOTHING, Effects, QuotaChange
from tenancy.compare.snapshot import Identity


class Mark(StrEnum):
    """How much a procedure weighs."""

    OUTAGE = "stops the cluster"
    """No job of anybody may start any more."""
    REPLACEMENT = "replacement needed"
    """The API server refuses the update, and Argo CD stops before all later waves (run on 3.2.11)."""
    MAINTENANCE = "maintenance window"
    """Work must leave nodes before they can change."""
    STEPS = "two steps needed"
    """No sync is sure to get there at once."""
    RESTART = "restart needed"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """What applying the files does not do by itself."""

    mark: Mark
    subjects: tuple[str, ...]
    """Objects or units."""
    happens: str
    do: str
    by_hand: bool = False
    """Whether a warning asks for a step that no sync makes; every heavier mark does."""


@dataclass(frozen=True, slots=True)
class _Immutable:
    """Fields of a kind that the API server refuses to change."""

    kind: str
    paths: tuple[str, ...]
    happens: str
    do: str
    once_set: str = ""
    """Only where the old object has this field of its spec."""


_DRAINED: Final = (
    "First merge `state: draining` for the units that may use it, and wait until nothing runs there: what still does "
    "is counted under no other name. Then change the name of the flavor in the merge that changes {what}, with its "
    "nodes and budgets, and merge `state: active`."
)

IMMUTABLE: Final = (
    _Immutable(
        "ResourceFlavor",
        ("spec.nodeLabels",),
        "The API server refuses to change the labels of a flavor that has a topology.",
        _DRAINED.format(what="its labels"),
        once_set="topologyName",
    ),
    _Immutable(
        "ResourceFlavor",
        ("spec.tolerations",),
        "The API server refuses to change the tolerations of a flavor that has a topology; they follow from its taints "
        "and from `cpuJobs`.",
        _DRAINED.format(what="its taints or `cpuJobs`"),
        once_set="topologyName",
    ),
    _Immutable(
        "ResourceFlavor",
        ("spec.topologyName",),
        "The API server refuses to change the topology of a flavor that has one.",
        _DRAINED.format(what="the placement of its cluster"),
        once_set="topologyName",
    ),  # All three run on Kueue 0.19.2.
    _Immutable(
        "Topology",
        ("spec.levels",),
        "The API server refuses to change the levels of a topology.",
        _DRAINED.format(what="its levels"),
    ),
    _Immutable(
        "LocalQueue",
        ("spec.clusterQueue",),
        "The API server refuses to move a queue of a namespace to another unit.",
        "Delete the LocalQueue by hand once its jobs are done or can wait (pending ones are lost from the queue), and "
        "let the sync make it again.",
    ),  # Run on Kueue 0.17.0.
    *(
        _Immutable(
            kind,
            ("roleRef",),
            "The API server refuses to change the role of a binding.",
            "Delete the binding by hand and let the sync make it again; its subjects are without access in between.",
        )
        for kind in ("RoleBinding", "ClusterRoleBinding")
    ),  # Validation of rbac.authorization.k8s.io/v1.
    _Immutable(
        "PriorityClass",
        ("value", "preemptionPolicy"),
        "The API server refuses to change the value and the preemption policy of a priority class.",
        "Write the priority under a new name.",
    ),  # Validation of scheduling.k8s.io/v1.
)
"""Updates that need a replacement."""

_UPGRADE: Final = "upgrade the Helm release with the new values after the merge"

_VALUES: Final = (
    (
        "kueue-values.yaml",
        "",
        Mark.RESTART,
        "The configuration of the manager changes, which no sync applies.",
        f"The manager must be restarted: {_UPGRADE}.",
    ),
    (
        "volcano-values.yaml",
        "custom.controller_config_override",
        Mark.RESTART,
        "The configuration of Volcano's controller changes, which no sync applies.",
        f"The controller must be restarted: {_UPGRADE}.",
    ),
    (
        "volcano-values.yaml",
        "custom.scheduler_config_override",
        Mark.WARNING,
        "The configuration of Volcano's scheduler changes, which no sync applies.",
        f"No restart is needed, the scheduler reads its file again: {_UPGRADE}.",
    ),
)
"""Files of values, the key that changes, what happens and what to do."""

_STOPPED: Final = {
    ("kueue", "held"): (
        "While a unit is held, what it has borrowed stays borrowed: owners get nothing back until its jobs end.",
        "Where others need their quota now, merge `state: draining` instead.",
    ),  # Run on Kueue 0.17.0 and 0.19.2.
    ("volcano", "held"): (
        "New work of a unit that is held is refused, but what waits in its queues already still starts.",
        "Delete the jobs that wait where nothing more may start.",
    ),
    ("volcano", "draining"): (
        "Draining ends nothing under Volcano: what runs goes on, and what waits already still starts.",
        "Delete the jobs that must end.",
    ),  # Nobody but its controller may write the state of a Queue (run on Volcano 1.15.1).
    ("native", "held"): (
        "A unit that is held gets no new pod, not even in the place of one that failed.",
        "Let jobs that cannot bear that end before the merge.",
    ),
    ("native", "draining"): (
        "Draining ends nothing without a batch scheduler: what runs goes on until it ends.",
        "Delete the jobs that must end.",
    ),
}
"""By scheduler and new state."""

_CUT: Final = {
    "kueue": (
        "A lower quota or limit evicts nobody: what runs goes on until it ends or its owner reclaims it.",
        "To free the devices now, merge `state: draining` for the unit, then `active` again.",
    ),  # Kueue evicts for other workloads only.
    "volcano": (
        "What runs above a lower quota is evicted as soon as an owner waits for it, and gangs start again as a whole; "
        "above a lower limit it goes on until then.",
        "Let jobs that cannot bear that end before the merge.",
    ),  # Reclaim compares with `deserved` of the moment (run on Volcano 1.15.1).
    "native": (
        "A lower quota ends no pod: what runs goes on, and new pods are refused until the unit is below it.",
        "To free the devices now, delete jobs.",
    ),
}
"""By scheduler."""

Names: TypeAlias = Callable[[Identity], str]


def procedures(changes: Iterable[Change], effects: Effects, named: Names) -> Iterator[Procedure]:
    """Everything to know before the merge that is about neither an order nor nodes; `named` says how an object is
    called."""
    listed = list(changes)
    yield from _replacements(listed, named)
    yield from _restarts(listed, named)
    yield from _states(effects)
    yield from _cuts(effects)


def gravest_first(found: Iterable[Procedure]) -> tuple[Procedure, ...]:
    """The order in which people read them."""
    return tuple(sorted(found, key=lambda procedure: tuple(Mark).index(procedure.mark)))


def about(mark: Mark, subjects: Iterable[str], happens: str, do: str, *, by_hand: bool = False) -> Iterator[Procedure]:
    """The procedure of these subjects; none without a subject."""
    if named := tuple(subjects):
        yield Procedure(mark=mark, subjects=named, happens=happens, do=do, by_hand=by_hand)


def _replacements(changes: list[Change], named: Names) -> Iterator[Procedure]:
    for rule in IMMUTABLE:
        refused = [
            named(change.identity)
            for change in changes
            if isinstance(change, Update) and change.identity.kind == rule.kind and _touches(change, rule)
        ]
        yield from about(Mark.REPLACEMENT, refused, rule.happens, rule.do)


def _touches(update: Update, rule: _Immutable) -> bool:
    """A label of ours with another prefix is told as a change of the domain (`flavor_changes`)."""
    if rule.once_set and rule.once_set not in update.old["spec"]:
        return False
    if redomained(update):
        return False
    return any(difference.path.startswith(rule.paths) for difference in update.differences)


def redomained(update: Update) -> bool:
    """Whether the label that we give to nodes of a flavor changes its prefix, and nothing else of the labels does."""
    if update.identity.kind != "ResourceFlavor":
        return False
    old, new = (side.get("spec", {}).get("nodeLabels") for side in (update.old, update.new))
    if not isinstance(old, dict) or not isinstance(new, dict) or old == new:
        return False
    bare = [{key.rpartition("/")[2]: value for key, value in side.items()} for side in (old, new)]
    return bare[0] == bare[1] == {"flavor": update.identity.name}


def _restarts(changes: list[Change], named: Names) -> Iterator[Procedure]:
    """What the managers of Kueue and Volcano read at their start only; Volcano's scheduler watches its file (run)."""
    for name, path, mark, happens, do in _VALUES:
        changed = [
            named(change.identity)
            for change in changes
            if isinstance(change, Update)
            and change.identity.name == f"platform/{name}"
            and any(difference.path.startswith(path) for difference in change.differences)
        ]
        yield from about(mark, changed, happens, do, by_hand=True)


def _states(effects: Effects) -> Iterator[Procedure]:
    """What a scheduler does not do for a unit that is held or draining, though the word might let expect it."""
    for (scheduler, state), (happens, do) in _STOPPED.items():
        units = sorted(
            unit
            for each in effects.settings
            if (effects.schedulers[each.cluster], each.key, each.after) == (scheduler, "state", state)
            for unit in each.units
        )
        yield from about(Mark.WARNING, units, happens, do)


def _cuts(effects: Effects) -> Iterator[Procedure]:
    """What becomes of work above a quota or limit that was cut."""
    cut = [change for change in effects.quotas if change.before and change.after and _lower(change)]
    for scheduler, (happens, do) in _CUT.items():
        units = {change.unit for change in cut if effects.schedulers[change.cluster] == scheduler}
        yield from about(Mark.WARNING, sorted(units), happens, do)


def _lower(change: QuotaChange) -> bool:
    before, after = change.before or NOTHING, change.after or NOTHING
    return after.quota < before.quota or after.limit < before.limit
