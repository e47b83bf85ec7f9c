"""Durations as Go and Kubernetes write them."""

from __future__ import annotations

import re
from datetime import timedelta

_DURATION = re.compile(r"(?:(?P<hours>\d{1,5})h)?(?:(?P<minutes>\d{1,6})m)?(?:(?P<seconds>\d{1,8})s)?")


def parse_duration(text: str) -> timedelta | None:
    """A duration such as `10m` or `1h30m`; None where the text is not one."""
    match = _DURATION.fullmatch(text)
    if not text or match is None:
        return None
    return timedelta(**{unit: int(count) for unit, count in match.groupdict().items() if count})


def spoken(duration: timedelta) -> str:
    """A duration for people, in whole seconds: `10 min`, `1 min 30 s`, `45 s`."""
    minutes, seconds = divmod(int(duration.total_seconds()), 60)
    return " ".join([*([f"{minutes} min"] if minutes else []), *([f"{seconds} s"] if seconds or not minutes else [])])


def go_duration(duration: timedelta) -> str:
    """The spelling that Go prints for whole seconds: `10m0s`, `1h30m0s`, `45s`."""
    seconds = int(duration.total_seconds())
    hours, minutes = divmod(seconds // 60, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds % 60}s"
    return f"{minutes}m{seconds % 60}s" if minutes else f"{seconds}s"
