"""Small builders of diagnostics and reports, so that a test names only what it is about."""

from __future__ import annotations

from tenancy.diagnostics import Diagnostic, KeyPath, Place, Related, Rule, Severity
from tenancy.load.source import SourceFile, Sources
from tenancy.report import Report

QUOTA = Rule(
    "budget.sum", Severity.ERROR, "Children get more than the unit has", "Two teams are promised the same GPU."
)
IDLE = Rule("budget.idle", Severity.WARNING, "Quota that nobody uses", "Idle GPUs cost as much as busy ones.")
SPARE = Rule("flavor.spare", Severity.NOTE, "No spare node", "The loss of one node breaks a promise.")


def sources(**texts: str) -> Sources:
    """Sources without a tree; the keyword `org` becomes the file `org.yaml`."""
    return Sources(tuple(SourceFile(f"{name}.yaml", text) for name, text in texts.items()), {}, {})


def place(line: int, column: int, end_column: int, *, file: str = "org.yaml", path: KeyPath = ("a",)) -> Place:
    return Place(file, line, column, line, end_column, path)


def finding(
    at: Place, message: str = "too much", *, rule: Rule = QUOTA, related: tuple[Related, ...] = (), help: str = ""
) -> Diagnostic:
    return Diagnostic(rule=rule, message=message, place=at, related=related, help=help)


def report(*diagnostics: Diagnostic, of: Sources | None = None, silenced: int = 0, docs_base: str = "") -> Report:
    return Report(diagnostics, of, silenced, "1.2.3", docs_base)
