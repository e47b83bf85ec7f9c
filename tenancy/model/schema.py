"""The JSON Schemas of the language, generated from the models, and the keys that may stand at a path.

Editors read the schemas from `schemas/`; `tenancy schema` prints them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from tenancy.diagnostics import KeyPath
from tenancy.model.document import DepartmentReference, Departments, Organization

DOCUMENTS: Mapping[str, type[BaseModel]] = {"organization": Organization, "departments": Departments}
"""The kinds of files under org/, by the name of their schema."""


@lru_cache(maxsize=len(DOCUMENTS))
def schema(name: str) -> Mapping[str, Any]:
    """The JSON Schema (draft 2020-12) of a kind of file, from `DOCUMENTS`."""
    generated = DOCUMENTS[name].model_json_schema(by_alias=True, mode="validation")
    if name == "organization":
        _allow_references(generated)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"tenancy {name}",
        **{key: value for key, value in generated.items() if key != "title"},
    }


@lru_cache(maxsize=len(DOCUMENTS))
def text(name: str) -> str:
    """The schema as it is committed: stable bytes, one key a line."""
    return json.dumps(schema(name), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def keys_at(path: KeyPath) -> list[str]:
    """The keys that the language has inside the mapping at `path` of an organization; names are not listed."""
    return sorted({key for shape in shapes_at(path) for key in shape.get("properties", ())})


def shapes_at(path: KeyPath) -> list[Mapping[str, Any]]:
    """The schemas of what may stand at `path` of an organization, a member for each alternative."""
    root = schema("organization")
    nodes: list[Mapping[str, Any]] = [root]
    for step in path:
        nodes = [child for node in nodes for child in _children(node, step, root)]
    return [member for node in nodes for member in _members(node, root)]


def _children(node: Mapping[str, Any], step: str | int, root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for member in _members(node, root):
        properties = member.get("properties", {})
        if isinstance(step, int):
            if isinstance(member.get("items"), dict):
                yield member["items"]
        elif step in properties:
            yield properties[step]
        elif isinstance(member.get("additionalProperties"), dict):
            yield member["additionalProperties"]


def _members(node: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A schema with its references followed and its alternatives spread out."""
    if "$ref" in node:
        yield from _members(root["$defs"][node["$ref"].rsplit("/", 1)[1]], root)
        return
    alternatives = [*node.get("anyOf", ()), *node.get("oneOf", ())]
    for alternative in alternatives:
        yield from _members(alternative, root)
    if not alternatives:
        yield node


def _allow_references(generated: dict[str, Any]) -> None:
    """Let a department of org.yaml be a reference to its file, which the loader replaces before the models see it."""
    reference = DepartmentReference.model_json_schema(by_alias=True)
    generated["$defs"]["DepartmentReference"] = reference
    departments = generated["properties"]["departments"]
    departments["additionalProperties"] = {
        "anyOf": [departments["additionalProperties"], {"$ref": "#/$defs/DepartmentReference"}]
    }
