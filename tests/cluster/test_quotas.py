"""The three numbers of a budget on the real scheduler: what is reserved, what is one's own, and how far one may go.

Four nodes of eight GPUs of which one is spare: 24 GPUs are promised. Jobs of two GPUs fill nodes without a rest, and
every number that they are measured with is even.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.cluster import deploy, jobs
from tests.cluster.deploy import Compiled
from tests.cluster.jobs import EXCESS, Scene
from tests.cluster.plane import Cluster
from tests.cluster.scene import PATIENCE

pytestmark = pytest.mark.kueue("0.19", "0.17")

Tree = dict[str, Any]

PROMISED: Final = 24
FLAVORS: Final[Tree] = {
    "h100": {
        "gpu": "H100-SXM-80GB",
        "nodes": 4,
        "spareNodes": 1,
        "node": {"gpus": 8, "cpu": 66, "memory": "516Gi"},
        "daemons": {"cpu": 2, "memory": "4Gi"},
        "taint": "gpu.acme.example/reserved=training:NoSchedule",
    }
}

NUMBERS: Final[Tree] = {
    "research": {
        "budget": {"h100": {"reserved": 6, "quota": 14, "limit": 20}},
        "teams": {
            "vision": {"budget": {"h100": {"reserved": 4, "quota": 8, "limit": 12}}},
            "nlp": {"budget": {"h100": {"quota": 4, "limit": 16}}},
        },
    },
    "product": {
        "budget": {"h100": 8},
        "teams": {"ads": {"budget": {"h100": {"quota": 6, "limit": 18}}}, "search": {"budget": {"h100": 2}}},
    },
}
"""research keeps 2 GPUs of its quota for its teams together, and reserves 2 more than vision does; 2 are nobody's."""

REACH: Final[Tree] = {
    "physics": {
        "budget": {"h100": 12},
        "teams": {
            "alone": {"budget": {"h100": 4}, "policy": {"borrowing": "none"}},
            "home": {"budget": {"h100": 4}, "policy": {"borrowing": "department"}},
            "away": {"budget": {"h100": 4}, "policy": {"borrowing": "organization"}},
        },
    },
    "biology": {"budget": {"h100": 6}, "teams": {"cells": {"budget": {"h100": 6}}}},
}

WEIGHTS: Final[Tree] = {
    "heavy": {
        "weight": 2,
        "budget": {"h100": 4},
        "teams": {"first": {"weight": 2, "budget": {"h100": 2}}, "second": {"weight": 1, "budget": {"h100": 2}}},
    },
    "light": {"weight": 1, "budget": {"h100": 2}, "teams": {"only": {"budget": {"h100": 2}}}},
}
"""18 GPUs are nobody's: 12 for heavy and 6 for light, of the 12 then 8 and 4."""

PROJECTS: Final[Tree] = {
    "platform": {
        "budget": {"h100": 12},
        "teams": {
            "models": {
                "budget": {"h100": {"reserved": 4, "quota": 12, "limit": 16}},
                "projects": {
                    "train": {"budget": {"h100": {"reserved": 4, "quota": 6, "limit": 10}}},
                    "demo": {},
                    "papers": {},
                },
            }
        },
    },
    "visitors": {"teams": {"guests": {}}},
}


def shares(large: int, small: int) -> Tree:
    """18 of 24 GPUs are split by these weights."""
    return {
        "labs": {
            "budget": {"h100": 24},
            "teams": {
                "large": {"weight": large, "budget": {"h100": "share"}},
                "small": {"weight": small, "budget": {"h100": "share"}},
                "fixed": {"budget": {"h100": 6}},
            },
        }
    }


FOLLOWERS: Final[Tree] = {
    "tools": {
        "budget": {"h100": 16},
        "policy": {"borrowing": "none"},
        "teams": {
            "slim": {"budget": {"h100": {"gpus": 8, "cpu": 40}}},
            "lean": {"budget": {"h100": {"gpus": 8, "memory": "192Gi"}}},
        },
    }
}


def compiled(cluster: Cluster, departments: Tree, **changes: Tree) -> Compiled:
    """An organization of these departments, all default policies, for the versions that run."""
    tree: Tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "domain": "gpu.acme.example",
        "clusters": {"train": {}},
        "flavors": FLAVORS,
        "departments": departments,
        **changes,
    }
    return deploy.compiled_for(cluster, tree)


@pytest.fixture(scope="module")
def stage(cluster: Cluster) -> Scene:
    """Four nodes, and the organization that was last deployed on them."""
    return jobs.opened(cluster, compiled(cluster, NUMBERS))


def acted(stage: Scene, departments: Tree, **changes: Tree) -> Scene:
    """The stage without any work, and with these departments."""
    stage.clear()
    stage.change(compiled(stage.cluster, departments, **changes))
    return stage


