"""One YAML text -> plain values, the span of each of them, and everything that is wrong with the text.

Reads the events of libyaml (or of PyYAML's pure parser where no C extension exists) and builds the tree itself: that
gives the place of every key, refuses duplicate keys, and reads plain scalars by the core schema of YAML 1.2.2 (section
10.3): `no`, `on`, dates, `12:30:45` and `1_000` are text, `010` is ten. The module is one piece because the loop over
events, which is the cost of loading, and the rare cases that it calls share their state.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from tenancy.diagnostics import Diagnostic, KeyPath, Place, Related, Rule
from tenancy.load import rules
from tenancy.load.source import Mark, Marks, Raw

MAX_BYTES: Final = 16 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_NODES: Final = 1_000_000
"""Values of one file, each alias counted as all the values that it stands for."""
MAX_ALIAS_FACTOR: Final = 100
"""Aliases may add this many values for each value written so far (and for a hundred more, so that small files may)."""
MAX_DIGITS: Final = 100

LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's parser where PyYAML was built with it, else the pure one: the same events, 15 times slower."""

_WORDS: Final[dict[str, Raw]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_ODD_KEYS: Final = frozenset({"<<", *(word for word, value in _WORDS.items() if value is None)})
_NUMBER_START: Final = frozenset("+-.0123456789")
_INT: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_IGNORE: Final = re.compile(r"(?:^|(?<=[ \t]))#[ \t]*tenancy:[ \t]*ignore\[([^\]]*)\]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_BLOCK_HEADER: Final = re.compile(r"(?:[&!]\S*[ \t]+)*[|>]")

Ignores: TypeAlias = dict[int, frozenset[str]]
_Anchor: TypeAlias = tuple[Raw, int]  # Its value, and how many values that is: 0 while its end is not reached.


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one text says. `tree` is None where it is of no use; an alias shares its container with the anchor."""

    tree: dict[str, Raw] | None
    marks: Marks
    diagnostics: tuple[Diagnostic, ...]
    ignores: Ignores
    """Codes that a comment `# tenancy: ignore[code]` silences, by line from 1."""


class _Refused(Exception):
    """The rest of the text must not be read; the reason is among the diagnostics."""


@dataclass(slots=True)
class _State:
    """What the loop over events shares with the rare cases."""

    file: str
    marks: Marks = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    anchors: dict[str, _Anchor] = field(default_factory=dict)
    dropped: list[tuple[dict[str, Raw], str]] = field(default_factory=list)
    stack: list[tuple[Any, Any, bool, Any, int, str | None]] = field(default_factory=list)
    """Of each open container: parent, the parent's marks, whether that is a mapping, own key, count, anchor."""
    plain: dict[str, Raw] = field(default_factory=lambda: dict(_WORDS))
    """The values of plain scalars that were read before."""
    expanded: int = 0

    def path(self, *last: str | int) -> KeyPath:
        steps = (*(frame[3] for frame in self.stack[1:]), *last)
        return tuple(step for step in steps if not str(step).startswith("\0"))

    def here(self, key: str | None, container: Raw) -> KeyPath:
        """The path of the value that comes next: at `key` of a mapping, or at the end of a list."""
        return self.path(len(container) if key is None else key) if self.stack else ()

    def begin(self, event: Any) -> None:
        if isinstance(event, DocumentStartEvent) and event.version not in (None, (1, 2)):
            message, help_ = "The file declares a YAML version other than 1.2.", "Delete the `%YAML` line."
            self.report(rules.VERSION, message, event, (), help_)

    def report(self, rule: Rule, message: str, event: Any, path: KeyPath, help_: str, *related: Related) -> None:
        start, end = event.start_mark, event.end_mark
        place = Place(self.file, start.line + 1, start.column + 1, end.line + 1, end.column + 1, path)
        self.diagnostics.append(Diagnostic(rule=rule, message=message, place=place, related=related, help=help_))

    def drop(self, container: dict[str, Raw]) -> str:
        """A key for an entry that is read on but must reach neither the tree nor a path; no plain text can hold it."""
        key = f"\0{len(self.dropped)}"
        self.dropped.append((container, key))
        return key

    def odd_key(self, event: Any, container: dict[str, Raw], entries: dict[str | int, Mark]) -> str:
        """The key to go on with for one that is quoted, tagged or anchored, null or `<<`, or was there before."""
        key: str = event.value
        if event.tag is not None:
            self.tag(event, self.path(key))
        if event.anchor is not None:
            self.anchors[event.anchor] = (key if event.style else _resolve(key)[0], 1)
        if not event.style and key == "<<":
            help_ = "Write the keys out, or use an alias for the value."
            self.report(rules.MERGE_KEY, "The merge key `<<` is not supported.", event, self.path(), help_)
            return self.drop(container)
        if not event.style and key in _ODD_KEYS:
            message, help_ = f"The key `{key}` is null." if key else "A value has no key.", "Write a name, or quote it."
            self.report(rules.NULL_KEY, message, event, self.path(), help_)
            return self.drop(container)
        if _SURROGATE.search(key):
            self.half_character(event, self.path())
            return self.drop(container)
        if key in container:
            first = entries[key]
            line, column = first.key_line + 1, first.key_column + 1
            related = Related("first written here", Place(self.file, line, column, line, first.key_end_column + 1))
            message, help_ = f"The key `{key}` is written twice.", "Keep one of the two, or rename one."
            self.report(rules.DUPLICATE_KEY, message, event, self.path(key), help_, related)
        return key

    def complex_key(self, event: Any, get_event: Callable[[], Any], container: dict[str, Raw]) -> str:
        """The key to go on with for a list, a mapping or an alias as a key, which is read over."""
        message = f"The alias `*{event.anchor}` is used as a key." if isinstance(event, AliasEvent) else "A key is "
        if isinstance(event, CollectionStartEvent):
            message += "a mapping." if isinstance(event, MappingStartEvent) else "a list."
            depth = 1
            while depth:
                inner = get_event()
                depth += isinstance(inner, CollectionStartEvent) - isinstance(inner, CollectionEndEvent)
        self.report(rules.COMPLEX_KEY, message, event, self.path(), "Write the key as text.")
        return self.drop(container)

    def tag(self, event: Any, path: KeyPath) -> None:
        message = f"The tag `{event.tag.replace('tag:yaml.org,2002:', '!!')}` is not allowed."
        self.report(rules.TAG, message, event, path, "Leave it out; put a value in quotes to make it text.")

    def scalar(self, event: Any, key: str | None, container: Raw) -> Raw:
        """The value of a scalar that is quoted, or plain and not met before, or has a tag or an anchor."""
        value: Raw = event.value
        if event.tag is not None:
            self.tag(event, self.here(key, container))
        if not event.style:
            value, fits = _resolve(value)
            if fits:
                self.plain[event.value] = value
            else:
                shown = value if len(value) <= 24 else f"{value[:20]}... ({len(value)} characters)"
                message, help_ = f"The number {shown} is out of range.", "Write one that fits, or quote it as text."
                self.report(rules.NUMBER, message, event, self.here(key, container), help_)
        elif not value.isascii() and _SURROGATE.search(value):
            self.half_character(event, self.here(key, container))
            value = _SURROGATE.sub("\ufffd", value)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 1)
        return value

    def half_character(self, event: Any, path: KeyPath) -> None:
        """Only the pure parser lets an escaped half of a surrogate pair through; no file can hold it."""
        message, help_ = "An escape stands for half a character.", "Write the character itself."
        self.report(rules.UNPRINTABLE, message, event, path, help_)

    def alias(self, event: Any, key: str | None, container: Raw, count: int) -> _Anchor:
        """What an alias stands for, and as how many values it counts. Raises _Refused where that is too many."""
        name, path = event.anchor, self.here(key, container)
        value, size = self.anchors.get(name, (None, -1))
        if size < 0:
            help_ = f"Write the anchor `&{name}` before the alias, or quote the value."
            self.report(rules.ALIAS_UNDEFINED, f"The alias `*{name}` has no anchor.", event, path, help_)
            return None, 1
        if size == 0:
            message = f"The alias `*{name}` stands inside its own anchor."
            self.report(rules.ALIAS_RECURSIVE, message, event, path, "Write the value out.")
            return None, 1
        written = count - self.expanded
        self.expanded += size
        if self.expanded > MAX_ALIAS_FACTOR * (written + 100):
            self.too_many(event, f"Aliases multiply the file more than {MAX_ALIAS_FACTOR} times.")
        return value, size

    def too_many(self, event: Any, message: str) -> None:
        self.report(rules.BOMB, message, event, self.path(), "Write fewer aliases, and none to values that hold some.")
        raise _Refused

    def open(self, event: Any, value: Raw) -> None:
        """Check the begin of a container. Raises _Refused where it is too deep."""
        if event.tag is not None:
            self.tag(event, self.path())
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 0)
        if len(self.stack) > MAX_DEPTH:
            message = f"The value is nested deeper than {MAX_DEPTH} levels."
            self.report(rules.DEPTH, message, event, (), "Look for brackets that were never closed.")
            raise _Refused


