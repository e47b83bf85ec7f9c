"""The order of changes of Queues, case by case; every step is sent to the model of Volcano's webhook."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.backend.volcano.order import Plan, Step, steps
from tests.volcano_model import Refused, Webhook

GPU, SMALL, LARGE = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"


def queue(name: str, parent: str, quota: Any, limit: Any = None, reserved: Any = 0, **marks: Any) -> dict[str, Any]:
    """A Queue with numbers of GPUs, or of each resource that it has; the limit is the quota where none is given."""

    def amounts(number: Any) -> dict[str, str]:
        every = quota.keys() if isinstance(quota, dict) else (GPU,)
        return {key: str(number[key] if isinstance(number, dict) else number) for key in every}

    lists = {
        "capability": amounts(quota if limit is None else limit),
        "deserved": amounts(quota),
        "guarantee": {"resource": amounts(reserved)},
    }
    return {"kind": "Queue", "metadata": {"name": name, **marks}, "spec": {"parent": parent, **lists}}


def planned(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Plan:
    """The plan, after the webhook has taken every step of it."""
    found, webhook = steps(old, new), Webhook()
    for each in old:
        webhook.apply(each)
    for step in [*found.parking, *(step for commit in found.commits for step in commit)]:
        if step.action == "delete":
            webhook.delete(step.name)
        else:
            webhook.apply(step.queue)
    assert {name: each for name, each in webhook.stored.items() if name not in ("root", "default")} == {
        each["metadata"]["name"]: each for each in new
    }
    return found


def said(commit: tuple[Step, ...]) -> list[str]:
    return [f"{step.action} {step.name}" for step in commit]


def amounts(step: Step, resource: str) -> tuple[int, int, int]:
    """reserved, quota and limit that a step sends."""
    spec = step.queue["spec"]
    lists = (spec["guarantee"]["resource"], spec["deserved"], spec["capability"])
    return (int(lists[0][resource]), int(lists[1][resource]), int(lists[2][resource]))


TREE = [
    queue("h100", "root", 32, reserved=32),
    queue("research", "h100", 20, 28, reserved=4),
    queue("vision", "research", 12, 20, reserved=4),
    queue("nlp", "research", 8, 28),
    queue("product", "h100", 12, 20),
    queue("search", "product", 12, 20),
]


def with_changes(*changed: dict[str, Any], without: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The tree with these queues in place of those of the same name, or added."""
    found = {each["metadata"]["name"]: each for each in (*TREE, *changed)}
    return [each for name, each in found.items() if name not in without]


def test_a_tree_is_made_from_the_top_down() -> None:
    """One commit, in which no child comes before its parent; at worst each level is a pass of its own."""
    found = planned([], TREE)
    assert [said(commit) for commit in found.commits] == [
        [f"create {name}" for name in ("h100", "product", "research", "nlp", "search", "vision")]
    ]
    assert found.passes == 3


def test_a_tree_goes_from_the_leaves_up() -> None:
    """No parent before its children; what Volcano refuses to delete, or what is marked to be kept, is not tried."""
    kept = {"annotations": {"argocd.argoproj.io/sync-options": "Delete=confirm,Prune=false"}}
    old = [*TREE, queue("default", "root", 0), {**queue("mine", "root", 1), "metadata": {"name": "mine", **kept}}]
    found = steps(old, [])
    assert [said(commit) for commit in found.commits] == [
        [f"delete {name}" for name in ("nlp", "search", "vision", "product", "research", "h100")]
    ]
    assert found.passes == 3


def test_growth_goes_from_the_top_down() -> None:
    """A department and its team get more: the department first."""
    found = planned(TREE, with_changes(queue("product", "h100", 12, 24), queue("search", "product", 12, 24)))
    assert [said(commit) for commit in found.commits] == [["update product", "update search"]]
    assert found.passes == 2


def test_cuts_go_from_the_leaves_up() -> None:
    """A department and its team get less: the team first."""
    found = planned(TREE, with_changes(queue("product", "h100", 8), queue("search", "product", 8)))
    assert [said(commit) for commit in found.commits] == [["update search", "update product"]]
    assert found.passes == 2


