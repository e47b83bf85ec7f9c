"""What each scheduler makes of each promise, and the findings that come of it."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy import backend
from tenancy.backend import LOSSES, PARITIES
from tenancy.backend.losses import losses, not_there, unknown
from tenancy.backend.parity import Answers, Fate, Promise, lost, parity
from tenancy.backend.promises import KEYS
from tenancy.check.finding import Finding
from tenancy.diagnostics import Severity
from tenancy.model.organization import Org
from tenancy.plan import plan
from tests.orgs import organized

H100 = {
    "gpu": "H100-SXM-80GB",
    "nodes": 4,
    "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"},
    "daemons": {"cpu": 2, "memory": "4Gi"},
}
A100 = {**H100, "gpu": "A100-SXM4-80GB"}
CPU = {"nodes": 2, "node": {"cpu": 64, "memory": "256Gi"}}


def _team(quota: Any = 8, **more: Any) -> dict[str, Any]:
    return {"budget": {"h100": quota}, **more}


def _tree(
    scheduler: str = "volcano",
    teams: dict[str, Any] | None = None,
    *,
    cluster: dict[str, Any] | None = None,
    flavors: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Three teams of 8 GPUs in a department of 24 of 32, unless said otherwise."""
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {"scheduler": scheduler, **(cluster or {})}},
        "flavors": {"h100": H100, **(flavors or {})},
        "departments": {"research": {"budget": {"h100": 24}, "teams": teams or {name: _team() for name in "abc"}}},
        **more,
    }


def _promises(tree: dict[str, Any]) -> list[Promise]:
    org = organized(tree)
    return [each for made in plan(org) for each in parity(org, made, PARITIES[made.cluster.scheduler])]


def _one(tree: dict[str, Any], promise: str, unit: str = "research/a", flavor: str = "h100") -> Promise:
    (found,) = [
        each for each in _promises(tree) if (each.promise, each.unit) == (promise, unit) and each.flavor in ("", flavor)
    ]
    return found


def _findings(tree: dict[str, Any], *accepted: str) -> list[Finding]:
    org = organized(tree)
    (made,) = plan(org)
    return list(losses(org, made, lost(org, made, PARITIES[made.cluster.scheduler]), accepted))


def _codes(tree: dict[str, Any], *accepted: str) -> set[str]:
    return {finding.rule.code for finding in _findings(tree, *accepted)}


@pytest.mark.parametrize("scheduler", PARITIES)
def test_a_backend_answers_for_every_kind_of_promise(scheduler: str) -> None:
    """No kind is left out, and none is made up."""
    assert set(PARITIES[scheduler]) == set(KEYS) == set(Answers.__annotations__)


def test_every_loss_may_occur() -> None:
    """A code in the registry belongs to an answer, and an answer has no code that could not be accepted."""
    answered = {loss for answers in PARITIES.values() for key in KEYS for loss in answers[key].losses}
    assert answered == set(LOSSES)


def test_the_reference_loses_nothing() -> None:
    """Every promise is kept by Kueue; what it has of weaknesses has no code."""
    assert not any(PARITIES["kueue"][key].losses for key in KEYS)


def test_a_plain_organization_hears_nothing_of_volcano() -> None:
    """Quotas, limits, borrowing, pools and reclaim are kept."""
    assert _codes(_tree()) == set()


@pytest.mark.parametrize("promise", ["quota", "limit", "borrowing", "reclaim"])
def test_volcano_keeps_what_it_was_seen_to_keep(promise: str) -> None:
    """The triple and its return on demand."""
    assert _one(_tree(teams={"a": _team({"quota": 8, "limit": 16}), "b": _team()}), promise).fate is Fate.KEPT


def test_a_reserve_is_lost_to_two_borrowers() -> None:
    """The text has the number, and what becomes of it the time."""
    found = _one(_tree(teams={"a": _team({"reserved": 4, "quota": 8}), "b": _team(), "c": _team()}), "reserved")
    assert (found.fate, found.said) == (Fate.LOST, "it never lends 4 GPUs")
    assert found.becomes == (
        "two borrowers together use that up while it is idle; eviction brings it back in 5 to 12 s"
    )
    assert found.loss is not None
    assert found.loss.code == "reserve-lent-out"


