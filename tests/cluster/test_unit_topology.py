"""The default topology of units: jobs that ask for none get it from the API server, and keep what they ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from tests.backend.kueue.policy_requests import GPU, container, every_kind, job, pod, spec
from tests.cluster import deploy, jobs
from tests.cluster.client import Object
from tests.cluster.jobs import QUEUE_LABEL, Scene
from tests.cluster.plane import Cluster

pytestmark = pytest.mark.kueue("0.19")

RACK, HOST = "cloud.example/rack", "kubernetes.io/hostname"
FLAVOR = "tenancy.internal/flavor"
NODE: Final = {"gpus": 8, "cpu": 66, "memory": "516Gi"}
CPU: Final = {"cpu": "2", "memory": "8Gi"}
ORG: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "flavors": {
        "h100": {
            "gpu": "H100-SXM-80GB",
            "nodes": 6,
            "node": NODE,
            "topology": [RACK, HOST],
            "taint": "example.org/new:NoSchedule",
        },
        "a100": {"gpu": "A100-SXM4-80GB", "nodes": 2, "node": NODE, "taint": "example.org/old:NoSchedule"},
        "cpu": {"nodes": 1, "node": {"cpu": 34, "memory": "132Gi"}},
    },
    "departments": {
        "near": {
            "budget": {"h100": 48, "a100": 16, "cpu": {"cpu": 32, "memory": "128Gi"}},
            "topology": "required rack",
            "teams": {
                "ants": {"budget": {"h100": 24, "a100": 16, "cpu": {"cpu": 32, "memory": "128Gi"}}},
                "bees": {"budget": {"h100": 16}, "topology": f"preferred {RACK}"},
                "hosts": {"budget": {"h100": 8}, "topology": "required host"},
            },
        },
        "free": {"teams": {"wasps": {}}},
    },
}
"""H100 nodes in a rack of four and one of two; A100 nodes of the same resource without a rack."""
ANTS, BEES, HOSTS, WASPS = "near/ants", "near/bees", "near/hosts", "free/wasps"
ON_H100: Final = {"nodeSelector": {FLAVOR: "h100"}}
ON_A100: Final = {
    "nodeSelector": {FLAVOR: "a100"},
    "tolerations": [{"key": "example.org/old", "operator": "Exists", "effect": "NoSchedule"}],
}


@pytest.fixture(scope="module")
def scene(with_frameworks: Cluster) -> Scene:
    """Four teams of which three have a default."""
    made = deploy.compiled_for(with_frameworks, ORG)
    return jobs.opened(with_frameworks, made)


def racks(scene: Scene, unit: str) -> list[str]:
    """The rack of each of a unit's pods, sorted; the flavor where its node has none."""
    nodes = {
        item["metadata"]["name"]: item["metadata"]["labels"] for item in scene.cluster.client.list("/api/v1/nodes")
    }
    return sorted(nodes[host].get(RACK, host.partition("-")[0]) for host in scene.hosts(unit))


def asked(scene: Scene, unit: str) -> list[dict[str, str]]:
    """What Kueue reads from the jobs of a unit: how and for which level they ask."""
    requests = [item["spec"]["podSets"][0].get("topologyRequest") or {} for item in scene.workloads(unit)]
    return [{how: each[how] for how in ("required", "preferred", "unconstrained") if how in each} for each in requests]


def test_a_gang_is_kept_in_the_rack_that_its_unit_requires(scene: Scene) -> None:
    """It says nothing of a topology: three pods run in one rack, and five wait though six nodes are free."""
    scene.clear()
    scene.submit(ANTS, 8, pods=5)
    scene.settle()
    assert scene.held(ANTS) == 0
    scene.submit(ANTS, 8, pods=3)
    scene.expect({ANTS: 24})
    scene.running(ANTS, 3)
    assert racks(scene, ANTS) == ["h100-rack-0"] * 3
    assert asked(scene, ANTS) == [{"required": RACK}] * 2


def test_a_unit_without_a_default_is_spread(scene: Scene) -> None:
    """The gang of five, of a unit that says nothing, runs in two racks."""
    scene.clear()
    scene.submit(WASPS, 8, pods=5, pod=ON_H100)
    scene.expect({WASPS: 40})
    scene.running(WASPS, 5)
    assert set(racks(scene, WASPS)) == {"h100-rack-0", "h100-rack-1"}
    assert asked(scene, WASPS) == [{}]


