"""Changes of one text: which characters give way to which, and what the text then means.

Each change is the smallest that says it. Lines that hold anything else, and comments, stay byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tenancy.edit.nodes import Document, Entry, Node
from tenancy.edit.values import Written, key_text, value_text
from tenancy.load.source import Raw

_IGNORE: Final = "tenancy: ignore["


@dataclass(frozen=True, slots=True)
class Splice:
    """The characters from `start` up to `end` become `text`."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class Change:
    """Splices of one text, with what they mean for its tree; nodes are named by their identity."""

    document: Document
    splices: list[Splice] = field(default_factory=list)
    values: dict[int, Raw] = field(default_factory=dict)
    """New values of entries, and of nodes whose anchor stays, by identity."""
    keys: dict[int, str] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    added: dict[int, list[tuple[int, str | None, Raw]]] = field(default_factory=dict)
    """What joins a map or a list: before which index, with which key."""

    def touches(self, others: Sequence[Splice]) -> bool:
        """Whether one of the other splices meets one of these, so that they cannot be made together."""
        return any(one.start <= other.end and other.start <= one.end for one in self.splices for other in others)

    def result(self) -> str:
        """The text with all the splices made."""
        text = self.document.text
        for splice in sorted(self.splices, key=lambda splice: (splice.start, splice.end), reverse=True):
            text = text[: splice.start] + splice.text + text[splice.end :]
        return text

    def expected(self, node: Node | None = None) -> Raw:
        """What the changed text must mean."""
        node = (node or self.document.root).real
        if id(node) in self.values:
            return self.values[id(node)]
        if node.kind == "scalar":
            return node.value
        pairs: list[tuple[str | None, Raw]] = []
        added = self.added.get(id(node), [])
        for index, entry in enumerate(node.entries):
            pairs += [(key, value) for at, key, value in added if at == index]
            if id(entry) not in self.gone:
                key = None if entry.key is None else self.keys.get(id(entry), str(entry.key.real.value))
                value = self.values[id(entry)] if id(entry) in self.values else self.expected(entry.value)
                pairs.append((key, value))
        pairs += [(key, value) for at, key, value in added if at >= len(node.entries)]
        return {str(key): value for key, value in pairs} if node.kind == "map" else [value for _, value in pairs]


def replace(change: Change, holder: Node, index: int, value: Raw | Written) -> None:
    """Give an entry another value. An alias gives way itself; an anchor stays for those who refer to it."""
    document, entry = change.document, holder.entries[index]
    old = entry.value
    change.values[id(entry)] = value.value if isinstance(value, Written) else value
    if old.anchor is not None:
        change.values[id(old)] = change.values[id(entry)]
    flow = holder.flow
    text = value_text(value, flow=flow, style=old.style if old.style in ("'", '"') and _is_text(value) else "")
    if not old.written:
        at = document.colon(entry) if entry.key is not None else old.start
        change.splices.append(Splice(at, at, f" {text}"))
    elif old.kind in ("map", "list") and not old.flow:
        first = document.line_start(_start(document, old.entries[0]))
        at = document.colon(entry) if entry.key is not None else old.start
        if first <= at:
            change.splices.append(Splice(document.content(old), document.end(old), text))
        else:
            at = at if old.anchor is None else document.content(old)
            end, stop = document.end(old), document.line_end(document.end(old))
            change.splices.append(Splice(at, at, f" {text}"))
            change.splices.append(Splice(*_lines(document, first, max(end, stop)), ""))
    else:
        change.splices.append(Splice(document.content(old), document.end(old), text))


def rename(change: Change, holder: Node, index: int, name: str) -> None:
    """Give a key another name, in the quotes of the old one."""
    entry = holder.entries[index]
    key = _key(entry)
    change.keys[id(entry)] = name
    text = key_text(name, key.style)
    change.splices.append(Splice(change.document.content(key), key.end, text))


def insert(change: Change, holder: Node, key: str, value: Raw | Written, order: Sequence[str] = ()) -> None:
    """Add a key where the order of the language has it, or at the end."""
    index = _place(holder, key, order)
    meant = value.value if isinstance(value, Written) else value
    change.added.setdefault(id(holder), []).append((index, key, meant))
    text = f"{key_text(key)}: {value_text(value, flow=holder.flow)}"
    if holder.flow:
        _into_brackets(change, holder, index, text)
    else:
        _into_lines(change, holder, index, text, _key(holder.entries[0]).column)


def append(change: Change, holder: Node, value: Raw | Written) -> None:
    """Add an item to a list, in the quotes of its neighbour."""
    index = len(holder.entries)
    change.added.setdefault(id(holder), []).append((index, None, value.value if isinstance(value, Written) else value))
    last = holder.entries[-1].value.style if holder.entries else ""
    colons = isinstance(value, Written | str) and ":" in str(value.value if isinstance(value, Written) else value)
    style = last if last in ("'", '"') else '"' if colons and not holder.entries else ""
    text = value_text(value, flow=holder.flow, style=style if _is_text(value) else "")
    if holder.flow:
        _into_brackets(change, holder, index, text)
    else:
        _into_lines(change, holder, index, f"- {text}", holder.column)


