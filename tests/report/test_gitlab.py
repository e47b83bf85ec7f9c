"""The code quality report of GitLab."""

from __future__ import annotations

import json

from tenancy.report.gitlab import gitlab

from .build import IDLE, SPARE, finding, place, report


def test_item() -> None:
    """An item has the fields that GitLab demands, with a relative path that has no leading dot."""
    (item,) = json.loads(gitlab(report(finding(place(3, 9, 11, file="./org/org.yaml"), help="less"))))
    assert len(item.pop("fingerprint")) == 32
    assert item == {
        "description": "too much (help: less)",
        "check_name": "budget.sum",
        "severity": "major",
        "location": {"path": "org/org.yaml", "lines": {"begin": 3, "end": 3}},
    }


def test_severities() -> None:
    """Errors are major, warnings minor, notes info."""
    found = [finding(place(1, 1, 2)), finding(place(1, 1, 2), rule=IDLE), finding(place(1, 1, 2), rule=SPARE)]
    assert [item["severity"] for item in json.loads(gitlab(report(*found)))] == ["major", "minor", "info"]


def test_fingerprints_are_unique() -> None:
    """Findings of one rule at one key path still have a fingerprint each."""
    items = json.loads(gitlab(report(*[finding(place(1, 1, 2)) for _ in range(3)])))
    assert len({item["fingerprint"] for item in items}) == 3


def test_empty_report() -> None:
    """Nothing found is an empty array, which GitLab reads as a clean report."""
    assert gitlab(report()) == "[]\n"
