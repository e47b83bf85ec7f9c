"""Guards that are turned down: which promise is said to rest on good will, under which scheduler."""

from __future__ import annotations

import pytest

from tenancy.check.guards import levels
from tests.backend.kueue.attacks import ORGANIZATION
from tests.orgs import organized

WEAKENED = "guard-weakened"
SAFETY = "guard-is-safety"


def findings(scheduler: str, guards: dict[str, str], *without: str) -> list[tuple[str, str]]:
    """Code and message for a cluster with these guards, whose flavors are `without` some keys."""
    flavors = {
        name: {key: value for key, value in flavor.items() if key not in without}
        for name, flavor in ORGANIZATION["flavors"].items()
    }
    clusters = {"train": {"scheduler": scheduler, "guards": guards}}
    org = organized({**ORGANIZATION, "clusters": clusters, "flavors": flavors})
    return [(each.rule.code, each.message) for each in levels(org)]


@pytest.mark.parametrize("level", ["warn", "audit", "off"])
@pytest.mark.parametrize(
    ("scheduler", "guard", "code"),
    [
        ("kueue", "queueing", WEAKENED),
        ("kueue", "cluster", WEAKENED),
        ("kueue", "placement", WEAKENED),
        ("kueue", "priorities", WEAKENED),
        ("kueue", "fences", WEAKENED),
        ("kueue", "wholeNodes", WEAKENED),
        ("kueue", "security", WEAKENED),
        ("kueue", "interruption", ""),
        ("volcano", "queueing", SAFETY),
        ("volcano", "cluster", SAFETY),
        ("volcano", "placement", WEAKENED),
        ("native", "queueing", ""),
        ("native", "cluster", ""),
        ("native", "placement", WEAKENED),
        ("native", "security", WEAKENED),
    ],
)
def test_each_guard_says_what_rests_on_it(scheduler: str, guard: str, code: str, level: str) -> None:
    """Once, with its level; nothing where no promise rests on it."""
    found = findings(scheduler, {guard: level})
    assert [each for each, _ in found] == ([code] if code else [])
    assert all(f"`{guard}: {level}`" in message for _, message in found)


@pytest.mark.parametrize("scheduler", ["kueue", "volcano", "native"])
def test_guards_that_refuse_are_no_finding(scheduler: str) -> None:
    """Whether that is said or not."""
    assert findings(scheduler, {}) == []
    assert findings(scheduler, dict.fromkeys(("queueing", "placement", "fences", "cluster"), "deny")) == []


def test_a_guard_without_anything_to_guard_is_no_finding() -> None:
    """Fences where no flavor has one, whole nodes where none is given out whole."""
    assert findings("kueue", {"fences": "off", "wholeNodes": "off"}, "taint", "wholeNodes") == []