@pytest.mark.parametrize(
    "others",
    [{"b": _team()}, {"b": _team(policy={"borrowing": "none"}), "c": _team(policy={"borrowing": "none"})}],
)
def test_a_reserve_is_kept_from_one_borrower(others: dict[str, Any]) -> None:
    """One is held back by Volcano, none needs to be; the owner itself is not counted."""
    tree = _tree(teams={"a": _team({"reserved": 4, "quota": 8}), **others})
    assert _one(tree, "reserved").fate is Fate.KEPT


def test_only_reserves_that_are_written_are_promised() -> None:
    """A department that reserves what its teams do says nothing of its own."""
    teams = {"a": _team({"reserved": 4, "quota": 8}), "b": _team()}
    assert [each.unit for each in _promises(_tree(teams=teams)) if each.promise == "reserved"] == ["research/a"]


def test_equal_weights_are_no_loss() -> None:
    """They only say what is not so: whoever asks first gets it."""
    found = _one(_tree(), "weight")
    assert (found.said, found.fate, found.loss) == ("it gets 1 of 3 parts of what is idle", Fate.DIFFERENTLY, None)


def test_weights_count_where_siblings_borrow() -> None:
    """Not between units that may not borrow, and not under `sharing: first-come`."""
    teams = {"a": _team(weight=3), "b": _team()}
    alone = {name: {**team, "policy": {"borrowing": "none"}} for name, team in teams.items()}
    assert _codes(_tree(teams=teams)) == {"weight-not-a-share"}
    assert _codes(_tree(teams=alone)) == set()
    assert _codes(_tree(teams=teams, cluster={"sharing": "first-come"})) == set()


def test_projects_without_a_budget_weigh_as_one() -> None:
    """They share a queue of weight 1 beside that of a budgeted project."""
    projects = {"train": {"weight": 3, "budget": {"h100": 4}}, "demo": {}, "test": {}}
    found = _one(_tree(teams={"a": _team(projects=projects)}), "weight", "research/a/train")
    assert found.said == "it gets 3 of 4 parts of what is idle"


@pytest.mark.parametrize("value", ["lower-priority", "never"])
def test_reclaim_is_lost_where_somebody_borrows(value: str) -> None:
    """A unit that lends nothing takes nothing back, however it would."""
    teams = {"a": _team(policy={"reclaim": value}), "b": _team()}
    assert _codes(_tree(teams=teams)) == {"reclaim-unconditional"}
    reserved = {**teams, "a": _team({"reserved": 8, "quota": 8}, policy={"reclaim": value})}
    assert "reclaim-unconditional" not in _codes(_tree(teams=reserved))
    assert _codes(_tree(teams=teams, policy={"borrowing": "none"})) == set()


def test_preemption_is_promised_by_priorities() -> None:
    """Without any, all jobs are equal; only newer ones of the same could be evicted."""
    assert "preemption" not in {each.promise for each in _promises(_tree())}
    assert _codes(_tree(priorities={"production": 10})) == {"no-preemption-inside"}
    assert _codes(_tree(priorities={"production": 10}, policy={"preemption": "never"})) == set()
    assert _codes(_tree(policy={"preemption": "lower-or-newer-equal"})) == {"no-preemption-inside"}


def test_a_gang_policy_is_promised_where_it_is_written() -> None:
    """The default of ten minutes is a difference to know, and no loss."""
    assert _one(_tree(), "gang", "").fate is Fate.DIFFERENTLY
    found = _one(_tree(policy={"gang": {"startTimeout": "90s", "retries": 1}}), "gang", "")
    assert found.loss is not None
    assert found.said.endswith("a job that is not ready after 1 min 30 s is put back once")


@pytest.mark.parametrize(
    ("state", "fate", "code"),
    [
        ("held", Fate.DIFFERENTLY, "hold-lets-pending-start"),
        ("draining", Fate.LOST, "drain-ends-nothing"),
    ],
)
@pytest.mark.parametrize("scheduler", ["volcano", "native"])
def test_a_state_is_said_where_it_is_written(scheduler: str, state: str, fate: Fate, code: str) -> None:
    """Of a department that is stopped, for each of its teams."""
    tree = _tree(scheduler)
    tree["departments"]["research"]["state"] = state
    found = _one(tree, "state")
    assert found.loss is not None
    assert (found.fate, found.loss.code, found.path) == (fate, code, ("departments", "research", "state"))


