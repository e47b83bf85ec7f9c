"""Rules of Node Feature Discovery: which nodes they tell, and what they may set."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tenancy.backend.manifest import Object
from tenancy.backend.nodes.features import features, sets
from tenancy.plan.values import ClusterPlan
from tests.backend.nodes.support import CPU, H100, planned

TAINTED = {**H100, "taint": "acme.example/reserved=training:NoSchedule"}
TAINTED_CPU = {**CPU, "taint": "acme.example/reserved=cpu:NoSchedule"}


def rules(cluster: ClusterPlan) -> dict[str, Object]:
    """The one rule of each object, by the name of the object."""
    return {item["metadata"]["name"]: item["spec"]["rules"][0] for file in features(cluster) for item in file.objects}


def test_a_board_of_one_flavor_is_told_by_its_pci_id() -> None:
    """The rule sets the flavor's label and taint on nodes with a device of NVIDIA with the board's id in lower case."""
    assert rules(planned({"h200": {**TAINTED, "gpu": "H200-NVL-141GB"}})) == {
        "h200": {
            "name": "h200",
            "labels": {"tenancy.internal/flavor": "h200"},
            "taints": [{"key": "acme.example/reserved", "value": "training", "effect": "NoSchedule"}],
            "matchFeatures": [
                {
                    "feature": "pci.device",
                    "matchExpressions": {
                        "vendor": {"op": "In", "value": ["10de"]},
                        "device": {"op": "In", "value": ["233b"]},
                    },
                }
            ],
        }
    }


def test_names_go_before_the_board() -> None:
    """Where names are written they alone tell the nodes, as expressions that match whole names."""
    (told,) = rules(planned({"h100": {**TAINTED, "nodeNames": ["dgx-*", "n1.rack-2.example"]}}))["h100"][
        "matchFeatures"
    ]
    assert told["feature"] == "system.name"
    expressions = told["matchExpressions"]["nodename"]
    assert expressions == {"op": "InRegexp", "value": ["^dgx-.*$", r"^n1\.rack-2\.example$"]}
    matched = [
        any(re.search(each, name) for each in expressions["value"])
        for name in ("dgx-1", "dgx-", "n1.rack-2.example", "a-dgx-1", "n1xrack-2.example", "n1.rack-2.example.org")
    ]
    assert matched == [True, True, True, False, False, False]


def test_labels_come_with_the_scheduler() -> None:
    """Under Volcano nodes get the label of their node group too."""
    labels = rules(planned({"h100": TAINTED}, {"scheduler": "volcano"}))["h100"]["labels"]
    assert labels == {"tenancy.internal/flavor": "h100", "volcano.sh/nodegroup-name": "h100"}


def test_a_written_label_is_there_already() -> None:
    """A flavor with labels of its own gets none; the label of the board is as good as the board."""
    product = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
    rule = rules(planned({"h100": {**TAINTED, "labels": product}}))["h100"]
    assert "labels" not in rule
    assert rule["taints"]
    assert rule["matchFeatures"][0]["feature"] == "pci.device"


@pytest.mark.parametrize(
    ("flavors", "cluster"),
    [
        ({"h100": TAINTED, "other": {**TAINTED, "labels": {"acme.example/pool": "other"}}}, {}),
        ({"h100": {**TAINTED, "labels": {"acme.example/pool": "h100"}}}, {}),
        ({"h100": {**TAINTED, "autoscaling": "karpenter"}}, {}),
        ({"h100": {**TAINTED, "labels": {"nvidia.com/gpu.count": "8"}, "taint": "reserved:NoSchedule"}}, {}),
        ({"h100": TAINTED}, {"gpuOperator": {"installed": False}}),
        ({"cpu": TAINTED_CPU}, {}),
        ({"cpu": {**TAINTED_CPU, "nodeNames": ["cpu-*"]}}, {}),
        ({"mi300x": {**TAINTED, "gpu": {"name": "MI300X", "memory": "192Gi", "resource": "amd.com/gpu"}}}, {}),
    ],
    ids=["two of a board", "by label", "Karpenter", "nothing to set", "no operator", "cpu", "no GPUs", "other vendor"],
)
def test_there_is_no_rule_where_it_could_say_nothing(flavors: dict[str, Any], cluster: dict[str, Any]) -> None:
    """No file is written where no nodes can be told, where nothing is to be set, and where nobody would read it."""
    assert [*features(planned(flavors, cluster))] == []


def test_cpu_nodes_are_told_by_names() -> None:
    """Beside a flavor of NVIDIA, for which the operator is there, a CPU flavor with names gets its rule."""
    found = rules(planned({"h100": TAINTED, "cpu": {**TAINTED_CPU, "nodeNames": ["cpu-*"]}}))
    assert found["cpu"]["labels"] == {"tenancy.internal/flavor": "cpu"}
    assert found["cpu"]["matchFeatures"][0]["feature"] == "system.name"


@pytest.mark.parametrize(
    ("taint", "set_"),
    [
        ("acme.example/reserved:NoSchedule", True),
        ("acme.example/reserved=soft:PreferNoSchedule", True),
        ("nvidia.com/gpu=present:NoSchedule", True),
        ("acme.example/reserved:NoExecute", False),
        ("reserved:NoSchedule", False),
        ("kubernetes.io/reserved:NoSchedule", False),
        ("node-role.kubernetes.io/gpu:NoSchedule", False),
        ("notkubernetes.io/reserved:NoSchedule", True),
    ],
)
def test_taints_that_discovery_refuses_are_left_out(taint: str, set_: bool) -> None:
    """A taint needs a domain that is not Kubernetes' own, and must not evict what set it."""
    declared = sets(planned({"h100": {**TAINTED, "taint": taint}}), "h100")
    assert [each.text for each in declared.taints] == ([taint] if set_ else [])
    assert declared.labels == {"tenancy.internal/flavor": "h100"}


def test_configurations_are_not_set_by_rules() -> None:
    """The labels that make the MIG manager and the device plugin act come by hand: those of a rule come and go."""
    a100 = {**TAINTED, "gpu": "A100-SXM4-80GB", "mig": {"1g.10gb": 7}}
    shared = {**TAINTED, "gpu": "L4", "sharing": {"timeSlicing": 4, "acrossDepartments": True}}
    cluster = planned({"a100": a100, "l4": shared})
    assert {key for name in ("a100", "l4") for key in cluster.nodes[name].uniform_labels} > {"tenancy.internal/flavor"}
    assert {key for rule in rules(cluster).values() for key in rule["labels"]} == {"tenancy.internal/flavor"}
