"""In which clusters the namespaces of a team are."""

from __future__ import annotations

from typing import Any

from tenancy.plan import plan
from tests.orgs import organized


def _namespaces(departments: dict[str, Any]) -> dict[str, list[str]]:
    """The namespaces of each of two clusters; `train` has H100s, `serve` has L4s."""
    node = {"gpus": 8, "cpu": 192, "memory": "2000Gi"}
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {}, "serve": {}},
        "flavors": {
            "h100": {"cluster": "train", "gpu": "H100-SXM-80GB", "nodes": 4, "node": node},
            "l4": {"cluster": "serve", "gpu": "L4", "nodes": 4, "node": node},
        },
        "departments": departments,
    }
    return {cluster.name: [each.name for each in cluster.namespaces] for cluster in plan(organized(tree))}


def test_a_team_is_where_it_or_its_department_has_a_budget() -> None:
    """What a department has in one cluster puts its teams there, and nowhere else."""
    found = _namespaces({"a": {"budget": {"h100": 8}, "teams": {"one": {}, "two": {"budget": {"l4": {"limit": 4}}}}}})
    assert found == {"train": ["a-one", "a-two"], "serve": ["a-two"]}


def test_a_team_is_nowhere_where_it_may_use_nothing() -> None:
    """There its jobs would wait for ever."""
    teams = {"one": {"budget": {"h100": 8}}, "two": {"budget": {"l4": 8}}}
    found = _namespaces({"a": {"policy": {"borrowing": "none"}, "budget": {"h100": 8, "l4": 8}, "teams": teams}})
    assert found == {"train": ["a-one"], "serve": ["a-two"]}


def test_a_team_without_any_budget_around_it_is_in_every_cluster() -> None:
    """It may borrow in each of them."""
    assert _namespaces({"a": {"teams": {"one": {}}}}) == {"train": ["a-one"], "serve": ["a-one"]}


def test_a_limit_of_0_keeps_a_team_out_of_a_cluster() -> None:
    """Where the flavor is all that the cluster has."""
    teams = {"one": {"budget": {"l4": {"limit": 0}}}}
    assert _namespaces({"a": {"teams": teams, "budget": {"h100": 8}}}) == {"train": ["a-one"], "serve": []}