def test_a_swap_in_a_full_department_gives_before_it_takes() -> None:
    """Quota moves from one team to another: a sync that starts with the other is refused once."""
    found = planned(TREE, with_changes(queue("vision", "research", 8, 20, 4), queue("nlp", "research", 12, 28)))
    assert [said(commit) for commit in found.commits] == [["update vision", "update nlp"]]
    assert (found.passes, found.mixed) == (2, ())


def test_quota_moves_between_departments_through_all_levels() -> None:
    """What gives is done, leaf and department, before anything takes."""
    new = with_changes(
        queue("research", "h100", 16, 28, reserved=4),
        queue("vision", "research", 8, 20, reserved=4),
        queue("product", "h100", 16, 20),
        queue("search", "product", 16, 20),
    )
    found = planned(TREE, new)
    assert [said(commit) for commit in found.commits] == [
        ["update vision", "update research", "update product", "update search"]
    ]
    assert found.passes == 4


def test_a_team_that_gives_a_limit_and_takes_quota_needs_no_second_commit() -> None:
    """Nobody waits for what it gives, so it is refused at most until its sibling has given."""
    found = planned(TREE, with_changes(queue("vision", "research", 8, 20, 4), queue("nlp", "research", 12, 16)))
    assert [said(commit) for commit in found.commits] == [["update vision", "update nlp"]]
    assert (found.passes, found.mixed) == (2, ())


MIG = [
    queue("mig", "root", {SMALL: 28, LARGE: 14}),
    queue("lab", "mig", {SMALL: 28, LARGE: 14}),
    queue("a", "lab", {SMALL: 20, LARGE: 4}),
    queue("b", "lab", {SMALL: 8, LARGE: 10}),
]


def test_two_teams_that_trade_slices_in_a_full_department_need_two_commits() -> None:
    """Each waits for what the other gives; the first commit takes from both, the second gives to both."""
    new = [*MIG[:2], queue("a", "lab", {SMALL: 8, LARGE: 10}), queue("b", "lab", {SMALL: 20, LARGE: 4})]
    found = planned(MIG, new)
    assert found.mixed == ("a", "b")
    first, second = found.commits
    assert [said(first), said(second)] == [["update a", "update b"]] * 2
    assert [(amounts(step, SMALL), amounts(step, LARGE)) for step in first] == [((0, 8, 8), (0, 4, 4))] * 2
    assert (found.passes, found.parking) == (1, ())


def test_the_same_trade_with_room_needs_one_commit() -> None:
    """With enough of one kind left in the department, whoever takes that first sets the other free."""
    old = [queue("mig", "root", {SMALL: 40, LARGE: 14}), queue("lab", "mig", {SMALL: 40, LARGE: 14}), *MIG[2:]]
    new = [*old[:2], queue("a", "lab", {SMALL: 8, LARGE: 10}), queue("b", "lab", {SMALL: 20, LARGE: 4})]
    found = planned(old, new)
    assert [said(commit) for commit in found.commits] == [["update b", "update a"]]
    assert (found.passes, found.mixed) == (2, ())


def test_a_department_and_its_team_that_trade_a_limit_for_quota_need_two_commits() -> None:
    """The department waits for the team's lower limit, the team for the department's larger quota."""
    new = with_changes(queue("product", "h100", 12, 16), queue("search", "product", 12, 16))
    old = with_changes(queue("product", "h100", 8, 20), queue("search", "product", 8, 20))
    found = planned(old, new)
    assert found.mixed == ("product", "search")
    first, second = found.commits
    assert [amounts(step, GPU) for step in first] == [(0, 8, 16)] * 2
    assert [said(first), said(second)] == [
        ["update search", "update product"],
        ["update product", "update search"],
    ]


def test_the_first_commit_also_takes_what_others_give_and_leaves_what_they_take() -> None:
    """It holds the smaller of both numbers of every queue: with anything larger it might not be valid."""
    new = [
        queue("mig", "root", {SMALL: 28, LARGE: 16}),
        queue("lab", "mig", {SMALL: 28, LARGE: 16}),
        queue("a", "lab", {SMALL: 8, LARGE: 12}),
        queue("b", "lab", {SMALL: 20, LARGE: 4}),
        queue("c", "mig", {SMALL: 0, LARGE: 0}),
    ]
    old = [*MIG, queue("d", "lab", {SMALL: 0, LARGE: 0})]
    first, second = planned(old, new).commits
    assert said(first) == ["delete d", "update a", "update b"]
    assert said(second) == ["update mig", "create c", "update lab", "update a", "update b"]


