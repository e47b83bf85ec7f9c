"""Diagnostics for people, in the manner of rustc: what, where, why, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tenancy.diagnostics import Diagnostic, Place, Severity
from tenancy.report.excerpt import Lines, excerpt, lines_of
from tenancy.report.report import Counts, Report, plural
from tenancy.report.terminal import visible, wrap

BOLD, FRAME, RESET = "\x1b[1m", "\x1b[1;34m", "\x1b[0m"
COLOURS: dict[Severity, str] = {
    Severity.ERROR: "\x1b[1;31m",
    Severity.WARNING: "\x1b[1;33m",
    Severity.NOTE: "\x1b[1;36m",
}
COLOUR_CODE = re.compile(r"\x1b\[[0-9;]+m")

NARROWEST = 40
"""Cells below which a line is not squeezed further; a narrower terminal breaks the lines itself."""


def text(report: Report, colour: bool = False, width: int = 100) -> str:
    """Each diagnostic with its source lines, then a summary line.

    Source lines, `why` and `help` stay within `width` cells; heads and places are never broken, so that they can be
    searched and clicked. The only escape sequences are the tool's own colours, and only where `colour` asks for them.
    """
    lines = lines_of(report.sources, {place.file for found in report.diagnostics for place in _places(found)})
    blocks = ["\n".join(_block(found, report, lines, max(width, NARROWEST))) for found in report.diagnostics]
    page = "\n\n".join([*blocks, summary(report.counts)]) + "\n"
    # What came from outside is escaped by now, so that every escape sequence on the page is one of ours.
    return page if colour else COLOUR_CODE.sub("", page)


def summary(counts: Counts) -> str:
    """`2 errors, 1 warning, 1 silenced by comments`; `no findings` where there are none."""
    numbers = ((counts.errors, "error"), (counts.warnings, "warning"), (counts.notes, "note"))
    parts = [plural(number, noun) for number, noun in numbers if number] or ["no findings"]
    if counts.silenced:
        parts.append(f"{counts.silenced} silenced by comments")
    return ", ".join(parts)


def _block(found: Diagnostic, report: Report, lines: Lines, width: int) -> Iterator[str]:
    hue = COLOURS[found.severity]
    pad = " " * len(str(max(place.line for place in _places(found))))
    yield f"{hue}{found.severity}[{visible(found.code)}]{RESET}{BOLD}: {visible(found.message)}{RESET}"
    yield f"{pad}{FRAME}--> {RESET}{_position(found.place)}"
    yield from _source(lines, found.place, pad, width, hue + "^")
    for related in found.related:
        yield f"{pad}{FRAME}::: {RESET}{_position(related.place)}: {visible(related.label)}"
        yield from _source(lines, related.place, pad, width, FRAME + "-")
    for label, content in (("why", found.rule.why), ("help", found.help)):
        yield from _labelled(pad, label, wrap(content.strip("\n"), width - len(pad) - len(label) - 5))
    yield from _labelled(pad, "docs", [visible(report.docs_base + found.docs)])


def _places(found: Diagnostic) -> Iterator[Place]:
    yield found.place
    for related in found.related:
        yield related.place


def _position(place: Place) -> str:
    return f"{visible(place.file)}:{place.line}:{place.column}"


def _source(lines: Lines, place: Place, pad: str, width: int, underline: str) -> Iterator[str]:
    """The line between two empty frame lines, with its underline; nothing where the line is not at hand."""
    shown = excerpt(lines, place, width - len(pad) - 3)
    if shown is None:
        return
    frame = f"{pad}{FRAME} |{RESET}"
    number = f"{FRAME}{place.line:>{len(pad)}} |{RESET}"
    marks = underline[:-1] + underline[-1] * shown.length + shown.until + RESET
    yield frame
    yield f"{number} {shown.text}" if shown.text else number
    yield f"{frame} {' ' * shown.offset}{marks}"


def _labelled(pad: str, label: str, content: Sequence[str]) -> Iterator[str]:
    """`= why: …`, later lines under the first; nothing where there is nothing to say."""
    lead = f"{pad} {FRAME}={RESET} {BOLD}{label}:{RESET} "
    hang = " " * (len(pad) + len(label) + 5)
    for line in content:
        yield (lead + line).rstrip() if line else ""
        lead = hang
