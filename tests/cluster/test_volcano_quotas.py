"""How far work gets on Volcano: limits on each level, what is reserved, flavors that share a name, MIG, cpu, weights.

Every case has nodes of its own, and all of them happen at once: first those who ask on idle nodes, then those who come
after them. Most tests look at this one story.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import pytest

from tests.cluster import volcano_jobs
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster
from tests.cluster.volcano_jobs import EXCESS, Scene
from tests.cluster.volcano_trees import DAEMONS, Tree, Whole, compiled, flavor, numbers, reach, whole
from tests.cluster.volcano_watch import Watch, bound

pytestmark = pytest.mark.volcano("1.15")

VISION, NLP, SEARCH, BOTH = Whole("vision"), Whole("nlp"), Whole("search"), Whole("both")
SLICE, LARGE = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
FEW, SOME = "slices/few", "slices/some"
CORES, BYTES = "batch/cores", "batch/bytes"
KEEPER, COMER = "pair/keeper", "pair/comer"
HEAVY, LIGHT = "heavy", "light"
PAIR: Final[Tree] = {
    "budget": {"h100": {"reserved": 8, "quota": 16, "limit": 16}, "a100": {"quota": 16, "limit": 16}},
    "teams": {
        "keeper": {"budget": {"h100": {"reserved": 8, "quota": 8, "limit": 8}, "a100": 8}},
        "comer": {"budget": {"h100": {"quota": 8, "limit": 16}, "a100": {"quota": 8, "limit": 16}}},
    },
}
"""Two flavors of one resource name: of h100 8 are reserved, of a100 none."""
SLICES: Final[Tree] = {
    "budget": {"mig": {"1g.10gb": 32, "3g.40gb": 8}},
    "teams": {
        "few": {"budget": {"mig": {"quota": {"1g.10gb": 4}, "limit": {"1g.10gb": 6, "3g.40gb": 0}}}},
        "some": {"budget": {"mig": {"1g.10gb": 4, "3g.40gb": 4}}},
    },
}
BATCH: Final[Tree] = {
    "budget": {"cores": {"cpu": 64, "memory": "128Gi"}},
    "teams": {
        "cores": {"budget": {"cores": {"quota": {"cpu": 8, "memory": "64Gi"}, "limit": {"cpu": 16, "memory": "64Gi"}}}},
        "bytes": {"budget": {"cores": {"quota": {"cpu": 8, "memory": "8Gi"}, "limit": {"cpu": 32, "memory": "32Gi"}}}},
    },
}
FIRST_COME: Final = ("heavy-first", "light-first")
"""Copies of 16 GPUs for two teams without a quota, with weights of 30 and 10."""


def weighted(name: str) -> Tree:
    """The department of a copy."""
    none = numbers(name, 0, 0, 16)
    return {f"{name}-open": {**none, "teams": {HEAVY: {**none, "weight": 30}, LIGHT: {**none, "weight": 10}}}}


def organization(cluster: Cluster) -> Compiled:
    """All of it."""
    wholes = (VISION, NLP, SEARCH, BOTH)
    a100 = {"gpu": "A100-SXM4-80GB", "node": {"gpus": 8, "cpu": 66, "memory": "516Gi"}, "daemons": DAEMONS}
    flavors: dict[str, Any] = {
        "h100": flavor(2),
        **{copy.flavor: flavor(4) for copy in wholes},
        **{name: flavor(2) for name in FIRST_COME},
        "a100": {**a100, "nodes": 2},
        "mig": {**a100, "nodes": 1, "mig": {"3g.40gb": 1, "1g.10gb": 4}},
        "cores": {"nodes": 2, "node": {"cpu": 34, "memory": "68Gi"}, "daemons": DAEMONS},
    }
    departments = [
        *map(whole, wholes),
        *map(weighted, FIRST_COME),
        {"pair": PAIR, "slices": SLICES, "batch": BATCH},
    ]
    return compiled(cluster, flavors, departments)


@dataclasses.dataclass(frozen=True, slots=True)
class Story:
    """What is seen of it."""

    scene: Scene
    alone: dict[str, dict[str, int]]
    """Who holds what of each flavor, by the flavor, after the first have asked."""
    after: dict[str, dict[str, int]]
    """And after the second."""
    seen: Watch
    """While the second ask."""


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """All copies on empty nodes."""
    return volcano_jobs.opened(cluster, organization(cluster))


@pytest.fixture(scope="module")
def story(scene: Scene) -> Story:
    """All of it happens."""
    # On idle nodes, each more than it may have.
    scene.bare(VISION.vision, 20 + EXCESS)
    scene.bare(NLP.nlp, 28)
    scene.bare(SEARCH.search, 20 + EXCESS)
    scene.bare(BOTH.vision, 20)
    for name in ("h100", "a100"):
        scene.bare(COMER, 16 + EXCESS, flavor=name)
    scene.bare(FEW, 6 + EXCESS, flavor="mig", resource=SLICE)
    for unit, ask in ((FEW, EXCESS), (SOME, 4)):
        scene.bare(unit, ask, flavor="mig", resource=LARGE)
    scene.bare(CORES, 4 + EXCESS, flavor="cores", requests={"cpu": "4", "memory": "4Gi"})
    scene.bare(BYTES, 4 + EXCESS, flavor="cores", requests={"cpu": "2", "memory": "8Gi"})
    for name in FIRST_COME:
        scene.bare(f"{name}-open/{name.partition('-')[0]}", 16)
    first = {f"{name}-open/{name.partition('-')[0]}": 16 for name in FIRST_COME}
    reach(scene, {BOTH.vision: 20, VISION.vision: 20, SEARCH.search: 20, **first})
    flavors = list(scene.made.plan.flavors)
    alone = {name: scene.holders(flavor=name) for name in flavors}
    # Then the others.
    with scene.watch() as seen:
        scene.gang(NLP.vision, 4)
        scene.bare(BOTH.nlp, 8 + EXCESS)
        scene.gang(KEEPER, 8, flavor="h100")
        for name in FIRST_COME:
            scene.bare(f"{name}-open/{HEAVY if name == 'light-first' else LIGHT}", 16)
        reach(scene, {NLP.vision: 4, BOTH.nlp: 8, KEEPER: 8})
    return Story(scene, alone, {name: scene.holders(flavor=name) for name in flavors}, seen)


def test_a_teams_limit_is_reached_and_never_passed(story: Story) -> None:
    """A team that is alone on idle nodes and asks for more than its limit holds the limit, to the GPU."""
    assert story.alone["vision"] == {VISION.vision: 20}
    assert story.alone["search"] == {SEARCH.search: 20}


def test_a_sibling_that_reserves_is_out_of_reach(story: Story) -> None:
    """A limit of 28 in a department with a limit of 28 comes to 24: its sibling reserves 4."""
    assert story.alone["nlp"] == {NLP.nlp: 24}


def test_what_is_reserved_is_free_at_once_with_one_borrower(story: Story) -> None:
    """With all lent that one team may borrow, its sibling has what it reserves, and nobody is evicted."""
    assert story.after["nlp"] == {NLP.vision: 4, NLP.nlp: 24}
    assert story.seen.killed(NLP.nlp) == 0


def test_a_departments_limit_holds_over_its_teams_together(story: Story) -> None:
    """Two teams whose limits add up to more than their department's stop there, while GPUs lie idle."""
    assert story.after["both"] == {BOTH.vision: 20, BOTH.nlp: 8}


