"""What Argo CD does with `out/`: compile, apply in waves, prune. What differs by scheduler is in `schedulers.py`."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Final

import yaml

from tenancy import backend
from tenancy.backend.shared.metadata import SYNC_OPTIONS
from tenancy.model.organization import Org
from tenancy.model.versions import MUTATING_SINCE, number
from tenancy.pipeline import Custom
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tenancy.render.conform import checker
from tenancy.render.files import render
from tests.cluster.client import Object, Refused, label
from tests.cluster.plane import Cluster, type_checker, until
from tests.cluster.schedulers import SCHEDULERS, Scheduler
from tests.orgs import organized, scheduled

WAVE: Final = "argocd.argoproj.io/sync-wave"
PRUNE_LAST: Final = "PruneLast=true"
MANAGED: Final = "app.kubernetes.io/managed-by"
KINDS: Final = (
    *("Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "ServiceAccount", "ConfigMap"),
    *("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
)
"""The order of kinds within a wave, as Argo CD has it; all others come after these, by name."""
ADMISSION: Final = tuple(
    f"/apis/admissionregistration.k8s.io/v1/{kind}admission{what}"
    for what in ("policybindings", "policies")
    for kind in ("validating", "mutating")
)
SHARED: Final = (
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    *(f"/apis/rbac.authorization.k8s.io/v1/{kind}" for kind in ("clusterrolebindings", "clusterroles")),
    *(f"/apis/flowcontrol.apiserver.k8s.io/v1/{kind}" for kind in ("flowschemas", "prioritylevelconfigurations")),
    *("/apis/karpenter.sh/v1/nodepools", "/apis/nfd.k8s-sigs.io/v1alpha1/nodefeaturerules"),
    *("/apis/resource.k8s.io/v1/deviceclasses", "/api/v1/namespaces/gpu-operator/configmaps"),
    *(
        f"/apis/monitoring.coreos.com/v1/namespaces/monitoring/{kind}"
        for kind in ("prometheusrules", "servicemonitors")
    ),
    "/api/v1/namespaces/monitoring/configmaps",
)
"""What may be ours outside namespaces of tenants whatever the scheduler is, the users of a thing before the thing."""
WORK: Final = ("/apis/batch/v1/namespaces/{}/jobs", "/api/v1/namespaces/{}/pods")
"""With the scheduler's own: what people run in a namespace."""
PAUSE: Final = 0.5
"""Between two tries."""
ENGINES: Final = ("argocd/", "flux/")
"""Folders of a cluster that a GitOps engine is told by; it need not run here."""
SERVER_SIDE: Final = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")


@dataclass(frozen=True, slots=True)
class Compiled:
    """What one cluster of an organization comes to."""

    plan: ClusterPlan
    org: Org
    objects: tuple[Object, ...]
    configuration: dict[str, Any]
    """Of the scheduler."""

    @property
    def scheduler(self) -> Scheduler:
        """What the test bed knows of its scheduler."""
        return SCHEDULERS[self.plan.cluster.scheduler]


def compiled(
    org: Org, custom: Custom | None = None, *, name: str = "", kubernetes: str = "", kueue: str = "", volcano: str = ""
) -> Compiled:
    """The output for one cluster (the only one, or `name`), for other versions than its own where they are given."""
    (chosen,) = [each for each in plan(org) if name in ("", each.name)]
    chosen = replace(
        chosen,
        kubernetes=kubernetes or chosen.kubernetes,
        kueue=kueue or chosen.kueue,
        volcano=volcano or chosen.volcano,
    )
    conforms = checker(kubernetes=chosen.kubernetes, kueue=chosen.kueue, volcano=chosen.volcano)
    scheduler = chosen.cluster.scheduler
    files = render(chosen.name, backend.items(chosen), conforms, (custom or {}).get(chosen.name, ()))
    inside = {path.removeprefix(f"{chosen.name}/"): text for path, text in files.items()}
    return Compiled(chosen, org, tuple(objects(inside)), SCHEDULERS[scheduler].configuration(inside))


def compiled_for(cluster: Cluster, tree: dict[str, Any]) -> Compiled:
    """The output of an organization as plain data, for the scheduler and the versions that a cluster runs."""
    return compiled(organized(scheduled(tree, cluster.scheduler)), None, **running(cluster))


def running(cluster: Cluster) -> dict[str, str]:
    """The versions that a cluster runs, as `compiled` wants them."""
    return {"kubernetes": cluster.kubernetes, "kueue": cluster.kueue, "volcano": cluster.volcano}


def objects(files: Mapping[str, str]) -> Iterable[Object]:
    """Every object in the texts of a cluster's files that is for the cluster itself; pages have no kind, and
    kustomizations only list the others."""
    for text in (text for path, text in files.items() if not path.startswith(ENGINES)):
        for document in yaml.load_all(text, yaml.CSafeLoader):
            if document is not None and document.get("kind", "Kustomization") != "Kustomization":
                yield document


