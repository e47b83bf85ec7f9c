"""What makes nodes, in the hands of the real API server and the real Kueue: rules, pools, and requests for nodes."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tenancy.model.karpenter import AWS_GPUS, is_restricted
from tests.cluster import again, deploy, jobs, nodes
from tests.cluster.client import Object, Refused, holds, label
from tests.cluster.jobs import Scene
from tests.cluster.manager import KUEUE
from tests.cluster.plane import Cluster, until
from tests.cluster.scene import PATIENCE

pytestmark = pytest.mark.kueue("0.19", "0.17")

Tree = dict[str, Any]

DEV: Final = "lab/dev"
NODE: Final[Tree] = {"nodes": 2, "node": {"gpus": 8, "cpu": 66, "memory": "516Gi"}}
REQUESTS: Final = "/apis/autoscaling.x-k8s.io/v1/provisioningrequests"
CLASS: Final = "check-capacity.autoscaling.x-k8s.io"
KINDS: Final = ("NodePool", "NodeFeatureRule", "AdmissionCheck", "ProvisioningRequestConfig")


def org(flavors: Tree, **cluster: Any) -> Tree:
    """An organization of one team that may use eight GPUs of every flavor."""
    budget = dict.fromkeys(flavors, 8)
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "domain": "gpu.acme.example",
        "clusters": {"train": cluster},
        "flavors": {name: {**NODE, **flavor} for name, flavor in flavors.items()},
        "departments": {"lab": {"budget": budget, "teams": {"dev": {"budget": budget}}}},
    }


ASKED: Final[Tree] = {
    "gpu": "H100-SXM-80GB",
    "taint": "gpu.acme.example/reserved=asked:NoSchedule",
    "autoscaling": {"provisioningRequest": {"provisioningClass": CLASS}},
}
THERE: Final[Tree] = {
    "gpu": "A100-SXM4-80GB",
    "nodeNames": ["a100-*", "old.rack-1.example"],
    "taints": ["gpu.acme.example/reserved=there:NoSchedule", "unprefixed=yes:NoSchedule"],
}
MADE: Final[Tree] = {
    "gpu": "L40S",
    "labels": {"acme.example/pool": "made", "topology.kubernetes.io/zone": "a"},
    "taint": "made:NoExecute",
    "autoscaling": "karpenter",
}
CPU: Final[Tree] = {
    "nodes": 2,
    "node": {"cpu": 16, "memory": "64Gi"},
    "autoscaling": {"karpenter": {"requirements": {"karpenter.k8s.aws/instance-family": ["m7i"]}}},
}


def cleared(scene: Scene) -> None:
    """Nobody works, and no request is left of those who did: the garbage collector ends it after its Workload."""
    scene.clear()
    scene.wait(lambda: scene.cluster.client.list(REQUESTS) == [], "no request is left")


def request(scene: Scene) -> Object:
    """Wait for the one request for nodes that there is; the object."""
    scene.wait(lambda: len(scene.cluster.client.list(REQUESTS)) == 1, "Kueue asks for nodes", PATIENCE)
    (found,) = scene.cluster.client.list(REQUESTS)
    return found


def answer(scene: Scene, found: Object, outcome: str) -> None:
    """Say what the cluster autoscaler says: the nodes are there (`Provisioned`), or cannot be had (`Failed`)."""
    namespace, name = found["metadata"]["namespace"], found["metadata"]["name"]
    said = {"status": "True", "reason": "TestBed", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    conditions = [{"type": each, **said} for each in ("Accepted", outcome)]
    path = f"/apis/autoscaling.x-k8s.io/v1/namespaces/{namespace}/provisioningrequests/{name}/status"
    scene.cluster.client.patch(path, {"status": {"conditions": conditions}})


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """Nodes of one flavor are there; those of the others come on demand, and none has come."""
    tree = org({"asked": ASKED, "there": THERE, "made": MADE})
    tree["flavors"]["cpu"] = CPU
    tree["departments"]["lab"]["budget"] |= {"cpu": {"cpu": 4, "memory": "16Gi"}}
    return jobs.opened(cluster, deploy.compiled_for(cluster, tree), {"asked": 0, "made": 0, "cpu": 0})


def test_what_makes_nodes_is_accepted_and_left_alone(scene: Scene) -> None:
    """Rules, pools and checks are stored as they are written, and a second application changes nothing."""
    written = [item for item in scene.made.objects if item["kind"] in KINDS]
    assert {item["kind"] for item in written} == set(KINDS)
    client = scene.cluster.client
    for item in written:
        live = client.get(client.path(item))
        assert live["spec"] == item["spec"], label(item)
    assert again.changed(scene.cluster, scene.made.objects) == []


def test_the_check_is_active(scene: Scene) -> None:
    """Kueue takes the configuration of the requests."""
    (check,) = scene.cluster.client.list(f"{KUEUE}/admissionchecks")
    until(lambda: holds(scene.cluster.client.get(f"{KUEUE}/admissionchecks/asked"), "Active"), "the check is active")
    assert check["metadata"]["name"] == "asked"


def test_a_job_waits_for_all_of_its_nodes(scene: Scene) -> None:
    """A gang has quota and no pod until its nodes are there; they are asked for as one, in the class that we name."""
    cleared(scene)
    tolerations = [{"key": "gpu.acme.example/reserved", "operator": "Exists"}]
    scene.submit(DEV, 4, pods=2, flavor="asked", pod={"tolerations": tolerations, **_select(scene, "asked")})
    found = request(scene)
    assert found["spec"]["provisioningClassName"] == CLASS
    assert [each["count"] for each in found["spec"]["podSets"]] == [2]
    assert (scene.holders(), scene.pods()) == ({DEV: 8}, [])
    nodes.make(scene.cluster, scene.made, {"asked": 1, "there": 0, "made": 0, "cpu": 0})
    answer(scene, found, "Provisioned")
    assert scene.running(DEV, 2) == ["asked-0", "asked-0"]
    consumed = {
        pod["metadata"]["annotations"]["autoscaling.x-k8s.io/consume-provisioning-request"] for pod in scene.pods()
    }
    assert consumed == {found["metadata"]["name"]}


def test_jobs_on_nodes_that_are_there_ask_for_none(scene: Scene) -> None:
    """In the same queue, a job of another flavor starts without a request."""
    cleared(scene)
    tolerations = [{"key": key, "operator": "Exists"} for key in ("gpu.acme.example/reserved", "unprefixed")]
    scene.submit(DEV, 8, flavor="there", pod={"tolerations": tolerations, **_select(scene, "there")})
    assert scene.running(DEV, 1)[0].startswith("there-")
    assert scene.cluster.client.list(REQUESTS) == []


def test_a_job_keeps_its_quota_until_the_next_try(scene: Scene) -> None:
    """A job whose request fails is asked for again after a pause, in which nobody else gets its quota."""
    cleared(scene)
    tolerations = [{"key": "gpu.acme.example/reserved", "operator": "Exists"}]
    scene.submit(DEV, 8, flavor="asked", pod={"tolerations": tolerations, **_select(scene, "asked")})
    answer(scene, request(scene), "Failed")
    scene.wait(lambda: _states(scene) == ["Retry"], "Kueue has heard that it failed", PATIENCE)
    assert (scene.holders(), scene.pods()) == ({DEV: 8}, [])


def test_kueue_packs_a_job_once_its_nodes_are_there(cluster: Cluster) -> None:
    """Where placement is packed all the same, a job gets quota, asks for nodes, and is placed when these have come."""
    made = deploy.compiled_for(cluster, org({"asked": ASKED}, placement="packed"))
    scene = jobs.opened(cluster, made, {"asked": 0})
    tolerations = [{"key": "gpu.acme.example/reserved", "operator": "Exists"}]
    scene.submit(DEV, 4, pods=2, topology={"required": "kubernetes.io/hostname"}, pod={"tolerations": tolerations})
    found = request(scene)
    nodes.make(cluster, made)
    answer(scene, found, "Provisioned")
    assert len(set(scene.running(DEV, 2))) == 1


def test_kueue_never_places_a_job_on_nodes_that_wait_for_its_pods(cluster: Cluster) -> None:
    """Karpenter makes nodes for pods that wait, and where placement is packed no pod comes before the nodes."""
    made = deploy.compiled_for(cluster, org({"made": MADE}, placement="packed"))
    scene = jobs.opened(cluster, made, {"made": 0})
    scene.submit(DEV, 1, pod={"tolerations": [{"key": "made", "operator": "Exists"}]})
    scene.told(DEV, "no topology domains at level: kubernetes.io/hostname")
    assert scene.pods() == []


def _states(scene: Scene) -> list[str]:
    """What the checks of all jobs say."""
    return [check["state"] for item in scene.workloads() for check in item["status"].get("admissionChecks", ())]


def _select(scene: Scene, flavor: str) -> Tree:
    return {"nodeSelector": dict(scene.flavor(flavor).labels)}


@pytest.mark.parametrize(
    "key",
    [
        *("karpenter.sh/nodepool", "karpenter.sh/capacity-type", "karpenter.sh/registered", "a.karpenter.sh/b"),
        *("kubernetes.io/hostname", "kubernetes.io/arch", "node.kubernetes.io/pool", "node-role.kubernetes.io/gpu"),
        *("nvidia.com/gpu.product", "acme.example/pool", "pool"),
    ],
)
def test_a_pool_refuses_the_labels_that_we_refuse(cluster: Cluster, key: str) -> None:
    """Karpenter's own rules and ours agree on which labels a pool can have, and which it can require."""
    (pool,) = _pools(cluster, {"made": MADE})
    template = {**pool["spec"]["template"], "metadata": {"labels": {key: "x"}}}
    labelled = {**pool, "spec": {**pool["spec"], "template": template}}
    requirements = [{"key": key, "operator": "In", "values": ["x"]}]
    inside = {**pool["spec"]["template"], "spec": {**pool["spec"]["template"]["spec"], "requirements": requirements}}
    required = {**pool, "spec": {**pool["spec"], "template": inside}}
    refused = is_restricted(key, "karpenter.example")
    assert (_refused(cluster, labelled), _refused(cluster, required)) == (refused, refused)


def test_every_board_of_aws_gives_a_pool(cluster: Cluster) -> None:
    """A pool for each board that machines of AWS have is accepted."""
    flavors = {f"pool-{index}": {"gpu": board, "autoscaling": "karpenter"} for index, board in enumerate(AWS_GPUS)}
    pools = _pools(cluster, flavors)
    assert [pool["metadata"]["name"] for pool in pools if _refused(cluster, pool)] == []
    assert len(pools) == len(AWS_GPUS)


def _pools(cluster: Cluster, flavors: Tree) -> list[Object]:
    made = deploy.compiled_for(cluster, org(flavors))
    return [item for item in made.objects if item["kind"] == "NodePool"]


def _refused(cluster: Cluster, item: Object) -> bool:
    named = {**item, "metadata": {**item["metadata"], "name": f"dry-{item['metadata']['name']}"}}
    try:
        cluster.client.apply(named, dry_run=True)
    except Refused:
        return True
    return False
