"""What Argo CD does with `out/`: compile, apply in waves, prune. And what Kueue then says of the queues."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import yaml

from tenancy.backend import BACKENDS
from tenancy.backend.shared.admission import mutates
from tenancy.model.organization import Org
from tenancy.pipeline import Custom
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tenancy.render.conform import checker
from tenancy.render.files import render
from tests.cluster import manager
from tests.cluster.client import Object, Refused, condition
from tests.cluster.plane import Cluster, until
from tests.orgs import organized

WAVE: Final = "argocd.argoproj.io/sync-wave"
MANAGED: Final = "app.kubernetes.io/managed-by"
VALUES: Final = "platform/kueue-values.yaml"
KINDS: Final = (
    *("Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "ServiceAccount", "ConfigMap"),
    *("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
)
"""The order of kinds within a wave, as Argo CD has it; all others come after these, by name."""
KUEUE: Final = "/apis/kueue.x-k8s.io/v1beta2"
CLUSTER_WIDE: Final = (
    *(
        f"/apis/admissionregistration.k8s.io/v1/{kind}policybindings"
        for kind in ("validatingadmission", "mutatingadmission")
    ),
    *(f"/apis/admissionregistration.k8s.io/v1/{kind}policies" for kind in ("validatingadmission", "mutatingadmission")),
    *(f"{KUEUE}/{kind}" for kind in ("clusterqueues", "cohorts", "resourceflavors", "topologies")),
    f"{KUEUE}/workloadpriorityclasses",
    *(f"/apis/rbac.authorization.k8s.io/v1/{kind}" for kind in ("clusterrolebindings", "clusterroles")),
)
"""What may be ours outside namespaces, the users of a thing before the thing."""
NUDGE: Final = "test-bed/nudge"
SERVER_SIDE: Final = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")


@dataclass(frozen=True, slots=True)
class Compiled:
    """What one cluster of an organization comes to."""

    plan: ClusterPlan
    org: Org
    objects: tuple[Object, ...]
    configuration: dict[str, Any]
    """Of the manager."""


def compiled(
    org: Org, custom: Custom | None = None, *, name: str = "", kubernetes: str = "", kueue: str = ""
) -> Compiled:
    """The output for one cluster (the only one, or `name`), for other versions than its own where they are given."""
    (chosen,) = [each for each in plan(org) if name in ("", each.name)]
    chosen = replace(chosen, kubernetes=kubernetes or chosen.kubernetes, kueue=kueue or chosen.kueue)
    conforms = checker(kubernetes=chosen.kubernetes, kueue=chosen.kueue)
    files = render(
        chosen.name, BACKENDS[chosen.cluster.scheduler](chosen), conforms, (custom or {}).get(chosen.name, ())
    )
    values = yaml.safe_load(files.pop(f"{chosen.name}/{VALUES}"))
    configuration = yaml.safe_load(values["managerConfig"]["controllerManagerConfigYaml"])
    return Compiled(chosen, org, tuple(objects(files)), configuration)


def compiled_for(cluster: Cluster, tree: dict[str, Any]) -> Compiled:
    """The output of an organization as plain data, for the versions that a cluster runs."""
    return compiled(organized(tree), kubernetes=cluster.kubernetes, kueue=cluster.kueue)


def objects(files: Mapping[str, str]) -> Iterable[Object]:
    """Every object in the texts of `out/`; kustomizations only list the others."""
    for text in files.values():
        for document in yaml.load_all(text, yaml.CSafeLoader):
            if document is not None and document["kind"] != "Kustomization":
                yield document


def in_waves(items: Iterable[Object]) -> list[Object]:
    """The order in which Argo CD applies."""

    def key(item: Object) -> tuple[int, int, str, str]:
        wave = int(item["metadata"].get("annotations", {}).get(WAVE, 0))
        kind = item["kind"]
        rank = KINDS.index(kind) if kind in KINDS else len(KINDS)
        return wave, rank, kind, item["metadata"]["name"]

    return sorted(items, key=key)


def apply(cluster: Cluster, items: Iterable[Object]) -> list[Object]:
    """Apply in the given order, and answer with the objects as stored. Raises AssertionError with every refusal."""
    stored, refusals = [], []
    for item in items:
        try:
            if item["kind"] == "Namespace":
                make_room(cluster, item)
            stored.append(cluster.client.apply(item))
        except Refused as refused:
            refusals.append(f"{label(item)}: {refused}")
    assert refusals == []
    return stored


def apply_until_accepted(
    cluster: Cluster, items: Iterable[Object], chance: random.Random, at_once: int = 1, rounds: int = 5
) -> None:
    """Apply in random order, `at_once` at a time, retrying what was refused as Argo CD's retries do."""
    left = list(items)
    with ThreadPoolExecutor(at_once) as workers:
        for _ in range(rounds):
            chance.shuffle(left)
            accepted = workers.map(partial(_accepted, cluster), left)
            left = [item for item, done in zip(left, accepted, strict=True) if not done]
    assert left == [], f"after {rounds} rounds still refused"


def _accepted(cluster: Cluster, item: Object) -> bool:
    try:
        cluster.client.apply(item)
    except Refused:
        return False
    return True


def make_room(cluster: Cluster, item: Object) -> None:
    """Wait while an object of the same name is on its way out: what is applied to that one goes with it."""
    path = cluster.client.path(item)

    def gone() -> bool:
        found = cluster.client.find(path)
        return found is None or "deletionTimestamp" not in found["metadata"]

    until(gone, f"the former {label(item)} is gone")


