"""Changes that applying files cannot make, or that need a step by hand before or after: what happens, and what to do.

Each was run against the real API server, Kueue and Argo CD; the sources stand at the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from tenancy.output.diff import Change, Delete, Update
from tenancy.output.effects import NOTHING, Effects, QuotaChange
from tenancy.output.snapshot import Identity


class Mark(StrEnum):
    """How much a procedure weighs."""

    REPLACEMENT = "replacement needed"
    """The API server refuses the update, and Argo CD stops before all later waves (run on 3.2.11)."""
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


@dataclass(frozen=True, slots=True)
class _Immutable:
    """Fields of a kind that the API server refuses to change."""

    kind: str
    paths: tuple[str, ...]
    happens: str
    do: str
    once_set: str = ""
    """Only where the old object has this field of its spec."""


_FLAVOR: Final = (
    "Write the changed flavor under a new name and keep the old one; move the budgets, drain the old flavor "
    "(its usage is not counted under the new name), then remove it."
)

IMMUTABLE: Final = (
    _Immutable(
        "ResourceFlavor",
        ("spec.nodeLabels", "spec.tolerations", "spec.topologyName"),
        "The API server refuses to change labels, tolerations and topology of a flavor that has a topology.",
        _FLAVOR,
        once_set="topologyName",
    ),  # Run on Kueue 0.19.2.
    _Immutable("Topology", ("spec.levels",), "The API server refuses to change the levels of a topology.", _FLAVOR),
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
        ("value",),
        "The API server refuses to change the value of a priority class.",
        "Write the priority under a new name.",
    ),  # Validation of scheduling.k8s.io/v1.
)
"""Updates that need a replacement."""

Names: TypeAlias = Callable[[Identity], str]


def procedures(changes: Iterable[Change], effects: Effects, named: Names) -> tuple[Procedure, ...]:
    """Everything to know before the merge, the gravest first; `named` says how an object is called."""
    listed = list(changes)
    found = [
        *_replacements(listed, named),
        *_restarts(listed, named),
        *_undrained(effects),
        *_removed_flavors(listed, named),
        *_holds(effects),
        *_cuts(effects),
    ]
    return tuple(sorted(found, key=lambda procedure: tuple(Mark).index(procedure.mark)))


def _replacements(changes: list[Change], named: Names) -> Iterator[Procedure]:
    for rule in IMMUTABLE:
        refused = [
            named(change.identity)
            for change in changes
            if isinstance(change, Update) and change.identity.kind == rule.kind and _touches(change, rule)
        ]
        yield from _about(Mark.REPLACEMENT, refused, rule.happens, rule.do)


def _about(mark: Mark, subjects: Iterable[str], happens: str, do: str) -> Iterator[Procedure]:
    """The procedure of these subjects; none without a subject."""
    if named := tuple(subjects):
        yield Procedure(mark=mark, subjects=named, happens=happens, do=do)


def _touches(update: Update, rule: _Immutable) -> bool:
    paths = (difference.path for difference in update.differences)
    if rule.once_set and rule.once_set not in update.old["spec"]:
        return False
    return any(path.startswith(rule.paths) for path in paths)


def _restarts(changes: list[Change], named: Names) -> Iterator[Procedure]:
    """Kueue's manager reads its configuration at start only."""
    changed = [
        named(change.identity)
        for change in changes
        if isinstance(change, Update) and not change.identity.kind and change.identity.name.endswith("-values.yaml")
    ]
    return _about(
        Mark.RESTART,
        changed,
        "The configuration of the manager changes, which no sync applies.",
        "The manager must be restarted: upgrade the Helm release with the new values after the merge.",
    )


def _undrained(effects: Effects) -> Iterator[Procedure]:
    """A queue that goes stays until its last workload ends, but its namespaces go with what runs in them."""
    destroyed = [f"{change.unit}/" for change in effects.namespaces if not change.added]
    removed = dict.fromkeys(
        change.unit
        for change in effects.units
        if not change.added
        and change.state != "draining"
        and not change.inner
        and any(unit.startswith(f"{change.unit}/") for unit in destroyed)
    )
    return _about(
        Mark.WARNING,
        removed,
        "Removed without draining: jobs that run there are killed with their namespaces.",
        "Merge `state: draining` first, wait until nothing runs, then remove the unit.",
    )


def _removed_flavors(changes: list[Change], named: Names) -> Iterator[Procedure]:
    """What still runs on a removed flavor is on no book, so it is handed out twice (run on Kueue 0.19.2)."""
    removed = [
        named(change.identity)
        for change in changes
        if isinstance(change, Delete) and change.identity.kind == "ResourceFlavor"
    ]
    return _about(
        Mark.WARNING,
        removed,
        "What still runs on a removed flavor is no longer counted by any queue.",
        "Drain the flavor before the merge: no quota and no running jobs on it.",
    )


def _holds(effects: Effects) -> Iterator[Procedure]:
    """Kueue takes nothing back from a queue that is stopped (run on Kueue 0.17.0 and 0.19.2)."""
    held = sorted(
        unit for each in effects.settings if (each.key, each.after) == ("state", "held") for unit in each.units
    )
    return _about(
        Mark.WARNING,
        held,
        "While a unit is held, what it has borrowed stays borrowed: owners get nothing back until its jobs end.",
        "Where others need their quota now, merge `state: draining` instead.",
    )


def _cuts(effects: Effects) -> Iterator[Procedure]:
    """A quota cut below what is used leaves the usage as it is: Kueue evicts for other workloads only."""
    cut = sorted({change.unit for change in effects.quotas if change.before and change.after and _lower(change)})
    return _about(
        Mark.WARNING,
        cut,
        "A lower quota or limit evicts nobody: what runs goes on until it ends or its owner reclaims it.",
        "To free the devices now, merge `state: draining` for the unit, then `active` again.",
    )


def _lower(change: QuotaChange) -> bool:
    before, after = change.before or NOTHING, change.after or NOTHING
    return after.quota < before.quota or after.limit < before.limit
