"""What a plan says before a merge that changes Volcano's Queues, and what it says of each scheduler's own behaviour."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeAlias

import pytest

from tenancy.compare.comparison import Comparison, compare
from tenancy.compare.procedures import Mark
from tenancy.compare.removals import removals
from tenancy.compare.views.text import text
from tenancy.pipeline import generate
from tests.orgs import organized, scheduled

Tree: TypeAlias = dict[str, Any]

MIG = {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2}
ORG: Tree = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {"scheduler": "volcano"}},
    "flavors": {
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 4, "node": {"gpus": 8, "cpu": 130, "memory": "1028Gi"}},
        "mig": {"gpu": "A100-SXM4-80GB", "nodes": 1, "node": {"gpus": 8, "cpu": 130, "memory": "1028Gi"}, "mig": MIG},
    },
    "priorities": {"high": 100},
    "departments": {
        "research": {
            "budget": {"h100": 24, "mig": {"1g.10gb": 16, "3g.40gb": 8}},
            "teams": {
                "vision": {"budget": {"h100": 8, "mig": {"1g.10gb": 12, "3g.40gb": 2}}, "projects": {"a": {}, "b": {}}},
                "language": {"budget": {"h100": {"quota": 16, "limit": 20}, "mig": {"1g.10gb": 4, "3g.40gb": 6}}},
            },
        },
        "product": {"budget": {"h100": 8}, "teams": {"search": {"budget": {"h100": 8}}}},
    },
}


def compared(edit: Callable[[Tree], Any], *, scheduler: str = "volcano", base: Tree = ORG) -> Comparison:
    """The comparison of the organization with an edited one."""
    new = deepcopy(base)
    edit(new)
    was, now = (organized(scheduled(tree, scheduler)) for tree in (base, new))
    return compare(generate(was, {}), generate(now, {}), now.flavors)


def teams(tree: Tree) -> Tree:
    found: Tree = tree["departments"]["research"]["teams"]
    return found


def said(comparison: Comparison) -> list[tuple[Mark, tuple[str, ...]]]:
    return [(each.mark, each.subjects) for each in comparison.procedures]


def trade(tree: Tree) -> None:
    """Two teams trade slices of two kinds."""
    teams(tree)["vision"]["budget"]["mig"] = {"1g.10gb": 6, "3g.40gb": 5}
    teams(tree)["language"]["budget"]["mig"] = {"1g.10gb": 10, "3g.40gb": 3}


def test_a_trade_of_slices_needs_two_merges_and_the_plan_says_the_budgets_of_the_first() -> None:
    """In units and slices; what does not change is left out."""
    first = compared(trade).procedures[0]
    assert (first.mark, first.subjects) == (Mark.STEPS, ("research/language on mig", "research/vision on mig"))
    assert first.do == (
        "First merge only what gets smaller, with these budgets: research/language on mig: 1g.10gb quota 4, 3g.40gb "
        "quota 3; research/vision on mig: 1g.10gb quota 6, 3g.40gb quota 2. Merge the rest once that is synced."
    )


def test_the_budgets_of_the_first_merge_are_those_that_lead_to_the_second() -> None:
    """Written as the plan says, neither of the two merges has anything to be told."""

    def smaller(tree: Tree) -> None:
        teams(tree)["vision"]["budget"]["mig"] = {"1g.10gb": 6, "3g.40gb": 2}
        teams(tree)["language"]["budget"]["mig"] = {"1g.10gb": 4, "3g.40gb": 3}

    between = deepcopy(ORG)
    smaller(between)
    assert [mark for mark, _ in said(compared(smaller))] == [Mark.WARNING]
    assert said(compared(trade, base=between)) == []


def test_under_kueue_the_same_trade_is_one_merge() -> None:
    """Only Volcano compares a queue with what is stored of others."""
    assert {mark for mark, _ in said(compared(trade, scheduler="kueue"))} == {Mark.WARNING}


def test_the_first_budget_of_a_project_in_a_full_department_needs_a_step_by_hand() -> None:
    """The leaf of its team is named, for each flavor; with room in the department nothing has to be done."""

    def budgeted(tree: Tree) -> None:
        teams(tree)["vision"]["projects"]["a"] = {"budget": {"h100": 4}}

    (only,) = compared(budgeted).procedures
    assert (only.mark, only.subjects) == (
        Mark.STEPS,
        ("Queue research-vision-h100", "Queue research-vision-mig"),
    )
    assert '{"spec": {"parent": "root"}}' in only.do
    roomy = deepcopy(ORG)
    roomy["departments"]["research"]["budget"] = {"h100": 24, "mig": {"1g.10gb": 16, "3g.40gb": 8}}
    del teams(roomy)["language"]
    roomy["departments"]["research"]["teams"]["vision"]["budget"] = {"h100": 8, "mig": {"1g.10gb": 4, "3g.40gb": 2}}
    assert said(compared(budgeted, base=roomy)) == []


def test_a_team_that_becomes_a_department_of_its_name_would_stop_the_cluster() -> None:
    """The gravest of all, so it stands first."""

    def nested(tree: Tree) -> None:
        research = tree["departments"]["research"]
        vision = teams(tree).pop("vision")
        research["departments"] = {"vision": {"budget": vision["budget"], "teams": {"a": {"budget": {"h100": 8}}}}}

    first = compared(nested).procedures[0]
    assert (first.mark, first.subjects) == (
        Mark.OUTAGE,
        ("Queue research-vision-h100", "Queue research-vision-mig"),
    )


def alone(tree: Tree) -> None:
    """A team leaves a flavor and may no longer borrow of it."""
    del teams(tree)["language"]["budget"]["mig"]
    teams(tree)["language"]["policy"] = {"borrowing": "none"}


def test_a_leaf_that_goes_while_its_unit_stays_leaves_its_pods_on_no_book() -> None:
    """Unless nothing new is admitted any more: then somebody has drained it."""
    assert (Mark.WARNING, ("research/language on mig",)) in said(compared(alone))
    drained = deepcopy(ORG)
    teams(drained)["language"]["state"] = "draining"
    assert [subjects for _, subjects in said(compared(alone, base=drained))] == [("research/language",)]


def test_a_unit_that_goes_with_its_namespaces_is_warned_of_once() -> None:
    """That its namespaces go says more than that its queues go."""
    found = compared(lambda tree: teams(tree).pop("language"))
    assert [each.code for each in removals(found, strict=False)] == ["removed-undrained"]
    assert [each for each in found.procedures if "no quota counts them" in each.happens] == []


def test_a_first_compilation_and_small_edits_say_nothing_of_passes() -> None:
    """Every level of a new tree waits for the one above: that is no news."""
    now = organized(ORG)
    assert said(compare({}, generate(now, {}), now.flavors)) == []
    assert said(compared(lambda tree: teams(tree)["language"]["budget"]["h100"].update(limit=24))) == []


def test_many_passes_are_said_with_their_number() -> None:
    """Quota that moves between departments goes through every level, up and down again."""

    def moved(tree: Tree) -> None:
        research, product = (tree["departments"][name] for name in ("research", "product"))
        research["budget"]["h100"], product["budget"]["h100"] = 20, 12
        teams(tree)["language"]["budget"]["h100"] = {"quota": 12, "limit": 20}
        product["teams"]["search"]["budget"]["h100"] = 12

    (passes,) = (each for each in compared(moved).procedures if "4 times" in each.happens)
    assert passes.mark is Mark.WARNING
    assert "Queue product-search-h100" in passes.subjects


def test_equal_files_with_queues_are_read() -> None:
    """What a department's siblings have is in files that do not change, and no order can be told without them."""

    def moved(tree: Tree) -> None:
        tree["departments"]["product"]["teams"]["ads"] = {"budget": {"h100": 0}}

    assert [change.identity.kind for change in compared(moved).changes].count("Queue") == 2
    assert {balance.promised_after for balance in compared(moved).balances if balance.flavor == "h100"} == {32}


