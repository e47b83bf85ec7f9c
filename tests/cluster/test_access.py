"""Who may do what, where: the API server's own answers against what the organization means.

The organization is the example, with a department whose people are users and service accounts of others.
"""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from tenancy.pipeline import examine
from tenancy.plan.access import CONCERNS, WRITE
from tests.cluster import access, access_page, deploy
from tests.cluster.access import ANONYMOUS, HOME, LEVELS, SPECIAL, Person, Question, allows, asked, person, predicted
from tests.cluster.client import Client, Object, Refused, label
from tests.cluster.deploy import Compiled
from tests.cluster.manager import KUEUE
from tests.cluster.plane import Cluster, until

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "access.md"
LAB: Final = """
apiVersion: tenancy/v1alpha1
kind: Departments
departments:
  lab:
    access: {admins: ["user:ada@acme.example"]}
    teams:
      robots:
        access:
          members: ["user:bo", "serviceaccount:research-vision-train/ci"]
          viewers: ["user:eve"]
          serviceAccounts: [simulator]
        projects:
          arm: {access: {members: ["user:cy"]}}
          leg: {}
"""
FOREIGN: Final = ("default", "kube-system", "kueue-system", "")
"""Namespaces that are not the organization's, and what is in none."""
TELLING: Final = (
    ("get", "pods/log"),
    ("create", "jobs.batch"),
    ("get", "secrets"),
    ("update", "clusterqueues.kueue.x-k8s.io"),
)
"""Enough to tell the levels apart."""
LOOK_OR_MAKE: Final = ("get", "create")
"""What is asked where nobody should have a right: the rules that are listed in full show every other verb."""
SAMPLE: Final = (
    *("pods", "pods/exec", "pods/log", "jobs.batch", "configmaps", "secrets", "serviceaccounts/token"),
    *("localqueues.kueue.x-k8s.io", "networkpolicies.networking.k8s.io", "rolebindings.rbac.authorization.k8s.io"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """The answers for somebody of each level: all kinds of the organization, and all others that are served."""

    answers: dict[str, dict[Question, bool]]
    others: tuple[str, ...]


@pytest.fixture(scope="module")
def made(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The organization, deployed."""
    folder = tmp_path_factory.mktemp("access") / "org"
    shutil.copytree(ROOT / "org", folder)
    (folder / "departments" / "lab.yaml").write_text(LAB, encoding="utf-8")
    with (folder / "org.yaml").open("a", encoding="utf-8") as root:
        root.write("  lab: {file: departments/lab.yaml}\n")
    found = examine(folder)
    assert found.org is not None
    assert found.sound
    compiled = deploy.compiled(found.org, found.custom, kueue=cluster.kueue, kubernetes=cluster.kubernetes)
    deploy.deploy(cluster, compiled)
    deploy.counted(cluster)
    # The authorizer reads bindings from a cache; the last one that was written is in it before anybody asks.
    who, home = LEVELS["viewers"]
    until(lambda: asked(cluster.client, who, Question("get", "pods", home)), "the bindings are obeyed")
    return compiled


@pytest.fixture(scope="module")
def measured(cluster: Cluster, made: Compiled) -> Measured:
    """Every verb on every kind, asked for somebody of each level."""
    concerns = CONCERNS[made.plan.cluster.scheduler]
    ours = {kind for kinds in concerns.values() for kind in kinds}
    found = {kind: (namespaced, verbs) for kind, namespaced, verbs in access.served(cluster.client)}
    everywhere = {kind for kind, (namespaced, _) in found.items() if not namespaced} | set(concerns["all pending"])
    others = {
        kind: [verb for verb in LOOK_OR_MAKE if verb in verbs][:1]
        for kind, (_, verbs) in found.items()
        if kind not in ours
    }
    answers: dict[str, dict[Question, bool]] = {}
    for level, (who, home) in LEVELS.items():
        full = dict.fromkeys(ours, sorted(WRITE) if level in access_page.SHOWN else LOOK_OR_MAKE)
        answers[level] = {
            question: asked(cluster.client, who, question)
            for kind, verbs in {**full, **others}.items()
            for verb in verbs
            for question in [Question(verb, kind, "" if kind in everywhere else home)]
        }
    return Measured(answers, tuple(sorted(others)))


def _differences(rows: Iterable[tuple[Person, Question, bool]], made: Compiled) -> list[str]:
    """The answers that are not what the organization means, to be read."""
    return [
        f"{who.title} {'may' if answer else 'may not'} {question.verb} {question.kind} in {question.namespace or 'all'}"
        for who, question, answer in rows
        if answer != predicted(made.plan, who, question)
    ]


def test_each_level_has_exactly_its_rights(measured: Measured, made: Compiled) -> None:
    """Every verb on every kind that the organization is about is allowed to each level as it means, and not otherwise;
    every other kind that the API server serves is out of reach, but for the questions that everybody may ask."""
    rows = [
        (LEVELS[level][0], question, answer)
        for level, answers in measured.answers.items()
        for question, answer in answers.items()
        if not (answer and question[:2] in access.SELF)
    ]
    wrong = _differences(rows, made)
    assert not wrong, "\n".join(wrong)
    assert sum(answer for _, _, answer in rows) > 500


def test_everybody_has_their_level_where_it_was_given_and_nowhere_else(cluster: Cluster, made: Compiled) -> None:
    """Each subject, account and stranger, in every namespace of the organization, in others, and outside of them."""
    people = [*access.everybody(made.plan), person("group:vision", "group:language"), person("user:cy", "group:vision")]
    places = [*(space.name for space in made.plan.namespaces), *FOREIGN]
    rows = [
        (who, question, asked(cluster.client, who, question))
        for who in people
        for place in places
        for verb, kind in TELLING
        for question in [Question(verb, kind, place)]
    ]
    wrong = _differences(rows, made)
    assert not wrong, "\n".join(wrong)


def test_no_rule_gives_anybody_more_or_less(cluster: Cluster, made: Compiled) -> None:
    """The rules that the API server lists to each person, in each namespace, are the rights that were meant: whatever
    kind or verb nobody thought to ask for would stand there too."""
    wrong = []
    for who in access.everybody(made.plan):
        for place in (*(space.name for space in made.plan.namespaces), *FOREIGN[:-1]):
            found = set() if who is ANONYMOUS else access.rights(cluster.client, who, place) - access.SELF
            right = access.meant(made.plan, who, place)
            wrong += [f"{who.title}, {place}: has {verb} {kind}" for verb, kind in sorted(found - right)]
            wrong += [f"{who.title}, {place}: has not {verb} {kind}" for verb, kind in sorted(right - found)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("level", LEVELS)
def test_nobody_acts_as_another_or_gives_rights(level: str, cluster: Cluster, made: Compiled) -> None:  # noqa: ARG001
    """To impersonate, bind, escalate, approve or sign is nobody's, and no rule has a wildcard."""
    who, home = LEVELS[level]
    questions = [Question(verb, kind, place) for verb, kind in SPECIAL for place in (home, "")]
    assert [question for question in questions if asked(cluster.client, who, question)] == []


@pytest.mark.parametrize("level", LEVELS)
def test_a_request_fares_as_its_review_says(level: str, cluster: Cluster, made: Compiled) -> None:  # noqa: ARG001
    """Sent as that very person, a request is let in where the review allows it, and forbidden where it does not."""
    who, home = LEVELS[level]
    versions = access.served_versions(cluster.client)
    questions = [
        Question(verb, kind, home)
        for kind in SAMPLE
        for verb in access.METHODS
        if "/" not in kind or verb not in access.COLLECTION
    ]
    wrong = [
        question
        for question in questions
        if allows(cluster.client, who, question, versions) != asked(cluster.client, who, question)
    ]
    assert wrong == []


MERGE: Final = "application/merge-patch+json"


def _as(cluster: Cluster, level: str) -> Client:
    who, _ = LEVELS[level]
    return cluster.client.acting_as(who.user, who.groups)


def _refusal(client: Client, method: str, path: str, body: Any = None, kind: str = "application/json") -> str:
    """Why a request is refused; empty where it is not."""
    try:
        client.request(method, path, body, kind)
    except Refused as refused:
        return f"{refused.code} {refused.message}"
    return ""


def _job(namespace: str) -> Object:
    requests = {"cpu": "1", "memory": "1Gi"}
    container = {"name": "main", "image": "none", "resources": {"requests": requests}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"generateName": "access-", "namespace": namespace},
        "spec": {"suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }


JOBS: Final = "/apis/batch/v1/namespaces/{}/jobs"


def test_a_member_submits_at_home_and_nowhere_else(cluster: Cluster, made: Compiled) -> None:  # noqa: ARG001
    """A job of the team is created and deleted by a member; the same job in a namespace where the member may only look,
    in another team's, and outside of the organization, is forbidden."""
    member = _as(cluster, "members")
    created = member.request("POST", JOBS.format(HOME), _job(HOME))
    assert member.get(JOBS.format("research-language-evaluation"))["items"] == []
    for place in ("research-language-evaluation", "product-inference", "default"):
        assert "cannot create resource" in _refusal(member, "POST", JOBS.format(place), _job(place))
    assert _refusal(member, "DELETE", f"{JOBS.format(HOME)}/{created['metadata']['name']}") == ""


@pytest.mark.parametrize("level", ["viewers", "members", "service accounts", "admins", "auditors"])
def test_nobody_of_a_team_changes_its_queue(level: str, cluster: Cluster, made: Compiled) -> None:  # noqa: ARG001
    """Neither the LocalQueue that stands for the team's quota nor a second one, nor the ClusterQueue behind it."""
    client, home = _as(cluster, level), LEVELS[level][1]
    queues = f"{KUEUE}/namespaces/{home}/localqueues"
    second = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "second", "namespace": home},
        "spec": {"clusterQueue": "product-inference"},
    }
    hold = {"spec": {"stopPolicy": "Hold"}}
    assert "cannot patch" in _refusal(client, "PATCH", f"{queues}/default", hold, MERGE)
    assert "cannot delete" in _refusal(client, "DELETE", f"{queues}/default")
    assert "cannot create" in _refusal(client, "POST", queues, second)
    assert "cannot patch" in _refusal(client, "PATCH", f"{KUEUE}/clusterqueues/research-vision", hold, MERGE)


@pytest.mark.parametrize("level", LEVELS)
def test_nobody_makes_themselves_cluster_admin(level: str, cluster: Cluster, made: Compiled) -> None:  # noqa: ARG001
    """A binding to `cluster-admin`, in the own namespace or in all, is forbidden to everybody, platform staff included,
    and so is a place in the binding of an existing level."""
    (who, home), client = LEVELS[level], _as(cluster, level)
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": who.user}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "metadata": {"name": "mine"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [subject],
    }
    for place in (f"{rbac}/namespaces/{home}/rolebindings", f"{rbac}/clusterrolebindings"):
        kind = "RoleBinding" if "namespaces" in place else "ClusterRoleBinding"
        assert "cannot create" in _refusal(client, "POST", place, {**binding, "kind": kind})
    change = {"subjects": [subject]}
    assert "cannot patch" in _refusal(
        client, "PATCH", f"{rbac}/clusterrolebindings/tenancy-platform-admin", change, MERGE
    )


def test_auditors_read_every_object_that_is_deployed(cluster: Cluster, made: Compiled) -> None:
    """Whatever the compiler writes, somebody from outside of the teams can look at it."""
    auditor = _as(cluster, "auditors")
    assert [label(item) for item in made.objects if _refusal(auditor, "GET", cluster.client.path(item))] == []


@pytest.mark.parametrize(
    ("level", "kinds"),
    [
        ("viewers", set()),
        ("members", {"ConfigMap"}),
        ("admins", {"ConfigMap", "ServiceAccount"}),
        ("auditors", set()),
    ],
)
def test_a_team_changes_nothing_that_governs_it(level: str, kinds: set[str], cluster: Cluster, made: Compiled) -> None:
    """Of all that is deployed in its namespaces and outside of them, its people can change a ConfigMap of the
    organization's own templates, and its admins the service accounts."""
    client, team = _as(cluster, level), LEVELS[level][1].rpartition("-")[0]
    touched = [item for item in made.objects if item["metadata"].get("namespace", team).startswith(team)]
    assert {"LocalQueue", "ResourceQuota", "NetworkPolicy", "RoleBinding"} <= {item["kind"] for item in touched}
    changed = {
        item["kind"]
        for item in touched
        if not _refusal(client, "PATCH", f"{cluster.client.path(item)}?dryRun=All", {}, MERGE)
    }
    assert changed == kinds


def test_platform_admins_change_all_but_rights_accounts_and_data(cluster: Cluster, made: Compiled) -> None:
    """Rights are decided in the organization's repository, and the data in a namespace is its team's."""
    client = _as(cluster, "platform admins")
    refused = {
        item["kind"]
        for item in made.objects
        if item["metadata"].get("namespace") != "platform-ci"  # where they are a department's admins as well
        and _refusal(client, "PATCH", f"{cluster.client.path(item)}?dryRun=All", {}, MERGE)
    }
    assert refused == {"ClusterRole", "ClusterRoleBinding", "RoleBinding", "ServiceAccount", "ConfigMap"}


def test_a_member_runs_work_as_any_account_of_the_namespace(cluster: Cluster, made: Compiled) -> None:  # noqa: ARG001
    """Whoever may create pods has, through them, what every service account of the namespace has anywhere, and every
    secret: the API forbids neither."""
    job = _job(HOME)
    spec = job["spec"]["template"]["spec"]
    spec["serviceAccountName"] = "ci"
    spec["volumes"] = [{"name": "key", "secret": {"secretName": "access"}}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": job["metadata"], "spec": spec}
    created = _as(cluster, "members").request("POST", f"/api/v1/namespaces/{HOME}/pods", pod, dryRun="All")
    assert created["spec"]["serviceAccountName"] == "ci"


def test_a_secret_is_read_by_its_admins_alone(cluster: Cluster, made: Compiled) -> None:  # noqa: ARG001
    """The admins of the department read it; its members, viewers of the team, other departments' admins, auditors and
    platform admins do not."""
    path = f"/api/v1/namespaces/{HOME}/secrets"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "access", "namespace": HOME}}
    cluster.client.apply({**secret, "stringData": {"key": "value"}})
    found = _as(cluster, "admins").get(f"{path}/access")
    assert base64.b64decode(found["data"]["key"]) == b"value"
    others = [who for level, (who, _) in LEVELS.items() if level != "admins"]
    for who in [*others, person("group:product-ai-leads"), person("group:language")]:
        client = cluster.client.acting_as(who.user, who.groups)
        assert "cannot get" in _refusal(client, "GET", f"{path}/access"), who
        assert "cannot list" in _refusal(client, "GET", path), who


