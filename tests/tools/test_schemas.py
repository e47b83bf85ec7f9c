"""The generated schemas, their generator, and what the real kubeconform makes of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
import yaml

from tenancy.model.versions import KUEUE, VOLCANO
from tools import enumerations, openapi, schemas

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "schemas"
SAMPLES = ROOT / "tests" / "render" / "samples"
VERSIONS = json.loads((SCHEMAS / "versions.json").read_text(encoding="utf-8"))
FILES = sorted(file for folder in (*VERSIONS, "kustomize") for file in (SCHEMAS / folder).rglob("*.json"))
IDS = [file.relative_to(SCHEMAS).as_posix() for file in FILES]
KUBECONFORM = ROOT / ".cache" / "bin" / "kubeconform"
needs_kubeconform = pytest.mark.skipif(
    not KUBECONFORM.exists() and shutil.which("go") is None, reason="neither kubeconform nor go is here"
)


def subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and every schema inside it, but no property names."""
    if isinstance(schema, dict):
        yield schema
        for part in (*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()):
            yield from subschemas(part)
        yield from subschemas(schema.get("items"))
        yield from subschemas(schema.get("additionalProperties"))


def test_versions_agree_with_folders_and_readme() -> None:
    """versions.json names exactly the minors that have a folder, and the README the same releases."""
    readme = (SCHEMAS / "README.md").read_text(encoding="utf-8")
    for component, minors in VERSIONS.items():
        assert sorted(minors) == sorted(folder.name for folder in (SCHEMAS / component).iterdir())
        assert all(release.startswith(f"v{minor}.") and release in readme for minor, release in minors.items())


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_a_schema_is_structure_alone(file: Path) -> None:
    """No schema carries prose or a default, every object in it is closed or a map, and every reference is local."""
    schema = json.loads(file.read_text(encoding="utf-8"))
    for part in subschemas(schema):
        assert not part.keys() & {"description", "title", "default", "example", "examples"}
        assert not any(key.startswith("x-") for key in part)
        assert part.get("$ref", "#/$defs/").startswith("#/$defs/")
    opened = {name for name, part in schema.get("$defs", {}).items() if part == {"type": "object"}}
    assert opened <= {"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"}
    objects = [part for part in subschemas(schema) if part.get("type") == "object" and part != {"type": "object"}]
    assert all(part["additionalProperties"] is not True for part in objects)


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_a_schema_compiles(file: Path) -> None:
    """Every schema is a valid 2020-12 schema and compiles, so none of its references dangles."""
    schema = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert not jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid({})


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_a_schema_is_for_one_kind(file: Path) -> None:
    """The file is named as kubeconform looks for its apiVersion and kind, and takes no status."""
    schema = json.loads(file.read_text(encoding="utf-8"))
    api_version, kind = schema["properties"]["apiVersion"]["const"], schema["properties"]["kind"]["const"]
    group, _, version = api_version.rpartition("/")
    assert file.name == schemas.file_name(schemas.Kind(group, version, kind))
    assert {"apiVersion", "kind"} <= set(schema["required"])
    assert "status" not in schema["properties"]


def test_every_version_of_the_model_has_schemas() -> None:
    """The minors that an organization may name are those of versions.json, each on Kubernetes minors that are there."""
    assert KUEUE.keys() == VERSIONS["kueue"].keys()
    assert VOLCANO.keys() == VERSIONS["volcano"].keys()
    assert {minor for fitting in (*KUEUE.values(), *VOLCANO.values()) for minor in fitting} == set(
        VERSIONS["kubernetes"]
    )


def test_schemas_stay_small() -> None:
    """All schemas together stay below 2 MB, since they ship with the package."""
    assert sum(file.stat().st_size for file in FILES) < 2_000_000


def test_prose_goes_and_fields_of_that_name_stay() -> None:
    """The generator drops the keyword `description` and keeps a property called description."""
    text = {"type": "string", "description": "words", "default": "x"}
    upstream = {"type": "object", "description": "words", "properties": {"description": text}}
    expected = {"type": "object", "properties": {"description": {"type": "string"}}, "additionalProperties": False}
    assert openapi.strict(upstream) == expected


def test_open_objects_stay_open_and_null_is_kept() -> None:
    """x-kubernetes-preserve-unknown-fields leaves an object open, and nullable admits null."""
    upstream = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "nullable": True}
    assert openapi.strict(upstream) == {"type": ["object", "null"]}


def test_patterns_mean_the_same_in_every_engine() -> None:
    """Go's inline flag inside a pattern becomes a group, which the engines of the checkers read alike."""
    assert openapi.strict({"type": "string", "pattern": "^(?i)[a-z]$"}) == {"type": "string", "pattern": "^(?i:[a-z]$)"}


def test_an_unknown_keyword_stops_the_generator() -> None:
    """A keyword that would be lost in silence is an error, so that a new upstream cannot weaken the check unseen."""
    with pytest.raises(openapi.UpstreamError, match="oneOf"):
        openapi.strict({"type": "object", "oneOf": [{"required": ["a"]}]})


