"""Whether Volcano's controller and webhooks would do what the values of the chart hand to them.

The controller keeps what it had when it cannot read its configuration and leaves out a topology that it does not like,
each with a line in its log; the webhook manager ends, and with it every change of a Queue is refused (its webhooks fail
closed). Read from pkg/controllers/hypernode, which is the same in 1.14.2 and 1.15.1, and pkg/webhooks of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenancy.backend.volcano.configuration_tables import ADMISSIONS, SOURCES
from tenancy.backend.volcano.configuration_values import is_duration
from tenancy.model.hardware import HOSTNAME
from tenancy.model.syntax import is_dns_subdomain, is_label_key
from tenancy.model.volcano import LONGEST_TOPOLOGY

RELIED_ON: Final[Mapping[str, str]] = {
    "/queues/mutate": "fills in what a Queue does not say",
    "/queues/validate": "compares a Queue with those above and below it",
    "/jobs/mutate": "fills in what a job does not say",
    "/jobs/validate": "refuses jobs for a Queue that has others below it",
    "/podgroups/validate": "refuses PodGroups for a Queue that is not there or not open",
    "/hypernodes/validate": "refuses HyperNodes that the scheduler cannot resolve",
}

_TOP: Final = "networkTopologyDiscovery"
_ENTRY: Final = ("source", "enabled", "interval", "credentials", "config")
_TYPES: Final = "networkTopologyTypes"


def admission_violations(text: str) -> list[str]:
    """What is wrong with the list of webhooks that are enabled; 1.14 takes no blank and no comma at the end."""
    return [f"enabled_admissions: {fault}." for fault in _admissions(text.split(","))]


def controller_violations(value: Any) -> list[str]:
    """What is wrong with the configuration of the controller: the discovery of HyperNodes."""
    if not isinstance(value, dict):
        return ["controller: must be a map; the chart writes a text into the file as a text in quotes."]
    found = [f"{key}: is not a key that the controller reads; it reads {_TOP}." for key in value if key != _TOP]
    entries = value.get(_TOP, [])
    if not isinstance(entries, list):
        return [*found, f"{_TOP}: must be a list."]
    seen: list[Any] = []
    for index, entry in enumerate(entries):
        path = f"{_TOP}[{index}]"
        if not isinstance(entry, dict):
            found.append(f"{path}: must be a map.")
            continue
        found += _entry(path, entry)
        if entry.get("source") in seen:
            found.append(f"{path}.source: {entry['source']} is there twice; only the first one counts.")
        seen.append(entry.get("source"))
    return found


def _admissions(paths: list[str]) -> Iterator[str]:
    for path in dict.fromkeys(paths):
        if path not in ADMISSIONS:
            yield f"{path or 'an empty path'} is no webhook of Volcano; its manager ends"
        if paths.count(path) > 1:
            yield f"{path} is there twice; the manager ends"
    for path, does in RELIED_ON.items():
        if path not in paths:
            yield f"{path} is missing, which {does}"


def _entry(path: str, entry: Mapping[str, Any]) -> Iterator[str]:
    for key in entry:
        if key not in _ENTRY:
            yield f"{path}.{key}: is not a key that the controller reads; it reads {', '.join(_ENTRY)}."
    source, config = entry.get("source"), entry.get("config")
    if source not in SOURCES:
        yield f"{path}.source: {source} cannot be read; {' and '.join(SOURCES)} can."
    if entry.get("enabled") is not True:
        yield f"{path}.enabled: must be true, or nothing is discovered."
    if "interval" in entry and source == "label":
        yield f"{path}.interval: has no effect on labels, which are looked at whenever a node changes."
    elif "interval" in entry and not is_duration(entry["interval"]):
        yield f"{path}.interval: must be a duration such as 10m."
    if source != "label":
        return
    if not isinstance(config, dict) or not isinstance(config.get(_TYPES), dict) or set(config) != {_TYPES}:
        yield f"{path}.config: must be a map with {_TYPES} alone."
    else:
        yield from _types(f"{path}.config.{_TYPES}", config[_TYPES])


def _types(path: str, types: Mapping[Any, Any]) -> Iterator[str]:
    chains: dict[str, tuple[str, ...]] = {}
    for name, levels in types.items():
        where = f"{path}.{name}"
        if not isinstance(name, str) or len(name.encode()) > LONGEST_TOPOLOGY:
            yield f"{where}: a name has {LONGEST_TOPOLOGY} characters at most; the topology would be left out."
        if not isinstance(name, str) or not is_dns_subdomain(f"hypernode-{name}-tier1"):
            yield f"{where}: is not part of a name that Kubernetes takes."
        if not isinstance(levels, list) or not all(
            isinstance(each, dict) and set(each) == {"nodeLabel"} and isinstance(each["nodeLabel"], str)
            for each in levels
        ):
            yield f"{where}: must be a list of maps with nodeLabel alone."
            continue
        labels = [each["nodeLabel"] for each in levels]
        yield from _chain(where, labels)
        chains[str(name)] = tuple(labels)
    yield from _crossings(path, chains)


def _chain(path: str, labels: list[str]) -> Iterator[str]:
    for label in dict.fromkeys(labels):
        if not is_label_key(label):
            yield f"{path}: {label} is not the key of a label."
        if labels.count(label) > 1:
            yield f"{path}: {label} is there twice; the topology would be left out."
    if labels[-1:] != [HOSTNAME]:
        yield f"{path}: must end in {HOSTNAME}; the last level is taken for the host, whatever it says."
    if len(labels) < 2:
        yield f"{path}: has no level above the host, so nothing is discovered."


def _crossings(path: str, chains: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Every topology is looked for on every node, and a label with its value makes one HyperNode.

    Run on 1.15.1: with two tiers for it a gang was spread over the wider one, with two parents jobs with a topology
    were held back now and then, and even of two equal topologies the HyperNodes were made anew when a node changed.
    """
    first: dict[str, str] = {}
    for name, labels in chains.items():
        for label in labels[:-1]:
            other = first.setdefault(label, name)
            if other != name:
                yield f"{path}.{name}: {label} is a level of {other} as well; one topology must hold both."
