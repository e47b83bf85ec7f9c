"""The GPU catalogue, one board, and a MIG layout on it, as plain text of the same bytes everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tenancy.model.gpus import Gpu, Profile
from tenancy.model.mig import Placement, Refusal, additions, pack

_GAP: Final = "  "
_IDLE: Final = "."


def catalogue_text(gpus: Iterable[Gpu]) -> str:
    """A line per board, in the order given: key, memory, plain MIG profiles with the most that fit, product labels."""
    header = ("GPU", "MEMORY", "MIG PROFILES (MOST PER GPU)", "NVIDIA.COM/GPU.PRODUCT")
    return _table([header, *(_catalogue_row(gpu) for gpu in gpus)])


def gpu_text(gpu: Gpu) -> str:
    """What is known of one board, and each of its MIG profiles."""
    facts = [
        ("memory", f"{gpu.memory_gib} GiB nominal"),
        ("resource", gpu.resource),
        ("family", gpu.family),
        ("product", ", ".join(gpu.products)),
        ("PCI ids", ", ".join(gpu.pci_ids)),
        ("MIG", _mig_fact(gpu)),
        ("source", f"{gpu.source} ({gpu.certainty})" if gpu.source else ""),
    ]
    known = [(f"  {label}", value) for label, value in facts if value]
    text = f"{gpu.name}\n{_table(known)}"
    return f"{text}\n{_profile_table(gpu)}" if gpu.profiles else text


def fit_text(gpu: Gpu, layout: Mapping[str, int]) -> tuple[str, bool]:
    """Where the instances of a layout lie on the board's line of memory units, or why it cannot be; whether it fits."""
    title = f"{gpu.name}: {_mix(layout)}"
    match pack(gpu, layout):
        case Refusal() as refusal:
            lines = [f"{title} does not fit", f"  {refusal.reason}", *([f"  {refusal.help}"] if refusal.help else [])]
            return _joined(lines), False
        case Placement() as placement:
            lines = [f"{title} fits", "", *_drawing(placement), "", *_idle_lines(gpu, layout, placement)]
            return _joined(lines), True


def _catalogue_row(gpu: Gpu) -> tuple[str, str, str, str]:
    plain = [profile for profile in gpu.profiles.values() if profile.plain]
    maxima = ", ".join(f"{profile.maximum} x {profile.name}" for profile in plain)
    return (gpu.name, f"{gpu.memory_gib} GiB", maxima or "-", ", ".join(gpu.products) or "-")


def _mig_fact(gpu: Gpu) -> str:
    if gpu.grid is None:
        return "no"
    return f"{gpu.grid.units} memory units, {gpu.grid.compute} compute slices"


def _profile_table(gpu: Gpu) -> str:
    header = ("  PROFILE", "MEMORY UNITS", "COMPUTE SLICES", "MAX PER GPU", "STARTS", "RESOURCE")
    return _table([header, *(_profile_row(profile) for profile in gpu.profiles.values())])


def _profile_row(profile: Profile) -> tuple[str, ...]:
    starts = " ".join(map(str, profile.starts))
    numbers = (profile.size, profile.compute, profile.maximum)
    return (f"  {profile.name}", *map(str, numbers), starts, profile.resource)


def _mix(layout: Mapping[str, int]) -> str:
    held = [name if count == 1 else f"{count} x {name}" for name, count in layout.items() if count]
    return " + ".join(held) or "an empty layout"


def _drawing(placement: Placement) -> list[str]:
    """A box per instance over a ruler of unit numbers; units that no instance owns are dots."""
    width = max(-(-(len(slot.profile.name) + 1) // slot.size) for slot in placement.slots)
    pieces = _pieces(placement)
    border = "".join("+" + "-" * (size * width - 1) for _, size in pieces) + "+"
    labels = "".join("|" + _label(name, size * width - 1) for name, size in pieces) + "|"
    ruler = "".join(f" {unit}".ljust(width) for unit in range(placement.grid.units)).rstrip()
    return [f"  {line}" for line in (border, labels, border, ruler)]


def _label(name: str, width: int) -> str:
    return name.ljust(width) if name else _IDLE * width


def _pieces(placement: Placement) -> list[tuple[str, int]]:
    """The whole line from left to right as names and sizes; idle units have no name and size 1."""
    pieces: list[tuple[str, int]] = []
    at = 0
    for slot in placement.slots:
        pieces += [("", 1)] * (slot.start - at) + [(slot.profile.name, slot.size)]
        at = slot.end
    return pieces + [("", 1)] * (placement.grid.units - at)


def _idle_lines(gpu: Gpu, layout: Mapping[str, int], placement: Placement) -> list[str]:
    grid = placement.grid
    memory = f"{placement.idle_memory} of {grid.units} memory units"
    compute = f"{placement.idle_compute} of {grid.compute} compute slices"
    more = [name for name in additions(gpu, layout) if gpu.profiles[name].plain]
    return [
        f"  idle: {memory}, {compute}",
        f"  room for one more: {', '.join(more) or 'nothing'}",
        f"  geometry: {gpu.source} ({gpu.certainty})",
    ]


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Left-aligned columns; the last one is not padded, so no line ends in blanks."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return _joined(
        _GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
