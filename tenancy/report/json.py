"""Diagnostics as one JSON object, described by schemas/diagnostics.schema.json."""

from __future__ import annotations

from dataclasses import asdict
from json import dumps
from typing import Any

from tenancy.diagnostics import Diagnostic, Place
from tenancy.report.fingerprint import fingerprints
from tenancy.report.report import Report

VERSION = 1
"""The version of the format: a new key keeps it, a key that goes or changes its meaning raises it."""


def json(report: Report) -> str:
    """The report in ASCII: whatever a name holds, printing it drives no terminal and cannot fail to be encoded."""
    named = zip(report.diagnostics, fingerprints(report.diagnostics), strict=True)
    content = {
        "version": VERSION,
        "tool": {"name": "tenancy", "version": report.tool_version},
        "summary": asdict(report.counts),
        "diagnostics": [_diagnostic(found, name, report.docs_base) for found, name in named],
    }
    return dumps(content, indent=2) + "\n"


def _diagnostic(found: Diagnostic, name: str, docs_base: str) -> dict[str, Any]:
    return {
        "code": found.code,
        "severity": found.severity.value,
        "message": found.message,
        "why": found.rule.why,
        "help": found.help,
        "docs": docs_base + found.docs,
        "place": _place(found.place),
        "related": [{"label": related.label, "place": _place(related.place)} for related in found.related],
        "fingerprint": name,
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
        "path": list(place.path),
    }
