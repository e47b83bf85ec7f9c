"""Set what flavors say on the nodes of a cluster, or show what is to set."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenancy.backend import CODES
from tenancy.commands.findings import show, status, width
from tenancy.commands.status import Status
from tenancy.commands.where import organization
from tenancy.live.marking import Change, Conflict, Held, Want, change, disruptive, held, wants
from tenancy.live.matching import Matched, matched
from tenancy.live.nodes import LiveNode
from tenancy.live.pods import live_pod
from tenancy.live.source import STDIN, Unreadable, nodes_of_file
from tenancy.pipeline import Options, examine
from tenancy.plan import plan
from tenancy.plan.nodes import FlavorNodes
from tenancy.plan.values import ClusterPlan
from tenancy.report import nodes as view
from tenancy.report.terminal import visible

if TYPE_CHECKING:
    from tenancy.live.client import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the nodes are read."""

    file: Path | None = None
    kubeconfig: Path | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Permitted:
    """What may be done beyond looking."""

    apply: bool = False
    disruptive: bool = False
    force: bool = False


@dataclass(slots=True)
class _Plan:
    """What to do, node by node."""

    cluster: ClusterPlan
    found: Matched
    wants: dict[str, Want]
    changes: dict[str, Change]
    live: dict[str, LiveNode]
    held: dict[str, Held] = field(default_factory=dict)
    problems: dict[str, tuple[str, tuple[Conflict, ...]]] = field(default_factory=dict)


def nodes(org: Path | None, source: Source, permitted: Permitted, *, cluster: str | None, format_: str) -> Status:
    """Print what the nodes of a cluster lack, and set it where that is permitted; errors of the organization are shown
    instead. Clean where nothing is left to do."""
    if source.file is not None and (permitted.apply or source.kubeconfig or source.context):
        raise click.UsageError("--nodes reads a file, which goes with none of --apply, --kubeconfig and --context")
    found = examine(organization(org), Options(accepted=CODES))
    show(found, "text", stream=sys.stderr, quiet=True)
    result = status(found.diagnostics)
    if result is not Status.CLEAN or found.org is None:
        return result
    planned = chosen(found.plans or plan(found.org), cluster)
    try:
        api = _server(source) if source.file is None else None
        made = _planned(planned, api.nodes() if api else nodes_of_file(source.file or Path(STDIN)))
        if api:
            _look(api, made, permitted)
        if api and permitted.apply:
            _apply(api, made, permitted)
    except Unreadable as error:
        return unread(error)
    shown = _view(made, api.server if api else str(source.file), permitted)
    click.echo(view.json(shown) if format_ == "json" else view.text(shown, width(sys.stdout)), nl=False)
    return Status.CLEAN if _settled(made, permitted) else Status.FINDINGS


def unread(error: Unreadable) -> Status:
    """Say why the nodes could not be read."""
    click.echo(f"error: {visible(str(error))}", err=True)
    return Status.UNCHECKED


def chosen(plans: tuple[ClusterPlan, ...], name: str | None) -> ClusterPlan:
    """The cluster that is meant; a usage error where that is not clear."""
    known = ", ".join(plan.name for plan in plans)
    if name is None and len(plans) > 1:
        raise click.UsageError(f"the organization has several clusters; choose with --cluster: {known}")
    found = next((plan for plan in plans if name in (None, plan.name)), None)
    if found is None:
        raise click.UsageError(f"no cluster {name!r}; there is {known}")
    return found


def _server(source: Source) -> Api:
    """Imported here because `kubernetes` takes a third of a second, and a file needs none of it."""
    from tenancy.live.client import Api  # noqa: PLC0415

    return Api(source.kubeconfig, source.context)


def _planned(cluster: ClusterPlan, live: list[LiveNode]) -> _Plan:
    """Karpenter makes the nodes of its flavors as their NodePool says."""
    found = matched(cluster, live)
    wanted: dict[str, Want] = {}
    for name, each in cluster.nodes.items():
        if each.karpenter is None:
            gpu = cluster.flavors[name].gpu
            device = gpu.resource if gpu else ""
            wanted |= wants(each, found.flavors[name], device=device, record=f"{cluster.domain}/taints")
    by_name = {node.name: node for node in live}
    changes = {name: made for name, want in sorted(wanted.items()) if (made := change(by_name[name], want))}
    return _Plan(cluster, found, wanted, changes, by_name)


def _look(api: Api, made: _Plan, permitted: Permitted) -> None:
    """Take out what would end or break pods that run, unless that is permitted."""
    for name, found in made.changes.items():
        if disruptive(found) and not permitted.disruptive:
            stopped = held(found, map(live_pod, api.pods(name)))
            if stopped:
                made.held[name] = stopped
                made.changes[name] = change(made.live[name], made.wants[name], stopped.parts)


def _apply(api: Api, made: _Plan, permitted: Permitted) -> None:
    """Node by node; where the server is gone, what was done before it is still told."""
    from tenancy.live.applying import NotApplied, apply  # noqa: PLC0415 - imports the client

    gone = ""
    for name in made.changes:
        stopped = made.held[name].parts if name in made.held else ()
        try:
            if not gone:
                apply(api, made.live[name], made.wants[name], stopped, force=permitted.force)
        except NotApplied as error:
            made.problems[name] = str(error), error.conflicts
        except Unreadable as error:
            gone = str(error)
        if gone:
            made.problems[name] = gone, ()


def _settled(made: _Plan, permitted: Permitted) -> bool:
    """Whether nothing is left to do."""
    return not made.changes or (permitted.apply and not made.held and not made.problems)


def _view(made: _Plan, source: str, permitted: Permitted) -> view.Nodes:
    return view.Nodes(
        cluster=made.cluster.name,
        source="standard input" if source == STDIN else source,
        total=len(made.live),
        pools=tuple(_pools(made)),
        changes=tuple(_node(made, name, found, permitted) for name, found in made.changes.items()),
        unclaimed=tuple(node.name for node in made.found.strangers),
        claimed=made.found.claimed,
        unlaid=tuple(name for name, want in sorted(made.wants.items()) if want.open),
        applied=permitted.apply,
    )


def _pools(made: _Plan) -> Iterator[view.Pool]:
    for name, wanted in made.cluster.nodes.items():
        found = made.found.flavors[name]
        note = "" if found else _unfound(wanted)
        if wanted.karpenter is not None:
            note = "Karpenter makes them as the NodePool says"
        declared = made.cluster.flavors[name].nodes
        yield view.Pool(flavor=name, declared=declared, found=len(found), note=note)


def _unfound(wanted: FlavorNodes) -> str:
    """What would tell the nodes of a flavor from others."""
    match = wanted.match
    if match.names or match.labels or match.products:
        return ""
    return "nothing tells which they are: write `nodeNames` or `labels`, or label them"


def _node(made: _Plan, name: str, found: Change, permitted: Permitted) -> view.Node:
    stopped = made.held.get(name)
    problem, conflicts = made.problems.get(name, ("", ()))
    if not permitted.apply and not permitted.force:
        conflicts = found.conflicts
    return view.Node(
        name=name,
        flavor=found.want.flavor,
        set_labels=dict(sorted(found.labels.items())),
        remove_labels=found.unlabel,
        set_taints=tuple(taint.text for taint in found.taints),
        remove_taints=tuple(taint.text for taint in found.untaint),
        before=found.before,
        conflicts=tuple(
            view.Clash(what=each.what, live=each.live, wanted=each.wanted, owners=each.owners) for each in conflicts
        ),
        held=stopped.parts if stopped else (),
        pods=stopped.pods if stopped else (),
        problem=problem,
    )