def test_a_preference_is_given_up(scene: Scene) -> None:
    """Of a unit that prefers one rack, a gang of two runs in one, and one of five in two."""
    scene.clear()
    scene.submit(BEES, 8, pods=2, pod=ON_H100)
    scene.expect({BEES: 16})
    scene.running(BEES, 2)
    assert len(set(racks(scene, BEES))) == 1
    scene.clear()
    scene.submit(BEES, 8, pods=5, pod=ON_H100)
    scene.expect({BEES: 40})
    scene.running(BEES, 5)
    assert set(racks(scene, BEES)) == {"h100-rack-0", "h100-rack-1"}
    assert asked(scene, BEES) == [{"preferred": RACK}]


def test_one_host_can_be_required(scene: Scene) -> None:
    """Eight pods of one GPU run on one node; nine wait for ever."""
    scene.clear()
    scene.submit(HOSTS, 1, pods=9, pod=ON_H100)
    scene.settle()
    assert scene.held(HOSTS) == 0
    scene.submit(HOSTS, 1, pods=8, pod=ON_H100)
    scene.expect({HOSTS: 8})
    scene.running(HOSTS, 8)
    assert len(set(scene.hosts(HOSTS))) == 1


def test_a_job_keeps_what_it_asks_for(scene: Scene) -> None:
    """One that prefers a rack, in a unit that requires one, runs in two."""
    scene.clear()
    scene.submit(ANTS, 8, pods=5, topology={"preferred": RACK})
    scene.expect({ANTS: 40})
    scene.running(ANTS, 5)
    assert asked(scene, ANTS) == [{"preferred": RACK}]


def test_a_required_level_keeps_a_job_off_flavors_without_it(scene: Scene) -> None:
    """While both racks are full, a gang that has chosen no flavor waits though two A100 nodes are idle; one that
    selects these gets no default, and runs."""
    scene.clear()
    scene.submit(ANTS, 8, times=6, pod=ON_H100)
    scene.expect({ANTS: 48})
    scene.submit(ANTS, 8, pods=2)
    scene.told(ANTS, 'Flavor "a100" does not contain the requested level')
    scene.submit(ANTS, 8, pods=2, pod=ON_A100)
    scene.expect({ANTS: 64})
    scene.running(ANTS, 8)
    assert racks(scene, ANTS).count("a100") == 2
    assert sorted(map(str, asked(scene, ANTS))) == [*["{'required': 'cloud.example/rack'}"], *["{}"] * 7]


def test_only_gpu_jobs_of_several_pods_get_it(scene: Scene) -> None:
    """A gang without GPUs runs on the CPU nodes, and a single pod asks for nothing."""
    scene.clear()
    scene.submit(ANTS, requests=CPU, pods=2)
    scene.submit(ANTS, 8)
    scene.expect({ANTS: 8})
    scene.running(ANTS, 3)
    assert asked(scene, ANTS) == [{}, {}]


GANG: Final = {"parallelism": 2, "completions": 2}
WITHOUT: Final = {"Pod", "Job", "Deployment", "CronJob"}
"""Kinds whose pods are alone, or whose Jobs are what counts."""
LED: Final = {"JobSet", "LeaderWorkerSet", "MPIJob", "PyTorchJob", "TFJob", "XGBoostJob"}
"""Kinds that have two templates with GPUs, of which a second apply leaves both as they are; not those of Ray."""
JOINED: Final = {"kueue.x-k8s.io/podset-group-name": "job"}


def requests(stored: Object) -> list[dict[str, str]]:
    """What each pod template of an object asks for."""
    return [
        {key: value for key, value in template["metadata"].get("annotations", {}).items() if "/podset-" in key}
        for template in templates(stored)
    ]


def templates(part: Any) -> Iterator[Object]:
    """Everything inside an object that has a pod spec; a template that nobody gave metadata has empty ones."""
    if isinstance(part, dict):
        if "containers" in (part.get("spec") or {}):
            yield {"metadata": {}, **part}
        else:
            for value in part.values():
                yield from templates(value)
    elif isinstance(part, list):
        for value in part:
            yield from templates(value)


