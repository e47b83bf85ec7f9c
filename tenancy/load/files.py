"""The files of an organization -> one merged tree with its sources.

`org.yaml` is the root. Files under `departments/` beside it add departments: at the place that refers to them by
`file:`, else inside the department that their `parent` names, else at the top. The module is one piece because
references and parents decide together where a file belongs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tenancy.diagnostics import Diagnostic, Place, Related, Rule
from tenancy.load import events, rules, yaml
from tenancy.load.source import Marks, Raw, SourceFile, Sources
from tenancy.load.templates import Extensions, read_extensions
from tenancy.load.text import read_text, shown

API_VERSION: Final = "tenancy/v1alpha1"
KIND: Final = "Departments"
_KEYS: Final = ("apiVersion", "kind", "parent", "departments")
_ROOT_NAMES: Final = ("org.yaml", "org.yml")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A merged organization. `tree` is None where org.yaml itself has no usable content: only `sources` count then."""

    tree: dict[str, Raw] | None
    sources: Sources
    extensions: Extensions


@dataclass(slots=True, eq=False)
class _Fragment:
    """A departments file; `reference` is the place that refers to it, where there is one."""

    document: dict[str, Raw]
    departments: dict[str, Raw]
    parent: tuple[str, ...] = ()
    reference: _Reference | None = None

    def location(self) -> tuple[str, ...]:
        """The path of the department that this file's departments go into."""
        fragment, path = self, tuple[str, ...]()
        while fragment.reference is not None:
            path = fragment.reference.above + path
            if fragment.reference.owner is None:
                return path
            fragment = fragment.reference.owner
        return fragment.parent + path


@dataclass(slots=True, eq=False)
class _Reference:
    """A department `key: {file: ...}` of the mapping `holder`, inside `above`, in the file `owner` or org.yaml."""

    holder: dict[str, Raw]
    key: str
    above: tuple[str, ...]
    owner: _Fragment | None


