"""Which findings a cluster's scheduler has: Kueue's traps only under Kueue, Volcano's only under Volcano."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.test_variants import BASE, R, S, V, codes

L4 = {**BASE["flavors"]["h100"], "gpu": "L4"}


def _departments(names: str, teams: dict[str, Any]) -> dict[str, Any]:
    """Departments inside each other, called by the letters; the last one has the teams."""
    first, rest = names[0], names[1:]
    return {first: {"departments": _departments(rest, teams)} if rest else {"teams": teams}}


LEVELS = ["cloud.example/block", "cloud.example/rack", "kubernetes.io/hostname"]

OF_KUEUE = {
    "strict queueing over two flavors": (
        {f"{V}.policy": {"queueing": "strict"}, "flavors.l4": L4},
        "strict-across-flavors",
    ),
    "strict queueing without reclaim": (
        {
            "policy": {"borrowing": "none"},
            f"{V}.policy": {"queueing": "strict", "reclaim": "lower-priority"},
        },
        "strict-without-reclaim",
    ),
    "borrowing preemption under weighted sharing": (
        {f"{V}.policy": {"borrowingPreemption": "lower-priority"}},
        "borrowing-preemption-ignored",
    ),
    "borrowing preemption without reclaim": (
        {
            "clusters.train.sharing": "first-come",
            f"{V}.policy": {"borrowingPreemption": "lower-priority", "reclaim": "never"},
        },
        "reclaim-never-with-borrowing-preemption",
    ),
    "lent quota that stays lent": ({f"{V}.policy": {"reclaim": "never"}}, "reclaim-never-lends"),
    "a short start timeout": ({"policy": {"gang": {"startTimeout": "30s"}}}, "gang-timeout-short"),
    "a weight of 0": ({f"{V}.weight": 0}, "zero-weight"),
    "two weights of 0": ({f"{V}.weight": 0, f"{S}.weight": 0}, "zero-weights"),
    "weights too far apart": ({f"{V}.weight": 0.01, f"{S}.weight": 100_000}, "weight-ratio"),
    "a priority called default": ({"priorities": {"default": 1}}, "priority-default"),
    "levels under plain placement": (
        {"clusters.train.placement": "plain", "flavors.h100.topology": LEVELS},
        "topology-unused",
    ),
    "more labels than a ResourceFlavor holds": (
        {"flavors.h100.labels": {f"acme.example/l{index}": "x" for index in range(9)}},
        "flavor-limit",
    ),
    "no Workload allowed": (
        {f"{V}.limits": {"objects": {"count/workloads.kueue.x-k8s.io": 0}}},
        "object-zero",
    ),
}

OF_VOLCANO = {
    "a flavor called default": ({"flavors.default": L4}, ["volcano-queue-name"]),
    "a flavor called root": ({"flavors.root": L4}, ["volcano-queue-name"]),
    "a name that only the longest flavor makes too long": (
        {"flavors.l4-of-the-first-hall": L4, f"{R}.teams": {"v" * 40: {}}},
        ["volcano-queue-name"],
    ),
    "a flavor that a unit does not reach counts for no name": (
        {
            "flavors.l4-of-the-first-hall": L4,
            f"{R}.teams": {"v" * 40: {"budget": {"l4-of-the-first-hall": {"limit": 0}}}, "w": {}},
        },
        [],
    ),
    "a department that is too long is not repeated in its teams": (
        {"departments": {"d" * 60: {"teams": {"a": {}, "b": {}}}}},
        ["volcano-queue-name"],
    ),
    "a unit with the name of a flavor": (
        {"flavors.research-h100": L4},
        ["volcano-name-clash"],
    ),
    "a dash that is read at two places": (
        {"flavors.speech-h100": L4},
        ["volcano-name-clash"],
    ),
    "a team beside one whose projects have budgets": (
        {f"{V}.projects": {"a": {"budget": {"h100": 4}}}, f"{R}.teams.vision-projects": {}},
        ["volcano-name-clash"],
    ),
    "a team of four levels": ({"departments": _departments("abc", {"d": {}})}, []),
    "two teams too deep in one department are one finding": (
        {"departments": _departments("abcd", {"e": {}, "f": {}})},
        ["volcano-depth"],
    ),
    "what is below a unit that is too deep is not repeated": (
        {"departments": _departments("abcde", {"f": {}})},
        ["volcano-depth"],
    ),
    "a project without a budget has no queue that could be too deep": (
        {"departments": _departments("abc", {"d": {"projects": {"e": {}}}})},
        [],
    ),
    "no memory left for the projects without a budget": (
        {
            f"{V}.policy": {"borrowing": "none"},
            f"{V}.budget": {"h100": {"gpus": 8, "memory": "1000Gi"}},
            f"{V}.projects": {"a": {"budget": {"h100": {"gpus": 4, "memory": "1000Gi"}}}, "b": {}},
        },
        ["volcano-zero-limit"],
    ),
    "nothing left for them at all": (
        {
            f"{V}.policy": {"borrowing": "none"},
            f"{V}.projects": {"a": {"budget": {"h100": 8}}, "b": {}},
        },
        [],
    ),
    "a limit of 0 is no limit only where nothing may be borrowed": (
        {
            f"{V}.budget": {"h100": {"gpus": 8, "cpu": 190}},
            f"{V}.projects": {"a": {"budget": {"h100": {"gpus": 4, "cpu": 190}}}, "b": {}},
        },
        [],
    ),
    "a weight of 0": ({f"{V}.weight": 0}, ["volcano-weight"]),
    "weights of many units are one finding": ({f"{V}.weight": 2.5, f"{S}.weight": 70_000}, ["volcano-weight"]),
    "a weight of a project without a queue is said by another rule": (
        {f"{V}.projects": {"a": {"weight": 0.5}}},
        ["project-without-queue"],
    ),
    "a long name without a topology": (
        {"flavors.h100-of-the-first-hall": {**L4, "topology": LEVELS[2:]}},
        [],
    ),
    "the same levels for two flavors": (
        {"flavors.l4": {**L4, "topology": LEVELS}, "flavors.h100.topology": LEVELS},
        [],
    ),
    "a rack below two kinds of blocks": (
        {
            "flavors.l4": {**L4, "topology": ["cloud.example/zone", *LEVELS[1:]]},
            "flavors.h100.topology": LEVELS,
        },
        ["volcano-topology-levels"],
    ),
    "levels under plain placement": (
        {"clusters.train.placement": "plain", "flavors.h100.topology": LEVELS},
        [],
    ),
    "no PodGroup allowed": (
        {f"{V}.limits": {"objects": {"count/podgroups.scheduling.volcano.sh": 0}}},
        ["object-zero"],
    ),
}


def _under(scheduler: str, changes: dict[str, Any]) -> dict[str, Any]:
    return {**changes, "clusters.train.scheduler": scheduler}


@pytest.mark.parametrize("case", OF_KUEUE.values(), ids=OF_KUEUE)
def test_a_trap_of_kueue_is_said_under_kueue_only(case: tuple[dict[str, Any], str]) -> None:
    """The same organization has the finding with Kueue, and not with Volcano or with Kubernetes alone."""
    changes, code = case
    assert code in codes(_under("kueue", changes))
    assert code not in codes(_under("volcano", changes))
    assert code not in codes(_under("native", changes))


@pytest.mark.parametrize("case", OF_VOLCANO.values(), ids=OF_VOLCANO)
def test_a_trap_of_volcano_is_said_under_volcano_only(case: tuple[dict[str, Any], list[str]]) -> None:
    """Exactly these findings with Volcano, and none of its rules with another scheduler."""
    changes, expected = case
    assert codes(_under("volcano", changes)) == expected
    for other in ("kueue", "native"):
        assert not [code for code in codes(_under(other, changes)) if code.startswith("volcano-")]


def test_a_unit_in_clusters_of_both_has_the_findings_of_both() -> None:
    """Each scheduler judges what it would get."""
    changes = {
        "clusters": {"train": {"scheduler": "kueue"}, "serve": {"scheduler": "volcano"}},
        **{f"flavors.{name}.cluster": "train" for name in BASE["flavors"]},
        "flavors.l4": {**L4, "cluster": "serve"},
        f"{R}.budget.l4": 8,
        f"{V}.budget.l4": 8,
        f"{V}.weight": 0,
    }
    assert sorted(codes(changes)) == ["volcano-weight", "zero-weight"]


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
def test_the_base_is_fine_under_each_scheduler(scheduler: str) -> None:
    """What is found in the variants is the changes' doing."""
    assert codes(_under(scheduler, {})) == []
