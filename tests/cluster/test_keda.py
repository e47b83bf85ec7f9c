"""KEDA on a real API server: who may scale what, up to which number, and what KEDA is never made to do.

KEDA is not run. What its operator would do is done as its account, with the rights that KEDA's own files give it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.cluster import access, deploy, jobs, keda
from tests.cluster.access import person
from tests.cluster.client import Client, Object, Refused, label
from tests.cluster.jobs import QUEUE_LABEL, Scene
from tests.cluster.plane import Cluster, until

pytestmark = pytest.mark.kueue("0.19")

GPU: Final = "nvidia.com/gpu"
WEB, API, TRAIN = "lab-serve-web", "lab-serve-api", "lab-train"
MOST: Final = 14
"""Pods of team `serve`: six GPUs, and eight cpu at one each."""
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "scaled",
    "clusters": {"main": {"scheduler": "kueue"}},
    "access": {"admins": ["group:platform"], "auditors": ["group:audit"]},
    "flavors": {
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"}},
        "cpu": {"nodes": 1, "node": {"cpu": 66, "memory": "260Gi"}},
    },
    "departments": {
        "lab": {
            "budget": {"h100": 16, "cpu": {"cpu": 64, "memory": "256Gi"}},
            "teams": {
                "serve": {
                    "autoscaling": "keda",
                    "budget": {
                        "h100": {"quota": 4, "limit": 6},
                        "cpu": {"quota": {"cpu": 8, "memory": "64Gi"}, "limit": {"cpu": 8, "memory": "64Gi"}},
                    },
                    "access": {"admins": ["user:ada"], "members": ["user:bo"], "viewers": ["user:eve"]},
                    "projects": {
                        "web": {},
                        "api": {
                            "access": {"serviceAccounts": ["ci"]},
                            "limits": {
                                "objects": {
                                    "count/scaledobjects.keda.sh": 1,
                                    "count/scaledjobs.keda.sh": 1,
                                    "count/triggerauthentications.keda.sh": 1,
                                    "count/horizontalpodautoscalers.autoscaling": 1,
                                }
                            },
                        },
                    },
                },
                "train": {"budget": {"h100": 8}, "access": {"members": ["user:cy"]}},
            },
        }
    },
}
CRON: Final = {"type": "cron", "metadata": {"timezone": "UTC", "start": "0 6 * * *", "end": "0 7 * * *"}}


def made_of(kind: str, spec: Object, namespace: str = WEB, **metadata: Any) -> Object:
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": kind,
        "metadata": {"name": "it", "namespace": namespace, **metadata},
        "spec": spec,
    }


def scaled_object(namespace: str = WEB, *, marks: dict[str, str] | None = None, **spec: Any) -> Object:
    """Of a Deployment, by the clock."""
    whole = {"scaleTargetRef": {"name": "web"}, "triggers": [CRON], **spec}
    return made_of("ScaledObject", whole, namespace, **({"annotations": marks} if marks else {}))


def job(**spec: Any) -> Object:
    limits = {GPU: "1"}
    container = {"name": "main", "image": "none", "resources": {"limits": limits}}
    return {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}, **spec}


def scaled_job(namespace: str = WEB, *, work: Object | None = None, **spec: Any) -> Object:
    return made_of("ScaledJob", {"jobTargetRef": work or job(), "triggers": [CRON], **spec}, namespace)


def authentication(namespace: str = WEB, **spec: Any) -> Object:
    return made_of("TriggerAuthentication", spec, namespace)


def trigger(**more: Any) -> Object:
    return {
        "type": "aws-sqs-queue",
        "metadata": {"queueURL": "https://queue.example", **more.pop("metadata", {})},
        **more,
    }


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Iterator[Scene]:
    """The organization, on a cluster that has KEDA's kinds."""
    with keda.installed(cluster):
        made = deploy.compiled_for(cluster, TREE)
        yield jobs.opened(cluster, made)
        deploy.withdraw(cluster)


def acting(scene: Scene, name: str) -> Client:
    return scene.cluster.client.acting_as(name, ["system:authenticated"])


def answer(client: Client, item: Object) -> str:
    """What the API server says to a create that changes nothing; empty where it is let in."""
    try:
        client.create(item, dry_run=True)
    except Refused as refused:
        return refused.message
    return ""


