"""Generate the JSON Schemas of every Kubernetes kind that is emitted: `python tools/schemas.py [--check]`.

Reads the OpenAPI definitions of k8s.io/kubernetes and the CRDs of sigs.k8s.io/kueue out of the Go module cache, which
`go` fills, and writes their structure, closed and without prose, to `schemas/`. `--check` compares and writes nothing.
Exit status: 0 written or up to date, 1 stale (`--check`), 3 upstream could not be read.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import yaml

ROOT = Path(__file__).resolve().parent.parent
Schema: TypeAlias = dict[str, Any]

VERSIONS: dict[str, dict[str, str]] = {
    "kubernetes": {"1.34": "v1.34.8", "1.35": "v1.35.4", "1.36": "v1.36.3"},
    "kueue": {"0.17": "v0.17.0", "0.18": "v0.18.4", "0.19": "v0.19.2"},
}
MODULES = {"kubernetes": "k8s.io/kubernetes", "kueue": "sigs.k8s.io/kueue"}
GENERATED = ("kubernetes", "kueue", "kustomize", "versions.json")


class Kind(NamedTuple):
    """A kind of an API group; `since` is the first of our minors that serves it at this version ("": all of them)."""

    group: str
    version: str
    kind: str
    since: str = ""


KUBERNETES_KINDS = (
    Kind("", "v1", "ConfigMap"),
    Kind("", "v1", "LimitRange"),
    Kind("", "v1", "Namespace"),
    Kind("", "v1", "ResourceQuota"),
    Kind("", "v1", "ServiceAccount"),
    Kind("admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicy", "1.36"),
    Kind("admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicyBinding", "1.36"),
    Kind("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy"),
    Kind("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding"),
    Kind("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema"),
    Kind("flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration"),
    Kind("networking.k8s.io", "v1", "NetworkPolicy"),
    Kind("rbac.authorization.k8s.io", "v1", "ClusterRole"),
    Kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"),
    Kind("rbac.authorization.k8s.io", "v1", "Role"),
    Kind("rbac.authorization.k8s.io", "v1", "RoleBinding"),
    Kind("scheduling.k8s.io", "v1", "PriorityClass"),
)
KUEUE_KINDS = {
    "admissionchecks": Kind("kueue.x-k8s.io", "v1beta2", "AdmissionCheck"),
    "clusterqueues": Kind("kueue.x-k8s.io", "v1beta2", "ClusterQueue"),
    "cohorts": Kind("kueue.x-k8s.io", "v1beta2", "Cohort"),
    "localqueues": Kind("kueue.x-k8s.io", "v1beta2", "LocalQueue"),
    "resourceflavors": Kind("kueue.x-k8s.io", "v1beta2", "ResourceFlavor"),
    "topologies": Kind("kueue.x-k8s.io", "v1beta2", "Topology"),
    "workloadpriorityclasses": Kind("kueue.x-k8s.io", "v1beta2", "WorkloadPriorityClass"),
}
KUSTOMIZATION = Kind("kustomize.config.k8s.io", "v1beta1", "Kustomization")

DIALECT = "https://json-schema.org/draft/2020-12/schema"
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
    """An upstream module could not be read or says something that this generator does not know."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Generate the schemas of the emitted kinds from the upstream modules.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if schemas/ is stale")
    options = parser.parse_args(arguments)
    try:
        texts = generate()
    except UpstreamError as error:
        print(f"schemas: {error}", file=sys.stderr)
        return 3
    if options.check:
        stale = differences(texts, ROOT / "schemas")
        for name in stale:
            print(f"schemas/{name} is stale: run python tools/schemas.py", file=sys.stderr)
        return 1 if stale else 0
    write(texts, ROOT / "schemas")
    print(f"{len(texts)} files, {sum(map(len, texts.values()))} bytes in schemas/")
    return 0


def generate() -> dict[str, str]:
    """The text of every generated file by its path below `schemas/`."""
    documents: dict[str, Any] = {"versions.json": VERSIONS, f"kustomize/{file_name(KUSTOMIZATION)}": kustomization()}
    kubernetes = {
        minor: swagger_definitions(MODULES["kubernetes"], version) for minor, version in VERSIONS["kubernetes"].items()
    }
    for minor, definitions in kubernetes.items():
        for kind in KUBERNETES_KINDS:
            if minor >= kind.since:
                documents[f"kubernetes/{minor}/{file_name(kind)}"] = builtin(kind, definitions)
    newest = kubernetes[max(kubernetes)]  # a CRD leaves metadata open: it is the API server's own
    for minor, version in VERSIONS["kueue"].items():
        bases = module_folder(MODULES["kueue"], version) / "config/components/crd/bases"
        for plural, kind in KUEUE_KINDS.items():
            crd = custom_resource(read_yaml(bases / f"{kind.group}_{plural}.yaml"), kind)
            documents[f"kueue/{minor}/{file_name(kind)}"] = document(kind, crd, newest)
    return {name: json.dumps(value, indent=1, sort_keys=True) + "\n" for name, value in documents.items()}


