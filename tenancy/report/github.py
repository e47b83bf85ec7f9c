"""Diagnostics as workflow commands of GitHub Actions, which become annotations of a pull request."""

from __future__ import annotations

from tenancy.diagnostics import Diagnostic, Severity
from tenancy.report.report import Report, plural, posix_name, worst_first
from tenancy.report.terminal import visible

COMMANDS: dict[Severity, str] = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}

LIMIT = 10
"""Annotations that GitHub keeps of each command in one step; it drops the others without a word."""


def github(report: Report) -> str:
    """One command per line, worst first, at most ten of each severity, then a notice that says how many were left out.

    The notice counts among the ten, so that it is never the one that is dropped. Nothing found is an empty text.
    """
    shown = _shown(report, notes=LIMIT)
    if len(shown) < len(report.diagnostics):
        shown = _shown(report, notes=LIMIT - 1)
    commands = [_command(found) for found in shown]
    hidden = len(report.diagnostics) - len(shown)
    if hidden:
        commands.append(f"::notice title=tenancy::and {plural(hidden, 'more finding')}")
    return "".join(f"{command}\n" for command in commands)


def _shown(report: Report, notes: int) -> list[Diagnostic]:
    room = {Severity.ERROR: LIMIT, Severity.WARNING: LIMIT, Severity.NOTE: notes}
    shown = []
    for found in worst_first(report.diagnostics):
        if room[found.severity]:
            room[found.severity] -= 1
            shown.append(found)
    return shown


def _command(found: Diagnostic) -> str:
    place = found.place
    properties: dict[str, str | int] = {"file": posix_name(place), "line": place.line, "endLine": place.end_line}
    if place.line == place.end_line:  # Annotations have columns only within one line (Checks API).
        properties |= {"col": place.column, "endColumn": place.end_column}
    properties["title"] = f"{found.code}: {found.rule.title}"
    written = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    message = f"{found.message}\n{found.help}" if found.help else found.message
    return f"::{COMMANDS[found.severity]} {written}::{_data(message)}"


def _data(text: str) -> str:
    """A message as the runner unescapes it; other control characters are shown, not obeyed."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return visible(escaped)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
