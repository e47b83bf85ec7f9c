"""Whose promise gets weaker or stronger by what others change, and that nothing is said which does not hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tenancy.compare.comparison import Comparison
from tenancy.compare.strengths import strengths
from tests.compare.support import LANGUAGE, RESEARCH, SEARCH, VISION, compared, read, tree
from tests.examples import often
from tests.queue_strategies import edits


def said(comparison: Comparison) -> list[tuple[bool, str, str]]:
    """Whether it is stronger, the unit and what is said."""
    return [(each.stronger, each.unit, each.what) for each in comparison.strengths]


def both_ways(**changes: Any) -> tuple[list[tuple[bool, str, str]], list[tuple[bool, str, str]]]:
    old, new = tree(), tree(**changes)
    return said(compared(old, new)), said(compared(new, old))


def test_nothing_is_said_where_nothing_changes() -> None:
    """Of two equal sides, and where only a label changes."""
    assert said(compared(tree(), tree())) == []
    assert said(compared(tree(), tree(**{f"{VISION}.labels": {"color": "blue"}}))) == []


def test_an_owner_that_no_longer_takes_back_waits_and_those_who_borrow_are_safer() -> None:
    """The owner hears how its quota comes back; the others, how much of what they borrow may still go."""
    there, back = both_ways(**{f"{LANGUAGE}.policy": {"reclaim": "never"}})
    lent = "what it lends (12 GPUs on h100) comes back"
    late, soon = "when the jobs end that borrow it", "by evicting whoever borrows it"
    assert there == [
        (False, "research/language", f"{lent} {late}; before, {soon}"),
        (True, "product/search", "of 24 GPUs that it can borrow, owners may take back 12, before 24"),
        (True, "research/vision", "of 24 GPUs that it can borrow, owners may take back 8, before 20"),
    ]
    assert back == [
        (False, "product/search", "of 24 GPUs that it can borrow, owners may take back 24, before 12"),
        (False, "research/vision", "of 24 GPUs that it can borrow, owners may take back 20, before 8"),
        (True, "research/language", f"{lent} {soon}; before, {late}"),
    ]


def test_a_reserve_that_is_lowered_has_to_be_taken_back() -> None:
    """It was free the moment its owner asked; the way it comes back is that of the owner's policy."""
    old = tree(**{f"{VISION}.budget.h100": {"reserved": 6, "quota": 8}, f"{VISION}.policy": {"reclaim": "never"}})
    new = tree(**{f"{VISION}.budget.h100": {"reserved": 2, "quota": 8}, f"{VISION}.policy": {"reclaim": "never"}})
    words = "4 GPUs that were never lent may be lent, and come back when the jobs end that borrow it"
    assert said(compared(old, new)) == [(False, "research/vision", words)]
    assert said(compared(new, old)) == [(True, "research/vision", "4 GPUs more are never lent")]


def test_the_weight_of_one_is_the_part_of_the_others() -> None:
    """In percent of what siblings all want; the change of its own weight is told as well."""
    there, _ = both_ways(**{f"{VISION}.weight": 3})
    assert there == [
        (False, "research/language", "its part of what its siblings all want is 25%, before 50%"),
        (True, "research/vision", "its part of what its siblings all want is 75%, before 50%"),
    ]


def test_units_that_borrow_nothing_take_no_part() -> None:
    """A sibling without a right to borrow neither wins nor counts."""
    none = {"policy": {"borrowing": "none"}, "budget": {"h100": 12}}
    old, new = tree(**{LANGUAGE: none}), tree(**{LANGUAGE: {**none, "weight": 7}})
    assert said(compared(old, new)) == []


def test_weights_that_no_longer_count_are_told_once() -> None:
    """Of the cluster, and no part of anybody's changes then."""
    new = tree(**{"clusters.main.sharing": "first-come", f"{VISION}.weight": 3})
    words = "what stands idle goes to who comes first, whatever the weights; before, what stands idle is divided by "
    assert said(compared(tree(), new)) == [(False, "", f"{words}weights")]
    assert [each[0] for each in said(compared(new, tree()))] == [True]


