"""Check an organization and write nothing."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

from tenancy.commands.findings import show, status
from tenancy.commands.status import Status
from tenancy.commands.where import organization
from tenancy.pipeline import Options, examine


def validate(org: Path | None, *, format_: str, strict: bool, today: date) -> Status:
    """Show every finding."""
    found = examine(organization(org), Options(today=today))
    show(found, format_, stream=sys.stdout)
    return status(found.diagnostics, strict=strict)
