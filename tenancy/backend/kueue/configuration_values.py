"""Values of Kueue's manager Configuration: lookups and Go durations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

_PART = re.compile(r"([0-9.]+)(ns|us|µs|μs|ms|s|m|h)")
_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}


def value_at(value: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path, None where it or a section above it is absent or null."""
    found: Any = value
    for key in path.split("."):
        found = None if found is None else found.get(key)
    return found


def nanoseconds(text: str | None) -> int | None:
    """A duration in the syntax of Go's time.ParseDuration, rounded down; None stays None."""
    if text is None:
        return None
    total = sum(Fraction(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    return int(-total if text.startswith("-") else total)


def duplicates(values: Iterable[Any]) -> list[Any]:
    """The values that occur more than once, each once, in order of appearance."""
    listed = list(values)
    return [value for value in dict.fromkeys(listed) if listed.count(value) > 1]