def test_a_resource_comes_from_the_top_down_and_goes_from_the_leaves_up() -> None:
    """A name that the parent's deserved lacks is refused at 0 already; a layout that gives one and takes another
    needs two commits."""
    small = [queue("mig", "root", {SMALL: 28}), queue("a", "mig", {SMALL: 0})]
    both = [queue("mig", "root", {SMALL: 28, LARGE: 14}), queue("a", "mig", {SMALL: 0, LARGE: 0})]
    large = [queue("mig", "root", {LARGE: 14}), queue("a", "mig", {LARGE: 0})]
    assert said(planned(small, both).commits[0]) == ["update mig", "update a"]
    assert said(planned(both, large).commits[0]) == ["update a", "update mig"]
    found = planned(small, large)
    assert [said(commit) for commit in found.commits] == [["update a", "update mig"], ["update mig", "update a"]]
    assert found.commits[0][1].queue["spec"]["deserved"] == {}


def test_a_new_department_waits_for_what_a_removed_one_had() -> None:
    """A whole subtree goes and another comes: deletions are first, and no creation is tried before the last of them."""
    new = with_changes(queue("ads", "h100", 12, 20), queue("ads-web", "ads", 12, 20), without=("product", "search"))
    found = planned(TREE, new)
    assert [said(commit) for commit in found.commits] == [
        ["delete search", "delete product", "create ads", "create ads-web"]
    ]
    assert found.passes == 3


def test_a_team_in_another_department_under_another_name_goes_and_comes() -> None:
    """A unit's path is in the name of its queue, so moving it makes a new one."""
    new = with_changes(
        queue("research", "h100", 12, 28),
        queue("product", "h100", 20, 20),
        queue("vision-2", "product", 8, 20),
        without=("vision",),
    )
    found = planned(TREE, new)
    assert [said(commit) for commit in found.commits] == [
        ["delete vision", "update research", "update product", "create vision-2"]
    ]


FIRST_BUDGET = {
    "vision-projects": queue("vision-projects", "research", 12, 20, 4),
    "vision-train": queue("vision-train", "vision-projects", 4, 20),
    "vision": queue("vision", "vision-projects", 8, 20, 4),
}


def test_the_first_budget_of_a_project_parks_the_leaf_of_its_team_where_the_department_is_full() -> None:
    """The new inner queue needs what the leaf still has, and the leaf can only move into it once it is there."""
    found = planned(TREE, with_changes(*FIRST_BUDGET.values()))
    (parked,) = found.parking
    assert (parked.name, parked.queue["spec"]) == ("vision", {**TREE[2]["spec"], "parent": "root"})
    assert [said(commit) for commit in found.commits] == [
        ["create vision-projects", "update vision", "create vision-train"]
    ]
    assert (found.mixed, found.conversions) == ((), ())


def test_with_room_in_the_department_the_leaf_of_a_team_moves_by_itself() -> None:
    """What the team has fits twice for the moment of the move."""
    old = with_changes(queue("research", "h100", 32, 32, 8), without=("product", "search"))
    found = planned(old, [*old[:2], *FIRST_BUDGET.values(), old[3]])
    assert found.parking == ()
    assert [said(commit) for commit in found.commits] == [
        ["create vision-projects", "update vision", "create vision-train"]
    ]
    assert found.passes == 2


def test_when_the_last_budget_of_a_project_goes_the_leaf_is_parked_whatever_the_room() -> None:
    """A sync deletes first: the inner queue cannot go while the leaf is in it, and nothing moves before it is gone."""
    new = with_changes(queue("research", "h100", 32, 32, 8), without=("product", "search"))
    found = planned([*new[:2], *FIRST_BUDGET.values(), new[3]], new)
    assert [step.name for step in found.parking] == ["vision"]
    assert [said(commit) for commit in found.commits] == [
        ["delete vision-train", "delete vision-projects", "update vision"]
    ]


