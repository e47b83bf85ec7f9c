"""The JSON Schemas of the language: what an editor completes, shows and underlines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tenancy.load.yaml import parse
from tenancy.model.schema import DOCUMENTS, keys_at, schema

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = [ROOT / "org" / "org.yaml", *sorted((ROOT / "org" / "departments").rglob("*.yaml"))]
CASES = sorted((ROOT / "tests" / "cases").glob("*/org/org.yaml"))


def _tree(path: Path) -> Any:
    return parse(path.read_text(encoding="utf-8"), 0, path.name).tree


def _errors(tree: Any) -> list[str]:
    name = str(tree["kind"]).lower()
    return [error.json_path for error in Draft202012Validator(schema(name)).iter_errors(tree)]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_it_is_a_schema(name: str) -> None:
    """The reference implementation accepts it as one."""
    Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("path", [*EXAMPLE, *CASES], ids=lambda path: str(path.relative_to(ROOT)))
def test_an_editor_underlines_nothing_in_a_valid_file(path: Path) -> None:
    """What the tool accepts, the schema accepts."""
    assert _errors(_tree(path)) == []


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda tree: tree.update(flavour={}), "$"),
        (lambda tree: tree["clusters"]["train-eu"].update(scheduler="kueu"), "$.clusters['train-eu'].scheduler"),
        (lambda tree: tree["flavors"]["h100"].update(nodes=2.5), "$.flavors.h100.nodes"),
        (lambda tree: tree["flavors"]["h100"].pop("node"), "$.flavors.h100"),
        (lambda tree: tree["policy"].update(reclaim="some"), "$.policy.reclaim"),
    ],
    ids=["unknown key", "unknown value", "fraction", "missing key", "policy"],
)
def test_an_editor_underlines_a_fault_where_it_stands(change: Any, where: str) -> None:
    """Common faults are seen while typing."""
    tree = _tree(EXAMPLE[0])
    change(tree)
    assert where in [path.replace('"', "'") for path in _errors(tree)]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_key_says_what_it_means(name: str) -> None:
    """An editor shows the description of each key, so none may lack one."""
    document = schema(name)
    parts = {"": document, **document["$defs"]}
    silent = [
        f"{part}.{key}"
        for part, content in parts.items()
        for key, value in content.get("properties", {}).items()
        if not value.get("description")
    ]
    assert silent == []


def test_the_keys_at_a_path_are_those_of_the_language() -> None:
    """Suggestions for a misspelt key come from the schema, through names, references and alternatives."""
    assert "budget" in keys_at(("departments", "research", "teams", "vision"))
    assert keys_at(("departments", "a", "departments", "b", "budget", "h100")) == ["limit", "quota", "reserved"]
    assert "gpus" in keys_at(("flavors", "h100", "node"))
    assert keys_at(("no", "such", "path")) == []
