"""The files of out/ as text: objects in their canonical spelling, documents, and the kustomizations that list them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenancy.backend.manifest import Embedded, Manifest, Nonconforming, Object, Page, Selection
from tenancy.render.conform import Checker
from tenancy.render.kustomize import kustomizations, selection
from tenancy.render.pages import page, pages
from tenancy.render.yaml import document, documents


def render(
    cluster: str, items: Iterable[Manifest | Page | Selection], check: Checker, custom: Iterable[Manifest] = ()
) -> dict[str, str]:
    """The text of each file of a cluster, by its path in out/. Every object is checked before it becomes text.

    `custom` is what users' templates make; `tenancy.render.custom` has checked it, with the users' own schemas.
    """
    files: dict[str, str] = {}
    applied: list[str] = []
    environment = None
    for item in items:
        path = f"{cluster}/{item.path}"
        if isinstance(item, Page):
            environment = environment or pages()
            files[path] = page(environment, item.template, item.values)
        elif isinstance(item, Selection):
            files |= selection(path, [f"{cluster}/{folder}" for folder in item.folders])
        elif item.objects:
            objects = [_in_text(obj) for obj in item.objects]
            for obj in objects:
                if violations := check(obj):
                    raise Nonconforming(_story(path, obj, violations))
            files[path] = documents(objects)
            if item.listed:
                applied.append(path)
    for manifest in custom:
        files[f"{cluster}/{manifest.path}"] = documents(manifest.objects)
        applied.append(f"{cluster}/{manifest.path}")
    return {**files, **kustomizations(applied)}


def _in_text(obj: Object) -> Object:
    """The object with the documents that its data holds as text."""
    if obj["kind"] != "ConfigMap":
        return obj
    data = {key: document(it.document) if isinstance(it, Embedded) else it for key, it in obj["data"].items()}
    return {**obj, "data": data}


def _story(path: str, obj: dict[str, Any], violations: list[str]) -> str:
    name = obj.get("metadata", {}).get("name", "?")
    return f"{path}: {obj.get('kind')} {name} does not conform to its schema: {'; '.join(violations)}"
