"""Why a MIG layout cannot be: the checks that need no search, and their words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final, TypeAlias

from tenancy.model.gpus import MIG_RESOURCE_PREFIX, Gpu, Grid, Profile, models_with

Request: TypeAlias = tuple[tuple[Profile, int], ...]
"""Profiles of one board with how many of each, none of them 0."""

_COMPUTE_INSTANCE: Final = re.compile(r"\d+c\.(?P<instance>\d+g\..+)")
_NEAREST_SHOWN: Final = 3
_BOARDS_SHOWN: Final = 4


class RefusalKind(StrEnum):
    """The law that a layout breaks."""

    NO_MIG = "no-mig"
    UNKNOWN_PROFILE = "unknown-profile"
    COMPUTE_INSTANCE = "compute-instance"
    NEGATIVE_COUNT = "negative-count"
    EMPTY = "empty"
    OVER_MAXIMUM = "over-maximum"
    NO_MEMORY = "no-memory"
    NO_START = "no-start"
    ENGINES = "engines"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a layout does not fit on one GPU. `profile` is the name at fault where it is a single one."""

    kind: RefusalKind
    reason: str
    profile: str = ""
    help: str = ""


def refuse_layout(gpu: Gpu, layout: Mapping[str, int]) -> Refusal | None:
    """The first thing wrong with the layout that can be told without looking for a placement."""
    return next(_refusals(gpu, layout), None)


def no_start(gpu: Gpu, request: Request) -> Refusal:
    """The memory adds up, but the instances cannot all stand where their profiles may start."""
    grid = request[0][0].grid
    memory = f"the memory adds up ({_memory(request)} of {grid.units} units)"
    compute = _compute(request)
    if compute > grid.compute:
        reason = f"{memory}, but the instances need {compute} of {grid.compute} compute slices"
    else:
        reason = f"{memory}, but not from the units where these profiles may start"
    starts = "; ".join(f"`{profile.name}` at {', '.join(map(str, profile.starts))}" for profile, _ in request)
    return Refusal(
        RefusalKind.NO_START,
        f"{reason} of `{gpu.name}`",
        help=f"take fewer or other profiles: each starts at a fixed memory unit ({starts})",
    )


def _refusals(gpu: Gpu, layout: Mapping[str, int]) -> Iterator[Refusal]:
    if gpu.grid is None:
        yield Refusal(RefusalKind.NO_MIG, f"`{gpu.name}` cannot be divided by MIG", help="remove the MIG layout")
        return
    for name, count in layout.items():
        if name not in gpu.profiles:
            yield _unknown(gpu, name)
        elif count < 0:
            yield Refusal(RefusalKind.NEGATIVE_COUNT, f"`{name}: {count}` is not a count", name, "write 0 or more")
    if not any(layout.values()):
        yield Refusal(RefusalKind.EMPTY, "the layout holds no instance", help="name a profile, or remove the layout")
    request = tuple((profile, layout[name]) for name, profile in gpu.profiles.items() if layout.get(name, 0) > 0)
    yield from _over_maximum(gpu, request)
    yield from _over_memory(gpu, gpu.grid, request)
    yield from _over_engines(gpu, gpu.grid, request)


def _over_maximum(gpu: Gpu, request: Request) -> Iterator[Refusal]:
    for profile, count in request:
        if count > profile.maximum:
            reason = f"`{profile.name}: {count}`, but `{gpu.name}` holds at most {profile.maximum}"
            yield Refusal(RefusalKind.OVER_MAXIMUM, reason, profile.name, f"write at most {profile.maximum}")


def _over_memory(gpu: Gpu, grid: Grid, request: Request) -> Iterator[Refusal]:
    needed = _memory(request)
    if needed > grid.units:
        sizes = " + ".join(f"{count} x {profile.size} (`{profile.name}`)" for profile, count in request)
        reason = f"the layout needs {needed} memory units, but `{gpu.name}` has {grid.units}"
        yield Refusal(
            RefusalKind.NO_MEMORY,
            reason,
            help=f"take fewer or smaller instances: {sizes} = {needed}, at most {grid.units}",
        )


def _over_engines(gpu: Gpu, grid: Grid, request: Request) -> Iterator[Refusal]:
    demands = (
        ("NVDEC engines", sum(count * at.engines.decoders for at, count in request), grid.engines.decoders),
        ("OFA engines", sum(count * at.engines.ofa for at, count in request), grid.engines.ofa),
    )
    # An instance that owns the whole line is refused for its memory first, so only shared engines are left here.
    for engine, needed, available in demands:
        if needed > available:
            reason = f"the instances take {needed} {engine}, but `{gpu.name}` has {available}"
            yield Refusal(RefusalKind.ENGINES, reason, help=_engine_help(gpu))


def _engine_help(gpu: Gpu) -> str:
    without = [name for name in gpu.profiles if name.endswith("-me")]
    beside = f", and beside `+me.all` only {_listed(without)}" if without else ""
    return f"keep at most one profile with media extensions (`+me`){beside}"


def _unknown(gpu: Gpu, name: str) -> Refusal:
    if found := _COMPUTE_INSTANCE.fullmatch(name):
        reason = f"`{name}` names a compute instance, which the device plugin never offers as a resource"
        help_ = f"write the GPU instance `{found['instance']}`"
        return Refusal(RefusalKind.COMPUTE_INSTANCE, reason, name, help_)
    if now := gpu.old_names.get(name):
        reason = f"`{name}` is what early drivers called the profile `{now}` of `{gpu.name}`"
        help_ = f"write `{now}`, its name since; a node whose driver still says `{name}` needs a newer driver first"
        return Refusal(RefusalKind.UNKNOWN_PROFILE, reason, name, help_)
    reason = f"`{name}` is not a MIG profile of `{gpu.name}`"
    if others := models_with(name):
        more = f" and {len(others) - _BOARDS_SHOWN} more" if len(others) > _BOARDS_SHOWN else ""
        shown = ", ".join(f"`{other}`" for other in others[:_BOARDS_SHOWN]) if more else _listed(others)
        reason += f", but of {shown}{more}"
    return Refusal(RefusalKind.UNKNOWN_PROFILE, reason, name, _spelling_help(gpu, name))


def _spelling_help(gpu: Gpu, name: str) -> str:
    """The same profile in NVIDIA's spelling if `name` is its resource name, else the nearest profiles of the board."""
    resource = MIG_RESOURCE_PREFIX + name.lower().removeprefix("nvidia.com/").removeprefix("mig-").replace("+", ".")
    for profile in gpu.profiles.values():
        if profile.resource == resource:
            return f"write `{profile.name}`"
    return f"write a profile of `{gpu.name}`, the nearest of which are {_listed(_nearest(gpu, name))}"


def _nearest(gpu: Gpu, name: str) -> list[str]:
    """Profiles with as many compute slices come first, then those that are spelled alike."""

    def distance(known: str) -> tuple[bool, float]:
        return known.partition("g")[0] != name.partition("g")[0], -SequenceMatcher(None, name, known).ratio()

    return sorted(gpu.profiles, key=distance)[:_NEAREST_SHOWN]


def _memory(request: Request) -> int:
    return sum(count * profile.size for profile, count in request)


def _compute(request: Request) -> int:
    return sum(count * profile.compute for profile, count in request)


def _listed(names: tuple[str, ...] | list[str]) -> str:
    """Names in backticks as people list them."""
    quoted = [f"`{name}`" for name in names]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}" if len(quoted) > 1 else quoted[0]