def in_waves(items: Iterable[Object]) -> list[Object]:
    """The order in which Argo CD applies."""

    def key(item: Object) -> tuple[int, int, str, str]:
        kind = item["kind"]
        rank = KINDS.index(kind) if kind in KINDS else len(KINDS)
        return wave(item), rank, kind, item["metadata"]["name"]

    return sorted(items, key=key)


def wave(item: Object) -> int:
    """The sync wave of an object."""
    return int(item["metadata"].get("annotations", {}).get(WAVE, 0))


def apply(cluster: Cluster, items: Iterable[Object], retries: int = 0) -> list[Object]:
    """Apply in the given order, and answer with the objects as stored. What is refused is tried again before the next
    wave. Raises AssertionError with every refusal."""
    stored: list[Object] = []
    for _, same in groupby(items, wave):
        left = list(same)
        for attempt in range(retries + 1):
            refusals = _applied(cluster, left, stored)
            left = [item for item, _ in refusals]
            if left and attempt < retries:
                time.sleep(PAUSE)
        assert not refusals, "\n".join(f"{label(item)}: {refused}" for item, refused in refusals)
    return stored


def _applied(cluster: Cluster, items: Iterable[Object], stored: list[Object]) -> list[tuple[Object, Refused]]:
    """Apply, add what is accepted to `stored`, and answer with the rest."""
    refusals = []
    for item in items:
        try:
            if item["kind"] == "Namespace":
                make_room(cluster, item)
            stored.append(cluster.client.apply(item))
        except Refused as refused:
            refusals.append((item, refused))
    return refusals


def sync(cluster: Cluster, before: Iterable[Object], after: Iterable[Object], retries: int = 0) -> None:
    """Bring one state of `out/` to another as Argo CD does. Raises AssertionError with what is refused in the end.

    Of each wave, what has left Git is deleted before the rest is applied; the waves of what is deleted are mirrored,
    and PruneLast comes after them all. Where anything is refused, what comes after it waits for the next attempt.
    """
    old, new = ({label(item): item for item in items} for items in (before, after))
    gone = [item for key, item in old.items() if key not in new]
    changed = in_waves(item for key, item in new.items() if old.get(key) != item)
    for _ in range(retries + 1):
        refusals = _synced(cluster, gone, changed)
        if not refusals:
            return
        time.sleep(PAUSE)
    raise AssertionError("\n".join(f"{label(item)}: {refused}" for item, refused in refusals))


def _synced(cluster: Cluster, gone: list[Object], changed: list[Object]) -> list[tuple[Object, Refused]]:
    """One attempt: what was refused in the first step where anything was."""
    last = [item for item in gone if PRUNE_LAST in item["metadata"].get("annotations", {}).get(SYNC_OPTIONS, "")]
    pruned = [item for item in gone if item not in last]
    waves = sorted({wave(item) for item in pruned})
    mirrored = dict(zip(waves, reversed(waves), strict=True))
    for each in sorted({*waves, *map(wave, changed)}):
        refusals = _deleted(cluster, [item for item in pruned if mirrored[wave(item)] == each])
        if not refusals:
            refusals = _applied(cluster, [item for item in changed if wave(item) == each], [])
        if refusals:
            return refusals
    return _deleted(cluster, last)


def _deleted(cluster: Cluster, items: Iterable[Object]) -> list[tuple[Object, Refused]]:
    """Delete, and answer with what is refused."""
    refusals = []
    for item in items:
        try:
            cluster.client.delete(cluster.client.path(item))
        except Refused as refused:
            refusals.append((item, refused))
    return refusals


def apply_until_accepted(
    cluster: Cluster, items: Iterable[Object], chance: random.Random, at_once: int = 1, rounds: int = 5
) -> None:
    """Apply in random order, `at_once` at a time, retrying what was refused as Argo CD's retries do."""
    left = list(items)
    with ThreadPoolExecutor(at_once) as workers:
        for attempt in range(rounds):
            if attempt:
                time.sleep(PAUSE)  # A webhook's cache is behind what was accepted just before.
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

    def leaves() -> bool:
        found = cluster.client.find(path)
        return found is not None and "deletionTimestamp" in found["metadata"]

    if leaves():
        until(lambda: not leaves(), f"the former {label(item)} is gone")
        if item["kind"] == "Namespace":
            until(lambda: _forgotten(cluster, item["metadata"]["name"]), f"the former {label(item)} is forgotten")


def _forgotten(cluster: Cluster, namespace: str) -> bool:
    """Whether admission, which reads namespaces from a cache, knows that one is gone: while it is on its way out to
    admission, nothing is let into a new one of the same name."""
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "namespace": namespace}}
    try:
        cluster.client.create(probe, dry_run=True)
    except Refused as refused:
        return refused.code == 404
    return True


def deploy(cluster: Cluster, made: Compiled) -> None:
    """The scheduler with its configuration, every object, every queue as its state says."""
    made.scheduler.configure(cluster, made.configuration)
    apply(cluster, in_waves(made.objects), made.scheduler.RETRIES)
    until(lambda: inactive(cluster, made.plan) == {}, "every queue is active")
    if any(item["kind"].endswith("AdmissionPolicy") for item in made.objects):
        admission_settled(cluster, made.plan.kubernetes)


