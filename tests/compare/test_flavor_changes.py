"""Flavors that are replaced, renamed, handed out in another way or that go: one procedure each, and the old prices."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.compare.comparison import Comparison
from tenancy.compare.procedures import Mark
from tests.compare.support import compared, tree

FENCE = {"flavors.h100.taint": "acme.example/reserved=training:NoSchedule"}
SHARED: dict[str, Any] = {"sharing": {"timeSlicing": 4, "acrossDepartments": True}}
BUDGETS = ("departments.research", "departments.research.teams.vision", "departments.research.teams.language")


def said(comparison: Comparison, *marks: Mark) -> list[tuple[Mark, tuple[str, ...]]]:
    return [(each.mark, each.subjects) for each in comparison.procedures if not marks or each.mark in marks]


@pytest.mark.parametrize(
    ("before", "after", "kind", "what"),
    [
        ({}, {"flavors.h100.labels": {"pool": "h100"}}, "ResourceFlavor", "its labels"),
        (
            {},
            {"flavors.h100.topology": ["example.com/rack", "kubernetes.io/hostname"]},
            "Topology",
            "its levels",
        ),
        (
            {**FENCE, "flavors.h100.cpuJobs": "fence"},
            {**FENCE, "flavors.h100.cpuJobs": "lend"},
            "ResourceFlavor",
            "its taints or `cpuJobs`",
        ),
        ({}, {"clusters.main.placement": "plain"}, "ResourceFlavor", "the placement of its cluster"),
    ],
    ids=["labels", "levels", "cpu-jobs", "placement"],
)
def test_each_replacement_has_one_procedure(before: Any, after: Any, kind: str, what: str) -> None:
    """It names what cannot change, and how the old flavor is drained first."""
    comparison = compared(tree(**before), tree(**after))
    (only,) = (each for each in comparison.procedures if each.mark is Mark.REPLACEMENT)
    assert only.subjects == (f"{kind} h100",)
    assert f"in the merge that changes {what}," in only.do
    assert only.do.startswith("First merge `state: draining` for the units that may use it")


def test_another_domain_replaces_every_flavor_and_is_told_as_that() -> None:
    """The label of our own is in it; whatever else selects by our labels is told of once."""
    comparison = compared(tree(), tree(domain="gpu.acme.example"))
    marks = said(comparison, Mark.REPLACEMENT, Mark.WARNING)
    assert marks == [
        (Mark.REPLACEMENT, ("ResourceFlavor h100",)),
        (Mark.WARNING, ("domain tenancy.internal → gpu.acme.example",)),
    ]
    assert comparison.procedures[0].do.startswith(
        "Keep `domain`, or first merge `state: draining` for every department"
    )


@pytest.mark.parametrize("scheduler", ["volcano", "native"])
def test_no_flavor_is_immutable_without_kueue(scheduler: str) -> None:
    """The prefix of labels and annotations changes there as well."""
    comparison = compared(tree(), tree(domain="gpu.acme.example"), scheduler=scheduler)
    assert Mark.REPLACEMENT not in {each.mark for each in comparison.procedures}
    assert (Mark.WARNING, ("domain tenancy.internal → gpu.acme.example",)) in said(comparison)


def renamed(**flavor: Any) -> dict[str, Any]:
    """The organization with its flavor under another name, and perhaps other hardware."""
    old = tree()
    hardware = {**old["flavors"]["h100"], **flavor}
    changes: dict[str, Any] = {"flavors.h100": None, "flavors.hopper": hardware}
    for path in (*BUDGETS, "departments.product", "departments.product.teams.search"):
        count: Any = old
        for key in path.split("."):
            count = count[key]
        changes[f"{path}.budget"] = {"hopper": count["budget"]["h100"]}
    return tree(**changes)


@pytest.mark.parametrize("known", [False, True])
def test_a_flavor_with_another_name_is_a_maintenance_window(known: bool) -> None:
    """Its nodes get another label, and what runs there would be on no book: not merely a flavor that goes."""
    comparison = compared(tree(), renamed(), known=known)
    assert said(comparison, Mark.MAINTENANCE) == [(Mark.MAINTENANCE, ("h100 → hopper",))]
    assert not [each for each in said(comparison, Mark.WARNING) if "ResourceFlavor h100" in each[1]]


@pytest.mark.parametrize("known", [False, True])
def test_other_hardware_is_no_other_name(known: bool) -> None:
    """One flavor goes and another one comes: the old one is to be drained, and of the new one nothing is to be said."""
    marks = said(compared(tree(), renamed(nodes=5), known=known))
    assert (Mark.WARNING, ("ResourceFlavor h100",)) in marks
    assert Mark.MAINTENANCE not in {mark for mark, _ in marks}


def test_the_same_amounts_on_another_board_are_another_flavor_where_that_is_known() -> None:
    """Objects do not tell boards apart, the organizations do."""
    other = renamed(gpu="H200-SXM-141GB")
    assert said(compared(tree(), other), Mark.MAINTENANCE)
    assert said(compared(tree(), other, known=True), Mark.MAINTENANCE) == []


def cards(price: float = 2, count: int = 8, **flavor: Any) -> dict[str, Any]:
    """Sixteen small GPUs, of which a team owns some."""
    l4 = {"gpu": "L4", "nodes": 2, "node": {"gpus": 8, "cpu": 98, "memory": "388Gi"}, "price": price, **flavor}
    team = {"research": {"budget": {"l4": count}, "teams": {"vision": {"budget": {"l4": count}}}}}
    return tree(flavors={"l4": l4}, departments=team)


DRA: dict[str, Any] = {"allocation": "dra"}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (cards(), cards(**SHARED), "shares and no longer whole devices"),
        (cards(**SHARED), cards(), "whole devices and no longer shares"),
        (cards(), cards(**DRA), "claims and no longer whole devices"),
        (cards(**DRA), cards(), "whole devices and no longer claims"),
        (cards(**SHARED), cards(**DRA), "claims and no longer shares"),
    ],
    ids=["gpus-shares", "shares-gpus", "gpus-dra", "dra-gpus", "shares-dra"],
)
def test_another_way_to_hand_out_gpus_is_a_maintenance_window(old: Any, new: Any, words: str) -> None:
    """No job finds what it asks for any more."""
    (only,) = (each for each in compared(old, new).procedures if each.mark is Mark.MAINTENANCE)
    assert only.subjects == ("l4",)
    assert only.happens.startswith(f"It hands out {words}. ")


def test_more_shares_of_the_same_gpus_disturb_no_jobs() -> None:
    """They ask for the same resource."""
    more = cards(sharing={"timeSlicing": 8, "acrossDepartments": True})
    assert said(compared(cards(**SHARED), more), Mark.MAINTENANCE) == []


def test_the_old_side_costs_what_it_cost_where_the_old_organization_is_known() -> None:
    """GPUs that become shares are worth as much as before, and a new price is a change."""
    old, new = cards(), cards(count=32, **SHARED)
    ((before, after),) = ((each.before, each.after) for each in compared(old, new, known=True).costs)
    assert before == after == 8 * 2 * 730
    dearer = cards(price=3, count=4)
    ((before, after),) = ((each.before, each.after) for each in compared(old, dearer, known=True).costs)
    assert [int(before), int(after)] == [8 * 2 * 730, 4 * 3 * 730]
    assert [each.before for each in compared(old, dearer).costs] == [8 * 3 * 730]


def test_spare_and_installed_of_the_old_side_are_known_from_the_old_organization() -> None:
    """Objects hold what may be promised, not what is kept out of it."""
    old, new = tree(**{"flavors.h100.nodes": 5, "flavors.h100.spareNodes": 1}), tree(**{"flavors.h100.nodes": 6})
    (balance,) = compared(old, new, known=True).balances
    assert (balance.installed_before, balance.spare_before, balance.installed, balance.spare) == (40, 8, 48, 0)
    assert compared(old, new).balances[0].spare_before is None
