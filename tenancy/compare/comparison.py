"""A comparison of two sides: the changes of objects, what they mean, and what they need. Views only read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tenancy.compare.attention import attention
from tenancy.compare.balance import Balance, Cost, balances, costs
from tenancy.compare.diff import Change, diff
from tenancy.compare.effects import Effects, effects, sides
from tenancy.compare.flavor_changes import flavor_changes
from tenancy.compare.node_changes import Sides, node_changes
from tenancy.compare.procedures import Procedure, gravest_first, procedures
from tenancy.compare.queue_changes import queue_changes
from tenancy.compare.reaches import ReachChange, reaches
from tenancy.compare.risk import Findings, Risk, risk
from tenancy.compare.snapshot import Identity, objects, snapshots
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
    objects_before: int
    """How many objects the old side has, changed or not."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What could not be read; the comparison is then without it."""
    drift: tuple[str, ...] = ()
    """Where the old side is a running cluster: what runs otherwise than it was said, and who made it so, as lines."""


def compare(
    old: Mapping[str, str],
    new: Mapping[str, str],
    flavors: Mapping[str, Hardware],
    usage: Usage | None = None,
    old_flavors: Mapping[str, Hardware] | None = None,
) -> Comparison:
    """Compare the files (text by path) of two sides; `flavors` are those of the new organization.

    `old_flavors` are those of the old one, where it is at hand; objects do not say what they cost and what is spare.
    """
    was, now = snapshots(old, new)
    before, after = sides(was), sides(now)
    changes, meaning = diff(was, now), effects(was, now, before, after)
    clusters = tuple(sorted({*was.clusters, *now.clusters}))

    def place(identity: Identity) -> str:
        return named(identity, clusters)

    both = Sides(
        old=was,
        new=now,
        before=before,
        after=after,
        schedulers=meaning.schedulers,
        flavors=flavors,
        old_flavors=old_flavors,
    )
    needed = [
        *procedures(changes, meaning, place),
        *queue_changes(was, now, meaning, place),
        *node_changes(changes, both, place),
        *flavor_changes(changes, both, place),
    ]
    ordered, over = gravest_first(needed), overruns(before, after, usage)
    reached = reaches(before, after)
    balanced = balances(before, after, flavors, old_flavors)
    stronger = strengths(before, after, balanced, attention(was, now))
    return Comparison(
        changes=changes,
        effects=meaning,
        balances=balanced,
        costs=costs(before, after, flavors, old_flavors),
        procedures=ordered,
        reaches=reached,
        strengths=stronger,
        overruns=over,
        risk=risk(Findings(changes, meaning, ordered, over, reached, stronger, was.clusters)),
        clusters=clusters,
        first=not old,
        objects_before=objects(old),
        diagnostics=(*was.diagnostics, *now.diagnostics),
    )


def named(identity: Identity, clusters: tuple[str, ...]) -> str:
    """`Kind namespace/name`, or the path of a document; with its cluster where there are several."""
    place = f"{identity.namespace}/{identity.name}" if identity.namespace else identity.name
    shown = f"{identity.kind} {place}" if identity.kind else place
    return f"{identity.cluster}: {shown}" if len(clusters) > 1 else shown
