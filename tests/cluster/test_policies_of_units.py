"""Every value of every policy, and every state, on a real Kueue: who is evicted, who waits, and who is left alone.

Six nodes of 8 GPUs. Department `lending` has 16 of them and four teams that own 4 each; jobs of `lending/guest` borrow
what the others leave idle. Its teams inherit `reclaim: never`, and two override it. Department `walled` has 32 and four
teams of 8 that lend and borrow nothing, each with another policy inside its queue. Several tests look at one story.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import pytest

from tests.cluster import deploy, jobs
from tests.cluster.client import condition
from tests.cluster.deploy import Compiled
from tests.cluster.jobs import PATIENCE, Scene
from tests.cluster.plane import Cluster
from tests.orgs import organized

pytestmark = pytest.mark.kueue("0.19", "0.17")

LENDING: Final[Mapping[str, Any]] = {
    "guest": {"budget": {"h100": 4}},
    "owner": {"budget": {"h100": 4}, "policy": {"reclaim": "any"}},
    "polite": {"budget": {"h100": 4}, "policy": {"reclaim": "lower-priority"}},
    "shy": {"budget": {"h100": 4}},
}
ALONE: Final = {"h100": {"reserved": 8, "quota": 8, "limit": 8}}
WALLED: Final[Mapping[str, Any]] = {
    "usual": {"budget": ALONE},
    "newest": {"budget": ALONE, "policy": {"preemption": "lower-or-newer-equal"}},
    "calm": {"budget": ALONE, "policy": {"preemption": "never"}},
    "strict": {"budget": ALONE, "policy": {"queueing": "strict"}},
}
INSIDE: Final = tuple(f"walled/{name}" for name in WALLED)


def compiled(
    cluster: Cluster,
    teams: Mapping[str, Any] = LENDING,
    *,
    walled: Mapping[str, Any] | None = None,
    gang: Mapping[str, Any] | None = None,
    sharing: str = "weighted",
) -> Compiled:
    """The organization, with some of it changed."""
    node = {"gpus": 8, "cpu": 128, "memory": "1024Gi"}
    lending = {"budget": {"h100": 16}, "policy": {"reclaim": "never", "borrowing": "department"}, "teams": dict(teams)}
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "policies",
        "clusters": {"train": {"sharing": sharing}},
        "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 6, "node": node}},
        "priorities": {"high": 100, "low": -100},
        "policy": {"gang": dict(gang or {})},
        "departments": {
            "lending": lending,
            "walled": {"budget": {"h100": 32}, "teams": dict(WALLED), **(walled or {})},
        },
    }
    return deploy.compiled(organized(tree), kueue=cluster.kueue, kubernetes=cluster.kubernetes)


def with_teams(*names: str, **said: Any) -> dict[str, Any]:
    """The teams of `lending`, some of them with more keys."""
    return {**LENDING, **{name: {**LENDING[name], **said} for name in names}}


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """The organization at work."""
    return jobs.opened(cluster, compiled(cluster))


def begin(scene: Scene, made: Compiled) -> None:
    """Nobody works, and the organization is this."""
    scene.clear()
    scene.change(made)


# How an owner gets lent quota back.


@dataclasses.dataclass(frozen=True, slots=True)
class Reclaimed:
    """What is seen after each step: who holds how much, and the jobs of the borrower."""

    held: dict[str, dict[str, int]]
    jobs: dict[str, list[str]]
    guest: dict[str, str]
    """The borrower's jobs by priority."""
    evictions: dict[str, int]
    """At the end, by unit."""
    priorities: dict[str, int]
    """Of each job that names one, as Kueue has it."""


