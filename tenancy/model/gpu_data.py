"""Boards and MIG geometry as literal rows, from which `tenancy.model.gpus` builds the catalogue.

Sources: NVIDIA's MIG user guide (r580 and newer) and its reference of vGPU types (NVIDIA AI Enterprise) for profiles
and counts, public `nvidia-smi mig -lgipp` listings for start positions, the device tables of mig-parted 0.15 for
profile names and PCI device ids, the list of products of NVIDIA's driver 595 and the PCI ID database for product names
and PCI device ids.

Left out: H20B (nobody has published its memory or its profiles) and Jetson Thor (its profiles own no memory of their
own, so that no share of it can be promised).
"""

from __future__ import annotations

from typing import Final, NamedTuple


class ShapeRow(NamedTuple):
    """A profile without its name: units of memory, compute slices, allowed starts, most per GPU, engines it takes."""

    size: int
    compute: int
    starts: tuple[int, ...]
    maximum: int
    decoders: int = 0
    ofa: int = 0


class GridRow(NamedTuple):
    """The line of memory that instances share, and the engines that the line alone does not bound."""

    units: int
    compute: int
    decoders: int
    ofa: int
    shapes: dict[str, ShapeRow]


class BoardRow(NamedTuple):
    """One board. `profiles` maps a shape of the grid to the name that the driver computes for it on this board.

    `certainty` and `source` are of its MIG geometry. PCI ids that are also those of another product are left out: they
    tell neither.
    """

    name: str
    family: str
    memory_gib: int
    pci_ids: tuple[str, ...]
    products: tuple[str, ...]
    grid: str = ""
    profiles: dict[str, str] = {}  # noqa: RUF012 - a default of a NamedTuple, never written to.
    certainty: str = "documented"
    source: str = "vendor data sheet: no MIG"
    old_names: dict[str, str] = {}  # noqa: RUF012 - likewise.
    """What early drivers called profiles, to their names since."""
    coherent: bool = False
    """Whether the CPU shares its memory: the driver then has a mode for it that rules out MIG (operator notes)."""


_EVERY_EIGHTH: Final = (0, 1, 2, 3, 4, 5, 6)
_QUARTERS: Final = (0, 3, 6, 9)

GRIDS: Final[dict[str, GridRow]] = {
    # Memory slice 7 has no compute slice of its own, so a 1g never starts there.
    "S8": GridRow(
        units=8,
        compute=7,
        decoders=0,
        ofa=1,
        shapes={
            "1g": ShapeRow(1, 1, _EVERY_EIGHTH, 7),
            "1g+me": ShapeRow(1, 1, _EVERY_EIGHTH, 1, ofa=1),
            "1gD": ShapeRow(2, 1, (0, 2, 4, 6), 4),
            "2g": ShapeRow(2, 2, (0, 2, 4), 3),
            "3g": ShapeRow(4, 3, (0, 4), 2),
            "4g": ShapeRow(4, 4, (0,), 1),
            "7g": ShapeRow(8, 7, (0,), 1, ofa=1),
        },
    ),
    # The chip has one optical flow accelerator (OFA), so at most one +me in all; inferred from the engine count.
    "S4": GridRow(
        units=4,
        compute=4,
        decoders=0,
        ofa=1,
        shapes={
            "1g": ShapeRow(1, 1, (0, 1, 2, 3), 4),
            "1g+me": ShapeRow(1, 1, (0, 1, 2, 3), 1, ofa=1),
            "2g": ShapeRow(2, 2, (0, 2), 2),
            "2g+me": ShapeRow(2, 2, (0, 2), 1, ofa=1),
            "4g": ShapeRow(4, 4, (0,), 1, ofa=1),
        },
    ),
    # Three units per quarter of the GPU. Decoders must sum to 4 or less and OFA to 1 or less; inferred from the counts.
    "R12": GridRow(
        units=12,
        compute=4,
        decoders=4,
        ofa=1,
        shapes={
            "1g": ShapeRow(3, 1, _QUARTERS, 4, decoders=1),
            "1g+gfx": ShapeRow(3, 1, _QUARTERS, 4, decoders=1),
            "1g+me": ShapeRow(3, 1, _QUARTERS, 1, decoders=1, ofa=1),
            "1g+me.all": ShapeRow(3, 1, _QUARTERS, 1, decoders=4, ofa=1),
            "1g-me": ShapeRow(3, 1, _QUARTERS, 4),
            "2g": ShapeRow(6, 2, (0, 6), 2, decoders=2),
            "2g+gfx": ShapeRow(6, 2, (0, 6), 2, decoders=2),
            "2g+me.all": ShapeRow(6, 2, (0, 6), 1, decoders=4, ofa=1),
            "2g-me": ShapeRow(6, 2, (0, 6), 2),
            "4g": ShapeRow(12, 4, (0,), 1, decoders=4, ofa=1),
            "4g+gfx": ShapeRow(12, 4, (0,), 1, decoders=4, ofa=1),
        },
    ),
    # Two halves. The counts are documented and leave no other placement; the engine rule is inferred from the counts.
    "R2": GridRow(
        units=2,
        compute=2,
        decoders=3,
        ofa=1,
        shapes={
            "1g": ShapeRow(1, 1, (0, 1), 2, decoders=1),
            "1g+gfx": ShapeRow(1, 1, (0, 1), 2, decoders=1),
            "1g+me": ShapeRow(1, 1, (0, 1), 1, decoders=1, ofa=1),
            "1g+me.all": ShapeRow(1, 1, (0, 1), 1, decoders=3, ofa=1),
            "1g-me": ShapeRow(1, 1, (0, 1), 2),
            "2g": ShapeRow(2, 2, (0,), 1, decoders=3, ofa=1),
            "2g+gfx": ShapeRow(2, 2, (0,), 1, decoders=3, ofa=1),
        },
    ),
}


