"""Where panels stand: in strips over the whole width, 24 columns, one below the other.

Numbers of panels are made from what a panel is about, so that a link to one, and a change of another, leave it alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from tenancy.backend.telemetry.dashboards.grafana import Panel

COLUMNS: Final = 24


class Strip(NamedTuple):
    """Panels side by side, as wide as each other or the first one wider."""

    about: str
    """What they show, as no other strip of the dashboard does."""
    height: int
    panels: tuple[Panel, ...]
    first_wider: bool = False


class Section(NamedTuple):
    """Strips under the title of a row; without a row where there is none."""

    row: Panel | None
    strips: tuple[Strip, ...]


def placed(sections: Iterable[Section]) -> list[Panel]:
    """All panels with their numbers and places. What is in a row that is closed stands inside it and takes no place:
    Grafana pushes the others down as it opens the row (`toggleRow` of @grafana/scenes)."""
    numbers: set[int] = set()
    found: list[Panel] = []
    top = 0
    for row, strips in sections:
        inside = found
        if row is not None:
            place = {"h": 1, "w": COLUMNS, "x": 0, "y": top}
            number = _number(f"row {row['title']}", numbers)
            found.append({**row, "id": number, "gridPos": place, "panels": []})
            inside = found[-1]["panels"] if row["collapsed"] else found
            top += 1
        below = top
        for strip in strips:
            inside += _side_by_side(strip, below, numbers)
            below += strip.height
        top = below if inside is found else top
    return found


def _side_by_side(strip: Strip, top: int, numbers: set[int]) -> Iterator[Panel]:
    left = 0
    for panel, width in zip(strip.panels, _widths(len(strip.panels), strip.first_wider), strict=True):
        place = {"h": strip.height, "w": width, "x": left, "y": top}
        yield {**panel, "id": _number(f"{strip.about} {panel['title']}", numbers), "gridPos": place}
        left += width


def _widths(count: int, first_wider: bool) -> list[int]:
    """All columns are taken; the first panel gets those that are left over, or twice as many as each other one."""
    width = round(COLUMNS / (count + 1)) if first_wider else COLUMNS // count
    return [COLUMNS - width * (count - 1), *[width] * (count - 1)]


def _number(about: str, taken: set[int]) -> int:
    """From 1 to 2^31 - 1; where two come to the same, the later one gets the next."""
    number = zlib.crc32(about.encode()) % 0x7FFFFFFF + 1
    while number in taken:
        number = number % 0x7FFFFFFF + 1
    taken.add(number)
    return number
