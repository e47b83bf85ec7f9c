"""What the example organization's members may create, and what becomes of it: admission policies, then the queue.

All on a real API server with the kinds of every framework. Order matters: the last tests have the policies changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from tenancy.backend.kueue.work import WORK
from tenancy.pipeline import examine
from tests.backend.kueue.policy_requests import (
    BEFORE_136,
    GPU,
    NAMESPACE,
    REQUESTS,
    TRAINING,
    container,
    every_kind,
    job,
    pod,
    spec,
    train_job,
)
from tests.cluster import deploy, nodes
from tests.cluster.answers import named, pod_specs, violations
from tests.cluster.client import Client, Object, Refused, label
from tests.cluster.deploy import Compiled
from tests.cluster.jobs import QUEUE_LABEL, Scene, owner, usage
from tests.cluster.manager import KUEUE
from tests.cluster.plane import Cluster, until
from tests.orgs import organized

pytestmark = pytest.mark.kueue("0.19", "0.17")

EXAMPLE: Final = Path(__file__).parents[2] / "org"
NODES: Final = {"h100": 5, "a100-mig": 0, "cpu": 1}
SIZE: Final = {"cpu": "2", "memory": "3Gi", GPU: "1"}
"""Of every pod, above the LimitRange's default of memory and below its default of cpu."""
CHARGED: Final = {("h100", "cpu"): 2000, ("h100", "memory"): 3 * 2**30, ("h100", GPU): 1}
"""For one of them."""
WITH_PODS: Final = (
    *("none-pod", "none-job", "none-cron-made", "none-deployment", "none-statefulset"),
    *("label-pod", "label-job"),
)
"""Work whose pods are made by Kubernetes itself."""
WHOLE_NODES: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "whole",
    "clusters": {"main": {}},
    "flavors": {
        "h200": {
            "gpu": "H200-SXM-141GB",
            "nodes": 2,
            "wholeNodes": True,
            "node": {"gpus": 8, "cpu": 64, "memory": "1Ti"},
        }
    },
    "departments": {"lab": {"budget": {"h200": 16}, "teams": {"dev": {}}}},
}
RULE: Final = {"apiGroups": ["batch"], "apiVersions": ["v1"], "resources": ["jobs"], "operations": ["*"]}
MISTYPED: Final = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "mistyped"},
    "spec": {
        "matchConstraints": {"resourceRules": [RULE]},
        "validations": [{"expression": "object.spec.nonsense == 1"}],
    },
}
"""A policy without a binding, which changes nothing."""


def example(cluster: Cluster, kubernetes: str) -> Compiled:
    """The example organization for the Kueue that runs, without its own templates, whose kinds are not served."""
    org = examine(EXAMPLE).org
    assert org is not None
    return deploy.compiled(org, kueue=cluster.kueue, kubernetes=kubernetes)


@pytest.fixture(scope="module")
def scene(with_frameworks: Cluster) -> Scene:
    """The example organization on some of its nodes."""
    cluster = with_frameworks
    made = example(cluster, cluster.kubernetes)
    nodes.make(cluster, made, NODES)
    deploy.deploy(cluster, made)
    for name, tolerations in {"torch-distributed": [TRAINING], "intolerant": []}.items():
        cluster.client.apply(runtime(name, tolerations))
    until(lambda: uncounted(cluster) == set(), "the quotas of objects are counted")
    return Scene(cluster, made)


@pytest.fixture(scope="module")
def ada(scene: Scene) -> Client:
    """Somebody in the group `vision`."""
    return scene.cluster.client.acting_as("ada", ["vision"])


@pytest.fixture(scope="module")
def member(cluster: Cluster, ada: Client) -> Client:
    """Ada, once the policies for the running Kubernetes are obeyed."""
    if cluster.kubernetes == "1.35":
        pytest.skip("this Kubernetes does not mutate by policy")
    gpu, limits = (named(REQUESTS, each) for each in ("GPU job without a toleration", "cpu job with limits only"))
    until(lambda: violations(ada, gpu) == violations(ada, limits) == [], "the mutating policies are obeyed")
    return ada