def test_kueue_keeps_a_drain_and_says_what_a_held_borrower_keeps() -> None:
    """The weakness is a line, and no loss."""
    assert _one(_tree("kueue", {"a": _team(state="draining")}), "state").fate is Fate.KEPT
    held = _one(_tree("kueue", {"a": _team(state="held")}), "state")
    assert (held.fate, held.loss) == (Fate.DIFFERENTLY, None)


def test_cpu_that_does_not_follow_is_a_loss_of_volcano() -> None:
    """More or less than goes with the GPUs; the place is that of the cpu."""
    for cpu in (250, 100):
        found = _one(_tree(teams={"a": _team({"gpus": 8, "cpu": cpu}), "b": _team()}), "quota")
        assert found.loss is not None
        assert found.path[-1] == "cpu"
        assert found.becomes.startswith(f"it has {cpu} cores where 190 cores go with its GPUs")
    assert _codes(_tree(teams={"a": _team({"gpus": 8, "cpu": 190}), "b": _team()})) == set()


def test_departments_are_protected_from_115_on() -> None:
    """Before, what a team has beyond its own of its department's quota is taken back."""
    more = {"product": {"budget": {"h100": 8}, "teams": {"ads": _team()}}}
    for version, kubernetes, codes in (("1.14", "1.34", {"department-unprotected"}), ("1.15", "1.36", set())):
        versions = {"versions": {"volcano": version, "kubernetes": kubernetes}}
        tree = _tree(cluster=versions)
        alone = _codes(tree)
        tree["departments"] |= more
        assert (alone, _codes(tree)) == (set(), codes)


def test_taking_back_is_said_once_for_all() -> None:
    """What it costs and brings is a line of the organization, where somebody takes anything back."""
    lines = {each.promise: each for each in _promises(_tree()) if each.promise.startswith("reclaim") and not each.unit}
    assert {key: each.fate for key, each in lines.items()} == dict.fromkeys(
        ("reclaimTime", "reclaimGangs", "reclaimEvictions", "reclaimBounds"), Fate.DIFFERENTLY
    )
    assert lines["reclaimTime"].becomes == "it is back in 5 to 10 s"
    alone = _promises(_tree(policy={"borrowing": "none"}))
    assert not [each for each in alone if each.promise.startswith("reclaim")]


def test_a_plain_organization_loses_what_native_has_not() -> None:
    """No borrowing by default, and jobs are refused; both are gone with the promise, or once accepted."""
    assert _codes(_tree("native")) == {"no-borrowing", "no-queue"}
    assert _codes(_tree("native", policy={"borrowing": "none"})) == {"no-queue"}
    assert _codes(_tree("native"), "no-borrowing", "no-queue") == set()


def test_native_loses_gangs_of_several_nodes() -> None:
    """They are torn apart, whether the policy says something of them or not."""
    alone = {"borrowing": "none"}
    assert "no-gangs" in _codes(_tree("native", {"a": _team(16)}, policy=alone))
    assert "no-gangs" not in _codes(_tree("native", {"a": _team(8)}, policy=alone))
    assert "no-gangs" in _codes(_tree("native", {"a": _team(8)}, policy={**alone, "gang": {}}))


def test_a_pool_is_lost_where_somebody_could_use_it() -> None:
    """What the department keeps of its quota, and what no department has."""
    tree = _tree("native", {"a": _team(), "b": _team()})
    lines = {each.unit: each.said for each in _promises(tree) if each.promise == "pool"}
    assert lines == {
        "": "it keeps 8 GPUs for all who may borrow",
        "research": "it keeps 8 GPUs for all inside it",
    }
    assert not [each for each in _promises({**tree, "policy": {"borrowing": "none"}}) if each.promise == "pool"]


def test_a_divided_quota_says_who_has_what() -> None:
    """Of a reserve and of a quota alike."""
    team = _team({"reserved": 4, "quota": 8}, projects={"x": {}, "y": {}, "z": {}, "zz": {}})
    tree = _tree("native", {"a": team}, policy={"borrowing": "none"})
    assert _one(tree, "quota").becomes == (
        "each namespace has a part: `research-a-x` has 2 GPUs, `research-a-y` has 2 GPUs, `research-a-z` has 2 GPUs, "
        "and so on for 1 more"
    )
    assert _one(tree, "reserved").fate is Fate.DIFFERENTLY


