"""Compare the nodes of a cluster with what the organization says of them, or propose flavors for them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from tenancy.backend import CODES
from tenancy.check.finding import placed
from tenancy.commands.findings import print_all, show, status
from tenancy.commands.nodes import Source, chosen, unread
from tenancy.commands.status import Status
from tenancy.commands.where import organization
from tenancy.diagnostics import in_file_order
from tenancy.live import proposal_text
from tenancy.live.inventory import compare, seen_in, told_by
from tenancy.live.matching import matched
from tenancy.live.nodes import LiveNode
from tenancy.live.proposal import propose
from tenancy.live.source import Unreadable, nodes_of_file
from tenancy.load.source import Sources
from tenancy.model.organization import Org
from tenancy.pipeline import Options, examine, silenced
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tenancy.report import inventory as view


def inventory(org: Path | None, source: Source, *, cluster: str | None, proposing: bool, format_: str) -> Status:
    """Print what does not agree; with `proposing`, or where there is no organization, flavors for the nodes."""
    if source.file is not None and (source.kubeconfig or source.context):
        raise click.UsageError("--nodes reads a file, which goes with neither --kubeconfig nor --context")
    folder = organization(org)
    if proposing or (org is None and not folder.exists()):
        return _propose(source, format_, asked=proposing)
    found = examine(folder, Options(accepted=CODES))
    if not found.sound or found.org is None or found.sources is None:
        show(found, "text", stream=sys.stderr, quiet=True)
        return status(found.diagnostics)
    planned = chosen(found.plans or plan(found.org), cluster)
    try:
        nodes = _read(source)
    except Unreadable as error:
        return unread(error)
    return _compare(found.org, found.sources, planned, nodes, format_)


def _compare(org: Org, sources: Sources, cluster: ClusterPlan, nodes: Sequence[LiveNode], format_: str) -> Status:
    found = matched(cluster, nodes)
    diagnostics = in_file_order(placed(finding, sources) for finding in compare(org, cluster, found))
    shown = [each for each in diagnostics if not silenced(each, sources)]
    if format_ == "text":
        rows = [
            view.Row(
                flavor=seen.name,
                declared=seen.flavor.nodes,
                found=len(seen.nodes),
                usable=sum(node.ready and not node.unschedulable for node in seen.nodes),
                told_by=told_by(seen).replace("`", ""),
            )
            for seen in seen_in(org, cluster, found)
        ]
        click.echo(view.text(cluster.name, len(nodes), rows))
    print_all(shown, sources, len(diagnostics) - len(shown), format_, stream=sys.stdout)
    return status(shown, strict=True)


def _propose(source: Source, format_: str, *, asked: bool) -> Status:
    if format_ not in ("text", "json"):
        raise click.UsageError(f"a proposal has the formats text and json, not {format_}")
    try:
        nodes = _read(source)
    except Unreadable as error:
        return unread(error)
    if not asked:
        click.echo("no organization here or above: proposing flavors for the nodes", err=True)
    proposal = propose(nodes)
    click.echo(proposal_text.json(proposal) if format_ == "json" else proposal_text.text(proposal), nl=False)
    return Status.CLEAN


def _read(source: Source) -> list[LiveNode]:
    """The client of Kubernetes is slow to import, so a file never needs it."""
    if source.file is not None:
        return nodes_of_file(source.file)
    from tenancy.live.client import nodes_of_cluster  # noqa: PLC0415

    return nodes_of_cluster(source.kubeconfig, source.context)
