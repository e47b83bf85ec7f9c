"""Where the values of a merged organization are written: which file, which node, and through which aliases."""

from __future__ import annotations

from dataclasses import dataclass, field

from tenancy.diagnostics import KeyPath
from tenancy.edit.nodes import Document, Entry, Node, compose
from tenancy.load.source import Raw, SourceFile, Sources


@dataclass(frozen=True, slots=True)
class Spot:
    """An entry of a map or an item of a list, as it is written."""

    file: int
    document: Document
    holder: Node
    index: int
    through: tuple[str, ...] = ()
    """The aliases on the way to it, as `FILE:LINE`: it is written elsewhere, and others have it, too."""

    @property
    def entry(self) -> Entry:
        """The key and the value."""
        return self.holder.entries[self.index]


@dataclass(slots=True)
class Places:
    """The files of an organization as nodes, each composed when it is first asked for."""

    sources: Sources
    documents: dict[int, Document] = field(default_factory=dict)

    def document(self, file: int) -> Document:
        """The nodes of a file."""
        if file not in self.documents:
            self.documents[file] = compose(self.sources.files[file].text.removeprefix("\ufeff"))
        return self.documents[file]

    def file(self, number: int) -> SourceFile:
        """The name and text of a file."""
        return self.sources.files[number]

    def find(self, path: KeyPath) -> Spot | None:
        """The entry that ends a path; None where nobody wrote it."""
        container: Raw = self.sources.tree
        spot: Spot | None = None
        through: tuple[str, ...] = ()
        for step in path:
            mark = self.sources.marks.get(id(container), {}).get(step) if isinstance(container, dict | list) else None
            if mark is None:
                return None
            if spot is not None and spot.entry.value.kind == "alias":
                alias = spot.entry.value
                through = (*through, f"{self.file(spot.file).name}:{alias.line + 1}")
            document = self.document(mark.file)
            known = document.keys if isinstance(container, dict) else document.items
            place = known.get((mark.key_line, mark.key_column))
            if place is None:
                return None
            spot = Spot(mark.file, document, *place, through)
            container = container[step]
        return spot

    def inside(self, file: str, path: KeyPath) -> Spot | None:
        """The entry that ends a path in one file, as that file has it: `parent`, or a reference to another file."""
        number = next(number for number, source in enumerate(self.sources.files) if source.name == file)
        document = self.document(number)
        node, spot = document.root, None
        for step in path:
            found = [index for index, each in enumerate(node.entries) if each.key and each.key.value == step]
            if not found:
                return None
            spot = Spot(number, document, node, found[-1])
            node = spot.entry.value.real
        return spot

    def others(self, spot: Spot) -> list[str]:
        """The aliases of the file through which others have what is written at a spot, as `FILE:LINE`."""
        found = [
            alias
            for alias in spot.document.aliases
            if alias.target is not None and spot.document.holds(alias.target, spot.holder)
        ]
        anchored = spot.entry.value if spot.index < len(spot.holder.entries) else None
        found += [alias for alias in spot.document.aliases if alias.target is anchored and anchored is not None]
        return [f"{self.file(spot.file).name}:{alias.line + 1}" for alias in found]
