"""The schemas against their source of truth: what a running API server says of itself gives the committed files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.cluster import versions
from tests.cluster.plane import Cluster
from tools import openapi, schemas

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def served(cluster: Cluster) -> dict[str, Any]:
    """The OpenAPI definitions of the API server, those of installed CRDs included."""
    definitions: dict[str, Any] = cluster.client.get("/openapi/v2")["definitions"]
    return definitions


def stale(documents: Mapping[str, Any], folder: str) -> list[str]:
    """The committed files of a folder below `schemas/` that are missing, superfluous or different in a single byte."""
    root = schemas.ROOT / "schemas"
    committed = {path.relative_to(root).as_posix(): path.read_bytes() for path in (root / folder).iterdir()}
    live = {name: text.encode() for name, text in schemas.texts(documents).items()}
    return sorted(name for name in live.keys() | committed.keys() if live.get(name) != committed.get(name))


def test_the_kubernetes_schemas_are_what_the_api_server_serves(cluster: Cluster) -> None:
    """The schemas of this minor, made from /openapi/v2 of the running server, are the committed files."""
    documents = schemas.kubernetes_documents(cluster.kubernetes, served(cluster))
    assert stale(documents, f"kubernetes/{cluster.kubernetes}") == []


@pytest.mark.kueue(versions.DEFAULT_KUEUE)
@pytest.mark.volcano(versions.DEFAULT_VOLCANO)
def test_the_schemas_of_a_scheduler_are_what_the_installed_crds_say(cluster: Cluster) -> None:
    """The schemas of this minor, made from the CRDs as the API server holds them, are the committed files."""
    crds, minor = cluster.client.get(CRDS)["items"], cluster.kueue or cluster.volcano
    documents = schemas.custom_documents(cluster.scheduler, minor, crds, served(cluster))
    assert stale(documents, f"{cluster.scheduler}/{minor}") == []


@pytest.mark.parametrize("tool", ["nfd", "karpenter"])
def test_the_schemas_of_the_tools_of_nodes_are_what_the_installed_crds_say(cluster: Cluster, tool: str) -> None:
    """The schemas of rules and pools, made from the CRDs as the API server holds them, are the committed files.

    What is common to all kinds they have from the newest Kubernetes.
    """
    if cluster.kubernetes != max(schemas.VERSIONS["kubernetes"]):
        pytest.skip("another Kubernetes than the schemas are made with")
    crds, (minor,) = cluster.client.get(CRDS)["items"], schemas.VERSIONS[tool]
    documents = schemas.custom_documents(tool, minor, crds, served(cluster))
    assert stale(documents, f"{tool}/{minor}") == []


def test_a_release_publishes_what_its_api_server_serves(cluster: Cluster) -> None:
    """Every definition of a built-in API that is served is the published one, prose left aside."""
    published = schemas.swagger_definitions(schemas.VERSIONS["kubernetes"][cluster.kubernetes])
    live = served(cluster)
    builtin = sorted(name for name in live if name.startswith(("io.k8s.api.", "io.k8s.apimachinery.")))
    assert openapi.OBJECT_META in builtin
    assert [name for name in builtin if shape(live[name]) != shape(published.get(name))] == []


def shape(schema: Any) -> Any:
    """An OpenAPI schema without its descriptions; a property called description stays."""
    if isinstance(schema, list):
        return [shape(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: shape(part) for key, part in schema.items() if key != "description" or isinstance(part, dict)}


def test_the_schemas_are_not_stale() -> None:
    """Generating all of them again from the published modules, those that are not run here too, changes nothing."""
    assert schemas.main(["--check"]) == 0
