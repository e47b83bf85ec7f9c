"""Write the map of an organization as a static site."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tenancy.backend import CODES
from tenancy.commands.findings import print_all, show, status
from tenancy.commands.status import Status
from tenancy.commands.where import organization, output
from tenancy.compare.comparison import Comparison, compare
from tenancy.output import against
from tenancy.output.write import survey, write
from tenancy.pipeline import Examined, Options, examine, generate
from tenancy.plan import plan
from tenancy.site.pages import site
from tenancy.site.reading import clusters


def report(org: Path | None, target: Path, out: Path | None, *, planned: bool) -> Status:
    """Write the site to `target`, which holds nothing else, or an earlier one; with `planned` before and after.

    What a scheduler does not keep is no error here: the map shows what the organization says.
    """
    path = organization(org)
    found = examine(path, Options(accepted=CODES))
    show(found, "text", stream=sys.stderr, quiet=True)
    result = status(found.diagnostics)
    if result is not Status.CLEAN or found.org is None:
        return result
    comparison = _compared(found, output(out, path)) if planned else None
    if isinstance(comparison, Status):
        return comparison
    document = found.org.document
    pages = clusters(found.org, found.plans or plan(found.org), comparison)
    files = site(document.display_name or document.name, pages, comparison)
    surveyed = survey(target, files)
    if surveyed.refusals:
        print_all(surveyed.refusals, None, 0, "text", stream=sys.stderr)
        return status(surveyed.refusals)
    done = write(target, files, surveyed)
    if done.diagnostics:
        print_all(done.diagnostics, None, 0, "text", stream=sys.stderr)
        return status(done.diagnostics)
    click.echo(f"{target / 'index.html'}: {len(files)} files, {len(done.written)} written", err=True)
    return Status.CLEAN


def _compared(found: Examined, root: Path) -> Comparison | Status | None:
    """What a compilation would change; None where nothing."""
    assert found.org is not None
    files = generate(found.org, found.custom, found.plans)
    old = against.out(root, files)
    if old.refusals:
        print_all(old.refusals, None, 0, "text", stream=sys.stderr)
        return status(old.refusals)
    comparison = compare(old.files, files, found.org.flavors)
    return comparison if comparison.changes else None
