"""Which MIG layout lies behind the slices that a node offers. The driver tells only their sum over all GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Final, TypeAlias

from tenancy.model.gpus import Gpu
from tenancy.model.mig import Placement, additions, pack

Layout: TypeAlias = dict[str, int]

_MOST: Final = 2_000
"""Combinations that are tried before a layout counts as one that cannot be told."""


def layout_of(gpu: Gpu, gpus: int, slices: Mapping[str, int]) -> Layout | list[Layout] | None:
    """A layout of every GPU, or a list with one for some GPUs and one for the others; None where none of both fits.

    `slices` are those of a node, by profile; `gpus` are the GPUs that are divided.
    """
    if gpus < 1 or not slices or any(profile not in gpu.profiles for profile in slices):
        return None
    if all(count % gpus == 0 for count in slices.values()):
        alike = {profile: count // gpus for profile, count in sorted(slices.items())}
        return alike if isinstance(pack(gpu, alike), Placement) else None
    found = [pair for first in range(1, gpus // 2 + 1) for pair in _pairs(gpu, first, gpus - first, slices)]
    return min(found, key=lambda pair: _room(gpu, pair), default=None)


def fewest(gpu: Gpu, slices: Mapping[str, int]) -> int:
    """The GPUs that the slices need at least, by their memory and their number."""
    if gpu.grid is None:
        return 0
    units = sum(gpu.profiles[profile].size * count for profile, count in slices.items())
    counts = [-(-count // gpu.profiles[profile].maximum) for profile, count in slices.items()]
    return max(-(-units // gpu.grid.units), *counts, 1)


def _pairs(gpu: Gpu, first: int, second: int, slices: Mapping[str, int]) -> Iterator[list[Layout]]:
    """Every two layouts that fit and come to the slices on so many GPUs each."""
    names = sorted(slices)
    ways = [list(_ways(gpu.profiles[name].maximum, first, second, slices[name])) for name in names]
    if prod(map(len, ways)) > _MOST:
        return
    for choice in product(*ways):
        layouts = [{name: way[side] for name, way in zip(names, choice, strict=True) if way[side]} for side in (0, 1)]
        if all(layout and isinstance(pack(gpu, layout), Placement) for layout in layouts):
            yield [{"gpus": count, **layout} for count, layout in zip((first, second), layouts, strict=True)]


def _ways(maximum: int, first: int, second: int, total: int) -> Iterator[tuple[int, int]]:
    for each in range(min(maximum, total // first) + 1):
        other, over = divmod(total - each * first, second)
        if not over and other <= maximum:
            yield each, other


def _room(gpu: Gpu, pair: list[Layout]) -> tuple[int, int, int]:
    """Layouts that leave no room come first, then the simplest."""
    layouts = [{name: count for name, count in part.items() if name != "gpus"} for part in pair]
    open_ = sum(any(gpu.profiles[name].plain for name in additions(gpu, layout)) for layout in layouts)
    return open_, sum(map(len, layouts)), -pair[0]["gpus"]
