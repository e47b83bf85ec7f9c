"""Departments that are defined in a file of their own: `file:` in place of a definition."""

from __future__ import annotations

import os
from pathlib import Path

from tenancy.diagnostics import Place, Related
from tenancy.load import rules
from tenancy.load.fragments import Fragment, Loading, Reference, walk
from tenancy.load.source import Raw
from tenancy.load.text import shown


def _references(departments: Raw, owner: Fragment | None) -> list[Reference]:
    """The departments that say `file:` in place of a definition."""
    found = [(at, holder, name) for at, holder, name in walk(departments) if isinstance(holder[name], dict)]
    return [Reference(holder, name, above, owner) for above, holder, name in found if "file" in holder[name]]


def follow_references(loading: Loading, tree: dict[str, Raw]) -> None:
    """Replace every reference by the definition in its file, or by an empty department where that cannot be had."""
    waiting = _references(tree.get("departments"), None)
    for fragment in loading.fragments.values():
        waiting += _references(fragment.departments, fragment) if fragment else ()
    slots: dict[tuple[int, str], tuple[dict[str, Raw], dict[str, Raw]]] = {}
    broken: list[Reference] = []
    for reference in waiting:
        known = len(loading.fragments)  # Counted before _target, which may read a file.
        target = _target(loading, reference, waiting)
        if len(loading.fragments) > known:
            waiting += _references(target.departments, target) if target else ()
        if target is None:
            broken.append(reference)
        else:
            slots[id(reference.holder), reference.key] = (reference.holder, target.departments)
    for fragment in filter(None, loading.fragments.values()):
        if fragment.reference and fragment.parent and fragment.parent != fragment.location():
            where = "/".join(fragment.location())
            message = f"`parent` is `{'/'.join(fragment.parent)}`, but the reference to the file stands "
            message += f"in `{where}`" if where else "at the top of org.yaml"
            place = loading.place(fragment.document, "parent")
            loading.report(
                rules.PARENT_CONFLICT,
                message,
                place,
                "remove `parent`: the reference says where the department belongs",
            )
    for reference in broken:
        reference.holder[reference.key] = {}
        loading.marks[id(reference.holder[reference.key])] = {}
    for (_, key), (holder, source) in slots.items():
        definition = source
        while (id(definition), key) in slots:
            definition = slots[id(definition), key][1]
        holder[key] = definition[key]
        loading.marks[id(holder)][key] = loading.marks[id(definition)][key]


def _target(loading: Loading, reference: Reference, all_: list[Reference]) -> Fragment | None:
    """The file that a reference means, now bound to it; None, with a report, where it cannot be used."""
    department = reference.holder[reference.key]
    name, place = department["file"], loading.place(department, "file")
    for key in (key for key in department if key != "file"):
        beside = loading.place(department, key, of_key=True)
        loading.report(rules.FILE_KEYS, f"`{key}` stands beside `file`", beside, f"move `{key}` into {_file(name)}")
    text = name if isinstance(name, str) and "\0" not in name else ""
    path, root = loading.folder / text, os.path.realpath(loading.folder)
    if not Path(os.path.realpath(path)).is_relative_to(root):
        message = f"`{name}` lies outside `{shown(loading.folder)}`"
        help_ = f"move the file to `{shown(loading.folder)}/departments/`, and write its path relative to org.yaml"
        loading.report(rules.FILE_OUTSIDE, message, place, help_)
        return None
    if not os.path.isfile(path):
        help_ = loading.hint(rules.FILE_MISSING, text, lambda: _free(loading, root, all_))
        create = f"create the file with a definition of `{reference.key}`, or " if text else ""
        help_ = help_ or f"{create}write the path of a file, relative to the folder of org.yaml"
        message = f"there is no file `{text}`" if text else "`file` is not the path of a file"
        loading.report(rules.FILE_MISSING, message, place, help_)
        return None
    fragment = loading.fragment(path)
    if fragment is None or not _is_first(loading, reference, fragment, place):
        return None
    fragment.reference = reference
    if fragment.departments.keys() != {reference.key}:
        found = ", ".join(f"`{key}`" for key in fragment.departments) or "nothing"
        help_ = f"define `{reference.key}` alone in `{name}`, and give every other department a file of its own"
        loading.report(rules.FILE_CONTENT, f"`{name}` defines {found}, not `{reference.key}` alone", place, help_)
    return fragment if reference.key in fragment.departments else None


def _file(name: Raw) -> str:
    return f"`{name}`" if isinstance(name, str) else "the file"


def _free(loading: Loading, root: str, references: list[Reference]) -> list[str]:
    """The files that no reference names: one that is taken is hardly the one that was meant."""
    taken = {os.path.normpath(name) for each in references if isinstance(name := each.holder[each.key]["file"], str)}
    files = [os.path.relpath(file, root) for file in loading.fragments]
    return [file.replace(os.sep, "/") for file in files if file not in taken]


def _is_first(loading: Loading, reference: Reference, fragment: Fragment, place: Place) -> bool:
    """Whether nothing refers to the file so far, nor does it contain this reference; reports it otherwise."""
    chain, owner = [reference], reference.owner
    while owner is not None and owner is not fragment and owner.reference is not None:
        chain.append(owner.reference)
        owner = owner.reference.owner
    if owner is fragment:
        related = [("which is referenced here", link) for link in chain[1:]]
        rule, help_ = rules.CYCLE, "remove one of the references"
        message = f"the reference goes round: {' inside '.join(f'`{link.key}`' for link in (*chain, reference))}"
    elif fragment.reference is not None:
        related = [("first referenced here", fragment.reference)]
        rule, help_ = rules.FILE_TWICE, "give each department a file of its own"
        message = f"`{reference.holder[reference.key]['file']}` is referenced twice"
    else:
        return True
    places = [Related(label, loading.place(link.holder[link.key], "file")) for label, link in related]
    loading.report(rule, message, place, help_, places)
    return False
