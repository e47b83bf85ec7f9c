"""What each level of access means: the prediction that the test bed compares with a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tenancy.backend.kueue.work import WORK as KUEUE
from tenancy.backend.native.work import WORK as NATIVE
from tenancy.backend.shared.rbac import role_name, roles
from tenancy.backend.volcano.work import WORK as VOLCANO
from tenancy.plan import plan
from tenancy.plan.access import CONCERNS, RIGHTS, WRITE, allowed, levels, may
from tenancy.plan.values import ClusterPlan
from tests.orgs import organized

LEVELS = ("viewer", "member", "admin", "auditor", "platform admin")
GOVERNING = (
    "limits",
    "isolation",
    "queue",
    "quotas",
    "policies",
    "webhooks",
    "roles",
    "namespaces",
    "node rules",
    "cluster",
)
READ_ONLY = ("get", "list", "watch")
WORK = {"kueue": KUEUE, "volcano": VOLCANO, "native": NATIVE}
each_scheduler = pytest.mark.parametrize("scheduler", WORK)


@pytest.fixture(scope="module")
def acme() -> ClusterPlan:
    """Two teams of one department, one of them with two projects, and staff of every level."""
    access = {"members": ["group:vision"], "viewers": ["serviceaccount:research-speech/ci"], "serviceAccounts": ["ci"]}
    projects = {"train": {"access": {"viewers": ["user:eve"]}}, "demo": {}}
    teams: dict[str, Any] = {
        "vision": {"access": access, "projects": projects},
        "speech": {"access": {"members": ["group:speech"], "serviceAccounts": ["ci"]}},
    }
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {}},
        "flavors": {"cpu": {"nodes": 4, "node": {"cpu": 64, "memory": "256Gi"}}},
        "access": {"admins": ["group:platform"], "auditors": ["group:audit"]},
        "departments": {"research": {"access": {"admins": ["user:ada"]}, "teams": teams}},
    }
    (cluster,) = plan(organized(tree))
    return cluster


def test_a_grant_holds_in_the_namespaces_of_its_unit_and_nowhere_else(acme: ClusterPlan) -> None:
    """A department's in all of its teams, a team's in all of its projects, a project's in its own namespace."""
    names = ("research-vision-train", "research-vision-demo", "research-speech", "kube-system", "")

    def where(subject: str) -> list[set[str]]:
        return [set(levels(acme, subject, name)) for name in names]

    assert where("user:ada") == [{"admin"}, {"admin"}, {"admin"}, set(), set()]
    assert where("group:vision") == [{"member"}, {"member"}, set(), set(), set()]
    assert where("user:eve") == [{"viewer"}, set(), set(), set(), set()]
    assert where("user:nobody") == [set()] * 5


def test_platform_staff_has_its_level_everywhere(acme: ClusterPlan) -> None:
    """Inside the organization's namespaces, in others, and outside of namespaces."""
    for namespace in ("research-speech", "kube-system", ""):
        assert levels(acme, "group:platform", namespace) == {"platform admin"}
        assert levels(acme, "group:audit", namespace) == {"auditor"}


def test_a_service_account_is_a_member_at_home_and_what_it_is_granted_elsewhere(acme: ClusterPlan) -> None:
    """Accounts of the same name in other namespaces are others."""
    assert levels(acme, "serviceaccount:research-speech/ci", "research-speech") == {"member"}
    assert levels(acme, "serviceaccount:research-speech/ci", "research-vision-demo") == {"viewer"}
    assert levels(acme, "serviceaccount:research-vision-demo/ci", "research-vision-train") == set()
    assert levels(acme, "serviceaccount:research-speech/default", "research-speech") == set()


def test_a_member_works_and_an_admin_keeps_the_secrets(acme: ClusterPlan) -> None:
    """Work belongs to members, secrets and accounts to admins; a viewer only looks."""

    def who(verb: str, kind: str) -> list[bool]:
        subjects = ("user:eve", "group:vision", "user:ada")
        return [may(acme, subject, verb, kind, "research-vision-train") for subject in subjects]

    assert who("get", "pods/log") == [True, True, True]
    assert who("create", "jobs.batch") == [False, True, True]
    assert who("create", "pods/exec") == [False, True, True]
    assert who("get", "secrets") == [False, False, True]
    assert who("create", "serviceaccounts/token") == [False, False, True]
    assert who("patch", "localqueues.kueue.x-k8s.io") == [False, False, False]


@each_scheduler
@pytest.mark.parametrize("level", ["viewer", "member", "admin", "auditor"])
def test_nobody_but_platform_staff_changes_what_governs(level: str, scheduler: str) -> None:
    """Queues, quotas, isolation, policies, roles, namespaces and nodes."""
    kinds = {kind for concern in GOVERNING for kind in CONCERNS[scheduler].get(concern, ())}
    assert [right for right in allowed(level, scheduler) if right[1] in kinds and right[0] not in READ_ONLY] == []


@each_scheduler
def test_nobody_at_all_gives_rights(scheduler: str) -> None:
    """Roles and bindings come from the organization's repository alone, and nobody acts as somebody else."""
    every = {right for level in LEVELS for right in allowed(level, scheduler)}
    assert {verb for verb, _ in every} == WRITE
    assert {verb for verb, kind in every if kind in CONCERNS[scheduler]["roles"]} == set(READ_ONLY)


@each_scheduler
@pytest.mark.parametrize("level", ["auditor", "platform admin"])
def test_platform_staff_reads_everything_but_secrets(level: str, scheduler: str) -> None:
    """And opens no terminal, and makes no token: with either one it would act as a tenant."""
    hidden = ("secrets", "tokens", "terminals")
    assert {kind for verb, kind in allowed(level, scheduler) if verb == "get"} == {
        kind for concern, kinds in CONCERNS[scheduler].items() if concern not in hidden for kind in kinds
    }


def test_every_concern_is_of_somebody() -> None:
    """A concern that no level has a right to would be a slip of the pen, and so would one without kinds or a kind in
    two."""
    concerns = {concern for right in RIGHTS for concern in right.concerns}
    assert {concern for each in CONCERNS.values() for concern in each} == concerns
    for each in CONCERNS.values():
        kinds = [kind for kinds in each.values() for kind in kinds]
        assert all(each.values())
        assert len(set(kinds)) == len(kinds)


@each_scheduler
@pytest.mark.parametrize("level", LEVELS)
def test_the_emitted_role_of_a_level_is_what_the_level_means(level: str, scheduler: str, acme: ClusterPlan) -> None:
    """Right by right, the roles come to what is said here, no more and no less."""
    name = role_name({"auditor": "platform-auditor", "platform admin": "platform-admin"}.get(level, level))
    (role,) = [
        each
        for each in roles(acme, WORK[scheduler])
        if each["kind"] == "ClusterRole" and each["metadata"]["name"] == name
    ]
    assert set(_given(role["rules"])) ^ allowed(level, scheduler) == set()


def _given(rules: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for rule in rules:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                name, slash, part = resource.partition("/")
                kind = f"{name}.{group}".removesuffix(".") + slash + part
                yield from ((verb, kind) for verb in rule["verbs"])