CUT = {"kueue": "evicts nobody", "volcano": "as soon as an owner waits", "native": "new pods are refused"}
STOPPED = {
    ("kueue", "held"): "stays borrowed",
    ("volcano", "held"): "already still starts",
    ("volcano", "draining"): "Draining ends nothing under Volcano",
    ("native", "held"): "gets no new pod",
    ("native", "draining"): "ends nothing without a batch scheduler",
}


def native(tree: Tree) -> Tree:
    """An organization that needs no batch scheduler: one flavor, no limits above the quotas."""
    found = deepcopy(tree)
    found["flavors"].pop("mig")
    found["departments"]["research"]["budget"].pop("mig")
    for team in teams(found).values():
        team["budget"].pop("mig")
    return found


@pytest.mark.parametrize("scheduler", CUT)
def test_a_cut_is_told_as_the_scheduler_takes_it(scheduler: str) -> None:
    """Kueue leaves what runs, Volcano takes it back at once, a ResourceQuota refuses what is new."""

    def lower(tree: Tree) -> None:
        tree["departments"]["product"]["teams"]["search"]["budget"] = {"h100": 4}

    found = compared(lower, scheduler=scheduler, base=native(ORG)).procedures
    assert [CUT[scheduler] in each.happens for each in found] == [True]


