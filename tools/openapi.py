"""From the OpenAPI schemas of Kubernetes and of CRDs to strict JSON Schema: closed objects, structure, no prose.

Functions from data to data: whether the OpenAPI comes from a published module or a running server is for the caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

DEFINITIONS = "#/definitions/"
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
OBJECT_META = META + "ObjectMeta"
QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
# Swagger declares these as text or as an empty object; what the API server reads is wider. The grammar of a quantity is
# the one that controller-gen writes into CRDs.
OVERRIDES: dict[str, Schema] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": ["number", "string"], "pattern": QUANTITY},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": ["integer", "string"]},
    META + "FieldsV1": {"type": "object"},
}

KEPT = frozenset(
    {"enum", "format", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties"}
    | {"minimum", "pattern", "required", "type"}
)
DROPPED = frozenset({"default", "description", "example", "externalDocs", "title"})
INT32 = (-(2**31), 2**31 - 1)


class UpstreamError(Exception):
    """Upstream lacks a kind or says something that this generator does not know."""


def reachable(root: Schema, definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """The strict form of every definition that `root` refers to, directly or not."""
    found: dict[str, Schema] = {}
    waiting = list(references(root))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = dict(OVERRIDES[name]) if name in OVERRIDES else strict(definitions[name])
            waiting.extend(references(found[name]))
    return found


def references(schema: Schema) -> Iterator[str]:
    """The names of the definitions that a strict schema refers to."""
    if "$ref" in schema:
        yield schema["$ref"].removeprefix("#/$defs/")
    for child in (*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")):
        if isinstance(child, dict):
            yield from references(child)


def strict(schema: Schema) -> Schema:
    """The structure of an OpenAPI schema as JSON Schema: closed, without prose, defaults and CEL rules.

    Raises UpstreamError for a keyword that is neither kept, dropped nor translated, so that none is lost in silence.
    """
    if "$ref" in schema:
        return {"$ref": "#/$defs/" + schema["$ref"].removeprefix(DEFINITIONS)}
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"], **kept(schema, {"anyOf"})}
    result = kept(schema, {"properties", "items", "additionalProperties"})
    if "items" in schema:
        result["items"] = strict(schema["items"])
    if "properties" in schema:
        result["properties"] = {name: strict(part) for name, part in schema["properties"].items()}
    if schema.get("type") == "object" and not schema.get("x-kubernetes-preserve-unknown-fields"):
        extra = schema.get("additionalProperties", False)
        result["additionalProperties"] = strict(extra) if isinstance(extra, dict) else extra
    return result


def kept(schema: Schema, structural: set[str]) -> Schema:
    """The validations of one level; `structural` names the keywords that the caller translates."""
    known = KEPT | DROPPED | structural | {"nullable"}
    if unknown := {key for key in schema if key not in known and not key.startswith("x-kubernetes-")}:
        raise UpstreamError(f"unknown keywords {sorted(unknown)}")
    result = {key: value for key, value in schema.items() if key in KEPT}
    if "pattern" in schema:
        result["pattern"] = portable(schema["pattern"])
    if schema.get("format") == "int32":
        result["minimum"] = max(schema.get("minimum", INT32[0]), INT32[0])
        result["maximum"] = min(schema.get("maximum", INT32[1]), INT32[1])
    if schema.get("x-kubernetes-list-type") == "set":
        result["uniqueItems"] = True  # Server-side apply refuses a repeated element of a set.
    if schema.get("nullable"):
        result["type"] = [result["type"], "null"]
    return result


def portable(pattern: str) -> str:
    """A Go pattern with its inline flag as a group: other engines refuse a flag that does not come first."""
    before, flag, after = pattern.partition("(?i)")
    return f"{before}(?i:{after})" if flag else pattern
