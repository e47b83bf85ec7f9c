"""How findings are shown, and what they come to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from shutil import get_terminal_size
from typing import Any

import click

from tenancy import __version__, load
from tenancy.commands.status import Status
from tenancy.diagnostics import Diagnostic, Severity
from tenancy.load.source import Sources
from tenancy.output import rules as output_rules
from tenancy.pipeline import Examined
from tenancy.report import FORMATS, Report
from tenancy.report.text import text

COULD_NOT_CHECK = load.COULD_NOT_CHECK | output_rules.COULD_NOT_CHECK
_WIDEST = 120
_NO_TERMINAL = 100


def show(found: Examined, format_: str, *, stream: Any, quiet: bool = False) -> None:
    """Print the findings of an organization; with `quiet` nothing at all where there are none to read."""
    if not (quiet and not found.diagnostics and format_ == "text"):
        print_all(found.diagnostics, found.sources, found.silenced, format_, stream=stream)


def print_all(
    diagnostics: Sequence[Diagnostic], sources: Sources | None, silenced: int, format_: str, *, stream: Any
) -> None:
    """Print diagnostics in one of the formats."""
    report = Report(tuple(diagnostics), sources, silenced, __version__)
    if format_ == "text":
        click.echo(text(report, colour=colour(stream), width=width(stream)), file=stream, nl=False)
    else:
        click.echo(FORMATS[format_](report), file=stream, nl=False)


def status(diagnostics: Sequence[Diagnostic], *, strict: bool = False) -> Status:
    """What findings come to; under `strict` a warning counts as an error."""
    if any(diagnostic.code in COULD_NOT_CHECK for diagnostic in diagnostics):
        return Status.UNCHECKED
    weighty = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    return Status.FINDINGS if any(each.severity in weighty for each in diagnostics) else Status.CLEAN


def colour(stream: Any) -> bool:
    """Only a terminal gets colour, and none where NO_COLOR asks for none."""
    return bool(stream.isatty()) and not os.environ.get("NO_COLOR")


def width(stream: Any) -> int:
    """The columns to write for: those of a terminal, as far as lines stay easy to read; elsewhere always the same."""
    return min(get_terminal_size().columns, _WIDEST) if stream.isatty() else _NO_TERMINAL
