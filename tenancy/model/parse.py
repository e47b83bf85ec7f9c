"""The raw tree of an organization as a typed document, with everything that has the wrong shape reported at once.

What cannot be read is left out and the rest is read again, so that one misspelt key does not hide the findings of the
later stages. The paths left out are passed on: laws that would compare against them keep silent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tenancy.diagnostics import Diagnostic, Edit, KeyPath, Place, Rule
from tenancy.load.source import Raw, Sources
from tenancy.model.document import API_VERSION, Organization
from tenancy.model.rules import EMPTY_VALUE, MISSING_KEY, OUT_OF_RANGE, UNKNOWN_KEY, UNKNOWN_VALUE, WRONG_TYPE
from tenancy.model.schema import keys_at

_NOUNS = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "list_type": "a list",
    "scalar_type": "a number or a quantity such as 64Gi",
}
_ROOT: Mapping[str, Any] = {
    "apiVersion": API_VERSION,
    "kind": "Organization",
    "name": "unnamed",
    "clusters": {},
    "flavors": {},
    "departments": {},
}
_FLAVOR: Mapping[str, Any] = {"nodes": 0, "node": {"cpu": 0, "memory": 0}}
"""Stand-ins for what an organization and a flavor must say, so that one bad value does not hide all other findings."""

_BOUNDS = {
    "greater_than_equal": ("below {ge:.15g}", "{ge:.15g} or more"),
    "less_than_equal": ("above {le:.15g}", "{le:.15g} or less"),
    "finite_number": ("which is no finite number", "a finite number"),
}
"""What is wrong with a number that is out of its bounds, and what to write, by pydantic's type of error."""
_MAY_BE_NULL: KeyPath = ("network", "dns", "nodeLocal")
_LONGEST_NUMBER = 18
_ROUNDS = 20
"""A round of reading removes every fault that it found; nested faults need a few rounds, more would be a bug."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A typed organization and the paths that were left out of it because they could not be read."""

    organization: Organization | None
    left_out: frozenset[KeyPath]


def parse(tree: Raw, sources: Sources, unread: frozenset[KeyPath] = frozenset()) -> tuple[Parsed, list[Diagnostic]]:
    """Read `tree`; the organization is None where too little of it is left to be one.

    `unread` are paths about which the loader has said all that there is to say.
    """
    empty = {path for path in _empty(tree) if path != _MAY_BE_NULL}
    diagnostics = [_no_value(path, sources) for path in sorted(empty - unread, key=str)]
    left_out: set[KeyPath] = {*unread, *empty}
    rest = _without(tree, empty) if empty else tree
    for _ in range(_ROUNDS):
        try:
            return Parsed(Organization.model_validate(rest), frozenset(left_out)), diagnostics
        except ValidationError as error:
            removals: set[KeyPath] = set()
            for details in error.errors(include_url=False):
                path = _path(details, rest)
                diagnostic, remove, hidden = _explain(details, path, rest, sources)
                removals.add(remove)
                removed_by_us = details["type"] == "missing" and path in left_out
                if not removed_by_us and path not in unread:
                    diagnostics.append(diagnostic)
                left_out |= hidden
            if () in removals:
                break
            rest = _completed(_without(rest, removals), left_out)
    return Parsed(None, frozenset(left_out)), diagnostics


def _completed(tree: Raw, left_out: set[KeyPath]) -> Raw:
    """The tree with stand-ins for required values that could not be read; the laws skip what stands in `left_out`."""
    complete = {**tree}
    for key, value in _ROOT.items():
        if key not in complete and (key,) in left_out:
            complete[key] = value
    flavors = complete.get("flavors")
    if isinstance(flavors, dict):
        complete["flavors"] = {name: _completed_flavor(name, flavor, left_out) for name, flavor in flavors.items()}
    return complete


def _completed_flavor(name: str, flavor: Raw, left_out: set[KeyPath]) -> Raw:
    if not isinstance(flavor, dict):
        return flavor
    complete = {**flavor}
    for key, value in _FLAVOR.items():
        if key not in complete and ("flavors", name, key) in left_out:
            complete[key] = value
    if isinstance(complete.get("node"), dict):
        missing = {key for key in _FLAVOR["node"] if ("flavors", name, "node", key) in left_out}
        complete["node"] = {**{key: _FLAVOR["node"][key] for key in sorted(missing)}, **complete["node"]}
    return complete


