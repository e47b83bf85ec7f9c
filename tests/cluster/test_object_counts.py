"""How many objects a namespace may hold: the API server refuses the next one of every kind that people may create, and
says which bound it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tenancy.backend.kueue.work import WORK as KUEUE
from tenancy.backend.native.work import WORK as NATIVE
from tenancy.backend.shared.rbac import roles
from tenancy.backend.shared.work import OPERATED, Work
from tenancy.backend.volcano.work import WORK as VOLCANO
from tests.backend.kueue.policy_requests import GPU, NAMESPACE, container, every_kind, spec, train_job
from tests.backend.volcano.policy_requests import every_volcano_kind, job_flow
from tests.cluster import deploy
from tests.cluster.client import Client, Object, Refused
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster, until
from tests.cluster.test_admission import runtime
from tests.orgs import changed

TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {"scheduler": "native"}},
    "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 1, "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"}}},
    "departments": {
        "research": {
            "budget": {"h100": 8},
            "teams": {
                "vision": {"budget": {"h100": 8}, "access": {"admins": ["group:vision"]}, "projects": {"train": {}}}
            },
        }
    },
}
LIMITS: Final = "departments.research.teams.vision.limits.objects"
SIZE: Final = {"cpu": "2", "memory": "3Gi", GPU: "1"}
QUEUE: Final = "research-vision-h100"
MOST: Final = 3
"""Objects of a kind in these tests."""
BARE: Final = {"configmaps", "persistentvolumeclaims", "pods", "secrets", "services"}
"""Kinds that the language counts by their plain names."""
WAITING: Final = {"suspend": True, "template": {"spec": spec(container())}}


def created(work: Work, made: Compiled) -> set[str]:
    """What admins of a team may create, as keys of a quota; what is only connected to is not stored."""
    (admin,) = [item for item in roles(made.plan, work) if item["metadata"]["name"] == "tenancy-admin"]
    return {
        resource if resource in BARE else f"count/{resource}.{group}".rstrip(".")
        for rule in admin["rules"]
        if "create" in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if "/" not in resource
    }


def named(version: str, kind: str, **body: Any) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "one", "namespace": NAMESPACE}, **body}


def none_running(kind: str) -> Object:
    labels = {"app": "one"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container()]}}
    body = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    return named("apps/v1", kind, spec={**body, **({"serviceName": "one"} if kind == "StatefulSet" else {})})


PLAIN: Final[dict[str, Object]] = {
    "configmaps": named("v1", "ConfigMap"),
    "secrets": named("v1", "Secret"),
    "services": named("v1", "Service", spec={"clusterIP": "None"}),
    "persistentvolumeclaims": named(
        "v1",
        "PersistentVolumeClaim",
        spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    ),
    "pods": named("v1", "Pod", spec=spec(container())),
    "count/serviceaccounts": named("v1", "ServiceAccount"),
    "count/jobs.batch": named("batch/v1", "Job", spec=WAITING),
    "count/cronjobs.batch": named(
        "batch/v1", "CronJob", spec={"schedule": "0 4 * * *", "jobTemplate": {"spec": WAITING}}
    ),
    "count/deployments.apps": none_running("Deployment"),
    "count/statefulsets.apps": none_running("StatefulSet"),
}
"""By the key of its bound: one of each kind of Kubernetes itself that people may create."""


def deployed(cluster: Cluster, limits: dict[str, int]) -> tuple[Compiled, Client]:
    """The organization with these bounds in force, and an admin of the team."""
    made = deploy.compiled_for(cluster, changed(TREE, {LIMITS: limits}))
    deploy.deploy(cluster, made)
    path = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/tenancy"
    until(
        lambda: limits.keys() <= cluster.client.get(path).get("status", {}).get("used", {}).keys(), "quotas count", 60
    )
    return made, cluster.client.acting_as("ada", ["vision"])


def until_refused(client: Client, item: Object) -> Iterator[str]:
    """What the API server says to each of several creates, up to the first refusal."""
    for index in range(MOST + 1):
        try:
            client.create({**item, "metadata": {**item["metadata"], "name": f"x{index}"}})
        except Refused as refused:
            yield refused.message
            return
        yield ""


@pytest.mark.native
def test_the_next_object_of_every_kind_is_refused_with_its_bound(cluster: Cluster) -> None:
    """A bound holds for each kind that people may create, at the number that `limits.objects` says, and the message has
    the bound, what is used and the key to change."""
    made, ada = deployed(cluster, dict.fromkeys(PLAIN, MOST))
    assert set(PLAIN) == created(NATIVE, made)
    answers = {key: list(until_refused(ada, item)) for key, item in PLAIN.items()}
    for key, (*_, last) in answers.items():
        assert f"exceeded quota: tenancy, requested: {key}=1, used: {key}={MOST}, limited: {key}={MOST}" in last, key


@pytest.mark.native
@pytest.mark.parametrize(
    ("kind", "key"), [("NodePort", "services.nodeports"), ("LoadBalancer", "services.loadbalancers")]
)
def test_a_service_that_opens_the_cluster_is_refused(cluster: Cluster, kind: str, key: str) -> None:
    """Load balancers and node ports are for platform staff: none is allowed unless `limits.objects` says so."""
    _, ada = deployed(cluster, {"services": MOST})
    (said,) = until_refused(ada, named("v1", "Service", spec={"type": kind, "ports": [{"port": 80}]}))
    assert f"{key}=1" in said
    assert f"limited: {key}=0" in said or f",{key}=0" in said


@pytest.mark.native
def test_every_bound_is_one_that_the_server_counts(cluster: Cluster) -> None:
    """A key that the server does not know, or an object that it never counts, would be no bound."""
    deployed(cluster, {"services": MOST})
    path = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/tenancy"
    until(lambda: used(cluster, path) == set(cluster.client.get(path)["spec"]["hard"]), "every key is counted", 60)


def used(cluster: Cluster, path: str) -> set[str]:
    return set(cluster.client.get(path).get("status", {}).get("used", {}))


def key_of(client: Client, item: Object) -> str:
    """The key of a quota that counts objects of its kind."""
    group = item["apiVersion"].rpartition("/")[0]
    plural = client.collection(item["apiVersion"], item["kind"]).rpartition("/")[2]
    return f"count/{plural}.{group}".rstrip(".")


@pytest.mark.volcano("1.15")
def test_the_next_job_of_volcano_is_refused_with_its_bound(cluster: Cluster) -> None:
    """Whether Volcano's controller would take it up, or never look at it in a queue that is full, it is counted."""
    items = [*every_volcano_kind("x", spec(container(SIZE, requests=SIZE)), QUEUE), job_flow("x")]
    by_key = {key_of(cluster.client, item): item for item in items}
    made, ada = deployed(cluster, dict.fromkeys(by_key, 0))
    assert by_key.keys() | PLAIN.keys() == {key for key in created(VOLCANO, made) if key not in operated()}
    for key, item in by_key.items():
        (said,) = until_refused(ada, item)
        assert f"exceeded quota: tenancy, requested: {key}=1, used: {key}=0, limited: {key}=0" in said, key


