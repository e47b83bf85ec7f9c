"""SARIF 2.1.0: the subset of its schema that code scanning reads, as assertions."""

from __future__ import annotations

import json
from typing import Any

from tenancy.diagnostics import Diagnostic, Place, Related
from tenancy.report.sarif import sarif

from .build import IDLE, QUOTA, SPARE, finding, place, report


def _run(*found: Diagnostic, docs_base: str = "") -> dict[str, Any]:
    log = json.loads(sarif(report(*found, docs_base=docs_base)))
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def test_rules_and_their_indexes() -> None:
    """Each broken rule is listed once, by code, and every result points at its own."""
    found = [finding(place(line, 1, 2), rule=rule) for line, rule in enumerate((SPARE, QUOTA, IDLE, QUOTA), start=1)]
    run = _run(*found)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["budget.idle", "budget.sum", "flavor.spare"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [item.code for item in found]
    assert [result["level"] for result in run["results"]] == ["note", "error", "warning", "error"]
    assert run["tool"]["driver"]["name"] == "tenancy"
    assert run["tool"]["driver"]["version"] == "1.2.3"


def test_rule() -> None:
    """A rule carries title, reason and link; the link is a helpUri only where it is absolute (SARIF 3.49.12)."""
    (rule,) = _run(finding(place(1, 1, 2)), docs_base="https://docs.example/")["tool"]["driver"]["rules"]
    uri = "https://docs.example/docs/checks.md#budget.sum"
    assert rule == {
        "id": "budget.sum",
        "shortDescription": {"text": QUOTA.title},
        "fullDescription": {"text": QUOTA.why},
        "help": {"text": f"{QUOTA.why}\n\nSee {uri}"},
        "defaultConfiguration": {"level": "error"},
        "helpUri": uri,
    }
    (relative,) = _run(finding(place(1, 1, 2)))["tool"]["driver"]["rules"]
    assert "helpUri" not in relative
    assert relative["help"]["text"].endswith("See docs/checks.md#budget.sum")


def test_result_with_related_locations() -> None:
    """A result has message, span in code points, key path, and its related places with their labels and ids from 1."""
    at = Place("org/org.yaml", 3, 9, 4, 2, ("departments", "research", 0))
    related = (Related("first", place(1, 1, 4)), Related("second", place(2, 1, 4, file="b.yaml", path=())))
    run = _run(finding(at, related=related, help="less"))
    (result,) = run["results"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert result["message"] == {"text": "too much\nHelp: less"}
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "org/org.yaml"},
                "region": {"startLine": 3, "startColumn": 9, "endLine": 4, "endColumn": 2},
            },
            "logicalLocations": [{"fullyQualifiedName": "departments/research/0"}],
        }
    ]
    assert [(item["id"], item["message"]["text"]) for item in result["relatedLocations"]] == [
        (1, "first"),
        (2, "second"),
    ]
    assert "relatedLocations" not in _run(finding(at))["results"][0]


def test_uri() -> None:
    """Files are relative references, percent-encoded, without a leading dot and with nothing that reads as a scheme."""
    (result,) = _run(finding(place(1, 1, 2, file="./a:b/研 究%#?.yaml")))["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "a%3Ab/%E7%A0%94%20%E7%A9%B6%25%23%3F.yaml"


def test_partial_fingerprints() -> None:
    """A fingerprint survives a moved line, two findings never share one, and GitHub's own key is left to GitHub."""
    before, after = (
        _run(finding(place(1, 1, 2)))["results"],
        _run(finding(place(9, 5, 6)), finding(place(9, 5, 6)))["results"],
    )
    assert before[0]["partialFingerprints"] == after[0]["partialFingerprints"]
    assert after[0]["partialFingerprints"] != after[1]["partialFingerprints"]
    assert list(after[0]["partialFingerprints"]) == ["codeAndKeyPath/v1"]


def test_empty_report() -> None:
    """A clean run is a run with an empty list of results, which closes what an earlier run opened."""
    assert _run()["results"] == []