def stored(scene: Scene, unit: str, item: Object) -> Object:
    """An object as the API server would store it in the namespace of a unit."""
    item = {**item, "metadata": {**item["metadata"], "namespace": scene.namespace(unit).name}}
    return scene.cluster.client.create(item, dry_run=True)


def test_every_kind_of_gang_gets_it(scene: Scene) -> None:
    """In each of its pod templates that ask for GPUs, which are one group where one of two has a single pod; kinds of
    single pods get nothing."""
    asks = {"kueue.x-k8s.io/podset-required-topology": RACK}
    kinds = every_kind("each", spec(container({GPU: "1"})))
    found = {item["kind"]: requests(stored(scene, ANTS, item)) for item in kinds}
    assert len(found) == 16
    for kind, each in found.items():
        assert each
        expected = {} if kind in WITHOUT else asks | JOINED if kind in LED else asks
        assert each == [expected] * len(each), kind
    for item in every_kind("none", spec(container({"cpu": "1"}))):
        assert not any(requests(stored(scene, ANTS, item))), item["kind"]


GROUP: Final = {"kueue.x-k8s.io/pod-group-name": "two", QUEUE_LABEL: "default"}
TOTAL: Final = {"kueue.x-k8s.io/pod-group-total-count": "2"}


def gang(unit_spec: Object, annotations: Object | None = None) -> Object:
    """A Job of two pods."""
    item = job("gang", unit_spec)
    metadata = {"metadata": {"annotations": annotations}} if annotations else {}
    return {**item, "spec": {**item["spec"], **GANG, "template": {**item["spec"]["template"], **metadata}}}


