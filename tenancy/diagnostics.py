"""What the tool has to say about an organization, as data.

A `Rule` is one thing that can be wrong, with its stable code. A `Diagnostic` is one place where it is wrong. Text,
JSON, SARIF and the forges' formats are views of diagnostics (`tenancy.report`); no stage prints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]
"""The route of keys and list indexes from the root of the organization to a value."""


class Severity(StrEnum):
    """How much a finding weighs: an error stops the compilation, a warning and a note do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that can be wrong.

    `code` is stable, never reused, and the heading of the rule in docs/checks.md. `why` says what the scheduler, the
    API server or a person would have suffered; it is shown with every diagnostic.
    """

    code: str
    severity: Severity
    title: str
    why: str


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A span in a file. Lines and columns count from 1; `end_column` is the column after the last character."""

    file: str
    line: int = 1
    column: int = 1
    end_line: int = 1
    end_column: int = 1
    path: KeyPath = ()


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to the story, with a label that says how."""

    label: str
    place: Place


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the organization's files that would mend something; `tenancy fix` makes it."""

    action: Literal["set", "remove", "rename"]
    path: KeyPath
    """Of the value that is set (made where it is not there), or of the key that is removed or renamed."""
    value: Any = None
    """The new value as plain YAML data, or the new name of the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A rule broken at a place: what is wrong (`message`, with the value) and what to write instead (`help`)."""

    rule: Rule
    message: str
    place: Place
    related: tuple[Related, ...] = ()
    help: str = ""
    edits: tuple[Edit, ...] = ()
    """What `help` proposes, where that is one certain change: made together, they mend it."""

    @property
    def code(self) -> str:
        """The stable name of the rule."""
        return self.rule.code

    @property
    def severity(self) -> Severity:
        """How much the rule weighs."""
        return self.rule.severity

    @property
    def docs(self) -> str:
        """Where the rule is explained, relative to the root of the project."""
        return f"docs/checks.md#{self.rule.code}"


def in_file_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sort by place, then code: the order in which a reader goes through the files."""
    return sorted(diagnostics, key=_position)


def _position(diagnostic: Diagnostic) -> tuple[str, int, int, str, str]:
    place = diagnostic.place
    return (place.file, place.line, place.column, diagnostic.code, diagnostic.message)


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether one of them stops the compilation."""
    return any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