def definitions(*kinds: schemas.Kind) -> dict[str, Any]:
    """OpenAPI definitions of these kinds as a release publishes them: metadata, a status, and a text called mode."""
    meta = {"type": "object", "properties": {"name": {"type": "string", "description": "words"}}}
    found: dict[str, Any] = {openapi.OBJECT_META: meta}
    for kind in kinds:
        properties = {
            "metadata": {"$ref": openapi.DEFINITIONS + openapi.OBJECT_META},
            "mode": {"type": "string", "description": "words"},
            "status": {"type": "object"},
        }
        named = [{"group": kind.group, "version": kind.version, "kind": kind.kind}]
        schema = {"type": "object", "properties": properties, "x-kubernetes-group-version-kind": named}
        found[f"{kind.group}.{kind.kind}"] = schema
    return found


def custom_resource_definition(plural: str, kind: schemas.Kind) -> dict[str, Any]:
    """A CRD as it is published, with an enumeration."""
    mode = {"type": "string", "enum": ["Fast", "Slow"]}
    schema = {"type": "object", "properties": {"metadata": {"type": "object"}, "mode": mode}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "names": {"kind": kind.kind, "plural": plural},
            "versions": [{"name": "v0"}, {"name": kind.version, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def test_a_minor_has_the_kinds_that_it_serves() -> None:
    """The documents of a minor are one per kind, below its folder, without a kind that a later minor brought."""
    served = definitions(*schemas.KUBERNETES_KINDS)
    older, newer = (schemas.kubernetes_documents(minor, served) for minor in ("1.35", "1.36"))
    since = {f"kubernetes/1.36/{schemas.file_name(kind)}" for kind in schemas.KUBERNETES_KINDS if kind.since}
    assert since
    assert newer.keys() - {name.replace("/1.35/", "/1.36/") for name in older} == since
    assert older["kubernetes/1.35/configmap-v1.json"] == {
        "$schema": schemas.DIALECT,
        "$defs": {
            openapi.OBJECT_META: {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
                "additionalProperties": False,
            }
        },
        "type": "object",
        "properties": {
            "apiVersion": {"const": "v1"},
            "kind": {"const": "ConfigMap"},
            "metadata": {"$ref": f"#/$defs/{openapi.OBJECT_META}"},
            "mode": {"type": "string"},
        },
        "required": ["apiVersion", "kind", "metadata"],
        "additionalProperties": False,
    }


GO = """
func schema_k8sio_api_example_v1_Sample(ref common.ReferenceCallback) common.OpenAPIDefinition {
\t\t\t\tProperties: map[string]spec.Schema{
\t\t\t\t\t"mode": {
\t\t\t\t\t\tSchemaProps: spec.SchemaProps{
\t\t\t\t\t\t\tDescription: "words. Enum: []interface{}{\\"no\\"},",
\t\t\t\t\t\t\tEnum:        []interface{}{"Fast", "Slow"},
\t\t\t\t\t\t},
\t\t\t\t\t},
\t\t\t\t\t"list": {
\t\t\t\t\t\tSchemaProps: spec.SchemaProps{
\t\t\t\t\t\t\tItems: &spec.SchemaOrArray{
\t\t\t\t\t\t\t\t\t\tEnum:    []interface{}{"*"},
\t\t\t\t\t\t\t},
\t\t\t\t\t\t},
\t\t\t\t\t},
}
"""


def test_enumerations_come_from_the_source_of_the_release() -> None:
    """A field and the elements of a list get the enumeration of the Go source; another type of that name does not."""
    text: dict[str, Any] = {"type": "string"}
    schema = {"type": "object", "properties": {"list": {"type": "array", "items": text}, "mode": text, "plain": text}}
    served = enumerations.enumerated({"io.k8s.api.example.v1.Sample": schema, "example.v1.Sample": schema}, GO)
    several = {"type": "array", "items": {**text, "enum": ["*"]}}
    properties = {"list": several, "mode": {**text, "enum": ["Fast", "Slow"]}, "plain": text}
    assert served["io.k8s.api.example.v1.Sample"] == {"type": "object", "properties": properties}
    assert served["example.v1.Sample"] == schema


@pytest.mark.parametrize("component", schemas.COMPONENTS)
def test_what_a_server_adds_to_a_crd_changes_no_document(component: str) -> None:
    """CRDs as a server lists them, among others and with what it adds, give the documents of the published ones."""
    kinds = schemas.COMPONENTS[component].kinds
    published = [custom_resource_definition(plural, kind) for plural, kind in kinds.items()]
    live = [custom_resource_definition("others", schemas.Kind("example.org", "v1", "Other"))]
    for crd in published:
        metadata = {**crd["metadata"], "uid": "1", "generation": 1}
        spec = {**crd["spec"], "conversion": {"strategy": "None"}}
        live.append({"metadata": metadata, "spec": spec, "status": {"storedVersions": ["v1beta2"]}})
    documents = schemas.custom_documents(component, "0.19", live, definitions())
    assert documents == schemas.custom_documents(component, "0.19", published, definitions())
    assert set(documents) == {f"{component}/0.19/{schemas.file_name(kind)}" for kind in kinds.values()}
    for document in documents.values():
        assert document["properties"]["mode"] == {"type": "string", "enum": ["Fast", "Slow"]}
        assert document["$defs"][openapi.OBJECT_META]["required"] == ["name"]


def test_a_missing_kind_stops_the_generator() -> None:
    """A kind that upstream does not have is an error that names it, for Kubernetes and for what a scheduler brings."""
    with pytest.raises(openapi.UpstreamError, match="LimitRange"):
        schemas.kubernetes_documents("1.36", definitions(schemas.KUBERNETES_KINDS[0]))
    with pytest.raises(openapi.UpstreamError, match="admissionchecks"):
        schemas.custom_documents("kueue", "0.19", [], definitions())
    with pytest.raises(openapi.UpstreamError, match="hypernodes"):
        schemas.custom_documents("volcano", "1.15", [], definitions())


def test_stale_files_are_found(tmp_path: Path) -> None:
    """A missing, an edited and a superfluous file are stale; a file of others is not looked at."""
    texts = {"versions.json": "{}\n", "kueue/0.19/a.json": "1\n", "kueue/0.19/b.json": "2\n"}
    schemas.write(texts, tmp_path)
    (tmp_path / "organization.schema.json").write_text("{}")
    assert schemas.differences(texts, tmp_path) == []
    (tmp_path / "kueue/0.19/a.json").write_text("3\n")
    (tmp_path / "kueue/0.19/b.json").unlink()
    (tmp_path / "kueue/0.19/c.json").write_text("4\n")
    assert schemas.differences(texts, tmp_path) == [f"kueue/0.19/{name}.json" for name in "abc"]
    schemas.write(texts, tmp_path)
    assert schemas.differences(texts, tmp_path) == []
    assert (tmp_path / "organization.schema.json").exists()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("go") is None, reason="go, which fetches the upstream modules, is not here")
def test_schemas_are_up_to_date() -> None:
    """Generating again from upstream gives the files that are committed."""
    run = subprocess.run(
        [sys.executable, "tools/schemas.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if run.returncode == 3:
        pytest.skip(f"upstream could not be read: {run.stderr}")
    assert run.returncode == 0, run.stderr


def run_kubeconform(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "tools/kubeconform.py", str(folder), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def samples(name: str) -> list[dict[str, Any]]:
    """The objects of a sample file."""
    return list(yaml.load_all((SAMPLES / name).read_text(encoding="utf-8"), yaml.CSafeLoader))


@pytest.mark.slow
@needs_kubeconform
@pytest.mark.parametrize(
    ("kubernetes", "scheduler", "minor"),
    [
        (fitting[-1], scheduler, minor)
        for scheduler, table in (("kueue", KUEUE), ("volcano", VOLCANO))
        for minor, fitting in table.items()
    ],
)
def test_the_real_kubeconform_agrees(tmp_path: Path, kubernetes: str, scheduler: str, minor: str) -> None:
    """kubeconform accepts every sample and no sample with an unknown field, and passes over chart values."""
    names = ["kubernetes.yaml", f"{scheduler}.yaml", *(["kubernetes-1.36.yaml"] if kubernetes == "1.36" else [])]
    objects = [obj for name in names for obj in samples(name)]
    for folder, extra in (("good", {}), ("bad", {"wrong": 1})):
        (tmp_path / folder).mkdir()
        text = yaml.safe_dump_all([obj | extra for obj in objects])
        (tmp_path / folder / "objects.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "good" / f"{scheduler}-values.yaml").write_text("enablePrometheus: true\n", encoding="utf-8")
    (tmp_path / "good" / "volcano-scheduler.conf").write_text("actions: allocate\n", encoding="utf-8")
    options = ("--kubernetes", kubernetes, f"--{scheduler}", minor)
    good, bad = (run_kubeconform(tmp_path / folder, *options) for folder in ("good", "bad"))
    assert (good.returncode, bad.returncode) == (0, 1)
    assert f"Valid: {len(objects)}, Invalid: 0, Errors: 0, Skipped: 0" in good.stdout
    assert f"Valid: 0, Invalid: {len(objects)}, Errors: 0, Skipped: 0" in bad.stdout


@pytest.mark.slow
@needs_kubeconform
@pytest.mark.parametrize(
    ("option", "schedulers"),
    [("--kueue=0.19", {"kueue"}), ("--volcano=1.15", {"volcano"}), ("--native", set()), ("", {"kueue", "volcano"})],
)
def test_kubeconform_knows_the_kinds_of_one_scheduler(tmp_path: Path, option: str, schedulers: set[str]) -> None:
    """The kinds of a scheduler that the cluster does not have are errors; where none is named, both may be there."""
    counts = {}
    for scheduler in ("kueue", "volcano"):
        objects = samples(f"{scheduler}.yaml")
        counts[scheduler] = len(objects)
        (tmp_path / f"{scheduler}.yaml").write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    run = run_kubeconform(tmp_path, *filter(None, [option]))
    valid = sum(count for scheduler, count in counts.items() if scheduler in schedulers)
    assert f"Valid: {valid}, Invalid: 0, Errors: {sum(counts.values()) - valid}, Skipped: 0" in run.stdout