def parse(text: str, file_index: int, file_name: str, *, loader: Any = LOADER) -> Parsed:
    """Read `text`, shown as `file_name` and marked as file `file_index`. Never raises, whatever the text is."""
    text = text.removeprefix("\ufeff")
    state = _State(file_name)
    if len(text) > MAX_BYTES:
        return Parsed(None, {}, (rules.too_large(file_name, MAX_BYTES),), {})
    try:
        get_event = loader(text).get_event
        tree = _root(state, _document(state, get_event, file_index), get_event)
    except _Refused:
        tree = None
    except yaml.MarkedYAMLError as error:
        tree = None
        state.diagnostics.append(rules.syntax(error, text, file_name))
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # A character that is not allowed, or (pure parser) an escape beyond Unicode.
        tree = None
        state.diagnostics.append(rules.unprintable(error, text, file_name))
    if tree is None:
        return Parsed(None, {}, tuple(state.diagnostics), {})
    return Parsed(tree, state.marks, tuple(state.diagnostics), _ignores(text, state.marks))


def _document(state: _State, get_event: Callable[[], Any], file: int) -> Raw:  # noqa: PLR0912, PLR0915
    """The first document's value, if any. One loop, because a call per value would double its cost."""
    marks, stack, plain, make = state.marks, state.stack, state.plain, tuple.__new__
    names: dict[str, str] = {}
    root: list[Raw] = []
    container: Any = root
    entries: dict[str | int, Mark] = {}
    key: Any = None
    is_map, count, key_line, key_column, key_end = False, 0, 0, 0, 0
    while True:
        event = get_event()
        kind = event.__class__
        start, end = event.start_mark, event.end_mark
        if is_map and key is None and kind is not MappingEndEvent:
            if kind is not ScalarEvent:
                key = state.complex_key(event, get_event, container)
            else:
                key = names.setdefault(event.value, event.value)
                odd = event.style or event.anchor is not None or event.tag is not None
                if odd or key in container or key in _ODD_KEYS:
                    key = state.odd_key(event, container, entries)
            key_line, key_column, key_end = start.line, start.column, end.column
            continue
        if kind is ScalarEvent:
            value = ... if event.style else plain.get(event.value, ...)
            if value is ... or event.anchor is not None or event.tag is not None:
                value = state.scalar(event, key, container)
        elif kind is MappingStartEvent:
            value = {}
        elif kind is SequenceStartEvent:
            value = []
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            value = container
            container, entries, is_map, key, before, anchor = stack.pop()
            if anchor is not None and state.anchors[anchor][0] is value:
                state.anchors[anchor] = (value, count - before)
            key = None
            continue
        elif kind is AliasEvent:
            value, size = state.alias(event, key, container, count)
            count += size - 1
        elif kind is DocumentEndEvent or kind is StreamEndEvent:
            return root[0] if root else None
        else:
            state.begin(event)
            continue
        count += 1
        if count > MAX_NODES:
            state.too_many(event, f"The file holds more than {MAX_NODES:,} values.")
        if is_map:
            container[key] = value
        else:
            key, key_line, key_column, key_end = len(container), start.line, start.column, end.column
            container.append(value)
        line = key_line if start.line == key_line else start.line  # One int for both: a tenth of the memory.
        end_line = line if end.line == line else end.line
        entries[key] = make(Mark, (file, key_line, key_column, key_end, line, start.column, end_line, end.column))
        if kind is MappingStartEvent or kind is SequenceStartEvent:
            stack.append((container, entries, is_map, key, count - 1, event.anchor))
            state.open(event, value)
            container, is_map = value, kind is MappingStartEvent
            entries = marks[id(value)] = {}
        key = None