def test_flavors_of_one_resource_name_are_told_apart(story: Story) -> None:
    """Of the flavor of which 8 are reserved a sibling gets the other 8, though 16 of the other flavor are free; of that
    one it gets its limit. The reserve is free at once."""
    assert story.alone["h100"] == {COMER: 8}
    assert story.alone["a100"] == {COMER: 16}
    assert story.after["h100"] == {COMER: 8, KEEPER: 8}
    assert story.seen.killed(COMER) == 0


def test_work_runs_on_the_nodes_of_its_flavor(story: Story) -> None:
    """Every pod is on a node of the flavor whose queue it names, which only the queue of the flavor says: those of
    departments and teams inherit it."""
    queues = {item["metadata"]["name"]: item["spec"] for item in story.scene.made.objects if item["kind"] == "Queue"}
    assert sorted(name for name, spec in queues.items() if "affinity" in spec) == sorted(story.scene.made.plan.flavors)
    pods = [pod for pod in story.scene.pods() if bound(pod)]
    queue = volcano_jobs.QUEUE
    stray = [pod for pod in pods if not pod["metadata"]["annotations"][queue].endswith(f"-{_flavor(pod)}")]
    assert len(pods) > 150
    assert stray == []


def _flavor(pod: dict[str, Any]) -> str:
    name: str = pod["spec"]["nodeName"]
    return name.rpartition("-")[0]


def test_a_profile_has_a_limit_of_its_own(story: Story) -> None:
    """Of MIG slices a team gets the limit of each profile, and none of one with a limit of 0, which others get."""
    held = {resource: story.scene.holders(resource, "mig") for resource in (SLICE, LARGE)}
    assert held == {SLICE: {FEW: 6}, LARGE: {SOME: 4}}


def test_cpu_and_memory_bind_where_there_are_no_gpus(story: Story) -> None:
    """Of the limits of cpu and memory the one that is used up first ends it."""
    assert story.scene.holders("cpu", "cores") == {CORES: 16_000, BYTES: 8_000}
    assert story.scene.holders("memory", "cores") == {CORES: 16 * 2**30, BYTES: 32 * 2**30}


def test_weights_do_nothing(story: Story) -> None:
    """Of two siblings without a quota who asks first has everything, whatever the weights: not 12 and 4."""
    assert story.after["heavy-first"] == {"heavy-first-open/heavy": 16}
    assert story.after["light-first"] == {"light-first-open/light": 16}


def test_work_without_a_queue_is_never_bound(scene: Scene) -> None:
    """Whatever it asks for, were it nothing: the queue that it goes to has no node group and no room."""
    client = scene.cluster.client
    names = []
    for name, requests in (("none", {}), ("cpu", {"cpu": "1m"}), ("gpu", {"nvidia.com/gpu": "1"})):
        limits = {key: count for key, count in requests.items() if "/" in key}
        container = {"name": "main", "image": "none", "resources": {"requests": requests, "limits": limits}}
        spec = {"schedulerName": "volcano", "containers": [container]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"stray-{name}"}, "spec": spec}
        client.create(pod)
        names.append(client.path(pod))
    step = scene.steps()
    scene.wait(lambda: scene.steps() >= step + scene.STEPS, "the scheduler has looked")
    unbound = [name for name in names if "nodeName" not in client.get(name)["spec"]]
    for name in names:
        client.delete(name, gracePeriodSeconds="0")
    assert unbound == names
