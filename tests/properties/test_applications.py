"""The laws of the output of an engine, over random organizations: each object is synced once, and may be.

What an Application applies is read as kustomize reads it, and what it may apply as Argo CD reads its project.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenancy.backend import items
from tenancy.backend.gitops.applications import applications
from tenancy.backend.gitops.kinds import DEPARTMENT, MONITORING, WHOLE, Kind, Kinds, kind_of
from tenancy.pipeline import generate
from tenancy.plan import plan
from tests.examples import often
from tests.kustomize import NAME, build, identity, objects
from tests.orgs import organized, scheduled
from tests.strategies import organizations

SETTINGS = settings(max_examples=often(6), deadline=None, suppress_health_check=[HealthCheck.too_slow])
REPO = "https://git.example/acme/gpus.git"
ENGINES = st.sampled_from((("argocd", "kueue"), ("argocd", "volcano"), ("argocd", "native"), ("flux", "kueue")))
FOLDERS = {"argocd": "argocd", "flux": "flux"}


class Output(NamedTuple):
    """What one cluster gets."""

    name: str
    files: Mapping[str, str]
    """Of all clusters."""
    engine: list[dict[str, Any]]
    """What the engine is told by the folder of its own."""

    def own(self) -> Counter[tuple[str, str, str, str]]:
        """The objects for the cluster itself."""
        engine = tuple(f"{self.name}/{folder}/" for folder in FOLDERS.values())
        found = [(path, obj) for path, obj in objects(self.files) if path.startswith(f"{self.name}/")]
        return Counter(identity(obj) for path, obj in found if not path.startswith(engine))

    def applied(self) -> dict[str, list[dict[str, Any]]]:
        """By Application: what it applies."""
        return {
            obj["metadata"]["name"]: list(build(self.files, _path(obj).removeprefix("./out/").removeprefix("out/")))
            for obj in self.engine
            if obj["kind"] in ("Application", "Kustomization")
        }


def _path(obj: Mapping[str, Any]) -> str:
    spec = obj["spec"]
    path: str = spec["source"]["path"] if obj["kind"] == "Application" else spec["path"]
    return path


def outputs(tree: dict[str, Any], engine: str, scheduler: str, **gitops: Any) -> list[Output]:
    """The output of an organization for an engine, cluster by cluster."""
    gitops = {"engine": engine, "repo": REPO, **gitops}
    org = organized(scheduled({**tree, "gitops": gitops}, scheduler))
    files = generate(org, {})
    return [Output(name, files, list(build(files, f"{name}/{FOLDERS[engine]}"))) for name in org.document.clusters]


@SETTINGS
@given(organizations(), ENGINES)
def test_each_object_is_in_exactly_one_application(tree: dict[str, Any], chosen: tuple[str, str]) -> None:
    """Applications list folders that exist and all objects of a cluster once; its own folder lists them all as well."""
    for output in outputs(tree, *chosen):
        applied = Counter(identity(obj) for found in output.applied().values() for obj in found)
        assert set(applied.values()) == {1}
        assert applied == output.own()
        assert Counter(map(identity, build(output.files, output.name))) == applied


@SETTINGS
@given(organizations(), ENGINES)
def test_the_engines_own_objects_are_listed_once_but_for_what_a_person_applies(
    tree: dict[str, Any], chosen: tuple[str, str]
) -> None:
    """`bootstrap.yaml` is in no kustomization; all else in the engine's folder is, and nothing else."""
    for output in outputs(tree, *chosen):
        prefix = f"{output.name}/{FOLDERS[chosen[0]]}/"
        inside = [(path, identity(obj)) for path, obj in objects(output.files) if path.startswith(prefix)]
        by_hand = {name for path, name in inside if path == f"{prefix}bootstrap.yaml"}
        listed = Counter(map(identity, output.engine))
        assert listed == Counter(name for _, name in inside if name not in by_hand)
        assert len(by_hand) == 2


@SETTINGS
@given(organizations(), st.sampled_from(("kueue", "volcano", "native")))
def test_a_project_allows_what_its_application_has_and_what_the_compiler_may_write(
    tree: dict[str, Any], scheduler: str
) -> None:
    """Every kind of an Application is allowed by its project, and no kind that the compiler cannot write there."""
    for output in outputs(tree, "argocd", scheduler):
        projects = {obj["metadata"]["name"]: obj["spec"] for obj in output.engine if obj["kind"] == "AppProject"}
        apps = {obj["metadata"]["name"]: obj["spec"] for obj in output.engine if obj["kind"] == "Application"}
        assert apps.keys() == projects.keys()
        for name, found in output.applied().items():
            project = projects[apps[name]["project"]]
            whole = name.endswith("-cluster")
            allowed = _allowed(project)
            own = MONITORING if name.endswith("-monitoring") else (WHOLE if whole else DEPARTMENT)[scheduler]
            assert allowed == own
            inside = {kind_of(obj) for obj in found if "namespace" in obj["metadata"]}
            assert inside <= allowed.namespaced
            assert {kind_of(obj) for obj in found if "namespace" not in obj["metadata"]} <= allowed.cluster
            assert project["sourceRepos"] == [apps[name]["source"]["repoURL"]] == [REPO]
            assert project["destinations"] == [{**apps[name]["destination"], "namespace": "*"}]


