"""Explain a unit: its numbers and where they come from, what it can reach, and what becomes of a job; or write one."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path

import click

from tenancy.backend import CODES
from tenancy.backend.job_request import Job, NoSuchJob
from tenancy.backend.job_templates import KINDS
from tenancy.commands.explained import Look, document, explanation
from tenancy.commands.findings import show, status, width
from tenancy.commands.status import Status
from tenancy.commands.where import organization
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node, Org
from tenancy.pipeline import Examined, Options, examine
from tenancy.plan import plan
from tenancy.render.pages import page, pages
from tenancy.report import explain as data
from tenancy.report import explain_text as view


def explain(
    unit: str, org: Path | None, job: Job, *, format_: str, origins: bool | None = None, kind: str | None = None
) -> Status:
    """Print what the organization comes to for one unit, or a job of a kind; errors of it are shown instead.

    What a scheduler does not keep is no error here: it is what there is to explain. Where everything comes from is
    shown where no job is asked about, unless `origins` says otherwise.
    """
    if job.pods is not None and not job.asked:
        raise click.UsageError("--pods needs a job: --gpus N, or --cpu and --memory")
    if kind is not None and (not job.asked or format_ != "text"):
        raise click.UsageError("--job writes YAML for a job: say --gpus N, or --cpu and --memory, and no --format")
    found = examine(organization(org), Options(accepted=CODES))
    show(found, "text", stream=sys.stderr, quiet=True)
    result = status(found.diagnostics)
    if result is not Status.CLEAN or found.org is None:
        return result
    looks = _looks(found, found.org, unit, job)
    try:
        if kind is not None:
            return _write(looks, job, kind)
        explanations = [explanation(look, _flavors(look, job), job) for look in looks]
    except NoSuchJob as error:
        raise click.UsageError(str(error)) from error
    if format_ == "json":
        click.echo(data.json(explanations), nl=False)
    else:
        sourced = not job.asked if origins is None else origins
        click.echo(view.text(explanations, width(sys.stdout), origins=sourced), nl=False)
    return Status.CLEAN


def _looks(found: Examined, org: Org, unit: str, job: Job) -> list[Look]:
    """The unit in every cluster that it is in; with a flavor, in that of the flavor."""
    node = _unit(org, unit)
    if job.flavor is not None:
        _known(job.flavor, list(org.flavors), "flavor")
    home = org.flavors[job.flavor].cluster if job.flavor is not None else ""
    assert found.sources is not None
    looks = [
        Look(org, found.sources, cluster, node)
        for cluster in found.plans or plan(org)
        if home in ("", cluster.name) and cluster.name in node.clusters
    ]
    if not looks:
        raise click.UsageError(f"{node.title or node.name} has no queue in the cluster of flavor {job.flavor!r}")
    return looks


def _flavors(look: Look, job: Job) -> list[Hardware]:
    return [flavor for flavor in look.cluster.flavors.values() if job.flavor in (None, flavor.name)]


def _unit(org: Org, given: str) -> Node:
    """The unit of a path, or of the name of its queue; the organization by its own name."""
    named = {**{node.queue: node for node in org.units}, **{node.title: node for node in org.units}}
    named.setdefault(org.document.name, org.root)
    _known(given.strip("/"), list(named), "unit")
    return named[given.strip("/")]


def _known(given: str, names: list[str], what: str) -> None:
    if given not in names:
        near = get_close_matches(given, names, 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(sorted(names)[:8])}"
        raise click.UsageError(f"no {what} {given!r} in the organization; {hint}")


def _write(looks: list[Look], job: Job, kind: str) -> Status:
    """Print a job that lands there; one that would never run is explained instead."""
    if len(looks) > 1:
        raise click.UsageError(f"the unit is in {len(looks)} clusters: choose one by --flavor")
    (look,) = looks
    kinds = KINDS[look.cluster.cluster.scheduler]
    if kind not in kinds:
        raise click.UsageError(f"cluster {look.cluster.name!r} has no job {kind!r}; there is {', '.join(kinds)}")
    made = document(look, look.queue, job, kind) if look.queue is not None else None
    if made is None:
        told = explanation(look, _flavors(look, job), job)
        click.echo(view.job(told, width(sys.stderr)), nl=False, err=True)
        return Status.FINDINGS
    click.echo(page(pages(), made.template, {"job": made.values}), nl=False)
    return Status.CLEAN
