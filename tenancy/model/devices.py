"""What budgets count on a GPU flavor: whole GPUs, MIG slices or shares of either, and what a cluster calls them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tenancy.diagnostics import KeyPath
from tenancy.model.document import CustomGpu, Flavor, Organization
from tenancy.model.gpus import CATALOGUE, NVIDIA_GPU, Gpu, Profile, custom_gpu
from tenancy.model.quantity import amount

GPUS: Final = "gpus"
"""The key of a budget that means whole GPUs, whatever the device plugin calls them."""
SHARED: Final = ".shared"
"""What the device plugin appends to the name of a resource in shares (`renameByDefault`)."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A MIG layout and where it applies: on `gpus` GPUs of each of `nodes` nodes. Empty profiles: whole GPUs."""

    profiles: Mapping[str, int]
    gpus: int
    nodes: int
    path: KeyPath


@dataclass(frozen=True, slots=True)
class Device:
    """One thing that budgets of a flavor count."""

    key: str
    """Of a budget: `gpus`, or the name of a MIG profile."""
    resource: str
    """What the cluster counts, in pods or (`device_class`) in claims."""
    part: Fraction
    """Of one GPU's memory, and so of the cpu and memory that follow a GPU."""
    per_gpu: Mapping[int, int]
    """How many of it a GPU gives, by the index of the layout."""
    device_class: str = ""
    """The DeviceClass that claims name; empty where the device plugin hands it out."""


def home(document: Organization, flavor: Flavor) -> str:
    """The cluster of a flavor: as written, else the first one; empty where there is none."""
    return flavor.cluster or next(iter(document.clusters), "")


def board(flavor: Flavor) -> Gpu | None:
    """The GPU of a flavor; one with an unknown name counts as a board without MIG, so that the rest can be checked."""
    if flavor.gpu is None:
        return None
    if isinstance(flavor.gpu, CustomGpu):
        return custom_gpu(flavor.gpu.name, amount(flavor.gpu.memory, "memory") or 0, flavor.gpu.resource)
    return CATALOGUE.get(flavor.gpu) or custom_gpu(flavor.gpu, 0, NVIDIA_GPU)


def shares(flavor: Flavor) -> int:
    """Into how many shares a GPU or MIG slice is handed out; 1 without sharing."""
    written = flavor.sharing
    return max(1, (written.time_slicing or written.mps or 1) if written else 1)


def layouts_of(name: str, flavor: Flavor) -> tuple[Layout, ...]:
    """The MIG layouts of a flavor with the share of GPUs or nodes that each covers."""
    gpus, path = flavor.node.gpus or 0, ("flavors", name, "mig")
    if flavor.mig is None:
        return (Layout({}, gpus, flavor.nodes, path),)
    if isinstance(flavor.mig, dict):
        return (Layout(flavor.mig, gpus, flavor.nodes, path),)
    return tuple(
        Layout(
            {profile: count for profile, count in part.items() if profile not in ("gpus", "nodes")},
            part.get("gpus", gpus),
            part.get("nodes", flavor.nodes),
            (*path, index),
        )
        for index, part in enumerate(flavor.mig)
    )


def devices(document: Organization, flavor: Flavor, layouts: tuple[Layout, ...]) -> tuple[Device, ...]:
    """What the budgets of a flavor count, sorted by resource; nothing without a GPU."""
    gpu = board(flavor)
    if gpu is None:
        return ()
    found: dict[str, Device] = {}
    for index, layout in enumerate(layouts):
        for key, count in _held(gpu, layout):
            profile = gpu.profiles.get(key)
            known = found.get(key)
            per_gpu = {**(known.per_gpu if known else {}), index: max(0, count) * shares(flavor)}
            found[key] = Device(
                key,
                _resource(document, flavor, gpu, profile),
                (profile.memory_share if profile else Fraction(1)) / shares(flavor),
                per_gpu,
                device_class(document, gpu, profile) if flavor.allocation == "dra" else "",
            )
    return tuple(sorted(found.values(), key=lambda device: device.resource))


def device_class(document: Organization, gpu: Gpu, profile: Profile | None) -> str:
    """The name of the DeviceClass of a board or of one of its profiles, in the organization's domain."""
    return f"{_token(gpu, profile)}.{document.domain}"


def _held(gpu: Gpu, layout: Layout) -> Iterator[tuple[str, int]]:
    if not layout.profiles:
        yield GPUS, 1
    yield from ((key, count) for key, count in layout.profiles.items() if key in gpu.profiles)


def _resource(document: Organization, flavor: Flavor, gpu: Gpu, profile: Profile | None) -> str:
    """Claims have no resource of their own: Kueue counts them under a name that we choose (deviceClassMappings)."""
    if flavor.allocation == "dra":
        return f"{document.domain}/{_token(gpu, profile)}"
    cluster = document.clusters.get(home(document, flavor))
    single = cluster is not None and cluster.gpu_operator.mig_strategy == "single"
    whole = gpu.resource if profile is None or single else profile.resource
    return whole + (SHARED if shares(flavor) > 1 else "")


def _token(gpu: Gpu, profile: Profile | None) -> str:
    return gpu.name.lower() + (f"-{profile.name.replace('+', '.')}" if profile else "")
