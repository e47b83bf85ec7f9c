"""What a person calls a unit and its keys, as paths: `research/vision`, `flavors/h100`, `budget.h100.quota=32`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Literal

from tenancy.diagnostics import Edit, KeyPath
from tenancy.edit.budgets import entry_at, set_number, unset_number
from tenancy.edit.editing import dotted
from tenancy.edit.errors import Refused
from tenancy.edit.nodes import compose
from tenancy.edit.values import Written
from tenancy.load import yaml
from tenancy.load.source import Raw
from tenancy.model.schema import shapes_at

GROUPS: Final = ("flavors", "clusters", "priorities")
"""What else has names: `flavors/h100`."""
_BELOW: Final = {"departments": ("departments", "teams"), "teams": ("projects",), "projects": ()}
_CHILDREN: Final = ("departments", "teams", "projects", "clusters", "flavors")
_ASSIGNMENT: Final = re.compile(r"""((?:"[^"]*"|'[^']*'|[^"'=])+?)(\+=|-=|=)(.*)""", re.DOTALL)
_STEP: Final = re.compile(r"""(?:"([^"]*)"|'([^']*)'|([^."']+))(?:\.|\Z)""")
_HIDDEN: Final = "file"
"""The key of a reference to a file, which no unit has."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What `set` is asked to do with one key."""

    key: str
    operator: Literal["=", "+=", "-=", "-"]
    text: str = ""


def assignment(text: str) -> Assignment:
    """`KEY=VALUE`, `KEY+=VALUE`, `KEY-=VALUE` or `KEY-`. Raises Refused for other texts."""
    found = _ASSIGNMENT.fullmatch(text)
    if found is None:
        if text.endswith("-") and len(text) > 1:
            return Assignment(text[:-1], "-")
        raise Refused(f"`{text}` is not KEY=VALUE; KEY- removes a key")
    operator: Any = found[2]
    return Assignment(found[1].strip(), operator, found[3].strip())


def target(tree: Mapping[str, Raw], name: str) -> KeyPath:
    """The path of a unit, a flavor, a cluster, a priority, or the organization by its name. Raises Refused."""
    steps = name.strip("/").split("/")
    found = _units(tree, steps)
    if len(found) > 1:
        raise Refused(f"`{name}` is both {' and '.join(f'`{dotted(path)}`' for path in found)}; rename one by hand")
    if found:
        return found[0]
    if len(steps) == 2 and steps[0] in GROUPS:
        members = tree.get(steps[0])
        if isinstance(members, dict) and steps[1] in members:
            return steps[0], steps[1]
        known = [f"{steps[0]}/{each}" for each in members] if isinstance(members, dict) else []
        raise Refused(f"there is no `{name}`{_near(name, known)}")
    if name == tree.get("name"):
        return ()
    known = [*_all_units(tree), *(f"{group}/{each}" for group in GROUPS for each in _names(tree.get(group)))]
    last = [unit for unit in known if unit.rpartition("/")[2] == steps[-1]]
    hint = f"; did you mean `{last[0]}`?" if last else _near(name, known)
    raise Refused(f"there is no unit `{name}`{hint}")


def edits(tree: Raw, base: KeyPath, asked: Assignment) -> list[Edit]:
    """The edits that an assignment to a key of the thing at `base` means. Raises Refused."""
    path = key_path(tree, base, asked.key)
    said = value_at(tree, path)
    if asked.operator == "-":
        return [_unset(tree, base, path)]
    if asked.text == "":
        raise Refused(f"`{asked.key}` gets no value; `{asked.key}-` removes it")
    value = _read(asked.text)
    if asked.operator == "=":
        value = _as_text(path, value)
        if said is not None and said == value.value and type(said) is type(value.value):
            return []
        length = entry_at(path[len(base) :]) if len(path) > len(base) else None
        if length is not None:
            at = len(base) + length
            return [set_number(value_at(tree, path[:at]), path[:at], path[at:], value)]
        return [_set_priority(value_at(tree, path[:2]), path, value) or Edit("set", path, value)]
    return _list_edits(path, said, asked, value)


def _set_priority(said: Raw, path: KeyPath, value: Written) -> Edit | None:
    """The edit of a key of a priority that is written as a bare number, which is its value until another key joins it;
    None for other edits."""
    if path[:1] != ("priorities",) or len(path) != 3 or not isinstance(said, int):
        return None
    if path[2] == "value":
        return Edit("set", path[:2], value)
    return Edit("set", path[:2], {"value": said, path[2]: value.value})


def _unset(tree: Raw, base: KeyPath, path: KeyPath) -> Edit:
    length = entry_at(path[len(base) :])
    if length is None:
        return Edit("remove", path)
    at = len(base) + length
    return unset_number(value_at(tree, path[:at]), path[:at], path[at:])


def _list_edits(path: KeyPath, said: Raw, asked: Assignment, value: Written) -> list[Edit]:
    """Items added to a list, or taken out of it."""
    takes = any(shape.get("type") == "array" for shape in shapes_at(path))
    if not takes or (said is not None and not isinstance(said, list)):
        raise Refused(f"`{dotted(path)}` is no list, which `{asked.operator}` is for; write `{asked.key}=…`")
    there: list[Raw] = said or []
    given = [Written(each) for each in value.value] if isinstance(value.value, list) else [value]
    items = [_as_text((*path, 0), each) for each in given]
    if asked.operator == "+=":
        new = [item for item in items if item.value not in there]
        if not there and new:
            return [Edit("set", path, [item.value for item in new])]
        return [Edit("set", (*path, len(there) + count), item) for count, item in enumerate(new)]
    missing = [item.value for item in items if item.value not in there]
    if missing:
        raise Refused(f"`{dotted(path)}` does not have `{missing[0]}`{_near(str(missing[0]), map(str, there))}")
    gone = sorted((there.index(item.value) for item in items), reverse=True)
    if len(set(gone)) == len(there):
        return [Edit("remove", path)]
    return [Edit("remove", (*path, index)) for index in gone]


def key_path(tree: Raw, base: KeyPath, key: str) -> KeyPath:
    """The path of a dotted key; a name with dots, such as `1g.10gb`, may be quoted but need not. Raises Refused."""
    steps, at = list[str](), 0
    while at < len(key):
        found = _STEP.match(key, at)
        if found is None:
            raise Refused(f"`{key}` is no dotted key such as `budget.h100.quota`")
        steps.append(next(part for part in found.groups() if part is not None))
        at = found.end()
    path = base
    while steps:
        step, used = _next(path, value_at(tree, path), steps)
        if len(path) and path[-1] in _CHILDREN and len(steps) > used and value_at(tree, (*path, step)) is None:
            known = _names(value_at(tree, path))
            raise Refused(f"`{dotted(path)}` has no `{step}`{_near(str(step), known)}")
        path, steps = (*path, step), steps[used:]
    return path


def _next(path: KeyPath, value: Raw, steps: list[str]) -> tuple[str | int, int]:
    """The next step of a path, and how many parts of the key it takes."""
    shapes = shapes_at(path)
    language = [key for shape in shapes for key in shape.get("properties", ()) if key != _HIDDEN or len(path) != 2]
    there = [*language, *_names(value)]
    for count in range(len(steps), 0, -1):
        if (joined := ".".join(steps[:count])) in there:
            return joined, count
    if isinstance(value, list) and steps[0].isdecimal() and int(steps[0]) < len(value):
        return int(steps[0]), 1
    named = [shape["additionalProperties"] for shape in shapes if isinstance(shape.get("additionalProperties"), dict)]
    if named:
        inner = [key for shape in shapes_at((*path, "")) for key in (shape.get("properties") or ())]
        return (steps[0], 1) if inner else (".".join(steps), len(steps))
    where = f"`{dotted(path)}`" if path else "the organization"
    if not language:
        raise Refused(f"{where} has no keys, so no `{'.'.join(steps)}`")
    listed = ", ".join(f"`{each}`" for each in dict.fromkeys(language))
    raise Refused(f"unknown key `{steps[0]}` in {where}{_near(steps[0], language) or f'; its keys are {listed}'}")


def value_at(tree: Raw, path: KeyPath) -> Raw:
    """The value at a path; None where there is none."""
    for step in path:
        try:
            tree = tree[step]
        except (KeyError, IndexError, TypeError):
            return None
    return tree


def _read(text: str) -> Written:
    """A value as it is written on the command line, in YAML."""
    parsed = yaml.parse(f"value: {text}\n", 0, "the value")
    if parsed.tree is None or list(parsed.tree) != ["value"] or parsed.diagnostics:
        why = f": {parsed.diagnostics[0].message}" if parsed.diagnostics else ""
        raise Refused(f"`{text}` is no YAML value{why}")
    value = compose(f"value: {text}").root.entries[0].value
    if value.end < len(text) + len("value: "):
        raise Refused(f"a part of `{text}` is a comment in YAML; quote the value, or leave the comment out")
    return Written(parsed.tree["value"], text)


def _as_text(path: KeyPath, value: Written) -> Written:
    """The value as text where the language takes nothing but text: a version, or a cost centre of digits."""
    types = {str(shape.get("type")) for shape in shapes_at(path) if shape.get("type") != "null"}
    if isinstance(value.value, bool | int | float) and types == {"string"} and value.spelling:
        return Written(value.spelling)
    return value


def _units(tree: Mapping[str, Raw], steps: list[str]) -> list[KeyPath]:
    found: list[KeyPath] = [()]
    groups: dict[KeyPath, tuple[str, ...]] = {(): ("departments",)}
    for step in steps:
        found = [
            (*path, group, step)
            for path in found
            for group in groups.get(path, _BELOW.get(str(path[-2]), ()) if path else ())
            if step in _names(value_at(tree, (*path, group)))
        ]
    return found


def _all_units(tree: Mapping[str, Raw]) -> list[str]:
    units: list[str] = []
    waiting: list[tuple[str, Raw]] = [("", tree)]
    while waiting:
        above, unit = waiting.pop()
        for group in ("departments", "teams", "projects"):
            inner = unit.get(group) if isinstance(unit, dict) else None
            for name in _names(inner):
                units.append(f"{above}{name}")
                waiting.append((f"{above}{name}/", inner[name] if isinstance(inner, dict) else None))
    return units


def _names(value: Raw) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _near(word: str, known: Iterable[str]) -> str:
    near = get_close_matches(word, list(known), 1, 0.6)
    return f"; did you mean `{near[0]}`?" if near else ""
