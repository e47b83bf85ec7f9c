"""What is lent comes back on Volcano: how much, from whom, and what it costs them; and when it does not.

Everything is lent in many copies of a tree at once, and then owners ask. Most tests look at this one story.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

import pytest

from tests.cluster import volcano_jobs
from tests.cluster.client import Refused
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster
from tests.cluster.scene import PATIENCE
from tests.cluster.volcano_jobs import Scene
from tests.cluster.volcano_trees import (
    Small,
    Tree,
    Whole,
    compiled,
    flavor,
    numbers,
    on,
    reach,
    small,
    whole,
)
from tests.cluster.volcano_watch import Watch

pytestmark = pytest.mark.volcano("1.15")


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """A copy in which vision asks for its quota of 12 with gangs of 8 and 4, of which 4 GPUs are idle."""

    lend: Callable[[Scene, str], list[str]]
    """What the borrower runs; the names."""
    from_sibling: bool
    """nlp has 24 and is left 16; or search has 20 and is left 12, while nlp keeps its own 8."""
    gangs: tuple[int, ...] = ()
    """Where the borrower runs gangs: what of each is bound in the end."""


CASES: Final = {
    "singles": Case(lambda scene, unit: scene.gang(unit, 1, times=24), from_sibling=True),
    "elastic": Case(lambda scene, unit: scene.gang(unit, 24, minimum=1), from_sibling=True),
    "gangs": Case(lambda scene, unit: scene.gang(unit, 8, times=3), True, (0, 8, 8)),
    "others-deployment": Case(lambda scene, unit: [scene.deployment(unit, 20)], from_sibling=False),
    "others-gangs": Case(
        lambda scene, unit: scene.gang(unit, 8, times=2) + scene.gang(unit, 4),
        False,
        (0, 4, 8),
    ),
}
POD_BY_POD: Final = [name for name, case in CASES.items() if not case.gangs]
GANGS: Final = [name for name, case in CASES.items() if case.gangs]
SEVERAL, POOL, LEAST = Whole("several"), Whole("pool"), Whole("least")
X: Final = "least-guests/x"
EXACT, SLACK, LIGHT = Small("exact"), Small("slack"), Small("light")
KEPT, LENT, FAT = "fat-near/kept", "fat-near/lent", "fat-far/owner"
FIRST, SECOND, STRANGER = "strangers-home/first", "strangers-home/second", "strangers-away/guest"
SPARE, STUBBORN, MEEK = Small("spare"), Small("stubborn"), Small("meek")
STAYS: Final = {"volcano.sh/preemptable": "false"}


def borrower(name: str) -> str:
    """Who has what vision wants."""
    return Whole(name).nlp if CASES[name].from_sibling else Whole(name).search


def fat() -> Tree:
    """Two teams with a quota of 4, of which one reserves them, and a team of another department with 8."""
    return {
        "fat-near": {
            **numbers("fat", 4, 8, 16),
            "teams": {"kept": numbers("fat", 4, 4, 8), "lent": numbers("fat", 0, 4, 8)},
        },
        "fat-far": {**numbers("fat", 0, 8, 16), "teams": {"owner": numbers("fat", 0, 8, 16)}},
    }


def walled(name: str, quota: int) -> Tree:
    """A department whose limit is its quota, which one of its two teams with half of it each can use up alone; and a
    team of another department that has a quota of 2 and may use 8."""
    half = numbers(name, 0, quota // 2, quota)
    return {
        f"{name}-home": {**numbers(name, 0, quota, quota), "teams": {"first": half, "second": half}},
        f"{name}-away": {**numbers(name, 0, 2, 8), "teams": {"guest": numbers(name, 0, 2, 8)}},
    }


def organization(cluster: Cluster) -> Compiled:
    """Every copy."""
    guests = {"guests": {**numbers("least", 0, 0, 20), "teams": {"x": numbers("least", 0, 0, 20)}}}
    wholes = [*map(Whole, CASES), SEVERAL]
    flavors = {
        **{copy.flavor: flavor(4) for copy in (*wholes, POOL, LEAST)},
        **{copy.flavor: flavor(1) for copy in (EXACT, SLACK, LIGHT, STUBBORN, MEEK)},
        "fat": flavor(2),
        "room": flavor(1),
        "spare": {**flavor(2), "spareNodes": 1},
        "strangers": flavor(2),
    }
    departments = [
        *map(whole, wholes),
        whole(POOL, nlp=4),
        whole(LEAST, nlp=4, **guests),
        small(EXACT, 2),
        small(SLACK, {"gpus": 2, "cpu": 32}),
        *(small(copy, 2) for copy in (LIGHT, SPARE, STUBBORN, MEEK)),
        fat(),
        walled("room", 4),
        walled("strangers", 8),
    ]
    return compiled(cluster, flavors, departments)


@dataclasses.dataclass(frozen=True, slots=True)
class Story:
    """What is seen of it."""

    scene: Scene
    names: dict[str, list[str]]
    """What the borrower of each case runs."""
    lent: dict[str, int]
    first: Watch
    """While owners ask; the one of SEVERAL for what it reserves."""
    back: dict[str, int]
    second: Watch
    """While the owner of SEVERAL asks for the rest of its quota."""
    after: dict[str, int]


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """All copies on empty nodes."""
    return volcano_jobs.opened(cluster, organization(cluster))


def lend(scene: Scene) -> dict[str, list[str]]:
    """Everything is lent. The names of what the borrower of each case runs."""
    names = {}
    for name, case in CASES.items():
        names[name] = case.lend(scene, borrower(name))
    bare = {
        **{Whole(name).search: 4 for name, case in CASES.items() if case.from_sibling},
        **{Whole(name).nlp: 8 for name, case in CASES.items() if not case.from_sibling},
        **{copy.guest: 8 for copy in (EXACT, SLACK, LIGHT)},
        **SEVERAL.holding(0, 16, 16),
        **POOL.holding(12, 0, 20),
        **LEAST.holding(12, 8, 8),
        X: 4,
        SPARE.guest: 16,
        "room-home/second": 4,
    }
    for unit, count in bare.items():
        scene.bare(unit, count)
    for unit, node in ((STRANGER, "strangers-0"), (SECOND, "strangers-1")):
        scene.bare(unit, 8, pod=on(node))
    for unit in (KEPT, LENT):
        scene.bare(unit, 4, requests={"nvidia.com/gpu": "1", "cpu": "16", "memory": "64Gi"})
    borrowed = {borrower(name): 24 if case.from_sibling else 20 for name, case in CASES.items()}
    reach(scene, {**borrowed, **bare, STRANGER: 8, SECOND: 8, KEPT: 4, LENT: 4})
    return names


@pytest.fixture(scope="module")
def story(scene: Scene) -> Story:
    """Everything is lent, and owners ask."""
    names = lend(scene)
    lent = scene.holders()
    with scene.watch() as first:
        for name in CASES:
            scene.gang(Whole(name).vision, 8)
            scene.gang(Whole(name).vision, 4)
        scene.gang(SEVERAL.vision, 1, times=4)
        scene.gang(POOL.nlp, 8)
        scene.gang(LEAST.search, 1, times=4)
        for copy in (EXACT, SLACK):
            scene.gang(copy.owner, 1, times=6)
        scene.gang(LIGHT.owner, 1, times=6, requests={"nvidia.com/gpu": "1", "cpu": "4", "memory": "32Gi"})
        scene.gang(FAT, 1, times=8)
        scene.gang("room-home/first", 1, times=2)
        scene.gang(SPARE.owner, 1, times=2)
        scene.gang(FIRST, 4, pod=on("strangers-0"))
        reach(scene, {Whole(name).vision: 12 for name in CASES} | {SEVERAL.vision: 4, POOL.nlp: 8, LEAST.search: 12})
    back = scene.holders()
    with scene.watch() as second:
        scene.gang(SEVERAL.vision, 8)
        reach(scene, {SEVERAL.vision: 12})
    return Story(scene, names, lent, first, back, second, scene.holders())


# Quota comes back.


@pytest.mark.parametrize("name", CASES)
def test_quota_comes_back(story: Story, name: str) -> None:
    """The owner has its 12 to the last GPU, and nobody ends below its own or is above it while another one asks."""
    held = (12, 16, 4) if CASES[name].from_sibling else (12, 8, 12)
    units = Whole(name).holding(*held)
    assert {unit: story.back[unit] for unit in units} == units


@pytest.mark.parametrize("name", CASES)
def test_only_who_borrows_is_evicted(story: Story, name: str) -> None:
    """Teams that have no more than their own lose nothing at any moment."""
    units = set(Whole(name).holding(1, 1, 1)) - {borrower(name)}
    assert {unit: story.first.killed(unit) for unit in units} == dict.fromkeys(units, 0)


@pytest.mark.parametrize("name", POD_BY_POD)
def test_about_as_many_pods_are_lost_as_come_back(story: Story, name: str) -> None:
    """Of single pods, of a Deployment and of an elastic job without a restart policy nobody ends but who is evicted: 8
    pods for 8 GPUs, and a few more where pods that were made again are bound before the gang is. The borrower never
    has less than its own."""
    unit, quota = borrower(name), 8 if CASES[name].from_sibling else 12
    assert 8 <= story.first.evicted(unit) <= 16
    assert story.first.killed(unit) == story.first.evicted(unit)
    assert quota <= story.first.lowest(unit) <= story.back[unit]


@pytest.mark.parametrize("name", GANGS)
def test_gangs_lose_more_than_comes_back(story: Story, name: str) -> None:
    """Evictions hit several gangs, and each restarts as a whole: 8 to 24 pods end for 8 GPUs, so that the borrower may
    hold nothing for a moment. In the end no gang is there in part.

    Fewer than 8 of them are evicted where the controller ends the rest of a gang before the scheduler comes to it.
    """
    unit, case = borrower(name), CASES[name]
    assert 1 <= story.first.evicted(unit) <= 16
    assert 8 <= story.first.killed(unit) <= 24
    assert story.first.lowest(unit) <= story.back[unit]
    assert sorted(story.scene.bound(each) for each in story.names[name]) == list(case.gangs)


def test_several_borrowers_give_back_and_keep_their_own(story: Story) -> None:
    """With 16 each lent to two teams, what is evicted for 12 GPUs is 12 pods of both, down to their quotas."""
    assert story.after[SEVERAL.vision] == 12
    assert {unit: story.after[unit] for unit in (SEVERAL.nlp, SEVERAL.search)} == {SEVERAL.nlp: 8, SEVERAL.search: 12}
    evicted = [each.evicted(unit) for each in (story.first, story.second) for unit in (SEVERAL.nlp, SEVERAL.search)]
    assert sum(evicted) == 12


def test_a_departments_pool_comes_back_to_its_teams(story: Story) -> None:
    """A team with a quota of 4 gets a gang of 8 in: the other 4 are its department's, which nobody of it uses."""
    assert {unit: story.back[unit] for unit in POOL.holding(1, 1, 1)} == POOL.holding(12, 8, 12)
    assert (story.first.evicted(POOL.search), story.first.evicted(POOL.vision)) == (8, 0)


