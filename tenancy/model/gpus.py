"""The catalogue of GPU boards: their memory, their names in a cluster, and how MIG may divide them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from tenancy.model.gpu_data import GRIDS, MIG_BOARDS, OTHER_BOARDS, BoardRow, GridRow, ShapeRow

NVIDIA_GPU: Final = "nvidia.com/gpu"
MIG_RESOURCE_PREFIX: Final = "nvidia.com/mig-"
PRODUCT: Final = "nvidia.com/gpu.product"
"""The node label with the board, as GPU feature discovery has it (`Gpu.products`)."""
COUNT: Final = "nvidia.com/gpu.count"
"""The node label with the number of GPUs, those in MIG mode too; under the strategy `single` that of slices."""
_GIB: Final = 1 << 30


class Certainty(StrEnum):
    """How sure the MIG geometry of a board is: seen on hardware, in the vendor's documents, or carried over."""

    LISTED = "listed"
    DOCUMENTED = "documented"
    INFERRED = "inferred"
    DECLARED = "declared"
    """Written by the user: hardware that is not in the catalogue."""


@dataclass(frozen=True, slots=True)
class Engines:
    """Media engines that instances share and the line of memory does not already bound."""

    decoders: int = 0
    ofa: int = 0


@dataclass(frozen=True, slots=True)
class Grid:
    """What MIG divides: `units` of memory in a line, `compute` slices, and engines."""

    name: str
    units: int
    compute: int
    engines: Engines


@dataclass(frozen=True, slots=True)
class Profile:
    """One MIG profile of one board, named as NVIDIA does (`1g.10gb+me`).

    An instance covers `size` units of the grid's memory from one of `starts` on; a GPU holds at most `maximum` of them.
    """

    name: str
    grid: Grid
    size: int
    compute: int
    starts: tuple[int, ...]
    maximum: int
    engines: Engines = Engines()

    @property
    def resource(self) -> str:
        """The extended resource under the device plugin's `mixed` strategy, where `+` is not a legal character."""
        return MIG_RESOURCE_PREFIX + self.name.replace("+", ".")

    @property
    def memory_share(self) -> Fraction:
        """The part of the GPU's memory that an instance owns."""
        return Fraction(self.size, self.grid.units)

    @property
    def plain(self) -> bool:
        """Whether the profile has no attribute such as `+me`, `+gfx` or `-me`."""
        return self.name.endswith("gb")


def _no_profiles() -> Mapping[str, Profile]:
    return MappingProxyType({})


def _no_names() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Gpu:
    """One board. `memory_gib` is nominal, as in the name: an instance sees a few percent less.

    `products` are its values of the node label `nvidia.com/gpu.product` without MIG or sharing, `pci_ids` the device
    ids of PCI vendor 10DE that no other board has; either may be empty. `grid` is None and `profiles` empty where there
    is no MIG.
    """

    name: str
    memory_gib: int
    resource: str = NVIDIA_GPU
    grid: Grid | None = None
    profiles: Mapping[str, Profile] = field(default_factory=_no_profiles, hash=False)
    products: tuple[str, ...] = ()
    pci_ids: tuple[str, ...] = ()
    family: str = ""
    certainty: Certainty = Certainty.DOCUMENTED
    source: str = ""
    old_names: Mapping[str, str] = field(default_factory=_no_names, hash=False)
    """What early drivers called its profiles, to their names since."""
    coherent: bool = False
    """Whether the CPU shares its memory, as on Grace: the driver has a mode for it that rules out MIG."""


def custom_gpu(name: str, memory_bytes: int, resource: str) -> Gpu:
    """Hardware that the catalogue does not know, without MIG. The memory is rounded down to whole GiB."""
    return Gpu(
        name=name,
        memory_gib=memory_bytes // _GIB,
        resource=resource,
        certainty=Certainty.DECLARED,
        source="declared in the organization",
    )


def models_with(profile: str) -> tuple[str, ...]:
    """The catalogue keys of the boards that have a profile of this name, in catalogue order."""
    return tuple(name for name, gpu in CATALOGUE.items() if profile in gpu.profiles)


def _grid(name: str, row: GridRow) -> Grid:
    return Grid(name, row.units, row.compute, Engines(row.decoders, row.ofa))


def _profile(name: str, grid: Grid, shape: ShapeRow) -> Profile:
    engines = Engines(shape.decoders, shape.ofa)
    return Profile(name, grid, shape.size, shape.compute, shape.starts, shape.maximum, engines)


def _profiles(row: BoardRow, grid: Grid) -> Mapping[str, Profile]:
    shapes = GRIDS[row.grid].shapes
    return MappingProxyType({name: _profile(name, grid, shapes[shape]) for shape, name in row.profiles.items()})


def _gpu(row: BoardRow) -> Gpu:
    grid = _GRIDS.get(row.grid)
    return Gpu(
        name=row.name,
        memory_gib=row.memory_gib,
        grid=grid,
        profiles=_profiles(row, grid) if grid else _no_profiles(),
        products=row.products,
        pci_ids=row.pci_ids,
        family=row.family,
        certainty=Certainty(row.certainty),
        source=row.source,
        old_names=MappingProxyType(row.old_names),
        coherent=row.coherent,
    )


_GRIDS: Final = {name: _grid(name, row) for name, row in GRIDS.items()}

CATALOGUE: Final[Mapping[str, Gpu]] = MappingProxyType({row.name: _gpu(row) for row in MIG_BOARDS + OTHER_BOARDS})
"""Every board that `gpu:` of a flavor may name."""
