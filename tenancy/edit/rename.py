"""Another name for a unit, a flavor, a cluster or a priority, with everything that refers to it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tenancy.diagnostics import Edit, KeyPath
from tenancy.edit.editing import FileEdit, dotted
from tenancy.edit.errors import Refused
from tenancy.edit.nodes import Node as Text
from tenancy.edit.nodes import plain
from tenancy.edit.places import Places
from tenancy.edit.targets import value_at
from tenancy.load.fragments import KIND
from tenancy.load.source import Raw
from tenancy.model.access import parse_subject
from tenancy.model.organization import Node, Org, namespaces

_SUBJECTS: Final = ("admins", "members", "viewers", "auditors")
_SHOWN: Final = 10
_SERVICE: Final = re.compile(r"([^/]+)/(.+)", re.DOTALL)


@dataclass(slots=True)
class Renaming:
    """What is to be edited, in an order in which no edit moves the place of a later one, and what it does."""

    edits: list[Edit] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def rename(
    places: Places, org: Org, folder: Path, path: KeyPath, name: str, *, keep_namespaces: bool = True
) -> Renaming:
    """Give the thing at `path` another name. Raises Refused.

    A namespace cannot be renamed: it is made anew and the old one is deleted with its data. So the namespaces below
    a unit keep their names, written out, unless `keep_namespaces` says otherwise.
    """
    group, old = str(path[-2]), str(path[-1])
    siblings = value_at(places.sources.tree, path[:-1])
    if name == old:
        raise Refused(f"`{dotted(path)}` is called so already")
    if isinstance(siblings, dict) and name in siblings:
        raise Refused(f"there is a `{name}` in `{dotted(path[:-1])}` already")
    if group == "flavors":
        return _flavor(org, path, name)
    if group == "clusters":
        return _cluster(org, path, name)
    if group == "priorities":
        return _priority(org, path, name)
    return _unit(places, org, folder, path, name, keep_namespaces=keep_namespaces)


def _flavor(org: Org, path: KeyPath, name: str) -> Renaming:
    old = str(path[-1])
    users = [unit for unit in org.units if old in unit.budget]
    made = Renaming([Edit("rename", (*unit.path, "budget", old), name) for unit in users])
    made.edits.append(Edit("rename", path, name))
    labelled = org.document.flavors[old].labels is None
    made.said = [
        f"the flavor `{old}` goes and `{name}` is new: what runs on the old one is not counted on the new one, so "
        "drain it first (`tenancy diff` shows the steps)"
    ]
    if labelled:
        label = f"{org.document.domain}/flavor"
        made.said.append(f"its nodes get the label `{label}={name}` in place of `{label}={old}`")
    return made


def _cluster(org: Org, path: KeyPath, name: str) -> Renaming:
    old = str(path[-1])
    flavors = [each for each, flavor in org.document.flavors.items() if flavor.cluster == old]
    made = Renaming([Edit("set", ("flavors", each, "cluster"), name) for each in flavors])
    made.edits.append(Edit("rename", path, name))
    made.said = [
        f"the output moves from `{old}/` to `{name}/`: point what syncs it there before the old folder goes, or it "
        "deletes the objects of the cluster"
    ]
    return made


def _priority(org: Org, path: KeyPath, name: str) -> Renaming:
    old = str(path[-1])
    made = Renaming()
    for unit in org.units:
        for index, each in enumerate((unit.document.priorities or ()) if unit.document is not None else ()):
            if each == old:
                made.edits.append(Edit("set", (*unit.path, "priorities", index), name))
    made.edits.append(Edit("rename", path, name))
    made.said = [
        f"the priority class `{old}` is deleted and `{name}` is made: jobs that name the old one are refused from then "
        "on, those that run keep their number"
    ]
    return made


def _unit(places: Places, org: Org, folder: Path, path: KeyPath, name: str, *, keep_namespaces: bool) -> Renaming:
    unit = next((unit for unit in org.units if unit.path == path), None)
    if unit is None:
        raise Refused(f"`{dotted(path)}` cannot be read; `tenancy validate` says why")
    depth, made = len(unit.names) - 1, Renaming()
    below = [each for each in org.units if each.names[: depth + 1] == unit.names]
    followed = {old: each for old, each in _namespaces(below) if _follows(each)}
    new = {old: "-".join((*each.names[:depth], name, *each.names[depth + 1 :])) for old, each in followed.items()}
    if keep_namespaces:
        made.edits += [Edit("set", (*each.path, "namespace"), old) for old, each in followed.items()]
    else:
        made.edits += _mentions(places.sources.tree, new)
    made.edits += _parents(places, "/".join(unit.names), "/".join((*unit.names[:depth], name)))
    made.edits += _references(places, folder, path, name)
    made.edits.append(Edit("rename", path, name))
    made.said = [
        *_shortened(list(_queues(org, below, depth, name)), "queues"),
        *_shortened(list(_kept(new, keep_namespaces=keep_namespaces)), "namespaces"),
    ]
    if keep_namespaces and new and any(each.scheduler == "kueue" for each in org.document.clusters.values()):
        # The API server refuses another clusterQueue of a LocalQueue (run on Kueue 0.17.0).
        made.said.append(
            "Kueue cannot move a LocalQueue to another queue: `tenancy diff` shows what to delete by hand, and when"
        )
    return made


def _queues(org: Org, below: list[Node], depth: int, name: str) -> Iterator[str]:
    """What becomes of the queues; Kubernetes alone has none."""
    if all(cluster.scheduler == "native" for cluster in org.document.clusters.values()):
        return
    for unit in below:
        if unit.kind != "project" or unit.budget:
            renamed = "-".join((*unit.names[:depth], name, *unit.names[depth + 1 :]))
            yield f"queue `{unit.queue}` goes once its jobs have ended, `{renamed}` is made"


def _shortened(sentences: list[str], noun: str) -> Iterator[str]:
    """The first of many sentences that say the same of different things."""
    yield from sentences[:_SHOWN]
    if len(sentences) > _SHOWN:
        yield f"and so for {len(sentences) - _SHOWN} more {noun}"


def _kept(new: Mapping[str, str], *, keep_namespaces: bool) -> Iterator[str]:
    for old, name in new.items():
        if keep_namespaces:
            yield f"namespace `{old}` stays"
        else:
            yield f"namespace `{old}` is deleted with all that it holds, `{name}` is made empty"


def _namespaces(units: list[Node]) -> Iterator[tuple[str, Node]]:
    """The namespaces of the units: of a team, or of its projects, one of which may have been asked about alone."""
    for unit in units:
        if unit.kind == "team" or (unit.kind == "project" and unit.parent not in units):
            yield from namespaces(unit)


def _follows(unit: Node) -> bool:
    """Whether its namespace is called after its path."""
    return getattr(unit.document, "namespace", None) is None


def _mentions(tree: Raw, new: Mapping[str, str]) -> Iterator[Edit]:
    """Where the organization names a namespace: service accounts, services as NAMESPACE/APP:PORT, shared services."""
    for path, unit in _units((), tree):
        access, network = unit.get("access"), unit.get("network")
        for level in _SUBJECTS:
            for index, text in enumerate(_list(access, level)):
                subject = parse_subject(text) if isinstance(text, str) else None
                if subject is not None and subject.namespace in new:
                    changed = f"serviceaccount:{new[subject.namespace]}/{subject.name}"
                    yield Edit("set", (*path, "access", level, index), changed)
        egress = network.get("egress") if isinstance(network, dict) else None
        for index, text in enumerate(_list(egress, "services")):
            found = _SERVICE.fullmatch(text) if isinstance(text, str) else None
            if found is not None and found[1] in new:
                yield Edit("set", (*path, "network", "egress", "services", index), f"{new[found[1]]}/{found[2]}")
    services = value_at(tree, ("network", "services"))
    for name, service in services.items() if isinstance(services, dict) else ():
        if isinstance(service, dict) and service.get("namespace") in new:
            yield Edit("set", ("network", "services", name, "namespace"), new[service["namespace"]])


def _units(path: KeyPath, unit: Raw) -> Iterator[tuple[KeyPath, dict[str, Raw]]]:
    if not isinstance(unit, dict):
        return
    yield path, unit
    for group in ("departments", "teams", "projects"):
        inner = unit.get(group)
        for name, each in inner.items() if isinstance(inner, dict) else ():
            yield from _units((*path, group, name), each)


def _list(value: Raw, key: str) -> list[Raw]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _parents(places: Places, old: str, new: str) -> Iterator[Edit]:
    """Departments files that say where they belong by a path through the unit."""
    for number, root in _fragments(places):
        parent = plain(root).get("parent")
        if isinstance(parent, str) and (parent == old or parent.startswith(f"{old}/")):
            yield FileEdit("set", ("parent",), new + parent.removeprefix(old), file=places.file(number).name)


def _references(places: Places, folder: Path, path: KeyPath, name: str) -> Iterator[Edit]:
    """The keys `NAME: {file: …}` that stand for a department which is defined in a file of its own."""
    spot = places.find(path)
    if spot is None or path[-2] != "departments":
        return
    file = os.path.realpath(places.file(spot.file).name)
    waiting, seen = [file], {file}
    while waiting:
        file = waiting.pop()
        for number, root in [(0, places.document(0).root), *_fragments(places)]:
            for at, unit in _departments((), plain(root)):
                meant = unit.get("file")
                if at[-1] != path[-1] or not isinstance(meant, str) or os.path.realpath(folder / meant) != file:
                    continue
                source = places.file(number).name
                yield FileEdit("rename", at, name, file=source)
                if (real := os.path.realpath(source)) not in seen:
                    seen.add(real)
                    waiting.append(real)


def _departments(path: KeyPath, unit: Raw) -> Iterator[tuple[KeyPath, dict[str, Raw]]]:
    inner = unit.get("departments") if isinstance(unit, dict) else None
    for name, department in inner.items() if isinstance(inner, dict) else ():
        if isinstance(department, dict):
            at = (*path, "departments", name)
            yield at, department
            yield from _departments(at, department)


def _fragments(places: Places) -> Iterator[tuple[int, Text]]:
    """The departments files, which are those of the sources that marks lead to."""
    for number, source in enumerate(places.sources.files[1:], 1):
        if source.name.endswith((".yaml", ".yml")):
            root = places.document(number).root
            if root.kind == "map" and plain(root).get("kind") == KIND:
                yield number, root