@pytest.fixture(scope="module")
def before_136(cluster: Cluster, ada: Client) -> Client:
    """Ada, once the policies are those for a Kubernetes that cannot mutate by policy."""
    now, old = (
        {label(item): item for item in policies(example(cluster, each))} for each in (cluster.kubernetes, "1.35")
    )
    for name in now.keys() - old.keys():
        cluster.client.delete(cluster.client.path(now[name]))
    deploy.apply(cluster, deploy.in_waves(old.values()))
    deploy.admission_settled(cluster, cluster.kubernetes)
    return ada


def uncounted(cluster: Cluster) -> set[str]:
    """What the namespace's ResourceQuotas limit and have not counted yet: none of it can be created until they have."""
    quotas = cluster.client.list(f"/api/v1/namespaces/{NAMESPACE}/resourcequotas")
    return {key for each in quotas for key in each["spec"]["hard"].keys() - each["status"].get("used", {}).keys()}


def runtime(name: str, tolerations: list[Object]) -> Object:
    """A ClusterTrainingRuntime, which a platform offers to TrainJobs."""
    work = {"containers": [{"name": "node", "image": "none"}], "tolerations": tolerations}
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    nodes_ = {"name": "node", "template": {"metadata": {"labels": labels}, "spec": {"template": {"spec": work}}}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name},
        "spec": {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [nodes_]}}},
    }


def app_wrapper(name: str, component: Object) -> Object:
    """An AppWrapper around one object."""
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"components": [{"template": component}]},
    }


def labelled(item: Object) -> Object:
    """The object with the label that names its queue."""
    return {**item, "metadata": {**item["metadata"], "labels": {QUEUE_LABEL: "default"}}}


def policies(made: Compiled) -> list[Object]:
    """The admission policies and their bindings."""
    return [item for item in made.objects if "AdmissionPolicy" in item["kind"]]


def checked(policy: Object) -> bool:
    """Whether the API server has looked at the types of a policy as it is now."""
    return bool(policy.get("status", {}).get("observedGeneration") == policy["metadata"]["generation"])


def phases(client: Client, namespace: str) -> list[str]:
    """Of the pods there."""
    return [each["status"]["phase"] for each in client.list(f"/api/v1/namespaces/{namespace}/pods")]


def charges(scene: Scene, names: list[str]) -> dict[str, dict[tuple[str, str], int]]:
    """What each Workload holds, by the object among `names` that it is of: its owner, or the parent of its owner."""
    found = {}
    for item in scene.workloads():
        job_name = owner(item)
        found[max((name for name in names if job_name.startswith(name)), key=len, default=job_name)] = usage(item)
    return found


def test_the_manager_starts_with_every_framework(scene: Scene) -> None:
    """The manager runs with all frameworks of the example's configuration, whose kinds are all there."""
    assert scene.cluster.configuration["integrations"] == {"frameworks": [each.name for each in WORK.frameworks]}


def test_every_request_gets_its_answer(member: Client) -> None:
    """Each request of a member is refused with the promised words, or stored with the promised tolerations and
    requests."""
    assert [line for request in REQUESTS for line in violations(member, request)] == []


def test_work_of_every_kind_is_queued_and_charged_what_its_pods_request(scene: Scene, member: Client) -> None:
    """A member's GPU work of any kind, with or without a queue label, without a toleration and with limits only, is
    admitted on the fenced flavor and charged what its pods request; where pods come of it, they run there."""
    limited = spec(container(SIZE))
    written = spec(container(SIZE, requests=SIZE), tolerations=(TRAINING,))
    work = [
        *every_kind("none", limited),
        *(labelled(item) for item in (pod("label-pod", limited), job("label-job", limited))),
        train_job("train", {"limits": SIZE}),
        app_wrapper("wrapper", pod("wrapped", written)),
    ]
    for item in work:
        member.create(item)
    scene.cluster.kubectl("create", "job", "none-cron-made", "--from=cronjob/none-cron", "-n", NAMESPACE)
    pods_of = {item["metadata"]["name"]: len(pod_specs(item)) or 2 for item in work}
    expected = {name: {cell: each * count for cell, each in CHARGED.items()} for name, count in pods_of.items()}
    until(lambda: charges(scene, list(pods_of)) == expected, "everything is charged what it asks for")
    until(lambda: len(scene.hosts("research/vision")) == len(WITH_PODS), "all pods run")
    assert {host.rpartition("-")[0] for host in scene.hosts("research/vision")} == {"h100"}
    for each in scene.pods():
        assert each["spec"]["containers"][0]["resources"]["requests"] == SIZE


