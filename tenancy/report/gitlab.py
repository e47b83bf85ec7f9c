"""Diagnostics as a code quality report of GitLab, which shows them in the merge request."""

from __future__ import annotations

from json import dumps
from typing import Any

from tenancy.diagnostics import Diagnostic, Severity
from tenancy.report.fingerprint import fingerprints
from tenancy.report.report import Report, posix_name

SEVERITIES: dict[Severity, str] = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}
"""An error is `major`: what holds a merge back is the exit status of the job, while `critical` and `blocker` are read
as an incident in production, which a finding in a merge request is not."""


def gitlab(report: Report) -> str:
    """A JSON array with one item per diagnostic; no two fingerprints are alike, or GitLab would show one of them."""
    named = zip(report.diagnostics, fingerprints(report.diagnostics), strict=True)
    return dumps([_item(found, name) for found, name in named], indent=2) + "\n"


def _item(found: Diagnostic, name: str) -> dict[str, Any]:
    return {
        "description": f"{found.message} (help: {found.help})" if found.help else found.message,
        "check_name": found.code,
        "fingerprint": name,
        "severity": SEVERITIES[found.severity],
        "location": {
            "path": posix_name(found.place),
            "lines": {"begin": found.place.line, "end": found.place.end_line},
        },
    }