def _eighths(names: str) -> dict[str, str]:
    """The six names of a board in the order 1g, 1g of double memory, 2g, 3g, 4g, 7g."""
    base, double, two, three, four, seven = names.split()
    return {"1g": base, "1g+me": f"{base}+me", "1gD": double, "2g": two, "3g": three, "4g": four, "7g": seven}


def _named(grid: str, names: dict[str, str]) -> dict[str, str]:
    """The names of every shape of a grid, from those of the plain ones: attributes are appended."""
    return {shape: names[shape[:2]] + shape[2:] for shape in GRIDS[grid].shapes}


_OF_40: Final = _eighths("1g.5gb 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb")
_OF_64: Final = _eighths("1g.8gb 1g.16gb 2g.16gb 3g.32gb 4g.32gb 7g.64gb")
_OF_80: Final = _eighths("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb")
_OF_94: Final = _eighths("1g.12gb 1g.24gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb")
_OF_96: Final = _eighths("1g.12gb 1g.24gb 2g.24gb 3g.48gb 4g.48gb 7g.96gb")
_OF_141: Final = _eighths("1g.18gb 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb")
_OF_144: Final = _eighths("1g.18gb 1g.36gb 2g.36gb 3g.72gb 4g.72gb 7g.144gb")
_OF_180: Final = _eighths("1g.23gb 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb")
_OF_186: Final = _eighths("1g.23gb 1g.47gb 2g.47gb 3g.93gb 4g.93gb 7g.186gb")
_OF_269: Final = _eighths("1g.34gb 1g.67gb 2g.67gb 3g.135gb 4g.135gb 7g.269gb")
_OF_278: Final = _eighths("1g.35gb 1g.70gb 2g.70gb 3g.139gb 4g.139gb 7g.278gb")
_OF_A30: Final = _named("S4", {"1g": "1g.6gb", "2g": "2g.12gb", "4g": "4g.24gb"})
_OF_RTX: Final = _named("R12", {"1g": "1g.24gb", "2g": "2g.48gb", "4g": "4g.96gb"})
_OF_RTX_48: Final = _named("R2", {"1g": "1g.24gb", "2g": "2g.48gb"})
# The guide lists no +me for the smallest board.
_OF_RTX_32: Final = {
    shape: name for shape, name in _named("R2", {"1g": "1g.16gb", "2g": "2g.32gb"}).items() if shape != "1g+me"
}