def file_name(kind: Kind) -> str:
    """The name under which kubeconform looks for a kind: `{{.ResourceKind}}{{.KindSuffix}}.json`."""
    group = kind.group.split(".")[0]
    return "-".join(part for part in (kind.kind.lower(), group, kind.version) if part) + ".json"


def builtin(kind: Kind, definitions: Mapping[str, Schema]) -> Schema:
    """The schema of a kind of Kubernetes itself, found by its group, version and kind."""
    wanted = [{"group": kind.group, "version": kind.version, "kind": kind.kind}]
    for schema in definitions.values():
        if schema.get("x-kubernetes-group-version-kind") == wanted:
            return document(kind, schema, definitions)
    raise UpstreamError(f"no definition of {kind}")


def custom_resource(crd: Schema, kind: Kind) -> Schema:
    """The OpenAPI schema of the wanted version in a CustomResourceDefinition."""
    for version in crd["spec"]["versions"]:
        if version["name"] == kind.version and crd["spec"]["names"]["kind"] == kind.kind:
            schema: Schema = version["schema"]["openAPIV3Schema"]
            return schema
    raise UpstreamError(f"the CRD has no {kind}")


def document(kind: Kind, schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """The self-contained schema of an object as it is written: no status, a name, this kind and version alone."""
    body = {name: part for name, part in schema["properties"].items() if name != "status"}
    body["metadata"] = {"$ref": DEFINITIONS + OBJECT_META}
    body["apiVersion"] = body["kind"] = {"type": "string"}
    required = {"apiVersion", "kind", "metadata", *schema.get("required", ())} - {"status"}
    result = strict({**schema, "properties": body, "required": sorted(required)})
    result["properties"]["apiVersion"] = {"const": "/".join(part for part in (kind.group, kind.version) if part)}
    result["properties"]["kind"] = {"const": kind.kind}
    local = reachable(result, definitions)
    # The API server refuses an object without a name; a generated name cannot be declared twice.
    local[OBJECT_META]["required"] = ["name"]
    return {"$schema": DIALECT, **result, "$defs": local}


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


def kustomization() -> Schema:
    """The schema of the one form of kustomization.yaml that is written: a list of resources."""
    return {
        "$schema": DIALECT,
        "additionalProperties": False,
        "properties": {
            "apiVersion": {"const": f"{KUSTOMIZATION.group}/{KUSTOMIZATION.version}"},
            "kind": {"const": KUSTOMIZATION.kind},
            "resources": {"items": {"minLength": 1, "type": "string"}, "type": "array", "uniqueItems": True},
        },
        "required": ["apiVersion", "kind", "resources"],
        "type": "object",
    }


def module_folder(module: str, version: str) -> Path:
    """Where the Go module cache keeps a module, which is fetched first where it is missing."""
    command = ["go", "mod", "download", "-json", f"{module}@{version}"]
    try:
        with tempfile.TemporaryDirectory() as neutral:  # no go.mod here or above may have a say
            run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=neutral)
        return Path(json.loads(run.stdout)["Dir"])
    except (OSError, subprocess.CalledProcessError) as error:
        raise UpstreamError(f"{module}@{version}: {getattr(error, 'stdout', None) or error}") from error


def swagger_definitions(module: str, version: str) -> dict[str, Schema]:
    text = (module_folder(module, version) / "api/openapi-spec/swagger.json").read_text(encoding="utf-8")
    definitions: dict[str, Schema] = json.loads(text)["definitions"]
    return definitions


def read_yaml(path: Path) -> Schema:
    document: Schema = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return document


def present(folder: Path) -> dict[str, Path]:
    """The generated files that lie in `folder`, by their path below it; everything else there belongs to others."""
    paths = (path for name in GENERATED for path in ([folder / name] if "." in name else (folder / name).rglob("*")))
    return {path.relative_to(folder).as_posix(): path for path in paths if path.is_file()}


def differences(texts: Mapping[str, str], folder: Path) -> list[str]:
    """The files of `folder` that are missing, superfluous or different from `texts`, sorted."""
    there = {name: path.read_text(encoding="utf-8") for name, path in present(folder).items()}
    return sorted(name for name in texts.keys() | there.keys() if texts.get(name) != there.get(name))


def write(texts: Mapping[str, str], folder: Path) -> None:
    """Make the generated files of `folder` exactly `texts`."""
    for name, path in present(folder).items():
        if name not in texts:
            path.unlink()
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
