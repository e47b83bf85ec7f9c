"""Who is above the new promises: by what is used where that is known, else by what the old promises allowed."""

from __future__ import annotations

from typing import Any

from tenancy.compare.usage import Usage
from tests.compare.support import GPU, LANGUAGE, RESEARCH, VISION, compared, tree

CPU_FLAVOR = {"node": {"cpu": 66, "memory": "260Gi"}, "nodes": 4}


def used(**amounts: int) -> Usage:
    """GPUs by team."""
    return {("main", f"research/{team}", "h100", GPU): count for team, count in amounts.items()}


def over(old: dict[str, Any], new: dict[str, Any], usage: Usage | None = None) -> list[tuple[str, int, int, int, bool]]:
    found = compared(old, new, usage=usage).overruns
    return [(each.unit, each.used, each.quota, each.limit, each.certain) for each in found]


CUT = tree(**{f"{VISION}.budget.h100": 4, f"{LANGUAGE}.budget.h100": {"quota": 6, "limit": 10}})


def test_who_uses_more_than_the_new_quota_comes_after_who_uses_more_than_the_limit() -> None:
    """Above the limit is worse than far above the quota: the one may go on borrowing, the other may not."""
    assert over(tree(), CUT, used(vision=20, language=11)) == [
        ("research/language", 11, 6, 10, True),
        ("research/vision", 20, 4, 32, True),
    ]


def test_who_uses_no_more_than_the_new_quota_is_not_over_it() -> None:
    """What is not in the usage is not used; and who borrows as before loses nothing by the change."""
    assert over(tree(), CUT, used(vision=4, language=6)) == []
    assert over(tree(), CUT, {}) == []
    assert over(tree(), tree(**{f"{VISION}.budget.h100": 4}), used(language=20)) == []


def test_without_usage_the_old_quota_could_be_used() -> None:
    """Certain is nothing then."""
    assert over(tree(), CUT) == [("research/language", 12, 6, 10, False), ("research/vision", 8, 4, 32, False)]


def test_what_others_reserve_cuts_what_is_borrowed() -> None:
    """Its own numbers stay, and it holds more than it can reach."""
    new = tree(**{f"{VISION}.budget.h100": {"reserved": 8, "quota": 8}})
    assert over(tree(), new, used(language=28)) == [("research/language", 28, 12, 24, True)]
    assert ("research/language", 32, 12, 24, False) in over(tree(), new)


def test_a_unit_that_goes_leaves_no_right_to_what_it_uses() -> None:
    """Quota and limit are then nothing."""
    new = tree(**{f"{RESEARCH}.teams.vision": None})
    assert over(tree(), new, used(vision=3)) == [("research/vision", 3, 0, 0, True)]
    assert over(tree(), new, {}) == []


def test_gpus_come_before_cpu() -> None:
    """Bytes of memory are larger numbers, and weigh less."""
    flavors = {"flavors.cpu": CPU_FLAVOR, f"{RESEARCH}.budget.cpu": {"cpu": 100, "memory": "400Gi"}}
    old = tree(**flavors, **{f"{VISION}.budget.cpu": {"cpu": 100, "memory": "400Gi"}})
    new = tree(**flavors, **{f"{VISION}.budget.cpu": {"cpu": 10, "memory": "40Gi"}, f"{VISION}.budget.h100": 7})
    assert [each.resource for each in compared(old, new).overruns] == [GPU, "memory", "cpu"]