@pytest.fixture(scope="module")
def reclaimed(scene: Scene) -> Reclaimed:
    """`guest` holds all 16 with jobs of each priority; the others come for their 4, one after the other."""
    begin(scene, compiled(scene.cluster))
    held: dict[str, dict[str, int]] = {}
    seen: dict[str, list[str]] = {}

    def look(step: str, holders: dict[str, int] | None = None) -> None:
        if holders is None:
            scene.settle()
        else:
            scene.expect({f"lending/{unit}": count for unit, count in holders.items()})
        held[step], seen[step] = scene.holders(), scene.admitted("lending/guest")

    names = {name: scene.submit("lending/guest", 4, priority=name)[0] for name in ("low", "", "high")}
    names["high2"] = scene.submit("lending/guest", 4, priority="high")[0]
    look("lent", {"guest": 16})
    scene.submit("lending/shy", 4, priority="high")
    scene.submit("lending/polite", 4, priority="low")
    look("shy and an equal ask")
    scene.submit("lending/owner", 4, priority="low")
    look("owner asks", {"guest": 12, "owner": 4})
    scene.submit("lending/polite", 4, priority="high")
    look("a higher priority asks", {"guest": 8, "owner": 4, "polite": 4})
    scene.finish("lending/guest", [names["high2"]])
    look("a borrower ends", {"guest": 4, "owner": 4, "polite": 4, "shy": 4})
    evictions = {unit: scene.evictions(f"lending/{unit}") for unit in LENDING}
    return Reclaimed(held, seen, names, evictions, _priorities(scene))


def _priorities(scene: Scene) -> dict[str, int]:
    """Each priority that jobs name, with the number that Kueue orders them by."""
    return {
        reference["name"]: item["spec"]["priority"]
        for item in scene.workloads()
        if (reference := item["spec"].get("priorityClassRef"))
    }


def test_reclaim_any_takes_back_from_higher_priorities_too(reclaimed: Reclaimed) -> None:
    """Under `reclaim: any` an owner's job of the lowest priority gets its quota back by one eviction."""
    assert reclaimed.held["owner asks"] == {"lending/guest": 12, "lending/owner": 4}


def test_the_lowest_priority_is_evicted_first(reclaimed: Reclaimed) -> None:
    """Of a borrower's jobs the one with the lowest priority goes first."""
    gone = set(reclaimed.jobs["lent"]) - set(reclaimed.jobs["owner asks"])
    assert gone == {reclaimed.guest["low"]}


def test_reclaim_lower_priority_leaves_equals_alone(reclaimed: Reclaimed) -> None:
    """Under `reclaim: lower-priority` an owner's job waits as long as nobody of a lower priority borrows."""
    assert reclaimed.held["shy and an equal ask"] == {"lending/guest": 16}


def test_reclaim_lower_priority_takes_only_from_lower_priorities(reclaimed: Reclaimed) -> None:
    """Under `reclaim: lower-priority` a job of a higher priority gets the owner's quota back, from a lower one."""
    gone = set(reclaimed.jobs["owner asks"]) - set(reclaimed.jobs["a higher priority asks"])
    assert gone == {reclaimed.guest[""]}
    assert reclaimed.held["a higher priority asks"]["lending/polite"] == 4


def test_reclaim_never_waits_until_a_borrower_ends(reclaimed: Reclaimed) -> None:
    """Under `reclaim: never` even a job of the highest priority waits until a borrower's job ends by itself."""
    waits = [step for step, held in reclaimed.held.items() if "lending/shy" not in held]
    assert waits == ["lent", "shy and an equal ask", "owner asks", "a higher priority asks"]
    assert reclaimed.held["a borrower ends"]["lending/shy"] == 4


def test_nobody_but_the_borrower_is_evicted(reclaimed: Reclaimed) -> None:
    """All four end with their quota after the two evictions that it takes, though the borrower itself never reclaims:
    `reclaim` says what a unit takes back, not what is taken from it."""
    assert reclaimed.held["a borrower ends"] == {f"lending/{unit}": 4 for unit in LENDING}
    assert reclaimed.evictions == {"guest": 2, "owner": 0, "polite": 0, "shy": 0}


def test_a_priority_of_the_organization_is_what_kueue_orders_by(reclaimed: Reclaimed) -> None:
    """A job that names a priority of the organization has its value."""
    assert reclaimed.priorities == {"high": 100, "low": -100}


# Inside one team.


@dataclasses.dataclass(frozen=True, slots=True)
class Inside:
    """What is seen in each team of `walled` after each step: the numbers of its jobs that run, in order of submission:
    1 half of the quota, 2 all of it, 3 half of it, all of low priority; 4 all of it, of high priority."""

    running: dict[str, dict[str, list[int]]]
    evictions: dict[str, int]
    """At the end, by unit."""


