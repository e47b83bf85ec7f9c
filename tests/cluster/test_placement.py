"""The nodes behind the numbers: DaemonSets, spare nodes, and free GPUs that lie in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from click.testing import CliRunner

from tenancy.cli import main
from tests.cluster import deploy, jobs, nodes
from tests.cluster.client import Refused
from tests.cluster.jobs import Scene
from tests.cluster.plane import Cluster
from tests.cluster.scene import PATIENCE

Tree = dict[str, Any]

NODE: Final[Tree] = {"gpu": "H100-SXM-80GB", "node": {"gpus": 8, "cpu": 66, "memory": "516Gi"}}
"""DaemonSets have 2 cpu and 4Gi of it, as where a flavor does not say: 8 cpu and 64Gi are left to each GPU."""


def org(flavor: Tree, department: str, quota: int, teams: Tree) -> Tree:
    """An organization of one department with nodes of 8 GPUs, and the GPUs of each team."""
    units = {name: {"budget": {"h100": budget}} for name, budget in teams.items()}
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {}},
        "flavors": {"h100": {**NODE, **flavor}},
        "departments": {department: {"budget": {"h100": quota}, "teams": units}},
    }


def opened(cluster: Cluster, tree: Tree, counts: dict[str, int] | None = None) -> Scene:
    """An organization at work, on all of its nodes or on as many as `counts` says."""
    made = deploy.compiled_for(cluster, tree)
    return jobs.opened(cluster, made, counts)


# What nodes carry besides jobs, and the loss of one.

ANTS, BEES = "lean/ants", "lean/bees"


@pytest.fixture(scope="module")
def lean(cluster: Cluster) -> Scene:
    """Three nodes of which one is spare, and lost; the two others are promised to two teams."""
    tree = org({"nodes": 3, "spareNodes": 1}, "lean", 16, {"ants": 8, "bees": 8})
    return opened(cluster, tree, {"h100": 2})


@pytest.fixture
def thirsty(lean: Scene) -> Iterator[Scene]:
    """The same with a DaemonSet that takes 1 cpu of each node more than the flavor says."""
    lean.clear()
    pods = [nodes.daemon(lean.cluster, f"h100-{index}", {"cpu": "1"}, "thirsty") for index in range(2)]
    yield lean
    for path in pods:
        lean.cluster.client.delete(path, gracePeriodSeconds="0")


def test_a_spare_node_may_be_lost(lean: Scene) -> None:
    """With as many nodes lost as are spare, all owners reach their whole quota at once, to the last GPU of a node."""
    lean.clear()
    for unit in (ANTS, BEES):
        lean.submit(unit, 1, times=8)
    lean.expect({ANTS: 8, BEES: 8})
    hosts = lean.running(ANTS, 8) + lean.running(BEES, 8)
    assert sorted(hosts) == ["h100-0"] * 8 + ["h100-1"] * 8
    assert lean.evictions() == 0


def test_daemons_cost_no_gpu(lean: Scene) -> None:
    """A pod of 8 GPUs with the cpu and memory that go with them finds a node on which a DaemonSet runs."""
    lean.clear()
    for unit in (ANTS, BEES):
        lean.submit(unit, 8)
    lean.expect({ANTS: 8, BEES: 8})
    assert sorted(lean.running(ANTS, 1) + lean.running(BEES, 1)) == ["h100-0", "h100-1"]


def test_daemons_larger_than_said_cost_gpus(thirsty: Scene) -> None:
    """Where DaemonSets use more than `daemons` says, each node loses a GPU to small jobs and all to whole-node jobs."""
    thirsty.submit(BEES, 8)
    thirsty.told(
        BEES, 'topology "h100" doesn\'t allow to fit any of 1 pod(s). Total nodes: 2; excluded: resource "cpu": 2'
    )
    thirsty.submit(ANTS, 1, times=16)
    thirsty.expect({ANTS: 14})
    assert thirsty.running(ANTS, 14) == ["h100-0"] * 7 + ["h100-1"] * 7


# Whole nodes where others run small jobs.

OPS, ADS, NLP = "holes/ops", "holes/ads", "holes/nlp"
HOLES: Final = org(
    {"nodes": 4},
    "holes",
    24,
    {
        "ops": {"reserved": 8, "quota": 8, "limit": 20},
        "ads": {"quota": 12, "limit": 12},
        "nlp": {"quota": 4, "limit": 24},
    },
)


@pytest.fixture(scope="module")
def holes(cluster: Cluster) -> Scene:
    """Four nodes: `ops` reserves as much as one has, `ads` uses its own, `nlp` lives on what it borrows."""
    return opened(cluster, HOLES)


def punch(scene: Scene, *small: str) -> dict[str, list[str]]:
    """Leave 5 free GPUs on each of the four nodes, beside a pod of 3 GPUs of each of `small`; the jobs of each.

    A gang of `ops`, one pod of 5 GPUs to a node because two would not fit, leaves room for one such pod, and ends.
    """
    gang = scene.submit(OPS, 5, pods=4)
    scene.wait(lambda: scene.held(OPS) == 20, "the gang is in", PATIENCE)
    asked: dict[str, list[str]] = {}
    for unit in small:
        asked.setdefault(unit, []).extend(scene.submit(unit, 3))
    hosts = [host for unit, names in asked.items() for host in scene.running(unit, len(names))]
    assert sorted(hosts) == ["h100-0", "h100-1", "h100-2", "h100-3"]
    scene.finish(OPS, gang)
    scene.expect({unit: 3 * len(names) for unit, names in asked.items()})
    return asked


def predicted(tree: Tree, folder: Path, unit: str, gpus: int) -> str:
    """What `tenancy explain` says that a pod reads which finds no node."""
    (folder / "org.yaml").write_text(yaml.safe_dump(tree), encoding="utf-8")
    result = CliRunner().invoke(main, ["explain", unit, str(folder), "--gpus", str(gpus), "--format", "json"])
    assert result.exit_code == 0, result.output
    message: str = json.loads(result.stdout)["clusters"][0]["job"]["fragmented"]
    assert "doesn't allow to fit any" in message
    return message


def test_packed_jobs_leave_the_reserve_whole(holes: Scene) -> None:
    """Where jobs arrived and none left, what is reserved is free at once as one pod of a whole node."""
    holes.clear()
    holes.submit(ADS, 2, times=6)
    holes.submit(NLP, 2, times=8)
    holes.expect({ADS: 12, NLP: 12})
    holes.submit(OPS, 8)
    holes.expect({ADS: 12, NLP: 12, OPS: 8})
    assert len(holes.running(OPS, 1)) == 1
    assert holes.evictions() == 0


def test_owners_are_never_evicted_for_place(holes: Scene, tmp_path: Path) -> None:
    """Where owners' pods lie on every node, a pod of a whole node waits, with the words that `explain` says, for an end
    of one of them, whatever is reserved for it."""
    holes.clear()
    asked = punch(holes, ADS, ADS, ADS, ADS)
    holes.submit(OPS, 8)
    holes.told(OPS, predicted(HOLES, tmp_path, OPS, 8))
    holes.expect({ADS: 12})
    holes.finish(ADS, asked[ADS][:1])
    holes.expect({ADS: 9, OPS: 8})
    assert holes.evictions() == 0


def test_borrowers_are_evicted_for_place(holes: Scene) -> None:
    """Where borrowers alone stand on a node, they are evicted to make place for an owner's pod of a whole node."""
    holes.clear()
    punch(holes, ADS, ADS, NLP, NLP)
    lent, owned = set(holes.hosts(NLP)), holes.hosts(ADS)
    holes.submit(OPS, 8)
    holes.wait(lambda: holes.held(OPS) == 8, "the owner's pod is in", PATIENCE)
    holes.expect({OPS: 8, ADS: 6, NLP: 6})
    assert set(holes.running(OPS, 1)) < lent
    assert holes.hosts(ADS) == owned
    assert len(holes.running(NLP, 2)) == 2
    assert (holes.evictions(NLP), holes.evictions(ADS), holes.evictions(OPS)) == (1, 0, 0)


