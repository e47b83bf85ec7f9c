"""What runs otherwise than git says, as lines: what a sync cannot do first, then what it would undo."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from tenancy.compare.diff import ABSENT
from tenancy.live.drift import Drift, Field, Seen
from tenancy.live.objects import Key

_LONGEST: Final = 80
"""Characters of a value that a line shows."""


def drift_lines(drift: Drift, source: str) -> tuple[str, ...]:
    """One line for each thing; the details of an object are indented below it. Empty where nothing is to say.

    `source` names the cluster: the address of its API server.
    """
    blocks = [
        _block("Refused in a dry run, each object by itself and the cluster as it is", _refused(drift.seen)),
        _block("Being deleted", _leaving(drift.seen)),
        _block("No longer in git", _extra(drift.seen)),
        _block("Not in the cluster", [*_unserved(drift.seen), *_missing(drift.seen)]),
        _block("Other than git says; a sync makes it so", _changed(drift.seen)),
        _block("Set by others beside what git says; a sync leaves it", _foreign(drift.seen)),
        _block("Not checked", _unchecked(drift)),
    ]
    lines = [line for block in blocks for line in block]
    return (f"{source}: {drift.checked} objects looked for", *lines) if lines else ()


def _block(title: str, lines: Iterable[str]) -> list[str]:
    found = list(lines)
    return [f"{title}:", *(f"  {line}" for line in found)] if found else []


def _refused(seen: Sequence[Seen]) -> Iterator[str]:
    for one in seen:
        if one.refusal:
            yield f"! {named(one.key)}{' (new)' if one.state == 'missing' else ''}"
            yield f"    {one.refusal}"


def _leaving(seen: Sequence[Seen]) -> Iterator[str]:
    for one in seen:
        if one.leaving:
            waits = f", waits for {', '.join(one.finalizers)}" if one.finalizers else ""
            yield f"- {named(one.key)}: since {_time(one.leaving)}{waits}"


def _extra(seen: Sequence[Seen]) -> Iterator[str]:
    for one in seen:
        if one.state == "extra" and not one.leaving:
            yield f"- {named(one.key)}" + ("" if one.tracked else ": nothing tracks it, so nothing prunes it")


def _unserved(seen: Sequence[Seen]) -> Iterator[str]:
    """By kind: whoever has not installed an operator lacks all of its objects."""
    kinds = Counter((one.key.group, one.key.kind) for one in seen if one.state == "unserved")
    for (group, kind), count in sorted(kinds.items()):
        yield f"! {kind}{f' ({group})' if group else ''}: the API server has no such kind; {count} in git"


def _missing(seen: Sequence[Seen]) -> Iterator[str]:
    """What lies in a namespace that is missing itself is only counted."""
    missing = [one.key for one in seen if one.state == "missing"]
    homes = {key.name for key in missing if key.kind == "Namespace" and not key.group}
    inside = Counter(key.namespace for key in missing if key.namespace in homes)
    for key in missing:
        if key.namespace not in homes:
            count = inside[key.name] if key.kind == "Namespace" and not key.group else 0
            yield f"+ {named(key)}" + (f" with {count} object{'' if count == 1 else 's'}" if count else "")


def _changed(seen: Sequence[Seen]) -> Iterator[str]:
    for one in seen:
        if one.changed:
            yield f"~ {named(one.key)}"
            yield from (f"    {line}" for line in map(_change, one.changed))


def _change(field: Field) -> str:
    """The live value and what a sync makes of it."""
    live = "nothing" if field.live is ABSENT else _value(field.live)
    git = "nothing" if field.git is ABSENT else _value(field.git)
    return f"{field.path}: {live} → {git}{_by(field)}"


def _foreign(seen: Sequence[Seen]) -> Iterator[str]:
    for one in seen:
        if one.foreign:
            yield f"~ {named(one.key)}"
            yield from (f"    {each.path}: {_value(each.live)}{_by(each)}" for each in one.foreign)


def _unchecked(drift: Drift) -> Iterator[str]:
    """What the user may not do, with how many objects that concerns."""
    untried = [one for one in drift.seen if one.untried]
    for kind, count in sorted(Counter(one.key.kind for one in untried).items()):
        reason = next(one.untried for one in untried if one.key.kind == kind)
        yield f"{kind}: {count} compared by the text, without a dry run: {reason}"
    if drift.unlisted:
        yield f"may not be listed, so that objects of ours among them do not show: {', '.join(drift.unlisted)}"


def _by(field: Field) -> str:
    return f" (by {'; '.join(map(str, field.owners))})" if field.owners else ""


def named(key: Key) -> str:
    """`Kind namespace/name`."""
    return f"{key.kind} {key.namespace}/{key.name}" if key.namespace else f"{key.kind} {key.name}"


def _value(value: Any) -> str:
    """In one line, cut where it is long."""
    line = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _time(text: str) -> str:
    return f"{text.replace('T', ' ').removesuffix('Z')} UTC"
