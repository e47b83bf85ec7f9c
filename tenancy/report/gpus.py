"""The GPU catalogue, one board, and a MIG layout on it, as plain text of the same bytes everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from json import dumps
from typing import Any, Final

from tenancy.model.gpus import Certainty, Gpu, Profile
from tenancy.model.mig import Placement, Refusal, additions, pack
from tenancy.report.terminal import table

VERSION: Final = 1
"""The version of the JSON: a new key keeps it, a key that goes or changes its meaning raises it."""

_IDLE: Final = "."
_MEANING: Final = {
    Certainty.LISTED: "start positions seen in an nvidia-smi listing of the board",
    Certainty.DOCUMENTED: "from NVIDIA's documents",
    Certainty.INFERRED: "names or counts documented, start positions carried over from a like board",
}


def catalogue_text(gpus: Iterable[Gpu]) -> str:
    """A line per board, in the order given: key, family, memory, plain MIG profiles with the most that fit, how sure
    they are, product labels. What the certainties mean follows.
    """
    shown = list(gpus)
    header = ("GPU", "FAMILY", "MEMORY", "MIG PROFILES (MOST PER GPU)", "CERTAINTY", "NVIDIA.COM/GPU.PRODUCT")
    table = _table([header, *(_catalogue_row(gpu) for gpu in shown)])
    used = {gpu.certainty for gpu in shown if gpu.profiles}
    meanings = [f"{certainty}: {meaning}" for certainty, meaning in _MEANING.items() if certainty in used]
    return f"{table}\n{_joined(meanings)}" if meanings else table


def gpu_text(gpu: Gpu) -> str:
    """What is known of one board, and each of its MIG profiles."""
    facts = [
        ("memory", f"{gpu.memory_gib} GiB nominal"),
        ("resource", gpu.resource),
        ("family", gpu.family),
        ("product", ", ".join(gpu.products)),
        ("PCI ids", ", ".join(gpu.pci_ids)),
        ("MIG", _mig_fact(gpu)),
        ("certainty", gpu.certainty.value),
        ("source", gpu.source),
        ("old names", ", ".join(f"{old} (now {now})" for old, now in gpu.old_names.items())),
    ]
    known = [(f"  {label}", value) for label, value in facts if value]
    text = f"{gpu.name}\n{_table(known)}"
    return f"{text}\n{_profile_table(gpu)}" if gpu.profiles else text


def catalogue_json(gpus: Iterable[Gpu]) -> str:
    """The boards in the order given, for scripts."""
    return _json({"gpus": [_gpu(gpu) for gpu in gpus]})


def gpu_json(gpu: Gpu) -> str:
    """One board, for scripts."""
    return _json({"gpu": _gpu(gpu)})


def fit_json(gpu: Gpu, layout: Mapping[str, int]) -> tuple[str, bool]:
    """What `fit_text` says, for scripts; whether the layout fits."""
    asked = {"gpu": gpu.name, "layout": dict(layout)}
    match pack(gpu, layout):
        case Refusal() as refusal:
            why = {"kind": refusal.kind.value, "profile": refusal.profile, "reason": refusal.reason}
            return _json({**asked, "fits": False, "refusal": {**why, "help": refusal.help}}), False
        case Placement() as placement:
            return _json({**asked, "fits": True, **_placement(gpu, layout, placement)}), True


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


def _catalogue_row(gpu: Gpu) -> tuple[str, ...]:
    plain = [profile for profile in gpu.profiles.values() if profile.plain]
    maxima = ", ".join(f"{profile.maximum} x {profile.name}" for profile in plain)
    certainty = gpu.certainty.value if gpu.profiles else "-"
    products = ", ".join(gpu.products) or "-"
    return (gpu.name, gpu.family or "-", f"{gpu.memory_gib} GiB", maxima or "-", certainty, products)


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
    room = additions(gpu, layout)
    more = [name for name in room if gpu.profiles[name].plain]
    return [
        f"  idle: {memory}, {compute}",
        f"  room for one more: {', '.join(more) or 'nothing'}",
        *(f"  {line}" for line in (() if room else _lost(placement))),
        f"  geometry: {gpu.source} ({gpu.certainty})",
    ]


def _lost(placement: Placement) -> Iterator[str]:
    """What of a full GPU no job can use."""
    grid, compute = placement.grid, placement.idle_compute
    if compute:
        slices = "1 compute slice stays" if compute == 1 else f"{compute} compute slices stay"
        yield f"warning: {slices} idle, because no profile can start in the memory that is left"
    owned = {unit for slot in placement.slots for unit in range(slot.start, slot.end)}
    units = [str(unit) for unit in range(grid.units) if unit not in owned]
    if units and not compute:
        stays = "unit {} stays" if len(units) == 1 else "units {} stay"
        yield f"note: memory {stays.format(', '.join(units))} idle: all compute is taken"


def _gpu(gpu: Gpu) -> dict[str, Any]:
    mig = None
    if gpu.grid is not None:
        mig = {
            "memoryUnits": gpu.grid.units,
            "computeSlices": gpu.grid.compute,
            "profiles": [_profile(profile) for profile in gpu.profiles.values()],
            "oldNames": dict(gpu.old_names),
        }
    return {
        "name": gpu.name,
        "family": gpu.family,
        "memoryGiB": gpu.memory_gib,
        "resource": gpu.resource,
        "products": list(gpu.products),
        "pciIds": list(gpu.pci_ids),
        "certainty": gpu.certainty.value,
        "source": gpu.source,
        "mig": mig,
    }


def _profile(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "resource": profile.resource,
        "memoryUnits": profile.size,
        "computeSlices": profile.compute,
        "maximum": profile.maximum,
        "starts": list(profile.starts),
    }


def _placement(gpu: Gpu, layout: Mapping[str, int], placement: Placement) -> dict[str, Any]:
    return {
        "instances": [
            {"profile": slot.profile.name, "start": slot.start, "memoryUnits": slot.size} for slot in placement.slots
        ],
        "idleMemoryUnits": placement.idle_memory,
        "idleComputeSlices": placement.idle_compute,
        "roomForOneMore": list(additions(gpu, layout)),
        "certainty": gpu.certainty.value,
    }


def _json(content: Mapping[str, Any]) -> str:
    return dumps({"version": VERSION, **content}, indent=2) + "\n"


def _table(rows: Sequence[Sequence[str]]) -> str:
    return _joined(table(rows))


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