# Flavors that are given out in whole nodes.

FIRST, SECOND, THIRD = "whole/first", "whole/second", "whole/third"


@pytest.fixture(scope="module")
def whole(cluster: Cluster) -> Scene:
    """Three nodes, one for each of three teams; the first team's is never lent."""
    teams = {"first": {"reserved": 8, "quota": 8}, "second": 8, "third": 8}
    return opened(cluster, org({"nodes": 3, "wholeNodes": True}, "whole", 24, teams))


def test_whole_nodes_come_back(whole: Scene) -> None:
    """On a flavor of whole nodes a reserved node is free at once, and a lent one comes back for one eviction."""
    whole.clear()
    whole.submit(SECOND, 8, times=3)
    whole.expect({SECOND: 16})
    whole.submit(FIRST, 8)
    whole.expect({SECOND: 16, FIRST: 8})
    assert whole.evictions() == 0
    whole.submit(THIRD, 8)
    whole.expect({SECOND: 8, FIRST: 8, THIRD: 8})
    hosts = [host for unit in (FIRST, SECOND, THIRD) for host in whole.running(unit, 1)]
    assert sorted(hosts) == ["h100-0", "h100-1", "h100-2"]
    assert (whole.evictions(SECOND), whole.evictions()) == (1, 1)


def test_parts_of_nodes_are_refused(whole: Scene) -> None:
    """A job that asks for a part of a node is refused when it is made, and told what to ask for."""
    whole.clear()
    whole.submit(FIRST, 8)
    whole.expect({FIRST: 8})
    with pytest.raises(Refused, match=r"in whole nodes: let each pod ask for 8 nvidia.com/gpu, or for none"):
        whole.submit(FIRST, 4)
