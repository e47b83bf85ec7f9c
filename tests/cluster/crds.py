"""CustomResourceDefinitions cut down to what admission looks at.

Each framework repeats the schema of a pod several times, and an API server needs seconds of CPU and 50 MB to serve one
in full. What a test cares about keeps its schema; the rest of a pod is let through as it is.
"""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

OF_POD_SPECS: Final = (
    *("affinity", "dnsConfig", "ephemeralContainers", "hostAliases", "readinessGates", "resourceClaims"),
    *("securityContext", "topologySpreadConstraints", "volumes"),
)
OF_CONTAINERS: Final = (
    *("env", "envFrom", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe"),
    *("securityContext", "volumeDevices", "volumeMounts"),
)
OPAQUE: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def slim(crd: Schema) -> Schema:
    """The definition with its stored version alone, without prose, and with opaque parts in its pods."""
    versions = [each for each in crd["spec"]["versions"] if each["storage"]]
    whole: Schema = _cut({**crd, "spec": {**crd["spec"], "versions": versions}})
    return whole


def _cut(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_cut(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    texts = {key for key, value in schema.items() if key == "description" and isinstance(value, str)}
    cut = {key: _cut(value) for key, value in schema.items() if key not in texts and key != "properties"}
    if "properties" in schema:
        dull = _dull(schema["properties"])
        cut["properties"] = {
            key: _opaque(value) if key in dull else _cut(value) for key, value in schema["properties"].items()
        }
    return cut


def _dull(properties: Schema) -> tuple[str, ...]:
    """Which of them are let through, by what else is there: a pod spec has containers, a container a message path."""
    if "containers" in properties:
        return OF_POD_SPECS
    return OF_CONTAINERS if "terminationMessagePath" in properties else ()


def _opaque(schema: Schema) -> Schema:
    return {"type": "array", "items": OPAQUE} if schema["type"] == "array" else OPAQUE
