"""Markdown from parts that nothing in them can break: names, prose, tables, lists and fences.

Names come from files that anybody may propose. GitHub and GitLab look for mentions, issues and commits in what Markdown
has become, so no escape of a character stops them; they leave out what is code (MentionFilter of html-pipeline:
not below `pre`, `code` and `a`). So whatever is not a plain word becomes a code span, and what could end one or a cell
of a table is shown as an escape.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 80
"""Characters of a name that are shown."""

OPEN: Final = 10
"""Rows or lines that are shown before the rest is collapsed."""

_ESCAPED: Final = frozenset("`|<")
"""What could end a code span or a cell, or begin a tag where a renderer takes the span for something else."""

_NAME: Final = re.compile(r"[a-z0-9]+(?:-+[a-z0-9]+)*(?:/[a-z0-9]+(?:-+[a-z0-9]+)*)*(?: \(shared\))?")
"""Units, flavors and namespaces as the language spells them."""

_MARKS: Final = frozenset("+-=.,;:'\"(){}?/%–→…")  # noqa: RUF001
"""What a word of prose may hold besides letters and digits: Markdown, GitHub and GitLab read nothing into it."""

_REFERENCE: Final = re.compile(r"\b[0-9a-f]{7,40}\b|g[hl]-\d|:\S|www\.|%\w", re.IGNORECASE)
"""What is made a link or a picture though it looks like a word: commits, `GH-1`, addresses, `:emoji:`, `%milestone`."""

_AROUND: Final = re.compile(r"([(\"']*)(.*?)([.,;:)\"'?]*)", re.DOTALL)
"""A word with the punctuation of its sentence."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that is shown as a whole or not at all."""

    title: str
    """Of our own words, since a note says it of a section that was left out."""
    body: str

    def __str__(self) -> str:
        """With its heading, ending in one newline."""
        return f"### {self.title}\n\n{self.body}\n"


def visible(text: str, most: int = LONGEST) -> str:
    """The text on one line: what does not print is shown as an escape, and what is too long is cut."""
    line = text if len(text) <= most else f"{text[: most - 1]}…"
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)


def code(text: str, most: int = LONGEST) -> str:
    """A code span of any text."""
    line = "".join(f"\\x{ord(each):02x}" if each in _ESCAPED else each for each in visible(text, most))
    return f"`{line if line.strip() else repr(line)}`"


def name(text: str) -> str:
    """A name: as it is where it is one of ours, else as code."""
    return text if len(text) <= LONGEST and _NAME.fullmatch(text) and not _REFERENCE.search(text) else code(text)


def prose(text: str) -> str:
    """A sentence of ours with names in it: backticks make code, and so does each word that is more than a word."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts = ["".join(parts)]
    return "".join(code(part) if index % 2 else _words(part) for index, part in enumerate(parts))


def _words(text: str) -> str:
    return re.sub(r"\S+", lambda found: _word(found[0]), re.sub(r"\s+", " ", text))


def _word(word: str) -> str:
    if _plain(word):
        return word
    found = _AROUND.fullmatch(word)
    before, core, after = found.groups() if found else ("", word, "")
    return f"{before}{code(core)}{after}" if core else code(word)


def _plain(word: str) -> bool:
    letters = all(each.isalnum() or each in _MARKS for each in word)
    return letters and len(word) <= LONGEST and not _REFERENCE.search(word)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], most: int, *, numbers: int = 0) -> str:
    """A table of cells that are Markdown already; the last `numbers` columns are aligned right."""
    words = len(head) - numbers
    top = [_row(head), _row(["---"] * words + ["--:"] * numbers)]
    return _opened([_row(row) for row in rows], top, "row", most)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def bullets(lines: Sequence[str], most: int) -> str:
    """A list of lines that are Markdown already."""
    return _opened([f"- {line}" for line in lines], [], "line", most)


def _opened(lines: Sequence[str], top: list[str], what: str, most: int) -> str:
    """The first lines, the others (where they are more than two) collapsed, and how many there are above `most`."""
    shown = lines[: max(most, 1)]
    first = shown if len(shown) <= OPEN + 2 else shown[:OPEN]
    parts = ["\n".join([*top, *first])]
    if rest := shown[len(first) :]:
        parts.append(details(f"{len(rest)} more {what}s", "\n".join([*top, *rest])))
    if left := len(lines) - len(shown):
        parts.append(f"… and {left:,} more {what}{'s' if left > 1 else ''}, which are not shown here.")
    return "\n\n".join(parts)


def details(summary: str, body: str) -> str:
    """A collapsed part. Its summary is HTML and of our own words."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def fence(lines: Iterable[str], language: str, widest: int = 3 * LONGEST) -> str:
    """A block of code that no line can end: its fence is longer than any row of backticks inside."""
    shown = [visible(line, widest) for line in lines]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    marks = "`" * max(3, longest + 1)
    return "\n".join([f"{marks}{language}", *shown, marks])
