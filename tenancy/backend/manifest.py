"""What a backend hands on: files of objects, and documents to be rendered from a template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


class Nonconforming(Exception):
    """Something of our own that its schema refuses: a fault of the compiler, never of the organization."""


Object: TypeAlias = dict[str, Any]
"""A Kubernetes object as plain data."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A value in the data of a ConfigMap, which holds only text: this document as YAML."""

    document: Any


@dataclass(frozen=True, slots=True)
class Manifest:
    """Objects that go to one file of out/."""

    path: str
    objects: tuple[Object, ...]
    listed: bool = True
    """Whether the kustomization of its folder lists it; what is not listed is applied by a person."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A folder of out/ that lists other folders: what one Application applies."""

    path: str
    folders: tuple[str, ...]
    """Relative to the cluster's folder, sorted. Kustomize takes folders from anywhere, files from its own alone."""


@dataclass(frozen=True, slots=True)
class Page:
    """A document that goes to one file of out/, from a template under templates/ and its values."""

    path: str
    template: str
    values: Mapping[str, Any]
