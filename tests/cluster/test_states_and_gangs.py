"""Units that are held, drain and come back, and gangs whose pods never start, on a real Kueue.

The organization is that of `policies`.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Final

import pytest

from tests.cluster import jobs
from tests.cluster.client import condition, holds
from tests.cluster.deploy import Compiled
from tests.cluster.jobs import Scene
from tests.cluster.plane import Cluster
from tests.cluster.policies import begin, compiled, with_teams
from tests.cluster.scene import PATIENCE

pytestmark = pytest.mark.kueue("0.19", "0.17")

STOPPED: Final = ("lending/owner", "walled/usual", "walled/calm")
"""Units that have a job when they, or the department above them, are stopped."""


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """The organization at work."""
    return jobs.opened(cluster, compiled(cluster))


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

    def there() -> int:
        return sum(len(scene.pods(unit)) for unit in STOPPED)

    def look(state: str, asking: tuple[str, ...], holders: dict[str, int], alive: int) -> None:
        teams = with_teams("owner", "polite", "shy", state=state)
        scene.change(compiled(scene.cluster, teams, walled={"state": state}))
        for unit in asking:
            scene.submit(unit, 4)
        scene.expect(holders)
        held[state] = scene.holders()
        evictions[state] = {unit: scene.evictions(unit, "ClusterQueueStopped") for unit in (*STOPPED, "lending/guest")}
        # What a job held is free as soon as its pods are to end; they are gone when their node has heard of it.
        scene.wait(lambda: there() == alive, f"{alive} pods are there")
        pods[state] = there()

    running = dict.fromkeys(STOPPED, 4)
    for unit in (*STOPPED, "lending/guest"):
        scene.submit(unit, 4)
    scene.expect({**running, "lending/guest": 4})
    for unit in STOPPED:
        scene.running(unit, 1)
    look("held", ("lending/owner", "walled/usual", "lending/guest"), {**running, "lending/guest": 8}, 3)
    look("draining", (), {"lending/guest": 8}, 0)
    look("active", (), {"lending/owner": 8, "lending/guest": 8, "walled/usual": 8, "walled/calm": 4}, 5)
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


# Gangs.


@pytest.mark.kueue("0.19")
def test_pods_that_never_start_give_their_gpus_back(scene: Scene) -> None:
    """A job whose pods are not ready after `startTimeout` is evicted, holds nothing, and is requeued a minute later;
    a job that has started stays."""
    begin(scene, compiled(scene.cluster))
    scene.submit("walled/calm", 4)
    scene.wait(lambda: all(holds(item, "PodsReady") for item in scene.workloads("walled/calm")), "Kueue sees it run")
    scene.settle()
    scene.change(compiled(scene.cluster, gang={"startTimeout": "3s", "retries": 1}))
    scene.submit("walled/usual", 4, pods=2, never_ready=True)
    scene.wait(lambda: scene.evictions("walled/usual", "PodsReadyTimeout") == 1, "the gang is evicted", PATIENCE)
    (gang,) = scene.workloads("walled/usual")  # as it is now: in a minute it comes back
    scene.expect({"walled/calm": 4})
    scene.wait(lambda: scene.pods("walled/usual") == [], "its pods are gone", PATIENCE)
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
