"""Parts of the language that no backend lowers yet: refused by name, never accepted and ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.organization import Org

NOT_SUPPORTED_YET: Final = Rule(
    "not-supported-yet",
    Severity.ERROR,
    "A part of the language that is not implemented yet",
    "It would be accepted and have no effect, and somebody would rely on it.",
)


def supported(org: Org) -> Iterator[Finding]:
    """Every key that was written has an effect."""
    for unit in org.units:
        if unit.document is None:
            continue
        if unit.document.priorities is not None:
            yield _finding(
                (*unit.path, "priorities"),
                f"`priorities` of `{unit.title}`",
                "remove it: every unit may use every priority",
            )


def _finding(path: KeyPath, what: str, instead: str) -> Finding:
    return Finding(NOT_SUPPORTED_YET, path, f"{what} is not supported yet", instead)


RULES: Final = (NOT_SUPPORTED_YET,)
CHECKS: Final[tuple[Check, ...]] = (supported,)