@pytest.mark.parametrize("scheduler", CUT)
@pytest.mark.parametrize("state", ["held", "draining"])
def test_a_state_is_told_as_the_scheduler_takes_it(scheduler: str, state: str) -> None:
    """What the word lets expect and the scheduler does not do; draining does all that it says under Kueue alone."""

    def stop(tree: Tree) -> None:
        tree["departments"]["product"]["teams"]["search"]["state"] = state

    found = compared(stop, scheduler=scheduler, base=native(ORG))
    expected = STOPPED.get((scheduler, state))
    assert [expected in each.happens for each in found.procedures if expected] == [True] * bool(expected)
    assert len(found.procedures) == bool(expected)
    assert ("what runs is evicted" in text(found)) is ((scheduler, state) == ("kueue", "draining"))


def test_a_new_scheduler_configuration_is_read_again_and_a_new_controller_configuration_needs_a_restart() -> None:
    """Both come with the chart's values; the scheduler's own file holds the same text and is not told of again."""
    found = compared(lambda tree: tree["clusters"]["main"].update(placement="plain")).procedures
    assert [(each.mark, each.subjects) for each in found] == [(Mark.WARNING, ("platform/volcano-values.yaml",))]

    def racks(tree: Tree) -> None:
        tree["flavors"]["h100"]["topology"] = ["example.com/rack", "kubernetes.io/hostname"]

    found = compared(racks).procedures
    assert (Mark.RESTART, ("platform/volcano-values.yaml",)) in [(each.mark, each.subjects) for each in found]


def test_the_value_of_a_priority_cannot_change() -> None:
    """Without Kueue a priority is one of Kubernetes' own, which the API server keeps as it was made."""
    found = compared(lambda tree: tree["priorities"].update(high=200))
    assert said(found) == [(Mark.REPLACEMENT, ("PriorityClass high",))]
    assert [(each.key, each.units) for each in found.effects.settings] == [("priority", ("high",))]


def test_each_cluster_is_told_of_by_its_name() -> None:
    """Where there are several, a queue is named with its cluster."""
    two = deepcopy(ORG)
    two["clusters"]["edge"] = {"scheduler": "volcano"}
    two["flavors"]["h100"]["cluster"], two["flavors"]["mig"]["cluster"] = "main", "edge"

    def budgeted(tree: Tree) -> None:
        teams(tree)["vision"]["projects"]["a"] = {"budget": {"h100": 4}}

    found = [subject for each in compared(budgeted, base=two).procedures for subject in each.subjects]
    assert found == ["edge: Queue research-vision-mig", "main: Queue research-vision-h100"]
