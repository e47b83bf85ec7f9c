"""Random small organizations and random work: whatever is asked in whatever order, the laws of budgets hold.

Hypothesis draws the organizations and the work. A failure is told with the smallest story found within a few more
tries, since each try costs seconds; `--random-seed` repeats a run, `--random-orgs` makes a longer one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.cluster import again, observed
from tests.cluster.at_rest import Job, State, landing
from tests.cluster.jobs import Scene
from tests.cluster.laws import owners, savers, violations
from tests.cluster.plane import Cluster, until
from tests.cluster.stage import Stage, plain
from tests.cluster.submissions import Round, Story, Submission, requests, stories, uniform
from tests.kueue_model import Cell

SHARDS: Final = 5
"""Parts of a run, each for any worker."""
SHRINKING: Final = 12
"""Tries for a smaller story after the first failure."""
QUIET: Final = 1.0
"""Seconds without a change before a first look; a law that is not yet kept gets the patience of a second one."""
PATIENCE: Final = 60.0


ONE_STORY: Final = settings(
    max_examples=2,
    phases=(Phase.generate, Phase.shrink),
    database=None,
    derandomize=False,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
"""Hypothesis begins with the simplest story, which is skipped, and after the second varies what it had: a run of its
own for each story keeps them different."""


@pytest.fixture(scope="module")
def stage(cluster: Cluster) -> Stage:
    """The cluster of this worker, for one organization after the other."""
    return Stage(cluster)


@pytest.mark.parametrize("shard", range(SHARDS), ids="shard-{}".format)
def test_the_laws_hold(stage: Stage, shard: int, random_orgs: int, random_seed: int) -> None:
    """A second apply changes nothing, and after every round of work each law of budgets holds on Kueue's own status."""
    for number in range(shard, random_orgs, SHARDS):
        name = f"--random-seed {random_seed}, organization {number}"
        run = ONE_STORY(given(stories())(_bounded(name, lambda story: played(stage, story))))
        try:
            seed(f"{random_seed}/{number}")(run)()
        except Enough as enough:
            pytest.fail(str(enough), pytrace=False)


class Enough(BaseException):
    """Ends shrinking, which catches every Exception."""


def played(stage: Stage, story: Story) -> list[str]:
    """What is broken while a story is played, empty where all is as promised; it ends with the first such round."""
    scene = stage.opened(story.tree)
    broken = again.changed(scene.cluster, scene.made.objects)
    seen: set[str] = set()
    observed.evictions(scene, (), observed.state(scene), seen)
    there: list[tuple[str, str]] = []
    for number, each in enumerate(story.rounds, start=1):
        if broken:
            break
        before = observed.state(scene).jobs
        there = _happen(scene, each, there)
        broken = [f"round {number}: {one}" for one in _judged(scene, before, uniform(story), seen)]
    return broken


def _judged(scene: Scene, before: tuple[Job, ...], even: frozenset[str], seen: set[str]) -> list[str]:
    """What is broken once the cluster is at rest. What may still come is waited for; what has happened has happened."""
    scene.settle(QUIET)
    try:
        until(lambda: violations(observed.state(scene)) == [], "every law holds", PATIENCE, 0.5)
        broken = []
    except AssertionError:
        scene.settle()
        broken = violations(observed.state(scene))
    now = observed.state(scene)
    jobs = {job.uid: job for job in (*before, *now.jobs)}
    evictions = observed.evictions(scene, jobs.values(), now, seen)
    asked = _asked(now, jobs.values())
    fair = [each for each in evictions if even >= set(each.flavors)]
    return [*broken, *owners(now.units, asked, evictions), *savers(now.units, asked, fair)]


def _asked(now: State, jobs: Iterable[Job]) -> dict[str, dict[Cell, int]]:
    """What the jobs of each queue may have held, at most."""
    books: dict[str, dict[Cell, int]] = {}
    for job in jobs:
        for flavor in landing(now, job):
            for resource, count in job.wants.items():
                cells = books.setdefault(job.queue, {})
                cells[flavor, resource] = cells.get((flavor, resource), 0) + count
    return books


def _happen(scene: Scene, each: Round, there: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Jobs end and others come. Unit and name of all that are there afterwards."""
    left = list(there)
    for position in each.ended[: len(left)]:
        unit, name = left.pop(position % len(left))
        scene.finish(unit, [name])
    for one in each.submitted:
        left += _submitted(scene, one)
    return left


def _submitted(scene: Scene, one: Submission) -> list[tuple[str, str]]:
    unit = next(queue.title for queue in scene.made.plan.queues if plain(queue.title) == one.unit)
    wanted = requests(scene.flavor(one.flavor), one.resource, one.size)
    return [(unit, name) for name in scene.submit(unit, times=one.jobs, pods=one.pods, requests=wanted)]


def _bounded(name: str, play: Callable[[Story], list[str]]) -> Callable[[Story], None]:
    """A property that leaves the first story out, and remembers what failed: shrinking plays a story once. Raises
    Enough with the smallest failure after a number of tries."""
    failed: dict[str, list[str]] = {}
    tries = iter(range(SHRINKING))
    simplest: list[str] = []

    def holds(story: Story) -> None:
        told = str(story)
        simplest.append(told)
        if told == simplest[0]:
            return
        if told not in failed:
            if failed and next(tries, None) is None:
                smallest = list(failed)[-1]  # each failure while shrinking is smaller than the one before
                raise Enough("\n".join([name, *failed[smallest], smallest]))
            try:
                broken = play(story)
            except AssertionError as error:
                broken = [str(error)]
            if broken:
                failed[told] = broken
        if told in failed:
            raise AssertionError("\n".join([name, *failed[told], told]))

    return holds