def test_native_counts_flavors_together() -> None:
    """GPUs of one name, and the cpu that comes with GPUs beside a cpu flavor's."""
    alone = {"borrowing": "none"}
    tree = _tree("native", {"a": _team()}, flavors={"a100": A100, "cpu": CPU}, policy=alone)
    tree["departments"]["research"] |= {
        "budget": {"h100": 8, "cpu": {"cpu": 20}},
        "teams": {"a": {"budget": {"h100": 8, "cpu": {"cpu": 10}}}, "b": {"budget": {"cpu": {"cpu": 10}}}},
    }
    assert _one(tree, "quota").becomes == "it is counted together with `a100`"
    assert _one(tree, "quota", flavor="cpu").becomes == "it is counted together with cpu and memory of `h100`"
    assert _one(tree, "quota", "research/b", "cpu").fate is Fate.KEPT


def test_one_finding_tells_of_five_hundred_units() -> None:
    """The message has the first and their number, the places a few more."""
    teams = {f"t{number:03}": _team({"reserved": 1, "quota": 2}) for number in range(500)}
    tree = _tree(teams=teams, flavors={"h100": {**H100, "nodes": 125}})
    tree["departments"]["research"]["budget"]["h100"] = 1000
    (finding,) = _findings(tree)
    assert finding.message.startswith(
        "cluster `train` does not keep `reserved` of 500 units, such as `research/t000`: it never lends 1 GPU on `h100`"
    )
    assert [label for label, _ in finding.related] == [
        "`research/t001`: it never lends 1 GPU on `h100`",
        "`research/t002`: it never lends 1 GPU on `h100`",
        "the scheduler",
    ]


def test_a_promise_that_nobody_wrote_is_shown_at_the_scheduler() -> None:
    """A default has no place of its own."""
    (finding,) = _findings(_tree(priorities={"production": 10}))
    assert finding.path == ("clusters", "train", "scheduler")
    assert finding.related == ()


def test_help_adds_to_what_is_accepted_already() -> None:
    """The list can be copied as it is."""
    tree = _tree("native", cluster={"accept": ["no-queue"]})
    (finding,) = _findings(tree)
    assert "`accept: [no-queue, no-borrowing]` in cluster `train`" in finding.help


def test_what_is_accepted_says_so() -> None:
    """In the line, by the cluster's own list."""
    tree = _tree(priorities={"production": 10}, cluster={"accept": ["no-preemption-inside"]})
    assert _one(tree, "preemption").accepted
    assert _findings(tree) == []


@pytest.mark.parametrize(
    ("scheduler", "accept", "message"),
    [
        (
            "kueue",
            ["no-queue"],
            "cluster `train` accepts `no-queue`, but its scheduler is Kueue, which keeps every promise",
        ),
        ("volcano", ["no-queue"], "cluster `train` accepts `no-queue`, but promises nothing that Volcano loses so"),
        ("native", ["no-queue", "no-borrowing", "no-queue"], "cluster `train` accepts `no-queue` twice"),
    ],
)
def test_what_is_accepted_without_need_is_said(scheduler: str, accept: list[str], message: str) -> None:
    """Once for each, and nothing of what does occur."""
    org = organized(_tree(scheduler, cluster={"accept": accept}))
    (made,) = plan(org)
    codes = {loss.code for loss in lost(org, made, PARITIES[scheduler])}
    known = {loss.code for loss in LOSSES}
    (finding,) = not_there(made, codes, known)
    assert finding.message == message
    assert list(unknown(org, known)) == []


def test_a_code_that_nobody_has_is_not_told_twice() -> None:
    """It is unknown, and therefore not also missing."""
    org: Org = organized(_tree(cluster={"accept": ["no-gangz"]}))
    (made,) = plan(org)
    known = {loss.code for loss in LOSSES}
    assert [finding.rule.code for finding in unknown(org, known)] == ["loss-unknown"]
    assert list(not_there(made, set(), known)) == []


def test_losses_weigh_as_what_becomes_of_the_promise() -> None:
    """Errors and warnings only, so that each can be accepted and none is overlooked."""
    assert {loss.severity for loss in LOSSES} == {Severity.ERROR, Severity.WARNING}
    assert set(LOSSES) < set(backend.RULES)
