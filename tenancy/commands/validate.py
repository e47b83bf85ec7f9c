"""Check an organization and write nothing."""

from __future__ import annotations

import sys
from collections.abc import Collection
from datetime import date
from pathlib import Path

from tenancy.commands.findings import show, status
from tenancy.commands.status import Status
from tenancy.commands.where import organization
from tenancy.pipeline import Options, examine


def validate(
    org: Path | None,
    *,
    format_: str,
    strict: bool,
    today: date,
    scheduler: str = "",
    accepted: Collection[str] = (),
) -> Status:
    """Show every finding, under another scheduler if one is given."""
    found = examine(organization(org), Options(today=today, scheduler=scheduler, accepted=accepted))
    show(found, format_, stream=sys.stdout)
    return status(found.diagnostics, strict=strict)
