"""What a check yields: a rule, a path into the organization, and words. Places are looked up here, and only here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tenancy.diagnostics import Diagnostic, Edit, KeyPath, Related, Rule
from tenancy.load.source import Sources
from tenancy.model.organization import Org


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule broken at a path. `related` are labelled paths; `at_key` points at the key instead of its value."""

    rule: Rule
    path: KeyPath
    message: str
    help: str = ""
    related: tuple[tuple[str, KeyPath], ...] = ()
    at_key: bool = False
    edits: tuple[Edit, ...] = ()


Check: TypeAlias = Callable[[Org], Iterator[Finding]]


def placed(finding: Finding, sources: Sources) -> Diagnostic:
    """The finding with its places in the files."""
    return Diagnostic(
        rule=finding.rule,
        message=finding.message,
        place=sources.key(finding.path) if finding.at_key else sources.value(finding.path),
        related=tuple(Related(label, sources.value(path)) for label, path in finding.related),
        help=finding.help,
        edits=finding.edits,
    )
