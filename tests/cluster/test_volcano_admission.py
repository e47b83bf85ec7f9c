"""What people may create and change on a cluster with Volcano: queues cannot be left, and nobody gets around them.

All on a real API server with Volcano and the kinds of every framework. Order matters: the last tests have the policies
changed, and then none at all, which shows what they are for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest

from tenancy.backend.volcano.binding import BINDING
from tenancy.backend.volcano.policies import policies
from tests.backend.kueue.policy_requests import GPU, every_kind
from tests.backend.volcano.policy_requests import (
    BEFORE_136,
    CPU,
    GROUP,
    HELD,
    INNER,
    NAMESPACE,
    ONE_QUEUE,
    ORGANIZATION,
    PREEMPTABLE,
    QUEUE,
    QUEUES,
    REQUESTS,
    TOLERATIONS,
    WORK,
    annotated,
    at,
    queued,
    vcjob,
)
from tests.cluster import access, deploy, manager, volcano, volcano_jobs
from tests.cluster.build import framework_crds
from tests.cluster.client import Client, Object, Refused
from tests.cluster.conftest import Beds
from tests.cluster.plane import Cluster, restart_controllers, until
from tests.cluster.scene import patiently
from tests.cluster.volcano_answers import violations
from tests.cluster.volcano_jobs import Scene

pytestmark = pytest.mark.volcano("1.15")

POLICIES: Final = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
VISION, NLP = "research/vision", "research/nlp"
TOLERANT: Final = {"tolerations": [TOLERATIONS["training"]]}


@pytest.fixture(scope="module")
def with_kinds(cluster: Cluster, beds: Beds, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The cluster with the kinds of every framework; ended with the module, since others do not want to carry them."""
    crds: list[Object] = json.loads(framework_crds("0.19").read_text(encoding="utf-8"))
    manager.install_crds(cluster, crds)
    restart_controllers(cluster)
    yield cluster
    beds.stop(keep_logs=request.session.testsfailed > 0)


@pytest.fixture(scope="module")
def scene(with_kinds: Cluster) -> Scene:
    """The organization of the requests."""
    found = volcano_jobs.opened(with_kinds, deploy.compiled_for(with_kinds, ORGANIZATION))
    until(lambda: _uncounted(with_kinds) == set(), "the quotas of objects are counted")
    return found


@pytest.fixture
def ada(scene: Scene) -> Client:
    """A member of every team, on a cluster where nobody works."""
    for name in (NAMESPACE, HELD):
        scene.cluster.client.delete(f"/apis/apps/v1/namespaces/{name}/statefulsets")
    scene.clear()
    return scene.cluster.client.acting_as("ada", ["vision"])


def _uncounted(cluster: Cluster) -> set[str]:
    """What some ResourceQuota limits and has not counted yet: none of it can be created until it has."""
    quotas = cluster.client.list("/api/v1/resourcequotas")
    return {key for each in quotas for key in each["spec"]["hard"].keys() - each["status"].get("used", {}).keys()}


def _withdraw_policies(scene: Scene) -> None:
    """Nothing is judged or written any more, once the API server has noticed: by the one it lets a pod through that
    names no scheduler, by the other it leaves it as it is."""
    client = scene.cluster.client
    for item in scene.made.objects:
        if "AdmissionPolicy" in item["kind"]:
            client.delete(client.path(item))
    astray = annotated(every_kind("probe", WORK)[0], {QUEUE: "root"}, None, {"nodeName": "none"})

    def let_alone() -> bool:
        try:
            stored = client.create(astray, dry_run=True)
        except Refused:
            return False
        return bool(stored["spec"]["schedulerName"] == "default-scheduler")

    until(let_alone, "no policy is obeyed")


def _apply_policies(scene: Scene, kubernetes: str) -> None:
    """Those for a version of Kubernetes, once the API server obeys them."""
    items = list(policies(replace(scene.made.plan, kubernetes=kubernetes)))
    deploy.apply(scene.cluster, deploy.in_waves(items))
    deploy.admission_settled(scene.cluster, kubernetes)


def _refusal(client: Client, item: Object, change: Object) -> str:
    """Why a merge patch is refused; empty where it is not."""
    try:
        client.patch(client.path(item), change)
    except Refused as refused:
        return refused.message
    return ""


def _pods(scene: Scene, unit: str) -> list[str]:
    """The paths of a unit's pods."""
    found = (pod["metadata"] for pod in scene.pods(unit))
    return [f"/api/v1/namespaces/{each['namespace']}/pods/{each['name']}" for each in found]


def _pod_groups(scene: Scene, namespace: str = NAMESPACE) -> list[Object]:
    return scene.cluster.client.list(f"{volcano.SCHEDULING}/namespaces/{namespace}/podgroups")


def _running(group: Object) -> int:
    """How many pods of a PodGroup run, as Volcano says."""
    found: int = group.get("status", {}).get("running", 0)
    return found