def test_a_department_at_its_quota_keeps_its_pool(story: Story) -> None:
    """A team that uses its department's pool keeps it while another department takes its quota back: only who has no
    quota at all pays."""
    assert {unit: story.back.get(unit, 0) for unit in (LEAST.nlp, LEAST.search, X)} == {
        LEAST.nlp: 8,
        LEAST.search: 12,
        X: 0,
    }
    assert (story.first.evicted(X), story.first.killed(LEAST.nlp)) == (4, 0)


def test_nobody_is_evicted_below_a_reserve(story: Story) -> None:
    """Two teams hold their 4 GPUs with twice the cpu of their quota: the one is evicted until its cpu is its own, the
    other, which reserves 4, loses nothing, though an owner then gets 4 of its 8 GPUs only."""
    assert {unit: story.back[unit] for unit in (KEPT, LENT, FAT)} == {KEPT: 4, LENT: 2, FAT: 4}
    assert (story.first.lowest(KEPT), story.first.evicted(LENT)) == (4, 2)


def test_spare_nodes_are_lent_and_come_back(story: Story) -> None:
    """Of two nodes one is spare, so 8 GPUs are promised; who may borrow holds 16, and gives an owner its 2 back."""
    assert story.lent[SPARE.guest] == 16
    assert {unit: story.back[unit] for unit in (SPARE.owner, SPARE.guest)} == {SPARE.owner: 2, SPARE.guest: 14}
    assert story.first.evicted(SPARE.guest) == 2