def _empty(tree: Raw) -> Iterator[KeyPath]:
    """The paths of empty values; a flavor whose `gpu:` was forgotten must not become a CPU flavor."""
    pending: list[tuple[KeyPath, Any]] = [((), tree)]
    while pending:
        path, value = pending.pop()
        for key, item in enumerate(value) if isinstance(value, list) else value.items():
            if item is None:
                yield (*path, key)
            elif item.__class__ is dict or item.__class__ is list:
                pending.append(((*path, key), item))


def _no_value(path: KeyPath, sources: Sources) -> Diagnostic:
    return _diagnostic(
        EMPTY_VALUE,
        f"`{_dotted(path)}` has no value",
        sources.key(path),
        help="write a value, `{}` for a unit that says nothing, or remove the key",
    )


def _path(details: ErrorDetails, tree: Raw) -> KeyPath:
    """The key path of an error: pydantic's location without the names of union members, which no file has."""
    path: list[str | int] = []
    value: Any = tree
    for step in details["loc"]:
        if _has(value, step):
            value = value[step]
        elif isinstance(step, str) and step.startswith("("):
            continue
        path.append(step)
    return tuple(path)


def _has(value: Any, step: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, dict) and step in value


def _explain(
    details: ErrorDetails, path: KeyPath, tree: Raw, sources: Sources
) -> tuple[Diagnostic, KeyPath, set[KeyPath]]:
    """The diagnostic of an error, the path to remove before reading again, and the paths that stay unread."""
    kind = details["type"]
    if kind == "missing" and _has_stand_in(path):
        return _missing(path, sources), path, {path}
    if kind == "missing":
        return _missing(path, sources), path[:-1], {path[:-1]}
    if kind == "extra_forbidden":
        diagnostic, nearest = _unknown_key(path, _value_at(tree, path[:-1]), sources)
        return diagnostic, path, {(*path[:-1], nearest)} if nearest else set()
    if kind == "literal_error":
        return _unknown_value(details, path, sources), path, {path}
    if kind in _NOUNS:
        return _wrong_type(_NOUNS[kind], _value_at(tree, path), path, sources), path, {path}
    return _out_of_range(details, path, tree, sources), path, {path}


def _out_of_range(details: ErrorDetails, path: KeyPath, tree: Raw, sources: Sources) -> Diagnostic:
    bounds = details.get("ctx", {})
    message, help_text = (
        f"`{_dotted(path)}` is {_shown(_value_at(tree, path))}",
        "write a value that docs/language.md allows here",
    )
    if details["type"] in _BOUNDS:
        fault, allowed = _BOUNDS[details["type"]]
        message, help_text = f"{message}, {fault.format(**bounds)}", f"write {allowed.format(**bounds)}"
    elif details["type"] == "too_short":
        message, help_text = f"`{_dotted(path)}` is an empty list", f"name at least {bounds['min_length']}"
    return _diagnostic(OUT_OF_RANGE, message, sources.value(path), help=help_text)


def _has_stand_in(path: KeyPath) -> bool:
    if len(path) == 1:
        return path[0] in _ROOT
    if path[0] != "flavors":
        return False
    return (len(path) == 3 and path[2] in _FLAVOR) or (path[2:-1] == ("node",) and path[-1] in _FLAVOR["node"])


def _missing(path: KeyPath, sources: Sources) -> Diagnostic:
    where = f"`{_dotted(path[:-1])}`" if path[:-1] else "the organization"
    return _diagnostic(
        MISSING_KEY,
        f"{where} has no `{path[-1]}`",
        sources.key(path[:-1]),
        help=f"add `{path[-1]}:` here; docs/language.md says what it means",
    )


