"""What all commands that edit an organization have in common: nothing is written that brings a finding."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import click

from tenancy.commands.findings import print_all, show, status
from tenancy.commands.status import Status
from tenancy.commands.where import organization
from tenancy.diagnostics import Diagnostic, Edit
from tenancy.edit.compared import new_findings
from tenancy.edit.editing import Texts
from tenancy.edit.errors import Refused, Unlawful, Unwritable
from tenancy.edit.save import save
from tenancy.pipeline import Examined, Options, examine


@dataclass(frozen=True, slots=True)
class Asked:
    """What every such command is asked."""

    org: Path | None
    today: date
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """Texts with a change in them, the edits in terms of the texts before, and what there is to say about it."""

    texts: Texts
    edits: tuple[Edit, ...]
    said: tuple[str, ...] = ()
    left: bool = False
    """Whether a part of what was asked for could not be made; `said` tells which."""


def change(asked: Asked, make: Callable[[Path, Examined], Made]) -> Status:
    """Make a change and write it, unless it cannot be made or brings a finding."""
    path = organization(asked.org)
    before = examine(path, Options(today=asked.today))
    if before.sources is None:
        show(before, "text", stream=sys.stderr, quiet=True)
        return status(before.diagnostics)
    try:
        made = make(path, before)
    except Refused as error:
        return refused(error)
    texts = differing(before, made.texts)
    if not texts:
        for sentence in made.said or ("nothing to change: the organization says so already",):
            click.echo(sentence, err=True)
        return _result(made)
    after = examine(path, Options(today=asked.today, texts=texts))
    brought = new_findings(before.diagnostics, after.diagnostics, made.edits)
    if brought:
        return _refuse(brought, after)
    return write(asked, path, before, texts, made)


def write(asked: Asked, path: Path, before: Examined, texts: Mapping[str, str], made: Made) -> Status:
    """Show the difference, and write it unless this is a dry run."""
    old = originals(before)
    for line in unified(old, texts):
        click.echo(line, nl=False)
    for sentence in made.said:
        click.echo(sentence, err=True)
    if made.texts.shared:
        click.echo(f"the same text is used through aliases at {', '.join(made.texts.shared)}", err=True)
    if asked.dry_run:
        click.echo("nothing was written: this is a dry run", err=True)
        return _result(made)
    try:
        save(path if path.is_dir() else path.parent, old, texts)
    except Unwritable as error:
        click.echo(f"nothing was written: {error}", err=True)
        return Status.UNCHECKED
    click.echo("`tenancy diff` shows what that means for the clusters", err=True)
    return _result(made)


def _result(made: Made) -> Status:
    return Status.FINDINGS if made.left else Status.CLEAN


def refused(error: Refused) -> Status:
    """Say why nothing is written. What the numbers forbid is a finding, not a fault of the command line."""
    click.echo(f"nothing was written: {error}", err=True)
    return Status.FINDINGS if isinstance(error, Unlawful) else Status.USAGE


def originals(before: Examined) -> dict[str, str]:
    """The texts as they were read, by file name."""
    return {source.name: source.text for source in before.sources.files} if before.sources is not None else {}


def differing(before: Examined, texts: Texts) -> dict[str, str]:
    """The texts that are not those on the disk."""
    old = originals(before)
    return {name: text for name, text in texts.texts.items() if old[name] != text}


def unified(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """The difference as `diff -u` and git write it."""
    for name in sorted(after):
        old, new = (_lines(texts[name]) for texts in (before, after))
        for line in difflib.unified_diff(old, new, f"a/{name.lstrip('/')}", f"b/{name.lstrip('/')}"):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """Lines as git counts them: only the line feed ends one."""
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]


def _refuse(brought: Sequence[Diagnostic], after: Examined) -> Status:
    print_all(brought, after.sources, 0, "text", stream=sys.stderr)
    what = "this finding" if len(brought) == 1 else f"these {len(brought)} findings"
    click.echo(f"nothing was written: the change would bring {what}", err=True)
    return Status.FINDINGS
