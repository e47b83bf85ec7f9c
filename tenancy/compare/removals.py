"""What a change removes: namespaces in which work may run, and more objects than a pull request may delete."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from tenancy.compare.amounts import few
from tenancy.compare.comparison import Comparison
from tenancy.compare.diff import Delete
from tenancy.compare.effects import NamespaceChange, undrained
from tenancy.diagnostics import Diagnostic, Place, Rule, Severity

UNDRAINED = Rule(
    code="removed-undrained",
    severity=Severity.WARNING,
    title="A unit that is removed while work may run there",
    why="Its namespaces are deleted with all that is in them: jobs are killed in the middle, and volume claims go.",
)
TOO_MANY = Rule(
    code="too-many-deletions",
    severity=Severity.ERROR,
    title="More deletions than one change may make",
    why="A wrong path, a lost file or a rename near the root deletes what nobody meant to; a limit stops it in time.",
)

RULES: tuple[Rule, ...] = (UNDRAINED, TOO_MANY)

_MOST: Final = re.compile(r"(?P<number>\d+)(?P<percent>%?)")

_WORST: Final = ("Namespace", "ClusterQueue", "Queue", "LocalQueue", "Cohort", "ResourceFlavor")
"""Kinds whose loss is felt most; the others follow by their number."""

_ENDS: Final = {
    "kueue": "which ends its jobs",
    "": "and delete its jobs, since nothing ends them under this scheduler",
}
"""By scheduler: what becomes of the jobs of a unit that is draining."""


def removals(comparison: Comparison, *, strict: bool) -> tuple[Diagnostic, ...]:
    """Units whose namespaces go though the unit was not draining, one finding each; errors where `strict`.

    A namespace of a team that stays is never more than a warning: no state drains it alone.
    """
    found: dict[tuple[str, str, bool], list[NamespaceChange]] = {}
    for each in undrained(comparison.effects):
        found.setdefault((each.cluster, each.queue, each.stays), []).append(each)
    return tuple(
        _undrained(unit, changes, comparison, strict=strict and not stays)
        for (_, unit, stays), changes in sorted(found.items())
    )


def over_budget(comparison: Comparison, most: str) -> tuple[Diagnostic, ...]:
    """The error where more objects are deleted than `most`, such as `20` or `10%` of those that were there.

    Raises `ValueError` for a limit that is neither.
    """
    number, percent = allowed(most)
    gone = [each.identity for each in comparison.changes if isinstance(each, Delete) and each.identity.kind]
    if len(gone) * (100 if percent else 1) <= number * (comparison.objects_before if percent else 1):
        return ()
    share = f" ({100 * len(gone) / max(1, comparison.objects_before):.3g}%)"
    clusters = sorted({each.cluster for each in gone})
    diagnostic = Diagnostic(
        rule=TOO_MANY,
        message=f"{len(gone)} of {comparison.objects_before} objects are deleted{share}, more than {most}: "
        f"{_kinds(each.kind for each in gone)}",
        place=_place(*clusters),
        help="if all of them are meant to go, split the change into several pull requests, or run this one with a "
        f"higher `--max-deletions` than {most}; if not, look for a file that was not read or a unit that was renamed",
    )
    return (diagnostic,)


def allowed(most: str) -> tuple[int, bool]:
    """The number of a limit, and whether it is a percentage. Raises `ValueError` where the text is no limit."""
    match = _MOST.fullmatch(most)
    if match is None or (match["percent"] and int(match["number"]) > 100):
        raise ValueError(most)
    return int(match["number"]), bool(match["percent"])


def _undrained(unit: str, changes: list[NamespaceChange], comparison: Comparison, *, strict: bool) -> Diagnostic:
    first, names = changes[0], [each.namespace for each in changes]
    empty = f"`kubectl get pods -n {names[0]}` shows none"
    going = f"namespace `{names[0]}` goes" if len(names) == 1 else f"{len(names)} namespaces go"
    if first.stays:
        message = f"{going} with all that is in {_them(names)}, while `{unit}`, whose jobs run there, stays"
        help_ = f"end what runs there before this is merged, and copy what is to be kept: {empty}"
    else:
        ends = _ENDS.get(comparison.effects.schedulers[first.cluster], _ENDS[""])
        message = f"`{unit}` is removed while it is `{first.state}`: {going} with all that is in {_them(names)}"
        help_ = (
            f"make two pull requests: first one that keeps `{unit}` and writes `state: draining`, {ends}; then, when "
            f"{empty}, this one"
        )
    rule = replace(UNDRAINED, severity=Severity.ERROR) if strict else UNDRAINED
    return Diagnostic(rule=rule, message=message, place=_place(first.cluster), help=help_)


def _them(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _place(*clusters: str) -> Place:
    """The folder of the cluster, since what goes is in no file any more."""
    return Place(file=f"out/{clusters[0]}" if len(clusters) == 1 else "out")


def _kinds(kinds: Iterable[str]) -> str:
    """`3 Namespace, 3 ClusterQueue, 12 RoleBinding and 4 more`, the worst first."""
    counts = Counter(kinds)
    order = {kind: index for index, kind in enumerate(_WORST)}
    ordered = sorted(counts, key=lambda kind: (order.get(kind, len(order)), -counts[kind], kind))
    return few([f"{counts[kind]} {kind}" for kind in ordered], 5)
