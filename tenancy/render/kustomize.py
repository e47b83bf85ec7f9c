"""kustomization.yaml in every folder, with an explicit sorted list: a file that nobody listed is never applied."""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import basename, dirname, relpath
from typing import Final

from tenancy.render.yaml import document

NAME: Final = "kustomization.yaml"
APART: Final = ("argocd", "flux")
"""Folders that the cluster's own does not list: they are for the cluster of the engine, which then applies the rest."""


def kustomizations(paths: Iterable[str]) -> dict[str, str]:
    """The kustomizations of the folders of `paths`: each lists its files and the folders right below it."""
    resources: dict[str, set[str]] = {}
    for path in paths:
        below, folder = path, dirname(path)
        while folder and not _apart(below):
            resources.setdefault(folder, set()).add(basename(below))
            below, folder = folder, dirname(folder)
    return {f"{folder}/{NAME}": _kustomization(sorted(names)) for folder, names in sorted(resources.items())}


def selection(path: str, folders: Iterable[str]) -> dict[str, str]:
    """The kustomization of a folder that lists other folders of out/."""
    return {f"{path}/{NAME}": _kustomization([relpath(folder, path) for folder in folders])}


def _apart(folder: str) -> bool:
    """Whether the folder is one of `APART`, right below that of a cluster."""
    return basename(folder) in APART and folder.count("/") == 1


def _kustomization(resources: list[str]) -> str:
    return document(
        {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": list(resources)}
    )
