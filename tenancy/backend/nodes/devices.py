"""DeviceClasses, which the claims of jobs name where GPUs are handed out by dynamic resource allocation (DRA).

Quotas count claims by their class alone, so each board and each of its MIG profiles has a class of its own; those of
NVIDIA's chart hold every board at once. The selectors go by what NVIDIA's driver publishes of a device
(cmd/gpu-kubelet-plugin/deviceinfo.go of dra-driver-nvidia-gpu). Its product names have blanks where the node labels of
GPU feature discovery, by which the catalogue knows the boards, have dashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tenancy.backend.manifest import Manifest, Object, Page
from tenancy.backend.nodes.tolerations import STACK, tolerations
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.shared.metadata import obj
from tenancy.model.devices import Device
from tenancy.model.gpus import Gpu
from tenancy.model.hardware import Hardware
from tenancy.plan.values import ClusterPlan

API: Final = "resource.k8s.io/v1"
DRIVER: Final = "gpu.nvidia.com"
OPERATOR_ROOT: Final = "/run/nvidia/driver"
"""Where the operator's own container has the driver; one that is installed on the node itself is below `/`."""


def devices(plan: ClusterPlan) -> Iterator[Manifest | Page]:
    """The classes of a cluster with flavors that are allocated so, and the values of the driver's chart."""
    claimed = [flavor for flavor in plan.flavors.values() if flavor.claimed]
    if claimed:
        yield Manifest("platform/device-classes.yaml", tuple(_classes(plan, claimed)))
        values = {"values": _values(plan, claimed)}
        yield Page("platform/nvidia-dra-driver-values.yaml", "nodes/nvidia-dra-driver-values.yaml.j2", values)


def _classes(plan: ClusterPlan, claimed: list[Hardware]) -> Iterator[Object]:
    """Flavors of one board share its classes: on which of them a job runs is said by the nodes that it selects."""
    found = {
        device.device_class: _selector(flavor.gpu, device)
        for flavor in claimed
        for device in flavor.devices
        if flavor.gpu is not None
    }
    for name, expression in sorted(found.items()):
        yield obj(API, "DeviceClass", name, plan.labels, spec={"selectors": [{"cel": {"expression": expression}}]})


def _selector(gpu: Gpu, device: Device) -> str:
    """CEL that is true of the devices. The driver comes first: an attribute that is not there is an error, with which
    the scheduler would give up on the pod."""
    attributes = f"device.attributes[{text(DRIVER)}]"
    profile = gpu.profiles.get(device.key)
    lines = [
        f"device.driver == {text(DRIVER)}",
        f"{attributes}.type == {text('mig' if profile else 'gpu')}",
        *([f"{attributes}.profile == {text(profile.name)}"] if profile else ()),
        f'{attributes}.productName.replace(" ", "-") in {texts(gpu.products)}',
    ]
    return " &&\n".join(lines)


def _values(plan: ClusterPlan, claimed: list[Hardware]) -> dict[str, Any]:
    """Only nodes of these flavors run the driver: it and the device plugin would hand out the same GPUs.

    The chart refuses to render without the override. ComputeDomains are another part of the driver, with a webhook
    that needs certificates, and nothing here asks for them.
    """
    terms = [{"matchExpressions": _expressions(flavor)} for flavor in claimed]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {
        "nvidiaDriverRoot": OPERATOR_ROOT if plan.cluster.gpu_operator.installed else "/",
        "gpuResourcesEnabledOverride": True,
        "resources": {"gpus": {"enabled": True}, "computeDomains": {"enabled": False}},
        "webhook": {"enabled": False},
        "kubeletPlugin": {"tolerations": tolerations(claimed, (STACK,)), "affinity": {"nodeAffinity": required}},
    }


def _expressions(flavor: Hardware) -> list[dict[str, Any]]:
    return [{"key": key, "operator": "In", "values": [value]} for key, value in sorted(flavor.labels.items())]
