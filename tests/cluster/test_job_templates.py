"""The jobs that `tenancy job` writes, submitted by a member of the team: they land where it says.

Two fenced nodes of 8 H100 in one rack, one of divided A100, a node of 8 L4 and one without GPUs. What a person fills in
stays as it is written: nothing here pulls an image.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest
import yaml

from tenancy.backend.job_kinds import KINDS, LEADERS
from tenancy.backend.job_priority import Author
from tenancy.backend.job_request import Job
from tenancy.backend.job_templates import NOBODY
from tenancy.backend.manifest import Page
from tenancy.commands.explained import Look, document
from tenancy.load.source import Sources
from tenancy.render.pages import page, pages
from tests.cluster import deploy, jobs, native_jobs, volcano_jobs
from tests.cluster.client import Object, holds
from tests.cluster.jobs import usage
from tests.cluster.plane import Cluster
from tests.cluster.scene import PATIENCE, Scene, patiently
from tests.cluster.test_admission import runtime
from tests.cluster.test_dra import org as claimed
from tests.cluster.test_dra import published, withdrawn
from tests.cluster.volcano import PODGROUPS

KUEUE = pytest.mark.kueue("0.19")
VOLCANO = pytest.mark.volcano("1.15")
VISION: Final = "lab/vision"
GANG: Final = Job(gpus=8, pods=2, flavor="h100")
MEMBER: Final = ("ann", ["group-of-vision", "system:authenticated"])

SIZE: Final = {"daemons": {"cpu": "2", "memory": "4Gi"}}
ORG: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "templates",
    "clusters": {"main": {"accept": []}},
    "priorities": {
        "urgent": 100,
        "normal": {"value": 10, "preemptible": "checkpointed", "gracePeriod": "90s"},
        "spare": {"value": -10, "preemptible": "restartable"},
    },
    "flavors": {
        "h100": {
            **SIZE,
            "gpu": "H100-SXM-80GB",
            "nodes": 2,
            "node": {"gpus": 8, "cpu": 82, "memory": "804Gi"},
            "taint": "tenancy.internal/reserved=training:NoSchedule",
            "topology": ["cloud.example/rack", "kubernetes.io/hostname"],
        },
        "a100": {
            **SIZE,
            "gpu": "A100-SXM4-80GB",
            "nodes": 1,
            "node": {"gpus": 8, "cpu": 82, "memory": "804Gi"},
            "taint": "tenancy.internal/reserved=sliced:NoSchedule",
            "mig": {"3g.40gb": 1, "1g.10gb": 4},
        },
        "l4": {
            **SIZE,
            "gpu": "L4",
            "nodes": 1,
            "node": {"gpus": 8, "cpu": 42, "memory": "164Gi"},
            "taint": "tenancy.internal/reserved=small:NoSchedule",
        },
        "cpu": {**SIZE, "nodes": 1, "node": {"cpu": 34, "memory": "132Gi"}},
    },
    "departments": {
        "lab": {
            "budget": {"h100": 16, "a100": {"1g.10gb": 8}, "l4": 8, "cpu": {"cpu": 16, "memory": "64Gi"}},
            "teams": {
                "vision": {
                    "topology": "required rack",
                    "budget": {"h100": 16, "a100": {"1g.10gb": 8}, "l4": 8, "cpu": {"cpu": 16, "memory": "64Gi"}},
                    "access": {"members": ["group:group-of-vision"], "serviceAccounts": ["trainer"]},
                },
            },
        },
    },
}


def written(
    scene: Scene, job: Job, kind: str, unit: str = VISION, kubernetes: str = "", author: Author = NOBODY
) -> list[Object]:
    """The objects that the command prints, for the versions of the cluster or an older Kubernetes."""
    plan = replace(scene.made.plan, kubernetes=kubernetes or scene.made.plan.kubernetes)
    node = next(each for each in scene.made.org.units if each.title == unit)
    look = Look(scene.made.org, Sources((), {}, {}), plan, node)
    assert look.queue is not None
    made = document(look, look.queue, job, kind, author)
    assert isinstance(made, Page)
    text = page(pages(), made.template, {"job": made.values})
    return [item for item in yaml.safe_load_all(text) if item is not None]


def submit(scene: Scene, items: list[Object], member: tuple[str, list[str]] = MEMBER) -> Object:
    """`kubectl create` by a member of the team, who is told of every field that does not exist; the job as stored."""
    client = scene.cluster.client.acting_as(*member)
    for item in items:
        named = {**item, "metadata": {**item["metadata"], "name": "any"}}
        path = scene.cluster.client.path(named).rpartition("/")[0]
        stored = patiently(partial(client.request, "POST", path, item, fieldValidation="Strict"))
    return stored


def landed(scene: Scene, unit: str, hosts: list[str]) -> None:
    """Wait until the unit's pods run, on these nodes."""
    assert scene.running(unit, len(hosts)) == hosts


# Kueue.


