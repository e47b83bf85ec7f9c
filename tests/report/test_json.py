"""The JSON view against its published schema."""

from __future__ import annotations

import json as stdlib_json
from pathlib import Path

from jsonschema import Draft202012Validator

from tenancy.diagnostics import Related
from tenancy.report.json import json

from .build import IDLE, finding, place, report

SCHEMA = stdlib_json.loads((Path(__file__).parents[2] / "schemas/diagnostics.schema.json").read_text("utf-8"))


def test_content() -> None:
    """Every field of a diagnostic is there under its documented name."""
    at = place(3, 9, 11, path=("departments", "research", 0))
    content = stdlib_json.loads(json(report(finding(at, related=(Related("here", at),), help="less"), silenced=2)))
    span = {"line": 3, "column": 9, "endLine": 3, "endColumn": 11}
    shown = {"file": "org.yaml", **span, "path": ["departments", "research", 0]}
    fingerprint = content["diagnostics"][0].pop("fingerprint")
    assert len(fingerprint) == 32
    assert content == {
        "version": 1,
        "tool": {"name": "tenancy", "version": "1.2.3"},
        "summary": {"errors": 1, "warnings": 0, "notes": 0, "silenced": 2},
        "diagnostics": [
            {
                "code": "budget.sum",
                "severity": "error",
                "message": "too much",
                "why": "Two teams are promised the same GPU.",
                "help": "less",
                "docs": "docs/checks.md#budget.sum",
                "place": shown,
                "related": [{"label": "here", "place": shown}],
            }
        ],
    }


def test_schema() -> None:
    """Reports with and without findings are valid, and the schema is strict enough to refuse an unknown key."""
    Draft202012Validator.check_schema(SCHEMA)
    validator = Draft202012Validator(SCHEMA)
    at = place(1, 1, 2, path=("a", 1))
    full = stdlib_json.loads(json(report(finding(at, related=(Related("x", at),)), finding(at, rule=IDLE))))
    validator.validate(full)
    validator.validate(stdlib_json.loads(json(report())))
    assert not validator.is_valid(full | {"extra": 1})
    assert not validator.is_valid(full | {"version": 2})


def test_ascii_only() -> None:
    """The text is ASCII without control characters, whatever a name holds, and keeps the name."""
    evil = "研\x9b1m\x1b[2J\u202e\ud800"
    written = json(report(finding(place(1, 1, 2), evil)))
    assert written.isascii()
    assert written.replace("\n", "").isprintable()
    assert stdlib_json.loads(written)["diagnostics"][0]["message"] == evil
