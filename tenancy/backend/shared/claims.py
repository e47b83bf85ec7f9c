"""Claims of GPUs (dynamic resource allocation) as a ResourceQuota counts them."""

from __future__ import annotations

from typing import Final

from tenancy.model.hardware import Hardware
from tenancy.plan.values import ClusterPlan

_IMPLICIT: Final = "deviceclass.resource.kubernetes.io/"
_DEVICES: Final = ".deviceclass.resource.k8s.io/devices"
FOREIGN_CLASSES: Final = ("gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com")
"""Classes of the chart of NVIDIA's driver, which hold the same GPUs as ours. What pods request as `nvidia.com/gpu` on a
node of the driver is a claim of the first, which the scheduler makes."""


def devices_key(device_class: str) -> str:
    """The key of a quota for the devices that claims have of a class."""
    return f"{device_class}{_DEVICES}"


def implicit(device_class: str) -> str:
    """The resource by which pods get devices of a class without a claim, from Kubernetes 1.36 on."""
    return f"{_IMPLICIT}{device_class}"


def class_of(resource: str) -> str:
    """The class of such a resource; empty for any other."""
    return resource.removeprefix(_IMPLICIT) if resource.startswith(_IMPLICIT) else ""


def asked(flavor: Hardware) -> tuple[str, ...]:
    """What containers ask for to get the GPUs of a flavor; of devices that are claimed, the name without a claim."""
    return tuple(implicit(each.device_class) if each.device_class else each.resource for each in flavor.devices)


def foreign_devices(plan: ClusterPlan) -> dict[str, str]:
    """Nobody claims GPUs past the classes that quotas count, where there are any."""
    return {devices_key(name): "0" for name in FOREIGN_CLASSES} if plan.device_classes else {}
