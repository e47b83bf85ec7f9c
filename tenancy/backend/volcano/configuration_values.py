"""Kinds of arguments in Volcano's configurations, and the reading of a text that shows each key that is there twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import yaml

_DURATION = re.compile(r"([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+")
_HOURS = re.compile(r"([01]?[0-9]|2[0-3]):[0-5][0-9]-([01]?[0-9]|2[0-3]):[0-5][0-9]")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Kind(NamedTuple):
    """What an argument must be, in words, and whether a value is."""

    words: str
    fits: Callable[[Any], bool]


def read(text: str) -> tuple[Any, list[str]]:
    """The value of a configuration, and why it cannot be read, or which keys are there twice."""
    try:
        node = yaml.compose(text, _LOADER)
        found = [] if node is None else list(_twice(node, ""))
        return yaml.load(text, _LOADER), found
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or "not YAML"
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else "the file"
        return None, [f"{where}: cannot be read as YAML: {problem}."]


def is_duration(value: Any) -> bool:
    """A text in the syntax of Go's time.ParseDuration, not negative."""
    return isinstance(value, str) and _DURATION.fullmatch(value) is not None


def _twice(node: yaml.Node, path: str) -> Iterator[str]:
    """The decoder takes the last of two equal keys without a word (run on 1.15.1)."""
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _twice(item, f"{path}[{index}]")
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            inner = f"{path}.{name}".removeprefix(".")
            if name in seen:
                yield f"{inner}: is there twice; only the last one counts, without a word."
            seen.add(name)
            yield from _twice(value, inner)


def _whole(value: Any) -> bool:
    return type(value) is int


def _count(value: Any) -> bool:
    return _whole(value) and value >= 0


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _each(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _named(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A mapping from any names to one kind of value."""
    return lambda value: isinstance(value, dict) and all(_text(key) and fits(item) for key, item in value.items())


def _record(fields: Mapping[str, Callable[[Any], bool]]) -> Callable[[Any], bool]:
    """A mapping with no other keys than these."""
    return lambda value: (
        isinstance(value, dict) and all(key in fields and fields[key](item) for key, item in value.items())
    )


KINDS: Final[Mapping[str, Kind]] = {
    "boolean": Kind("must be true or false", _boolean),
    "count": Kind("must be a whole number, 0 or more", _count),
    "positive": Kind("must be a whole number, 1 or more", lambda value: _count(value) and value > 0),
    "number": Kind("must be a number, 0 or more", _number),
    "text": Kind("must be a text", _text),
    "texts": Kind("must be a list of texts", _each(_text)),
    "duration": Kind("must be a duration such as 5m or 100ms", is_duration),
    "hours": Kind(
        "must be hours such as 10:00-21:00", lambda value: _text(value) and _HOURS.fullmatch(value) is not None
    ),
    "labels": Kind("must be a list of maps from label keys to values", _each(_named(_text))),
    "shape": Kind(
        "must be a list of maps with utilization and score", _each(_record({"utilization": _count, "score": _count}))
    ),
    "strategies": Kind(
        "must be a list of maps with name, which is lowNodeUtilization, and params",
        _each(_record({"name": lambda value: value == "lowNodeUtilization", "params": _named(lambda _: True)})),
    ),
    "thresholds": Kind("must be a map with cpu and mem", _record({"cpu": _count, "mem": _count})),
    "strategy of resources": Kind(
        "must be a map from resources to type, MostAllocated or LeastAllocated, and weight",
        _named(_record({"type": lambda value: value in ("MostAllocated", "LeastAllocated"), "weight": _count})),
    ),
    "sra": Kind(
        "must be a map with enable, resources, weight and resourceWeight",
        _record({"enable": _boolean, "resources": _text, "weight": _count, "resourceWeight": _named(_count)}),
    ),
    "proportional": Kind(
        "must be a map with enable, resources and resourceProportion",
        _record({"enable": _boolean, "resources": _text, "resourceProportion": _named(_number)}),
    ),
}
"""How the readers of arguments take them: a value of another type is passed over with a warning, and in
resource-strategy-fit, in extender and for volumes it ends the scheduler (framework/arguments.go)."""