def _root(state: _State, value: Raw, get_event: Callable[[], Any]) -> dict[str, Raw] | None:
    """The tree, once the stream has been read to its end and the entries that must not reach the tree are gone."""
    several = _further_documents(state, get_event)
    if not isinstance(value, dict):
        kind = "nothing" if value is None else "a list" if isinstance(value, list) else "a single value"
        rule, place = rules.EMPTY if value is None else rules.ROOT, Place(state.file)
        message, help_ = f"The file holds {kind}.", "Begin with keys such as `apiVersion:` and `kind:`."
        if value is not None or not several:
            state.diagnostics.append(Diagnostic(rule=rule, message=message, place=place, help=help_))
        return None
    for container, key in state.dropped:
        container.pop(key, None)
        state.marks[id(container)].pop(key, None)
    if state.diagnostics:
        _forget_unreachable(value, state.marks)
    return value


def _further_documents(state: _State, get_event: Callable[[], Any]) -> bool:
    """Whether the stream goes on after the first document; reads it to its end, where a syntax error may still be."""
    several = False
    while (event := get_event()) is not None and not isinstance(event, StreamEndEvent):
        if isinstance(event, DocumentStartEvent) and not several:
            several = True
            message, help_ = "A second document begins here.", "Keep one document per file; delete the line `---`."
            state.report(rules.DOCUMENTS, message, event, (), help_)
    return several


