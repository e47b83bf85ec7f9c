"""Every value of every policy on a real Kueue: who is evicted, who waits, and who is left alone.

The organization is that of `policies`. Several tests look at one story.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.cluster import jobs
from tests.cluster.jobs import Scene
from tests.cluster.plane import Cluster
from tests.cluster.policies import LENDING, WALLED, begin, compiled

pytestmark = pytest.mark.kueue("0.19", "0.17")

INSIDE: Final = tuple(f"walled/{name}" for name in WALLED)


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """The organization at work."""
    return jobs.opened(cluster, compiled(cluster))


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
    """The same jobs in each team: 1, then 2 that has no room beside it, then 3; 1 ends; 4 comes. After each step the
    GPUs that each team holds in the end are waited for: which of its jobs hold them is looked at."""
    begin(scene, compiled(scene.cluster))
    names: dict[str, list[str]] = {unit: [] for unit in INSIDE}
    running: dict[str, dict[str, list[int]]] = {}

    def look(step: str, held: tuple[int, ...], **more: Any) -> None:
        for unit in INSIDE if more else ():
            names[unit] += scene.submit(unit, 4, **more)
        scene.expect(dict(zip(INSIDE, held, strict=True)))
        running[step] = {unit: sorted(1 + names[unit].index(name) for name in scene.admitted(unit)) for unit in INSIDE}

    look("1", (4, 4, 4, 4), priority="low")
    look("2", (4, 4, 4, 4), priority="low", pods=2)
    look("3", (8, 8, 8, 4), priority="low")
    for unit in INSIDE:
        scene.finish(unit, names[unit][:1])
    look("1 ends", (4, 8, 4, 8))
    look("4", (8, 8, 4, 8), priority="high", pods=2)
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


# What policies of one unit do to another.


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
    meek = scene.submit("lending/meek", 4, priority="high")
    scene.submit("lending/bold", 4, priority="low")
    scene.settle()
    assert scene.holders() == {"lending/guest": 16}
    scene.finish("lending/meek", meek)  # it could be the first at a place that is freed for another
    scene.submit("lending/bold", 4, times=4, priority="high")
    scene.expect({"lending/guest": 4, "lending/bold": 12})
    assert scene.evictions("lending/guest") == scene.evictions() == 3
