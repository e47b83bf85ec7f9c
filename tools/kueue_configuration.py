"""Write schemas/kueue-manager/MINOR/configuration*.json from the Go types of Kueue's manager Configuration.

    python tools/kueue_configuration.py 0.19 KUEUE_MODULE

KUEUE_MODULE is a folder of the Go module cache. Every object is closed, because the manager decodes strictly; every
value may be null, because Go decodes null as the zero value. `configuration.json` is v1beta2 and
`configuration-v1beta1.json` the version that all supported managers still decode. A string type with declared constants
becomes an enumeration.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^\t(?:\w+\s+)?(\S+)\s+`json:"([^",]*)((?:,\w+)*)"`', re.MULTILINE)
_STRING = re.compile(r"^type (\w+) string$", re.MULTILINE)
_ALIAS = re.compile(r"^type (\w+) = (\w+)$", re.MULTILINE)
_CONSTANT = re.compile(r'^(?:const |\t)\w+\s+(\w+)\s*=\s*"([^"]*)"', re.MULTILINE)


def _closed(**properties: Schema) -> Schema:
    return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}


def _integer(bits: int) -> Schema:
    return {"type": ["integer", "null"], "minimum": -(2 ** (bits - 1)), "maximum": 2 ** (bits - 1) - 1}


def _list(item: Schema) -> Schema:
    return {"type": ["array", "null"], "items": item}


def _map(value: Schema) -> Schema:
    return {"type": ["object", "null"], "additionalProperties": value}


_TEXT: Schema = {"type": ["string", "null"]}
_SWITCH: Schema = {"type": ["boolean", "null"]}
_NUMBER: Schema = {"type": ["number", "null"]}
# The syntax of Go's time.ParseDuration.
_DURATION: Schema = {
    "type": ["string", "null"],
    "pattern": r"^[+-]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$",
}
# The syntax of apimachinery's resource.Quantity, which is also read from a bare number.
_QUANTITY: Schema = {
    "type": ["string", "number"],
    "pattern": r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$",
}
_REQUIREMENT = _closed(
    key=_TEXT, operator={"enum": ["In", "NotIn", "Exists", "DoesNotExist"]}, values=_list({"type": "string"})
)

_FOREIGN: dict[str, Schema] = {
    "string": _TEXT,
    "bool": _SWITCH,
    "int": _integer(64),
    "int32": _integer(32),
    "float32": _NUMBER,
    "float64": _NUMBER,
    "metav1.Duration": _DURATION,
    "time.Duration": _integer(64),  # decoded as nanoseconds: a text such as 2m is refused
    "metav1.LabelSelector": _closed(matchLabels=_map({"type": "string"}), matchExpressions=_list(_REQUIREMENT)),
    "corev1.ResourceName": _TEXT,
    "corev1.ResourceList": _map(_QUANTITY),
    "resourcev1.QualifiedName": _TEXT,
    "resourcev1.DeviceSelector": _closed(cel=_closed(expression=_TEXT)),
    "clientcmdapi.ExecConfig": _closed(
        command=_TEXT,
        args=_list({"type": "string"}),
        env=_list(_closed(name=_TEXT, value=_TEXT)),
        apiVersion=_TEXT,
        installHint=_TEXT,
        provideClusterInfo=_SWITCH,
        interactiveMode=_TEXT,
    ),
    "configv1alpha1.LeaderElectionConfiguration": _closed(
        leaderElect=_SWITCH,
        leaseDuration=_DURATION,
        renewDeadline=_DURATION,
        retryPeriod=_DURATION,
        resourceLock=_TEXT,
        resourceName=_TEXT,
        resourceNamespace=_TEXT,
    ),
}


def _without_comments(source: str) -> str:
    return re.sub(r"^\s*//.*\n", "", source, flags=re.MULTILINE)


def _schema_of(go_type: str, types: dict[str, Schema]) -> Schema:
    go_type = go_type.removeprefix("*")
    if go_type.startswith("[]"):
        return _list(_schema_of(go_type[2:], types))
    if go_type.startswith("map["):
        return _map(_schema_of(go_type.partition("]")[2], types))
    return _FOREIGN.get(go_type) or types[go_type]


def _properties(body: str, structs: dict[str, str], types: dict[str, Schema]) -> dict[str, Schema]:
    properties: dict[str, Schema] = {}
    for go_type, name, options in _FIELD.findall(body):
        if "inline" in options:
            if go_type in structs:
                properties |= _properties(structs[go_type], structs, types)
        elif name and name != "-":
            properties[name] = _schema_of(go_type, types)
    return properties


def configuration(folder: Path, api_version: str) -> Schema:
    """The schema of the Configuration whose Go types lie in the folder."""
    source = "".join(_without_comments(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*_types.go")))
    structs = dict(_STRUCT.findall(source))
    types: dict[str, Schema] = {}
    for name in _STRING.findall(source):
        values = sorted(value for constant, value in _CONSTANT.findall(source) if constant == name)
        types[name] = {"enum": [*values, None]}
    for name in [*structs, *dict(_ALIAS.findall(source))]:
        types[name] = {"$ref": f"#/$defs/{dict(_ALIAS.findall(source)).get(name, name)}"}
    properties = {name: _properties(body, structs, types) for name, body in structs.items()}
    root = properties.pop("Configuration")
    root |= {"apiVersion": {"const": f"config.kueue.x-k8s.io/{api_version}"}, "kind": {"const": "Configuration"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": root,
        "additionalProperties": False,
        "$defs": {name: _closed(**fields) for name, fields in properties.items() if name != "ControllerManager"},
    }


def main(arguments: list[str]) -> None:
    """Write both files of one minor."""
    minor, module = arguments
    folder = Path(__file__).parents[1] / "schemas" / "kueue-manager" / minor
    folder.mkdir(parents=True, exist_ok=True)
    for api_version, file in (("v1beta2", "configuration.json"), ("v1beta1", "configuration-v1beta1.json")):
        schema = configuration(Path(module) / "apis" / "config" / api_version, api_version)
        text = json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False)
        (folder / file).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