# What Volcano does not keep.


def test_two_borrowers_together_lend_out_a_reserve(story: Story) -> None:
    """They hold all 32 GPUs, also the 4 that vision reserves: it has them back by evicting as many pods. From then on
    it never has less, whoever else is evicted."""
    assert story.lent[SEVERAL.nlp] + story.lent[SEVERAL.search] == 32
    assert story.first.evicted(SEVERAL.nlp) + story.first.evicted(SEVERAL.search) == 4
    assert story.back[SEVERAL.vision] == story.second.lowest(SEVERAL.vision) == 4


def test_a_team_with_cpu_to_spare_takes_more_gpus_than_its_quota(story: Story) -> None:
    """Of teams with a quota of 2 GPUs the one that has 16 cpu beside them takes 2 back; with 32 cpu it takes 4, and so
    it does with pods that ask for half the cpu."""
    assert {copy: (story.back[copy.owner], story.back[copy.guest]) for copy in (EXACT, SLACK, LIGHT)} == {
        EXACT: (2, 6),
        SLACK: (4, 4),
        LIGHT: (4, 4),
    }


def test_a_department_at_its_limit_gives_its_team_nothing_back(story: Story) -> None:
    """Where a node has room for it, Volcano evicts nobody for a pod, and then does not place it there since its
    department is at its limit: a team has none of its quota of 2, its sibling keeps 4 of 2."""
    assert {unit: story.after.get(unit, 0) for unit in ("room-home/first", "room-home/second")} == {
        "room-home/first": 0,
        "room-home/second": 4,
    }
    assert story.first.evicted("room-home/second") + story.second.evicted("room-home/second") == 0