def test_a_token_carries_the_rights_of_its_account(cluster: Cluster, made: Compiled) -> None:  # noqa: ARG001
    """A token that an admin makes for a declared account submits a job at home, looks on where the account is a guest,
    and is refused elsewhere; nobody but admins can make one."""
    path = f"/api/v1/namespaces/{HOME}/serviceaccounts/ci/token"
    wanted = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    for level in LEVELS.keys() - {"admins"}:
        assert "cannot create" in _refusal(_as(cluster, level), "POST", path, wanted), level
    token = _as(cluster, "admins").request("POST", path, wanted)["status"]["token"]
    robot = replace(cluster.client, headers={"Authorization": f"Bearer {token}"})
    assert _refusal(robot, "POST", JOBS.format(HOME), _job(HOME)) == ""
    assert _refusal(robot, "POST", JOBS.format("lab-robots-arm"), _job("lab-robots-arm")) == ""
    assert "cannot create" in _refusal(robot, "POST", JOBS.format("research-vision-demo"), _job("research-vision-demo"))
    cluster.client.delete(JOBS.format(HOME), propagationPolicy="Background")
    cluster.client.delete(JOBS.format("lab-robots-arm"), propagationPolicy="Background")


def test_the_page_shows_what_was_measured(measured: Measured, golden: bool) -> None:
    """docs/access.md is what the API server answered; `--golden` writes it."""
    shown = access_page.page(measured.answers, measured.others)
    if golden:
        PAGE.write_text(shown, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == shown
