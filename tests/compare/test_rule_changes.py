"""What a plan says of guards, of pods that reach the host, of KEDA, of telemetry and of the API server's attention."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from tenancy.backend import BACKENDS
from tenancy.backend.manifest import Manifest
from tenancy.backend.shared.admission import Guard
from tenancy.compare.comparison import Comparison
from tenancy.compare.risk import Level
from tenancy.compare.rule_changes import _guard
from tenancy.compare.views.setting_words import _GUARDS
from tenancy.compare.views.text import text
from tenancy.model.document_guards import Guards
from tenancy.plan import plan
from tests.compare.support import RESEARCH, SEARCH, VISION, compared, tree
from tests.orgs import changed, organized, scheduled

GUARDS = "clusters.main.guards"
TELEMETRY = "clusters.main.telemetry"
EVERYTHING: dict[str, Any] = {
    "priorities": {"urgent": 1, "batch": {"value": 0, "preemptible": "restartable"}},
    "flavors.h100.taint": "gpu.example/reserved:NoSchedule",
    "flavors.h100.wholeNodes": True,
    f"{VISION}.autoscaling": "keda",
}
"""What gives every guard something to do."""
NAMES = [Guards.model_fields[name].alias or name for name in Guards.model_fields]


def told(comparison: Comparison) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """The settings that change: key, before, after, and of what."""
    return [(each.key, each.before, each.after, each.units) for each in comparison.effects.settings]


@pytest.mark.parametrize("guard", NAMES)
@pytest.mark.parametrize("level", ["warn", "audit", "off"])
def test_the_level_of_a_guard_is_told_with_its_meaning(guard: str, level: str) -> None:
    """Both ways, by the words of the language, and somebody may lose."""
    old, new = tree(**EVERYTHING), tree(**EVERYTHING, **{f"{GUARDS}.{guard}": level})
    there, back, word = compared(old, new), compared(new, old), "none" if level == "off" else level
    assert told(there) == [(f"guard_{guard}", "deny", word, ("the organization",))]
    assert told(back) == [(f"guard_{guard}", word, "deny", ("the organization",))]
    refused, done = _GUARDS[guard]
    assert f"guard {guard} deny → {word} ({done}" in text(there)
    assert f"guard {guard} {word} → deny ({refused})" in text(back)
    assert there.risk.level is (Level.HIGH if guard == "cluster" else Level.MEDIUM)
    assert back.risk.level is Level.MEDIUM


def test_a_cluster_that_one_object_stops_is_a_high_risk() -> None:
    """The reason says so, where Kueue stays the scheduler."""
    (reason, *_) = compared(tree(), tree(**{f"{GUARDS}.cluster": "warn"})).risk.reasons
    assert reason == "guard cluster deny → warn: one object may stop the scheduler of main"


@pytest.mark.parametrize("scheduler", [*BACKENDS])
def test_every_guard_is_read_from_a_policy(scheduler: str) -> None:
    """Each that a scheduler has policies for shows its level on one of them, and no other policy is taken for it."""
    levels = {f"{GUARDS}.{guard}": "audit" for guard in NAMES}
    (cluster,) = plan(organized(scheduled(tree(**EVERYTHING, **levels), scheduler)))
    objects = (each for item in BACKENDS[scheduler](cluster) if isinstance(item, Manifest) for each in item.objects)
    found: dict[str, set[str]] = {}
    for each in objects:
        if each["kind"] == "ValidatingAdmissionPolicyBinding" and (guard := _guard(each["metadata"]["name"])):
            found.setdefault(guard, set()).update(each["spec"]["validationActions"])
    without = {"native": {"queueing", "interruption", "cluster"}}.get(scheduler, set())
    assert found == {guard: {"Audit"} for guard in set(NAMES) - without}
    assert len(NAMES) == len(get_args(Guard)) == len(_GUARDS)


def test_a_guard_that_comes_with_what_it_guards_is_told() -> None:
    """As soon as a priority says what an interruption takes, GPU jobs are asked for it."""
    old = tree(priorities={"batch": 0})
    found = compared(old, changed(old, {"priorities": {"batch": {"value": 0, "preemptible": "restartable"}}}))
    assert ("guard_interruption", "none", "deny", ("the organization",)) in told(found)
    assert "GPU jobs of units that may borrow are refused unless they are made for interruptions" in text(found)


def test_a_cluster_that_comes_has_no_change_of_settings() -> None:
    """All in it is new."""
    assert told(compared(tree(), tree(**{"clusters.spare": {}}))) == []


@pytest.mark.parametrize("scheduler", [*BACKENDS])
@pytest.mark.parametrize(
    ("level", "grade", "words"),
    [
        ("restricted", Level.MEDIUM, "its new pods are refused unless they run as another user than root"),
        ("privileged", Level.HIGH, "its pods may be root on their nodes"),
    ],
)
def test_what_pods_may_ask_of_the_host_is_told(scheduler: str, level: str, grade: Level, words: str) -> None:
    """Of the units whose namespaces have another level, those inherited too; root on shared nodes is a high risk."""
    new = tree(**{f"{RESEARCH}.podSecurity": {"level": level, "reason": "drivers"}})
    found = compared(tree(), new, scheduler=scheduler)
    assert told(found) == [("pod_security", "baseline", level, ("research/language", "research/vision"))]
    assert (found.risk.level, f"pod security baseline → {level} ({words}" in text(found)) == (grade, True)
    assert told(compared(new, tree(), scheduler=scheduler))[0][1:3] == (level, "baseline")
    assert compared(new, tree(), scheduler=scheduler).risk.level is Level.MEDIUM


def test_a_unit_that_comes_privileged_is_a_high_risk() -> None:
    """Whoever reviews it reads that among the reasons."""
    team = {"budget": {"h100": 4}, "podSecurity": {"level": "privileged", "reason": "drivers"}}
    found = compared(tree(), tree(**{f"{RESEARCH}.teams.nlp": team}))
    assert found.risk.level is Level.HIGH
    assert found.risk.reasons[0] == "1 unit may be root on nodes of others: research/nlp"


def test_scaling_by_keda_is_told() -> None:
    """Who may have it gains; who may no longer loses."""
    new = tree(**{f"{SEARCH}.autoscaling": "keda"})
    there, back = compared(tree(), new), compared(new, tree())
    assert ("autoscaling", "none", "keda", ("product/search",)) in told(there)
    assert "its members may let KEDA scale their work" in text(there)
    assert ("autoscaling", "keda", "none", ("product/search",)) in told(back)
    assert "autoscaling keda → none: product/search" in back.risk.reasons


@pytest.mark.parametrize("scheduler", [*BACKENDS])
def test_what_is_measured_is_told(scheduler: str) -> None:
    """That nobody is told any more is a loss, that somebody is is none."""
    for key, on in (("prometheus", "operator"), ("grafana", "sidecar")):
        old = tree(
            **({f"{TELEMETRY}.grafana": "off"} if key == "prometheus" else {})
        )  # Dashboards show what is recorded.
        new = changed(old, {f"{TELEMETRY}.{key}": "off"})
        gone, come = compared(old, new, scheduler=scheduler), compared(new, old, scheduler=scheduler)
        assert told(gone) == [(key, on, "off", ("the organization",))]
        assert told(come) == [(key, "off", on, ("the organization",))]
        assert (gone.risk.level, come.risk.level) == (Level.MEDIUM, Level.LOW)


def test_where_and_how_soon_is_told() -> None:
    """What Prometheus selects by, and when an alert comes."""
    new = tree(**{TELEMETRY: {"namespace": "obs", "pendingAfter": "30m", "labels": {"release": "stack"}}})
    everybody = ("the organization",)
    assert told(compared(tree(), new)) == [
        ("pending_after", "1h", "30m", everybody),
        ("telemetry_labels", "none", "release=stack", everybody),
        ("telemetry_namespace", "monitoring", "obs", everybody),
    ]


def attended(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, bool, str]]:
    """What is said of the API server's attention."""
    found = compared(old, new).strengths
    return [(each.unit, each.stronger, each.what) for each in found if "API server" in each.what]