def wanted(scene: Scene, items: dict[str, Object], who: str = "bo") -> dict[str, str]:
    """By name, what is said to each of them; nothing where it is let in."""
    client = acting(scene, who)
    return {name: said for name, item in items.items() if (said := answer(client, item))}


# How much.


def test_a_member_scales_up_to_what_the_queue_can_run(scene: Scene) -> None:
    """The namespace says the number, six GPUs and eight cpu; a member may write it, in every project of the team."""
    space = scene.cluster.client.get(f"/api/v1/namespaces/{WEB}")
    assert space["metadata"]["annotations"]["tenancy.internal/max-replicas"] == str(MOST)
    ordinary = {
        "all": scaled_object(maxReplicaCount=MOST),
        "in another project": scaled_object(API, maxReplicaCount=1),
        "paused low": scaled_object(maxReplicaCount=2, marks={"autoscaling.keda.sh/paused-replicas": "0"}),
        "paused as it is": scaled_object(maxReplicaCount=2, marks={"autoscaling.keda.sh/paused": "true"}),
        "idle": scaled_object(minReplicaCount=2, idleReplicaCount=0, maxReplicaCount=4),
        "jobs": scaled_job(maxReplicaCount=MOST),
        "jobs of two pods": scaled_job(work=job(parallelism=2), maxReplicaCount=MOST // 2),
        "one pod after another": scaled_job(work=job(parallelism=4, completions=1), maxReplicaCount=MOST),
    }
    assert wanted(scene, ordinary) == {}


def test_beyond_that_it_is_refused_with_both_numbers(scene: Scene) -> None:
    """Whatever KEDA would take the number from: what is said, its own default, the number for a pause, the minimum of
    jobs, which knows no maximum, and jobs of several pods."""
    paused = {"autoscaling.keda.sh/paused-replicas": "+500"}
    beyond = {
        "15": scaled_object(maxReplicaCount=MOST + 1),
        "100": scaled_object(),
        "500": scaled_object(maxReplicaCount=1, marks=paused),
        "5000": scaled_job(maxReplicaCount=1, minReplicaCount=5000),
        "16": scaled_job(work=job(parallelism=2), maxReplicaCount=8),
    }
    said = wanted(scene, beyond)
    assert said.keys() == beyond.keys()
    for number, words in said.items():
        assert "'tenancy-scaling'" in words
        assert f"KEDA would make up to {number} pods" in words
        assert f"the queue of namespace {WEB} can never run more than {MOST}" in words
    assert f"write maxReplicaCount: {MOST} or less" in said["15"]
    assert "maxReplicaCount is 100 where nothing says it" in said["100"]
    assert "write maxReplicaCount: 7 or less" in said["16"]


def test_an_update_may_not_ask_for_more(scene: Scene) -> None:
    """What was there when the limit fell is kept and may be lowered, even to what is still too much; it cannot grow."""
    admin, bo = scene.cluster.client, acting(scene, "bo")
    created = bo.create(scaled_object(maxReplicaCount=MOST))
    path, space = bo.path(created), f"/api/v1/namespaces/{WEB}"
    admin.patch(space, {"metadata": {"annotations": {"tenancy.internal/max-replicas": "4"}}})
    try:
        until(lambda: "more than 4" in answer(bo, scaled_object(maxReplicaCount=5)), "the number is obeyed")
        bo.patch(path, {"metadata": {"labels": {"seen": "yes"}}})
        bo.patch(path, {"spec": {"maxReplicaCount": 8}})
        with pytest.raises(Refused, match="would make up to 9 pods"):
            bo.patch(path, {"spec": {"maxReplicaCount": 9}})
        with pytest.raises(Refused, match="would make up to 100 pods"):
            bo.patch(path, {"spec": {"maxReplicaCount": None}})
        bo.patch(path, {"spec": {"maxReplicaCount": 4}})
    finally:
        bo.delete(path)
        admin.patch(space, {"metadata": {"annotations": {"tenancy.internal/max-replicas": str(MOST)}}})
    until(lambda: answer(bo, scaled_object(maxReplicaCount=MOST)) == "", "the number is as it was")


def test_only_what_the_queue_counts_is_scaled(scene: Scene) -> None:
    """By kind and API group, with KEDA's defaults for what is left out. A StatefulSet is counted as it was made."""
    targets = {
        "StatefulSet.apps": {"name": "x", "kind": "StatefulSet", "apiVersion": "apps/v1"},
        "ReplicaSet.apps": {"name": "x", "kind": "ReplicaSet"},
        "Deployment.other.example": {"name": "x", "kind": "Deployment", "apiVersion": "other.example/v1"},
        "ReplicationController.": {"name": "x", "kind": "ReplicationController", "apiVersion": "v1"},
        "Machine.cluster.x-k8s.io": {"name": "x", "kind": "Machine", "apiVersion": "cluster.x-k8s.io/v1"},
    }
    said = wanted(
        scene, {kind: scaled_object(scaleTargetRef=target, maxReplicaCount=1) for kind, target in targets.items()}
    )
    assert said.keys() == targets.keys()
    assert all(f"KEDA would scale a {kind} beside the queue" in words for kind, words in said.items())
    counted = [
        {"name": "x", "kind": "Deployment"},
        {"name": "x", "kind": "LeaderWorkerSet", "apiVersion": "leaderworkerset.x-k8s.io/v1"},
    ]
    assert (
        wanted(scene, {each["kind"]: scaled_object(scaleTargetRef=each, maxReplicaCount=1) for each in counted}) == {}
    )


# Who.


def test_only_teams_with_keda_have_it(scene: Scene) -> None:
    """A member of another team has no right to any of its kinds, at home or elsewhere; whoever has the right, such as
    an administrator of the cluster, is told that the team does not use it."""
    cy = acting(scene, "cy")
    for item in (scaled_object(TRAIN, maxReplicaCount=1), scaled_job(TRAIN), scaled_object(WEB), authentication(TRAIN)):
        assert "cannot create resource" in answer(cy, item)
    assert "write `autoscaling: keda` into the team" in answer(
        scene.cluster.client, scaled_object(TRAIN, maxReplicaCount=1)
    )


def test_rights_are_those_that_were_meant(scene: Scene) -> None:
    """For everybody, in the namespaces of the team, in others, and outside of them."""
    people = [*access.everybody(scene.made.plan), person("group:audit", "user:bo")]
    wrong = []
    for who in people:
        for place in (WEB, API, TRAIN, "default"):
            found = set() if who is access.ANONYMOUS else access.rights(scene.cluster.client, who, place) - access.SELF
            right = access.meant(scene.made.plan, who, place)
            wrong += [f"{who.title}, {place}: has {verb} {kind}" for verb, kind in sorted(found - right)]
            wrong += [f"{who.title}, {place}: has not {verb} {kind}" for verb, kind in sorted(right - found)]
    assert not wrong, "\n".join(wrong)


def test_secrets_of_triggers_are_for_those_who_keep_them(scene: Scene) -> None:
    """An admin of the team names a Secret for KEDA, a member does not; nobody makes one for the whole cluster, nor an
    autoscaler that no policy bounds."""
    item = authentication(secretTargetRef=[{"parameter": "password", "name": "queue", "key": "password"}])
    assert answer(acting(scene, "ada"), item) == ""
    assert "cannot create resource" in answer(acting(scene, "bo"), item)
    everywhere = {**item, "kind": "ClusterTriggerAuthentication", "metadata": {"name": "it"}}
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "it", "namespace": WEB},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 900},
    }
    for who in ("ada", "bo", "eve"):
        for each in (everywhere, scaler):
            assert "cannot create resource" in answer(acting(scene, who), each)


