"""The laws of an organization. A check is a function from the organization to findings; `CHECKS` is their order.

Every check runs in every run; the diagnostics come out in file order. Adding one: a function and its `Rule` in the module of
its concern, a line in `CHECKS`, its rule in that module's `RULES`, and a case under tests/checks/.
"""

from __future__ import annotations

from datetime import date
from typing import Final

from tenancy.check.finding import Check, placed
from tenancy.diagnostics import Diagnostic, Rule
from tenancy.load.source import Sources
from tenancy.model.organization import Org

CHECKS: Final[tuple[Check, ...]] = ()

RULES: Final[tuple[Rule, ...]] = ()


def check(org: Org, sources: Sources, today: date | None = None) -> list[Diagnostic]:
    """Every finding of every check. `today` is compared with `expires` dates; None (as in `compile`) compares nothing."""
    findings = [finding for each in CHECKS for finding in each(org)]
    return [placed(finding, sources) for finding in findings]