def test_what_a_department_hands_on_its_units_no_longer_have_together() -> None:
    """The pool shrinks by what a new team owns, and so do the others' borrowings that nobody may take back."""
    new = tree(**{f"{RESEARCH}.teams.speech": {"budget": {"h100": 4}, "weight": 0.001}})
    words = "its pool is 0 GPUs, before 4: what its units borrow beyond that has owners"
    assert said(compared(tree(), new)) == [
        (False, "research", words),
        (False, "research/language", "of 20 GPUs that it can borrow, owners may take back 20, before 16"),
        (False, "research/vision", "of 24 GPUs that it can borrow, owners may take back 24, before 20"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "stronger"),
    [
        ("lower-priority", "never", False),
        ("never", "lower-priority", True),
        ("lower-priority", "lower-or-newer-equal", True),
    ],
)
def test_preemption_inside_a_unit(before: str, after: str, stronger: bool) -> None:
    """Whom an urgent job evicts in its own queue, with the quota within which that is."""
    old, new = (tree(**{f"{SEARCH}.policy": {"preemption": each}}) for each in (before, after))
    ((found, unit, what),) = said(compared(old, new))
    assert (found, unit) == (stronger, "product/search")
    assert what.startswith("inside its quota (8 GPUs on h100) a job evicts ")


def test_volcano_looks_at_no_rules_and_no_weights() -> None:
    """It takes back always, and what it lends out of a reserve is not told as kept; a pool is one there too."""
    rules = {f"{LANGUAGE}.policy": {"reclaim": "never", "preemption": "never"}, f"{VISION}.weight": 3}
    assert said(compared(tree(), tree(**rules), scheduler="volcano")) == []
    reserve = {f"{VISION}.budget.h100": {"reserved": 6, "quota": 8}}
    assert not [
        each for each in said(compared(tree(), tree(**reserve), scheduler="volcano")) if "never lent" in each[2]
    ]
    grown = compared(tree(), tree(**{f"{LANGUAGE}.budget.h100": 16}), scheduler="volcano")
    assert (False, "research") in [each[:2] for each in said(grown)]


def test_kubernetes_alone_lends_nothing() -> None:
    """No part of a budget of one unit is worth more or less by what another one has."""
    new = tree(**{f"{LANGUAGE}.budget.h100": 16, f"{VISION}.weight": 3, "policy.reclaim": "never"})
    assert said(compared(tree(), new, scheduler="native")) == []


def test_another_scheduler_is_told_once() -> None:
    """What it does with every promise is for `tenancy parity`."""
    ((stronger, unit, what),) = said(compared(tree(), tree(**{"clusters.main.scheduler": "volcano"})))
    assert (stronger, unit) == (False, "")
    assert "from kueue to volcano" in what


def test_fewer_spare_nodes_are_told_where_the_old_organization_is_known() -> None:
    """How much may fail until a promise is broken; the objects alone do not say what was spare."""
    old, new = tree(**{"flavors.h100.nodes": 6, "flavors.h100.spareNodes": 2}), tree(**{"flavors.h100.nodes": 5})
    spare = [each for each in compared(old, new, known=True).strengths if not each.unit]
    assert [(each.stronger, each.flavor, each.what) for each in spare] == [
        (False, "h100", "8 GPUs may fail until a promise is broken, before 16 GPUs")
    ]
    assert [each for each in compared(old, new).strengths if not each.unit] == []


@pytest.mark.parametrize("scheduler", ["kueue", "volcano", "native"])
@settings(max_examples=often(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pair=edits())
def test_the_way_back_undoes_the_way_there(scheduler: str, pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Whatever organizations are drawn: who gets weaker by a change gets stronger by taking it back, and by nothing
    else. A reserve that goes with its quota is the one thing that cannot be lent instead."""
    old, new = (read(tree, scheduler)[0] for tree in pair)
    there, back = (
        [(each.cluster, each.unit, each.flavor, each.stronger) for each in found if "never lent" not in each.what]
        for found in (strengths(old, new), strengths(new, old))
    )
    assert sorted(there) == sorted((*key, not stronger) for *key, stronger in back)
    assert strengths(old, old) == strengths(new, new) == ()
