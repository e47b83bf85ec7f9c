"""Generate the JSON Schemas of every Kubernetes kind that is emitted: `python tools/schemas.py [--check]`.

Reads the OpenAPI definitions of k8s.io/kubernetes and the CRDs of Kueue, Volcano, Node Feature Discovery, Karpenter,
Prometheus' operator, Argo CD and Flux out of the Go module cache, which `go` fills, and writes their structure, closed
and without prose, to `schemas/`.
`--check` compares and writes nothing. Exit status: 0 written or up to date, 1 stale (`--check`), 3 upstream could not
be read.

What a release publishes is what its API server serves, enumerations included (`tools/enumerations.py`): the
same files come out of `/openapi/v2` and the CustomResourceDefinitions of a running cluster by `kubernetes_documents`
and `custom_documents`, which tests/cluster/test_schemas.py proves for the versions that the test bed runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.enumerations import enumerated
from tools.golang import ModuleError, module_folder
from tools.openapi import DEFINITIONS, OBJECT_META, Schema, UpstreamError, reachable, strict

ROOT = Path(__file__).resolve().parent.parent

VERSIONS: dict[str, dict[str, str]] = {
    "kubernetes": {"1.34": "v1.34.8", "1.35": "v1.35.4", "1.36": "v1.36.3"},
    "kueue": {"0.17": "v0.17.0", "0.18": "v0.18.4", "0.19": "v0.19.2"},
    # The CRDs of v1.14.2 to v1.14.4 are byte for byte those of v1.14.1 (compared in git at their tags), which unlike
    # those three could be had as a module.
    "volcano": {"1.14": "v1.14.1", "1.15": "v1.15.1"},
    # Clusters say no version of these: one is enough for the few fields that are written.
    "nfd": {"0.18": "v0.18.3"},
    "karpenter": {"1.13": "v1.13.0"},
    "prometheus-operator": {"0.85": "v0.85.0"},
    "argo-cd": {"3.2": "v3.2.11"},
    # Of Flux: newer ones want a newer Go than the rest.
    "kustomize-controller": {"1.7": "v1.7.2"},
    "source-controller": {"1.7": "v1.7.2"},
}
MODULES = {
    "kubernetes": "k8s.io/kubernetes",
    "kueue": "sigs.k8s.io/kueue",
    "volcano": "volcano.sh/volcano",
    "nfd": "sigs.k8s.io/node-feature-discovery",
    "karpenter": "sigs.k8s.io/karpenter",
    "prometheus-operator": "github.com/prometheus-operator/prometheus-operator",
    "argo-cd": "github.com/argoproj/argo-cd/v3",
    "kustomize-controller": "github.com/fluxcd/kustomize-controller",
    "source-controller": "github.com/fluxcd/source-controller",
}
GENERATED = (*VERSIONS, "kustomize", "versions.json")


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
    Kind("resource.k8s.io", "v1", "DeviceClass"),
    Kind("scheduling.k8s.io", "v1", "PriorityClass"),
)


class Component(NamedTuple):
    """What a scheduler, a tool beside it or an engine brings: kinds that CustomResourceDefinitions describe."""

    folder: str
    """Where its module keeps them, in files with one or more of them."""
    kinds: dict[str, Kind]
    """By plural."""


COMPONENTS = {
    "kueue": Component(
        "config/components/crd/bases",
        {
            "admissionchecks": Kind("kueue.x-k8s.io", "v1beta2", "AdmissionCheck"),
            "clusterqueues": Kind("kueue.x-k8s.io", "v1beta2", "ClusterQueue"),
            "cohorts": Kind("kueue.x-k8s.io", "v1beta2", "Cohort"),
            "localqueues": Kind("kueue.x-k8s.io", "v1beta2", "LocalQueue"),
            "provisioningrequestconfigs": Kind("kueue.x-k8s.io", "v1beta2", "ProvisioningRequestConfig"),
            "resourceflavors": Kind("kueue.x-k8s.io", "v1beta2", "ResourceFlavor"),
            "topologies": Kind("kueue.x-k8s.io", "v1beta2", "Topology"),
            "workloadpriorityclasses": Kind("kueue.x-k8s.io", "v1beta2", "WorkloadPriorityClass"),
        },
    ),
    "volcano": Component(
        "config/crd/volcano/bases",
        {
            "hypernodes": Kind("topology.volcano.sh", "v1alpha1", "HyperNode"),
            "podgroups": Kind("scheduling.volcano.sh", "v1beta1", "PodGroup"),
            "queues": Kind("scheduling.volcano.sh", "v1beta1", "Queue"),
        },
    ),
    "nfd": Component(
        "deployment/base/nfd-crds", {"nodefeaturerules": Kind("nfd.k8s-sigs.io", "v1alpha1", "NodeFeatureRule")}
    ),
    "karpenter": Component("pkg/apis/crds", {"nodepools": Kind("karpenter.sh", "v1", "NodePool")}),
    "prometheus-operator": Component(
        "example/prometheus-operator-crd",
        {
            "prometheusrules": Kind("monitoring.coreos.com", "v1", "PrometheusRule"),
            "servicemonitors": Kind("monitoring.coreos.com", "v1", "ServiceMonitor"),
        },
    ),
    "argo-cd": Component(
        "manifests/crds",
        {
            "applications": Kind("argoproj.io", "v1alpha1", "Application"),
            "appprojects": Kind("argoproj.io", "v1alpha1", "AppProject"),
        },
    ),
    "kustomize-controller": Component(
        "config/crd/bases", {"kustomizations": Kind("kustomize.toolkit.fluxcd.io", "v1", "Kustomization")}
    ),
    "source-controller": Component(
        "config/crd/bases", {"gitrepositories": Kind("source.toolkit.fluxcd.io", "v1", "GitRepository")}
    ),
}
"""By the name of their folder below `schemas/`."""
KUSTOMIZATION = Kind("kustomize.config.k8s.io", "v1beta1", "Kustomization")
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Generate the schemas of the emitted kinds from the upstream modules.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if schemas/ is stale")
    options = parser.parse_args(arguments)
    try:
        texts = generate()
    except (ModuleError, UpstreamError) as error:
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
    """The text of every generated file by its path below `schemas/`. Raises ModuleError and UpstreamError."""
    documents: dict[str, Any] = {"versions.json": VERSIONS, f"kustomize/{file_name(KUSTOMIZATION)}": kustomization()}
    kubernetes = {minor: swagger_definitions(version) for minor, version in VERSIONS["kubernetes"].items()}
    for minor, definitions in kubernetes.items():
        documents |= kubernetes_documents(minor, definitions)
    newest = kubernetes[max(kubernetes)]  # A CRD leaves metadata open: it is the API server's own.
    for component in COMPONENTS:
        for minor, version in VERSIONS[component].items():
            documents |= custom_documents(component, minor, published_crds(component, version), newest)
    return texts(documents)


def kubernetes_documents(minor: str, definitions: Mapping[str, Schema]) -> dict[str, Any]:
    """The schema of every kind of KUBERNETES_KINDS that a minor serves, by its path below `schemas/`.

    `definitions` are those of a release's swagger.json or of `/openapi/v2` of a running API server of that minor,
    whatever CRDs are installed there. Raises UpstreamError for a kind that they do not have.
    """
    kinds = [kind for kind in KUBERNETES_KINDS if minor >= kind.since]
    return {f"kubernetes/{minor}/{file_name(kind)}": builtin(kind, definitions) for kind in kinds}


def custom_documents(
    component: str, minor: str, crds: Iterable[Schema], definitions: Mapping[str, Schema]
) -> dict[str, Any]:
    """The schema of every kind of one of COMPONENTS, by its path below `schemas/`.

    `crds` are CustomResourceDefinition objects, published or live, others among them or not; of each only its names and
    the `openAPIV3Schema` of its versions are read, which no API server changes: what it adds is in `metadata`, `status`
    and `spec.conversion`. `definitions` are as for `kubernetes_documents`. Raises UpstreamError for a missing kind.
    """
    named = {crd["metadata"]["name"]: crd for crd in crds}
    documents = {}
    for plural, kind in COMPONENTS[component].kinds.items():
        if (name := f"{plural}.{kind.group}") not in named:
            raise UpstreamError(f"no CRD {name}")
        schema = custom_resource(named[name], kind)
        documents[f"{component}/{minor}/{file_name(kind)}"] = document(kind, schema, definitions)
    return documents


def texts(documents: Mapping[str, Any]) -> dict[str, str]:
    """The text of each file from its document."""
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


def swagger_definitions(version: str) -> dict[str, Schema]:
    """The OpenAPI definitions that a release of Kubernetes publishes, with enumerations. Raises ModuleError."""
    folder = module_folder(MODULES["kubernetes"], version)
    path = folder / "api/openapi-spec/swagger.json"
    source = folder / "pkg/generated/openapi/zz_generated.openapi.go"
    return enumerated(json.loads(path.read_text(encoding="utf-8"))["definitions"], source.read_text(encoding="utf-8"))


def published_crds(component: str, version: str) -> list[Schema]:
    """The CustomResourceDefinitions that a release of one of COMPONENTS publishes. Raises ModuleError."""
    bases = module_folder(MODULES[component], version) / COMPONENTS[component].folder
    documents = [document for path in sorted(bases.glob("*.yaml")) for document in read_yaml(path)]
    return [each for each in documents if each.get("kind") == "CustomResourceDefinition"]


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML 1.1 has a type for a lone `=`, which PyYAML does not make; the operators of Alertmanager are texts."""


Loader.add_constructor("tag:yaml.org,2002:value", Loader.construct_scalar)


def read_yaml(path: Path) -> list[Schema]:
    return [document for document in yaml.load_all(path.read_bytes(), Loader=Loader) if document]


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
