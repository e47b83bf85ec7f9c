"""Values of Kueue's manager Configuration: lookups, Go durations, Kubernetes names and labels."""

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
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


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


def is_dns_label(text: str) -> bool:
    """Whether the text is an RFC 1123 label."""
    return len(text) <= 63 and _LABEL.fullmatch(text) is not None


def is_dns_subdomain(text: str) -> bool:
    """Whether the text is an RFC 1123 subdomain as Kubernetes defines it."""
    return len(text) <= 253 and all(_LABEL.fullmatch(part) for part in text.split("."))


def is_label_key(text: str) -> bool:
    """Whether the text is a key of a Kubernetes label: a name, after a DNS subdomain and a slash if there is one."""
    prefix, slash, name = text.rpartition("/")
    return (not slash or is_dns_subdomain(prefix)) and bool(name) and is_label_value(name)


def is_label_value(text: str) -> bool:
    """Whether the text is a value of a Kubernetes label."""
    return text == "" or (len(text) <= 63 and _NAME.fullmatch(text) is not None)
