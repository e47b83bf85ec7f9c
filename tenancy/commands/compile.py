"""Check an organization and write the objects of every cluster."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path

import click

from tenancy.commands.findings import print_all, show, status
from tenancy.commands.status import Status
from tenancy.commands.where import organization, output
from tenancy.output import stamp
from tenancy.output.write import Survey, survey, write
from tenancy.pipeline import Options, examine, generate


def compile_(
    org: Path | None,
    out: Path | None,
    *,
    check: bool,
    format_: str,
    strict: bool,
    scheduler: str = "",
    accepted: Collection[str] = (),
) -> Status:
    """Write what is not up to date, or with `check` only say what that would be.

    What another scheduler or a loss that is accepted for once gives is never remembered: the next run does without.
    """
    path = organization(org)
    before = stamp.key(path) if not scheduler and not accepted else None
    result, files, silent = _compiled(path, Options(scheduler=scheduler, accepted=accepted), format_, strict=strict)
    if files is None:
        return result
    root = output(out, path)
    surveyed = survey(root, files)
    if surveyed.refusals:
        print_all(surveyed.refusals, None, 0, format_, stream=sys.stderr)
        return status(surveyed.refusals)
    result = _report_stale(root, surveyed.stale) if check else _write(root, files, surveyed, format_)
    # The input may have changed while it was read: then the files belong to neither state of it.
    if result is Status.CLEAN and silent and before is not None and before == stamp.key(path):
        stamp.remember(root, before)
    return result


def _compiled(
    path: Path, options: Options, format_: str, *, strict: bool
) -> tuple[Status, dict[str, str] | None, bool]:
    """The files, if the organization may be compiled, and whether that may be remembered: there was nothing to say
    about it, and a stamp would notice a change of any file that was read.

    The organization is let go here: with thousands of teams it is as large as its output.
    """
    found = examine(path, options)
    show(found, format_, stream=sys.stderr, quiet=True)
    result = status(found.diagnostics, strict=strict)
    if result is not Status.CLEAN or found.org is None:
        return result, None, False
    org, custom, plans, silent = found.org, found.custom, found.plans, not found.diagnostics and not found.silenced
    read = [file.name for file in found.sources.files] if found.sources is not None else []
    del found
    return result, generate(org, custom, plans), silent and stamp.covers(path, read)


def _write(root: Path, files: dict[str, str], surveyed: Survey, format_: str) -> Status:
    done = write(root, files, surveyed)
    if done.diagnostics:
        print_all(done.diagnostics, None, 0, format_, stream=sys.stderr)
        return status(done.diagnostics)
    unchanged = len(files) - len(done.written)
    written = f"{len(done.written)} {_files(len(done.written))} written"
    click.echo(f"{root}: {written}, {len(done.removed)} removed, {unchanged} unchanged", err=True)
    return Status.CLEAN


def _report_stale(root: Path, stale: Sequence[str]) -> Status:
    if not stale:
        click.echo(f"{root}: up to date", err=True)
        return Status.CLEAN
    for path in stale:
        click.echo(f"stale: {root / path}", err=True)
    click.echo(f"{len(stale)} {_files(len(stale))} not up to date; run `tenancy compile`", err=True)
    return Status.FINDINGS


def _files(number: int) -> str:
    return "file" if number == 1 else "files"
