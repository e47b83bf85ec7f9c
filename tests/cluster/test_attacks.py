"""What members of teams try on a cluster with Kueue and our policies: attacks are refused, ordinary work is not.

That the attacks work where there are no policies is in test_past_kueue.py. What ends something comes last.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.backend.kueue.attack_tables import ATTACKS, ORDINARY
from tests.backend.kueue.attacks import BEFORE, job, owner
from tests.cluster import deploy
from tests.cluster.again import touched
from tests.cluster.attackers import (
    HERE,
    STOPPING,
    acting,
    charge_of_a_group,
    create,
    is_policy,
    known,
    named,
    phase,
    pods,
    rules,
    unguarded,
    unread_format,
    wrongly_answered,
)
from tests.cluster.client import Client, Object, Refused
from tests.cluster.jobs import Scene
from tests.cluster.plane import Cluster, until

pytestmark = pytest.mark.kueue("0.19")

USUAL: Final = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "usual", "labels": {deploy.MANAGED: "tenancy"}},
    "value": 5,
    "globalDefault": True,
}
"""What Kubernetes writes into every pod that names no class."""
REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
FORBIDDEN: Final = (
    *(("", f"pods/{part}", "create") for part in ("binding", "eviction")),
    *(("", f"pods/{part}", "patch") for part in ("status", "resize", "ephemeralcontainers")),
    *(("kueue.x-k8s.io", kind, verb) for kind in ("localqueues", "workloads") for verb in ("create", "patch")),
    ("kueue.x-k8s.io", "workloads/status", "update"),
    ("batch", "jobs/status", "update"),
    *(("apps", kind, "create") for kind in ("replicasets", "daemonsets")),
    *(("", kind, "patch") for kind in ("namespaces", "resourcequotas", "limitranges")),
)
"""API group, resource and verb: what would be a way past the policies."""
JOBSETS: Final = "jobset-system/jobset-controller-manager"
RUN: Final = ("runs/pod", "alone/pod", "serves/pod")


@pytest.fixture(scope="module")
def scene(with_frameworks: Cluster) -> Scene:
    """The organization without its policies, and what its members have in it."""
    found = unguarded(with_frameworks)
    with_frameworks.client.apply(USUAL)
    for name, item in BEFORE.items():
        create(acting(with_frameworks), named(item, name))
    return found


@pytest.fixture(scope="module")
def before(scene: Scene) -> dict[str, Object]:
    """By name: the objects of BEFORE once the queue has let in what it does, and with `/pod` their first pods."""

    def first() -> dict[str, Object]:
        return {f"{name.partition('-')[0]}/pod": each for name, each in pods(scene).items()}

    def run() -> bool:
        found = first()
        return all(found.get(name, {}).get("status", {}).get("phase") == "Running" for name in RUN)

    until(run, f"{', '.join(RUN)} run")
    client = scene.cluster.client
    return {**first(), **{name: client.get(client.path(named(item, name))) for name, item in BEFORE.items()}}


@pytest.fixture(scope="module")
def guarded(scene: Scene, before: dict[str, Object]) -> Scene:  # noqa: ARG001
    """The same with the policies."""
    deploy.apply(scene.cluster, deploy.in_waves(item for item in scene.made.objects if is_policy(item)))
    deploy.admission_settled(scene.cluster, scene.made.plan.kubernetes)
    return scene


def rights_of(account: str) -> list[Object]:
    """A role and its binding, by which a ServiceAccount is the controller of JobSets."""
    namespace, _, name = account.partition("/")
    metadata = {"name": "test-jobset-controller", "labels": {deploy.MANAGED: "tenancy"}}
    rules_ = [
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create"]},
        {"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets/status"], "verbs": ["get", "patch", "update"]},
    ]
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": metadata}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": metadata["name"]}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    return [
        {**rbac, "kind": "ClusterRole", "rules": rules_},
        {**rbac, "kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]},
    ]


def made_by(client: Client, item: Object) -> str:
    """Why somebody may not create an object; nothing where they may."""
    try:
        client.create(item, dry_run=True)
    except Refused as refused:
        return refused.message
    return ""


def test_every_attack_is_refused_with_its_words(guarded: Scene, before: dict[str, Object]) -> None:
    """By the policy whose rule it breaks, in words that say what to write."""
    assert wrongly_answered(guarded.cluster, guarded.made, before, ATTACKS) == {}


def test_ordinary_work_is_let_through(guarded: Scene, before: dict[str, Object]) -> None:
    """What people do all day, and what they do with work from before the policies."""
    assert wrongly_answered(guarded.cluster, guarded.made, before, ORDINARY) == {}


def test_the_api_server_finds_no_type_error(guarded: Scene) -> None:
    """In none of the policies, for any of the kinds that they match."""
    found = deploy.policies_checked(guarded.cluster)
    assert {name for name, _ in rules(guarded.made)} <= found.keys()
    assert {name: warnings for name, warnings in found.items() if warnings} == {}


def test_applied_twice_nothing_changes(guarded: Scene) -> None:
    """The policies state every default."""
    assert touched(guarded.cluster, filter(is_policy, guarded.made.objects)) == []


def test_no_member_has_a_right_past_them(guarded: Scene) -> None:
    """The API server grants none of the rights by which a member would get around the policies."""
    granted = []
    for group, kind, verb in FORBIDDEN:
        resource, _, part = kind.partition("/")
        asked = {"namespace": HERE, "verb": verb, "group": group, "resource": resource, "subresource": part}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": "mallory", "groups": ["vision"], "resourceAttributes": asked},
        }
        if guarded.cluster.client.request("POST", REVIEWS, review)["status"]["allowed"]:
            granted.append(f"{verb} {kind}")
    assert granted == []


def test_controllers_make_what_belongs_to_their_owners(guarded: Scene, before: dict[str, Object]) -> None:
    """Whoever may write the status of JobSets makes jobs of one; an account of Argo CD, which may do everything and
    speaks for whoever writes to its repositories, does not."""
    for item in rights_of(JOBSETS):
        guarded.cluster.client.apply(item)
    child = named(known(job(metadata=owner("jobset.x-k8s.io/v1alpha2", "JobSet", "set")), before), "child")
    controller = guarded.cluster.client.acting_as(f"system:serviceaccount:{JOBSETS.replace('/', ':')}")
    until(lambda: made_by(controller, child) == "", "its rights are known")
    engine = guarded.cluster.client.acting_as(
        "system:serviceaccount:kube-system:argocd-manager", ["system:serviceaccounts:kube-system", "system:masters"]
    )
    assert "Only a controller makes what has an owner" in made_by(engine, child)


def test_a_pod_of_a_group_cannot_say_its_role(guarded: Scene) -> None:
    """What it says is removed before Kueue looks, so seven cpu are counted as seven."""
    assert charge_of_a_group(guarded) == 7000


def test_nobody_stops_kueue(guarded: Scene) -> None:
    """A priority that Kueue cannot read is refused, to the administrator of the cluster too; one that it can is not."""
    client = guarded.cluster.client
    ours = client.path(next(item for item in guarded.made.objects if item["kind"] == "WorkloadPriorityClass"))
    with unread_format(guarded.cluster):
        for value in (3_000_000_000, 1_000_000_001, -(1 << 31) - 1):
            with pytest.raises(Refused, match="no job of anybody is let in"):
                client.create({**STOPPING, "value": value}, dry_run=True)
        with pytest.raises(Refused, match="no job of anybody is let in"):
            client.patch(ours, {"value": 3_000_000_000})
        for value in (1_000_000_000, -(1 << 31)):
            client.create({**STOPPING, "value": value}, dry_run=True)


def test_jobs_take_their_pods_with_them(guarded: Scene, before: dict[str, Object]) -> None:
    """A member deletes work in every usual way, but not in the one that leaves pods behind."""
    member = acting(guarded.cluster)
    orphaning = {"kind": "DeleteOptions", "apiVersion": "v1", "orphanDependents": True}
    for name in ("runs", "set", "trains"):
        with pytest.raises(Refused, match="delete without --cascade=orphan"):
            member.delete(member.path(before[name]), propagationPolicy="Orphan")
        with pytest.raises(Refused, match="delete without --cascade=orphan"):
            member.request("DELETE", member.path(before[name]), orphaning)
    with pytest.raises(Refused, match="delete without --cascade=orphan"):
        member.delete(member.path(before["runs"]).rpartition("/")[0], propagationPolicy="Orphan")
    member.delete(member.path(before["nightly"]), propagationPolicy="Orphan")
    for name, policy in {"waits": "Background", "runs": "Foreground"}.items():
        member.delete(member.path(before[name]), propagationPolicy=policy)
    for name in ("set", "trains", "serves", "alone"):
        member.request("DELETE", member.path(before[name]))
    left = {"runs", "serves", "alone"}
    until(lambda: not left & {name.partition("-")[0] for name in pods(guarded)}, "their pods are gone")
    assert phase(guarded, "gated") == "Pending"
