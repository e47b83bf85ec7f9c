"""The one word for a change: one edit for each level and reason, and that the gravest counts."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.compare.comparison import compare
from tenancy.compare.diff import Create, Update
from tenancy.compare.procedures import Mark, Procedure
from tenancy.compare.risk import Findings, Level, risk
from tenancy.compare.snapshot import Identity
from tenancy.pipeline import generate
from tests.compare.build import effects
from tests.compare.support import GPU, LANGUAGE, RESEARCH, SEARCH, VISION, compared, tree
from tests.orgs import organized

ACCESS = {"members": ["group:vision"]}

EDITS: dict[str, tuple[dict[str, Any], Level, str]] = {
    "nothing": ({}, Level.NONE, ""),
    "label": ({f"{VISION}.labels": {"color": "blue"}}, Level.LOW, "1 object changes"),
    "access-gained": ({f"{VISION}.access": ACCESS}, Level.LOW, "1 subject gains access: group:vision"),
    "quota-grown": ({f"{VISION}.budget.h100": 12, "policy.borrowing": "none"}, Level.LOW, "1 unit gains promises"),
    "quota-cut": ({f"{VISION}.budget.h100": 4}, Level.MEDIUM, "1 unit loses promises: research/vision"),
    "reserve-raised": (
        {f"{VISION}.budget.h100": {"reserved": 4, "quota": 8}},
        Level.MEDIUM,
        "2 units can reach less: product/search, research/language",
    ),
    "weight-raised": ({f"{VISION}.weight": 9}, Level.MEDIUM, "1 unit has a weaker promise: research/language"),
    "policy-changed": (
        {f"{SEARCH}.policy": {"queueing": "strict"}},
        Level.MEDIUM,
        "queueing best-effort → strict: product/search",
    ),
    "held": ({f"{VISION}.state": "held"}, Level.MEDIUM, "state active → held: research/vision"),
    "network": (
        {f"{VISION}.network": {"egress": {"internet": True}}},
        Level.MEDIUM,
        "rules for people or pods change: ",
    ),
    "drained": (
        {f"{VISION}.state": "draining"},
        Level.HIGH,
        "1 unit is drained: what runs there is evicted: research/vision",
    ),
    "gang-timeout": (
        {"policy": {"gang": {"startTimeout": "20m"}}},
        Level.HIGH,
        "restart needed: platform/kueue-values.yaml",
    ),
    "labels-of-nodes": (
        {"flavors.h100.labels": {"pool": "h100"}},
        Level.HIGH,
        "replacement needed: ResourceFlavor h100",
    ),
    "team-removed": ({LANGUAGE: None}, Level.DESTRUCTIVE, "1 namespace is destroyed: research-language"),
    "department-removed": (
        {RESEARCH: None},
        Level.DESTRUCTIVE,
        "2 units that run work go: research/language, research/vision",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_each_edit_has_its_level_and_says_why(name: str) -> None:
    """The first reason is one of the level itself."""
    changes, level, reason = EDITS[name]
    old = tree(**{"policy.borrowing": "none"}) if name == "quota-grown" else tree()
    found = compared(old, tree(**changes)).risk
    assert found.level is level
    assert reason in " | ".join(found.reasons)
    assert bool(found.reasons) is (level is not Level.NONE)


def test_a_unit_that_takes_work_again_loses_nothing() -> None:
    """Of all changes of a setting this one is a gain."""
    assert compared(tree(**{f"{VISION}.state": "held"}), tree()).risk.level is Level.LOW


def test_draining_ends_nothing_without_kueue() -> None:
    """Nobody is evicted there, so that it is a setting as any other."""
    new = tree(**{f"{VISION}.state": "draining"})
    assert {compared(tree(), new, scheduler=name).risk.level for name in ("volcano", "native")} == {Level.MEDIUM}


def test_who_is_above_the_new_quota_raises_the_risk_only_where_that_is_known() -> None:
    """Without usage a cut quota is a loss; with it, work that may end."""
    new = tree(**{f"{VISION}.budget.h100": 4})
    used = {("main", "research/vision", "h100", GPU): 6}
    assert compared(tree(), new, usage=used).risk.level is Level.HIGH
    assert compared(tree(), new, usage={}).risk.level is Level.MEDIUM


@pytest.mark.parametrize("mark", Mark)
@pytest.mark.parametrize("by_hand", [False, True])
def test_every_mark_has_a_level(mark: Mark, by_hand: bool) -> None:
    """What stops the cluster is as bad as it gets; a warning is heavy only where it asks for a step by hand."""
    needed = Procedure(mark=mark, subjects=("x",), happens="", do="", by_hand=by_hand)
    level = {Mark.OUTAGE: Level.DESTRUCTIVE, Mark.WARNING: Level.HIGH if by_hand else Level.NONE}.get(mark, Level.HIGH)
    assert risk(Findings((), effects(), (needed,), (), (), (), frozenset())).level is level


def test_what_a_new_unit_owns_is_no_reason_of_its_own() -> None:
    """That it comes says it; what it takes from nobody was free."""
    first = compare({}, generate(organized(tree()), {}), {}).risk
    assert first.level is Level.LOW
    assert [each.partition(":")[0] for each in first.reasons] == ["5 units come", "3 namespaces come"]


def test_documents_change_nothing_for_anybody() -> None:
    """Values and lists of files have no kind; what an object means that nothing else tells of, may be anything."""
    document, thing = Identity("main", "", "", "", "a.yaml"), Identity("main", "", "Service", "n", "x")
    for identity, level in ((document, Level.NONE), (thing, Level.LOW)):
        assert risk(Findings((Update(identity, {}, {}, ()),), effects(), (), (), (), (), frozenset())).level is level


def test_rules_that_come_with_all_else_take_nothing_from_anybody() -> None:
    """A first compile makes network policies where there was no namespace to be cut off."""
    policy = Create(Identity("main", "", "NetworkPolicy", "n", "x"), {})
    for there, level in (("", Level.LOW), ("main", Level.MEDIUM)):
        assert risk(Findings((policy,), effects(), (), (), (), (), frozenset({there}))).level is level


def test_reasons_of_the_level_come_first_and_gains_are_no_reasons_beside_losses() -> None:
    """Somebody reads three of them."""
    new = tree(**{LANGUAGE: None, f"{VISION}.budget.h100": {"quota": 7, "limit": 9}, f"{SEARCH}.access": ACCESS})
    reasons = compared(tree(), new).risk.reasons
    assert reasons[0].startswith("1 namespace is destroyed")
    assert "1 unit loses promises: research/vision" in reasons
    assert not [each for each in reasons if "gains" in each]