def _unknown_key(path: KeyPath, there: Any, sources: Sources) -> tuple[Diagnostic, str | None]:
    known = keys_at(path[:-1])
    nearest = next(iter(get_close_matches(str(path[-1]), known, 1, 0.6)), None)
    help_text = f"did you mean `{nearest}`?" if nearest else f"the keys here are {_choices(sorted(known), 'and')}"
    where = f"`{_dotted(path[:-1])}`" if path[:-1] else "the organization"
    message = f"unknown key `{path[-1]}` in {where}"
    edits = (Edit("rename", path, nearest),) if nearest and nearest not in there else ()
    return _diagnostic(UNKNOWN_KEY, message, sources.key(path), help=help_text, edits=edits), nearest


def _unknown_value(details: ErrorDetails, path: KeyPath, sources: Sources) -> Diagnostic:
    allowed = details.get("ctx", {}).get("expected", "")
    given = details["input"]
    choices = [choice.strip("' ") for choice in allowed.replace(" or ", ", ").split(",")]
    nearest = next(iter(get_close_matches(str(given), choices, 1, 0.6)), None)
    hint = f"did you mean `{nearest}`? write " if nearest else "write "
    return _diagnostic(
        UNKNOWN_VALUE,
        f"`{_dotted(path)}` cannot be {_shown(given)}",
        sources.value(path),
        help=f"{hint}{_choices(choices, 'or')}",
        edits=(Edit("set", path, nearest),) if nearest else (),
    )


def _wrong_type(wanted: str, given: Any, path: KeyPath, sources: Sources) -> Diagnostic:
    hint, edits = "", tuple[Edit, ...]()
    if wanted == "a mapping":
        hint = "write a mapping from names: `NAME: {}`" if isinstance(given, list) else "write keys below it, or `{}`"
    elif wanted == "a whole number" and isinstance(given, str) and given.strip().isdecimal():
        hint = f"leave out the quotes: {given.strip()}"
        edits = (Edit("set", path, int(given)),) if given.isascii() and len(given) <= _LONGEST_NUMBER else ()
    elif wanted == "text" and isinstance(given, int | float):
        text = _spelling(path, sources) or str(given)
        hint, edits = f'write "{text}", with quotes', (Edit("set", path, text),)
    elif wanted == "a list":
        hint, edits = f"write a list: `[{given}]`", () if isinstance(given, dict) else (Edit("set", path, [given]),)
    message = f"`{_dotted(path)}` must be {wanted}, not {_shown(given)}"
    return _diagnostic(WRONG_TYPE, message, sources.value(path), help=hint, edits=edits)


def _spelling(path: KeyPath, sources: Sources) -> str | None:
    """The value as it stands in the file: 1.30 and 1.3 are one number but two versions."""
    place = sources.value(path)
    line = sources.line(place.file, place.line)
    return line[place.column - 1 : place.end_column - 1] if line and place.line == place.end_line else None


def _diagnostic(rule: Rule, message: str, place: Place, *, help: str = "", edits: tuple[Edit, ...] = ()) -> Diagnostic:
    return Diagnostic(rule=rule, message=message, place=place, help=help, edits=edits)


def _dotted(path: KeyPath) -> str:
    return ".".join(str(step) for step in path)


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = str(value)
    return f"`{text if len(text) <= 60 else text[:57] + '…'}`"


def _choices(names: list[str], last: str) -> str:
    """Names in backticks as people list them."""
    quoted = [f"`{name}`" for name in names]
    return f"{', '.join(quoted[:-1])} {last} {quoted[-1]}" if len(quoted) > 1 else quoted[0] if quoted else "none"


def _value_at(tree: Raw, path: KeyPath) -> Any:
    value = tree
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _without(tree: Raw, paths: set[KeyPath]) -> Raw:
    """A copy of `tree` without the values at `paths`; list items are removed together, so indexes stay true."""
    below: dict[str | int, set[KeyPath]] = {}
    for path in paths:
        below.setdefault(path[0], set()).add(path[1:])
    kept = list(_kept(tree, below))
    return [value for _, value in kept] if isinstance(tree, list) else dict(kept)


def _kept(tree: Raw, below: dict[str | int, set[KeyPath]]) -> Iterator[tuple[Any, Any]]:
    for key, value in enumerate(tree) if isinstance(tree, list) else tree.items():
        paths = below.get(key)
        if paths is None:
            yield key, value
        elif () not in paths:
            yield key, _without(value, paths)
