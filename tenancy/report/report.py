"""What every view of diagnostics is given: a frozen report, counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tenancy.diagnostics import Diagnostic, Place, Severity
from tenancy.load.source import Sources

WORST_FIRST: tuple[Severity, ...] = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many diagnostics there are of each severity, and how many more a comment silenced."""

    errors: int
    warnings: int
    notes: int
    silenced: int


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a run, ready to be shown.

    `diagnostics` are in file order and do not hold the `silenced` ones. `sources` is None where no file could be read:
    places are then shown without source lines. `docs_base` is the absolute URI, with its final slash, under which
    `docs/` is published; while it is empty, links to the documentation stay relative to the root of the project.
    """

    diagnostics: tuple[Diagnostic, ...]
    sources: Sources | None
    silenced: int
    tool_version: str
    docs_base: str = ""
    counts: Counts = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", _count(self.diagnostics, self.silenced))


def posix_name(place: Place) -> str:
    """The file of a place as the forges want it: relative paths without a leading `./`."""
    return place.file.removeprefix("./")


def worst_first(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Sort by severity, errors first; the order inside one severity stays."""
    return sorted(diagnostics, key=lambda diagnostic: WORST_FIRST.index(diagnostic.severity))


def plural(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _count(diagnostics: Sequence[Diagnostic], silenced: int) -> Counts:
    of = Counter(diagnostic.severity for diagnostic in diagnostics)
    return Counts(of[Severity.ERROR], of[Severity.WARNING], of[Severity.NOTE], silenced)
