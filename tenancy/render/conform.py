"""Whether an object conforms to the schema of its kind in the versions of a cluster.

The schemas are those of `schemas/` (see its README): closed, so an unknown field or a `status` is a violation too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tenancy.resources import data_path

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

NODE_TOOLS: Final = ("nfd/0.18", "karpenter/1.13")
"""What makes nodes: a cluster says no version of it, and what is written is the same in all of them."""

MONITORING: Final = ("prometheus-operator/0.85",)
"""What takes rules and scrape targets; of its version a cluster says nothing either."""

ENGINES: Final = ("argo-cd/3.2", "kustomize-controller/1.7", "source-controller/1.7")
"""What syncs out/: Argo CD, and Flux's two controllers, of which an organization says no version either."""

Checker: TypeAlias = Callable[[Mapping[str, Any]], list[str]]
"""From an object (plain dicts, lists and scalars) to its violations, `PATH: MESSAGE` each; empty when it conforms."""


def checker(*, kubernetes: str, kueue: str = "", volcano: str = "") -> Checker:
    """The checker for a Kubernetes minor ("1.36") and the minor of Kueue ("0.19") or Volcano ("1.15"); "" without it.

    A schema is compiled when its kind is first met. A kind without a schema is a violation, and so is every kind of a
    version that has no schemas. A value that JSON does not have (a date, a set) is a violation, not an exception.
    """
    files = _schema_files(kubernetes, kueue, volcano)
    schedulers = [f"{name} {minor}" for name, minor in (("Kueue", kueue), ("Volcano", volcano)) if minor]
    versions = " and ".join([f"Kubernetes {kubernetes}", *schedulers])

    @cache
    def validator(api_version: str, kind: str) -> Draft202012Validator | None:
        file = files.get(schema_name(api_version, kind))
        return None if file is None else _compile(file)

    def violations(obj: Mapping[str, Any]) -> list[str]:
        api_version, kind = obj.get("apiVersion"), obj.get("kind")
        if not isinstance(api_version, str) or not isinstance(kind, str):
            return ["$: apiVersion and kind must both be given as text"]
        found = validator(api_version, kind)
        if found is None:
            return [f"$: no schema for {api_version} {kind} in {versions}"]
        try:
            return [] if found.is_valid(obj) else _messages(found, obj)
        except ValueError as error:  # the validator's word for a value that has no form in JSON
            return [f"$: {error}"]

    return violations


def schema_name(api_version: str, kind: str) -> str:
    """The file name of a kind's schema: kubeconform's `{{.ResourceKind}}{{.KindSuffix}}.json`."""
    group, slash, version = api_version.partition("/")
    return "-".join([kind.lower(), group.partition(".")[0].lower(), *([version.lower()] if slash else [])]) + ".json"


def schema_folders(kubernetes: str, kueue: str, volcano: str) -> tuple[Path, ...]:
    """The folders of `schemas/` that hold for these versions; those of an unknown version do not exist."""
    root = data_path("schemas")
    schedulers = [root / name / minor for name, minor in (("kueue", kueue), ("volcano", volcano)) if minor]
    tools = (root / tool for tool in (*NODE_TOOLS, *MONITORING, *ENGINES))
    return (root / "kubernetes" / kubernetes, root / "kustomize", *tools, *schedulers)


def _schema_files(kubernetes: str, kueue: str, volcano: str) -> dict[str, Path]:
    # An index of what exists, so that a kind named by a user never becomes a path.
    return {file.name: file for folder in schema_folders(kubernetes, kueue, volcano) for file in folder.glob("*.json")}


@cache  # clusters share most versions, and a schema costs more than all the objects of its kind
def _compile(file: Path) -> Draft202012Validator:
    # Imported here because loading the library takes tens of milliseconds: only commands that check objects pay them.
    from jsonschema_rs import Draft202012Validator  # noqa: PLC0415

    return Draft202012Validator(json.loads(file.read_text(encoding="utf-8")), validate_formats=True)


def _messages(validator: Draft202012Validator, obj: Mapping[str, Any]) -> list[str]:
    return [f"{_json_path(error.instance_path)}: {error.message}" for error in validator.iter_errors(obj)]


def _json_path(steps: Sequence[str | int]) -> str:
    """A path in the notation of RFC 9535, with names quoted where they are not plain words."""
    return "$" + "".join(_step(step) for step in steps)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else "['" + step.replace("\\", "\\\\").replace("'", "\\'") + "']"
