"""Diagnostics as SARIF 2.1.0 (OASIS), with what GitHub code scanning asks of an upload."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps
from typing import Any
from urllib.parse import quote, urlsplit

from tenancy.diagnostics import Diagnostic, Place, Rule
from tenancy.report.fingerprint import fingerprints
from tenancy.report.report import Report, posix_name

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(report: Report) -> str:
    """One run; the rules are those that were broken, by code. Columns count code points, as places do.

    A rule has a `helpUri` only where `docs_base` makes it absolute, as SARIF 2.1.0 demands (3.49.12); its help text
    names the page in any case.
    """
    examples = {found.code: found for found in report.diagnostics}
    codes = sorted(examples)
    index = {code: number for number, code in enumerate(codes)}
    named = zip(report.diagnostics, fingerprints(report.diagnostics), strict=True)
    driver = {
        "name": "tenancy",
        "version": report.tool_version,
        "rules": [_rule(examples[code].rule, report.docs_base + examples[code].docs) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(found, name, index) for found, name in named],
    }
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule, docs: str) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why or rule.title},
        "help": {"text": f"{rule.why}\n\nSee {docs}".lstrip()},
        "defaultConfiguration": {"level": rule.severity.value},
        **({"helpUri": docs} if urlsplit(docs).scheme else {}),
    }


def _result(found: Diagnostic, name: str, index: Mapping[str, int]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": index[found.code],
        "level": found.severity.value,
        "message": {"text": f"{found.message}\nHelp: {found.help}" if found.help else found.message},
        "locations": [_location(found.place)],
        # Not under `primaryLocationLineHash`: GitHub's upload action computes that one from the line's text, and
        # warns once per finding about any other value.
        "partialFingerprints": {"codeAndKeyPath/v1": name},
    }
    if found.related:
        result["relatedLocations"] = [
            {"id": number, **_location(related.place), "message": {"text": related.label}}
            for number, related in enumerate(found.related, start=1)
        ]
    return result


def _location(place: Place) -> dict[str, Any]:
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": _uri(place)}, "region": region}}
    if place.path:
        location["logicalLocations"] = [{"fullyQualifiedName": "/".join(str(step) for step in place.path)}]
    return location


def _uri(place: Place) -> str:
    """A relative reference; a colon is encoded too, or `a:b.yaml` would read as the scheme `a`."""
    return quote(posix_name(place).encode("utf-8", "surrogatepass"), safe="/")
