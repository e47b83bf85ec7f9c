"""A comparison of two sides: the changes of objects, what they mean, and what they need. Views only read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tenancy.compare.balance import Balance, Cost, balances, costs
from tenancy.compare.diff import Change, diff
from tenancy.compare.effects import Effects, effects, sides
from tenancy.compare.node_changes import Sides, node_changes
from tenancy.compare.procedures import Procedure, gravest_first, procedures
from tenancy.compare.queue_changes import queue_changes
from tenancy.compare.reaches import ReachChange, reaches
from tenancy.compare.risk import Risk, risk
from tenancy.compare.snapshot import Identity, snapshots
from tenancy.compare.strengths import StrengthChange, strengths
from tenancy.compare.usage import Overrun, Usage, overruns
from tenancy.diagnostics import Diagnostic
from tenancy.model.hardware import Hardware


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything that a view of a plan can show."""

    changes: tuple[Change, ...]
    effects: Effects
    balances: tuple[Balance, ...]
    """Of every flavor, changed or not; none where nothing changes."""
    costs: tuple[Cost, ...]
    procedures: tuple[Procedure, ...]
    reaches: tuple[ReachChange, ...]
    strengths: tuple[StrengthChange, ...]
    overruns: tuple[Overrun, ...]
    risk: Risk
    clusters: tuple[str, ...]
    """Of both sides."""
    first: bool
    """Whether the old side holds nothing."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What could not be read; the comparison is then without it."""


def compare(
    old: Mapping[str, str], new: Mapping[str, str], flavors: Mapping[str, Hardware], usage: Usage | None = None
) -> Comparison:
    """Compare the files (text by path) of two sides; `flavors` are those of the new organization."""
    was, now = snapshots(old, new)
    changes, meaning = diff(was, now), effects(was, now)
    before, after = sides(was), sides(now)
    clusters = tuple(sorted({*was.clusters, *now.clusters}))

    def place(identity: Identity) -> str:
        return named(identity, clusters)

    both = Sides(old=was, new=now, before=before, after=after, schedulers=meaning.schedulers, flavors=flavors)
    needed = [
        *procedures(changes, meaning, place),
        *queue_changes(was, now, meaning, place),
        *node_changes(changes, both, place),
    ]
    ordered, over = gravest_first(needed), overruns(before, after, usage)
    return Comparison(
        changes=changes,
        effects=meaning,
        balances=balances(before, after, flavors),
        costs=costs(before, after, flavors),
        procedures=ordered,
        reaches=reaches(before, after),
        strengths=strengths(before, after),
        overruns=over,
        risk=risk(meaning, ordered, over),
        clusters=clusters,
        first=not old,
        diagnostics=(*was.diagnostics, *now.diagnostics),
    )


def named(identity: Identity, clusters: tuple[str, ...]) -> str:
    """`Kind namespace/name`, or the path of a document; with its cluster where there are several."""
    place = f"{identity.namespace}/{identity.name}" if identity.namespace else identity.name
    shown = f"{identity.kind} {place}" if identity.kind else place
    return f"{identity.cluster}: {shown}" if len(clusters) > 1 else shown
