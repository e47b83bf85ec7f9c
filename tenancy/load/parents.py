"""Departments files that say where they belong by `parent`, or stand at the top."""

from __future__ import annotations

from tenancy.diagnostics import Related
from tenancy.load import rules
from tenancy.load.fragments import Fragment, Loading, walk
from tenancy.load.source import Raw


def place_fragments(loading: Loading, tree: dict[str, Raw]) -> None:
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


def _add(loading: Loading, tree: dict[str, Raw], fragment: Fragment, owned: set[int]) -> None:
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
            help_ = "keep one of the two, or rename one"
            loading.report(rules.DUPLICATE, f"department `{name}` is defined twice", place, help_, related)
        else:
            unit[name] = department
            loading.marks[id(unit)][name] = loading.marks[id(fragment.departments)][name]


def _report_unplaced(loading: Loading, tree: dict[str, Raw], pending: list[Fragment]) -> None:
    """Say of each file whose parent does not exist whether it waits for itself, or for nothing."""
    by_name = {name: fragment for fragment in reversed(pending) for name in fragment.departments}
    by_path = {(*fragment.parent, name): fragment for fragment in reversed(pending) for name in fragment.departments}
    waits: dict[Fragment, Fragment | None] = {}
    consequences: set[Fragment] = set()
    for fragment in pending:
        path = fragment.parent
        missing = next(size for size in range(1, len(path) + 1) if not _holds(tree, path[:size]))
        exact = next((by_path[path[:size]] for size in range(missing, len(path) + 1) if path[:size] in by_path), None)
        consequences |= {fragment} if exact else set()
        waits[fragment] = exact or by_name.get(path[missing - 1])
    reported = _report_cycles(loading, waits) | consequences
    if None in loading.fragments.values():
        return  # A file without usable content may be the one that defines the parent.
    known = ["/".join((*above, name)) for above, _, name in walk(tree.get("departments"))]
    known += map("/".join, by_path)
    by_last = {path.rpartition("/")[2]: path for path in reversed(known)}
    for fragment in (fragment for fragment in pending if fragment not in reported):
        parent = "/".join(fragment.parent)
        same = by_last.get(fragment.parent[-1])
        help_ = f"did you mean `{same}`?" if same else loading.hint(rules.PARENT_MISSING, parent, lambda: known)
        help_ = help_ or "write the path of a department, such as `research/vision`; without `parent` it is at the top"
        place = loading.place(fragment.document, "parent")
        loading.report(rules.PARENT_MISSING, f"there is no department `{parent}`", place, help_)


def _report_cycles(loading: Loading, waits: dict[Fragment, Fragment | None]) -> set[Fragment]:
    """Report every ring of files that wait for each other, once; returns the files in such rings."""
    rings, visited = set[Fragment](), set[Fragment]()
    for start in waits:
        chain: list[Fragment] = []
        fragment: Fragment | None = start
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
        help_ = "remove `parent` from one of the files, or name a department outside the circle"
        names = " inside ".join(f"`{'/'.join(member.parent)}`" for member in (*ring, ring[0]))
        loading.report(rules.CYCLE, f"the parents go round: {names}", place, help_, related)
    return rings
