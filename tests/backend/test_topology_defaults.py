"""The default topology of units in what is emitted: annotations of namespaces, and one policy that reads them.

What the policies do is in tests/cluster.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenancy.backend import PARITIES, items
from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.parity import Fate, parity
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, sized
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.orgs import organized

BLOCK, RACK, HOST = "cloud.example/block", "cloud.example/rack", "kubernetes.io/hostname"
NODE = {"gpus": 8, "cpu": 66, "memory": "516Gi"}
POLICY = "tenancy-topology-defaults"


def tree(scheduler: str, default: str = "", kubernetes: str = "1.36", **team: Any) -> dict[str, Any]:
    """Two flavors of one resource, of which one has racks, and two teams of one department."""
    said = {"topology": default} if default else {}
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"main": {"scheduler": scheduler, "versions": {"kubernetes": kubernetes}}},
        "flavors": {
            "a100": {"gpu": "A100-SXM4-80GB", "nodes": 2, "node": NODE},
            "h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": NODE, "topology": [BLOCK, RACK, HOST]},
        },
        "departments": {"lab": {"budget": {"h100": 16, "a100": 16}, **said, "teams": {"a": team, "b": {}}}},
    }


def planned(content: dict[str, Any]) -> ClusterPlan:
    (made,) = plan(organized(content))
    return made


def objects(content: dict[str, Any]) -> list[Object]:
    """All objects of the cluster."""
    return [each for item in items(planned(content)) if isinstance(item, Manifest) for each in item.objects]


def notes(content: dict[str, Any]) -> dict[str, dict[str, str]]:
    """What each namespace says of a default topology."""
    return {
        each["metadata"]["name"]: {
            key.partition("/")[2]: value
            for key, value in each["metadata"]["annotations"].items()
            if "/default-topology" in key
        }
        for each in objects(content)
        if each["kind"] == "Namespace"
    }


def test_under_kueue_a_namespace_names_level_and_flavors() -> None:
    """With the whole key of the label, and the flavors that do not have it."""
    found = notes(tree("kueue", "required rack", topology="preferred block", budget={"a100": {"limit": 0}}))
    assert found == {
        "lab-a": {"default-topology": f"preferred {BLOCK}", "default-topology-flavors": "h100"},
        "lab-b": {
            "default-topology": f"required {RACK}",
            "default-topology-flavors": "h100",
            "default-topology-lacking": "a100",
        },
    }


def test_under_volcano_a_namespace_names_the_tiers_of_its_queues() -> None:
    """The tier counts from the narrowest level of the queue's flavor."""
    assert notes(tree("volcano", "required rack", topology="preferred block")) == {
        "lab-a": {"default-topology": f"preferred {BLOCK}", "default-topology-tiers": "lab-a-h100=2"},
        "lab-b": {"default-topology": f"required {RACK}", "default-topology-tiers": "lab-b-h100=1"},
    }


@pytest.mark.parametrize(
    ("scheduler", "topology", "kubernetes", "there"),
    [
        ("kueue", "required rack", "1.36", True),
        ("kueue", "", "1.36", False),
        ("kueue", "required rack", "1.35", False),
        ("volcano", "required rack", "1.36", True),
        ("volcano", "", "1.36", False),
        ("volcano", "required rack", "1.35", False),
        ("native", "required rack", "1.36", False),
    ],
)
def test_there_is_a_policy_where_it_can_do_something(
    scheduler: str, topology: str, kubernetes: str, there: bool
) -> None:
    """Where a unit has a default and the API server mutates by policy; never for Kubernetes alone."""
    named = [
        each["kind"] for each in objects(tree(scheduler, topology, kubernetes)) if each["metadata"]["name"] == POLICY
    ]
    assert named == (["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"] if there else [])


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
def test_a_change_of_a_unit_is_a_change_of_its_namespaces_alone(scheduler: str) -> None:
    """The policy is the same whatever units say, as long as one says something."""
    one, other = (
        [each for each in objects(tree(scheduler, topology)) if each["metadata"]["name"] == POLICY]
        for topology in ("required rack", "preferred block")
    )
    assert one == other


def test_every_kind_of_several_templates_says_how_many_pods_each_has() -> None:
    """At a place around each template, so that a leader is told from its workers; the other kinds have one template."""
    several = {each.kind: each.paths for each in sized(POD_TEMPLATES)}
    for each in POD_TEMPLATES:
        if each.kind in several:
            assert len(several[each.kind]) == len(each.paths)
            assert all(path.startswith(f"{at}.") for at, path in zip(several[each.kind], each.paths, strict=True))
        else:
            assert each.kind in ("Pod", "Deployment", "StatefulSet", "Job", "CronJob")
    assert several["JobSet"] == ("spec.replicatedJobs[]",)
    assert several["RayCluster"] == ("spec.headGroupSpec", "spec.workerGroupSpecs[]")


def test_under_kueue_a_group_is_written_after_the_default() -> None:
    """The first patches leave each template with annotations, to which the others add: a patch to a place that is not
    there would lose both."""
    (policy, _) = [each for each in objects(tree("kueue", "required rack")) if each["metadata"]["name"] == POLICY]
    patches = policy["spec"]["mutations"][0]["jsonPatch"]["expression"]
    default, group = patches.split(" +\n(variables.led ? variables.given : [])")
    assert default.startswith("variables.given.map(")
    assert "podset-group-name" in group
    assert "podset-group-name" not in default


def test_values_cannot_break_out_of_the_expressions() -> None:
    """A label with quotes of its own, which no check lets pass, is a text in the policy."""
    content = tree("kueue", "required rack")
    content["flavors"]["h100"]["labels"] = {"pool": '"] + [object'}
    (policy, _) = [each for each in objects(content) if each["metadata"]["name"] == POLICY]
    (hardware,) = [each["expression"] for each in policy["spec"]["variables"] if each["name"] == "hardware"]
    assert json.dumps('"] + [object') in hardware


@pytest.mark.parametrize(
    ("scheduler", "kubernetes", "fates"),
    [
        ("kueue", "1.36", [Fate.KEPT, Fate.KEPT]),
        ("kueue", "1.35", [Fate.DIFFERENTLY, Fate.DIFFERENTLY]),
        ("volcano", "1.36", [Fate.DIFFERENTLY, Fate.DIFFERENTLY]),
        ("native", "1.36", [Fate.LOST, Fate.LOST]),
    ],
)
def test_what_becomes_of_the_promise(scheduler: str, kubernetes: str, fates: list[Fate]) -> None:
    """It is listed where it is said, at the department and at a project without a budget, and kept by Kueue where the
    API server gives it to jobs."""
    team = {"projects": {"x": {"topology": "preferred rack"}, "y": {}}}
    org = organized(tree(scheduler, "required rack", kubernetes, **team))
    (made,) = plan(org)
    found = [each for each in parity(org, made, PARITIES[scheduler]) if each.promise == "topologyDefault"]
    assert [(each.unit, each.path) for each in found] == [
        ("lab", ("departments", "lab", "topology")),
        ("lab/a/x", ("departments", "lab", "teams", "a", "projects", "x", "topology")),
    ]
    assert [each.fate for each in found] == fates
    assert [each.said for each in found] == [
        f"its GPU jobs that ask for no topology stay within one `{RACK}`",
        f"its GPU jobs that ask for no topology stay within as few `{RACK}` as can be",
    ]
