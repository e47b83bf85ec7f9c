"""The enumerations that an API server adds to the OpenAPI which its release publishes, out of the release's Go source.

Kubernetes' hack/update-openapi-spec.sh writes swagger.json with the feature OpenAPIEnums off; a server has it on.
What it serves then is generated Go, pkg/generated/openapi/zz_generated.openapi.go, in the published module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from tools.openapi import Schema

_FUNCTION = re.compile(r"^func schema_k8sio_api_(\w+)\(.*?\n(.*?)^}", re.MULTILINE | re.DOTALL)
_PROPERTY = re.compile(r'^\t{5}"(\w+)": \{\n(.*?)^\t{5}\},', re.MULTILINE | re.DOTALL)
_PART = re.compile(r"^\t+(Items|AdditionalProperties): |^\t+Enum: +\[\]interface\{\}\{(.*)\},$", re.MULTILINE)
_KEYWORDS = {"Items": "items", "AdditionalProperties": "additionalProperties"}


def enumerated(definitions: Mapping[str, Schema], source: str) -> dict[str, Schema]:
    """The definitions of a release with the enumerations of its Go source, as its API server serves them."""
    functions = dict(_FUNCTION.findall(source))
    result = {}
    for name, schema in definitions.items():
        body = functions.get(name.removeprefix("io.k8s.api.").replace(".", "_"), "")
        properties = dict(schema.get("properties", {}))
        for field, text in _PROPERTY.findall(body) if name.startswith("io.k8s.api.") else ():
            for path, values in _enumerations(text):
                properties[field] = _with_enumeration(properties[field], path, values)
        result[name] = {**schema, "properties": properties} if properties else schema
    return result


def _enumerations(text: str) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The enumerations of one field, each with the way to it through lists and maps, outermost first."""
    path: tuple[str, ...] = ()
    for keyword, values in _PART.findall(text):
        if keyword:
            path += (_KEYWORDS[keyword],)
        else:
            yield path, json.loads(f"[{values}]")


def _with_enumeration(schema: Schema, path: tuple[str, ...], values: list[str]) -> Schema:
    if not path:
        return {**schema, "enum": values}
    return {**schema, path[0]: _with_enumeration(schema[path[0]], path[1:], values)}
