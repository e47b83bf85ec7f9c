"""What users' templates add to Applications, and how large these may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenancy.backend import LOSSES, items
from tenancy.backend.gitops.applications import Application, applications
from tenancy.backend.gitops.kinds import DEPARTMENT, MONITORING, WHOLE, Kind
from tenancy.backend.gitops.sizes import LARGE, MOST, large
from tenancy.pipeline import Options, examine, generate
from tenancy.plan import plan
from tests.kustomize import build
from tests.orgs import organized

CASES = Path(__file__).parents[2] / "cases"
ORG = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
gitops: {repo: "https://git.example/acme/gpus.git"}
clusters: {train: {}}
flavors:
  l4: {gpu: L4, nodes: 2, node: {gpus: 4, cpu: 64, memory: 256Gi}, daemons: {cpu: 2, memory: 4Gi}}
departments:
  research:
    budget: {l4: 8}
    departments: {speech: {budget: {l4: 2}, teams: {audio: {budget: {l4: 2}}}}}
    teams: {vision: {budget: {l4: 4}, projects: {demo: {}}}}
"""
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: {namespace}\n"
ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {name}\nrules: []\n"
TEMPLATES = {
    "organization/seen.yaml.j2": MAP.format(name="{{ organization.name }}", namespace="{{ teams[0].namespaces[0] }}"),
    "cluster/reader.yaml.j2": ROLE.format(name='{{ cluster.name ~ "-reader" }}'),
    "department/lead.yaml.j2": ROLE.format(name='{{ department.queue ~ "-lead" }}'),
    "team/notes.yaml.j2": MAP.format(name="{{ team.queue }}", namespace="{{ team.namespaces[0] }}"),
    "project/notes.yaml.j2": MAP.format(name='{{ project.namespace ~ "-own" }}', namespace="{{ project.namespace }}"),
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """The output of an organization with a template for each level."""
    (tmp_path / "org").mkdir()
    (tmp_path / "org/org.yaml").write_text(ORG)
    for name, text in TEMPLATES.items():
        path = tmp_path / "org/templates" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    found = examine(tmp_path / "org")
    assert [(each.code, each.message) for each in found.diagnostics] == []
    assert found.org is not None
    return generate(found.org, found.custom)


def applied(files: dict[str, str], name: str) -> set[tuple[str, str]]:
    """Kind and name of what an Application applies of users' templates."""
    custom = ("ConfigMap", "ClusterRole")
    found = {(obj["kind"], obj["metadata"]["name"]) for obj in build(files, f"train/apps/acme-train-{name}")}
    return {(kind, name) for kind, name in found if kind in custom and not name.startswith("tenancy-")}


def test_custom_objects_go_with_the_department_of_their_unit(files: dict[str, str]) -> None:
    """Those of a department at any depth, of its teams and projects; those of no unit go with the cluster."""
    assert applied(files, "cluster") == {("ConfigMap", "acme"), ("ClusterRole", "train-reader")}
    assert applied(files, "research") == {
        ("ClusterRole", "research-lead"),
        ("ClusterRole", "research-speech-lead"),
        ("ConfigMap", "research-speech-audio"),
        ("ConfigMap", "research-vision"),
        ("ConfigMap", "research-vision-demo-own"),
    }


def test_a_project_allows_the_kinds_of_custom_objects(files: dict[str, str]) -> None:
    """Where they stand: a ClusterRole is a kind of departments only because a template makes one there."""
    projects = {
        obj["metadata"]["name"]: obj["spec"] for obj in build(files, "train/argocd") if obj["kind"] == "AppProject"
    }
    own = projects["acme-train-research"]
    assert {"group": "rbac.authorization.k8s.io", "kind": "ClusterRole"} in own["clusterResourceWhitelist"]
    assert {"group": "", "kind": "ConfigMap"} in own["namespaceResourceWhitelist"]
    assert {"group": "rbac.authorization.k8s.io", "kind": "ClusterRole"} not in own["namespaceResourceWhitelist"]


def test_what_is_measured_is_an_application_of_its_own(files: dict[str, str]) -> None:
    """Its kinds are in no other, so that a cluster without Prometheus' operator loses nothing else."""
    own = {obj["apiVersion"] for obj in build(files, "train/apps/acme-train-monitoring")}
    assert "monitoring.coreos.com/v1" in own
    for name in ("cluster", "research"):
        others = {obj["apiVersion"] for obj in build(files, f"train/apps/acme-train-{name}")}
        assert "monitoring.coreos.com/v1" not in others


@pytest.mark.parametrize(
    ("scheduler", "elsewhere"),
    [("kueue", set()), ("volcano", {"NodePool"}), ("native", {"DeviceClass", "NodePool", "ServiceMonitor"})],
)
def test_projects_know_the_kinds_that_the_compiler_writes(scheduler: str, elsewhere: set[str]) -> None:
    """All that are in the golden cases, and no others but what only cases for another scheduler have."""
    seen: set[Kind] = set()
    for org in sorted(CASES.glob("*/org")):
        found = examine(org, Options(scheduler=scheduler, accepted=[rule.code for rule in LOSSES]))
        for cluster in plan(found.org) if found.sound and found.org is not None else ():
            for each in applications(cluster, items(cluster)):
                assert each.holds <= each.kinds.cluster | each.kinds.namespaced
                seen |= each.holds
    known = (part for kinds in (WHOLE[scheduler], DEPARTMENT[scheduler], MONITORING) for part in kinds)
    unseen = frozenset[Kind]().union(*known) - seen
    assert {kind.kind for kind in unseen} == elsewhere


@pytest.mark.parametrize(
    ("department", "count", "codes"),
    [
        ("research", LARGE, []),
        ("research", LARGE + 1, ["application-large"]),
        ("research", MOST, ["application-large"]),
        ("research", MOST + 1, ["application-too-large"]),
        ("", MOST + 1, ["application-too-large"]),
    ],
)
def test_sizes_are_judged_at_their_bounds(department: str, count: int, codes: list[str]) -> None:
    """A warning above 500 objects, an error above 1,000, at the department or at `gitops`."""
    (cluster,) = plan(organized(TREE))
    kinds = (DEPARTMENT if department else WHOLE)["kueue"]
    found = list(large(cluster, [Application("acme-train-x", department, kinds, objects=count)]))
    assert [each.rule.code for each in found] == codes
    assert all(each.path == (("departments", "research") if department else ("gitops",)) for each in found)
    assert all(f"{count:,} objects" in each.message for each in found)


TREE: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "gitops": {"repo": "https://git.example/acme/gpus.git"},
    "clusters": {"train": {}},
    "flavors": {"l4": {"gpu": "L4", "nodes": 2, "node": {"gpus": 4, "cpu": 64, "memory": "256Gi"}}},
    "departments": {"research": {"budget": {"l4": 8}, "teams": {"vision": {}}}},
}