def test_a_queue_moves_to_a_department_that_grows_for_it() -> None:
    """The place that it leaves must shrink before the other can grow, so in a full tree it is parked."""
    new = with_changes(
        queue("research", "h100", 12, 28), queue("product", "h100", 20, 20), queue("vision", "product", 8, 20)
    )
    found = planned(TREE, new)
    assert [step.name for step in found.parking] == ["vision"]
    assert [said(commit) for commit in found.commits] == [["update research", "update product", "update vision"]]


def test_a_leaf_that_becomes_an_inner_queue_is_a_conversion() -> None:
    """The webhook takes the child while nothing runs, whatever waits; running pods refuse it."""
    new = with_changes(queue("vision-a", "vision", 12, 20))
    found = planned(TREE, new)
    assert found.conversions == ("vision",)
    webhook = Webhook()
    for each in TREE:
        webhook.apply(each)
    webhook.pods["vision"] = 2
    with pytest.raises(Refused, match="cannot be the parent queue of queue vision-a because it has allocated Pods: 2"):
        webhook.apply(found.commits[0][0].queue)
    assert planned(new, TREE).conversions == ("vision",)


def test_a_department_without_teams_yet_is_no_conversion() -> None:
    """No work may name it; the marks of our own objects say so before it has a child."""
    labels = {"labels": {"x/organization": "acme", "x/department": "ads"}}
    team = {"labels": {**labels["labels"], "x/team": "web"}, "annotations": {"x/unit": "ads/web", "x/flavor": "h100"}}
    empty = [queue("h100", "root", 8), queue("ads", "h100", 8, **labels)]
    inner = queue("ads-web-projects-h100", "ads", 8, **team)
    assert planned(empty, [*empty, inner]).conversions == ()
    below = queue("ads-web-train-h100", "ads-web-projects-h100", 8, **team)
    assert planned([*empty, inner], [*empty, inner, below]).conversions == ()
    leaf = queue("ads-web-h100", "ads", 8, **team)
    assert planned([*empty, leaf], [*empty, leaf, queue("x", "ads-web-h100", 8, **team)]).conversions == (
        "ads-web-h100",
    )


def test_a_capability_of_zero_hides_nothing_that_is_below_it() -> None:
    """The webhook passes over a queue with 0, so what is above waits for what is still below."""
    quota = {"cpu": 8, GPU: 0}
    old = [
        queue("top", "root", quota, {"cpu": 8, GPU: 9}),
        queue("middle", "top", quota, {"cpu": 8, GPU: 4}),
        queue("takes", "middle", {"cpu": 4, GPU: 0}, {"cpu": 8, GPU: 4}),
        queue("gives", "middle", {"cpu": 4, GPU: 0}, {"cpu": 8, GPU: 0}),
    ]
    new = [
        queue("top", "root", quota, {"cpu": 8, GPU: 2}),
        queue("middle", "top", quota, quota),
        queue("takes", "middle", quota, quota),
        queue("gives", "middle", {"cpu": 0, GPU: 0}, {"cpu": 8, GPU: 0}),
    ]
    found = planned(old, new)
    assert [said(commit) for commit in found.commits] == [
        ["update gives", "update middle", "update takes", "update top"]
    ]
    assert found.passes == 3


def test_what_the_webhook_does_not_compare_is_one_step() -> None:
    """A new weight or label is taken at any time."""
    changed = queue("vision", "research", 12, 20, reserved=4, labels={"a": "b"})
    found = planned(TREE, with_changes(changed))
    assert found.commits == ((Step("update", "vision", changed),),)
    assert found.passes == 1


def test_the_passes_are_those_of_the_worst_order() -> None:
    """A sync that sends the last thing first needs exactly as many as the plan says."""
    new = with_changes(
        queue("h100", "root", 40, reserved=40),
        queue("product", "h100", 20, 24),
        queue("search", "product", 20, 24),
    )
    found, webhook = steps(TREE, new), Webhook()
    for each in TREE:
        webhook.apply(each)
    pending, passes = list(reversed(found.commits[0])), 0
    while pending:
        passes += 1
        refused = []
        for step in pending:
            try:
                webhook.apply(step.queue)
            except Refused:
                refused.append(step)
        pending = refused
    assert passes == found.passes == 3
