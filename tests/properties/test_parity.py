"""Over random organizations: no promise goes without an answer, and no loss goes without a finding."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tenancy.backend import LOSSES, PARITIES
from tenancy.backend.losses import losses
from tenancy.backend.parity import Fate, Promise, lost, parity
from tenancy.backend.promises import KEYS, Said, look, promises
from tenancy.diagnostics import Severity
from tenancy.model.organization import Org
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.examples import often
from tests.orgs import organized, scheduled
from tests.strategies import organizations

CODES = [loss.code for loss in LOSSES]
SLOW = (HealthCheck.too_slow,)
"""A whole organization takes a while to draw on a busy machine."""


@st.composite
def _trees(draw: DrawFn) -> dict[str, Any]:
    """An organization with some of what Volcano or Kubernetes alone does not keep."""
    tree = draw(organizations())
    if draw(st.booleans()):
        tree["priorities"] = {"production": 1000, "research": 100}
    if draw(st.booleans()):
        tree["policy"] = {**tree["policy"], "gang": {"startTimeout": "10m"}}
    for department in tree["departments"].values():
        department["state"] = draw(st.sampled_from(("active", "active", "held", "draining")))
    old = draw(st.booleans())
    for cluster in tree["clusters"].values():
        cluster["versions"] = {"kubernetes": "1.34", "volcano": "1.14" if old else "1.15"}
        cluster["accept"] = draw(st.lists(st.sampled_from(CODES), max_size=3, unique=True))
    return tree


def _plans(tree: dict[str, Any], scheduler: str) -> tuple[Org, tuple[ClusterPlan, ...]]:
    org = organized(scheduled(tree, scheduler))
    return org, plan(org)


def _about(each: Said) -> tuple[str, str, str]:
    return each.unit.title, each.key, each.flavor.name if each.flavor else ""


def _of(each: Promise) -> tuple[str, str, str]:
    return each.unit, each.promise, each.flavor


@given(_trees(), st.sampled_from(sorted(PARITIES)))
@settings(max_examples=often(20), deadline=None, suppress_health_check=SLOW)
def test_every_promise_is_answered_once(tree: dict[str, Any], scheduler: str) -> None:
    """A line for each, in the order of the promises, and no two about one unit, kind and flavor."""
    org, plans = _plans(tree, scheduler)
    for made in plans:
        said = [_about(each) for each in promises(look(org, made))]
        lines = list(parity(org, made, PARITIES[scheduler]))
        assert [_of(line) for line in lines] == said
        assert [each for each, count in Counter(said).items() if count > 1] == []
        assert {line.promise for line in lines} <= set(KEYS)


@given(_trees(), st.sampled_from(sorted(PARITIES)))
@settings(max_examples=often(20), deadline=None, suppress_health_check=SLOW)
def test_what_is_lost_is_found(tree: dict[str, Any], scheduler: str) -> None:
    """Each code of a line that is not accepted is a finding, once; what is lost has a code, what is kept has none."""
    org, plans = _plans(tree, scheduler)
    for made in plans:
        answers = PARITIES[scheduler]
        lines = list(parity(org, made, answers))
        codes = {line.loss.code for line in lines if line.loss is not None and not line.accepted}
        found = [finding.rule.code for finding in losses(org, made, lost(org, made, answers), ())]
        assert sorted(found) == sorted(codes)
        for line in lines:
            assert (line.loss is not None) or line.fate is not Fate.LOST
            assert (line.becomes == "") == (line.fate is Fate.KEPT)
            if line.loss is not None:
                assert line.loss in answers[line.promise].losses
                assert (line.fate is Fate.LOST) == (line.loss.severity is Severity.ERROR)


@given(_trees())
@settings(max_examples=often(12), deadline=None, suppress_health_check=SLOW)
def test_all_schedulers_are_asked_the_same(tree: dict[str, Any]) -> None:
    """What is promised does not depend on who keeps it."""
    asked = []
    for scheduler in sorted(PARITIES):
        org, plans = _plans(tree, scheduler)
        asked.append([[(_of(line), line.said) for line in parity(org, made, PARITIES[scheduler])] for made in plans])
    assert asked[0] == asked[1] == asked[2]


@given(_trees())
@settings(max_examples=often(12), deadline=None, suppress_health_check=SLOW)
def test_nothing_is_found_once_all_is_accepted(tree: dict[str, Any]) -> None:
    """Whatever is accepted, and by whom."""
    org, plans = _plans(tree, "native")
    for made in plans:
        assert list(losses(org, made, lost(org, made, PARITIES["native"]), CODES)) == []