# As whom.


def test_a_team_cannot_make_keda_act_as_itself(scene: Scene) -> None:
    """Neither by what a member writes into a trigger nor by what an admin writes into a TriggerAuthentication; the
    words say what to remove."""
    role = [{"parameter": "awsRoleArn", "name": "queue", "key": "role"}]
    vault = {
        "address": "https://mine.example",
        "authentication": "token",
        "secrets": [{"parameter": "p", "path": "p", "key": "k"}],
    }
    manager = {"secrets": [{"parameter": "p", "name": "n"}]}
    triggers = {
        "kind: ClusterTriggerAuthentication": trigger(
            authenticationRef={"name": "shared", "kind": "ClusterTriggerAuthentication"}
        ),
        "identityOwner": trigger(metadata={"identityOwner": "operator"}),
        "credentialsFromEnvFile": trigger(metadata={"credentialsFromEnvFile": "KEY"}),
    }
    said = {
        **wanted(
            scene, {name: scaled_object(triggers=[CRON, each], maxReplicaCount=1) for name, each in triggers.items()}
        ),
        **wanted(
            scene,
            {
                "podIdentity": authentication(podIdentity={"provider": "aws", "roleArn": "arn:aws:iam::1:role/other"}),
                "hashiCorpVault": authentication(hashiCorpVault=vault),
                "filePath": authentication(filePath="shared.json"),
                "awsSecretManager": authentication(awsSecretManager=manager),
                "azureKeyVault": authentication(
                    azureKeyVault={
                        "vaultUri": "https://v.example",
                        **manager,
                        "podIdentity": {"provider": "azure-workload"},
                    }
                ),
                "parameter: awsRoleArn": authentication(secretTargetRef=role),
            },
            "ada",
        ),
    }
    assert len(said) == 9
    for what, words in said.items():
        assert "'tenancy-scaling-identity'" in words
        assert f"remove `{what}`: KEDA would act as itself" in words
    allowed = {
        "none": authentication(podIdentity={"provider": "none"}),
        "env": authentication(env=[{"parameter": "password", "name": "PASSWORD"}]),
        "config": authentication(configMapTargetRef=[{"parameter": "host", "name": "queue", "key": "host"}]),
        "own": scaled_object(maxReplicaCount=1, triggers=[trigger(authenticationRef={"name": "own"})]),
        "pod": scaled_job(maxReplicaCount=1, triggers=[trigger(metadata={"identityOwner": "pod"})]),
    }
    assert wanted(scene, allowed, "ada") == {}


