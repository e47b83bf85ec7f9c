"""GPUs in shares: budgets and nodes count shares, and a container that asks for several is refused at once."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tenancy.backend.native.waiting import verdict
from tenancy.backend.shared.shares import SHARES
from tenancy.backend.waiting import Request
from tests.cluster import deploy, native_jobs
from tests.cluster.client import Object, Refused
from tests.cluster.native_jobs import Scene
from tests.cluster.plane import Cluster

pytestmark = pytest.mark.native

SHARE, SLICE, WHOLE = "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb.shared", "nvidia.com/gpu"
VISION, NLP = "lab/vision", "lab/nlp"
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "shares",
    "clusters": {"main": {"gpuOperator": {"installed": False}}},
    "flavors": {
        "l4": {"gpu": "L4", "nodes": 1, "node": {"gpus": 2, "cpu": 34, "memory": "132Gi"}, "sharing": {"mps": 4}},
        "a100": {
            "gpu": "A100-SXM4-80GB",
            "nodes": 1,
            "node": {"gpus": 1, "cpu": 34, "memory": "132Gi"},
            "mig": {"3g.40gb": 1, "1g.10gb": 4},
            "sharing": {"timeSlicing": 2},
        },
    },
    "departments": {
        "lab": {
            "budget": {"l4": 8, "a100": {"1g.10gb": 8}},
            "teams": {"vision": {"budget": {"l4": 6}}, "nlp": {"budget": {"l4": 2, "a100": {"1g.10gb": 8}}}},
        }
    },
}
SMALL: Final = {"cpu": "1", "memory": "1Gi"}
REFUSED: Final = "These GPUs are handed out in shares: let each container ask for one"


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """Two GPUs in four shares each and a divided one in two shares each, once the policy is obeyed."""
    found = native_jobs.opened(cluster, deploy.compiled_for(cluster, TREE))
    found.wait(lambda: REFUSED in found.refusal(VISION, shares(2)), "several shares are refused")
    return found


def shares(count: int, resource: str = SHARE) -> dict[str, str]:
    """A container with so many shares and little else."""
    return {resource: str(count), **SMALL}


def container(name: str, count: int) -> Object:
    """A container with so many shares of an L4."""
    return {"name": name, "image": "none", "resources": {"requests": shares(count), "limits": {SHARE: str(count)}}}


def test_a_team_runs_as_many_pods_as_it_owns_shares(scene: Scene) -> None:
    """All eight shares of two GPUs, to the last one of each team; whole GPUs have no quota."""
    scene.clear()
    for unit, count in ((VISION, 6), (NLP, 2)):
        for _ in range(count):
            scene.pod(unit, shares(1))
        scene.running(unit, count)
        assert f"exceeded quota: tenancy-compute, requested: requests.{SHARE}=1" in scene.refusal(unit, shares(1))
    assert "exceeded quota: tenancy-compute" in scene.refusal(VISION, {WHOLE: "1", **SMALL})


def test_slices_are_shared_too(scene: Scene) -> None:
    """Four slices of one profile in two shares each hold eight pods."""
    scene.clear()
    for _ in range(8):
        scene.pod(NLP, shares(1, SLICE))
    assert scene.running(NLP, 8) == ["a100-0"] * 8


@pytest.mark.parametrize("resource", [SHARE, SLICE])
def test_several_shares_are_refused_as_explain_says(scene: Scene, resource: str) -> None:
    """The answer that `tenancy explain` predicts begins what the API server says to a pod and to a Job."""
    found = verdict(scene.made.plan, scene.queue(NLP).name, Request(pod={resource: 2, "cpu": 1000}))
    assert (found.outcome, found.cause) == ("never", "shares")
    assert found.message in scene.refusal(NLP, shares(2, resource))
    with pytest.raises(Refused, match=found.message):
        scene.job(NLP, 1, shares(2, resource))


def test_each_container_may_have_a_share(scene: Scene) -> None:
    """The device plugin looks at one container at a time; init containers are some of them."""
    scene.clear()
    scene.pod(VISION, containers=[container("one", 1), container("other", 1)], initContainers=[container("first", 1)])
    scene.running(VISION, 1)
    assert scene.holders(SHARE) == {VISION: 2}
    assert REFUSED in scene.refusal(VISION, shares(1), initContainers=[container("first", 2)])
    assert scene.refusal(VISION, shares(0)) == ""


def test_the_api_server_finds_no_type_error_in_the_policy(scene: Scene) -> None:
    """It checks the expressions against every kind that the policy matches."""
    assert deploy.policies_checked(scene.cluster)[SHARES] == {}