def _forget_unreachable(tree: Raw, marks: Marks) -> None:
    """Drop the marks of containers that left the tree: their identities may be given to other containers later."""
    reached: set[int] = set()
    waiting: list[Raw] = [tree]
    while waiting:
        container = waiting.pop()
        if id(container) not in reached:
            reached.add(id(container))
            children = container.values() if isinstance(container, dict) else container
            waiting.extend(child for child in children if isinstance(child, dict | list))
    for identity in marks.keys() - reached:
        del marks[identity]


def _resolve(text: str) -> tuple[Raw, bool]:
    """The value of a plain scalar by the core schema, and whether it is within range; the text where it is not."""
    if text in _WORDS or text[0] not in _NUMBER_START:
        return _WORDS.get(text, text), True
    if _INT.fullmatch(text):
        return (int(text, 0 if text[1:2] in {"o", "x"} else 10), True) if len(text) <= MAX_DIGITS else (text, False)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return (number, True) if math.isfinite(number) else (text, False)
    return text, True


def _ignores(text: str, marks: Marks) -> Ignores:
    """Codes silenced by comments. A comment on a line of its own counts for the next line that holds anything else."""
    if "ignore[" not in text:  # The pattern alone would cost a tenth of all loading.
        return {}
    lines = text.splitlines()
    found = {number: match for number, line in enumerate(lines) if (match := _IGNORE.search(line))}
    quoted = _inside_scalars({number: match.start() for number, match in found.items()}, lines, marks)
    ignores: dict[int, frozenset[str]] = {}
    waiting: frozenset[str] = frozenset()
    for number, line in enumerate(lines):
        content = line.strip()
        codes: frozenset[str] = frozenset()
        if number in found and number not in quoted:
            codes = frozenset(found[number][1].replace(",", " ").split())
        if not content or (content[0] == "#" and number not in quoted):
            waiting |= codes
        elif codes | waiting:
            ignores[number + 1], waiting = codes | waiting, frozenset()
    return ignores


def _inside_scalars(columns: dict[int, int], lines: list[str], marks: Marks) -> set[int]:
    """The lines (from 0) whose `#`, at the given column, belongs to a scalar and begins no comment."""
    numbers, inside = sorted(columns), set[int]()
    for mark in (mark for entries in marks.values() for mark in entries.values()):
        if mark.key_column < columns.get(mark.key_line, -1) < mark.key_end_column:
            inside.add(mark.key_line)
        if mark.line == mark.end_line and mark.line not in columns:
            continue
        header = mark.line if _BLOCK_HEADER.match(lines[mark.line], mark.column) else -1
        for number in numbers[bisect_left(numbers, mark.line) : bisect_right(numbers, mark.end_line)]:
            position = (number, columns[number])
            if number != header and (mark.line, mark.column) < position < (mark.end_line, mark.end_column):
                inside.add(number)
    return inside