@pytest.fixture(scope="module")
def queued(with_frameworks: Cluster) -> jobs.Scene:
    """The organization on Kueue, with the kinds of every framework and the runtime that TrainJobs name."""
    torch = runtime("torch-distributed", [])
    torch["spec"]["mlPolicy"]["torch"] = {}
    with_frameworks.client.apply(torch)
    return jobs.opened(with_frameworks, deploy.compiled_for(with_frameworks, ORG))


def admitted(scene: jobs.Scene, unit: str) -> Mapping[tuple[str, str], int]:
    """Wait until Kueue admits the only work of a unit: what it holds, by flavor and resource."""
    scene.asked = 1
    scene.wait(lambda: any(holds(item, "Admitted") for item in scene.workloads(unit)), "it is admitted", PATIENCE)
    (workload,) = scene.workloads(unit)
    return usage(workload)


@KUEUE
@pytest.mark.parametrize("kind", KINDS["kueue"])
def test_a_gang_is_admitted_on_its_flavor(queued: jobs.Scene, kind: str) -> None:
    """Two pods of a whole node each, with the cpu and memory that follow: all that the unit has of the flavor. They are
    in one place, and a launcher of theirs is admitted with them to the flavor without GPUs."""
    queued.clear()
    stored = submit(queued, written(queued, GANG, kind))
    held = dict(admitted(queued, VISION))
    launcher = {("cpu", "cpu"): 1000, ("cpu", "memory"): 4 << 30} if kind == "mpi" else {}
    expected = {("h100", "nvidia.com/gpu"): 16, ("h100", "cpu"): 160_000, ("h100", "memory"): 1600 << 30}
    assert held == expected | launcher
    (workload,) = queued.workloads(VISION)
    assert workload["spec"]["priority"] == 10
    sets = [each for each in workload["spec"]["podSets"] if each["name"] != "launcher"]
    assert sum(each["count"] for each in sets) == 2
    places = [each["topologyRequest"] for each in sets]
    assert {each["required"] for each in places} == {"cloud.example/rack"}
    led = kind in LEADERS and kind != "mpi"
    assert [each.get("podSetGroupName") for each in places] == (["job", "job"] if led else [None])
    path = queued.cluster.client.path(stored)
    if kind == "plain":
        landed(queued, VISION, ["h100-0", "h100-1"])
    queued.cluster.client.delete(path, propagationPolicy="Background")
    queued.asked = 0


@KUEUE
@pytest.mark.parametrize("kind", KINDS["kueue"])
def test_a_job_of_one_pod_is_admitted(queued: jobs.Scene, kind: str) -> None:
    """Kinds with a leader have nobody beside it."""
    queued.clear()
    stored = submit(queued, written(queued, Job(gpus=1, flavor="l4"), kind))
    assert admitted(queued, VISION)["l4", "nvidia.com/gpu"] == 1
    queued.cluster.client.delete(queued.cluster.client.path(stored), propagationPolicy="Background")
    queued.asked = 0


@KUEUE
@pytest.mark.parametrize(
    ("job", "host"),
    [
        (Job(gpus=2, profile="1g.10gb"), "a100-0"),
        (Job(gpus=4, flavor="l4"), "l4-0"),
        (Job(gpus=8), "h100-0"),
        (Job(cpu="4", memory="8Gi"), "cpu-0"),
    ],
)
def test_pods_run_on_the_nodes_that_are_told(queued: jobs.Scene, job: Job, host: str) -> None:
    """Slices, GPUs of a flavor that is chosen, of the first that has them, and cpu."""
    queued.clear()
    submit(queued, written(queued, job, "batch"))
    queued.asked = 1
    landed(queued, VISION, [host])


@KUEUE
def test_before_kubernetes_1_36_a_job_asks_for_its_topology(queued: jobs.Scene) -> None:
    """Nothing would give it the unit's default there, so that it is written; Kueue reads it."""
    queued.clear()
    submit(queued, written(queued, GANG, "batch", kubernetes="1.35"))
    admitted(queued, VISION)
    (workload,) = queued.workloads(VISION)
    assert workload["spec"]["podSets"][0]["topologyRequest"]["required"] == "cloud.example/rack"


# Volcano.


@pytest.fixture(scope="module")
def gangs(cluster: Cluster) -> volcano_jobs.Scene:
    """The organization on Volcano."""
    return volcano_jobs.opened(cluster, deploy.compiled_for(cluster, ORG))


@VOLCANO
@pytest.mark.parametrize("kind", [kind for kind in KINDS["volcano"] if kind != "jobset"])
@pytest.mark.parametrize(
    ("job", "hosts"),
    [
        (GANG, ["h100-0", "h100-1"]),
        (Job(gpus=2, profile="1g.10gb"), ["a100-0"]),
        (Job(cpu="4", memory="8Gi"), ["cpu-0"]),
    ],
)
def test_jobs_of_volcano_are_bound_on_their_flavor(
    gangs: volcano_jobs.Scene, kind: str, job: Job, hosts: list[str]
) -> None:
    """Volcano's own jobs, with the plugins of frameworks too, and Kubernetes', as gangs of all their pods, in the queue
    of the flavor."""
    gangs.clear()
    submit(gangs, written(gangs, job, kind))
    landed(gangs, VISION, hosts)
    (group,) = [item for item in gangs.cluster.client.list(PODGROUPS) if item["spec"]["minMember"]]
    assert (group["spec"]["minMember"], group["spec"]["queue"]) == (len(hosts), f"lab-vision-{hosts[0][:-2]}")


