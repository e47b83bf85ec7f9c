"""Whether NVIDIA's device plugin would share GPUs as its file says, under names that budgets tell from whole GPUs.

The plugin passes over keys that it does not know, so that a misspelt one shares nothing without a word, and its pod
ends on what it refuses. Read from k8s-device-plugin 0.17.4 (api/config/v1), which 0.20 extends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenancy.model.devices import SHARED
from tenancy.model.syntax import is_label_value

VERSION: Final = "v1"
DEFAULT: Final = "default"
"""The configuration of nodes whose label names none."""
STRATEGIES: Final = ("timeSlicing", "mps")

_PREFIX: Final = "nvidia.com/"
_LONGEST: Final = 63
_MOST_CLIENTS: Final = 48
"""Of an MPS server, on Volta and later."""


def violations(configs: Mapping[str, Any]) -> list[str]:
    """What is wrong with the configurations of a cluster, by key: one sentence each, with its path first."""
    found = [] if DEFAULT in configs else [f"{DEFAULT}: is missing, which nodes without the label would use."]
    for key, config in configs.items():
        if not key or not is_label_value(key):
            found.append(f"{key}: cannot be the value of a node label.")
        found += _config(key, config)
    return found


def _config(path: str, config: Any) -> Iterator[str]:
    if not isinstance(config, dict):
        yield f"{path}: must be a map."
        return
    yield from _unknown(path, config, ("version", "flags", "sharing"))
    if config.get("version") != VERSION:
        yield f"{path}.version: must be {VERSION}."
    flags = config.get("flags", {})
    if not isinstance(flags, dict):
        yield f"{path}.flags: must be a map."
    else:
        yield from _unknown(f"{path}.flags", flags, ("migStrategy",))
        if flags.get("migStrategy", "none") not in ("none", "single", "mixed"):
            yield f"{path}.flags.migStrategy: must be none, single or mixed."
    if "sharing" in config:
        yield from _sharing(f"{path}.sharing", config["sharing"])


def _sharing(path: str, sharing: Any) -> Iterator[str]:
    """With both ways MPS wins for the whole node, and the other one is forgotten."""
    if not isinstance(sharing, dict) or len(sharing) != 1 or not sharing.keys() <= set(STRATEGIES):
        yield f"{path}: must be a map with one of {' and '.join(STRATEGIES)}."
        return
    ((way, replicated),) = sharing.items()
    path = f"{path}.{way}"
    if not isinstance(replicated, dict):
        yield f"{path}: must be a map."
        return
    yield from _unknown(path, replicated, ("renameByDefault", "failRequestsGreaterThanOne", "resources"))
    if replicated.get("renameByDefault") is not True:
        yield f"{path}.renameByDefault: must be true, or a share has the name of a whole GPU."
    if replicated.get("failRequestsGreaterThanOne") is not True:
        yield f"{path}.failRequestsGreaterThanOne: must be true, or a pod with two shares gets no more than with one."
    yield from _resources(f"{path}.resources", replicated.get("resources"), _MOST_CLIENTS if way == "mps" else 0)


def _resources(path: str, resources: Any, most: int) -> Iterator[str]:
    if not isinstance(resources, list) or not resources:
        yield f"{path}: must be a list with at least one resource."
        return
    names: list[Any] = []
    for index, resource in enumerate(resources):
        where = f"{path}[{index}]"
        if not isinstance(resource, dict):
            yield f"{where}: must be a map."
            continue
        yield from _unknown(where, resource, ("name", "replicas"))
        name, replicas = resource.get("name"), resource.get("replicas")
        if not isinstance(name, str) or not _is_whole(name):
            yield f"{where}.name: {name} is no resource of the plugin before sharing."
        if name in names:
            yield f"{where}.name: {name} is there twice."
        names.append(name)
        if type(replicas) is not int or replicas < 2:
            yield f"{where}.replicas: must be a number of 2 or more."
        elif most and replicas > most:
            yield f"{where}.replicas: an MPS server has {most} clients at most."


def _is_whole(name: str) -> bool:
    rest = name.removeprefix(_PREFIX)
    return rest not in ("", name) and not name.endswith(SHARED) and len(name) + len(SHARED) <= _LONGEST


def _unknown(path: str, given: Mapping[Any, Any], known: tuple[str, ...]) -> Iterator[str]:
    """Other fields are passed over, or read and then ignored (`rename` and `devices`)."""
    for key in given:
        if key not in known:
            yield f"{path}.{key}: is not a field that counts; {', '.join(known)} do."