@pytest.fixture(scope="module")
def inside(scene: Scene) -> Inside:
    """The same jobs in each team: 1, then 2 that has no room beside it, then 3; 1 ends; 4 comes."""
    begin(scene, compiled(scene.cluster))
    names: dict[str, list[str]] = {unit: [] for unit in INSIDE}
    running: dict[str, dict[str, list[int]]] = {}

    def look(step: str, **more: Any) -> None:
        for unit in INSIDE if more else ():
            names[unit] += scene.submit(unit, 4, **more)
        scene.settle()
        running[step] = {unit: sorted(1 + names[unit].index(name) for name in scene.admitted(unit)) for unit in INSIDE}

    look("1", priority="low")
    look("2", priority="low", pods=2)
    look("3", priority="low")
    for unit in INSIDE:
        scene.finish(unit, names[unit][:1])
    look("1 ends")
    look("4", priority="high", pods=2)
    return Inside(running, {unit: scene.evictions(unit) for unit in INSIDE})


def test_smaller_jobs_pass_one_that_does_not_fit(inside: Inside) -> None:
    """Under `queueing: best-effort` a job that fits passes an older one that does not."""
    assert [inside.running["3"][f"walled/{team}"] for team in ("usual", "newest", "calm")] == [[1, 3]] * 3


def test_strict_queueing_lets_nobody_pass(inside: Inside) -> None:
    """Under `queueing: strict` a job waits behind an older one that does not fit, which then gets in by no eviction."""
    steps = [inside.running[step]["walled/strict"] for step in ("1", "2", "3", "1 ends")]
    assert steps == [[1], [1], [1], [2]]


def test_preemption_lower_priority_evicts_only_lower_ones(inside: Inside) -> None:
    """Under `preemption: lower-priority` an older equal waits, and a job of higher priority evicts."""
    assert [inside.running[step]["walled/usual"] for step in ("1 ends", "4")] == [[3], [4]]
    assert inside.evictions["walled/usual"] == 1


def test_preemption_lower_or_newer_equal_evicts_newer_ones(inside: Inside) -> None:
    """Under `preemption: lower-or-newer-equal` a job evicts an equal that came after it, never one before it."""
    steps = [inside.running[step]["walled/newest"] for step in ("2", "1 ends", "4")]
    assert steps == [[1], [2], [4]]
    assert inside.evictions["walled/newest"] == 2


def test_preemption_never_evicts_nobody(inside: Inside) -> None:
    """Under `preemption: never` a job of higher priority waits for a lower one of its own team."""
    assert [inside.running[step]["walled/calm"] for step in ("1 ends", "4")] == [[3], [3]]
    assert inside.evictions["walled/calm"] == 0


# State.

STOPPED: Final = ("lending/owner", "walled/usual", "walled/calm")
"""Units that have a job when they, or the department above them, are stopped."""


@dataclasses.dataclass(frozen=True, slots=True)
class Stopped:
    """What is seen while three teams of `lending`, all but the guest, and the department `walled` are in each state."""

    held: dict[str, dict[str, int]]
    evictions: dict[str, dict[str, int]]
    """By the stop, per unit."""
    pods: dict[str, int]
    """Of the stopped units."""
    preemptions: int


@pytest.fixture(scope="module")
def stopped(scene: Scene) -> Stopped:
    """Jobs run; their units are held, and some ask for another; they drain; they are active again."""
    begin(scene, compiled(scene.cluster))
    held: dict[str, dict[str, int]] = {}
    evictions: dict[str, dict[str, int]] = {}
    pods: dict[str, int] = {}

    def look(state: str, asking: tuple[str, ...], holders: dict[str, int]) -> None:
        teams = with_teams("owner", "polite", "shy", state=state)
        scene.change(compiled(scene.cluster, teams, walled={"state": state}))
        for unit in asking:
            scene.submit(unit, 4)
        scene.expect(holders)
        held[state] = scene.holders()
        evictions[state] = {unit: scene.evictions(unit, "ClusterQueueStopped") for unit in (*STOPPED, "lending/guest")}
        pods[state] = sum(len(scene.pods(unit)) for unit in STOPPED)

    running = dict.fromkeys(STOPPED, 4)
    for unit in (*STOPPED, "lending/guest"):
        scene.submit(unit, 4)
    scene.expect({**running, "lending/guest": 4})
    look("held", ("lending/owner", "walled/usual", "lending/guest"), {**running, "lending/guest": 8})
    look("draining", (), {"lending/guest": 8})
    look("active", (), {"lending/owner": 8, "lending/guest": 8, "walled/usual": 8, "walled/calm": 4})
    return Stopped(held, evictions, pods, scene.evictions())