@dataclass(slots=True)
class _Loading:
    """What was read so far: the folder of the organization, its files, and what is wrong with them."""

    folder: Path
    files: list[SourceFile] = field(default_factory=list)
    marks: Marks = field(default_factory=dict)
    ignores: dict[tuple[str, int], frozenset[str]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    fragments: dict[str, _Fragment | None] = field(default_factory=dict)
    """Departments files by real path; None for one that has no usable content."""

    def report(self, rule: Rule, message: str, place: Place, help_: str = "", related: Iterable[Related] = ()) -> None:
        self.diagnostics.append(Diagnostic(rule=rule, message=message, place=place, help=help_, related=tuple(related)))

    def place(self, container: Raw, key: str, *, of_key: bool = False) -> Place:
        """The span of an entry's value; of its key where that is asked for, or the value is a container."""
        mark = self.marks[id(container)][key]
        name = self.files[mark.file].name
        if of_key or isinstance(container[key], dict | list):
            return Place(name, mark.key_line + 1, mark.key_column + 1, mark.key_line + 1, mark.key_end_column + 1)
        return Place(name, mark.line + 1, mark.column + 1, mark.end_line + 1, mark.end_column + 1)

    def read(self, path: Path) -> dict[str, Raw] | None:
        """The tree of one file, which joins the files even where it has no usable content."""
        name = shown(path)
        text, problem = read_text(path, name)
        self.files.append(SourceFile(name, text))
        if problem is not None:
            self.diagnostics.append(problem)
            return None
        parsed = yaml.parse(text, len(self.files) - 1, name)
        self.marks |= parsed.marks
        self.ignores |= {(name, line): codes for line, codes in parsed.ignores.items()}
        self.diagnostics += parsed.diagnostics
        return parsed.tree

    def fragment(self, path: Path) -> _Fragment | None:
        """The departments file at `path`, read once."""
        real = os.path.realpath(path)
        if real not in self.fragments:
            document = self.read(path)
            self.fragments[real] = _fragment(self, document) if document is not None else None
        return self.fragments[real]


def load(org: Path) -> tuple[Loaded | None, list[Diagnostic]]:
    """Read the organization in the folder `org`, or with the root file `org`; None where no root can be read."""
    root, problems = _root(org)
    if root is None:
        return None, problems
    loading = _Loading(root.parent, diagnostics=problems)
    tree = loading.read(root)
    if any(found.code in rules.COULD_NOT_CHECK for found in loading.diagnostics):
        return None, loading.diagnostics
    for path in _department_files(loading):
        if os.path.realpath(path) != os.path.realpath(root):
            loading.fragment(path)
    if tree is not None:
        _follow_references(loading, tree)
        _place_fragments(loading, tree)
    extensions, files = read_extensions(loading.folder)
    sources = Sources((*loading.files, *files), tree, loading.marks, loading.ignores)
    return Loaded(tree, sources, extensions), loading.diagnostics


def _root(org: Path) -> tuple[Path | None, list[Diagnostic]]:
    if os.path.lexists(org) and not os.path.isdir(org):
        return org, []
    found = [org / name for name in _ROOT_NAMES if os.path.lexists(org / name)]
    if len(found) == 1:
        return found[0], []
    rule, message = rules.ORG_AMBIGUOUS, "There are both an org.yaml and an org.yml."
    help_ = "Delete one; org.yaml is the one that was read."
    if not found:
        rule, help_ = rules.ORG_MISSING, "Write an organization with `tenancy init`, or name another folder."
        message = f"{shown(org)} holds no org.yaml." if os.path.isdir(org) else f"{shown(org)} does not exist."
    place = Place(shown(org / _ROOT_NAMES[0]))
    return next(iter(found), None), [Diagnostic(rule=rule, message=message, place=place, help=help_)]


def _department_files(loading: _Loading) -> list[Path]:
    """The YAML files under departments/, in the order of their paths; each folder once, whatever links lead to it."""
    found: list[Path] = []
    seen: set[str] = set()

    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            loading.diagnostics.append(rules.unreadable(shown(Path(error.filename)), str(error.strerror)))

    for name, inner, names in os.walk(loading.folder / "departments", followlinks=True, onerror=unreadable):
        seen.add(os.path.realpath(name))
        visible = sorted(each for each in inner if not each.startswith("."))
        inner[:] = (each for each in visible if os.path.realpath(os.path.join(name, each)) not in seen)
        found += (Path(name, each) for each in names if not each.startswith(".") and each.endswith((".yaml", ".yml")))
    return sorted(found, key=lambda path: path.relative_to(loading.folder).as_posix())


def _fragment(loading: _Loading, document: dict[str, Raw]) -> _Fragment | None:
    """The document as a departments file; reports what is wrong with its envelope, None where it cannot be merged."""

    def report(rule: Rule, key: str, message: str, help_: str, *, of_key: bool = False) -> None:
        place = loading.place(document, key, of_key=of_key) if key in document else Place(loading.files[-1].name)
        loading.report(rule, message if key in document else f"The file has no `{key}`.", place, help_)

    for key, expected, rule in (("kind", KIND, rules.KIND), ("apiVersion", API_VERSION, rules.API_VERSION)):
        if document.get(key) != expected:
            report(rule, key, f"The {key} is {repr(document.get(key))[:60]}.", f"Write `{key}: {expected}`.")
    if document.get("kind") != KIND:
        return None
    for key in (key for key in document if key not in _KEYS):
        help_ = rules.did_you_mean(key, _KEYS) or f"The keys are {', '.join(_KEYS)}."
        report(rules.KEY, key, f"The key `{key}` is unknown here.", help_, of_key=True)
    departments, parent = document.get("departments"), document.get("parent") or ""
    if not isinstance(departments, dict):
        report(rules.SHAPE, "departments", "`departments` is not a mapping.", "Write one key per department in it.")
        return None
    if not isinstance(parent, str):
        report(rules.SHAPE, "parent", "`parent` is not text.", "Write a path such as `research/vision`, or quotes.")
        return None
    return _Fragment(document, departments, tuple(parent.split("/", events.MAX_DEPTH)) if parent else ())


def _walk(departments: Raw) -> Iterator[tuple[tuple[str, ...], dict[str, Raw], str]]:
    """Every department once: the path of the mapping that holds it, that mapping, and its name."""
    waiting: list[tuple[tuple[str, ...], Raw]] = [((), departments)]
    seen: set[int] = set()
    while waiting:
        above, holder = waiting.pop()
        if not isinstance(holder, dict) or id(holder) in seen:
            continue
        seen.add(id(holder))
        yield from ((above, holder, name) for name in holder)
        units = [(name, unit) for name, unit in holder.items() if isinstance(unit, dict)]
        waiting += (((*above, name), unit.get("departments")) for name, unit in reversed(units))


def _references(departments: Raw, owner: _Fragment | None) -> list[_Reference]:
    """The departments that say `file:` in place of a definition."""
    found = [(at, holder, name) for at, holder, name in _walk(departments) if isinstance(holder[name], dict)]
    return [_Reference(holder, name, above, owner) for above, holder, name in found if "file" in holder[name]]


def _follow_references(loading: _Loading, tree: dict[str, Raw]) -> None:
    """Replace every reference by the definition in its file, or by an empty department where that cannot be had."""
    waiting = _references(tree.get("departments"), None)
    for fragment in loading.fragments.values():
        waiting += _references(fragment.departments, fragment) if fragment else ()
    slots: dict[tuple[int, str], tuple[dict[str, Raw], dict[str, Raw]]] = {}
    broken: list[_Reference] = []
    for reference in waiting:
        known, target = len(loading.fragments), _target(loading, reference)  # In this order: _target may read a file.
        if len(loading.fragments) > known:
            waiting += _references(target.departments, target) if target else ()
        if target is None:
            broken.append(reference)
        else:
            slots[id(reference.holder), reference.key] = (reference.holder, target.departments)
    for fragment in filter(None, loading.fragments.values()):
        if fragment.reference and fragment.parent and fragment.parent != fragment.location():
            message = f"The reference places the file in `{'/'.join(fragment.location()) or 'departments'}`."
            place = loading.place(fragment.document, "parent")
            loading.report(rules.PARENT_CONFLICT, message, place, "Leave `parent` out.")
    for reference in broken:
        reference.holder[reference.key] = {}
        loading.marks[id(reference.holder[reference.key])] = {}
    for (_, key), (holder, source) in slots.items():
        definition = source
        while (id(definition), key) in slots:
            definition = slots[id(definition), key][1]
        holder[key] = definition[key]
        loading.marks[id(holder)][key] = loading.marks[id(definition)][key]


def _target(loading: _Loading, reference: _Reference) -> _Fragment | None:
    """The file that a reference means, now bound to it; None, with a report, where it cannot be used."""
    department = reference.holder[reference.key]
    name, place = department["file"], loading.place(department, "file")
    for key in (key for key in department if key != "file"):
        beside = loading.place(department, key, of_key=True)
        loading.report(rules.FILE_KEYS, f"The key `{key}` stands beside `file`.", beside, "Move it into the file.")
    text = name if isinstance(name, str) and "\0" not in name else ""
    path, root = loading.folder / text, os.path.realpath(loading.folder)
    if not Path(os.path.realpath(path)).is_relative_to(root):
        message, help_ = f"{name} lies outside {shown(loading.folder)}.", "Name a file in the folder of org.yaml."
        loading.report(rules.FILE_OUTSIDE, message, place, help_)
        return None
    if not os.path.isfile(path):
        known = [os.path.relpath(file, root).replace(os.sep, "/") for file in loading.fragments]
        help_ = rules.did_you_mean(text, known) or "The path is relative to the folder of org.yaml."
        message = f"There is no file {text}." if text else "`file` is not the path of a file."
        loading.report(rules.FILE_MISSING, message, place, help_)
        return None
    fragment = loading.fragment(path)
    if fragment is None or not _is_first(loading, reference, fragment, place):
        return None
    fragment.reference = reference
    if fragment.departments.keys() != {reference.key}:
        found = ", ".join(f"`{key}`" for key in fragment.departments) or "nothing"
        help_ = f"Define `{reference.key}` alone in {name}, or refer to each department's own file."
        loading.report(rules.FILE_CONTENT, f"{name} defines {found}, not just `{reference.key}`.", place, help_)
    return fragment if reference.key in fragment.departments else None


def _is_first(loading: _Loading, reference: _Reference, fragment: _Fragment, place: Place) -> bool:
    """Whether nothing refers to the file so far, nor does it contain this reference; reports it otherwise."""
    chain, owner = [reference], reference.owner
    while owner is not None and owner is not fragment and owner.reference is not None:
        chain.append(owner.reference)
        owner = owner.reference.owner
    if owner is fragment:
        related = [("which is referenced here", link) for link in chain[1:]]
        rule, help_ = rules.CYCLE, "Take one of the references out."
        message = f"The reference goes round: {' inside '.join(f'`{link.key}`' for link in (*chain, reference))}."
    elif fragment.reference is not None:
        related = [("first referenced here", fragment.reference)]
        rule, help_ = rules.FILE_TWICE, "Give each department a file of its own."
        message = f"{reference.holder[reference.key]['file']} is referenced twice."
    else:
        return True
    places = [Related(label, loading.place(link.holder[link.key], "file")) for label, link in related]
    loading.report(rule, message, place, help_, places)
    return False


def _place_fragments(loading: _Loading, tree: dict[str, Raw]) -> None:
    """Put the departments of every file without a reference where its `parent` says, in the order of the files."""
    owned: set[int] = set()
    pending = [fragment for fragment in loading.fragments.values() if fragment and not fragment.reference]
    while ready := {fragment: None for fragment in pending if _holds(tree, fragment.parent)}:
        for fragment in ready:
            _add(loading, tree, fragment, owned)
        pending = [fragment for fragment in pending if fragment not in ready]
    if pending:
        _report_unplaced(loading, tree, pending)


def _holds(tree: dict[str, Raw], path: tuple[str, ...]) -> bool:
    """Whether the department at `path` exists, whatever its value is; the empty path is the organization."""
    unit: Raw = tree
    for name in path:
        unit = unit.get("departments") if isinstance(unit, dict) else None
        if not isinstance(unit, dict) or name not in unit:
            return False
        unit = unit[name]
    return True


def _add(loading: _Loading, tree: dict[str, Raw], fragment: _Fragment, owned: set[int]) -> None:
    """Add to the parent's `departments`. Mappings on the way are copied once, since an alias may share them."""
    unit: Raw = tree
    steps = [step for name in fragment.parent for step in ("departments", name)] + ["departments"]
    for step in steps:
        inner = unit.get(step)
        if inner is not None and not isinstance(inner, dict):
            return  # The model reports what is no mapping; there is nothing to add to.
        if id(inner) not in owned:
            unit[step] = copy = dict(inner or {})
            loading.marks[id(unit)].setdefault(step, loading.marks[id(fragment.document)]["departments"])
            loading.marks[id(copy)] = {} if inner is None else dict(loading.marks[id(inner)])
            owned.add(id(copy))
        unit = unit[step]
    for name, department in fragment.departments.items():
        if name in unit:
            place = loading.place(fragment.departments, name, of_key=True)
            related = [Related("first defined here", loading.place(unit, name, of_key=True))]
            help_ = "Keep one of the two, or rename one."
            loading.report(rules.DUPLICATE, f"The department `{name}` is defined twice.", place, help_, related)
        else:
            unit[name] = department
            loading.marks[id(unit)][name] = loading.marks[id(fragment.departments)][name]


def _report_unplaced(loading: _Loading, tree: dict[str, Raw], pending: list[_Fragment]) -> None:
    """Say of each file whose parent does not exist whether it waits for itself, or for nothing."""
    by_name = {name: fragment for fragment in reversed(pending) for name in fragment.departments}
    by_path = {(*fragment.parent, name): fragment for fragment in reversed(pending) for name in fragment.departments}
    waits: dict[_Fragment, _Fragment | None] = {}
    consequences: set[_Fragment] = set()
    for fragment in pending:
        path = fragment.parent
        missing = next(size for size in range(1, len(path) + 1) if not _holds(tree, path[:size]))
        exact = next((by_path[path[:size]] for size in range(missing, len(path) + 1) if path[:size] in by_path), None)
        consequences |= {fragment} if exact else set()
        waits[fragment] = exact or by_name.get(path[missing - 1])
    reported = _report_cycles(loading, waits) | consequences
    if None in loading.fragments.values():
        return  # A file without usable content may be the one that defines the parent.
    known = ["/".join((*above, name)) for above, _, name in _walk(tree.get("departments"))]
    known += map("/".join, by_path)
    for fragment in (fragment for fragment in pending if fragment not in reported):
        parent = "/".join(fragment.parent)
        same = [path for path in known if path.split("/")[-1] == fragment.parent[-1]][:1]
        help_ = f"Did you mean `{same[0]}`?" if same else rules.did_you_mean(parent, known)
        place = loading.place(fragment.document, "parent")
        loading.report(rules.PARENT_MISSING, f"There is no department `{parent}`.", place, help_)


def _report_cycles(loading: _Loading, waits: dict[_Fragment, _Fragment | None]) -> set[_Fragment]:
    """Report every ring of files that wait for each other, once; returns the files in such rings."""
    rings, visited = set[_Fragment](), set[_Fragment]()
    for start in waits:
        chain: list[_Fragment] = []
        fragment: _Fragment | None = start
        while fragment is not None and fragment not in visited:
            visited.add(fragment)
            chain.append(fragment)
            fragment = waits.get(fragment)
        if fragment is None or fragment not in chain:
            continue
        ring = chain[chain.index(fragment) :]
        rings.update(ring)
        place, *others = (loading.place(member.document, "parent") for member in ring)
        related = [Related("which waits for the parent here", found) for found in others]
        names = " inside ".join(f"`{'/'.join(member.parent)}`" for member in (*ring, ring[0]))
        loading.report(rules.CYCLE, f"The parents go round: {names}.", place, "Put one of them at the top.", related)
    return rings
