"""Whether mig-parted would bring GPUs into the layouts of a file, and the MIG manager find them by a node label.

The manager reads the file when a node's label changes: what is wrong shows then, as `nvidia.com/mig.config.state:
failed`. Read from mig-parted 0.15 (api/spec/v1, pkg/types, cmd/nvidia-mig-parted) and tried with its parser; stricter
where it accepts what it can never reach.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final

from tenancy.model.syntax import is_label_value

VERSION: Final = "v1"

_TOP: Final = ("version", "mig-configs")
_ENTRY: Final = ("devices", "device-filter", "mig-enabled", "mig-devices")
_REQUIRED: Final = ("devices", "mig-enabled")
_PROFILE: Final = re.compile(r"[1-9][0-9]*g\.[1-9][0-9]*gb(\+me|\+me\.all|\+gfx|-me)?")
"""A compute instance of its own (`1c.2g.10gb`) parses, but the device plugin offers no such instance in `mixed`."""
_DEVICE: Final = re.compile(r"0x[0-9A-Fa-f]{4}10[Dd][Ee](:0x[0-9A-Fa-f]{8})?")
"""A device id with NVIDIA's vendor id, and from mig-parted 0.15 on those of the subsystem. One that cannot be read is
no error there, and matches no GPU."""


def violations(file: Any) -> list[str]:
    """Why a file of mig-parted would be refused or a layout never reached: one sentence each, with its path first."""
    if not isinstance(file, dict):
        return ["the file: must be a map."]
    found = [f"{key}: is not a field of the file." for key in file if key not in _TOP]
    if file.get("version") != VERSION:
        found.append(f"version: must be {VERSION}.")
    configs = file.get("mig-configs")
    if not isinstance(configs, dict) or not configs:
        return [*found, "mig-configs: must be a map with at least one configuration."]
    for name, entries in configs.items():
        path = f"mig-configs.{name}"
        if not isinstance(name, str) or not name or not is_label_value(name):
            found.append(f"{path}: cannot be the value of a node label.")
        found += _config(path, entries)
    return found


def _config(path: str, entries: Any) -> Iterator[str]:
    if not isinstance(entries, list) or not entries:
        yield f"{path}: must be a list with at least one entry."
        return
    faults = [fault for index, entry in enumerate(entries) for fault in _entry(f"{path}[{index}]", entry)]
    yield from faults
    if not faults:
        yield from _cover(path, entries)


def _entry(path: str, entry: Any) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield f"{path}: must be a map."
        return
    yield from (f"{path}.{key}: is not a field of an entry." for key in entry if key not in _ENTRY)
    yield from (f"{path}.{key}: is missing." for key in _REQUIRED if key not in entry)
    if "devices" in entry and not _are_devices(entry["devices"]):
        yield f"{path}.devices: must be all, or a list of different indexes."
    if "device-filter" in entry:
        yield from _filter(f"{path}.device-filter", entry["device-filter"])
    enabled, profiles = entry.get("mig-enabled"), entry.get("mig-devices")
    if "mig-enabled" in entry and not isinstance(enabled, bool):
        yield f"{path}.mig-enabled: must be true or false."
    if profiles is None:
        if enabled is True:
            yield f"{path}.mig-devices: is missing although MIG is enabled."
    elif not isinstance(profiles, dict):
        yield f"{path}.mig-devices: must be a map."
    elif profiles and enabled is False:
        yield f"{path}.mig-devices: must be empty where MIG is disabled."
    else:
        yield from _profiles(f"{path}.mig-devices", profiles)


def _are_devices(devices: Any) -> bool:
    if not isinstance(devices, list):
        return bool(devices == "all")
    numbers = [each for each in devices if type(each) is int and each >= 0]
    return bool(devices) and len(set(numbers)) == len(devices)


def _filter(path: str, ids: Any) -> Iterator[str]:
    listed = ids if isinstance(ids, list) else [ids]
    if not listed:
        yield f"{path}: must not be empty."
    for each in listed:
        if not isinstance(each, str) or not _DEVICE.fullmatch(each):
            yield f"{path}: {each} is no id such as 0x233010DE."


def _profiles(path: str, profiles: Mapping[Any, Any]) -> Iterator[str]:
    """A GPU is compared with the whole map, so that one with a count of 0 never matches (MigConfig.Equals)."""
    for profile, count in profiles.items():
        if not isinstance(profile, str) or not _PROFILE.fullmatch(profile):
            yield f"{path}: {profile} is no profile of a GPU instance."
        if type(count) is not int or count < 1:
            yield f"{path}.{profile}: must be a number of 1 or more."


def _cover(path: str, entries: list[Mapping[str, Any]]) -> Iterator[str]:
    """Of two entries for one GPU the later one wins, and a GPU without an entry makes the whole node fail."""
    for (first, one), (second, other) in combinations(enumerate(entries), 2):
        if _overlap(one["devices"], other["devices"]) and _alike(one, other):
            yield f"{path}[{second}]: is for GPUs that entry {first} is for already."
    listed = {index for entry in entries if entry["devices"] != "all" for index in entry["devices"]}
    if listed and all(entry["devices"] != "all" for entry in entries):
        yield from (f"{path}: has no entry for GPU {gap}." for gap in sorted(set(range(max(listed))) - listed))


def _overlap(one: Any, other: Any) -> bool:
    return "all" in (one, other) or not set(one).isdisjoint(other)


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a board may match both."""
    filters = [entry.get("device-filter") for entry in (one, other)]
    ids = [{each.lower() for each in (given if isinstance(given, list) else [given])} for given in filters if given]
    return len(ids) < 2 or not ids[0].isdisjoint(ids[1])