def operated() -> set[str]:
    """The keys of the kinds of operators, which the test of Kueue counts."""
    return {f"count/{resource}.{framework.group}" for framework in OPERATED for resource in framework.resources}


@pytest.mark.kueue("0.19")
def test_the_next_job_of_every_framework_is_refused_with_its_bound(with_frameworks: Cluster) -> None:
    """Jobs of operators are counted by their own kinds: the refusal comes at the create and not from
    a queue that never admits."""
    work = spec(container(SIZE, requests=SIZE))
    wrapped = named("workload.codeflare.dev/v1beta2", "AppWrapper", spec={"components": []})
    items = [*every_kind("x", work), train_job("x", {"limits": SIZE, "requests": SIZE}), wrapped]
    client = with_frameworks.client
    client.apply(runtime("torch-distributed", []))
    by_key = {key_of(client, item): item for item in items}
    keys = by_key.keys() - PLAIN.keys() - {"count/pods"}
    made, ada = deployed(with_frameworks, dict.fromkeys(keys, 0))
    assert keys | set(PLAIN) == created(KUEUE, made)
    for key in sorted(keys):
        (said,) = until_refused(ada, by_key[key])
        assert f"exceeded quota: tenancy, requested: {key}=1, used: {key}=0, limited: {key}=0" in said, key
