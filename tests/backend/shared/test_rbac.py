"""Least privilege: what each access level may do, and what none of a team's may."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenancy.backend.kueue.work import WORK as KUEUE
from tenancy.backend.native.work import WORK as NATIVE
from tenancy.backend.shared.work import Work
from tenancy.backend.volcano.work import WORK as VOLCANO

from .support import objects, one, planned

WRITES = {"create", "update", "patch", "delete", "deletecollection", "bind", "escalate", "impersonate", "*"}
PROTECTED = {
    "localqueues",
    "clusterqueues",
    "cohorts",
    "resourceflavors",
    "topologies",
    "workloads",
    "workloads/status",
    "workloadpriorityclasses",
    "priorityclasses",
    "queues",
    "podgroups",
    "commands",
    "hypernodes",
    "admissionchecks",
    "resourcequotas",
    "limitranges",
    "networkpolicies",
    "roles",
    "rolebindings",
    "clusterroles",
    "clusterrolebindings",
    "namespaces",
    "nodes",
    "persistentvolumes",
    "validatingadmissionpolicies",
    "mutatingadmissionpolicies",
    "pods/ephemeralcontainers",
    "pods/binding",
    "replicasets",
    "daemonsets",
}


each_work = pytest.mark.parametrize("work", [KUEUE, VOLCANO, NATIVE], ids=["kueue", "volcano", "native"])


def _allowed(role: str, work: Work = KUEUE) -> Iterator[tuple[str, str, str]]:
    """(API group, resource, verb) of every right of a ClusterRole."""
    for rule in one(planned(), "ClusterRole", f"tenancy-{role}", work)["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    yield group, resource, verb


@each_work
@pytest.mark.parametrize("role", ["admin", "member", "viewer", "platform-auditor"])
def test_no_level_of_a_team_may_write_what_governs_it(role: str, work: Work) -> None:
    """Queues, quotas, isolation, rights and namespaces are out of reach, and nothing is a wildcard."""
    rights = list(_allowed(role, work))
    assert [right for right in rights if right[1] in PROTECTED and right[2] in WRITES] == []
    assert not [right for right in rights if "*" in right]


@each_work
def test_members_may_submit_every_kind_that_the_queue_manages_and_no_other_work(work: Work) -> None:
    """A kind that no integration manages would run beside the queue."""
    managed = {(framework.group, resource) for framework in work.frameworks for resource in framework.resources}
    created = {(group, resource) for group, resource, verb in _allowed("member", work) if verb == "create"}
    assert managed <= created
    beside = {("", name) for name in ("configmaps", "persistentvolumeclaims", "services")}
    beside |= {("", f"pods/{name}") for name in ("attach", "exec", "portforward")}
    assert created - managed - beside == {("batch", "cronjobs")}


@pytest.mark.parametrize("role", ["viewer", "platform-auditor"])
def test_readers_only_read_and_see_no_secrets(role: str) -> None:
    """Viewers and auditors change nothing and read no credentials."""
    rights = list(_allowed(role))
    assert {verb for _, _, verb in rights} <= {"get", "list", "watch"}
    assert not {resource for _, resource, _ in rights} & {"secrets", "serviceaccounts/token", "pods/exec"}


def test_only_admins_of_a_team_touch_its_secrets() -> None:
    """Members use secrets through pods; they neither list nor write them."""
    assert ("", "secrets", "get") in set(_allowed("admin"))
    assert "secrets" not in {resource for _, resource, _ in _allowed("member")}


@pytest.mark.parametrize(
    ("work", "group", "queues"),
    [
        (KUEUE, "kueue.x-k8s.io", "clusterqueues"),
        (VOLCANO, "scheduling.volcano.sh", "queues"),
        (NATIVE, "", "resourcequotas"),
    ],
    ids=["kueue", "volcano", "native"],
)
def test_platform_admins_change_queues_but_not_rights(work: Work, group: str, queues: str) -> None:
    """Whoever may write roles may give themselves everything."""
    rights = set(_allowed("platform-admin", work))
    assert (group, queues, "update") in rights
    assert not [right for right in rights if right[0] == "rbac.authorization.k8s.io" and right[2] in WRITES]


def test_bindings_carry_the_subjects_as_kubernetes_has_them() -> None:
    """Groups and users with the API group of RBAC, accounts with their namespace and without one."""
    access = {
        "members": ["group:vision", "user:ada@acme.example", "serviceaccount:argocd/runner"],
        "serviceAccounts": ["ci"],
    }
    binding = one(planned({"access": access}), "RoleBinding")
    assert binding["metadata"]["namespace"] == "research-vision"
    assert binding["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "tenancy-member",
    }
    assert binding["subjects"] == [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "vision"},
        {"kind": "ServiceAccount", "name": "runner", "namespace": "argocd"},
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ada@acme.example"},
        {"kind": "ServiceAccount", "name": "ci", "namespace": "research-vision"},
    ]


def test_rights_of_a_department_hold_in_every_namespace_of_its_teams() -> None:
    """What a department grants is bound in each of them; what a project grants, in its own only."""
    team = {"projects": {"a": {"access": {"viewers": ["user:eve"]}}, "b": {}}, "access": {"admins": ["user:bo"]}}
    cluster = planned(team)
    assert [(obj["metadata"]["namespace"], obj["metadata"]["name"]) for obj in objects(cluster, "RoleBinding")] == [
        ("research-vision-a", "tenancy-admin"),
        ("research-vision-a", "tenancy-viewer"),
        ("research-vision-b", "tenancy-admin"),
    ]


def test_the_default_account_has_no_token() -> None:
    """A training container has no business with the API server; a declared account does."""
    accounts = objects(planned({"access": {"serviceAccounts": ["ci"]}}), "ServiceAccount")
    assert {obj["metadata"]["name"]: obj["automountServiceAccountToken"] for obj in accounts} == {
        "default": False,
        "ci": True,
    }


def test_platform_staff_is_bound_once_for_the_cluster() -> None:
    """Only where the organization names somebody."""
    cluster = planned(access={"admins": ["group:platform"], "auditors": []})
    assert [obj["metadata"]["name"] for obj in objects(cluster, "ClusterRoleBinding")] == ["tenancy-platform-admin"]


@each_work
def test_every_kind_that_a_team_may_create_is_counted(work: Work) -> None:
    """A kind without a bound would let one tenant fill the API server's store for all."""
    hard = one(planned(), "ResourceQuota", work=work)["spec"]["hard"]
    created = {
        (group, resource)
        for role in ("admin", "member", "viewer")
        for group, resource, verb in _allowed(role, work)
        if verb == "create" and "/" not in resource
    }
    names = {(resource, f"count/{resource}.{group}".removesuffix(".")) for group, resource in created}
    assert [count for bare, count in sorted(names) if not hard.keys() & {bare, count}] == []