def _allowed(project: Mapping[str, Any]) -> Kinds:
    cluster, namespaced = (
        frozenset(Kind(each["group"], each["kind"]) for each in project[key])
        for key in ("clusterResourceWhitelist", "namespaceResourceWhitelist")
    )
    return Kinds(cluster, namespaced)


@SETTINGS
@given(organizations(), st.sampled_from(("kueue", "volcano", "native")))
def test_teams_may_deploy_into_the_namespaces_of_their_department_alone(tree: dict[str, Any], scheduler: str) -> None:
    """The projects of tenants have every namespace once, with no cluster-wide kind and none that governs them."""
    for output in outputs(tree, "argocd", scheduler, tenantRepos=["https://git.example/teams/*"]):
        tenants = {
            obj["metadata"]["name"]: obj["spec"]
            for obj in output.engine
            if obj["kind"] == "AppProject" and obj["metadata"]["name"].endswith("-tenants")
        }
        has = {
            f"{name}-tenants": sorted(obj["metadata"]["name"] for obj in found if obj["kind"] == "Namespace")
            for name, found in output.applied().items()
        }
        assert {name: namespaces for name, namespaces in has.items() if namespaces} == {
            name: [each["namespace"] for each in spec["destinations"]] for name, spec in tenants.items()
        }
        for spec in tenants.values():
            assert spec["clusterResourceWhitelist"] == []
            refused = {each["kind"] for each in spec["namespaceResourceBlacklist"]}
            assert refused >= {"ResourceQuota", "LimitRange", "NetworkPolicy", "Role", "RoleBinding", "LocalQueue"}
            assert refused >= {"PrometheusRule", "ServiceMonitor", "PodMonitor", "Probe", "ScrapeConfig"}


@SETTINGS
@given(organizations())
def test_queues_and_namespaces_of_a_department_are_together(tree: dict[str, Any]) -> None:
    """Under Kueue a ClusterQueue is in the Application of the namespaces that it selects: its finalizer keeps them."""
    for output in outputs(tree, "argocd", "kueue"):
        for found in output.applied().values():
            selected = {
                name
                for obj in found
                if obj["kind"] == "ClusterQueue"
                for name in obj["spec"]["namespaceSelector"]["matchExpressions"][0]["values"]
            }
            assert selected == {obj["metadata"]["name"] for obj in found if obj["kind"] == "Namespace"}


@SETTINGS
@given(organizations())
def test_queues_of_volcano_are_all_together(tree: dict[str, Any]) -> None:
    """Its webhook judges each Queue by its parent and its siblings, so one Application has them all."""
    for output in outputs(tree, "argocd", "volcano"):
        having = [name for name, found in output.applied().items() if any(obj["kind"] == "Queue" for obj in found)]
        assert having == [f"acme-{output.name}-cluster"]


@SETTINGS
@given(organizations(), st.sampled_from(("kueue", "volcano", "native")))
def test_objects_are_counted_exactly(tree: dict[str, Any], scheduler: str) -> None:
    """The numbers that sizes are judged by are those of what is applied."""
    org = organized(scheduled({**tree, "gitops": {"repo": REPO}}, scheduler))
    found = {each.name: each.objects for cluster in plan(org) for each in applications(cluster, items(cluster))}
    made = outputs(tree, "argocd", scheduler)
    assert found == {name: len(applied) for output in made for name, applied in output.applied().items()}


@SETTINGS
@given(organizations())
def test_flux_gets_its_own_annotations_and_no_others(tree: dict[str, Any]) -> None:
    """Nothing of Argo CD is left, and what a person confirms there Flux never prunes."""
    guarded = {
        (obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace"))
        for output in outputs(tree, "argocd", "kueue")
        for found in output.applied().values()
        for obj in found
        if "confirm" in obj["metadata"]["annotations"].get("argocd.argoproj.io/sync-options", "")
    }
    for output in outputs(tree, "flux", "kueue"):
        for obj in [*output.engine, *(obj for found in output.applied().values() for obj in found)]:
            annotations = obj["metadata"].get("annotations", {})
            assert not [key for key in annotations if key.startswith("argocd.")]
            key = (obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace"))
            if key in guarded:
                assert annotations["kustomize.toolkit.fluxcd.io/prune"] == "disabled"


@SETTINGS
@given(organizations(), st.sampled_from(("kueue", "volcano", "native")))
def test_without_an_engine_nothing_of_one_is_written(tree: dict[str, Any], scheduler: str) -> None:
    """The files are the same with and without Argo CD, but for its own folder and those that its Applications name.

    Made twice, they are the same.
    """
    plain = generate(organized(scheduled(tree, scheduler)), {})
    assert generate(organized(scheduled(tree, scheduler)), {}) == plain
    with_engine = outputs(tree, "argocd", scheduler)[0].files
    assert plain.items() <= with_engine.items()
    assert {path.split("/")[1] for path in with_engine.keys() - plain.keys()} == {"apps", "argocd"}
    assert all(path.endswith(NAME) for path in with_engine if path.split("/")[1] == "apps")
