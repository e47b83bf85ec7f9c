"""Default topologies of units in the plan: who has which, on which flavors, in which cluster."""

from __future__ import annotations

from typing import Any

from tenancy.plan import plan
from tenancy.plan.values import Topology
from tests.orgs import organized

BLOCK, RACK, HOST = "cloud.example/block", "cloud.example/rack", "kubernetes.io/hostname"
NODE = {"gpus": 8, "cpu": 66, "memory": "516Gi"}
LEVELS = [BLOCK, RACK, HOST]
MIG = {"1g.10gb": 7}


def flavors(cluster: str = "main") -> dict[str, Any]:
    """One with racks, one without, and one without of another resource."""
    common = {"nodes": 2, "node": NODE, "cluster": cluster}
    return {
        "a100": {"gpu": "A100-SXM4-80GB", **common},
        "h100": {"gpu": "H100-SXM-80GB", **common, "topology": LEVELS},
        "slices": {"gpu": "A100-SXM4-80GB", **common, "mig": MIG},
    }


def topologies(
    units: dict[str, Any], scheduler: str = "kueue", kinds: dict[str, Any] | None = None, **cluster: Any
) -> dict[str, Topology | None]:
    """The default of every namespace of an organization."""
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"main": {"scheduler": scheduler, **cluster}},
        "flavors": kinds or flavors(),
        "departments": {"lab": units},
    }
    (made,) = plan(organized(tree))
    return {namespace.name: namespace.topology for namespace in made.namespaces}


def test_the_nearest_unit_that_says_something_decides() -> None:
    """A default goes down to teams and projects, each of which may say another."""
    found = topologies(
        {
            "budget": {"h100": 16},
            "topology": "required block",
            "teams": {
                "a": {"budget": {"h100": 8}},
                "b": {"topology": "preferred rack", "projects": {"x": {}, "y": {"topology": "required hostname"}}},
            },
        }
    )
    said = {name: f"{each.mode} {each.level}" for name, each in found.items() if each}
    assert said == {
        "lab-a": f"required {BLOCK}",
        "lab-b-x": f"preferred {RACK}",
        "lab-b-y": f"required {HOST}",
    }


def test_flavors_are_told_apart() -> None:
    """Those within reach that have the level, and those of the same resources that do not; other resources are no
    matter."""
    unit = {"budget": {"h100": 8, "a100": 8, "slices": {"1g.10gb": 7}}, "topology": "required rack", "teams": {"a": {}}}
    assert topologies(unit) == {"lab-a": Topology(mode="required", level=RACK, flavors=("h100",), lacking=("a100",))}


def test_what_a_unit_cannot_reach_does_not_count() -> None:
    """A team whose limit on the flavor with racks is 0 has no default, though its department has."""
    unit = {
        "budget": {"h100": 8, "a100": 8},
        "topology": "required rack",
        "teams": {"a": {"budget": {"a100": 8, "h100": {"limit": 0}}}, "b": {"budget": {"a100": {"limit": 0}}}},
    }
    assert topologies(unit) == {
        "lab-a": None,
        "lab-b": Topology(mode="required", level=RACK, flavors=("h100",), lacking=()),
    }


def test_nothing_that_nobody_looks_at() -> None:
    """None with plain placement under Kueue, also where that follows from an autoscaled flavor; none for hosts under
    Volcano, which has no tier for them."""
    unit = {"budget": {"h100": 8}, "topology": "required host", "teams": {"a": {}}}
    assert topologies(unit, "native")["lab-a"] is not None
    assert topologies(unit)["lab-a"] is not None
    assert topologies(unit, placement="plain") == {"lab-a": None}
    autoscaled = {name: {**each, "autoscaling": "karpenter"} for name, each in flavors().items()}
    assert topologies(unit, kinds=autoscaled) == {"lab-a": None}
    assert topologies(unit, "volcano") == {"lab-a": None}
    assert topologies({**unit, "topology": "required rack"}, "volcano", placement="plain")["lab-a"] is not None


def test_a_level_means_what_the_cluster_has() -> None:
    """The same word is another label in another cluster."""
    other = {**flavors("west")["h100"], "topology": ["west.example/rack", HOST]}
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"main": {}, "west": {}},
        "flavors": {"h100": flavors()["h100"], "h100-west": other},
        "departments": {
            "lab": {"budget": {"h100": 8, "h100-west": 8}, "topology": "required rack", "teams": {"a": {}}}
        },
    }
    found = [namespace.topology for made in plan(organized(tree)) for namespace in made.namespaces]
    assert [each.level for each in found if each] == [RACK, "west.example/rack"]
