"""One side of a comparison: the objects and documents in the files of out/, whoever read the files.

A side is text by path, so that the working tree, a git revision and a fresh compilation are compared by the same code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from tenancy.backend.nodes.mig import MIG_PARTED
from tenancy.backend.nodes.plugin import DEVICE_PLUGIN
from tenancy.diagnostics import Diagnostic
from tenancy.load.yaml import parse

Value: TypeAlias = Any
"""A plain value of YAML."""

_SEPARATOR: Final = "\n---\n"
"""Between the documents of a file. Text in a value is indented, so it never stands there for anything else."""

_UNITS: Final = (
    "\nkind: Cohort\n",
    "\nkind: ClusterQueue\n",
    "\nkind: Queue\n",
    "\n  name: tenancy-compute\n",
    "\n  controllerManagerConfigYaml: ",
)
"""Lines of files that hold units, or say how what they leave idle is shared."""

_VERSION: Final = "apiVersion: "

_EMBEDDED: Final = "Yaml"
"""How the keys of chart values end whose text is YAML again (`managerConfig.controllerManagerConfigYaml`)."""

_CONFIG_MAPS: Final = (MIG_PARTED, DEVICE_PLUGIN)
"""Those of ours whose data is YAML again."""


class Identity(NamedTuple):
    """What makes two objects the same one. The API version is no part of it: the API server converts between versions.

    A document that is no object (chart values, a kustomization) has no kind, and its path in the cluster's folder as
    its name.
    """

    cluster: str
    group: str
    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of one side, as far as they differ from the other's or hold units."""

    clusters: frozenset[str]
    items: Mapping[Identity, Value]
    diagnostics: tuple[Diagnostic, ...] = ()
    """Why a document could not be read; it is then not among the items."""

    def of(self, cluster: str, *kinds: str) -> list[Value]:
        """The objects of one cluster, of the given kinds."""
        return [value for each, value in self.items.items() if each.cluster == cluster and each.kind in kinds]


def snapshots(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Snapshot, Snapshot]:
    """Read both sides. A document with the same text on both is read once and is then the same value.

    Files that are equal have nothing to compare. Those with units are read all the same, unless everything is equal: a
    promise of one unit may rest on those of others.
    """
    read: dict[str, tuple[Value, tuple[Diagnostic, ...]]] = {}
    needless = {path for path, text in old.items() if new.get(path) == text}
    if len(needless) < len(old) or len(old) < len(new):
        needless = {path for path in needless if not any(mark in old[path] for mark in _UNITS)}
    return _snapshot(old, needless, read), _snapshot(new, needless, read)


def objects(files: Mapping[str, str]) -> int:
    """How many objects the files hold, without reading them: each says its version at the start of a line."""
    texts = (text for path, text in files.items() if not path.endswith("kustomization.yaml"))
    return sum(text.startswith(_VERSION) + text.count(f"\n{_VERSION}") for text in texts)


def _snapshot(
    files: Mapping[str, str], needless: set[str], read: dict[str, tuple[Value, tuple[Diagnostic, ...]]]
) -> Snapshot:
    items: dict[Identity, Value] = {}
    diagnostics: list[Diagnostic] = []
    for path in sorted(files.keys() - needless):
        for document in documents(files[path]):
            if document not in read:
                parsed = parse(document, 0, path)
                read[document] = (_unpacked(parsed.tree), parsed.diagnostics)
            value, found = read[document]
            diagnostics += found
            if value is not None:
                items[_identity(path, value)] = value
    clusters = frozenset(path.partition("/")[0] for path in files)
    return Snapshot(clusters, items, tuple(diagnostics))


def documents(text: str) -> Iterator[str]:
    """The texts of the documents in a generated file."""
    *first, last = text.split(_SEPARATOR)
    yield from (document + "\n" for document in first)
    if last.strip():
        yield last


def _identity(path: str, value: Value) -> Identity:
    cluster, _, file = path.partition("/")
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or "kind" not in value:
        return Identity(cluster, "", "", "", file)
    group, slash, _ = str(value.get("apiVersion", "")).partition("/")
    name, namespace = str(metadata.get("name", "")), str(metadata.get("namespace", ""))
    return Identity(cluster, group if slash else "", str(value["kind"]), namespace, name)


def _unpacked(value: Value) -> Value:
    """The value of a document with embedded YAML read, so that its keys can be compared; users' objects stay as they
    are."""
    if isinstance(value, dict) and value.get("kind") == "ConfigMap":
        return _unpacked_data(value)
    if not isinstance(value, dict) or "kind" in value:
        return value
    return {key: _embedded(key, each) for key, each in value.items()}


def _unpacked_data(config_map: dict[str, Value]) -> Value:
    data, metadata = config_map.get("data"), config_map.get("metadata")
    if not isinstance(data, dict) or not isinstance(metadata, dict) or metadata.get("name") not in _CONFIG_MAPS:
        return config_map
    return {**config_map, "data": {key: _read(key, each) for key, each in data.items()}}


def _embedded(key: str, value: Value) -> Value:
    return _read(key, value) if isinstance(value, str) and key.endswith(_EMBEDDED) else _unpacked(value)


def _read(key: str, value: Value) -> Value:
    tree = parse(value, 0, key).tree if isinstance(value, str) else None
    return value if tree is None else tree
