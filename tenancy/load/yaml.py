"""One YAML text -> plain values, the span of each of them, and everything that is wrong with the text.

Reads the events of libyaml (or of PyYAML's pure parser where no C extension exists) and builds the tree itself: that
gives the place of every key and refuses duplicate keys. What plain scalars mean stands in `tenancy.load.scalars`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from tenancy.diagnostics import Diagnostic, Place
from tenancy.load import rules
from tenancy.load.events import Reading, Refused
from tenancy.load.ignores import Ignores, ignores
from tenancy.load.scalars import ODD_KEYS
from tenancy.load.source import Mark, Marks, Raw

MAX_BYTES: Final = 16 * 1024 * 1024
MAX_NODES: Final = 1_000_000
"""Values of one file, each alias counted as all the values that it stands for."""

LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's parser where PyYAML was built with it, else the pure one: the same events, 15 times slower."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one text says. `tree` is None where it is of no use; an alias shares its container with the anchor."""

    tree: dict[str, Raw] | None
    marks: Marks
    diagnostics: tuple[Diagnostic, ...]
    ignores: Ignores
    """Codes that a comment `# tenancy: ignore[code]` silences, by line from 1."""


def parse(text: str, file_index: int, file_name: str, *, loader: Any = LOADER) -> Parsed:
    """Read `text`, shown as `file_name` and marked as file `file_index`. Never raises, whatever the text is."""
    text = text.removeprefix("\ufeff")
    reading = Reading(file_name)
    if len(text) > MAX_BYTES:
        return Parsed(None, {}, (rules.too_large(file_name, MAX_BYTES),), {})
    try:
        get_event = loader(text).get_event
        value = _document(reading, get_event, file_index) if reading.begins(get_event) else None
        tree = _root(reading, value, get_event)
    except Refused:
        tree = None
    except yaml.MarkedYAMLError as error:
        tree = None
        reading.diagnostics.append(rules.syntax(error, text, file_name))
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # A character that is not allowed, or (pure parser) an escape beyond Unicode.
        tree = None
        reading.diagnostics.append(rules.unprintable(error, text, file_name))
    if tree is None:
        return Parsed(None, {}, tuple(reading.diagnostics), {})
    return Parsed(tree, reading.marks, tuple(reading.diagnostics), ignores(text, reading.marks))


def _document(reading: Reading, get_event: Callable[[], Any], file: int) -> Raw:
    """The first document's value. One loop, because a call per value would double its cost."""
    marks, stack, plain, names, make = reading.marks, reading.stack, reading.plain, dict[str, str](), tuple.__new__
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
            key = names.setdefault(event.value, event.value) if kind is ScalarEvent else "<<"
            odd = key in ODD_KEYS or key in container or event.style or event.anchor is not None
            if odd or event.tag is not None:
                key = reading.odd_key(event, get_event, container, entries)
            key_line, key_column, key_end = start.line, start.column, end.column
            continue
        if kind is ScalarEvent:
            value = ... if event.style else plain.get(event.value, ...)
            if value is ... or event.anchor is not None or event.tag is not None:
                value = reading.scalar(event, key, container)
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            container, entries, is_map = reading.close(container, count)
            key = None
            continue
        elif kind is AliasEvent:
            value, size = reading.alias(event, key, container, count)
            count += size - 1
        elif kind is DocumentEndEvent:
            return root[0]
        else:
            value = {} if kind is MappingStartEvent else []
        count += 1
        if count > MAX_NODES:
            reading.too_many(event, f"the file holds more than {MAX_NODES:,} values")
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
            reading.open(event, value)
            container, is_map = value, kind is MappingStartEvent
            entries = marks[id(value)] = {}
        key = None


def _root(reading: Reading, value: Raw, get_event: Callable[[], Any]) -> dict[str, Raw] | None:
    """The tree, once the stream has been read to its end and the entries that must not reach the tree are gone."""
    several = _further_documents(reading, get_event)
    if not isinstance(value, dict):
        kind = "nothing" if value is None else "a list" if isinstance(value, list) else "a single value"
        rule, place = rules.EMPTY if value is None else rules.ROOT, Place(reading.file)
        message, help_ = f"the file holds {kind}", "begin with keys such as `apiVersion:` and `kind:`"
        if value is not None or not several:
            reading.diagnostics.append(Diagnostic(rule=rule, message=message, place=place, help=help_))
        return None
    for container, key in reading.dropped:
        container.pop(key, None)
        reading.marks[id(container)].pop(key, None)
    if reading.diagnostics:
        _forget_unreachable(value, reading.marks)
    return value


def _further_documents(reading: Reading, get_event: Callable[[], Any]) -> bool:
    """Whether the stream goes on after the first document; reads it to its end, where a syntax error may still be."""
    several = False
    while (event := get_event()) is not None and not isinstance(event, StreamEndEvent):
        if isinstance(event, DocumentStartEvent) and not several:
            several = True
            message, help_ = "a second document begins here", "keep one document per file; delete the line `---`"
            reading.report(rules.DOCUMENTS, message, event, (), help_)
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