@VOLCANO
def test_the_job_of_a_job_set_is_bound_as_a_gang(gangs: volcano_jobs.Scene) -> None:
    """JobSet's controller makes a Job of its template with the annotations of both (constructJob, 0.12): that Job."""
    gangs.clear()
    (item,) = written(gangs, GANG, "jobset")
    (replicated,) = item["spec"]["replicatedJobs"]
    template = replicated["template"]
    made = {"apiVersion": "batch/v1", "kind": "Job", "spec": template["spec"]}
    submit(gangs, [{**made, "metadata": {**item["metadata"], **template["metadata"]}}])
    landed(gangs, VISION, ["h100-0", "h100-1"])
    (group,) = gangs.cluster.client.list(PODGROUPS)
    assert (group["spec"]["minMember"], group["spec"]["queue"]) == (2, "lab-vision-h100")


@VOLCANO
@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("pytorch", {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}),
        ("tensorflow", {"TF_CONFIG"}),
        ("mpi", {"MPI_HOST"}),
    ],
)
def test_pods_are_told_what_their_commands_name(gangs: volcano_jobs.Scene, kind: str, given: set[str]) -> None:
    """By the plugins of the job; a worker of Ray is given its whole command."""
    gangs.clear()
    submit(gangs, written(gangs, GANG, kind))
    landed(gangs, VISION, ["h100-0", "h100-1"])
    (pod, *_) = gangs.cluster.client.list("/api/v1/namespaces/lab-vision/pods")
    (container,) = pod["spec"]["containers"]
    assert given <= {each["name"] for each in container["env"]}


@VOLCANO
def test_workers_of_ray_are_told_their_head(gangs: volcano_jobs.Scene) -> None:
    """The plugin writes the command of each, and leaves that of the head."""
    gangs.clear()
    submit(gangs, written(gangs, GANG, "ray"))
    landed(gangs, VISION, ["h100-0", "h100-1"])
    pods = gangs.cluster.client.list("/api/v1/namespaces/lab-vision/pods")
    head, worker = (each["spec"]["containers"][0]["command"][-1] for each in pods)
    assert head == "ray start --head --port=6379 && exec COMMAND"
    assert worker.startswith("ray start --block --address=")


@VOLCANO
def test_a_job_of_volcano_asks_for_its_topology(gangs: volcano_jobs.Scene) -> None:
    """Where nothing gives it the unit's default, its PodGroup has the tier of the level all the same."""
    gangs.clear()
    submit(gangs, written(gangs, GANG, "vcjob", kubernetes="1.35"))
    landed(gangs, VISION, ["h100-0", "h100-1"])
    (group,) = gangs.cluster.client.list(PODGROUPS)
    assert group["spec"]["networkTopology"] == {"mode": "hard", "highestTierAllowed": 1}


# Kubernetes alone.


@pytest.fixture(scope="module")
def alone(cluster: Cluster) -> native_jobs.Scene:
    """The organization without a batch scheduler."""
    return native_jobs.opened(cluster, deploy.compiled_for(cluster, ORG))


@pytest.mark.native
@pytest.mark.parametrize(
    ("job", "hosts"),
    [
        (GANG, ["h100-0", "h100-1"]),
        (Job(gpus=2, profile="1g.10gb"), ["a100-0"]),
        (Job(gpus=4, flavor="l4"), ["l4-0"]),
        (Job(cpu="4", memory="8Gi"), ["cpu-0"]),
    ],
)
def test_jobs_of_kubernetes_run_on_their_flavor(alone: native_jobs.Scene, job: Job, hosts: list[str]) -> None:
    """The nodes are chosen by the labels of the flavor: no quota ties a pod to one."""
    alone.clear()
    submit(alone, written(alone, job, "batch"))
    landed(alone, VISION, hosts)


@KUEUE
@pytest.mark.native
def test_a_job_claims_its_gpus(cluster: Cluster) -> None:
    """Where GPUs are claimed, the template of the claims is made with the job, and its pod gets them. The last test of
    each scheduler: it deploys another organization."""
    made = deploy.compiled_for(cluster, claimed("claims"))
    scene: Scene = (jobs if cluster.kueue else native_jobs).opened(cluster, made)
    published(cluster, made)
    try:
        items = written(scene, Job(gpus=2, flavor="h100"), "batch", "claims/vision")
        assert [item["kind"] for item in items] == ["ResourceClaimTemplate", "Job"]
        submit(scene, items, ("root", ["system:masters"]))
        landed(scene, "claims/vision", ["h100-0"])
    finally:
        withdrawn(cluster)
