"""Whether Volcano's scheduler would do what a configuration says.

Nothing else tells: the scheduler passes over keys and arguments that it does not know, and where a file cannot be used
it runs on with the configuration before, or at its start with the built-in one, which knows neither departments nor
quotas; a line in the log is all. So this refuses whatever the scheduler of a minor would not take word for word
(`configuration_tables`, read from 1.15.1 and 1.14.2), and what it would take and our queues cannot bear
(`configuration_rules`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tenancy.backend.volcano.configuration_rules import RULES
from tenancy.backend.volcano.configuration_scheduler import Plugin, Scheduler
from tenancy.backend.volcano.configuration_tables import (
    ACTIONS,
    HIERARCHICAL,
    METRICS,
    PLUGINS,
    SWITCHES,
    TOP,
    Arguments,
)
from tenancy.backend.volcano.configuration_values import KINDS, read
from tenancy.check.wording import nearest

MINORS = tuple(PLUGINS)


def violations(configuration: Mapping[str, Any], minor: str) -> list[str]:
    """What the scheduler of a minor ("1.14" or "1.15") would pass over or take wrongly: one sentence each, its path
    first. Empty when it does what the configuration says. Raises KeyError for a minor that is not supported."""
    if found := list(_structure(configuration, minor, PLUGINS[minor])):
        return found
    scheduler = _scheduler(configuration, minor)
    return [sentence for rule in RULES for sentence in rule(scheduler)]


def text_violations(text: str, minor: str) -> list[str]:
    """The same of a file, where a key may be there twice and there may be no configuration at all."""
    value, found = read(text)
    if not found and not isinstance(value, dict):
        found = ["the file: holds no configuration; the scheduler would run with another one."]
    return found or violations(value, minor)


def _structure(value: Mapping[str, Any], minor: str, known: Mapping[str, Arguments]) -> Iterator[str]:
    yield from _keys("", value, TOP)
    yield from _actions(value.get("actions"), ACTIONS[minor])
    yield from _tiers(value.get("tiers"), minor, known)
    yield from _configurations(value, minor)
    metrics = value.get("metrics", {})
    if isinstance(metrics, dict):
        yield from _arguments("metrics", metrics, METRICS, "")
    else:
        yield "metrics: must be a map."


def _keys(path: str, value: Mapping[Any, Any], known: Collection[str]) -> Iterator[str]:
    for key in value:
        if key not in known:
            where = f"{path}.{key}".removeprefix(".")
            yield f"{where}: is not a key that the scheduler reads; {_meant(str(key), known)}."


def _meant(key: str, known: Collection[str]) -> str:
    near = nearest(key, tuple(known)).replace("`", "").strip()
    return near.removesuffix("?") or f"it reads {', '.join(known) or 'none'}"


def _actions(value: Any, known: Mapping[str, Arguments]) -> Iterator[str]:
    if not isinstance(value, str) or not value.strip():
        yield "actions: must be a text with the actions, separated by commas."
        return
    names = [name.strip() for name in value.split(",")]
    for name in dict.fromkeys(names):
        if name not in known:
            yield f"actions: {name or 'an empty name'} is not an action; {_meant(name, known)}."
        elif names.count(name) > 1:
            yield f"actions: {name} is there twice."


def _tiers(value: Any, minor: str, known: Mapping[str, Arguments]) -> Iterator[str]:
    if not isinstance(value, list) or not value:
        yield "tiers: must be a list of tiers."
        return
    for index, tier in enumerate(value):
        path = f"tiers[{index}]"
        if not isinstance(tier, dict) or not isinstance(tier.get("plugins"), list) or not tier["plugins"]:
            yield f"{path}: must be a map with a list of plugins."
            continue
        yield from _keys(path, tier, ("plugins",))
        for at, plugin in enumerate(tier["plugins"]):
            yield from _plugin(f"{path}.plugins[{at}]", plugin, minor, known)


def _plugin(path: str, value: Any, minor: str, known: Mapping[str, Arguments]) -> Iterator[str]:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        yield f"{path}: must be a map with the name of a plugin."
        return
    name = value["name"]
    if name not in known:
        yield f"{path}.name: {name} is not a plugin of Volcano {minor}; {_meant(name, known)}."
        return
    yield from _keys(path, value, ("name", "arguments", *SWITCHES))
    for key in SWITCHES:
        if key in value and not isinstance(value[key], bool):
            yield f"{path}.{key}: must be true or false; the scheduler refuses the whole file."
    if "enableHierarchy" in value and name not in HIERARCHICAL:
        yield f"{path}.enableHierarchy: {name} does not look at it; {', '.join(HIERARCHICAL)} do."
    arguments = value.get("arguments", {})
    if isinstance(arguments, dict):
        yield from _arguments(f"{path}.arguments", arguments, known[name], f"{name} of Volcano {minor}")
        yield from _weights(f"{path}.arguments", arguments)
    else:
        yield f"{path}.arguments: must be a map."


def _arguments(path: str, arguments: Mapping[Any, Any], known: Arguments, whose: str) -> Iterator[str]:
    for key, value in arguments.items():
        kind = known.get(key) or next(
            (known[stem] for stem in known if stem.endswith("*") and str(key).startswith(stem[:-1])), None
        )
        if kind is None:
            reader = f" of {whose}" if whose else ""
            yield f"{path}.{key}: is not an argument{reader}; {_meant(str(key), known)}."
        elif not KINDS[kind].fits(value):
            yield f"{path}.{key}: {KINDS[kind].words}."


def _weights(path: str, arguments: Mapping[str, Any]) -> Iterator[str]:
    """The weight of a resource is read only where the list of resources names it (plugins/binpack)."""
    for stem in ("binpack.resources", "hypernode.binpack.resources"):
        listed = arguments.get(stem, "")
        names = [name.strip() for name in listed.split(",")] if isinstance(listed, str) else []
        for key in arguments:
            if key.startswith(f"{stem}.") and key.removeprefix(f"{stem}.") not in names:
                yield f"{path}.{key}: is not read, because {stem} does not name the resource."


def _configurations(value: Mapping[str, Any], minor: str) -> Iterator[str]:
    """The arguments of actions; of two entries for one action the first counts (framework/arguments.go)."""
    entries = value.get("configurations", [])
    if not isinstance(entries, list):
        yield "configurations: must be a list."
        return
    written = value.get("actions")
    running = [name.strip() for name in written.split(",")] if isinstance(written, str) else []
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        path = f"configurations[{index}]"
        if not isinstance(entry, dict) or not isinstance(entry.get("arguments", {}), dict):
            yield f"{path}: must be a map with name and arguments."
            continue
        yield from _keys(path, entry, ("name", "arguments"))
        name = entry.get("name")
        if name not in running or name not in ACTIONS[minor]:
            yield f"{path}.name: {name} is not one of the actions."
        elif name in seen:
            yield f"{path}.name: {name} is there twice; only the first one counts."
        else:
            yield from _arguments(f"{path}.arguments", entry.get("arguments", {}), ACTIONS[minor][name], name)
        seen.add(str(name))


def _scheduler(value: Mapping[str, Any], minor: str) -> Scheduler:
    plugins = [
        Plugin(
            name=entry["name"],
            tier=index,
            path=f"tiers[{index}].plugins[{at}]",
            switches={key: entry[key] for key in SWITCHES if key in entry},
            arguments=entry.get("arguments", {}),
        )
        for index, tier in enumerate(value["tiers"])
        for at, entry in enumerate(tier["plugins"])
    ]
    actions = tuple(name.strip() for name in value["actions"].split(","))
    return Scheduler(minor=minor, actions=actions, plugins=tuple(plugins))
