"""Explain a unit: its numbers and where they come from, what it can reach, and what becomes of a job; or write one."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tenancy.backend import CODES
from tenancy.backend.job_request import Job, NoSuchJob
from tenancy.commands.explained import explanation
from tenancy.commands.findings import show, status, width
from tenancy.commands.job import write
from tenancy.commands.looks import looks
from tenancy.commands.status import Status
from tenancy.commands.where import organization
from tenancy.pipeline import Options, examine
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
    seen = looks(found, found.org, unit, job.flavor)
    try:
        if kind is not None:
            return write(seen, job, kind)
        explanations = [explanation(look, job) for look in seen]
    except NoSuchJob as error:
        raise click.UsageError(str(error)) from error
    if format_ == "json":
        click.echo(data.json(explanations), nl=False)
    else:
        sourced = not job.asked if origins is None else origins
        click.echo(view.text(explanations, width(sys.stdout), origins=sourced), nl=False)
    return Status.CLEAN
