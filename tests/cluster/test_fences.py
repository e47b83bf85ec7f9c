"""Who may use which nodes: GPU jobs find theirs, cpu jobs stay off fenced ones and overflow onto lent ones."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.cluster import deploy, jobs
from tests.cluster.client import Refused
from tests.cluster.jobs import EXCESS, Scene, usage
from tests.cluster.plane import Cluster

pytestmark = pytest.mark.kueue("0.19", "0.17")
NEWEST = pytest.mark.kueue("0.19")
"""For what does not depend on how Kueue treats taints and requests, which is where its minors differ."""

SMALL, LARGE = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
TAINT: Final = "tenancy.internal/reserved=training:NoSchedule"
EIGHTH: Final = {"cpu": "2", "memory": "8Gi"}


def org(name: str, **h100: str) -> dict[str, Any]:
    """Two H100 nodes, a MIG node and a CPU node; a department of two teams, `ml` with GPUs and `web` without."""
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {}},
        "flavors": {
            "h100": {
                "gpu": "H100-SXM-80GB",
                "nodes": 2,
                "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"},
                "taint": TAINT,
                **h100,
            },
            "mig": {
                "gpu": "A100-SXM4-80GB",
                "nodes": 1,
                "node": {"gpus": 8, "cpu": 128, "memory": "1000Gi"},
                "mig": {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2},
                "taint": "tenancy.internal/reserved=sliced:NoSchedule",
            },
            "cpu": {"nodes": 1, "node": {"cpu": 17, "memory": "68Gi"}, "daemons": {"cpu": 1, "memory": "4Gi"}},
        },
        "departments": {
            name: {
                "budget": {"h100": 8, "mig": {"1g.10gb": 8, "3g.40gb": 6}, "cpu": {"cpu": 16, "memory": "64Gi"}},
                "teams": {
                    "ml": {
                        "budget": {
                            "h100": 8,
                            "mig": {
                                "quota": {"1g.10gb": 4, "3g.40gb": 2},
                                "limit": {"1g.10gb": 6, "3g.40gb": 2},
                            },
                            "cpu": {"cpu": 4, "memory": "16Gi"},
                        }
                    },
                    "web": {"budget": {"cpu": {"cpu": 12, "memory": "48Gi"}}},
                },
            }
        },
    }


ML, WEB = "fenced/ml", "fenced/web"
GUEST, HOST = "lent/web", "lent/ml"


def opened(cluster: Cluster, tree: dict[str, Any]) -> Scene:
    """An organization at work."""
    made = deploy.compiled_for(cluster, tree)
    return jobs.opened(cluster, made)


@pytest.fixture(scope="module")
def fenced(cluster: Cluster) -> Scene:
    """Tainted GPU nodes keep cpu jobs out, as they do by default."""
    return opened(cluster, org("fenced"))


@pytest.fixture(scope="module")
def lent(cluster: Cluster) -> Scene:
    """The H100 nodes are open to cpu jobs."""
    return opened(cluster, org("lent", cpuJobs="lend"))


def kinds(hosts: list[str]) -> list[str]:
    """The flavors that nodes are of."""
    return [host.rpartition("-")[0] for host in hosts]


def cpu_jobs(scene: Scene, unit: str, times: int) -> None:
    """Jobs of an eighth of the CPU node, which say nothing of nodes."""
    scene.submit(unit, times=times, requests=EIGHTH)


def test_gpu_jobs_find_their_nodes(fenced: Scene) -> None:
    """A job that asks for GPUs or MIG slices, without selector or toleration, runs on the nodes of their flavor."""
    fenced.clear()
    fenced.submit(ML, 4, times=2)
    fenced.submit(ML, 2, flavor="mig", resource=LARGE)
    fenced.expect({ML: 10})
    assert kinds(fenced.running(ML, 3)) == ["h100", "h100", "mig"]


def test_cpu_jobs_stay_off_fenced_nodes(fenced: Scene) -> None:
    """Jobs without GPUs wait for the CPU nodes though GPU nodes are idle, and are told of the taint."""
    fenced.clear()
    cpu_jobs(fenced, WEB, 10)
    fenced.told(WEB, "untolerated taint {tenancy.internal/reserved training NoSchedule <nil>} in flavor h100")
    assert fenced.running(WEB, 8) == ["cpu-0"] * 8
    fenced.settle()
    assert fenced.held(WEB, "cpu") == 16_000
    assert len(fenced.pods(WEB)) == 8


def test_a_fence_cannot_be_climbed(fenced: Scene) -> None:
    """A job without GPUs that tolerates the taint of GPU nodes is refused when it is made."""
    key, _, effect = TAINT.rpartition(":")
    toleration = {"key": key.partition("=")[0], "operator": "Equal", "value": "training", "effect": effect}
    with pytest.raises(Refused, match=f"Only pods that ask for nvidia.com/gpu may tolerate {TAINT}"):
        fenced.submit(WEB, requests=EIGHTH, pod={"tolerations": [toleration]})


def test_jobs_without_requests_get_defaults(fenced: Scene) -> None:
    """What a job does not say of cpu and memory is the namespace's default, and counts on the flavor where it runs."""
    fenced.clear()
    fenced.submit(WEB, requests={})
    fenced.submit(ML, requests={"nvidia.com/gpu": "1"})
    fenced.expect({ML: 1})
    assert fenced.running(WEB, 1) == ["cpu-0"]
    assert kinds(fenced.running(ML, 1)) == ["h100"]
    (web,), (ml,) = map(fenced.workloads, (WEB, ML))
    assert usage(web) == {("cpu", "cpu"): 1000, ("cpu", "memory"): 4 << 30}
    assert usage(ml) == {("h100", "cpu"): 1000, ("h100", "memory"): 4 << 30, ("h100", "nvidia.com/gpu"): 1}


@NEWEST
def test_slices_count_by_profile(fenced: Scene) -> None:
    """Each MIG profile has a limit of its own, whatever is used of the others, and its pods run on the MIG nodes."""
    fenced.clear()
    fenced.submit(ML, 1, times=6 + EXCESS, flavor="mig", resource=SMALL)
    fenced.submit(ML, 1, times=2 + EXCESS, flavor="mig", resource=LARGE)
    fenced.expect({ML: 8})
    assert (fenced.held(ML, SMALL), fenced.held(ML, LARGE)) == (6, 2)
    assert fenced.running(ML, 8) == ["mig-0"] * 8


@NEWEST
def test_cpu_jobs_overflow_onto_lent_nodes(lent: Scene) -> None:
    """Where GPU nodes are lent, jobs without GPUs fill the CPU nodes first and go on there."""
    lent.clear()
    cpu_jobs(lent, GUEST, 10)
    assert kinds(lent.running(GUEST, 10)) == ["cpu"] * 8 + ["h100"] * 2


@NEWEST
def test_gpu_jobs_need_nothing_on_lent_nodes(lent: Scene) -> None:
    """Where GPU nodes are lent, a GPU job runs on them without a toleration of its own, as behind a fence."""
    lent.clear()
    lent.submit(HOST, 4)
    lent.expect({HOST: 4})
    assert kinds(lent.running(HOST, 1)) == ["h100"]
