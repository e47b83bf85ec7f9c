"""`tenancy diff --against live` and `--usage live` on a real API server: silent after a deployment, and then it tells
what was changed and by whom."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tenancy.backend import CODES
from tenancy.cli import run
from tests.cluster import deploy, jobs, nodes, volcano_jobs
from tests.cluster.access import EVERYBODY, Person, Question, asked
from tests.cluster.client import MERGE, Client, Object, Refused
from tests.cluster.deploy import Compiled
from tests.cluster.plane import ADMIN, Cluster, until
from tests.orgs import changed, scheduled

pytestmark = [pytest.mark.kueue("0.19"), pytest.mark.volcano("1.15")]

GPU: Final = "nvidia.com/gpu"
RBAC: Final = "rbac.authorization.k8s.io/v1"
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "living",
    "domain": "living.example",
    "clusters": {"main": {}},
    "flavors": {
        "h100": {
            "gpu": "H100-SXM-80GB",
            "nodes": 2,
            "node": {"gpus": 8, "cpu": 130, "memory": "1028Gi"},
            "daemons": {"cpu": "2", "memory": "4Gi"},
            "taint": "reserved=training:NoSchedule",
        }
    },
    "priorities": {"high": 100},
    "access": {"auditors": ["group:audit"]},
    "departments": {
        "lab": {
            "budget": {"h100": 16},
            "teams": {
                "dev": {"budget": {"h100": 8}, "access": {"members": ["group:dev"], "serviceAccounts": ["ci"]}},
                "ops": {"budget": {"h100": 4}, "network": {"egress": {"internet": True}}},
            },
        }
    },
}


class Live:
    """An organization that is deployed, and the command on it."""

    def __init__(self, cluster: Cluster, made: Compiled, folder: Path, out: pytest.CaptureFixture[str]) -> None:
        self.cluster = cluster
        self.client: Client = cluster.client
        self.made = made
        self.folder = folder
        self.out = out
        self.say(TREE)

    def say(self, tree: dict[str, Any]) -> None:
        """Make this the organization in git."""
        versions = {name: version for name, version in deploy.running(self.cluster).items() if version}
        tree = scheduled(tree, self.cluster.scheduler)
        clusters = {name: {**each, "versions": versions} for name, each in tree["clusters"].items()}
        (self.folder / "org.yaml").write_text(json.dumps({**tree, "clusters": clusters}), encoding="utf-8")

    def diff(self, *options: str, token: str = ADMIN) -> tuple[int, str]:
        """Status and output of the command."""
        self.out.readouterr()
        losses = [f"--allow-loss={code}" for code in CODES]
        config = str(self.cluster.kubeconfig(token))
        status = run(["diff", str(self.folder), "--kubeconfig", config, *losses, *options])
        shown = self.out.readouterr()
        return status, shown.out + shown.err

    def against_live(self, *options: str, token: str = ADMIN) -> tuple[int, str]:
        """With the running cluster as the old side."""
        return self.diff("--against", "live", "--exit-code", *options, token=token)

    def path(self, kind: str, name: str = "") -> str:
        """Where an object of the organization lives; without a name that of the first of its kind."""
        found = (each for each in self.made.objects if each["kind"] == kind and name in ("", each["metadata"]["name"]))
        return self.client.path(next(found))


@pytest.fixture(scope="module")
def made(cluster: Cluster) -> Compiled:
    """The organization, deployed once."""
    found = deploy.compiled_for(cluster, TREE)
    deploy.withdraw(cluster)
    deploy.namespaces_gone(cluster, found)
    nodes.make(cluster, found)
    deploy.deploy(cluster, found)
    deploy.counted(cluster)
    return found


@pytest.fixture
def live(cluster: Cluster, made: Compiled, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Live]:
    """With the organization deployed; what a test has changed is changed back."""
    found = Live(cluster, made, tmp_path, capsys)
    yield found
    deploy.apply(cluster, deploy.in_waves(made.objects), made.scheduler.RETRIES)
    until(lambda: deploy.inactive(cluster, made.plan) == {}, "every queue is active")


def test_after_a_deployment_there_is_nothing_to_say(live: Live) -> None:
    """Nothing differs, nothing is foreign and nothing is refused: the same as Argo CD that is silent. And it is
    only looked: no object is written."""
    before = {live.client.path(item): live.client.get(live.client.path(item)) for item in live.made.objects}
    assert live.against_live() == (0, "no changes\n")
    after = {path: live.client.get(path) for path in before}
    assert [path for path in before if _version(before[path]) != _version(after[path])] == []


def test_an_edit_by_hand_is_shown_with_its_author(live: Live) -> None:
    """In the words of the plan, and with the field manager of whoever did it; a sync would change it back."""
    role = live.path("RoleBinding")
    subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eve"}]
    live.client.request("PATCH", role, {"subjects": subjects}, MERGE, fieldManager="kubectl-edit")
    status, shown = live.against_live()
    assert status == 1
    assert "Access gained" in shown or "Access lost" in shown
    assert "user:eve" in shown
    assert "(by kubectl-edit, " in shown


def test_an_edited_queue_is_shown_as_a_promise(live: Live) -> None:
    """What somebody has given himself in the cluster, in GPUs."""
    kueue = not live.cluster.volcano
    path = live.path("ClusterQueue", "lab-ops") if kueue else live.path("Queue", "lab-ops-h100")
    spec = live.client.get(path)["spec"]
    if kueue:
        flavors = [flavor for group in spec["resourceGroups"] for flavor in group["flavors"]]
        gpus = next(each for flavor in flavors for each in flavor["resources"] if each["name"] == GPU)
        gpus["nominalQuota"] = "5"
        change: Object = {"spec": {"resourceGroups": spec["resourceGroups"]}}
    else:
        change = {"spec": {"deserved": {GPU: "3"}}}
    live.client.request("PATCH", path, change, MERGE, fieldManager="kubectl-edit")
    status, shown = live.against_live()
    assert status == 1
    now = "5" if kueue else "3"
    assert re.search(rf"lab/ops +h100 +GPUs.* {now} → 4 ", shown)
    assert f"{now} → 4 (by kubectl-edit, " in shown


def test_what_others_add_is_no_change(live: Live) -> None:
    """A label and an annotation of somebody else: said, with who and when, and left alone."""
    path = live.path("Namespace", "lab-dev")
    mine = {"metadata": {"labels": {"their.example/label": "x"}, "annotations": {"theirs": "y"}}}
    live.client.request("PATCH", path, mine, MERGE, fieldManager="kubectl-label")
    status, shown = live.against_live()
    assert status == 1
    assert shown.startswith("no changes\n")
    assert "metadata.labels[their.example/label]: x (by kubectl-label, " in shown
    assert "metadata.annotations.theirs: y (by kubectl-label, " in shown
    live.client.patch(path, {"metadata": {"labels": {"their.example/label": None}, "annotations": {"theirs": None}}})
    assert live.against_live()[0] == 0


def test_missing_and_extra_objects_are_found(live: Live) -> None:
    """One of ours that was deleted, one with our labels that is not generated, of a kind that nothing else has."""
    live.client.delete(live.path("NetworkPolicy"))
    labels = live.client.get(live.path("Namespace", "lab-dev"))["metadata"]["labels"]
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "old", "namespace": "lab-dev", "labels": labels},
    }
    live.client.create(secret)
    status, shown = live.against_live()
    live.client.delete(live.client.path(secret))
    assert status == 1
    assert "- Secret lab-dev/old: nothing tracks it, so nothing prunes it" in shown
    assert re.search(r"Not in the cluster:\n +\+ NetworkPolicy lab-", shown)
    assert "2 objects: 1 to delete, 0 to update, 1 to create" in shown


def test_what_the_api_server_refuses_is_found_before_the_sync(live: Live) -> None:
    """A dry run passes admission: here a policy that no object of a namespace may pass."""
    name = "no-limits"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["limitranges"]}
    policy = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "false", "message": "frozen"}],
    }
    binding = {"policyName": name, "validationActions": ["Deny"]}
    own = [
        _admission("ValidatingAdmissionPolicy", name, policy),
        _admission("ValidatingAdmissionPolicyBinding", name, binding),
    ]
    for item in own:
        live.client.create(item)
    limits = next(item for item in live.made.objects if item["kind"] == "LimitRange")
    until(lambda: _refused(live.client, limits), "the policy acts")
    status, shown = live.against_live()
    for item in own:
        live.client.delete(live.client.path(item))
    assert status == 1
    assert "Refused in a dry run" in shown
    assert re.search(r"! LimitRange lab-\w+/.*\n +.*ValidatingAdmissionPolicy 'no-limits'.*frozen", shown)
    until(lambda: not _refused(live.client, limits), "the policy acts no longer")


def test_a_reader_sees_the_drift_without_a_dry_run(live: Live) -> None:
    """Rights to read suffice to compare; what could not be tried is said once for each kind."""
    token, user = "controllers", "system:kube-controller-manager"
    role = {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}]}
    own = [
        {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": {"name": "reader-of-all"}, **role},
        {
            "apiVersion": RBAC,
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "reader-of-all"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader-of-all"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        },
    ]
    for item in own:
        live.client.create(item)
    reader, question = Person((), user, (EVERYBODY,)), Question("get", "limitranges", "")
    until(lambda: asked(live.client, reader, question), "the binding is obeyed")
    limits = live.path("LimitRange")
    live.client.request(
        "PATCH", limits, {"metadata": {"labels": {"tenancy": "x"}}}, MERGE, fieldManager="kubectl-label"
    )
    status, shown = live.against_live(token=token)
    live.client.patch(limits, {"metadata": {"labels": {"tenancy": None}}})
    for item in own:
        live.client.delete(live.client.path(item))
    assert status == 1
    assert "compared by the text, without a dry run: " in shown
    assert 'cannot patch resource "limitranges"' in shown
    assert shown.startswith("no changes\n")
    assert "metadata.labels.tenancy: x (by kubectl-label" in shown


def test_usage_of_running_jobs_is_read(live: Live) -> None:
    """A team that loses quota while its jobs run is named with what they use: from the cluster, and from a file."""
    opened: Callable[..., Any] = volcano_jobs.Scene if live.cluster.volcano else jobs.Scene
    scene = opened(live.cluster, live.made)
    if live.cluster.volcano:
        scene.gang("lab/dev", 1, times=6)
    else:
        scene.submit("lab/dev", 1, times=6)
    scene.expect({"lab/dev": 6})
    less = changed(TREE, {"departments.lab.teams.dev.budget.h100": 4})
    live.say(less)
    kinds = "queues.scheduling.volcano.sh" if live.cluster.volcano else "clusterqueues"
    told: list[int] = []

    def used() -> bool:
        """The scheduler writes its status some time after a job has started."""
        status, shown = live.diff("--against", "live", "--usage", "live", "--format", "json")
        assert status == 0, shown
        overruns = [each for each in json.loads(shown)["overruns"] if each["unit"] == "lab/dev"]
        told[:] = [each["used"]["base"] for each in overruns if each["certain"]]
        return told == [6]

    until(used, "6 GPUs of lab/dev are told")
    file = live.folder / "usage.yaml"
    file.write_text(live.cluster.kubectl("get", kinds, "-A", "-o", "yaml"), encoding="utf-8")
    status, shown = live.diff("--against", "live", "--usage", str(file), "--format", "json")
    assert status == 0
    assert [each["used"]["base"] for each in json.loads(shown)["overruns"] if each["unit"] == "lab/dev"] == [6]
    scene.clear()


def _version(item: Object) -> str:
    """What every write moves, of an object that no controller keeps writing to."""
    quiet = {key: value for key, value in item.items() if key != "status"}
    return json.dumps({**quiet, "metadata": {**quiet["metadata"], "resourceVersion": "", "managedFields": []}})


def _admission(kind: str, name: str, spec: Object) -> Object:
    version = "admissionregistration.k8s.io/v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _refused(client: Client, item: Object) -> bool:
    try:
        client.apply({**item, "metadata": {**item["metadata"], "labels": {"a": "b"}}}, dry_run=True, manager="probe")
    except Refused:
        return True
    return False
