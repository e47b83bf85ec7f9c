"""When Kubernetes alone would do, and what it then loses: nothing that is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenancy.check.native import outgrown, would_do
from tenancy.diagnostics import Severity
from tenancy.pipeline import Options, examine
from tests.orgs import organized, scheduled

H100 = {"gpu": "H100-SXM-80GB", "nodes": 1, "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"}}
ALL: dict[str, Any] = {"budget": {"h100": 8}}


def tree(team: dict[str, Any] | None = None, **organization: Any) -> dict[str, Any]:
    """An organization whose one team has all eight GPUs of one node."""
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {}},
        "flavors": {"h100": H100},
        "departments": {"research": {"budget": {"h100": 8}, "teams": {"vision": {**ALL, **(team or {})}}}},
        **organization,
    }


def noted(organization: dict[str, Any]) -> bool:
    return bool(list(would_do(organized(organization))))


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
def test_one_team_on_one_node_needs_no_scheduler(scheduler: str) -> None:
    """Whichever is written, unless it is none already."""
    assert noted(scheduled(tree(), scheduler))
    assert not noted(scheduled(tree(), "native"))


MORE = {
    "it may borrow": tree({"budget": {"h100": 6}}),
    "it has several namespaces": tree({"projects": {"a": {}, "b": {}}}),
    "it queues strictly": tree({"policy": {"queueing": "strict"}}),
    "it is held": tree({"state": "held"}),
    "there are priorities": tree(priorities={"high": 1}),
    "there are gangs": tree(policy={"gang": {"startTimeout": "5m"}}),
    "there is another flavor": tree(
        flavors={"h100": H100, "cpu": {"nodes": 1, "node": {"cpu": 64, "memory": "256Gi"}}}
    ),
    "there are racks": tree(flavors={"h100": {**H100, "topology": ["a/rack", "kubernetes.io/hostname"]}}),
    "there are more GPUs than a node has": tree(
        {"budget": {"h100": 8}},
        flavors={"h100": {**H100, "nodes": 2, "node": {"gpus": 4, "cpu": 96, "memory": "1000Gi"}}},
    ),
    "there is a dozen": tree(
        {"budget": {"h100": 12}},
        flavors={"h100": {**H100, "node": {"gpus": 12, "cpu": 192, "memory": "2000Gi"}}},
        departments={"research": {"budget": {"h100": 12}, "teams": {"vision": {"budget": {"h100": 12}}}}},
    ),
    "there is another team": tree(
        departments={"research": {"budget": {"h100": 8}, "teams": {"vision": ALL, "speech": {}}}}
    ),
}


@pytest.mark.parametrize("why", MORE)
def test_a_scheduler_is_needed(why: str) -> None:
    """For each promise that quotas alone do not keep, and for each thing that they do not know."""
    assert noted(tree())
    assert not noted(MORE[why])


def test_what_is_recommended_loses_nothing_but_the_queue() -> None:
    """With `native` in its place, the organization of the note has no error, and one warning."""
    found = examine(Path(__file__).parent / "native-would-do" / "fails.yaml", Options(scheduler="native"))
    assert [each.code for each in found.diagnostics] == ["no-queue"]
    assert found.diagnostics[0].severity is Severity.WARNING


def test_teams_without_gpus_do_not_share_them() -> None:
    """Only owners count, and a department is none."""
    teams = {"vision": ALL, "speech": {}}
    alone = scheduled(tree(departments={"research": {"budget": {"h100": 8}, "teams": teams}}), "native")
    assert list(outgrown(organized(alone))) == []
    split = {name: {"budget": {"h100": 4}} for name in ("vision", "speech", "c", "d", "e")}
    shared = tree(
        flavors={"h100": {**H100, "nodes": 3}}, departments={"research": {"budget": {"h100": 24}, "teams": split}}
    )
    (found,) = outgrown(organized(scheduled(shared, "native")))
    assert found.message.startswith("`research/c`, `research/d`, `research/e` and 2 more share flavor `h100`")