def inactive(cluster: Cluster, plan: ClusterPlan) -> dict[str, str]:
    """What the scheduler says of each queue that is not as the plan has it."""
    return SCHEDULERS[cluster.scheduler].inactive(cluster, plan)


def counted(cluster: Cluster) -> None:
    """Wait until the controller of ResourceQuotas has looked at each of them: it binds only as far as its status says,
    and before there is one the API server refuses what it counts."""
    until(lambda: all(map(_is_counted, cluster.client.list("/api/v1/resourcequotas"))), "every quota is counted")


def _is_counted(quota: Object) -> bool:
    return bool(quota.get("status", {}).get("hard") == quota["spec"]["hard"] and "used" in quota["status"])


def withdraw(cluster: Cluster) -> None:
    """Remove everything that carries our label. Namespaces go on their own time: names are rarely asked for again."""
    ours = {"labelSelector": f"{MANAGED}=tenancy"}
    namespaces = [item["metadata"]["name"] for item in cluster.client.list("/api/v1/namespaces", **ours)]
    scheduler = SCHEDULERS[cluster.scheduler]
    for name in namespaces:
        clear_namespace(cluster, name)
    for path in (*ADMISSION, *SHARED):
        for item in cluster.client.list(path, **ours):
            cluster.client.delete(f"{path}/{item['metadata']['name']}")
    scheduler.emptied(cluster)
    for name in namespaces:
        cluster.client.delete(f"/api/v1/namespaces/{name}")
    remove_nodes(cluster)
    until(partial(scheduler.emptied, cluster), "nothing of ours is left outside namespaces", pause=1)


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
    for kind in (*SCHEDULERS[cluster.scheduler].WORK, *WORK):
        cluster.client.delete(kind.format(namespace), propagationPolicy="Background", gracePeriodSeconds="0")


def admission_settled(cluster: Cluster, kubernetes: str) -> None:
    """The API server's admission plugins read policies from a cache; wait until they have those that are applied now.

    Kubernetes gives no status that says so: a policy acts about a second after it was applied. The plugin of mutating
    policies and that of validating ones look at different times, but each takes up policies in their order, so one of
    our own that comes last shows that all others act.
    """
    name = f"policy-probe-{time.time_ns()}"
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    own = list(_probing(name, mutating=number(kubernetes) >= MUTATING_SINCE))
    for item in own:
        cluster.client.create(item)
    marked = [f"{item['kind']}: {name}" for item in own if item["kind"].endswith("Policy")]

    def obeyed() -> bool:
        try:
            cluster.client.create(probe, dry_run=True)
        except Refused as refused:
            return all(mark in refused.message for mark in marked)
        return False

    until(obeyed, "the policies are obeyed")
    for item in reversed(own):
        cluster.client.delete(cluster.client.path(item))


def policies_checked(cluster: Cluster) -> dict[str, Object]:
    """By name what Kubernetes finds wrong with the types of a validating policy, against each kind that it matches."""
    path = ADMISSION[2]

    def checked() -> bool:
        return all(
            item.get("status", {}).get("observedGeneration") == item["metadata"]["generation"]
            for item in cluster.client.list(path)
        )

    with type_checker(cluster):
        until(checked, "the types of policies are checked")
    return {item["metadata"]["name"]: item["status"]["typeChecking"] for item in cluster.client.list(path)}


def _probing(name: str, *, mutating: bool) -> Iterator[Object]:
    """A policy of each sort that does something to the ConfigMap of a name, with its binding."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    constraints = {"resourceRules": [{**rule, "resourceNames": [name]}]}
    message = f'"ValidatingAdmissionPolicy: {name}' + (
        f', " + (object.?data.?seen.hasValue() ? "MutatingAdmissionPolicy: {name}" : "")' if mutating else '"'
    )
    validation = {"expression": "false", "messageExpression": message}
    patch = 'Object{data: {"seen": "yes"}}'
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": patch}}
    sorts: dict[str, tuple[Object, Object]] = {
        "Validating": ({"validations": [validation]}, {"validationActions": ["Deny"]})
    }
    if mutating:
        sorts["Mutating"] = ({"mutations": [mutation], "reinvocationPolicy": "Never"}, {})
    for sort, (policy, binding) in sorts.items():
        yield _named(f"{sort}AdmissionPolicy", name, {"matchConstraints": constraints, **policy})
        yield _named(f"{sort}AdmissionPolicyBinding", name, {"policyName": name, **binding})


def _named(kind: str, name: str, spec: Object) -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name, "labels": {MANAGED: "tenancy"}},
        "spec": spec,
    }


def stripped(item: Object) -> Object:
    """An object without what the API server alone writes."""
    metadata = {key: value for key, value in item["metadata"].items() if key not in SERVER_SIDE}
    return {**{key: value for key, value in item.items() if key != "status"}, "metadata": metadata}
