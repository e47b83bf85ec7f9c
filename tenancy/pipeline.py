"""The stages in their order: from a path to an examined organization.

Only `load` touches files here; every stage hands on a value and its diagnostics, and an error stops the next stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from tenancy.backend import BACKENDS
from tenancy.check import check
from tenancy.diagnostics import Diagnostic, KeyPath, has_errors, in_file_order
from tenancy.load import load
from tenancy.load.source import Sources
from tenancy.model.budgets import promise
from tenancy.model.organization import Org, organize
from tenancy.model.parse import parse
from tenancy.plan import plan
from tenancy.render.conform import checker
from tenancy.render.files import render


@dataclass(frozen=True, slots=True)
class Examined:
    """An organization with all that was found. `org` is None where there was too little of it to check."""

    org: Org | None
    sources: Sources | None
    diagnostics: tuple[Diagnostic, ...]
    """In file order, without the silenced ones."""
    silenced: int = 0

    @property
    def sound(self) -> bool:
        """Whether it may be compiled."""
        return self.org is not None and not has_errors(self.diagnostics)


def examine(path: Path, today: date | None = None) -> Examined:
    """Load, parse and check the organization at `path`; every finding of every stage that could run."""
    loaded, diagnostics = load(path)
    if loaded is None:
        return Examined(None, None, tuple(in_file_order(diagnostics)))
    if loaded.tree is None:
        return _examined(None, loaded.sources, diagnostics)
    parsed, shapes = parse(loaded.tree, loaded.sources, _unread(diagnostics))
    diagnostics = [*diagnostics, *shapes]
    org = None
    if parsed.organization is not None:
        org = organize(parsed.organization, parsed.left_out)
        promise(org)
        diagnostics += check(org, loaded.sources, today)
    return _examined(org, loaded.sources, diagnostics)


def generate(org: Org) -> dict[str, str]:
    """The text of every file of out/ by its path: plan, backend and render of each cluster.

    Raises `tenancy.render.files.Nonconforming` where an object does not fit its schema.
    """
    files: dict[str, str] = {}
    for cluster in plan(org):
        check_object = checker(kubernetes=cluster.kubernetes, kueue=cluster.kueue)
        files |= render(cluster.name, BACKENDS[cluster.cluster.scheduler](cluster), check_object)
    return files


def _unread(diagnostics: list[Diagnostic]) -> frozenset[KeyPath]:
    """The paths that the loader could not read; a file that it could not place leaves some department out."""
    somewhere: KeyPath = ("departments", "")
    return frozenset(diagnostic.place.path or somewhere for diagnostic in diagnostics)


def _examined(org: Org | None, sources: Sources, diagnostics: list[Diagnostic]) -> Examined:
    shown = [diagnostic for diagnostic in diagnostics if not _silenced(diagnostic, sources)]
    return Examined(org, sources, tuple(in_file_order(shown)), len(diagnostics) - len(shown))


def _silenced(diagnostic: Diagnostic, sources: Sources) -> bool:
    place = diagnostic.place
    return diagnostic.code in sources.ignores.get((place.file, place.line), ())
