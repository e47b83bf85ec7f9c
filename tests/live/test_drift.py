"""What runs against what is generated: what is found, who made it so, and that nothing is written."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenancy.compare.comparison import compare
from tenancy.live.client import Api
from tenancy.live.drift import Drift, Seen, drift
from tenancy.live.drift_text import drift_lines
from tenancy.live.source import Unreadable
from tenancy.render.yaml import document, documents
from tests.live.api import Answer, FakeApi, kubeconfig, serving

LABELS = {"app.kubernetes.io/managed-by": "tenancy", "acme.example/organization": "acme"}


def obj(kind: str, name: str, namespace: str = "", version: str = "v1", **body: Any) -> dict[str, Any]:
    """An object of the organization."""
    inside = {"namespace": namespace} if namespace else {}
    metadata = {"name": name, **inside, "labels": dict(LABELS), "annotations": {"note": "ours"}}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **body}


SPACE = obj("Namespace", "lab")
FACTS = obj("ConfigMap", "facts", "lab", data={"gpus": "8", "nodes": "1"})
WIDGET = obj("Widget", "big", version="example.org/v2", spec={"size": 1, "parts": [{"name": "a", "n": 1}]})
FILES = {
    "main/platform/widgets.yaml": documents([WIDGET]),
    "main/tenants/lab.yaml": documents([SPACE, FACTS]),
    "main/kustomization.yaml": document({"kind": "Kustomization", "resources": ["tenants"]}),
    "main/values.yaml": document({"replicas": 1}),
}


class Cluster:
    """A fake cluster and the comparison with it."""

    def __init__(self, folder: Path) -> None:
        self.fake = FakeApi()
        self.folder = folder
        self.config = folder

    def look(self) -> Drift:
        """Compare."""
        return drift(Api(self.config, None), FILES, "acme")

    def seen(self) -> dict[str, Seen]:
        """What there is to say, by name."""
        return {one.key.name: one for one in self.look().seen}

    def plan(self) -> list[tuple[str, str]]:
        """The changes of the comparison, by name."""
        changes = compare(self.look().files, FILES, {}).changes
        return [(type(change).__name__, change.identity.name) for change in changes]

    def lines(self) -> str:
        """As it is shown."""
        return "\n".join(drift_lines(self.look(), "the cluster"))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """With everything deployed."""
    made = Cluster(tmp_path)
    made.fake.add(SPACE, FACTS, WIDGET)
    with serving(made.fake, tmp_path) as config:
        made.config = config
        yield made


def test_what_was_deployed_is_no_drift(cluster: Cluster) -> None:
    """Both sides are the same text, and every object was applied in dry run, as Argo CD applies it."""
    found = cluster.look()
    assert found.files == FILES
    assert found.seen == ()
    assert drift_lines(found, "x") == ()
    assert found.checked == 3
    assert [query for _, query, _ in cluster.fake.writes] == 3 * [
        {"fieldManager": "argocd-controller", "force": "true", "fieldValidation": "Strict", "dryRun": "All"}
    ]


def test_what_the_server_adds_is_no_drift(cluster: Cluster) -> None:
    """Defaults, the status, and another spelling of the same amount after the apply."""
    live = cluster.fake.objects[cluster.fake.path(WIDGET)]
    live["spec"] |= {"strategy": "Recreate"}
    live["status"] = {"ready": True}
    live["metadata"]["generation"] = 3
    assert cluster.look().seen == ()


def test_the_marks_of_argo_cd_stay(cluster: Cluster) -> None:
    """It adds its tracking to what it applies; without it a dry run as Argo CD would seem to remove it."""
    tracked = copy.deepcopy(WIDGET)
    tracked["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] = "acme:example.org/Widget:/big"
    tracked["metadata"]["labels"]["app.kubernetes.io/instance"] = "acme"
    cluster.fake.add(tracked)
    assert cluster.look().seen == ()


def test_an_edit_by_hand_is_told_with_its_author(cluster: Cluster) -> None:
    """The plan says what a sync does, the drift who has changed it; nothing but that field is on the old side."""
    cluster.fake.edit(FACTS, "kubectl-edit", "data", "gpus", value="9")
    (field,) = cluster.seen()["facts"].changed
    assert (field.path, field.live, field.git) == ("data.gpus", "9", "8")
    assert [str(owner) for owner in field.owners] == ["kubectl-edit, 2026-11-30 08:00:00 UTC"]
    (change,) = compare(cluster.look().files, FILES, {}).changes
    assert [(each.path, each.old, each.new) for each in change.differences] == [("data.gpus", "9", "8")]  # type: ignore[union-attr]
    assert "data.gpus: 9 → 8 (by kubectl-edit, 2026-11-30 08:00:00 UTC)" in cluster.lines()


def test_an_edit_inside_a_list_is_found_by_name(cluster: Cluster) -> None:
    """The list has one author: it was written as a whole."""
    cluster.fake.edit(WIDGET, "kubectl-edit", "spec", "parts", value=[{"name": "a", "n": 2}, {"name": "b"}])
    found = {each.path: each for each in cluster.seen()["big"].changed}
    assert found.keys() == {"spec.parts[a].n", "spec.parts[b]"}
    assert {each.owners[0].manager for each in found.values()} == {"kubectl-edit"}


def test_a_field_that_was_removed_comes_back(cluster: Cluster) -> None:
    """Nobody owns what is not there."""
    cluster.fake.edit(FACTS, "kubectl-edit", "data", "nodes", value=None)
    (field,) = cluster.seen()["facts"].changed
    assert (field.path, field.git, field.owners) == ("data.nodes", "1", ())
    assert "data.nodes: nothing → 1\n" in cluster.lines() + "\n"


def test_what_git_no_longer_says_goes(cluster: Cluster) -> None:
    """A field that Argo CD applied and that is no longer generated: git is ahead of the cluster."""
    before = copy.deepcopy(FACTS)
    before["data"]["old"] = "x"
    cluster.fake.add(before)
    (field,) = cluster.seen()["facts"].changed
    assert (field.path, field.live, field.owners[0].manager) == ("data.old", "x", "argocd-controller")
    assert cluster.plan() == [("Update", "facts")]


def test_what_others_add_is_told_and_left_alone(cluster: Cluster) -> None:
    """It is no change of the plan, since a sync does not touch it."""
    cluster.fake.edit(SPACE, "kubectl-label", "metadata", "labels", "team.example/owner", value="ada")
    seen = cluster.seen()["lab"]
    assert seen.changed == ()
    assert [(each.path, each.live) for each in seen.foreign] == [("metadata.labels[team.example/owner]", "ada")]
    assert cluster.plan() == []
    assert "metadata.labels[team.example/owner]: ada (by kubectl-label, 2026-11-30 08:00:00 UTC)" in cluster.lines()


def test_what_controllers_add_is_expected(cluster: Cluster) -> None:
    """Guards of what is in use, and everything that is written as status."""
    live = cluster.fake.objects[cluster.fake.path(WIDGET)]
    cluster.fake.edit(WIDGET, "kueue", "metadata", "finalizers", value=["in-use"])
    applied = "kubectl.kubernetes.io/last-applied-configuration"
    cluster.fake.edit(WIDGET, "kubectl-client-side-apply", "metadata", "annotations", applied, value="{}")
    live["metadata"]["managedFields"].append(
        {"manager": "controller", "subresource": "status", "fieldsV1": {"f:spec": {"f:size": {}}}}
    )
    assert cluster.look().seen == ()


def test_a_missing_object_is_made(cluster: Cluster) -> None:
    """What is in a missing namespace is only counted, and not tried: it could only be refused."""
    del cluster.fake.objects[cluster.fake.path(FACTS)], cluster.fake.objects[cluster.fake.path(SPACE)]
    assert cluster.plan() == [("Create", "facts"), ("Create", "lab")]
    assert {name: one.state for name, one in cluster.seen().items()} == {"lab": "missing", "facts": "missing"}
    assert not any("configmaps" in path for path, *_ in cluster.fake.writes)
    assert "+ Namespace lab with 1 object" in cluster.lines()
    assert "ConfigMap" not in cluster.lines()


def test_an_object_without_our_label_is_still_ours(cluster: Cluster) -> None:
    """It is found by its name, and gets its label back."""
    cluster.fake.edit(WIDGET, "kubectl-edit", "metadata", "labels", "app.kubernetes.io/managed-by", value=None)
    (field,) = cluster.seen()["big"].changed
    assert field.path == "metadata.labels[app.kubernetes.io/managed-by]"


def test_a_kind_that_is_not_served_is_told_once(cluster: Cluster) -> None:
    """Its operator is not installed; the rest is compared."""
    cluster.fake.kinds["example.org/v2"] = {}
    assert cluster.seen()["big"].state == "unserved"
    assert "! Widget (example.org): the API server has no such kind; 1 in git" in cluster.lines()
    assert cluster.plan() == [("Create", "big")]


def test_extra_objects_are_found_in_every_kind(cluster: Cluster) -> None:
    """Kinds that nothing generated has any more are looked at, too; what others made of ours is not ours."""
    cluster.fake.add(obj("Widget", "old", version="example.org/v2", spec={"size": 0.5}))
    cluster.fake.kinds["gone.org/v1"] = {"Relic": ("relics", True)}
    relic = obj("Relic", "r", "lab", version="gone.org/v1")
    relic["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] = "acme:gone.org/Relic:lab/r"
    cluster.fake.add(relic)
    cluster.fake.add(obj("ReplicaSet", "web-1", "lab", version="apps/v1"), ownerReferences=[{"name": "web"}])
    cluster.fake.add(obj("Endpoints", "web", "lab"))
    other = obj("ConfigMap", "theirs", "lab")
    other["metadata"]["labels"]["acme.example/organization"] = "other"
    cluster.fake.add(other)
    assert {name: (one.state, one.tracked) for name, one in cluster.seen().items()} == {
        "old": ("extra", False),
        "r": ("extra", True),
    }
    assert cluster.plan() == [("Delete", "old"), ("Delete", "r")]
    assert "- Widget old: nothing tracks it, so nothing prunes it" in cluster.lines()
    assert "- Relic lab/r\n" in cluster.lines() + "\n"


def test_an_object_on_its_way_out_says_what_it_waits_for(cluster: Cluster) -> None:
    """The next sync finds it gone or still going; a person has to know."""
    cluster.fake.add(WIDGET, deletionTimestamp="2026-11-30T06:00:00Z", finalizers=["in-use"])
    assert "- Widget big: since 2026-11-30 06:00:00 UTC, waits for in-use" in cluster.lines()


def test_a_refusal_in_the_dry_run_is_shown(cluster: Cluster) -> None:
    """With the words of the webhook. The object is compared by its text."""
    message = 'admission webhook "w.example.org" denied the request: size must be even'
    cluster.fake.refusals["PATCH /apis/example.org/v2/widgets/big"] = Answer(403, message)
    cluster.fake.edit(WIDGET, "kubectl-edit", "spec", "size", value=2)
    seen = cluster.seen()["big"]
    assert (seen.refusal, [each.path for each in seen.changed]) == (message, ["spec.size"])
    assert f"! Widget big\n      {message}" in cluster.lines()
    del cluster.fake.objects[cluster.fake.path(WIDGET)]
    assert "! Widget big (new)\n" in cluster.lines()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (403, 'widgets.example.org "big" is forbidden: User "ada" cannot patch resource "widgets" in API group "e"'),
        (403, 'roles.rbac "big" is forbidden: user "a" (groups=["b"]) is attempting to grant RBAC permissions not'),
        (400, 'admission webhook "w" does not support dry run'),
    ],
)
def test_what_may_not_be_tried_is_compared_by_its_text(cluster: Cluster, code: int, message: str) -> None:
    """Rights to read are enough for the drift itself; what could not be checked is said."""
    cluster.fake.refusals["PATCH /apis/example.org/v2/widgets/big"] = Answer(code, message)
    seen = cluster.seen()["big"]
    assert (seen.refusal, seen.changed, seen.untried) == ("", (), message)
    assert f"Widget: 1 compared by the text, without a dry run: {message}" in cluster.lines()
    cluster.fake.edit(WIDGET, "kubectl-edit", "spec", "size", value=2)
    assert [each.path for each in cluster.seen()["big"].changed] == ["spec.size"]


def test_kinds_that_may_not_be_listed_are_named(cluster: Cluster) -> None:
    """Only of kinds that are not generated: others must be readable."""
    denied = Answer(403, "forbidden")
    cluster.fake.refusals["GET /apis/apps/v1/replicasets"] = denied
    assert "may not be listed, so that objects of ours among them do not show: ReplicaSet" in cluster.lines()
    cluster.fake.refusals["GET /api/v1/configmaps"] = denied
    with pytest.raises(Unreadable, match="the configmaps cannot be read: forbidden"):
        cluster.look()


def test_a_group_whose_server_is_down_matters_where_it_is_needed(cluster: Cluster) -> None:
    """As that of metrics often is."""
    cluster.fake.refusals["GET /apis/apps/v1"] = Answer(503, "unavailable")
    assert cluster.look().seen == ()
    cluster.fake.refusals["GET /apis/example.org/v2"] = Answer(503, "unavailable")
    with pytest.raises(Unreadable, match=r"does not say what example\.org/v2 serves: unavailable"):
        cluster.look()


def test_without_a_server_nothing_is_compared(tmp_path: Path) -> None:
    """Port 9 of loopback answers nobody."""
    with pytest.raises(Unreadable, match="refused"):
        drift(Api(kubeconfig(tmp_path, 9), None), FILES, "acme")


def test_what_a_cluster_keeps_secret_stays_there(cluster: Cluster) -> None:
    """Plans are posted where many read them: only what git says of a Secret is shown."""
    secret = obj("Secret", "key", "lab", data={"a": "c2FpZA==", "b": "Z2l0"})
    cluster.fake.kinds["v1"]["Secret"] = ("secrets", True)
    cluster.fake.add(secret, obj("Secret", "old", "lab", data={"c": "dmVyeSBvbGQ="}))
    cluster.fake.edit(secret, "kubectl-edit", "data", "b", value="cHJpdmF0ZQ==")
    cluster.fake.edit(secret, "kubectl-edit", "data", "d", value="Zm9yZWlnbg==")
    files = {**FILES, "main/platform/key.yaml": documents([secret])}
    found = drift(Api(cluster.config, None), files, "acme")
    shown = "\n".join([*drift_lines(found, "x"), *found.files.values()])
    assert "data.b: (hidden) → Z2l0 (by kubectl-edit" in shown
    assert "data.d: (hidden) (by kubectl-edit" in shown
    assert not {"cHJpdmF0ZQ==", "Zm9yZWlnbg==", "dmVyeSBvbGQ="} & set(shown.replace('"', " ").split())


def test_names_from_a_cluster_are_asked_for_as_they_are(cluster: Cluster) -> None:
    """Names of roles may have colons and more."""
    odd = obj("Widget", "system:a%b c", version="example.org/v2", spec={})
    cluster.fake.add(odd)
    files = {**FILES, "main/platform/odd.yaml": documents([odd])}
    assert drift(Api(cluster.config, None), files, "acme").seen == ()
