"""What a plan says of priorities: their values, what their jobs take when interrupted, and who may have them."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.compare.risk import Level
from tenancy.compare.strengths import StrengthChange
from tenancy.compare.views.text import text
from tests.compare.support import LANGUAGE, VISION, compared, tree

BEFORE: dict[str, Any] = {
    "production": 1000,
    "research": {"value": 100, "preemptible": "checkpointed", "gracePeriod": "2m"},
}


def settings(
    old: dict[str, Any], new: dict[str, Any], scheduler: str = ""
) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """The settings that change: key, before, after, and of what."""
    found = compared(old, new, scheduler=scheduler).effects.settings
    return [(each.key, each.before, each.after, each.units) for each in found]


def research(**said: Any) -> dict[str, Any]:
    """The organization with another priority `research`."""
    whole = {**BEFORE["research"], **said}
    return tree(priorities={**BEFORE, "research": {key: value for key, value in whole.items() if value is not None}})


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
@pytest.mark.parametrize(
    ("said", "change"),
    [
        ({"value": 200}, ("priority", "100", "200")),
        ({"gracePeriod": "30s"}, ("grace_period", "2m0s", "30s")),
    ],
)
def test_what_a_priority_says_is_told(scheduler: str, said: dict[str, Any], change: tuple[str, str, str]) -> None:
    """Its value and its grace period, before and after, whichever object holds it."""
    assert settings(research(), research(**said), scheduler) == [(*change, ("research",))]


def test_a_priority_that_is_no_longer_preemptible_is_told_with_its_meaning() -> None:
    """Its grace goes with it; the text says what that means for its jobs, and somebody may lose."""
    old, new = (
        research(),
        tree(priorities={**BEFORE, "research": 100, "spare": {"value": -1, "preemptible": "restartable"}}),
    )
    found = compared(old, new)
    assert [(each.key, each.before, each.after) for each in found.effects.settings] == [
        ("grace_period", "2m0s", "none"),
        ("preemptible", "checkpointed", "no"),
    ]
    assert found.risk.level is Level.MEDIUM
    assert "preemptible checkpointed → no (its jobs are no longer for GPUs that are borrowed): research" in text(found)


def test_the_priorities_of_a_unit_are_told() -> None:
    """Of the units whose namespaces stay, those with the same change together."""
    lists: dict[str, Any] = {f"{each}.priorities": ["research"] for each in (VISION, LANGUAGE)}
    old, new = tree(priorities=BEFORE), tree(priorities=BEFORE, **lists)
    both = ("research/language", "research/vision")
    assert settings(old, new) == [("priorities", "production, research", "research", both)]
    assert settings(new, old) == [("priorities", "research", "production, research", both)]


def test_a_new_priority_is_no_change_of_its_units() -> None:
    """Who may have all may have the new one as well, and loses nothing with one that goes."""
    more = tree(priorities={**BEFORE, "spare": -100})
    assert settings(tree(priorities=BEFORE), more) == []
    assert settings(more, tree(priorities=BEFORE)) == []


def safe(old: dict[str, Any], new: dict[str, Any], scheduler: str = "") -> list[StrengthChange]:
    """What is said of eviction for others."""
    return [each for each in compared(old, new, scheduler=scheduler).strengths if "for others" in each.what]


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
def test_the_price_of_never_being_evicted_is_told(scheduler: str) -> None:
    """A unit that borrows no more says what it gives up, and the way back what it may lose."""
    there, back = tree(), tree(**{f"{VISION}.policy": {"borrowing": "none"}})
    (change,) = safe(there, back, scheduler)
    assert (change.unit, change.flavor, change.stronger) == ("research/vision", "h100", True)
    assert change.what == "it gives up 24 GPUs of reach; what it runs is never evicted for others"
    (change,) = safe(back, there, scheduler)
    assert (change.unit, change.stronger) == ("research/vision", False)
    assert change.what == "it may borrow 24 GPUs; jobs beyond its own may be evicted for others"


def test_where_nothing_is_lent_nothing_is_said_of_it() -> None:
    """Without a batch scheduler nobody borrows, whatever the policy says."""
    assert safe(tree(), tree(**{f"{VISION}.policy": {"borrowing": "none"}}), "native") == []