# mig-parted#31 and gpu-operator#351 (drivers 510 to 545), gpu-operator#1303 and mig-parted#227 (before August 2025).
_OLD_OF_80: Final = {"3g.39gb": "3g.40gb", "7g.79gb": "7g.80gb"}
_OLD_OF_186: Final = {
    "1g.24gb": "1g.23gb",
    "1g.24gb+me": "1g.23gb+me",
    "3g.95gb": "3g.93gb",
    "4g.95gb": "4g.93gb",
    "7g.189gb": "7g.186gb",
}

_LISTED: Final = ("listed", "nvidia-smi listing of this board")
_GUIDE: Final = ("documented", "MIG user guide r580, counts corrected as in mig-parted")
_GUIDE_NAMES: Final = ("inferred", "profile names: MIG user guide r580; starts assumed as on H100")
_PARTED_NAMES: Final = ("inferred", "profile names: mig-parted and operator release notes; starts assumed as on H100")
_EXPORT: Final = ("inferred", "profile names: mig-parted; starts assumed as on the A100 or H100 of that memory")
_VGPU: Final = ("inferred", "profile names and counts: NVIDIA's reference of vGPU types; starts assumed as on H100")
_CHIP: Final = ("inferred", "the chip of the A100 or A30 of that memory; profiles and starts assumed as there")
_A100_64: Final = ("inferred", "profile names: H100 of that memory; starts assumed as on the A100")
_HALVES: Final = (
    "inferred",
    "profiles and counts: MIG user guide after r580, which named others; halves and engine sums assumed",
)
_RTX: Final = ("listed", "counts: MIG user guide; starts: nvidia-smi listing; engine sums inferred from engine counts")

_RTX_PRO_6000: Final = "NVIDIA-RTX-PRO-6000-Blackwell"

