"""What becomes of each promise, as text and as data: losses first, then unit by unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from json import dumps
from typing import Final

from tenancy.report.report import plural
from tenancy.report.terminal import NARROWEST, cells, hanging, visible, wrap

KEPT: Final = "kept"
_GAP: Final = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A promise and what a scheduler makes of it."""

    cluster: str
    scheduler: str
    unit: str
    """Empty where the organization makes the promise."""
    promise: str
    flavor: str
    said: str
    fate: str
    """`kept`, `differently` or `lost`."""
    becomes: str
    loss: str
    """The code of the loss; empty where there is none to accept."""
    accepted: bool
    path: tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What is known of a loss."""

    code: str
    severity: str
    title: str


def json(lines: Iterable[Line]) -> str:
    """A list of objects in ASCII, one for each promise; `loss` is null where there is none."""
    return dumps([{**asdict(line), "loss": line.loss or None} for line in lines], indent=2) + "\n"


def text(lines: Sequence[Line], codes: Sequence[Code], organization: str, width: int = 100, all_: bool = True) -> str:
    """A block for each cluster, within `width` cells; only what is not kept unless `all_`."""
    known = {code.code: code for code in codes}
    blocks = []
    for _, found in groupby(lines, key=lambda line: line.cluster):
        blocks.append("\n".join(_block(list(found), known, organization, width, all_)))
    return "\n\n".join(blocks) + "\n"


def _block(lines: list[Line], known: dict[str, Code], organization: str, width: int, all_: bool) -> Iterator[str]:
    yield _head(lines)
    losses = {line.loss: line for line in lines if line.loss}
    if losses:
        yield ""
        yield from _losses(lines, [known[code] for code in losses], width)
    shown = [line for line in lines if all_ or line.fate != KEPT]
    sizes = [max((cells(cell) for cell in column), default=0) for column in zip(*map(_cells, shown), strict=True)]
    for unit, found in groupby(shown, key=lambda line: line.unit):
        yield ""
        yield visible(unit or organization)
        for line in found:
            yield from _row(line, sizes, width)


def _head(lines: list[Line]) -> str:
    counts = [sum(line.fate == fate for line in lines) for fate in (KEPT, "differently", "lost")]
    first = lines[0]
    numbers = f"{counts[0]} kept, {counts[1]} kept differently, {counts[2]} lost"
    return f"{visible(first.cluster)} ({first.scheduler}): {plural(len(lines), 'promise')}, {numbers}"


def _losses(lines: list[Line], codes: list[Code], width: int) -> Iterator[str]:
    """Each loss with its weight and how often it occurs, and how to accept those that are not accepted."""
    rows = [(("LOSS", "", "PROMISES"), "")]
    accepted = {line.loss for line in lines if line.accepted}
    for code in sorted(codes, key=lambda code: code.severity != "error"):
        weight = "accepted" if code.code in accepted else code.severity
        rows.append(((code.code, weight, str(sum(line.loss == code.code for line in lines))), code.title))
    sizes = [max(map(len, column)) for column in zip(*(row for row, _ in rows), strict=True)]
    for row, title in rows:
        yield from hanging(_GAP.join(map(str.ljust, row, sizes)), title, width)
    if left := [code.code for code in codes if code.code not in accepted]:
        every = ", ".join([*sorted(accepted), *left])
        sentence = f"To accept them all: `accept: [{every}]` in cluster `{lines[0].cluster}`."
        yield from wrap(sentence, max(width, NARROWEST))


def _cells(line: Line) -> tuple[str, str, str]:
    return line.fate, line.promise, line.flavor


def _row(line: Line, sizes: Sequence[int], width: int) -> Iterator[str]:
    columns = [
        visible(cell) + " " * (size - cells(cell)) for cell, size in zip(_cells(line), sizes, strict=True) if size
    ]
    code = f" ({line.loss}{', accepted' if line.accepted else ''})" if line.loss else ""
    sentence = f"{line.said} → {line.becomes}{code}" if line.becomes else line.said
    yield from hanging("  " + _GAP.join(columns), sentence, width)
