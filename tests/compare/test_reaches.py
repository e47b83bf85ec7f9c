"""What units can come to use, read from out/ alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tenancy.backend import WAITING
from tenancy.compare.reaches import reaches
from tests.compare.support import VISION, compared, read, tree
from tests.examples import often
from tests.queue_strategies import edits

SETTINGS = settings(max_examples=often(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("scheduler", WAITING)
@SETTINGS
@given(pair=edits())
def test_reach_is_what_the_scheduler_itself_says(scheduler: str, pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Every change, and no other: of every unit that runs work, flavor and resource that budgets count."""
    (old, before), (new, after) = (read(tree, scheduler) for tree in pair)
    found = {
        (each.cluster, each.unit, each.flavor, each.resource): (each.before or 0, each.after or 0)
        for each in reaches(old, new)
    }
    keys = before.keys() | after.keys()
    assert found == {
        key: (before.get(key, 0), after.get(key, 0)) for key in keys if before.get(key, 0) != after.get(key, 0)
    }


def test_what_one_reserves_is_out_of_reach_for_the_others() -> None:
    """Nothing but a reserve changes: what the others can use falls by it, and who reserves loses nothing."""
    found = compared(tree(), tree(**{f"{VISION}.budget.h100": {"reserved": 6, "quota": 8}})).reaches
    assert [(each.unit, each.before, each.after) for each in found] == [
        ("product/search", 32, 26),
        ("research/language", 32, 26),
    ]


def test_a_unit_that_comes_had_no_reach() -> None:
    """None says that it was not there; losses come before it."""
    new = tree(**{"policy.borrowing": "none", "departments.product": None})
    found = compared(tree(), new).reaches
    assert [(each.unit, each.before, each.after) for each in found] == [
        ("product/search", 32, None),
        ("research/vision", 32, 8),
        ("research/language", 32, 12),
    ]
    assert [each.before for each in compared(new, tree()).reaches if each.unit == "product/search"] == [None]