# Name, family, memory in GiB (as in the name, else that of the 7g profile), PCI device ids, product labels, geometry.
MIG_BOARDS: Final[tuple[BoardRow, ...]] = (
    BoardRow("A100-SXM4-40GB", "Ampere", 40, ("20B0",), ("NVIDIA-A100-SXM4-40GB",), "S8", _OF_40, *_LISTED),
    BoardRow("A100-SXM4-80GB", "Ampere", 80, ("20B2",), ("NVIDIA-A100-SXM4-80GB",), "S8", _OF_80, *_LISTED, _OLD_OF_80),
    BoardRow("A100-PCIE-40GB", "Ampere", 40, ("20B1", "20F1"), ("NVIDIA-A100-PCIE-40GB",), "S8", _OF_40, *_LISTED),
    BoardRow("A100-PCIE-80GB", "Ampere", 80, ("20B5",), ("NVIDIA-A100-80GB-PCIe",), "S8", _OF_80, *_LISTED, _OLD_OF_80),
    BoardRow("A100-SXM-64GB", "Ampere", 64, ("20B3",), ("NVIDIA-A100-SXM-64GB",), "S8", _OF_64, *_A100_64),
    BoardRow("A100X", "Ampere", 80, ("20B8",), ("NVIDIA-A100X",), "S8", _OF_80, *_CHIP),
    BoardRow("PG506-96GB", "Ampere", 96, ("20B6",), ("NVIDIA-PG506-232",), "S8", _OF_96, *_EXPORT),
    BoardRow("A800-SXM4-40GB", "Ampere", 40, ("20BD",), ("NVIDIA-A800-SXM4-40GB",), "S8", _OF_40, *_EXPORT),
    BoardRow("A800-SXM4-80GB", "Ampere", 80, ("20F3",), ("NVIDIA-A800-SXM4-80GB",), "S8", _OF_80, *_EXPORT),
    BoardRow("A800-PCIE-40GB", "Ampere", 40, ("20F6",), ("NVIDIA-A800-40GB-Active",), "S8", _OF_40, *_EXPORT),
    BoardRow(
        "A800-PCIE-80GB",
        "Ampere",
        80,
        ("20F5",),
        ("NVIDIA-A800-80GB-PCIe", "NVIDIA-A800-80GB-PCIe-LC"),
        "S8",
        _OF_80,
        *_EXPORT,
    ),
    BoardRow("H100-SXM-80GB", "Hopper", 80, ("2330",), ("NVIDIA-H100-80GB-HBM3",), "S8", _OF_80, *_LISTED),
    BoardRow("H100-PCIE-80GB", "Hopper", 80, ("2331",), ("NVIDIA-H100-PCIe",), "S8", _OF_80, *_LISTED),
    BoardRow("H100-NVL-94GB", "Hopper", 94, ("2321",), ("NVIDIA-H100-NVL",), "S8", _OF_94, *_LISTED),
    BoardRow("H100-SXM-94GB", "Hopper", 94, ("2339",), ("NVIDIA-H100",), "S8", _OF_94, *_GUIDE_NAMES),
    BoardRow("H100-SXM-64GB", "Hopper", 64, ("2337",), (), "S8", _OF_64, *_VGPU),
    BoardRow("H100-96GB", "Hopper", 96, ("2338", "233D"), (), "S8", _OF_96, *_EXPORT),
    BoardRow("H800-SXM-80GB", "Hopper", 80, ("2324",), ("NVIDIA-H800",), "S8", _OF_80, *_EXPORT),
    BoardRow("H800-PCIE-80GB", "Hopper", 80, ("2322",), ("NVIDIA-H800-PCIe",), "S8", _OF_80, *_VGPU),
    BoardRow("H800-NVL-94GB", "Hopper", 94, ("233A",), ("NVIDIA-H800-NVL",), "S8", _OF_94, *_VGPU),
    BoardRow("H20-96GB", "Hopper", 96, ("2329",), ("NVIDIA-H20",), "S8", _OF_96, *_GUIDE_NAMES),
    BoardRow("H20-141GB", "Hopper", 141, ("232C",), ("NVIDIA-H20-3e",), "S8", _OF_141, *_VGPU),
    BoardRow("H200-SXM-141GB", "Hopper", 141, ("2335",), ("NVIDIA-H200",), "S8", _OF_141, *_GUIDE_NAMES),
    BoardRow("H200-NVL-141GB", "Hopper", 141, ("233B",), ("NVIDIA-H200-NVL",), "S8", _OF_141, *_GUIDE_NAMES),
    BoardRow(
        "GH200-96GB",
        "Hopper",
        96,
        ("2342",),
        ("NVIDIA-GH200-480GB", "NVIDIA-GH200-120GB"),
        "S8",
        _OF_96,
        *_GUIDE_NAMES,
        coherent=True,
    ),
    BoardRow(
        "GH200-144GB",
        "Hopper",
        144,
        ("2348",),
        ("NVIDIA-GH200-144G-HBM3e",),
        "S8",
        _OF_144,
        *_GUIDE_NAMES,
        coherent=True,
    ),
    BoardRow("B200", "Blackwell", 180, ("2901",), ("NVIDIA-B200",), "S8", _OF_180, *_GUIDE_NAMES),
    BoardRow(
        "GB200",
        "Blackwell",
        186,
        ("2941",),
        ("NVIDIA-GB200",),
        "S8",
        _OF_186,
        *_PARTED_NAMES,
        _OLD_OF_186,
        coherent=True,
    ),
    BoardRow("B300", "Blackwell", 269, ("3182",), ("NVIDIA-B300-SXM6-AC",), "S8", _OF_269, *_PARTED_NAMES),
    BoardRow("GB300", "Blackwell", 278, ("31C2", "31C3"), ("NVIDIA-GB300",), "S8", _OF_278, *_PARTED_NAMES),
    BoardRow("A30", "Ampere", 24, ("20B7",), ("NVIDIA-A30",), "S4", _OF_A30, *_GUIDE),
    BoardRow("A30X", "Ampere", 24, ("20B9",), ("NVIDIA-A30X",), "S4", _OF_A30, *_CHIP),
    BoardRow(
        "RTX-PRO-6000",
        "Blackwell",
        96,
        ("2BB5", "2BB1", "2BB4"),
        (
            f"{_RTX_PRO_6000}-Server-Edition",
            f"{_RTX_PRO_6000}-Workstation-Edition",
            f"{_RTX_PRO_6000}-Max-Q-Workstation-Edition",
        ),
        "R12",
        _OF_RTX,
        *_RTX,
    ),
    # 2BB3 is the PCI id of this one and of that of 72 GB.
    BoardRow("RTX-PRO-5000", "Blackwell", 48, (), ("NVIDIA-RTX-PRO-5000-Blackwell",), "R2", _OF_RTX_48, *_HALVES),
    BoardRow(
        "RTX-PRO-4500",
        "Blackwell",
        32,
        ("2C31", "2C3A"),
        ("NVIDIA-RTX-PRO-4500-Blackwell", "NVIDIA-RTX-PRO-4500-Blackwell-Server-Edition"),
        "R2",
        _OF_RTX_32,
        *_HALVES,
    ),
)

