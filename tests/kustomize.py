"""What `kustomize build` of a folder gives, read by the kustomizations alone, from files in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from posixpath import dirname, join, normpath
from typing import Any, TypeAlias

import yaml

NAME = "kustomization.yaml"

Identity: TypeAlias = tuple[str, str, str, str]
"""API group and version, kind, namespace and name."""


@lru_cache(maxsize=256)  # a law looks at the same files from several sides
def documents(text: str) -> list[dict[str, Any]]:
    """The documents of a file; nobody changes them."""
    return [document for document in yaml.load_all(text, yaml.CSafeLoader) if document]


def build(files: Mapping[str, str], folder: str) -> Iterator[dict[str, Any]]:
    """The objects that a folder lists. As in kustomize, a file must lie in the folder that lists it."""
    for resource in documents(files[f"{folder}/{NAME}"])[0]["resources"]:
        path = normpath(join(folder, resource))
        if path in files:
            assert dirname(path) == folder, f"{folder} lists a file of another folder: {resource}"
            yield from documents(files[path])
        else:
            yield from build(files, path)


def identity(obj: Mapping[str, Any]) -> Identity:
    """What makes an object one."""
    metadata = obj["metadata"]
    return obj["apiVersion"], obj["kind"], metadata.get("namespace", ""), metadata["name"]


def objects(files: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of out/ with the path of its file."""
    for path, text in files.items():
        if path.endswith(".yaml") and not path.endswith(f"/{NAME}"):
            yield from ((path, document) for document in documents(text) if "kind" in document)
