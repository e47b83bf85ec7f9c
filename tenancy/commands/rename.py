"""Give a unit, a flavor, a cluster or a priority another name."""

from __future__ import annotations

from pathlib import Path

from tenancy.commands.changing import Asked, Made, change
from tenancy.commands.status import Status
from tenancy.edit.editing import Texts, edited
from tenancy.edit.errors import Refused
from tenancy.edit.rename import rename as planned
from tenancy.edit.targets import target
from tenancy.pipeline import Examined


def rename(asked: Asked, unit: str, name: str, *, keep_namespaces: bool) -> Status:
    """Rename it wherever it is named; its namespaces stay unless they are to follow."""

    def make(path: Path, before: Examined) -> Made:
        if before.org is None:
            raise Refused("the organization has errors that hide what is called what; `tenancy validate` shows them")
        texts = Texts(path, sources=before.sources)
        places = texts.places()
        where = target(places.sources.tree, unit)
        if not where:
            raise Refused(f"the organization is renamed by `tenancy set {unit} name={name}`")
        folder = path if path.is_dir() else path.parent
        made = planned(places, before.org, folder, where, name, keep_namespaces=keep_namespaces)
        changed = edited(texts, made.edits, through_aliases=True)
        return Made(changed, tuple(made.edits), (*made.said, *_templates(before, where[-1])))

    return change(asked, make)


def _templates(before: Examined, name: str | int) -> list[str]:
    """Templates of users may hold the old name; they are programs, and nobody but their author can tell."""
    files = before.sources.files if before.sources is not None else ()
    return [
        f"`{source.name}` mentions `{name}`: look whether it must change, too"
        for source in files
        if source.name.endswith(".j2") and str(name) in source.text
    ]