def affinity(*flavors: str) -> Object:
    """Nodes of these flavors only."""
    terms = [{"matchExpressions": [{"key": FLAVOR, "operator": "In", "values": list(flavors)}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


GPUS: Final = container({GPU: "1"})
OLD: Final = {"key": "example.org/old", "operator": "Exists", "effect": "NoSchedule"}
OWN: Final = {"kueue.x-k8s.io/podset-unconstrained-topology": "true"}


@pytest.mark.parametrize(
    ("unit", "item", "mode"),
    [
        (ANTS, gang(spec(GPUS)), "required"),
        (ANTS, gang(spec(GPUS), {"example.org/note": "kept"}), "required"),
        (ANTS, gang(spec(GPUS, affinity=affinity("h100", "a100"))), "required"),
        (ANTS, gang(spec(GPUS, affinity=affinity("a100"))), ""),
        (ANTS, gang(spec(GPUS, nodeSelector={FLAVOR: "a100"})), ""),
        (ANTS, gang(spec(GPUS, tolerations=(OLD,))), ""),
        (ANTS, gang(spec(GPUS), OWN), "unconstrained"),
        (ANTS, gang(spec(container({"cpu": "1"}), container({GPU: "0"}, name="none"))), ""),
        (BEES, gang(spec(GPUS)), ""),
        (BEES, gang(spec(GPUS, nodeSelector={FLAVOR: "h100"})), "preferred"),
        (BEES, gang(spec(GPUS, affinity=affinity("h100"))), "preferred"),
        (WASPS, gang(spec(GPUS)), ""),
    ],
)
def test_a_gang_gets_it_by_the_flavors_that_it_may_go_to(scene: Scene, unit: str, item: Object, mode: str) -> None:
    """A required level wherever one of them has it, a preferred one where all have; what it says itself stays."""
    (found,) = requests(stored(scene, unit, item))
    assert [key.partition("podset-")[2] for key in found] == ([f"{mode}-topology"] if mode else [])


def test_pods_of_a_group_get_it(scene: Scene) -> None:
    """Kueue places them together; other pods are alone, and get nothing."""
    single = pod("one", spec(GPUS))
    group = {**single, "metadata": {**single["metadata"], "labels": GROUP, "annotations": TOTAL}}
    assert requests(stored(scene, ANTS, group)) == [{"kueue.x-k8s.io/podset-required-topology": RACK}]
    assert requests(stored(scene, ANTS, single)) == [{}]


def changed(item: Any, path: str, value: Any) -> Any:
    """A copy in which something else is at a path."""
    key, _, rest = path.partition(".")
    if isinstance(item, list):
        return [changed(each, rest, value) if str(at) == key else each for at, each in enumerate(item)]
    return {**item, key: changed(item.get(key, {}), rest, value) if rest else value}


def of_kind(kind: str, changes: Mapping[str, Any] | None = None, **more: Any) -> Object:
    """A job of two templates with GPUs, in which `changes` are made by their paths below `spec`."""
    (item,) = (each for each in every_kind("led", spec(GPUS, **more)) if each["kind"] == kind)
    for path, value in (changes or {}).items():
        item = changed(item, f"spec.{path}", value)
    return item


MASTER, WORKER = "pytorchReplicaSpecs.Master", "pytorchReplicaSpecs.Worker"
SECOND, LAST = "replicatedJobs.1", "template.spec.parallelism"
OWN_GROUP: Final = {"annotations": {"kueue.x-k8s.io/podset-group-name": "own"}}


@pytest.mark.parametrize(
    ("unit", "item", "group"),
    [
        (ANTS, of_kind("PyTorchJob", {f"{WORKER}.replicas": 4}), "job"),
        (ANTS, of_kind("PyTorchJob", {f"{MASTER}.template.metadata": {"labels": {"is": "kept"}}}), "job"),
        (
            ANTS,
            of_kind("PyTorchJob", {f"{MASTER}.template.metadata": OWN_GROUP, f"{WORKER}.template.metadata": OWN_GROUP}),
            "own",
        ),
        (ANTS, of_kind("PyTorchJob", {f"{WORKER}.template.spec.nodeSelector": {"disk": "fast"}}), ""),
        (ANTS, of_kind("PyTorchJob", {f"{MASTER}.template.spec.tolerations": [OLD]}), ""),
        (ANTS, of_kind("PyTorchJob", {f"{MASTER}.template.spec.affinity": affinity("h100")}), ""),
        (ANTS, of_kind("PyTorchJob", {f"{MASTER}.template.spec.containers": [container({"cpu": "1"})]}), ""),
        (ANTS, of_kind("TFJob", {"tfReplicaSpecs.PS.replicas": 2}), "job"),
        (ANTS, of_kind("TFJob", {"tfReplicaSpecs.PS.replicas": 2, "tfReplicaSpecs.Worker.replicas": 2}), ""),
        (ANTS, of_kind("JobSet", {f"{SECOND}.replicas": 2}), "job"),
        (ANTS, of_kind("JobSet", {f"{SECOND}.{LAST}": 4}), "job"),
        (ANTS, of_kind("JobSet", {f"{SECOND}.replicas": 2, f"replicatedJobs.0.{LAST}": 2}), ""),
        (ANTS, of_kind("JobSet", {f"{SECOND}.replicas": 0}), ""),
        (ANTS, of_kind("LeaderWorkerSet", {"leaderWorkerTemplate.size": 4}), "job"),
        (ANTS, of_kind("LeaderWorkerSet", {"leaderWorkerTemplate.size": 1}), ""),
        (ANTS, of_kind("RayCluster"), ""),
        (BEES, of_kind("PyTorchJob", nodeSelector={FLAVOR: "h100"}), "job"),
        (WASPS, of_kind("PyTorchJob"), ""),
    ],
)
def test_a_leader_and_its_workers_are_one_group(scene: Scene, unit: str, item: Object, group: str) -> None:
    """Where both get the default, one has a single pod, and the same nodes suit them: Kueue refuses other groups, or
    would place the leader where only the workers may run. A group of their own stays."""
    found = [each.get("kueue.x-k8s.io/podset-group-name", "") for each in requests(stored(scene, unit, item))]
    assert found == [group] * 2


@pytest.mark.parametrize("kind", sorted(LED))
def test_a_second_apply_takes_nothing_away(scene: Scene, kind: str) -> None:
    """A GitOps tool applies the same object again and leaves it the default and the group, without a conflict."""
    item = of_kind(kind)
    item = {**item, "metadata": {"name": f"twice-{kind.lower()}", "namespace": scene.namespace(ANTS).name}}
    first = scene.cluster.client.apply(item)
    assert requests(first) == [{"kueue.x-k8s.io/podset-required-topology": RACK} | JOINED] * 2
    assert requests(scene.cluster.client.apply(item, force=False)) == requests(first)
    scene.cluster.client.delete(scene.cluster.client.path(first), propagationPolicy="Background")
