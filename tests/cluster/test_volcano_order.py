"""The order of changes of Queues on the real webhook: what the plan says is accepted, and what never ends never does.

`--random-orgs` says how many pairs of states are tried, `--random-seed` which ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tenancy.backend.manifest import Object
from tenancy.backend.volcano.order import steps
from tests.cluster.plane import Cluster
from tests.cluster.volcano_sync import Sync, drawn, told
from tests.queue_strategies import State, crowds, edits, queues, trees

pytestmark = pytest.mark.volcano("1.15")

SMALL: Final = "nvidia.com/mig-1g.10gb"
LARGE: Final = "nvidia.com/mig-3g.40gb"
PASSES: Final = 4
"""Of a sync that never ends."""
SORTS: Final[tuple[SearchStrategy[Any], ...]] = (edits(), crowds(), st.tuples(trees(), trees()))
"""Of pairs: an organization before and after; a few queues that get in each other's way; any two trees."""


@pytest.fixture
def sync(cluster: Cluster, random_seed: int) -> Sync:
    """No Queue but Volcano's own."""
    found = Sync(cluster, Random(random_seed))
    found.clear()
    return found


def test_in_the_order_of_the_plan_nothing_is_refused(sync: Sync, random_seed: int, random_orgs: int) -> None:
    """From nothing to one state and from there to the next, step by step; at the end every Queue is as wanted."""
    for number in range(random_orgs):
        with told(f"--random-seed {random_seed}, pair {number}"):
            for was, now in _changes(sync, f"{random_seed}/{number}", number):
                found = steps(was, now)
                sync.park(found.parking)
                for commit in found.commits:
                    sync.follow(commit)
                assert _differing(sync, now) == []


def test_a_sync_that_knows_no_order_ends_in_the_passes_of_the_plan(
    sync: Sync, random_seed: int, random_orgs: int
) -> None:
    """Everything at once, and again what was refused: each commit of the plan is done in time."""
    for number in range(random_orgs):
        with told(f"--random-seed {random_seed}, pair {number}"):
            for was, now in _changes(sync, f"{random_seed}/{number}", number):
                found = steps(was, now)
                sync.park(found.parking)
                for commit in found.commits:
                    sync.run(commit, found.passes)
                assert _differing(sync, now) == []


def test_two_teams_that_trade_slices_need_two_commits(sync: Sync) -> None:
    """In a full department each waits for what the other gives: one commit is refused for ever, two are done in a pass
    each."""
    old = [_queue("mig", "root", 28, 14), _queue("lab", "mig", 28, 14), _queue("a", "lab", 20, 4)]
    old, new = [*old, _queue("b", "lab", 8, 10)], [*old[:2], _queue("a", "lab", 8, 10), _queue("b", "lab", 20, 4)]
    sync.follow(steps([], old).commits[0])
    found = steps(old, new)
    at_once = [step for step in found.commits[-1] if step.name in found.mixed]
    assert found.mixed == ("a", "b")
    assert [step.queue for step in at_once] == new[2:]
    for _ in range(PASSES):
        left = sync.once(at_once)
        assert sorted(each.step.name for each in left) == ["a", "b"]
        assert all("exceeds parent's deserved limit" in each.why for each in left)
    assert _differing(sync, old) == []
    assert [sync.run(commit, 1) for commit in found.commits] == [1, 1]
    assert _differing(sync, new) == []


def _changes(sync: Sync, drawing: str, number: int) -> Iterator[tuple[State, State]]:
    """From nothing to one state and on to the other, in each cluster that a pair has."""
    pair = drawn(SORTS[number % len(SORTS)], drawing)
    was, now = (queues(each) if isinstance(each, dict) else {"": each} for each in pair)
    for name in sorted({*was, *now}):
        sync.clear()
        yield [], was.get(name, [])
        yield was.get(name, []), now.get(name, [])


def _differing(sync: Sync, state: State) -> list[str]:
    """The Queues that are not stored as they were sent; what they leave out may have a default."""
    stored = sync.specs()
    wanted = {name: queue["spec"] for queue in state if (name := queue["metadata"]["name"]) != "default"}
    return [
        name
        for name in sorted({*stored, *wanted})
        if name not in stored or name not in wanted or not wanted[name].items() <= stored[name].items()
    ]


def _queue(name: str, parent: str, small: int, large: int) -> Object:
    """A Queue with so many slices of each size, all of them its quota."""
    slices = {SMALL: str(small), LARGE: str(large)}
    spec = {"parent": parent, "capability": slices, "deserved": slices}
    return {"kind": "Queue", "metadata": {"name": name}, "spec": spec}