OTHER_BOARDS: Final[tuple[BoardRow, ...]] = (
    BoardRow("L4", "Ada", 24, ("27B8",), ("NVIDIA-L4",)),
    BoardRow("L40S", "Ada", 48, ("26B9",), ("NVIDIA-L40S",)),
    BoardRow("L40", "Ada", 48, ("26B5",), ("NVIDIA-L40",)),
    BoardRow("L20", "Ada", 48, ("26BA",), ("NVIDIA-L20",)),
    BoardRow("L2", "Ada", 24, ("27B6",), ("NVIDIA-L2",)),
    BoardRow("RTX-6000-ADA", "Ada", 48, ("26B1",), ("NVIDIA-RTX-6000-Ada-Generation",)),
    BoardRow("RTX-5000-ADA", "Ada", 32, ("26B2",), ("NVIDIA-RTX-5000-Ada-Generation",)),
    BoardRow("RTX-4000-ADA", "Ada", 20, ("27B2",), ("NVIDIA-RTX-4000-Ada-Generation",)),
    BoardRow("A40", "Ampere", 48, ("2235",), ("NVIDIA-A40",)),
    BoardRow("RTX-A6000", "Ampere", 48, ("2230",), ("NVIDIA-RTX-A6000",)),
    BoardRow("RTX-A5000", "Ampere", 24, ("2231",), ("NVIDIA-RTX-A5000",)),
    BoardRow("RTX-A4000", "Ampere", 16, ("24B0",), ("NVIDIA-RTX-A4000",)),
    BoardRow("A10", "Ampere", 24, ("2236",), ("NVIDIA-A10",)),
    BoardRow("A10G", "Ampere", 24, ("2237",), ("NVIDIA-A10G",)),
    # An A16 board carries four GPUs; the memory is that of one. 25B6 is the PCI id of the A16 and of the A2.
    BoardRow("A16", "Ampere", 16, (), ("NVIDIA-A16",)),
    BoardRow("A2", "Ampere", 16, (), ("NVIDIA-A2",)),
    BoardRow("T4", "Turing", 16, ("1EB8",), ("Tesla-T4",)),
    BoardRow("V100-SXM2-32GB", "Volta", 32, ("1DB5",), ("Tesla-V100-SXM2-32GB",)),
    BoardRow("V100-SXM2-16GB", "Volta", 16, ("1DB1",), ("Tesla-V100-SXM2-16GB",)),
    BoardRow("V100-SXM3-32GB", "Volta", 32, ("1DB8",), ("Tesla-V100-SXM3-32GB",)),
    BoardRow("V100-PCIE-32GB", "Volta", 32, ("1DB6",), ("Tesla-V100-PCIE-32GB",)),
    BoardRow("V100-PCIE-16GB", "Volta", 16, ("1DB4",), ("Tesla-V100-PCIE-16GB",)),
    BoardRow("V100S-PCIE-32GB", "Volta", 32, ("1DF6",), ("Tesla-V100S-PCIE-32GB",)),
    BoardRow("P100-SXM2-16GB", "Pascal", 16, ("15F9",), ("Tesla-P100-SXM2-16GB",)),
    BoardRow("P100-PCIE-16GB", "Pascal", 16, ("15F8",), ("Tesla-P100-PCIE-16GB",)),
    BoardRow("P40", "Pascal", 24, ("1B38",), ("Tesla-P40",)),
    BoardRow("P4", "Pascal", 8, ("1BB3",), ("Tesla-P4",)),
    BoardRow("RTX-5090", "Blackwell", 32, ("2B85",), ("NVIDIA-GeForce-RTX-5090",)),
    BoardRow("RTX-4090", "Ada", 24, ("2684",), ("NVIDIA-GeForce-RTX-4090",)),
    BoardRow("RTX-3090", "Ampere", 24, ("2204",), ("NVIDIA-GeForce-RTX-3090",)),
)
