"""Show what a scheduler makes of every promise of an organization."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from tenancy.backend import CODES, LOSSES
from tenancy.commands.findings import show, status, width
from tenancy.commands.status import Status
from tenancy.commands.where import organization
from tenancy.model.organization import Org
from tenancy.pipeline import Options, examine
from tenancy.pipeline import parity as promises
from tenancy.report import parity as view


def parity(org: Path | None, *, scheduler: str, format_: str, losses: bool) -> Status:
    """Print the promises; with `losses` only those that are not kept. Errors other than losses are shown instead."""
    found = examine(organization(org), Options(scheduler=scheduler, accepted=CODES))
    show(found, "text", stream=sys.stderr, quiet=True)
    result = status(found.diagnostics)
    if result is not Status.CLEAN or found.org is None:
        return result
    lines = list(lines_of(found.org))
    if format_ == "json":
        click.echo(view.json(line for line in lines if not losses or line.fate != view.KEPT), nl=False)
        return Status.CLEAN
    codes = [view.Code(code=loss.code, severity=loss.severity, title=loss.title) for loss in LOSSES]
    name = found.org.document.name
    click.echo(view.text(lines, codes, name, width(sys.stdout), all_=not losses), nl=False)
    return Status.CLEAN


def lines_of(org: Org) -> Iterator[view.Line]:
    """The promises of an organization as the views take them."""
    for each in promises(org):
        yield view.Line(
            cluster=each.cluster,
            scheduler=each.scheduler,
            unit=each.unit,
            promise=each.promise,
            flavor=each.flavor,
            said=each.said,
            fate=each.fate.value,
            becomes=each.becomes,
            loss=each.loss.code if each.loss is not None else "",
            accepted=each.accepted,
            path=each.path,
        )
