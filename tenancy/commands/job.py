"""Write a job that lands in a unit's queue, or say why none ever would."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from tenancy.backend import CODES
from tenancy.backend.job_kinds import KINDS, lacking
from tenancy.backend.job_priority import Author
from tenancy.backend.job_refusals import Refusal
from tenancy.backend.job_request import Job, NoSuchJob
from tenancy.backend.job_shape import shapes
from tenancy.backend.job_templates import LONGEST_NAME, NOBODY
from tenancy.commands.explained import Look, document, explanation, instead
from tenancy.commands.findings import show, status, width
from tenancy.commands.looks import known, looks
from tenancy.commands.status import Status
from tenancy.commands.where import organization
from tenancy.model.syntax import is_dns_label
from tenancy.pipeline import Options, examine
from tenancy.render.pages import page, pages
from tenancy.report import explain_text as view
from tenancy.report.terminal import wrap


def job(unit: str, org: Path | None, whole: Job, kind: str, author: Author, *, cluster: str | None = None) -> Status:
    """Print a job with so many GPUs in all its pods together; errors of the organization are shown instead."""
    if not whole.asked:
        raise click.UsageError("say --gpus N, or --cpu and --memory")
    if author.name and not (is_dns_label(author.name) and len(author.name) <= LONGEST_NAME):
        raise click.UsageError(
            f"--name {author.name!r}: a name is of lower-case letters, digits and dashes, at most {LONGEST_NAME}"
        )
    found = examine(organization(org), Options(accepted=CODES))
    result = status(found.diagnostics)
    if result is not Status.CLEAN or found.org is None:
        show(found, "text", stream=sys.stderr)
        return result
    seen = looks(found, found.org, unit, whole.flavor, cluster)
    if author.priority:
        known(author.priority, list(found.org.document.priorities), "priority")
    try:
        return write(seen, whole, kind, author, divides=True)
    except NoSuchJob as error:
        raise click.UsageError(str(error)) from error


def write(seen: Sequence[Look], job: Job, kind: str, author: Author = NOBODY, *, divides: bool = False) -> Status:
    """Print a job that lands there; where none would, the reason goes to stderr.

    `divides`: the job is a whole one, to be divided into pods, and what is to be known of it is told; else it says what
    each of its pods gets. Raises `NoSuchJob`.
    """
    if len(seen) > 1:
        options = "--flavor or --cluster" if divides else "--flavor"
        raise click.UsageError(f"the unit is in {len(seen)} clusters: choose one by {options}")
    (look,) = seen
    scheduler = look.cluster.cluster.scheduler
    if why := lacking(scheduler, kind):
        takes = (", ".join(KINDS[scheduler]),)
        return _refused(look, Refusal(f"cluster {look.cluster.name} has no document for {kind}: {why}", takes))
    if look.queue is None:
        return _never(look, job)
    divided = shapes(look.cluster, look.queue, job) if divides else (job,)
    made = ((each, document(look, look.queue, each, kind, author, noted=divides)) for each in divided)
    each, found = next((one for one in made if one[1] is not None), (divided[0], None))
    if found is None:
        return _never(look, each, instead(look, look.queue, job) if divides else ())
    if isinstance(found, Refusal):
        return _refused(look, found)
    if divides:
        _tell(look, each, written=True)
    click.echo(page(pages(), found.template, {"job": found.values}), nl=False)
    return Status.CLEAN


def _never(look: Look, job: Job, ways: tuple[str, ...] = ()) -> Status:
    _tell(look, job)
    _would_do(ways)
    return Status.FINDINGS


def _refused(look: Look, refusal: Refusal) -> Status:
    _echo(f"{look.node.title or look.node.name}: no job is written, because {refusal.why}.")
    _would_do(refusal.ways)
    return Status.FINDINGS


def _tell(look: Look, job: Job, *, written: bool = False) -> None:
    """What becomes of it, for people; of one that is written not what is in it."""
    told = explanation(look, job)
    if written and told.answer is not None:
        told = replace(told, answer=replace(told.answer, toleration="", queue=""))
    click.echo(view.job(told, width(sys.stderr)), nl=False, err=True)


def _would_do(ways: tuple[str, ...]) -> None:
    if ways:
        _echo(f"What would do: {'; '.join(ways)}.")


def _echo(sentence: str) -> None:
    click.echo("\n".join(wrap(sentence, width(sys.stderr))), err=True)
