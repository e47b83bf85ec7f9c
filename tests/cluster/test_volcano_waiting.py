"""What Volcano says to a job that waits, against what `tenancy explain` says that it will say."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tenancy.backend.volcano.waiting import verdict
from tenancy.backend.waiting import Cause, Request
from tests.cluster import deploy, volcano_jobs
from tests.cluster.plane import Cluster
from tests.cluster.volcano_jobs import Scene

pytestmark = pytest.mark.volcano("1.15")

GPU: Final = "nvidia.com/gpu"
ASKER, OTHER = "told/asker", "told/other"
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {}},
    "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": {"gpus": 8, "cpu": 66, "memory": "516Gi"}}},
    "departments": {
        "told": {
            "budget": {"h100": 16},
            "teams": {
                "asker": {"budget": {"h100": 8}},
                "other": {"budget": {"h100": {"reserved": 2, "quota": 8}}},
            },
        }
    },
}


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """Two teams that own half of sixteen GPUs each; one of them keeps two for itself."""
    return volcano_jobs.opened(cluster, deploy.compiled_for(cluster, TREE))


@pytest.mark.parametrize(
    ("gpus", "pods", "cause"), [(1, 15, "capacity"), (9, 1, "nodes")], ids=["above the limit", "no such node"]
)
def test_a_job_that_never_runs_is_told_what_explain_says(scene: Scene, gpus: int, pods: int, cause: Cause) -> None:
    """Its pods are made and stay pending, however idle the cluster is."""
    scene.clear()
    sizes = scene.flavor().follows[GPU]
    pod = {GPU: gpus, **{name: count * gpus for name, count in sizes.items()}}
    found = verdict(scene.made.plan, scene.queue(ASKER).name, Request(pod=pod, pods=pods))
    assert (found.outcome, found.cause) == ("never", cause)
    scene.gang(ASKER, pods, gpus, queue=found.queue)
    told = f"it is told: {found.message}"
    scene.wait(lambda: any(found.message in said for said in scene.why(ASKER)), told)
    scene.expect({})
    assert len(scene.pods(ASKER)) == pods


def test_a_job_of_all_that_is_in_reach_runs(scene: Scene) -> None:
    """To the last GPU that the other team does not reserve, in the queue that explain names."""
    scene.clear()
    sizes = scene.flavor().follows[GPU]
    found = verdict(scene.made.plan, scene.queue(ASKER).name, Request(pod={GPU: 1, **sizes}, pods=14))
    assert (found.outcome, found.flavor) == ("borrows", "h100")
    scene.gang(ASKER, 14, queue=found.queue)
    scene.expect({ASKER: 14})


def test_a_job_that_waits_for_its_own_team_is_told_what_explain_says(scene: Scene) -> None:
    """While what the team may use is in use, a job that could run says so."""
    scene.clear()
    sizes = scene.flavor().follows[GPU]
    found = verdict(scene.made.plan, scene.queue(ASKER).name, Request(pod={GPU: 1, **sizes}, pods=4))
    assert found.runs
    scene.gang(ASKER, 14)
    scene.expect({ASKER: 14})
    scene.gang(ASKER, 4)
    told = f"it is told: {found.waits}"
    scene.wait(lambda: any(found.waits in said for said in scene.why(ASKER)), told)