def test_the_attention_of_the_api_server_is_told() -> None:
    """By weight each department has its part; what one gains the other loses."""
    old, new = tree(), tree(**{f"{RESEARCH}.weight": 3})
    assert attended(old, new) == [
        ("product", False, "30 of the API server's 600 seats are its own while all ask at once, before 60"),
        ("research", True, "89 of the API server's 600 seats are its own while all ask at once, before 60"),
    ]


def test_without_shares_a_flood_holds_up_everybody() -> None:
    """`apiShares: 0` takes the seats of every department away, and the way back gives them."""
    old, new = tree(), tree(**{"clusters.main.apiShares": 0})
    lost = "its requests to the API server have no seats of their own: they wait behind whoever floods it"
    assert attended(old, new) == [("product", False, lost), ("research", False, lost)]
    assert compared(old, new).risk.level is Level.MEDIUM
    given = "60 of the API server's 600 seats are its own while all ask at once, before none"
    assert attended(new, old) == [("product", True, given), ("research", True, given)]


def test_a_department_that_comes_takes_its_part() -> None:
    """The others hear of it; its own seats are part of that it comes."""
    new = tree(**{"departments.lab": {"teams": {"dev": {}}}})
    assert [(unit, stronger) for unit, stronger, _ in attended(tree(), new)] == [
        ("product", False),
        ("research", False),
    ]