def test_held_units_keep_what_runs(stopped: Stopped) -> None:
    """`state: held`, of a team or of its department, evicts nothing and starts nothing, though GPUs are free."""
    assert {unit: stopped.held["held"][unit] for unit in STOPPED} == dict.fromkeys(STOPPED, 4)
    assert set(stopped.evictions["held"].values()) == {0}
    assert stopped.pods["held"] == 3


def test_others_borrow_what_held_units_leave_idle(stopped: Stopped) -> None:
    """The quota of units that are held is lent when it is idle."""
    assert stopped.held["held"]["lending/guest"] == 8


def test_draining_units_lose_what_runs(stopped: Stopped) -> None:
    """`state: draining`, of a team or of its department, evicts each running job once, and starts nothing."""
    assert stopped.held["draining"] == {"lending/guest": 8}
    assert stopped.evictions["draining"] == {**dict.fromkeys(STOPPED, 1), "lending/guest": 0}
    assert stopped.pods["draining"] == 0


def test_active_units_resume_by_themselves(stopped: Stopped) -> None:
    """Back to `active`, what was drained and what came meanwhile starts, and nobody else loses anything."""
    resumed = {"lending/owner": 8, "lending/guest": 8, "walled/usual": 8, "walled/calm": 4}
    assert stopped.held["active"] == resumed
    assert stopped.preemptions == 0


@pytest.mark.kueue("0.19")
def test_a_held_borrower_gives_nothing_back(scene: Scene) -> None:
    """While a borrower is held its jobs cannot be evicted: the owner's quota comes back only when they end, when the
    borrower drains, or when it is active again."""
    begin(scene, compiled(scene.cluster))
    scene.submit("lending/guest", 4, times=4)
    scene.expect({"lending/guest": 16})
    scene.change(compiled(scene.cluster, with_teams("guest", state="held")))
    scene.submit("lending/owner", 4)
    scene.settle()
    assert scene.holders() == {"lending/guest": 16}
    assert scene.evictions() == 0
    scene.change(compiled(scene.cluster))
    scene.expect({"lending/guest": 12, "lending/owner": 4})
    assert scene.evictions("lending/guest") == 1


# What policies of one unit do to another.


@pytest.mark.kueue("0.19")
def test_a_strict_unit_that_cannot_reclaim_stops_others_from_it(scene: Scene) -> None:
    """While the first job of a unit with `queueing: strict` waits for its quota and may not take it back, other units
    with `reclaim: any` that ask after it do not get theirs back either."""
    begin(scene, compiled(scene.cluster, with_teams("shy", policy={"queueing": "strict"})))
    scene.submit("lending/guest", 4, times=4)
    scene.expect({"lending/guest": 16})
    waiting = scene.submit("lending/shy", 4)
    scene.settle()
    scene.submit("lending/owner", 4)
    scene.settle()
    assert scene.holders() == {"lending/guest": 16}
    assert scene.evictions() == 0
    scene.finish("lending/shy", waiting)
    scene.expect({"lending/guest": 12, "lending/owner": 4})


BORROWERS: Final[Mapping[str, Any]] = {
    "guest": {"budget": {"h100": 4}},
    "owner": {"budget": {"h100": 12}},
    "bold": {"policy": {"reclaim": "lower-priority", "borrowingPreemption": "lower-priority"}},
    "meek": {"policy": {"reclaim": "lower-priority"}},
}
"""Teams of `lending` in another life: three that borrow what the fourth leaves idle."""


