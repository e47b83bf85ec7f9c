"""What a pull request for one department must not be able to write: keys, names and namespaces that give it more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.test_variants import V, codes, findings

SERVICES = {"registry": {"namespace": "registry", "pods": {"app": "registry"}, "ports": [443]}}


@pytest.mark.parametrize(
    "key",
    [
        "resource.kubernetes.io/admin-access",
        "kubernetes.io/metadata.name",
        "pod-security.kubernetes.io/enforce",
        "app.kubernetes.io/managed-by",
        "app.kubernetes.io/instance",
        "admission.gatekeeper.sh/ignore",
        "capsule.clastix.io/tenant",
        "field.cattle.io/projectId",
        "openshift.io/node-selector",
        "scheduler.alpha.kubernetes.io/tolerationsWhitelist",
        "iam.amazonaws.com/permitted",
        "hnc.x-k8s.io/included-namespace",
    ],
)
@pytest.mark.parametrize("kind", ["labels", "annotations"])
def test_a_key_that_gives_a_namespace_rights_is_refused(kind: str, key: str) -> None:
    """Labels and annotations of a unit describe it, and nothing else."""
    assert codes({f"{V}.{kind}": {key: "true"}}) == ["label-reserved"]


@pytest.mark.parametrize("key", ["app.kubernetes.io/part-of", "acme.example/openshift.io", "tier"])
def test_a_key_that_only_describes_is_fine(key: str) -> None:
    """The recommended labels of Kubernetes are for everybody."""
    assert codes({f"{V}.labels": {key: "true"}}) == []


@pytest.mark.parametrize(
    ("changes", "namespace"),
    [
        ({"network": {"services": SERVICES}}, "registry"),
        ({"network": {"dns": {"namespace": "dns"}}}, "dns"),
        ({}, "openshift-monitoring"),
    ],
)
def test_a_namespace_that_everybody_trusts_is_not_for_tenants(changes: dict[str, Any], namespace: str) -> None:
    """A department cannot put its admins where a shared service or the cluster's DNS runs."""
    assert codes({**changes, f"{V}.namespace": "vision-jobs"}) == []
    assert codes({**changes, f"{V}.namespace": namespace}) == ["namespace-reserved"]


@pytest.mark.parametrize("name", ["ada\x1b[31m", "ada\u202e", "ada\u200b", "ada\x00b"])
def test_a_subject_with_characters_that_are_not_shown_is_refused(name: str) -> None:
    """Whoever reads the list of subjects reads who gets access, and the finding says which character is in the way."""
    (found,) = findings({f"{V}.access": {"members": [f"user:{name}", "group:früh"]}})
    assert found.code == "subject-syntax"
    assert f"U+{ord(name[3]):04X}" in found.help


def test_an_annotation_may_have_lines_but_no_hidden_characters() -> None:
    """A reviewer sees what it says."""
    assert codes({f"{V}.annotations": {"acme.example/x": "one\n\ttwo\n"}}) == []
    assert codes({f"{V}.annotations": {"acme.example/x": "one\u202etwo"}}) == ["control-characters"]
    assert codes({f"{V}.annotations": {"acme.example/x": "one\x1b[2J"}}) == ["control-characters"]


def test_the_search_for_what_was_meant_ends() -> None:
    """Each search goes through all known names, so only the first findings of thousands have one."""
    services = {f"server{number}": {"cidr": "10.0.0.0/8", "ports": [443]} for number in range(100)}
    wrong = [f"sirver{number}" for number in range(100)]
    found = findings({"network": {"services": services}, f"{V}.network": {"egress": {"services": wrong}}})
    assert len(found) == 100
    assert sum("did you mean" in each.help for each in found) == 20
