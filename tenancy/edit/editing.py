"""Edits of an organization as edits of its texts.

An edit names a value by its path in the merged organization. It is made where that value is written, whichever file it
is in, and what the file means afterwards is compared with what was asked for before anybody sees the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml

from tenancy.diagnostics import Edit, KeyPath
from tenancy.edit import splice
from tenancy.edit.errors import Refused
from tenancy.edit.nodes import Node, compose, plain
from tenancy.edit.places import Places, Spot
from tenancy.edit.splice import Change
from tenancy.edit.values import Written, same
from tenancy.load import load
from tenancy.load.source import Raw, Sources
from tenancy.model.schema import shapes_at

_NAMED: Final = frozenset(("departments", "teams", "projects", "clusters", "flavors"))
"""Mappings of things that exist even where nothing is said of them: `train: {}`."""


@dataclass(frozen=True, slots=True)
class FileEdit(Edit):
    """An edit of what is no part of the merged organization: the path is one inside the file."""

    file: str = ""


@dataclass(slots=True)
class Texts:
    """Texts of an organization's files, by the name that diagnostics show, with the edits made so far."""

    path: Path
    texts: dict[str, str] = field(default_factory=dict)
    shared: list[str] = field(default_factory=list)
    """Places, as `FILE:LINE`, that have what was changed through an alias."""
    sources: Sources | None = None
    """What these texts were read as; None where they have not been read yet."""

    def places(self) -> Places:
        """Where everything is written now. Raises Refused where the files cannot be read."""
        if self.sources is None:
            loaded, _ = load(self.path, self.texts)
            self.sources = None if loaded is None else loaded.sources
        if self.sources is None or self.sources.tree is None:
            raise Refused("the organization cannot be read; `tenancy validate` says why")
        return Places(self.sources)


def edited(before: Texts, edits: Sequence[Edit], *, through_aliases: bool = False) -> Texts:
    """The texts with all the edits made, in their order. Raises Refused for one that cannot be made.

    `through_aliases` edits values that others share; without it such an edit is refused, since they would change, too.
    """
    after = Texts(before.path, dict(before.texts), list(before.shared), before.sources)
    waiting = list(edits)
    while waiting:
        places = after.places()
        batch: dict[int, Change] = {}
        done: set[tuple[int, int, str, str | int]] = set()
        while waiting:
            spot, change = _change(places, waiting[0], through_aliases=through_aliases)
            key = (id(spot.holder), spot.index, waiting[0].action, waiting[0].path[-1])
            if key not in done:  # an alias leads to the same place again
                if spot.file in batch and change.touches(batch[spot.file].splices):
                    break
                _join(batch.setdefault(spot.file, Change(spot.document)), change)
                after.shared += [place for place in places.others(spot) if place not in after.shared]
                done.add(key)
            waiting.pop(0)
        for file, change in batch.items():
            source = places.file(file)
            mark = "\ufeff" if source.text.startswith("\ufeff") else ""
            after.texts[source.name] = mark + _checked(change, source.name)
        after.sources = None
    return after


def _join(batch: Change, change: Change) -> None:
    batch.splices += change.splices
    batch.values |= change.values
    batch.keys |= change.keys
    batch.gone |= change.gone
    for holder, added in change.added.items():
        batch.added.setdefault(holder, []).extend(added)


def _checked(change: Change, name: str) -> str:
    """The new text. Raises Refused where it does not mean what it should: nothing is worth writing something else."""
    text = change.result()
    try:
        meant = plain(compose(text).root)
    except (yaml.YAMLError, ValueError):
        meant = None
    if not same(meant, change.expected()):
        raise Refused(f"`{name}` is written in a way that this change cannot be made in; edit it by hand")
    return text


def _change(places: Places, edit: Edit, *, through_aliases: bool) -> tuple[Spot, Change]:
    """The splices of one edit, and the entry that it changes or is added to."""
    if edit.action == "set" and not isinstance(edit, FileEdit) and not _is_there(places, edit.path):
        return _added(places, edit.path, edit.value, through_aliases=through_aliases)
    spot = places.inside(edit.file, edit.path) if isinstance(edit, FileEdit) else places.find(edit.path)
    if spot is None:
        raise Refused(f"`{dotted(edit.path)}` is not written anywhere")
    if edit.action == "remove":
        return _removed(places, spot, edit.path, through_aliases=through_aliases)
    _refuse_shared(spot, edit.path, through_aliases=through_aliases)
    change = Change(spot.document)
    if edit.action == "rename":
        _refuse_taken(spot, edit)
        splice.rename(change, spot.holder, spot.index, str(edit.value))
    else:
        splice.replace(change, spot.holder, spot.index, edit.value)
    return spot, change


