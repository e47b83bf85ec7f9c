"""One source line and the part of it that is underlined, as it fits a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from tenancy.diagnostics import Place
from tenancy.load.source import Sources
from tenancy.report.terminal import piece

_SECRET: Final = re.compile(r"(?<=://)[^/\s@]*:[^/\s@]*(?=@)")
"""Credentials in an address: findings are shown in logs that more people read than the file."""

Lines: TypeAlias = Mapping[str, Sequence[str]]
"""The lines of each file by its name; `Sources.line` would split the whole file again for every diagnostic."""


class Excerpt(NamedTuple):
    """A line as shown; `offset` and `length` are the cells before and under the underline (at least one)."""

    text: str
    offset: int
    length: int
    until: str = ""


def lines_of(sources: Sources | None, names: set[str]) -> Lines:
    """The lines of the named files, split as `Sources.line` splits them; a byte order mark is no column."""
    files = sources.files if sources else ()
    return {file.name: file.text.removeprefix("\ufeff").splitlines() for file in files if file.name in names}


def excerpt(lines: Lines, place: Place, width: int) -> Excerpt | None:
    """The first line of a place in at most `width` cells, or None where there is no such line.

    The line after the last one, where a parser that wanted more stops, is shown as an empty line.
    """
    of_file = lines.get(place.file)
    if of_file is None or not 0 < place.line <= len(of_file) + 1:
        return None
    line = _SECRET.sub(_masked, of_file[place.line - 1]) if place.line <= len(of_file) else ""
    start = min(max(place.column - 1, 0), len(line))
    if place.end_line == place.line:
        return _cut(line, start, min(max(place.end_column - 1, start), len(line)), width)
    last = place.end_line - 1 if place.end_column == 1 else place.end_line
    until = f" … to line {last}" if last > place.line else ""
    return _cut(line, start, len(line), width - len(until))._replace(until=until)


def _masked(found: re.Match[str]) -> str:
    return "*" * len(found[0])


def _cut(line: str, start: int, end: int, width: int) -> Excerpt:
    if len(line) <= width and line.isascii() and line.isprintable():
        return Excerpt(line, start, max(end - start, 1))
    # Nothing further away than `width` characters can be shown, so a line of a megabyte costs no more than a short one.
    near, far = max(start - width, 0), start + width
    pieces = [piece(character) for character in line[near:far]]
    begin, finish = 0, len(pieces)
    if near > 0 or far < len(line) or _sum(pieces) > width:
        begin, finish = _window(pieces, start - near, min(end - near, len(pieces)), width - 2)
    before = "…" if near + begin > 0 else ""
    after = "…" if near + finish < len(line) else ""
    shown = "".join(text for text, _ in pieces[begin:finish])
    offset = len(before) + _sum(pieces[begin : start - near])
    return Excerpt(before + shown + after, offset, max(_sum(pieces[start - near : min(end - near, finish)]), 1))


def _window(pieces: Sequence[tuple[str, int]], start: int, end: int, room: int) -> tuple[int, int]:
    """The slice that shows the span first, then as much on its left as on its right, in at most `room` cells."""
    span_end = _right(pieces, start, end, room)
    rest = room - _sum(pieces[start:span_end])
    begin = _left(pieces, start, rest // 2)
    finish = _right(pieces, span_end, len(pieces), rest - _sum(pieces[begin:start]))
    begin = _left(pieces, begin, rest - _sum(pieces[begin:start]) - _sum(pieces[span_end:finish]))
    while begin < start and pieces[begin][1] == 0:  # A combining mark would join the ellipsis.
        begin += 1
    return begin, finish


def _right(pieces: Sequence[tuple[str, int]], index: int, stop: int, room: int) -> int:
    while index < stop and pieces[index][1] <= room:
        room -= pieces[index][1]
        index += 1
    return index


def _left(pieces: Sequence[tuple[str, int]], index: int, room: int) -> int:
    while index > 0 and pieces[index - 1][1] <= room:
        index -= 1
        room -= pieces[index][1]
    return index


def _sum(pieces: Sequence[tuple[str, int]]) -> int:
    return sum(width for _, width in pieces)