@pytest.mark.kueue("0.19")
def test_borrowing_preemption_does_nothing_under_weighted_sharing(scene: Scene) -> None:
    """Under `sharing: weighted` a job that borrows evicts no borrower of lower priority whose share is not larger, not
    even with `borrowingPreemption: lower-priority`."""
    begin(scene, compiled(scene.cluster, BORROWERS))
    scene.submit("lending/guest", 4, times=3, priority="low")
    scene.submit("lending/bold", 4, priority="high")
    scene.expect({"lending/guest": 12, "lending/bold": 4})
    scene.submit("lending/bold", 4, priority="high")
    scene.settle()
    assert scene.holders() == {"lending/guest": 12, "lending/bold": 4}
    assert scene.evictions() == 0


@pytest.mark.kueue("0.19")
def test_borrowing_preemption_acts_among_borrowers(scene: Scene) -> None:
    """Under `sharing: first-come` and `borrowingPreemption: lower-priority` a job that borrows evicts borrowers of
    lower priority, down to their quota and no further; without it such a job waits."""
    begin(scene, compiled(scene.cluster, BORROWERS, sharing="first-come"))
    scene.submit("lending/guest", 4, times=4, priority="low")
    scene.expect({"lending/guest": 16})
    scene.submit("lending/meek", 4, priority="high")
    scene.submit("lending/bold", 4, priority="low")
    scene.settle()
    assert scene.holders() == {"lending/guest": 16}
    scene.submit("lending/bold", 4, times=4, priority="high")
    scene.expect({"lending/guest": 4, "lending/bold": 12})
    assert scene.evictions("lending/guest") == scene.evictions() == 3


# Gangs.


@pytest.mark.kueue("0.19")
def test_pods_that_never_start_give_their_gpus_back(scene: Scene) -> None:
    """A job whose pods are not ready after `startTimeout` is evicted, holds nothing, and is requeued a minute later;
    a job that has started stays."""
    begin(scene, compiled(scene.cluster))
    scene.submit("walled/calm", 4)
    scene.wait(lambda: len(scene.hosts("walled/calm")) == 1, "the pod runs", PATIENCE)
    scene.settle()
    scene.change(compiled(scene.cluster, gang={"startTimeout": "3s", "retries": 1}))
    scene.submit("walled/usual", 4, pods=2, never_ready=True)
    scene.wait(lambda: scene.evictions("walled/usual", "PodsReadyTimeout") == 1, "the gang is evicted", PATIENCE)
    scene.expect({"walled/calm": 4})
    scene.wait(lambda: scene.pods("walled/usual") == [], "its pods are gone", PATIENCE)
    (gang,) = scene.workloads("walled/usual")
    requeue, evicted = gang["status"]["requeueState"], condition(gang, "Evicted")
    assert evicted is not None
    waits = datetime.fromisoformat(requeue["requeueAt"]) - datetime.fromisoformat(evicted["lastTransitionTime"])
    assert requeue["count"] == 1
    assert 60 <= waits.total_seconds() <= 62
    assert gang["spec"]["active"]


@pytest.mark.kueue("0.19")
def test_a_gang_is_put_aside_after_its_retries(scene: Scene) -> None:
    """With `retries: 1` a job whose pods never start is requeued once and then put aside for good."""
    begin(scene, compiled(scene.cluster))
    scene.change(_impatient(compiled(scene.cluster, gang={"startTimeout": "3s", "retries": 1})))
    scene.submit("walled/usual", 4, pods=2, never_ready=True)
    scene.wait(lambda: scene.evictions("walled/usual", "Deactivated") == 1, "the gang is put aside", PATIENCE)
    scene.expect({})
    assert scene.evictions("walled/usual", "PodsReadyTimeout") == 1
    assert [item["spec"]["active"] for item in scene.workloads("walled/usual")] == [False]


def _impatient(made: Compiled) -> Compiled:
    """The same with a second instead of a minute before a requeue, which org/ cannot say: nobody waits so long here."""
    ready = made.configuration["waitForPodsReady"]
    strategy = {**ready["requeuingStrategy"], "backoffBaseSeconds": 1}
    changed = {**made.configuration, "waitForPodsReady": {**ready, "requeuingStrategy": strategy}}
    return dataclasses.replace(made, configuration=changed)
