"""Variants of what can be wrong with priorities, beside the one case of each code."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.check import priorities
from tenancy.check.finding import Finding
from tenancy.diagnostics import Edit
from tests.orgs import organized

RESEARCH: dict[str, Any] = {"value": 100, "preemptible": "checkpointed", "gracePeriod": "2m"}
H100 = {"gpu": "H100-SXM-80GB", "nodes": 4, "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"}}


def found(
    said: dict[str, Any],
    *,
    department: dict[str, Any] | None = None,
    cluster: dict[str, Any] | None = None,
    policy: dict[str, Any] | None = None,
    **vision: Any,
) -> list[Finding]:
    """The findings about two teams of 8 in a department of 24 of 32 GPUs, with these priorities."""
    teams = {"vision": {"budget": {"h100": 8}, **vision}, "nlp": {"budget": {"h100": 8}}}
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": cluster or {}},
        "flavors": {"h100": H100},
        "priorities": said,
        "policy": policy or {},
        "departments": {"lab": {"budget": {"h100": 24}, "teams": teams, **(department or {})}},
    }
    org = organized(tree)
    return [finding for check in priorities.CHECKS for finding in check(org)]


def codes(*given: Any, **named: Any) -> list[str]:
    return [finding.rule.code for finding in found(*given, **named)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gracePeriod": "soon"}, "the grace period `soon` of priority `research` is not a duration"),
        ({"gracePeriod": "0s"}, "the grace period `0s` of priority `research` is no time at all"),
        ({"preemptible": "restartable"}, "but is `restartable`, so nobody keeps it"),
        ({"preemptible": None}, "but says nothing of being interrupted, so nobody keeps it"),
    ],
)
def test_a_grace_period_gives_time_to_save_a_state(change: dict[str, Any], words: str) -> None:
    """Else it is an error at the period itself."""
    whole = {key: value for key, value in {**RESEARCH, **change}.items() if value is not None}
    (finding,) = found({"research": whole})
    assert (finding.rule.code, finding.path) == ("grace-period", ("priorities", "research", "gracePeriod"))
    assert words in finding.message


def test_the_place_of_a_value_is_that_of_the_number() -> None:
    """Whichever form the priority has."""
    high = 2_000_000_000
    assert [each.path for each in found({"one": high, "other": {"value": high}})] == [
        ("priorities", "one"),
        ("priorities", "other", "value"),
    ]


@pytest.mark.parametrize(
    ("grace", "policy", "cluster", "warned"),
    [
        ("10m", {}, {}, True),
        ("599s", {}, {}, False),
        ("3m", {"gang": {"startTimeout": "2m"}}, {}, True),
        ("3m", {"gang": {"startTimeout": "4m"}}, {}, False),
        ("10m", {}, {"scheduler": "volcano"}, False),
    ],
)
def test_pods_end_before_the_owner_is_given_up(
    grace: str, policy: dict[str, Any], cluster: dict[str, Any], warned: bool
) -> None:
    """Compared with the start timeout, also where that is the default; only Kueue has one."""
    said = {"research": {**RESEARCH, "gracePeriod": grace}}
    assert codes(said, policy=policy, cluster=cluster) == (["grace-outlasts-start"] if warned else [])


def test_a_misspelt_priority_is_mended() -> None:
    """Where one that is there is near; else all are listed."""
    (finding,) = found({"research": 100}, priorities=["reserch"])
    path = ("departments", "lab", "teams", "vision", "priorities", 0)
    assert finding.edits == (Edit("set", path, "research"),)
    (finding,) = found({"research": 100}, priorities=["urgent"])
    assert (finding.edits, finding.help) == ((), "it has `research`")
    (finding,) = found({}, priorities=["urgent"])
    assert finding.help == "it has none yet: write it under `priorities`"


def test_a_list_is_compared_with_the_nearest_above_that_has_one() -> None:
    """That may stand above a unit that says nothing; the finding shows it."""
    projects = {"demo": {"priorities": ["production"]}}
    (finding,) = found({"production": 10, "research": 1}, department={"priorities": ["research"]}, projects=projects)
    assert finding.rule.code == "priority-beyond-parent"
    assert finding.related == (("the priorities of `lab`", ("departments", "lab", "priorities")),)


NO_WAY: dict[str, Any] = {"priorities": ["production"]}
BOTH: dict[str, Any] = {"production": 1000, "research": RESEARCH}


def test_a_list_without_a_preemptible_priority_is_told_once_with_the_price() -> None:
    """At the list that holds, with how many namespaces it reaches, what they may borrow, and what not to would cost."""
    (finding,) = found(BOTH, department=NO_WAY)
    assert (finding.rule.code, finding.path) == ("no-preemptible-priority", ("departments", "lab", "priorities"))
    assert "`lab/nlp` (and 1 more)" in finding.message
    assert "may borrow 24 GPUs on h100 beside its own 8 GPUs on h100" in finding.message
    assert "it reaches 24 GPUs on h100 less, and nobody takes GPUs back from it" in finding.help


@pytest.mark.parametrize(
    ("above", "said"),
    [
        (["production", "rest"], "add `rest` to its priorities; or"),
        (["production"], "add `research` or `rest` to its priorities and to those of `lab`; or"),
    ],
)
def test_a_priority_that_the_unit_above_may_not_have_is_not_advised_alone(above: list[str], said: str) -> None:
    """Added to the unit's own list it would be the next finding."""
    three = {**BOTH, "rest": {"value": 0, "preemptible": "restartable"}}
    advised = [each.help for each in found(three, department={"priorities": above}, **NO_WAY)]
    assert any(help_.startswith(said) for help_ in advised)


@pytest.mark.parametrize(
    "named",
    [
        {**NO_WAY, "policy": {"borrowing": "none"}},
        {**NO_WAY, "cluster": {"guards": {"interruption": "off"}}},
        {**NO_WAY, "cluster": {"scheduler": "native"}},
        {"priorities": ["research"]},
        {},
    ],
)
def test_who_needs_no_preemptible_priority_hears_nothing(named: dict[str, Any]) -> None:
    """Nobody borrows, the guard is off, nothing is lent, or the unit has such a priority."""
    assert codes(BOTH, **named) == []