def filled(scene: Scene, team: str, held: int, gpus: int = 2) -> None:
    """Jobs of a team, one more than may run, of which as many run as hold so many GPUs."""
    scene.submit(team, gpus, times=held // gpus + 1)
    others = {unit: count for unit, count in scene.holders().items() if unit != team}
    scene.expect({**others, team: held})


@pytest.mark.parametrize(("team", "limit"), [("research/vision", 12), ("research/nlp", 16), ("product/ads", 18)])
def test_a_limit_is_reached_and_never_passed(stage: Scene, team: str, limit: int) -> None:
    """A team that is alone on idle nodes and asks for more than its limit holds the limit, to the GPU."""
    scene = acted(stage, NUMBERS)
    scene.submit(team, times=limit + EXCESS)
    scene.expect({team: limit})
    assert len(scene.pending(team)) == EXCESS
    assert scene.evictions() == 0


def test_what_is_reserved_is_free_at_once(stage: Scene) -> None:
    """With all that may be lent out lent, a team gets what it has reserved, and nobody is evicted."""
    scene = acted(stage, NUMBERS)
    filled(scene, "product/ads", 18)
    scene.submit("research/vision", 2, times=2)
    scene.expect({"product/ads": 18, "research/vision": 4})
    assert scene.evictions() == 0


def test_what_a_department_reserves_is_free_for_its_teams_at_once(stage: Scene) -> None:
    """A team without a reserve gets what its department reserves beyond the teams' own, which stays theirs."""
    scene = acted(stage, NUMBERS)
    filled(scene, "product/ads", 18)
    scene.submit("research/nlp", 2)
    scene.expect({"product/ads": 18, "research/nlp": 2})
    scene.submit("research/vision", 2, times=2)
    scene.expect({"product/ads": 18, "research/nlp": 2, "research/vision": 4})
    assert scene.evictions() == 0


def test_every_owner_gets_its_quota_back(stage: Scene) -> None:
    """With all that may be lent lent to one team, each owner that asks for its quota holds it, and exactly the jobs
    that stood on it are evicted: those of the borrower, which stays above its own quota."""
    scene = acted(stage, NUMBERS)
    filled(scene, "product/ads", 18)
    scene.submit("research/vision", 2, times=4)
    scene.expect({"product/ads": 16, "research/vision": 8})
    scene.submit("research/nlp", 2, times=2)
    scene.expect({"product/ads": 12, "research/vision": 8, "research/nlp": 4})
    scene.submit("product/search", 2)
    scene.expect({"product/ads": 10, "research/vision": 8, "research/nlp": 4, "product/search": 2})
    assert scene.evictions() == scene.evictions("product/ads") == 4


def test_several_borrowers_give_back_and_keep_their_own(stage: Scene) -> None:
    """With everything lent to several teams, an owner holds its quota, no team is below its own, nothing is idle."""
    scene = acted(stage, NUMBERS)
    scene.submit("research/vision", 2, times=7)
    scene.submit("research/nlp", 2, times=7)
    scene.submit("product/search", 2, times=2)
    scene.expect({"research/vision": 8 + 4, "research/nlp": 4 + 4, "product/search": 2 + 2})
    scene.submit("product/ads", 2, times=3)
    own = {"product/ads": 6, "research/vision": 8, "research/nlp": 4, "product/search": 2}
    scene.rest(
        lambda held: held.get("product/ads") == 6 and sum(held.values()) == PROMISED and _reaches(held, own),
        f"{own} or more, and 6 of product/ads",
    )
    # How many are evicted is not said: while one borrower ends, Kueue may choose another one for the same job, who then
    # comes back.
    assert scene.evictions("product/ads") == 0


def _reaches(held: dict[str, int], own: dict[str, int]) -> bool:
    return all(held.get(unit, 0) >= count for unit, count in own.items())


def _all_is_held(scene: Scene) -> bool:
    return sum(scene.holders().values()) == PROMISED


def test_a_departments_limit_holds_over_its_teams_together(stage: Scene) -> None:
    """Two teams whose limits add up to more than their department's stop there, while GPUs lie idle."""
    scene = acted(stage, NUMBERS)
    filled(scene, "research/nlp", 16)
    scene.submit("research/vision", 2, times=7)
    scene.expect({"research/nlp": 8, "research/vision": 12})
    assert scene.pending("research/nlp")
    assert sum(scene.holders().values()) == 20 < PROMISED


def test_spare_nodes_are_never_promised(stage: Scene) -> None:
    """With everybody asking for everything, all but the spare node's GPUs are held: with that node in repair all of it
    has a place, and when it is back nothing more is let in."""
    scene = acted(stage, NUMBERS)
    name = scene.flavor().name
    spare = f"/api/v1/nodes/{name}-3"
    scene.cluster.client.patch(spare, {"spec": {"unschedulable": True}})
    try:
        for team in ("research/vision", "research/nlp", "product/ads", "product/search"):
            scene.submit(team, 4, times=PROMISED // 4)
        scene.wait(lambda: _all_is_held(scene), "all that is promised is held", PATIENCE)
        scene.settle()
        assert set(scene.running("", PROMISED // 4)) == {f"{name}-0", f"{name}-1", f"{name}-2"}
    finally:
        scene.cluster.client.patch(spare, {"spec": {"unschedulable": None}})
    scene.settle()
    assert _all_is_held(scene)


@pytest.mark.parametrize(("team", "reach"), [("physics/alone", 4), ("physics/home", 12), ("physics/away", PROMISED)])
def test_borrowing_reaches_as_far_as_the_policy_says(stage: Scene, team: str, reach: int) -> None:
    """Alone on idle nodes, `none` holds its quota, `department` the quota of its department, and `organization` all
    that is installed but the spare node."""
    scene = acted(stage, REACH)
    scene.submit(team, 2, times=PROMISED // 2 + 1)
    scene.expect({team: reach})
    assert scene.pending(team)


@pytest.mark.kueue("0.19")
def test_weights_divide_what_is_borrowed(stage: Scene) -> None:
    """Siblings that want more than there is borrow in proportion to their weights, departments first and the teams of
    each then, whoever came first; once it is so nobody is evicted any more."""
    scene = acted(stage, WEIGHTS)
    filled(scene, "light/only", PROMISED)
    scene.submit("heavy/second", 2, times=5)
    scene.submit("heavy/first", 2, times=7)
    divided = {"heavy/first": 2 + 8, "heavy/second": 2 + 4, "light/only": 2 + 6}
    scene.expect(divided)
    before = scene.evictions()
    scene.settle(quiet=8)
    assert scene.holders() == divided
    assert scene.evictions() == before


@pytest.mark.kueue("0.19")
def test_first_come_keeps_what_it_borrowed(stage: Scene) -> None:
    """Under `sharing: first-come` owners get their quota back and no more, whatever the weights: the rest stays with
    who had it."""
    scene = acted(stage, WEIGHTS, clusters={"train": {"sharing": "first-come"}})
    filled(scene, "light/only", PROMISED)
    scene.submit("heavy/second", 2, times=4)
    scene.submit("heavy/first", 2, times=4)
    scene.expect({"heavy/first": 2, "heavy/second": 2, "light/only": 20})
    assert scene.evictions() == scene.evictions("light/only") == 2


def test_a_project_has_a_budget_inside_its_team(stage: Scene) -> None:
    """A project with a budget gets what it reserves at once and its quota back from the team's other projects, which
    share one queue; the team's limit holds over all of them."""
    scene = acted(stage, PROJECTS)
    team, train = "platform/models", "platform/models/train"
    scene.submit(team, 2, times=4, project="demo")
    scene.expect({team: 8})
    scene.submit(team, 2, times=4, project="papers")
    scene.expect({team: 16 - 4})
    scene.submit(train, 2, times=2)
    scene.expect({team: 12, train: 4})
    assert scene.evictions() == 0
    scene.submit(train, 2)
    scene.expect({team: 10, train: 6})
    assert scene.evictions() == scene.evictions(team) == 1


def test_what_a_project_leaves_is_the_others_quota(stage: Scene) -> None:
    """With everything lent to others, a project and the projects without a budget get their parts of the team's quota
    back, the latter from one queue."""
    scene = acted(stage, PROJECTS)
    team, train = "platform/models", "platform/models/train"
    filled(scene, "visitors/guests", PROMISED - 4, 4)
    scene.submit(train, 2, times=3)
    scene.submit(team, 2, times=1, project="demo")
    scene.submit(team, 2, times=2, project="papers")
    scene.expect({train: 6, team: 6, "visitors/guests": 12})
    assert scene.evictions() == scene.evictions("visitors/guests") == 2


@pytest.mark.kueue("0.19")
def test_a_share_is_a_quota_like_any_other(stage: Scene) -> None:
    """Two teams that share, two to one, what a fixed quota leaves of 24 get 12 and 6 back when all is lent; once the
    weights are the other way round the second gets 12, and who is above its new quota gives them back."""
    scene = acted(stage, shares(2, 1))
    filled(scene, "labs/fixed", PROMISED, 4)
    scene.submit("labs/large", 4, times=3)
    scene.submit("labs/small", 2, times=3)
    scene.expect({"labs/large": 12, "labs/small": 6, "labs/fixed": 4})
    scene.change(compiled(scene.cluster, shares(1, 2)))
    scene.submit("labs/small", 2, times=3)
    scene.expect({"labs/large": 8, "labs/small": 12, "labs/fixed": 4})


@pytest.mark.kueue("0.19")
def test_cpu_and_memory_beside_gpus_bind_too(stage: Scene) -> None:
    """Of GPUs and an explicit cpu or memory the smaller one binds: jobs of 8 cpu and 64Gi for each GPU come to what 40
    cpu or 192Gi allow, and jobs that need less to the 8 GPUs."""
    scene = acted(stage, FOLLOWERS)
    for team in ("tools/slim", "tools/lean"):
        scene.submit(team, times=6)
    scene.expect({"tools/slim": 5, "tools/lean": 3})
    assert scene.held("tools/slim", "cpu") == 40_000
    assert scene.held("tools/lean", "memory") == 192 * 2**30
    scene.clear()
    for team in ("tools/slim", "tools/lean"):
        scene.submit(team, times=9, requests={"nvidia.com/gpu": "1", "cpu": "4", "memory": "16Gi"})
    scene.expect({"tools/slim": 8, "tools/lean": 8})
