"""Show what a compilation would change, in promises first."""

from __future__ import annotations

import sys
from collections.abc import Collection
from datetime import date
from pathlib import Path

import click

from tenancy.commands.findings import colour, print_all, show, status, width
from tenancy.commands.status import Status
from tenancy.commands.where import organization, output
from tenancy.compare.comparison import compare
from tenancy.compare.views.text import text
from tenancy.output import against
from tenancy.pipeline import Options, examine, generate


def diff(
    org: Path | None,
    out: Path | None,
    *,
    objects: bool,
    exit_code: bool,
    today: date,
    accepted: Collection[str] = (),
) -> Status:
    """Compare what would be written with the output folder."""
    path = organization(org)
    found = examine(path, Options(today=today, accepted=accepted))
    show(found, "text", stream=sys.stderr, quiet=True)
    result = status(found.diagnostics)
    if result is not Status.CLEAN or found.org is None:
        return result
    files = generate(found.org, found.custom, found.plans)
    old = against.out(output(out, path), files)
    if old.refusals:
        print_all(old.refusals, None, 0, "text", stream=sys.stderr)
        return status(old.refusals)
    plan = compare(old.files, files, found.org.flavors)
    if plan.diagnostics:
        print_all(plan.diagnostics, None, 0, "text", stream=sys.stderr)
        return Status.UNCHECKED
    click.echo(text(plan, colour=colour(sys.stdout), width=width(sys.stdout), objects=objects), nl=False)
    return Status.FINDINGS if exit_code and plan.changes else Status.CLEAN
