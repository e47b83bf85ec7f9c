"""Shares of GPUs under a batch scheduler: owned, lent, taken back and placed like whole ones."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.cluster import deploy, jobs, volcano_jobs
from tests.cluster.client import Refused
from tests.cluster.jobs import EXCESS, Scene
from tests.cluster.plane import Cluster

KUEUE, VOLCANO = pytest.mark.kueue("0.19"), pytest.mark.volcano("1.15")
SHARE: Final = "nvidia.com/gpu.shared"
VISION, NLP = "lab/vision", "lab/nlp"
SHARES: Final = 2 * 2 * 4
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "shares",
    "clusters": {"main": {"gpuOperator": {"installed": False}}},
    "flavors": {
        "l4": {
            "gpu": "L4",
            "nodes": 2,
            "node": {"gpus": 2, "cpu": 34, "memory": "132Gi"},
            "daemons": {"cpu": 2, "memory": "4Gi"},
            "sharing": {"timeSlicing": 4},
        },
    },
    "departments": {
        "lab": {
            "budget": {"l4": SHARES},
            "teams": {
                "vision": {"budget": {"l4": {"reserved": 2, "quota": 10}}},
                "nlp": {"budget": {"l4": 6}},
            },
        }
    },
}
"""Two nodes of two GPUs in four shares each."""


@pytest.fixture(scope="module")
def kueue(cluster: Cluster) -> Scene:
    """Two teams, once the policy is obeyed."""
    found = jobs.opened(cluster, deploy.compiled_for(cluster, TREE))
    found.wait(lambda: "handed out in shares" in _refusal(found), "several shares are refused")
    return found


def _refusal(scene: Scene) -> str:
    """What the API server would say to a pod of two shares; empty where it would let it in."""
    resources = {"requests": {SHARE: "2"}, "limits": {SHARE: "2"}}
    spec = {"containers": [{"name": "main", "image": "none", "resources": resources}]}
    metadata = {"name": "asked", "namespace": scene.namespace(VISION).name}
    item = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    try:
        scene.cluster.client.create(item, dry_run=True)
    except Refused as refused:
        return refused.message
    return ""


@KUEUE
def test_kueue_lends_shares_and_brings_them_back(kueue: Scene) -> None:
    """All but those that are reserved are lent while they are idle, and go back to their owner on demand; nodes hold
    as many pods as they have shares."""
    kueue.clear()
    kueue.submit(NLP, times=SHARES - 2 + EXCESS, flavor="l4")
    kueue.expect({NLP: SHARES - 2})
    kueue.submit(VISION, times=10 + EXCESS, flavor="l4")
    kueue.expect({VISION: 10, NLP: 6})
    hosts = kueue.running(VISION, 10) + kueue.running(NLP, 6)
    assert {host: hosts.count(host) for host in hosts} == {"l4-0": 8, "l4-1": 8}


@KUEUE
def test_a_job_of_several_shares_never_becomes_a_workload(kueue: Scene) -> None:
    """The API server refuses it before it could hold quota that its pods would never use."""
    kueue.clear()
    with pytest.raises(Refused, match="handed out in shares"):
        kueue.submit(VISION, 2, flavor="l4")
    assert kueue.workloads() == []


@VOLCANO
def test_volcano_lends_shares_and_brings_them_back(cluster: Cluster) -> None:
    """One borrower leaves what is reserved, and its pods go when the owner asks for all of its own."""
    volcano = volcano_jobs.opened(cluster, deploy.compiled_for(cluster, TREE))
    volcano.bare(NLP, SHARES + EXCESS, flavor="l4")
    volcano.expect({NLP: SHARES - 2})
    volcano.bare(VISION, 10, flavor="l4")
    volcano.expect({VISION: 10, NLP: 6})