def test_a_department_at_its_limit_evicts_strangers_for_nothing(story: Story) -> None:
    """Pods of another department that borrows are evicted for a team whose own department is at its limit: the team
    gets nothing, since its sibling runs elsewhere, and their GPUs are idle from then on."""
    held = {unit: story.after.get(unit, 0) for unit in (FIRST, SECOND, STRANGER)}
    assert held == {FIRST: 0, SECOND: 8, STRANGER: 4}
    assert (story.first.evicted(STRANGER), story.first.evicted(SECOND)) == (4, 0)


def test_without_our_policy_an_annotation_keeps_what_was_lent(scene: Scene) -> None:
    """A pod that says `volcano.sh/preemptable: "false"` is never evicted, and one whose priority class never preempts
    evicts nobody: owners get nothing. The policies refuse both."""
    client = scene.cluster.client
    never = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "never"}}
    client.create({**never, "value": 1, "preemptionPolicy": "Never"})
    bound = [item for item in scene.made.objects if "AdmissionPolicy" not in item["kind"]]
    scene.change(dataclasses.replace(scene.made, objects=tuple(bound)))
    scene.wait(lambda: _lets_through(scene), "the policies are forgotten", PATIENCE)
    scene.gang(STUBBORN.guest, 8, minimum=1, annotations=STAYS)
    scene.bare(MEEK.guest, 8)
    reach(scene, {STUBBORN.guest: 8, MEEK.guest: 8})
    scene.gang(STUBBORN.owner, 1, times=2)
    scene.gang(MEEK.owner, 1, times=2, priority="never")
    scene.settle()
    held = {unit: scene.held(unit) for copy in (STUBBORN, MEEK) for unit in (copy.owner, copy.guest)}
    client.delete(client.path(never))
    assert held == {STUBBORN.owner: 0, STUBBORN.guest: 8, MEEK.owner: 0, MEEK.guest: 8}


def _lets_through(scene: Scene) -> bool:
    """Whether the API server takes a pod that is never to be evicted: it reads policies from a cache."""
    metadata = {"name": "probe", "namespace": scene.namespace(STUBBORN.guest).name, "annotations": STAYS}
    spec = {"containers": [{"name": "main", "image": "none"}]}
    try:
        scene.cluster.client.create(
            {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}, dry_run=True
        )
    except Refused:
        return False
    return True
