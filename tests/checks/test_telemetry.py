"""Variants of what can be wrong with telemetry, beside the one case of each code."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.check import telemetry
from tests.orgs import organized
from tests.telemetry.scenes import TREE


def codes(**said: Any) -> list[str]:
    """The codes of the findings about a cluster with this telemetry."""
    org = organized({**TREE, "clusters": {"train": {"telemetry": said}}})
    return [finding.rule.code for check in telemetry.CHECKS for finding in check(org)]


@pytest.mark.parametrize(
    "labels", [{"release": "stack"}, {"acme.example/of": ""}, {"app.kubernetes.io/part-of": "gpu"}]
)
def test_labels_of_others_are_fine(labels: dict[str, str]) -> None:
    """Whatever Prometheus selects by."""
    assert codes(labels=labels) == []


@pytest.mark.parametrize(
    "labels",
    [
        {"-release": "stack"},
        {"release": "-"},
        {"app.kubernetes.io/managed-by": "helm"},
        {"tenancy.internal/department": "research"},
    ],
)
def test_labels_that_objects_cannot_have_are_found(labels: dict[str, str]) -> None:
    """A key or a value that Kubernetes refuses, and a key that says whose an object is."""
    assert codes(labels=labels) == ["telemetry-label"]


@pytest.mark.parametrize(
    ("said", "fine"), [("5m", True), ("1h30m", True), ("4m59s", False), ("0s", False), ("", False)]
)
def test_an_alert_can_wait_for_five_minutes_or_more(said: str, fine: bool) -> None:
    """Less than some scrapes says nothing about a queue."""
    assert codes(pendingAfter=said) == ([] if fine else ["telemetry-pending-after"])