def test_a_train_job_waits_where_its_runtime_does_not_tolerate_the_taint(scene: Scene, member: Client) -> None:
    """A TrainJob names no pod spec to write a toleration into: with a runtime that has none it holds nothing."""
    item = train_job("waits", {"limits": SIZE})
    item["spec"]["runtimeRef"]["name"] = "intolerant"
    member.create(item)
    until(lambda: any("untolerated taint" in each for each in scene.why("research/vision")), "the TrainJob is judged")
    assert charges(scene, ["waits"])["waits"] == {}


def test_work_in_a_foreign_namespace_is_left_alone(scene: Scene) -> None:
    """A pod and a job in a namespace that is not ours run at once, beside every queue."""
    client = scene.cluster.client
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "foreign"}})
    account = "/api/v1/namespaces/foreign/serviceaccounts/default"
    until(lambda: client.find(account) is not None, "pods may be made there")
    cpu = spec(container(requests={"cpu": "1", "memory": "1Gi"}))
    for item in (pod("alone", cpu), job("alone-job", cpu)):
        client.create({**item, "metadata": {**item["metadata"], "namespace": "foreign"}})
    until(lambda: phases(client, "foreign") == ["Running", "Running"], "both run")
    assert client.list(f"{KUEUE}/namespaces/foreign/workloads") == []


def test_waiting_work_is_not_changed_into_what_would_be_refused(member: Client) -> None:
    """A waiting cpu job or pod is not given the toleration, nor are its GPUs taken out of a waiting GPU job; other
    changes of each are let through."""
    endless = {"cpu": "4000", "memory": "1Gi"}
    cpu, gpu = spec(container(requests=endless)), spec(container({**endless, GPU: "1"}))
    tolerant, without = {"tolerations": [TRAINING]}, {"containers": [container(requests=endless)]}
    changes = (
        (job("cpu-waits", cpu), lambda work: {"template": {"spec": work}}, tolerant),
        (pod("pod-waits", cpu), lambda work: work, tolerant),
        (job("gpu-waits", gpu), lambda work: {"template": {"spec": work}}, without),
    )
    for item, placed, change in changes:
        member.create(item)
        with pytest.raises(Refused, match="may tolerate"):
            member.patch(member.path(item), {"spec": placed(change)})
        member.patch(member.path(item), {"metadata": {"labels": {"seen": "true"}}})


def test_before_136_every_request_gets_its_answer(before_136: Client) -> None:
    """Where no policy can write requests, a job whose limits Kueue would count without them is refused."""
    assert [line for request in BEFORE_136 for line in violations(before_136, request)] == []


def test_the_api_server_finds_no_type_error_in_a_policy(cluster: Cluster, before_136: Client) -> None:  # noqa: ARG001
    """The API server checks the types of every validating policy against the kinds that it matches and warns of none;
    it does warn of a field that no such kind has."""
    whole_nodes = policies(deploy.compiled(organized(WHOLE_NODES), kueue=cluster.kueue, kubernetes="1.35"))
    deploy.apply(cluster, (item for item in whole_nodes if "whole-nodes" in item["metadata"]["name"]))
    cluster.client.apply(MISTYPED)
    found = deploy.policies_checked(cluster)
    assert "undefined field 'nonsense'" in found.pop("mistyped")["expressionWarnings"][0]["warning"]
    names = ("fenced-flavors", "queueing", "template-requests", "whole-nodes-nvidia.com-gpu-8")
    assert {f"tenancy-{each}" for each in names} <= found.keys()
    assert {name: warnings for name, warnings in found.items() if warnings} == {}
