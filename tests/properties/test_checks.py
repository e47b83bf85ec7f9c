"""No mistake makes a check fail by itself: a valid organization with one value replaced is examined to the end."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenancy.check import check
from tenancy.load.source import Sources
from tenancy.model.budgets import promise
from tenancy.model.organization import organize
from tenancy.model.parse import parse
from tests.examples import often
from tests.strategies import organizations

MISTAKES: st.SearchStrategy[Any] = st.sampled_from(
    (
        *(
            None,
            True,
            -1,
            0,
            1,
            2.5,
            10**30,
            math.inf,
            -math.inf,
            math.nan,
            "",
            "share",
            "8 Gi",
            "h200",
            "never",
            "A30",
            "kube-system",
        ),
        *({}, [], {"gpus": "x"}, {"quota": None}, {"limit": 3}, {"cpu": 1}, {"1g.10gb": 1}),
        *("a" * 70, "Ä", "tenancy.internal/x"),
    )
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for key, below in value.items() if isinstance(value, dict) else ():
        yield from _places(below, (*path, key))


def _replaced(tree: dict[str, Any], path: tuple[Any, ...], mistake: Any) -> dict[str, Any]:
    changed = copy.deepcopy(tree)
    inside = changed
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = mistake
    return changed


@given(organizations(), st.data())
@settings(max_examples=often(50), deadline=None, suppress_health_check=(HealthCheck.too_slow,))
def test_a_mistake_gives_findings_not_exceptions(tree: dict[str, Any], data: st.DataObject) -> None:
    """Whatever stands in the place of a value, every stage up to the checks ends, and says the same twice."""
    path = data.draw(st.sampled_from(sorted(_places(tree), key=str)))
    changed = _replaced(tree, path, data.draw(MISTAKES))
    sources = Sources((), changed, {})
    parsed, shapes = parse(changed, sources)
    if parsed.organization is None:
        assert shapes
        return
    org = organize(parsed.organization, parsed.left_out)
    promise(org)
    found = check(org, sources)
    assert found == check(org, sources)