def deploy(cluster: Cluster, made: Compiled) -> None:
    """The manager with its configuration, every object, every queue as its state says."""
    manager.configure(cluster, made.configuration)
    apply(cluster, in_waves(made.objects))
    until(lambda: inactive(cluster, made.plan) == {}, "every queue is active", 30)
    _admission_settled(cluster, made)


def inactive(cluster: Cluster, plan: ClusterPlan) -> dict[str, str]:
    """What Kueue says of each queue that is not as the plan has it: active, or stopped where its unit is."""
    stopped = {queue.name for queue in plan.queues if queue.state != "active"}
    wrong: dict[str, str] = {}
    for kind in ("ClusterQueue", "LocalQueue"):
        for item in cluster.client.list(f"{KUEUE}/{kind.lower()}s"):
            name = item["metadata"]["name"] if kind == "ClusterQueue" else item["spec"]["clusterQueue"]
            found = condition(item, "Active")
            right = found is not None and (found["status"] == "True") == (name not in stopped)
            if not right:
                wrong[label({**item, "kind": kind})] = (found or {}).get("message", "no condition")
    return wrong


def withdraw(cluster: Cluster) -> None:
    """Remove everything that carries our label. Namespaces go on their own time: names are rarely asked for again."""
    ours = {"labelSelector": f"{MANAGED}=tenancy"}
    namespaces = [item["metadata"]["name"] for item in cluster.client.list("/api/v1/namespaces", **ours)]
    for name in namespaces:
        clear_namespace(cluster, name)
    for path in CLUSTER_WIDE:
        for item in cluster.client.list(path, **ours):
            cluster.client.delete(f"{path}/{item['metadata']['name']}")
    for name in namespaces:
        cluster.client.delete(f"/api/v1/namespaces/{name}")
    until(partial(_gone, cluster), "nothing of ours is left outside namespaces", 60, pause=1)
    remove_nodes(cluster)


def remove_nodes(cluster: Cluster) -> None:
    """Every node, and the pods of DaemonSets with them."""
    cluster.client.delete("/api/v1/nodes")
    cluster.client.delete("/api/v1/namespaces/kube-system/pods", gracePeriodSeconds="0")


def namespaces_gone(cluster: Cluster, made: Compiled) -> None:
    """Wait until namespaces of the same names, withdrawn before, are gone."""
    for item in made.objects:
        if item["kind"] == "Namespace":
            make_room(cluster, item)


def clear_namespace(cluster: Cluster, namespace: str) -> None:
    """End all work in a namespace."""
    for kind in ("/apis/batch/v1/namespaces/{}/jobs", "/api/v1/namespaces/{}/pods"):
        cluster.client.delete(kind.format(namespace), propagationPolicy="Background", gracePeriodSeconds="0")


def _gone(cluster: Cluster) -> bool:
    """Whether no object of Kueue is left; one that is gets a nudge.

    Kueue may look at a Topology just before it hears that the last flavor of it is gone, and then not again by itself.
    """
    kinds = [path for path in CLUSTER_WIDE if path.startswith(KUEUE)]
    left = [f"{path}/{item['metadata']['name']}" for path in kinds for item in cluster.client.list(path)]
    for path in left:
        with suppress(Refused):  # It may be gone by now.
            cluster.client.patch(path, {"metadata": {"annotations": {NUDGE: str(time.monotonic())}}})
    return left == []


def _admission_settled(cluster: Cluster, made: Compiled) -> None:
    """The API server's admission plugins read policies from a cache; ask until the newest ones are obeyed.

    Kubernetes gives no status that says so: a policy acts about a second after it was applied. The plugin of mutating
    policies and that of validating ones look at different times.
    """
    policies = [item for item in made.objects if item["kind"].endswith("AdmissionPolicy")]
    if policies and made.plan.namespaces:
        _wait_for_mutation(cluster, made.plan)
        _wait_for_refusal(cluster, made.plan)


def _wait_for_mutation(cluster: Cluster, plan: ClusterPlan) -> None:
    """Missing requests are written by the policy that is applied last."""
    if not mutates(plan):
        return
    probe = _probe(plan, {"resources": {"limits": {"cpu": "1"}}}, {})

    def obeyed() -> bool:
        pod = cluster.client.create(probe, dry_run=True)["spec"]["template"]["spec"]
        return "requests" in pod["containers"][0]["resources"]

    until(obeyed, "the mutating policies are obeyed")


def _wait_for_refusal(cluster: Cluster, plan: ClusterPlan) -> None:
    fenced = [flavor for flavor in plan.flavors.values() if flavor.fenced and flavor.taints]
    if not fenced:
        return
    taint = fenced[0].taints[0]
    probe = _probe(plan, {}, {"tolerations": [{"key": taint.key, "operator": "Exists", "effect": taint.effect}]})

    def obeyed() -> bool:
        try:
            cluster.client.create(probe, dry_run=True)
        except Refused as refused:
            return "may tolerate" in refused.message
        return False

    until(obeyed, "the fence is obeyed")


def _probe(plan: ClusterPlan, container: Object, pod: Object) -> Object:
    """A job that is only ever created as a dry run."""
    spec = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none", **container}], **pod}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "policy-probe", "namespace": plan.namespaces[0].name},
        "spec": {"template": {"spec": spec}},
    }


def stripped(item: Object) -> Object:
    """An object without what the API server alone writes."""
    metadata = {key: value for key, value in item["metadata"].items() if key not in SERVER_SIDE}
    return {**{key: value for key, value in item.items() if key != "status"}, "metadata": metadata}


def label(item: Object) -> str:
    """Kind, namespace and name, for messages."""
    namespace = item["metadata"].get("namespace")
    return f"{item['kind']} {namespace + '/' if namespace else ''}{item['metadata']['name']}"