def _charged(scene: Scene, queue: str, resource: str) -> str:
    """What a Queue says that it has given out."""
    status = scene.cluster.client.get(f"{volcano.QUEUES}/{queue}")["status"]
    found: str = status.get("allocated", {}).get(resource, "0")
    return found


def test_every_request_gets_its_answer(scene: Scene) -> None:
    """Each request is refused with the promised words, or stored with the promised queue, scheduler and tolerations."""
    assert [line for request in REQUESTS for line in violations(scene.cluster.client, request)] == []


def test_the_api_server_finds_no_type_error_in_a_policy(scene: Scene) -> None:
    """It checks the types of every validating policy against the kinds that it matches, and warns of none."""
    found = deploy.policies_checked(scene.cluster)
    assert BINDING in found
    assert all(warnings == {} for warnings in found.values()), found


def test_no_rule_gives_anybody_more_or_less(scene: Scene) -> None:
    """The rules that the API server lists to each person in each namespace are the rights that were meant."""
    plan, client = scene.made.plan, scene.cluster.client
    wrong = []
    for who in access.everybody(plan):
        for place in (*(space.name for space in plan.namespaces), "default", "volcano-system"):
            found = set() if who is access.ANONYMOUS else access.rights(client, who, place) - access.SELF
            wrong += [f"{who.title}, {place}: {each}" for each in sorted(found ^ access.meant(plan, who, place))]
    assert wrong == []


def test_work_of_every_sort_runs_in_its_queue(scene: Scene, ada: Client) -> None:
    """Volcano's own controllers pass: a member's pod, Job, Deployment, StatefulSet and Volcano job run, each charged
    to the queue that it names."""
    made = [queued(each) for each in every_kind("runs", WORK)[:4]]
    for item in (*made, vcjob("runs-vcjob", WORK)):
        patiently(partial(ada.create, item))
    assert {host.rpartition("-")[0] for host in scene.running(VISION, 6)} == {"cpu"}
    scene.wait(lambda: _charged(scene, CPU, "cpu") == "6", "all are charged")


def test_a_pod_stays_in_its_group(scene: Scene, ada: Client) -> None:
    """A member can neither take a running pod out of its PodGroup nor put it into another one or give it another owner,
    but may label it."""
    item = queued(every_kind("stays", WORK)[0])
    patiently(partial(ada.create, item))
    scene.running(VISION, 1)
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1", "controller": True}
    for change in (
        {"annotations": {GROUP: None}},
        {"annotations": {GROUP: "another"}},
        {"annotations": {"volcano.sh/job-name": "another"}},
        {"ownerReferences": [owner]},
    ):
        assert "Only controllers" in _refusal(ada, item, {"metadata": change})
    assert "is not a queue of" in _refusal(ada, item, {"metadata": {"annotations": {QUEUE: "root"}}})
    assert _refusal(ada, item, {"metadata": {"labels": {"seen": "true"}}}) == ""


def test_a_controller_is_known_by_its_rights(scene: Scene, ada: Client) -> None:
    """A Job in a PodGroup comes from whoever may write the status of its owner; a member who claims the same owner is
    refused."""
    client = scene.cluster.client
    item = annotated(queued(every_kind("owned", WORK)[1]), {GROUP: "train"})
    owner = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "name": "train",
        "uid": "1",
        "controller": True,
    }
    item["metadata"]["ownerReferences"] = [owner]
    assert "Only controllers" in _created(ada, item, dry_run=True)
    for rule in _controller_of_job_sets():
        client.apply(rule)
    controller = client.acting_as("system:serviceaccount:jobset-system:controller", ["system:serviceaccounts"])
    until(lambda: _created(controller, item, dry_run=True) == "", "the controller has its rights")