def test_platform_staff_may_lend_kedas_identity(scene: Scene) -> None:
    """Who may make a ClusterTriggerAuthentication may give a team what it must not write itself. The team leaves it as
    it is, or takes it away; it cannot send it elsewhere."""
    admin, bo, ada = scene.cluster.client, acting(scene, "bo"), acting(scene, "ada")
    shared = trigger(authenticationRef={"name": "shared", "kind": "ClusterTriggerAuthentication"})
    elsewhere = copy.deepcopy(shared)
    elsewhere["metadata"]["queueURL"] = "https://mine.example"
    lent = admin.create(authentication(podIdentity={"provider": "aws"}))
    scaled = admin.create(scaled_object(maxReplicaCount=2, triggers=[shared]))
    try:
        bo.patch(bo.path(scaled), {"spec": {"maxReplicaCount": 3, "triggers": [CRON, shared]}})
        with pytest.raises(Refused, match="remove `kind: ClusterTriggerAuthentication`"):
            bo.patch(bo.path(scaled), {"spec": {"triggers": [elsewhere]}})
        ada.patch(ada.path(lent), {"metadata": {"labels": {"seen": "yes"}}})
        with pytest.raises(Refused, match="remove `podIdentity`"):
            ada.patch(ada.path(lent), {"spec": {"podIdentity": {"roleArn": "arn:aws:iam::1:role/other"}}})
        ada.patch(ada.path(lent), {"spec": {"podIdentity": None}})
        keda.operator(scene.cluster).patch(bo.path(scaled), {"metadata": {"finalizers": ["finalizer.keda.sh"]}})
    finally:
        admin.patch(bo.path(scaled), {"metadata": {"finalizers": None}})
        for item in (lent, scaled):
            admin.delete(admin.path(item))


# How many objects, and what KEDA makes.


def test_the_next_object_of_each_kind_is_refused_with_its_bound(scene: Scene) -> None:
    """Of people as of KEDA's operator, whose autoscalers are counted too."""
    path = f"/api/v1/namespaces/{API}/resourcequotas/tenancy"
    ada, operator = acting(scene, "ada"), keda.operator(scene.cluster)
    items = {
        "count/scaledobjects.keda.sh": (ada, scaled_object(API, maxReplicaCount=1)),
        "count/scaledjobs.keda.sh": (ada, scaled_job(API, maxReplicaCount=1)),
        "count/triggerauthentications.keda.sh": (ada, authentication(API, env=[{"parameter": "p", "name": "P"}])),
        "count/horizontalpodautoscalers.autoscaling": (
            operator,
            {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": "it", "namespace": API},
                "spec": {
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                    "maxReplicas": 1,
                },
            },
        ),
    }
    client = scene.cluster.client
    until(lambda: items.keys() <= client.get(path).get("status", {}).get("used", {}).keys(), "quotas count", 60)
    for key, (who, item) in items.items():
        who.create(item)
        second = {**item, "metadata": {**item["metadata"], "name": "second"}}
        until(lambda key=key: client.get(path)["status"]["used"][key] == "1", f"{key} is counted", 60)  # type: ignore[misc]
        assert f"requested: {key}=1, used: {key}=1, limited: {key}=1" in answer(who, second)
    assert (
        client.get(f"/api/v1/namespaces/{WEB}/resourcequotas/tenancy")["spec"]["hard"]["count/scaledjobs.keda.sh"]
        == "100"
    )