def remove(change: Change, holder: Node, index: int) -> None:
    """Take an entry out; a holder that has no other becomes `{}` or `[]`, which the caller may not want."""
    document, entry = change.document, holder.entries[index]
    change.gone.add(id(entry))
    if holder.flow:
        change.splices.append(_out_of_brackets(document, holder, index))
        return
    start, end = _start(document, entry), document.end(entry.value) if entry.value.written else document.colon(entry)
    alone = not document.text[document.line_start(start) : start].strip()
    if len(holder.entries) == 1:
        empty = "{}" if holder.kind == "map" else "[]"
        change.splices.append(Splice(start, end, empty))
    elif alone:
        first = document.line_start(start)
        while first and _silences(document, document.line_before(first)):
            first = document.line_before(first)
        change.splices.append(Splice(*_lines(document, first, document.line_end(end)), ""))
    else:
        following = _start(document, holder.entries[index + 1]) if index + 1 < len(holder.entries) else end
        change.splices.append(Splice(start, following, ""))


def _is_text(value: Raw | Written) -> bool:
    return isinstance(value.value if isinstance(value, Written) else value, str)


def _key(entry: Entry) -> Node:
    assert entry.key is not None
    return entry.key


def _start(document: Document, entry: Entry) -> int:
    """Where an entry begins: at its key, or at the dash of an item."""
    return entry.key.start if entry.key is not None else document.text.rindex("-", 0, max(entry.value.start, 1))


def _lines(document: Document, first: int, last_end: int) -> tuple[int, int]:
    """Whole lines, with the break that ends them; with the one before them where they end the text without one."""
    end = document.next_line(last_end)
    if end > last_end or first == 0:
        return first, end
    before = first - (2 if document.text[first - 2 : first] == "\r\n" else 1)
    return before, last_end


def _silences(document: Document, start: int) -> bool:
    """Whether a line is a comment that silences findings: it would silence those of another line."""
    line = document.text[start : document.line_end(start)].strip()
    return line.startswith("#") and _IGNORE in line


def _place(holder: Node, key: str, order: Sequence[str]) -> int:
    """The index before which a key goes: after the last one that the language has before it."""
    if key not in order or holder.kind != "map":
        return len(holder.entries)
    before = set(order[: order.index(key)])
    there = [index for index, entry in enumerate(holder.entries) if _key(entry).real.value in before]
    return max(there, default=-1) + 1


def _into_lines(change: Change, holder: Node, index: int, text: str, column: int) -> None:
    document = change.document
    if index == 0:
        first = _start(document, holder.entries[0])
        at = document.line_start(first)
        if document.text[at:first].strip():  # `- a: 1`: there is no line before the first key
            change.splices.append(Splice(first, first, f"{text}{document.newline(first)}{' ' * column}"))
            return
        while at and document.text[document.line_before(at) : at].lstrip().startswith("#"):
            at = document.line_before(at)
        change.splices.append(Splice(at, at, f"{' ' * column}{text}{document.newline(at)}"))
        return
    above = holder.entries[index - 1]
    end = document.end(above.value) if above.value.written else document.colon(above)
    at = document.line_end(end)
    while (line := document.next_line(at)) > at and _is_deeper_comment(document, line, column):
        at = document.line_end(line)
    newline = document.newline(_start(document, above))
    change.splices.append(Splice(at, at, f"{newline}{' ' * column}{text}"))


def _is_deeper_comment(document: Document, start: int, column: int) -> bool:
    """Whether a line is a comment that belongs to the block above by its indentation."""
    line = document.text[start : document.line_end(start)]
    return line.lstrip(" ").startswith("#") and len(line) - len(line.lstrip(" ")) > column


def _into_brackets(change: Change, holder: Node, index: int, text: str) -> None:
    document = change.document
    if not holder.entries:
        at = document.content(holder) + 1
        change.splices.append(Splice(at, at, text))
        return
    if index == 0:
        first = _first(holder.entries[0])
        change.splices.append(Splice(first, first, f"{text}, "))
        return
    above = holder.entries[index - 1]
    end = _end(document, above)
    start = _first(above)
    own_line = document.line_start(start)
    if document.text[own_line:start].strip() or own_line <= document.content(holder):
        change.splices.append(Splice(end, end, f", {text}"))
        return
    # One entry a line: the new one gets its own, after the comma and the comment of the one above.
    rest = document.text[end : holder.end]
    comma = end + len(rest) - len(rest.lstrip()) if rest.lstrip().startswith(",") else -1
    newline, indent = document.newline(end), " " * (start - own_line)
    if comma < 0:
        change.splices.append(Splice(end, end, ","))
    at = document.line_end(max(comma, end))
    if at >= holder.end - 1:
        at = end
    if comma < 0 and at == end:
        change.splices[-1] = Splice(end, end, f",{newline}{indent}{text}")
    else:
        change.splices.append(Splice(at, at, f"{newline}{indent}{text}{',' if comma >= 0 else ''}"))


def _first(entry: Entry) -> int:
    return entry.key.start if entry.key is not None else entry.value.start


def _end(document: Document, entry: Entry) -> int:
    return entry.value.end if entry.value.written or entry.key is None else document.colon(entry)


def _out_of_brackets(document: Document, holder: Node, index: int) -> Splice:
    entry = holder.entries[index]
    start, end = _first(entry), _end(document, entry)
    rest = document.text[end : holder.end]
    comma = end + len(rest) - len(rest.lstrip()) + 1 if rest.lstrip().startswith(",") else end
    line, stop = document.line_start(start), document.line_end(comma)
    tail = document.text[comma:stop].strip()
    if not document.text[line:start].strip() and line > holder.start and (not tail or tail.startswith("#")):
        return Splice(*_lines(document, line, stop), "")
    if index + 1 < len(holder.entries):
        following = _first(holder.entries[index + 1])
        return Splice(start, following if following <= document.line_end(start) else comma, "")
    if index:
        return Splice(_end(document, holder.entries[index - 1]), end, "")
    return Splice(start, end, "")
