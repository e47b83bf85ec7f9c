"""kustomization.yaml in every folder, with an explicit sorted list: a file that nobody listed is never applied."""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import basename, dirname

from tenancy.render.yaml import document

NAME = "kustomization.yaml"


def kustomizations(paths: Iterable[str]) -> dict[str, str]:
    """The kustomizations of the folders of `paths`: each lists its files and the folders right below it."""
    resources: dict[str, set[str]] = {}
    for path in paths:
        below, folder = path, dirname(path)
        while folder:
            resources.setdefault(folder, set()).add(basename(below))
            below, folder = folder, dirname(folder)
    return {f"{folder}/{NAME}": _kustomization(sorted(names)) for folder, names in sorted(resources.items())}


def _kustomization(resources: list[str]) -> str:
    return document(
        {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": list(resources)}
    )
