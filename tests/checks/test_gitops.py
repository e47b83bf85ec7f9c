"""Variants of what can be wrong with where out/ lives and where it goes, beside the one case of each code."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.check import gitops
from tenancy.check.finding import Finding
from tenancy.diagnostics import Edit
from tests.orgs import organized

REPO = "https://git.example/acme/gpus.git"
NODE = {"gpus": 4, "cpu": 48, "memory": "192Gi"}
BUDGETS: dict[str, Any] = {"budget": {"train": 8, "serve": 8}, "teams": {"vision": {"budget": {"train": 8}}}}


def found(settings: dict[str, Any] | None, department: str = "research", **clusters: Any) -> list[Finding]:
    """The findings about an organization with two clusters and these settings of its engine."""
    said = {"train": {"destination": {"name": "train"}}, "serve": {"destination": {"name": "serve"}}, **clusters}
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {name: {key: each for key, each in cluster.items() if each} for name, cluster in said.items()},
        "flavors": {name: {"cluster": name, "gpu": "L4", "nodes": 2, "node": NODE} for name in said},
        "departments": {department: {**BUDGETS, "budget": dict.fromkeys(said, 8)}},
    }
    if settings is not None:
        tree["gitops"] = {"repo": REPO, **settings}
    org = organized(tree)
    return [finding for check in gitops.CHECKS for finding in check(org)]


def codes(*given: Any, **named: Any) -> list[str]:
    return [finding.rule.code for finding in found(*given, **named)]


FLUX: dict[str, Any] = {"train": {}, "serve": {}}
"""No cluster has a destination."""


def test_two_clusters_with_destinations_are_fine() -> None:
    """Each with its own; nothing is found."""
    assert codes({}) == []
    assert codes({"path": ".", "branch": "release/1", "namespace": "delivery"}) == []


@pytest.mark.parametrize(
    ("repo", "code"),
    [
        ("https://token@git.example/gpus", "gitops-credentials"),
        ("ssh://git:secret@git.example/gpus", "gitops-credentials"),
        ("ssh://git@git.example/gpus", None),
        ("git@git.example:gpus", None),
        ("/srv/gpus", "gitops-repo"),
    ],
)
def test_the_repository_can_be_fetched_and_holds_no_secret(repo: str, code: str | None) -> None:
    """A user is a credential over http and none over ssh."""
    assert codes({"repo": repo}) == ([code] if code else [])


def test_a_secret_is_not_repeated() -> None:
    """The finding shows the address without it, which is also the edit that mends it."""
    (finding,) = found({"repo": "https://ada:s3cret@git.example/gpus"})
    assert "s3cret" not in finding.message + finding.help
    assert finding.edits == (Edit("set", ("gitops", "repo"), "https://git.example/gpus"),)


def test_flux_takes_no_short_address() -> None:
    """Its GitRepository has a pattern; the same address as a URL is proposed."""
    (finding,) = found({"engine": "flux", "repo": "git@git.example:acme/gpus.git"}, **FLUX)
    assert finding.rule.code == "gitops-repo"
    assert finding.edits == (Edit("set", ("gitops", "repo"), "ssh://git@git.example/acme/gpus.git"),)


@pytest.mark.parametrize("path", ["/out", "..", "a/../../b", "a\\b", "", " ", "a\nb"])
def test_a_path_leads_nowhere_else(path: str) -> None:
    """Absolute, out of the repository, or none at all."""
    assert codes({"path": path}) == ["gitops-path"]


@pytest.mark.parametrize("path", ["out", ".", "a/b", "./out/", "a/../b"])
def test_a_path_inside_is_fine(path: str) -> None:
    """However it is spelt."""
    assert codes({"path": path}) == []


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("*", "tenant-repos-open"),
        ("**", "tenant-repos-open"),
        ("*/*", "tenant-repos-open"),
        ("https://*", "tenant-repos-open"),
        ("https://*.example/acme/*", "tenant-repos-open"),
        ("ssh://git@*/acme/*", "tenant-repos-open"),
        ("https://git.example/*", None),
        ("https://git.example/acme-*/*.git", None),
        ("git@git.example:acme-teams/*", None),
        ("teams", "gitops-repo"),
        ("https://ada:s3cret@git.example/*", "gitops-credentials"),
    ],
)
def test_repositories_of_tenants_have_a_host(pattern: str, code: str | None) -> None:
    """A pattern may leave the repository open, not whose it is."""
    assert codes({"tenantRepos": [pattern]}) == ([code] if code else [])


@pytest.mark.parametrize(
    ("destination", "code"),
    [
        ({"name": "a", "server": "https://10.0.0.1"}, "destination-form"),
        ({"name": "", "server": ""}, "destination-form"),
        ({"server": "10.0.0.1:6443"}, "destination-form"),
        ({"server": "https://ada:secret@10.0.0.1"}, "destination-form"),
        ({"server": "https://10.0.0.1:6443"}, None),
        ({"name": "serve"}, "destination-twice"),
        ({"name": "in-cluster"}, None),
    ],
)
def test_destinations_are_found(destination: dict[str, str], code: str | None) -> None:
    """By a name or by a URL; two clusters have two."""
    assert codes({}, train={"destination": destination}) == ([code] if code else [])


@pytest.mark.parametrize("said", [None, {"name": "in-cluster"}, {"server": "https://kubernetes.default.svc/"}])
def test_two_clusters_where_argo_cd_runs_are_a_warning(said: dict[str, str] | None) -> None:
    """However it is written: each may have an Argo CD of its own."""
    assert codes({}, train={"destination": said}, serve={}) == ["destination-assumed"]


def test_one_cluster_where_argo_cd_runs_is_fine() -> None:
    """It has nobody to be mistaken for."""
    assert codes({}, train={}) == []


def test_destinations_need_argo_cd() -> None:
    """Without an engine and with Flux each of them is an error; under Flux it can only go."""
    assert codes(None) == ["destination-ignored", "destination-ignored"]
    findings = found({"engine": "flux"})
    assert [finding.rule.code for finding in findings] == ["destination-ignored", "destination-ignored"]
    assert findings[0].edits == (Edit("remove", ("clusters", "train", "destination")),)


def test_a_department_is_not_taken_for_what_is_measured() -> None:
    """`monitoring` is the name of an Application in each cluster, unless nothing is measured there."""
    assert codes({}, "monitoring") == ["application-name-twice"] * 2
    off = {"telemetry": {"prometheus": "off", "grafana": "off"}}
    clusters = {name: {"destination": {"name": name}, **off} for name in ("train", "serve")}
    assert codes({}, "monitoring", **clusters) == []


def test_names_are_told_apart_across_clusters() -> None:
    """`acme-a-b` is the department b of the cluster a, and the cluster a-b."""
    clusters = {"a": {"destination": {"name": "a"}}, "a-b": {"destination": {"name": "ab"}}}
    (finding,) = found({}, "b", **clusters)
    assert finding.rule.code == "application-name-twice"
    assert "`acme-a-b`" in finding.message


def test_a_project_of_tenants_counts_as_a_name() -> None:
    """With it the name of a department may be eight characters shorter."""
    department = "d" * 46
    assert codes({}, department, train={"destination": {"name": "t"}}) == []
    assert set(codes({"tenantRepos": [REPO]}, department)) == {"application-name-long"}