def _is_there(places: Places, path: KeyPath) -> bool:
    return places.find(path) is not None


def _refuse_taken(spot: Spot, edit: Edit) -> None:
    names = [entry.key.real.value for entry in spot.holder.entries if entry.key is not None]
    if edit.value in names and edit.value != edit.path[-1]:
        raise Refused(f"`{dotted(edit.path[:-1])}` already has `{edit.value}`")


def _refuse_shared(spot: Spot, path: KeyPath, *, through_aliases: bool) -> None:
    if spot.through and not through_aliases:
        where = f"line {spot.holder.line + 1}"
        raise Refused(
            f"`{dotted(path)}` comes through the alias at {spot.through[-1]} from {where}: a change would reach all "
            "who share it; change it at the unit that holds the anchor, or write the value out in place of the alias"
        )


def _added(places: Places, path: KeyPath, value: Raw | Written, *, through_aliases: bool) -> tuple[Spot, Change]:
    """A key or an item that is not there yet, with what has to be made around it."""
    depth = len(path) - 1
    while depth and not _is_there(places, path[:depth]):
        depth -= 1
    for step in reversed(path[depth + 1 :]):
        value = [_value(value)] if isinstance(step, int) else {str(step): _value(value)}
    above = places.find(path[:depth]) if depth else None
    document = above.document if above is not None else places.document(0)
    change = Change(document)
    holder = above.entry.value.real if above is not None else document.root
    if above is not None:
        inside = Spot(above.file, above.document, above.holder, above.index, above.through)
        if above.entry.value.kind == "alias":
            alias = f"{places.file(above.file).name}:{above.entry.value.line + 1}"
            inside = Spot(above.file, above.document, holder, 0, (*above.through, alias))
        _refuse_shared(inside, path, through_aliases=through_aliases)
    step = path[depth]
    if above is not None and holder.kind == "scalar" and holder.value is None:
        splice.replace(change, above.holder, above.index, [_value(value)] if step == 0 else {str(step): _value(value)})
        return above, change
    if holder.kind != ("list" if isinstance(step, int) else "map"):
        raise Refused(f"`{dotted(path[:depth])}` has no `{step}`: it is {_kind(holder)}")
    if isinstance(step, int):
        splice.append(change, holder, value)
    else:
        splice.insert(change, holder, step, value, language_order(path[:depth]))
    index = len(holder.entries)
    return Spot(above.file if above is not None else 0, document, holder, index), change


def _removed(places: Places, spot: Spot, path: KeyPath, *, through_aliases: bool) -> tuple[Spot, Change]:
    """Without the entry; what would be left empty around it goes, too, unless it is a thing with a name."""
    while len(spot.holder.entries) == 1 and len(path) > 1:
        above = places.find(path[:-1])
        if above is None:
            break
        if above.entry.value.kind == "alias":
            _refuse_shared(spot, path, through_aliases=through_aliases)
        path, spot = path[:-1], above
        if len(path) > 1 and path[-2] in _NAMED and len(path) % 2 == 0:
            change = Change(spot.document)
            splice.replace(change, spot.holder, spot.index, {})
            return spot, change
    _refuse_shared(spot, path, through_aliases=through_aliases)
    change = Change(spot.document)
    splice.remove(change, spot.holder, spot.index)
    return spot, change


def _value(value: Raw | Written) -> Raw:
    return value.value if isinstance(value, Written) else value


def _kind(node: Node) -> str:
    return {"map": "a mapping", "list": "a list"}.get(node.kind, f"`{node.value}`")


def language_order(path: KeyPath) -> list[str]:
    """The keys of a mapping in the order of the language; none for one of names."""
    return [key for shape in shapes_at(path) for key in shape.get("properties", ())]


def dotted(path: KeyPath) -> str:
    """A path in a message."""
    return ".".join(map(str, path))
