"""Queues of teams whose projects have budgets, and the one that the other projects share."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.model.organization import Quota
from tenancy.plan import plan
from tenancy.plan.values import Queue
from tests.orgs import organized


def _queues(team: dict[str, Any]) -> dict[str, Queue]:
    node = {"gpus": 8, "cpu": 192, "memory": "2000Gi"}
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {}},
        "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 4, "node": node}},
        "departments": {"research": {"budget": {"h100": 32}, "teams": {"vision": team}}},
    }
    (cluster,) = plan(organized(tree))
    return {queue.name: queue for queue in cluster.queues}


def _gpus(queue: Queue) -> Quota:
    return queue.quotas["h100"]["nvidia.com/gpu"]


PROJECTS = {"train": {"budget": {"h100": {"reserved": 4, "quota": 8}}}, "demo": {}, "papers": {"namespace": "papers"}}


def test_projects_without_a_budget_share_what_is_left() -> None:
    """One queue of the team's name: the rest of its quota and of its reserve, and its limit."""
    queues = _queues({"budget": {"h100": {"reserved": 6, "quota": 24, "limit": 30}}, "projects": PROJECTS})
    assert set(queues) == {"research-vision", "research-vision-train"}
    assert _gpus(queues["research-vision"]) == Quota(2, 16, 30)
    assert queues["research-vision"].namespaces == ("papers", "research-vision-demo")
    assert queues["research-vision"].parent == "research-vision"
    assert _gpus(queues["research-vision-train"]) == Quota(4, 8, 30)


def test_under_borrowing_none_they_borrow_from_nobody() -> None:
    """Not from the budgeted projects beside them either: the limit is what is left."""
    queues = _queues({"budget": {"h100": 24}, "policy": {"borrowing": "none"}, "projects": PROJECTS})
    assert _gpus(queues["research-vision"]) == Quota(0, 16, 16)
    assert _gpus(queues["research-vision-train"]) == Quota(4, 8, 8)


def test_without_any_budget_all_projects_use_the_teams_queue() -> None:
    """The team is a leaf, and its queue takes the jobs of every namespace."""
    queues = _queues({"budget": {"h100": 24}, "projects": {"a": {}, "b": {}}})
    assert set(queues) == {"research-vision"}
    assert queues["research-vision"].namespaces == ("research-vision-a", "research-vision-b")
    assert queues["research-vision"].parent == "research"


@pytest.mark.parametrize(
    ("unit", "project", "expected"), [("held", "draining", "draining"), ("draining", "held", "draining")]
)
def test_a_unit_is_in_the_most_restrictive_state_around_it(unit: str, project: str, expected: str) -> None:
    """What is being drained stays drained, whatever is said below it."""
    budgeted = {"budget": {"h100": 8}, "state": project}
    queues = _queues({"budget": {"h100": 24}, "state": unit, "projects": {"train": budgeted, "demo": {}}})
    assert queues["research-vision-train"].state == expected
    assert queues["research-vision"].state == unit
