"""Variants of the cases of shares of the API server, and of objects that no quota counts."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tenancy.check import check
from tenancy.check.fairness import LEAST, MOST
from tenancy.diagnostics import Diagnostic
from tenancy.load.source import Sources
from tenancy.model.fairness import BUILT_IN, seats
from tests.orgs import organized

BASE: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "flavors": {
        "h100": {
            "gpu": "H100-SXM-80GB",
            "nodes": 64,
            "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"},
            "daemons": {"cpu": 2, "memory": "4Gi"},
        }
    },
}


def findings(departments: int, **cluster: Any) -> list[Diagnostic]:
    """What the checks say of so many departments alike."""
    tree = copy.deepcopy(BASE)
    tree["clusters"]["train"] = cluster
    tree["departments"] = {f"d{index:03d}": {"budget": {"h100": 4}, "teams": {"t": {}}} for index in range(departments)}
    return check(organized(tree), Sources((), tree, {}))


def test_the_default_is_silent_for_thirty_departments() -> None:
    """Two shares each are four seats."""
    assert findings(30) == []


@pytest.mark.parametrize("departments", [31, 45, 61])
def test_what_is_to_be_written_is_enough_and_squeezes_nobody(departments: int) -> None:
    """The number in the help ends the finding and makes no other."""
    (found,) = findings(departments)
    assert found.code == "api-shares-thin"
    written = int(found.help.split("`apiShares: ")[1].split("`")[0])
    assert findings(departments, apiShares=written) == []
    assert [each.code for each in findings(departments, apiShares=written - 1)] == ["api-shares-thin"]


def test_more_departments_than_the_server_has_room_for() -> None:
    """No number helps: there are other ways out."""
    for found in findings(124):
        assert "`apiShares: 0`" in found.help
    assert [found.code for found in findings(124)] == ["api-shares-thin", "api-shares-squeeze"]


def test_no_level_is_no_finding() -> None:
    """Without levels of their own departments have no shares to be too few or too many."""
    assert findings(124, apiShares=0) == []


def test_the_bounds_are_what_they_say() -> None:
    """A third of each level's seats, rounded as the server rounds them; half of the least seats are two."""
    assert all(seats(shares, MOST) * 3 >= seats(shares, 0) * 2 for shares in BUILT_IN.values())
    assert (sum(BUILT_IN.values()) + MOST + 1) * 2 > sum(BUILT_IN.values()) * 3
    assert LEAST // 2 == 2


@pytest.mark.parametrize("key", ["count/events", "count/events.events.k8s.io"])
def test_events_are_counted_by_no_quota(key: str) -> None:
    """The API server takes the key and never counts: seven events were made where five were allowed."""
    tree = copy.deepcopy(BASE)
    tree["departments"] = {"d": {"budget": {"h100": 4}, "teams": {"t": {"limits": {"objects": {key: 5}}}}}}
    (found,) = check(organized(tree), Sources((), tree, {}))
    assert (found.code, key in found.message) == ("object-key", True)
