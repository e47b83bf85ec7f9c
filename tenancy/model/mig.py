"""Whether a MIG layout fits on one GPU, and where its instances lie.

A GPU is a line of memory units; a profile covers some of them from one of a few starts. A layout fits if every instance
finds a start without overlap, no profile exceeds its own maximum, and the media engines suffice. NVIDIA's own tools
check none of this before the node tries it (mig-parted 0.15), where a failure leaves the node without GPUs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tenancy.model.gpus import Gpu, Grid, Profile
from tenancy.model.mig_refusal import Refusal, RefusalKind, Request, no_start, refuse_layout

__all__ = ["Placement", "Refusal", "RefusalKind", "Slot", "additions", "pack"]


@dataclass(frozen=True, slots=True)
class Slot:
    """An instance in its place: it covers the memory units from `start` up to, not including, `end`."""

    profile: Profile
    start: int

    @property
    def size(self) -> int:
        """How many memory units it covers."""
        return self.profile.size

    @property
    def end(self) -> int:
        """The memory unit after its last."""
        return self.start + self.profile.size


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the instances of a layout lie on one GPU, by start."""

    grid: Grid
    slots: tuple[Slot, ...]

    @property
    def idle_memory(self) -> int:
        """Memory units that no instance owns."""
        return self.grid.units - sum(slot.size for slot in self.slots)

    @property
    def idle_compute(self) -> int:
        """Compute slices that no instance owns; two 3g, say, fill the memory and leave one."""
        return self.grid.compute - sum(slot.profile.compute for slot in self.slots)


def pack(gpu: Gpu, layout: Mapping[str, int]) -> Placement | Refusal:
    """Place the layout, profile name to count, on one GPU, or say why that cannot be.

    The placement is one that the driver accepts, not always the one that it chooses: larger instances first and towards
    the end of the line, the smallest from the start on, so that free units stay together.
    """
    if refusal := refuse_layout(gpu, layout):
        return refusal
    request = _request(gpu, layout)
    slots = _search(_by_size(request), 0, 0, set())
    if slots is None:
        return no_start(gpu, request)
    return Placement(request[0][0].grid, tuple(sorted(slots, key=lambda slot: slot.start)))


def additions(gpu: Gpu, layout: Mapping[str, int]) -> tuple[str, ...]:
    """The profiles of which one more would still fit beside the layout."""
    return tuple(name for name in gpu.profiles if isinstance(pack(gpu, _plus(layout, name)), Placement))


def _plus(layout: Mapping[str, int], name: str) -> dict[str, int]:
    return {**layout, name: layout.get(name, 0) + 1}


def _request(gpu: Gpu, layout: Mapping[str, int]) -> Request:
    """The profiles with their counts, in the board's order: the order of the layout must not matter."""
    return tuple((profile, layout[name]) for name, profile in gpu.profiles.items() if layout.get(name))


def _by_size(request: Request) -> tuple[Profile, ...]:
    instances = [profile for profile, count in request for _ in range(count)]
    return tuple(sorted(instances, key=lambda profile: (-profile.size, -profile.compute)))


def _search(instances: tuple[Profile, ...], index: int, taken: int, dead: set[tuple[int, int]]) -> list[Slot] | None:
    """Place the instances from `index` on into the units that the bits of `taken` leave free, or None.

    `dead` remembers what failed: the rest depends only on the index and the free units.
    """
    if index == len(instances):
        return []
    if (index, taken) in dead:
        return None
    profile = instances[index]
    for start in _preferred_starts(profile):
        mask = ((1 << profile.size) - 1) << start
        if taken & mask:
            continue
        rest = _search(instances, index + 1, taken | mask, dead)
        if rest is not None:
            return [Slot(profile, start), *rest]
    dead.add((index, taken))
    return None


def _preferred_starts(profile: Profile) -> tuple[int, ...]:
    """Instances of the smallest size fill up from the start of the line, all others from its end."""
    smallest = profile.grid.units // profile.grid.compute
    return profile.starts if profile.size == smallest else profile.starts[::-1]