def made_by_keda(scaled: Object, **labels: str) -> Object:
    """The Job that KEDA makes of a ScaledJob (generateJobs in scale_jobs.go): with its labels, and owned by it."""
    owner = {"apiVersion": scaled["apiVersion"], "kind": "ScaledJob", "controller": True, "blockOwnerDeletion": True}
    metadata = scaled["metadata"]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "generateName": "it-",
            "namespace": metadata["namespace"],
            "labels": {"scaledjob.keda.sh/name": metadata["name"], **labels},
            "ownerReferences": [{**owner, "name": metadata["name"], "uid": metadata["uid"]}],
        },
        "spec": scaled["spec"]["jobTargetRef"],
    }


def refusal(client: Client, made: Object) -> str:
    """What is said to a Job whose name the API server makes; empty where it is let in."""
    try:
        client.request("POST", f"/apis/batch/v1/namespaces/{made['metadata']['namespace']}/jobs", made, dryRun="All")
    except Refused as refused:
        return refused.message
    return ""


def test_a_job_of_keda_is_a_job_like_any_other(scene: Scene) -> None:
    """It waits in the queue of its namespace, and no label of the ScaledJob takes it past the queue."""
    operator = keda.operator(scene.cluster)
    scaled = acting(scene, "bo").create(scaled_job(maxReplicaCount=2))
    made = operator.request("POST", f"/apis/batch/v1/namespaces/{WEB}/jobs", made_by_keda(scaled))
    assert made["metadata"]["labels"][QUEUE_LABEL] == "default"
    assert made["spec"]["suspend"] is True
    name = made["metadata"]["name"]

    def counted() -> bool:
        return any(
            owner["name"] == name for each in scene.workloads() for owner in each["metadata"].get("ownerReferences", ())
        )

    until(counted, "it has a Workload of its own")
    past = {
        "there is no queue other": {QUEUE_LABEL: "other"},
        "the queue itself says which Workload counts": {"kueue.x-k8s.io/prebuilt-workload-name": "another"},
    }
    for words, labels in past.items():
        assert words in refusal(operator, made_by_keda(scaled, **labels))


@pytest.mark.volcano("1.15")
def test_on_volcano_a_scaled_job_names_its_queue(cluster: Cluster) -> None:
    """KEDA's operator is told what anybody is told who leaves the queue out, and its Job is let in with one."""
    with keda.installed(cluster):
        deploy.deploy(cluster, deploy.compiled_for(cluster, TREE))
        operator = keda.operator(cluster)
        scaled = cluster.client.acting_as("bo", ["system:authenticated"]).create(scaled_job(maxReplicaCount=2))
        made = made_by_keda(scaled)
        assert "a pod without a queue waits for ever" in refusal(operator, made)
        queues = cluster.client.get(f"/api/v1/namespaces/{WEB}")["metadata"]["annotations"]["tenancy.internal/queues"]
        template = made["spec"]["template"]
        template["metadata"] = {"annotations": {"scheduling.volcano.sh/queue-name": queues.split(",")[0]}}
        template["spec"]["schedulerName"] = "volcano"
        assert refusal(operator, made) == ""
        deploy.withdraw(cluster)


# The whole.


def test_the_api_server_finds_no_type_error(scene: Scene) -> None:
    """In neither of the policies, for any of the kinds that they match."""
    found = deploy.policies_checked(scene.cluster)
    assert (found["tenancy-scaling"], found["tenancy-scaling-identity"]) == ({}, {})


def test_applied_twice_nothing_changes(scene: Scene) -> None:
    """Every object is accepted as it is written, and a second application leaves it alone."""
    client = scene.cluster.client
    moved = []
    for item in deploy.in_waves(scene.made.objects):
        before = client.get(client.path(item))
        moved += [label(item)] if deploy.stripped(client.apply(item)) != deploy.stripped(before) else []
    assert moved == []
