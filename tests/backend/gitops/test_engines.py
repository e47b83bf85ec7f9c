"""What each engine is told, from a small organization, read from the files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenancy.pipeline import generate
from tests.kustomize import build, documents
from tests.orgs import organized

REPO = "ssh://git@git.example/acme/gpus.git"
SHIPPED = Path.home() / "go/pkg/mod/github.com/argoproj/argo-cd/v3@v3.2.11/manifests/base/config/argocd-cm.yaml"
TREE: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "flavors": {
        "l4": {
            "gpu": "L4",
            "nodes": 2,
            "node": {"gpus": 4, "cpu": 48, "memory": "192Gi"},
            "autoscaling": "provisioning-request",
        }
    },
    "departments": {"research": {"budget": {"l4": 8}, "teams": {"vision": {"state": "held"}}}},
}


def files(cluster: Mapping[str, Any] | None = None, **gitops: Any) -> dict[str, str]:
    """The output with these settings of the engine."""
    tree = {**TREE, "clusters": {"train": dict(cluster or {})}, "gitops": {"repo": REPO, **gitops}}
    return generate(organized(tree), {})


def named(found: Mapping[str, str], path: str) -> dict[str, dict[str, Any]]:
    """The objects of a file by their names."""
    return {obj["metadata"]["name"]: obj for obj in documents(found[f"train/{path}"])}


def test_an_application_is_told_the_repository_and_its_folder() -> None:
    """The branch in full, the path below that of the organization, the destination of the cluster, its own project."""
    found = files({"destination": {"name": "gpu-1"}}, branch="release/1", path="gpu/out", namespace="delivery")
    app = named(found, "argocd/applications.yaml")["acme-train-research"]
    assert app["metadata"]["namespace"] == "delivery"
    assert app["spec"]["source"] == {
        "repoURL": REPO,
        "targetRevision": "refs/heads/release/1",
        "path": "gpu/out/train/apps/acme-train-research",
    }
    assert app["spec"]["destination"] == {"name": "gpu-1"}
    assert app["spec"]["project"] == "acme-train-research"


def test_a_sync_is_told_what_was_run() -> None:
    """No more options than these: each other one lost jobs, wedged or was not needed (run on Argo CD 3.2.11)."""
    for app in named(files(), "argocd/applications.yaml").values():
        assert app["spec"]["syncPolicy"] == {
            "automated": {"prune": True, "selfHeal": True},
            "syncOptions": ["ServerSideApply=true", "ApplyOutOfSyncOnly=true"],
            "retry": {"limit": 60, "refresh": True, "backoff": {"duration": "5s", "factor": 2, "maxDuration": "30s"}},
        }
        assert app["spec"].keys() == {"project", "source", "destination", "syncPolicy"}


def test_an_application_is_deleted_once_a_person_confirms_it() -> None:
    """Those of a department and of what is measured take their objects along, that of the cluster leaves them; each
    comes after its project."""
    found = files()
    for name, app in named(found, "argocd/applications.yaml").items():
        metadata = app["metadata"]
        assert ("finalizers" in metadata) is (name != "acme-train-cluster")
        assert metadata["annotations"]["argocd.argoproj.io/sync-options"] == "Prune=confirm,Delete=confirm"
        project = named(found, "argocd/projects.yaml")[app["spec"]["project"]]
        waves = [int(each["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"]) for each in (project, app)]
        assert waves == sorted(set(waves))


def test_the_first_application_may_make_applications_alone() -> None:
    """It is beside Argo CD wherever the cluster is, and its own project is nothing that it syncs."""
    found = files({"destination": {"server": "https://10.0.0.1:6443"}})
    project, app = documents(found["train/argocd/bootstrap.yaml"])
    assert (project["kind"], app["kind"]) == ("AppProject", "Application")
    here = {"server": "https://kubernetes.default.svc", "namespace": "argocd"}
    assert app["spec"]["destination"] == here
    assert project["spec"]["destinations"] == [here]
    assert project["spec"]["clusterResourceWhitelist"] == []
    kinds = [each["kind"] for each in project["spec"]["namespaceResourceWhitelist"]]
    assert kinds == ["AppProject", "Application"]
    assert app["spec"]["source"]["path"] == "out/train/argocd"
    assert "acme-train" not in {obj["metadata"]["name"] for obj in build(found, "train/argocd")}


def test_the_patch_for_argo_cd_is_the_same_for_every_scheduler() -> None:
    """One Argo CD may have several clusters, and what one of them sets holds for all."""
    texts = {files({"scheduler": scheduler})["train/argocd/argocd-cm.yaml"] for scheduler in ("kueue", "volcano")}
    (text,) = texts
    patch = yaml.safe_load(text)
    assert patch.keys() == {"data"}
    rules = {key.removeprefix("resource.customizations.health.") for key in patch["data"]} - {"resource.exclusions"}
    assert rules == {
        "argoproj.io_Application",
        "kueue.x-k8s.io_AdmissionCheck",
        "kueue.x-k8s.io_ClusterQueue",
        "kueue.x-k8s.io_LocalQueue",
        "scheduling.volcano.sh_Queue",
    }
    assert all(patch["data"][f"resource.customizations.health.{rule}"].endswith("return hs\n") for rule in rules)


def test_what_jobs_make_is_not_watched() -> None:
    """Workloads and events are excluded, after what Argo CD excludes by itself."""
    exclusions = yaml.safe_load(yaml.safe_load(files()["train/argocd/argocd-cm.yaml"])["data"]["resource.exclusions"])
    assert exclusions[-2:] == [
        {"apiGroups": ["kueue.x-k8s.io"], "kinds": ["Workload"]},
        {"apiGroups": ["", "events.k8s.io"], "kinds": ["Event"]},
    ]


@pytest.mark.skipif(not SHIPPED.exists(), reason="the module of Argo CD is not here")
def test_the_exclusions_of_argo_cd_are_repeated() -> None:
    """The key replaces the one that it comes with, so all of that is there first."""
    exclusions = yaml.safe_load(yaml.safe_load(files()["train/argocd/argocd-cm.yaml"])["data"]["resource.exclusions"])
    shipped = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))["data"]["resource.exclusions"]
    assert exclusions[:-2] == yaml.safe_load(shipped)


def test_flux_is_told_the_repository_once() -> None:
    """A GitRepository and a Kustomization for a person to apply; every Kustomization names the GitRepository."""
    found = files(engine="flux", branch="release")
    source, root = documents(found["train/flux/bootstrap.yaml"])
    assert source["spec"] == {"interval": "1m", "url": REPO, "ref": {"branch": "release"}}
    assert root["spec"]["path"] == "./out/train/flux"
    for each in (root, *named(found, "flux/kustomizations.yaml").values()):
        assert each["metadata"]["namespace"] == "flux-system"
        assert each["spec"]["sourceRef"] == {"kind": "GitRepository", "name": source["metadata"]["name"]}
        assert (each["spec"]["prune"], each["spec"]["wait"], each["spec"]["force"]) == (True, True, False)


def test_departments_wait_for_the_cluster_under_flux() -> None:
    """It has no waves: roles, flavors and policies first. Nothing waits for what is measured."""
    found = named(files(engine="flux"), "flux/kustomizations.yaml")
    after = {name: [each["name"] for each in obj["spec"].get("dependsOn", [])] for name, obj in found.items()}
    assert after == {
        "acme-train-cluster": [],
        "acme-train-monitoring": [],
        "acme-train-research": ["acme-train-cluster"],
    }


def test_flux_judges_the_kinds_that_it_applies() -> None:
    """Each Kustomization has the rules of its own kinds."""
    found = named(files(engine="flux"), "flux/kustomizations.yaml")
    rules = {name: [each["kind"] for each in obj["spec"].get("healthCheckExprs", [])] for name, obj in found.items()}
    assert rules == {
        "acme-train-cluster": ["AdmissionCheck"],
        "acme-train-monitoring": [],
        "acme-train-research": ["ClusterQueue", "LocalQueue"],
    }


def test_a_namespace_that_flux_leaves_stays_bounded() -> None:
    """What bounds it stays as long as it does; what opens it, and who may enter, goes with the commit."""
    found = build(files(engine="flux"), "train/apps/acme-train-research")
    key = "kustomize.toolkit.fluxcd.io/prune"
    kept = {
        f"{obj['kind']}/{obj['metadata']['name']}"
        for obj in found
        if obj["metadata"].get("annotations", {}).get(key) == "disabled"
    }
    assert kept == {
        "ClusterQueue/research-vision",
        "LimitRange/tenancy",
        "LocalQueue/default",
        "Namespace/research-vision",
        "NetworkPolicy/default-deny",
        "ResourceQuota/tenancy",
    }