def _controller_of_job_sets() -> Iterator[Object]:
    """The rights that JobSet's installation gives its controller, as far as they matter here."""
    api, name = "rbac.authorization.k8s.io/v1", "test-bed-jobset"
    rules = [
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create"]},
        {"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets/status"], "verbs": ["update"]},
    ]
    yield {"apiVersion": api, "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    subject = {"kind": "ServiceAccount", "name": "controller", "namespace": "jobset-system"}
    binding = {"roleRef": role, "subjects": [subject]}
    yield {"apiVersion": api, "kind": "ClusterRoleBinding", "metadata": {"name": name}, **binding}


def test_pods_that_are_set_free_stay_charged(scene: Scene, ada: Client) -> None:
    """Pods of a Deployment that a member relabels are not the Deployment's any more; when it is deleted their PodGroup
    stays until they have ended, so that the queue goes on paying for them, and then it goes."""
    item = queued(every_kind("free", WORK)[2])
    patiently(partial(ada.create, item))
    scene.running(VISION, 1)
    (pod,) = _pods(scene, VISION)
    ada.patch(pod, {"metadata": {"labels": {"app": "free"}}})
    scene.running(VISION, 2)  # The Deployment has another one.
    ada.delete(ada.path(item), propagationPolicy="Background")
    scene.wait(lambda: len(scene.pods(VISION)) == 1, "its own is gone")
    scene.settle()
    scene.wait(lambda: [_running(each) for each in _pod_groups(scene)] == [1], "the other's PodGroup stays")
    scene.wait(lambda: _charged(scene, CPU, "cpu") == "1", "it is charged")
    ada.delete(pod, gracePeriodSeconds="0")
    scene.wait(lambda: _pod_groups(scene) == [], "the PodGroup is gone")


def test_a_held_unit_goes_on_and_takes_nothing_new(scene: Scene, ada: Client) -> None:
    """What ran before the unit was held loses a pod and gets another one, and may shrink; it may not grow, and nothing
    of the other members can be submitted until the unit is active again."""
    active = {**ORGANIZATION["departments"]["research"]["teams"]["paused"], "state": "active"}
    tree = _with_team("paused", active)
    held = scene.made
    scene.change(deploy.compiled_for(scene.cluster, tree))
    item = at(every_kind("held", WORK)[2], HELD)
    item["spec"]["replicas"] = 2
    until(lambda: _created(ada, queued(item)) == "", "the unit is active")
    scene.running("research/paused", 2)
    scene.change(held)
    until(lambda: "is held" in _created(ada, queued(at(every_kind("new", WORK)[0], HELD)), dry_run=True), "held again")
    ada.delete(_pods(scene, "research/paused")[0], gracePeriodSeconds="0")
    scene.running("research/paused", 2)  # The pod is replaced.
    scale = f"{ada.path(item)}/scale"
    with pytest.raises(Refused, match="is held, so more of it is refused"):
        ada.patch(scale, {"spec": {"replicas": 3}})
    assert "is held, so more of it is refused" in _refusal(ada, item, {"spec": {"replicas": 3}})
    ada.patch(scale, {"spec": {"replicas": 1}})
    scene.running("research/paused", 1)


def test_before_136_every_request_gets_its_answer(scene: Scene) -> None:
    """Where no policy can write them, work without a queue or a scheduler is refused and told what to write."""
    _withdraw_policies(scene)
    _apply_policies(scene, "1.35")
    assert [line for request in BEFORE_136 for line in violations(scene.cluster.client, request)] == []


def test_work_from_before_the_policies_can_be_finished(scene: Scene, ada: Client) -> None:
    """A Deployment of another scheduler, a pod that is never evicted and a job that waits can still be changed, scaled
    down and deleted; what an update makes worse is refused."""
    _withdraw_policies(scene)
    stray = every_kind("stray", WORK)[2]
    kept = annotated(queued(every_kind("kept", WORK)[0]), {PREEMPTABLE: "false"})
    waits = {**every_kind("waits", WORK)[1]}
    waits["spec"] = {**waits["spec"], "suspend": True}
    for item in (stray, kept, waits):
        patiently(partial(ada.create, item))
    scene.wait(lambda: len(scene.pods(VISION)) == 2, "their pods are there")
    _apply_policies(scene, "1.36")
    for item in (stray, kept, waits):
        assert _refusal(ada, item, {"metadata": {"labels": {"seen": "true"}}}) == ""
    assert "is not a queue" in _refusal(ada, kept, {"metadata": {"annotations": {QUEUE: "root"}}})
    assert "Remove" in _refusal(ada, kept, {"metadata": {"annotations": {PREEMPTABLE: "0"}}})
    image = {"spec": {"template": {"metadata": {"annotations": {QUEUE: INNER}}}}}
    assert "is not a queue" in _refusal(ada, stray, image)
    assert _refusal(ada, stray, {"spec": {"replicas": 0}}) == ""
    assert _refusal(ada, waits, {"spec": {"activeDeadlineSeconds": 1}}) == ""
    for item in (stray, kept, waits):
        ada.delete(ada.path(item), propagationPolicy="Background")
    scene.wait(lambda: scene.pods(VISION) == [], "all is gone")


def test_without_the_policies_a_team_takes_twice_its_limit(scene: Scene, ada: Client) -> None:
    """Pods that a member takes out of their PodGroup run on and are charged to nobody: the limit is free again."""
    _withdraw_policies(scene)
    names = scene.bare(NLP, 8, pod=TOLERANT)
    scene.expect({NLP: 8})
    for name in names:
        ada.patch(f"/api/v1/namespaces/{ONE_QUEUE}/pods/{name}", {"metadata": {"annotations": {GROUP: None}}})
    scene.wait(lambda: _charged(scene, QUEUES[ONE_QUEUE], GPU) == "0", "nothing is charged")
    scene.bare(NLP, 8, pod=TOLERANT)
    scene.expect({NLP: 16})


def _with_team(name: str, team: dict[str, Any]) -> dict[str, Any]:
    """The organization with a team as it is given."""
    research = ORGANIZATION["departments"]["research"]
    teams = {**research["teams"], name: team}
    return {**ORGANIZATION, "departments": {"research": {**research, "teams": teams}}}


def _created(client: Client, item: Object, *, dry_run: bool = False) -> str:
    """Why a create is refused; empty where it is not."""
    try:
        client.create(item, dry_run=dry_run)
    except Refused as refused:
        return refused.message
    return ""
