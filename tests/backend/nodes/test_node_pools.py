"""Pools of Karpenter: which machines they start, how many, what these carry, and when they end."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.backend.manifest import Object
from tenancy.backend.nodes.node_pools import node_pools
from tenancy.model.gpus import CATALOGUE
from tenancy.model.karpenter import AWS_GPUS
from tests.backend.nodes.support import CPU, H100, planned

AZURE = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "gpu"}


def pool(flavor: dict[str, Any], karpenter: dict[str, Any] | None = None) -> Object:
    """The pool of the one flavor `pool`."""
    autoscaling = "karpenter" if karpenter is None else {"karpenter": karpenter}
    plan = planned({"pool": {**flavor, "autoscaling": autoscaling}})
    ((found,),) = (file.objects for file in node_pools(plan))
    return found


def required(found: Object) -> dict[str, list[str]]:
    """What machines must be, by label."""
    requirements = found["spec"]["template"]["spec"]["requirements"]
    assert [each["operator"] for each in requirements] == ["In"] * len(requirements)
    return {each["key"]: each["values"] for each in requirements}


def test_a_pool_says_all_of_its_nodes() -> None:
    """Labels, every taint, the node class, the board, the most there may be, and nothing that the server would add."""
    found = pool({**H100, "nodes": 4, "taints": ["reserved=training:NoExecute", "a.example/b:NoSchedule"]})
    assert found["metadata"]["name"] == "pool"
    assert found["spec"] == {
        "template": {
            "metadata": {"labels": {"tenancy.internal/flavor": "pool"}},
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [
                    {"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "In", "values": ["8"]},
                    {"key": "karpenter.k8s.aws/instance-gpu-name", "operator": "In", "values": ["h100"]},
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand", "reserved"]},
                ],
                "taints": [
                    {"key": "reserved", "value": "training", "effect": "NoExecute"},
                    {"key": "a.example/b", "effect": "NoSchedule"},
                ],
                "expireAfter": "Never",
            },
        },
        "disruption": {
            "consolidationPolicy": "WhenEmpty",
            "consolidateAfter": "5m",
            "budgets": [{"nodes": "0", "reasons": ["Drifted", "Underutilized"]}],
        },
        "limits": {"nodes": "4", "nvidia.com/gpu": "32"},
    }


def test_boards_of_one_name_are_told_apart_by_their_memory() -> None:
    """AWS calls both sizes of the A100 by one name; one of the H100 needs no more than its name."""
    small, large = (required(pool({**H100, "gpu": gpu})) for gpu in ("A100-SXM4-40GB", "A100-SXM4-80GB"))
    key = "karpenter.k8s.aws/instance-gpu-memory"
    assert (small[key], large[key]) == (["40960"], ["81920"])
    assert small["karpenter.k8s.aws/instance-gpu-name"] == large["karpenter.k8s.aws/instance-gpu-name"] == ["a100"]
    assert key not in required(pool(H100))


def test_the_table_of_aws_names_boards_of_the_catalogue() -> None:
    """Every board is a key of the catalogue, and its memory is about that of the board."""
    assert AWS_GPUS.keys() <= CATALOGUE.keys()
    sizes = {name: memory / 1024 / CATALOGUE[name].memory_gib for name, (_, memory) in AWS_GPUS.items()}
    assert {name: size for name, size in sizes.items() if not 0.9 < size < 1.1} == {}


def test_written_requirements_add_and_replace() -> None:
    """What is written goes before what the board says."""
    written = {"karpenter.sh/capacity-type": ["spot"], "topology.kubernetes.io/zone": ["a", "b"]}
    found = required(pool(H100, {"requirements": {**written, "karpenter.k8s.aws/instance-gpu-count": ["4", "8"]}}))
    assert found == {
        **written,
        "karpenter.k8s.aws/instance-gpu-count": ["4", "8"],
        "karpenter.k8s.aws/instance-gpu-name": ["h100"],
    }


def test_another_provider_gets_only_what_is_written() -> None:
    """Labels of AWS mean nothing elsewhere."""
    found = pool(H100, {"nodeClass": AZURE, "requirements": {"karpenter.azure.com/sku-name": ["Standard_ND96"]}})
    assert required(found) == {"karpenter.azure.com/sku-name": ["Standard_ND96"]}
    assert found["spec"]["template"]["spec"]["nodeClassRef"] == AZURE


def test_labels_by_which_pods_select_are_on_every_node() -> None:
    """Written labels are set, or required where Karpenter chooses machines by them; its own it sets by itself."""
    labels = {
        "acme.example/pool": "gpu",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "node.kubernetes.io/instance-type": "p5.48xlarge",
        "karpenter.k8s.aws/instance-family": "p5",
        "karpenter.sh/nodepool": "pool",
    }
    found = pool({**H100, "labels": labels})
    assert found["spec"]["template"]["metadata"]["labels"] == {
        "acme.example/pool": "gpu",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    }
    wanted = required(found)
    assert wanted["node.kubernetes.io/instance-type"] == ["p5.48xlarge"]
    assert wanted["karpenter.k8s.aws/instance-family"] == ["p5"]
    assert "karpenter.sh/nodepool" not in wanted


def test_labels_that_say_only_the_machine_leave_none_to_set() -> None:
    """An empty map of labels is not written."""
    found = pool({**H100, "labels": {"node.kubernetes.io/instance-type": "p5.48xlarge"}})
    assert "metadata" not in found["spec"]["template"]


@pytest.mark.parametrize(
    ("flavor", "key"),
    [
        ({**H100, "gpu": "A100-SXM4-80GB", "mig": {"1g.10gb": 7}}, "nvidia.com/mig.config"),
        ({**H100, "gpu": "L4", "sharing": {"mps": 4, "acrossDepartments": True}}, "nvidia.com/device-plugin.config"),
    ],
)
def test_nodes_start_with_their_configuration(flavor: dict[str, Any], key: str) -> None:
    """The labels that the MIG manager and the device plugin read are there from the start; limits count whole GPUs."""
    found = pool(flavor)
    assert found["spec"]["template"]["metadata"]["labels"][key].startswith("pool-")
    assert found["spec"]["limits"] == {"nodes": "2", "nvidia.com/gpu": "16"}


def test_nodes_without_gpus_are_replaced_as_usual() -> None:
    """A CPU flavor has no GPUs to limit, and its nodes grow old."""
    found = pool(CPU, {"requirements": {"karpenter.k8s.aws/instance-family": ["m7i"]}})
    assert found["spec"]["limits"] == {"nodes": "2"}
    assert found["spec"]["template"]["spec"]["expireAfter"] == "720h"
    assert found["spec"]["disruption"]["consolidationPolicy"] == "WhenEmptyOrUnderutilized"


def test_no_nodes_are_no_machines() -> None:
    """A flavor whose nodes are yet to be allowed has a pool that starts none, not one without a limit."""
    assert pool({**H100, "nodes": 0})["spec"]["limits"] == {"nodes": "0", "nvidia.com/gpu": "0"}


def test_other_flavors_have_no_pool() -> None:
    """Nodes that are there, or that the cluster autoscaler adds, are not Karpenter's."""
    flavors = {"h100": H100, "l4": {**H100, "gpu": "L4", "autoscaling": "provisioning-request"}}
    assert [*node_pools(planned(flavors))] == []
