"""DeviceClasses of boards and profiles, and the driver that runs on the nodes of their flavors alone."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tenancy.backend.nodes.devices import devices
from tenancy.backend.nodes.features import features
from tenancy.plan.values import ClusterPlan
from tests.backend.nodes.support import A100, CPU, H100, L4, files, planned

DRA = {"allocation": "dra"}
MIG = {**A100, **DRA, "mig": {"3g.40gb": 1, "1g.10gb": 3, "1g.10gb+me": 1}}
CLASSES, VALUES = "platform/device-classes.yaml", "platform/nvidia-dra-driver-values.yaml"


def selectors(plan: ClusterPlan) -> dict[str, str]:
    """The expression of each class, by its name."""
    found = yaml.safe_load_all(files(devices, plan)[CLASSES])
    return {each["metadata"]["name"]: each["spec"]["selectors"][0]["cel"]["expression"] for each in found}


def values(plan: ClusterPlan) -> dict[str, Any]:
    """What Helm reads."""
    found: dict[str, Any] = yaml.safe_load(files(devices, plan)[VALUES])
    return found


def test_without_claims_there_is_no_file() -> None:
    """The device plugin needs no classes."""
    assert files(devices, planned({"h100": H100, "cpu": CPU})) == {}


def test_whole_gpus_are_told_by_their_board() -> None:
    """Product names of the driver have blanks, those of the catalogue dashes; the driver is asked first."""
    assert selectors(planned({"h100": {**H100, **DRA}})) == {
        "h100-sxm-80gb.tenancy.internal": (
            'device.driver == "gpu.nvidia.com" &&\n'
            'device.attributes["gpu.nvidia.com"].type == "gpu" &&\n'
            'device.attributes["gpu.nvidia.com"].productName.replace(" ", "-") in ["NVIDIA-H100-80GB-HBM3"]'
        )
    }


def test_every_profile_has_a_class() -> None:
    """The driver spells a profile with its plus; no name of an object could have one."""
    found = selectors(planned({"a100": MIG}))
    profiles = ("1g.10gb", "1g.10gb.me", "3g.40gb")
    assert set(found) == {f"a100-sxm4-80gb-{profile}.tenancy.internal" for profile in profiles}
    assert '.type == "mig"' in found["a100-sxm4-80gb-3g.40gb.tenancy.internal"]
    assert '.profile == "1g.10gb+me"' in found["a100-sxm4-80gb-1g.10gb.me.tenancy.internal"]


def test_flavors_of_one_board_share_its_class() -> None:
    """Which of them a job runs on is said by the nodes that it selects."""
    plan = planned({"one": {**H100, **DRA}, "two": {**H100, **DRA}})
    assert list(selectors(plan)) == ["h100-sxm-80gb.tenancy.internal"]
    assert list(plan.device_classes.items()) == [("tenancy.internal/h100-sxm-80gb", "h100-sxm-80gb.tenancy.internal")]


def test_the_driver_runs_on_the_nodes_of_its_flavors_alone() -> None:
    """Elsewhere the device plugin hands out the same GPUs."""
    affinity = values(planned({"h100": {**H100, **DRA}, "l4": L4}))["kubeletPlugin"]["affinity"]["nodeAffinity"]
    assert affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": "tenancy.internal/flavor", "operator": "In", "values": ["h100"]}]}
    ]


def test_the_driver_tolerates_the_taints_of_its_flavors() -> None:
    """Kept out, it would take the GPUs with it; a taint of other nodes is not its concern."""
    tainted = {"taint": "acme.example/reserved=training:NoSchedule"}
    other = {**L4, "taint": "acme.example/other:NoSchedule"}
    found = values(planned({"h100": {**H100, **DRA, **tainted}, "l4": other}))["kubeletPlugin"]["tolerations"]
    assert [each["key"] for each in found] == ["nvidia.com/gpu", "acme.example/reserved"]


@pytest.mark.parametrize(("installed", "root"), [(True, "/run/nvidia/driver"), (False, "/")])
def test_the_driver_root_is_where_the_operator_puts_it(installed: bool, root: str) -> None:
    """Without the operator the driver is installed on the node."""
    plan = planned({"h100": {**H100, **DRA}}, {"gpuOperator": {"installed": installed}})
    assert values(plan)["nvidiaDriverRoot"] == root


def test_the_device_plugin_is_kept_off_these_nodes() -> None:
    """By the label that the operator deploys it by, which is ours to set before the operator does."""
    plan = planned({"h100": {**H100, **DRA}, "l4": L4})
    assert plan.nodes["h100"].labels["nvidia.com/gpu.deploy.device-plugin"] == "false"
    assert "nvidia.com/gpu.deploy.device-plugin" not in plan.nodes["l4"].labels
    (text,) = files(features, plan).values()
    assert 'nvidia.com/gpu.deploy.device-plugin: "false"' in text


def test_without_the_operator_nobody_reads_the_label() -> None:
    """It would be a label for nothing."""
    plan = planned({"h100": {**H100, **DRA}}, {"gpuOperator": {"installed": False}})
    assert list(plan.nodes["h100"].labels) == ["tenancy.internal/flavor"]
