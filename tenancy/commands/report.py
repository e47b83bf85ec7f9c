"""Write the map of an organization as a static site."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tenancy.backend import CODES
from tenancy.commands.findings import print_all, show, status
from tenancy.commands.sides import LIVE, OUT, NoSide, missing, of_output, of_revision
from tenancy.commands.status import Status
from tenancy.commands.where import organization, output
from tenancy.compare.comparison import Comparison, compare
from tenancy.model.organization import Org
from tenancy.output.revision import NotRead
from tenancy.output.write import survey, write
from tenancy.pipeline import Examined, Options, examine, generate
from tenancy.plan import plan
from tenancy.report.terminal import visible
from tenancy.site.pages import site
from tenancy.site.reading import clusters


def report(org: Path | None, target: Path, out: Path | None, *, against: str) -> Status:
    """Write the site to `target`, which holds nothing else, or an earlier one; with before and after where it is
    `against` the output folder or a revision.

    What a scheduler does not keep is no error here: the map shows what the organization says.
    """
    if against == LIVE:
        raise click.UsageError("--against: a map is compared with `out` or a revision; `tenancy diff` asks a cluster")
    path = organization(org)
    found = examine(path, Options(accepted=CODES))
    show(found, "text", stream=sys.stderr, quiet=True)
    result = status(found.diagnostics)
    if result is not Status.CLEAN or found.org is None:
        return result
    try:
        comparison = _compared(found, found.org, path, output(out, path), against) if against else None
    except (NoSide, NotRead) as error:
        return missing(error)
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


def _compared(found: Examined, org: Org, path: Path, root: Path, against: str) -> Comparison | None:
    """What changes between the old side and a compilation; None where nothing does."""
    files = generate(org, found.custom, found.plans)
    old = of_output(root, files) if against == OUT else of_revision(against, path, root)
    for note in old.notes:
        click.echo(f"note: {visible(note)}", err=True)
    made = compare(old.files, files, org.flavors, old_flavors=old.flavors)
    return made if made.changes else None
