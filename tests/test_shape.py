"""The shape of the code: data flows one way, modules and functions stay small enough to hold in mind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "tenancy"
STAGES = ("diagnostics", "load", "model", "check", "plan", "backend", "render", "compare", "output", "live")
"""In the order of the data: a stage imports only from those before it."""

BESIDE = {
    "report": {"diagnostics", "load", "model"},
    "edit": {"diagnostics", "load", "model"},
    "site": {"diagnostics", "load", "model", "plan", "backend", "render", "compare", "resources"},
    "resources": set[str](),
}
"""Views and data files: what they may import; the stages that read shipped files may import `resources`."""

ON_TOP = {"pipeline", "cli", "__main__", "__init__", "commands"}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "_data" not in path.parts)


def _stage(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def _imports(path: Path) -> Iterator[tuple[str, int, bool]]:
    """Stages of this package that a module imports, with the line and whether that is inside a function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = [each.name for each in node.names]
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"tenancy.{name}" for name in names] if node.module == "tenancy" else [node.module]
        for name in names:
            if name.startswith("tenancy."):
                yield name.split(".")[1], node.lineno, id(node) in inside


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_stage_imports_only_from_stages_before_it(path: Path) -> None:
    """The import graph is the flow of the data; nothing looks back."""
    stage = _stage(path)
    if stage in ON_TOP:
        return
    allowed = BESIDE.get(stage)
    if allowed is None:
        allowed = {*STAGES[: STAGES.index(stage)], "resources"}
    wrong = [f"line {line}: {name}" for name, line, _ in _imports(path) if name not in allowed | {stage}]
    assert wrong == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_stage_imports_inside_a_function(path: Path) -> None:
    """Late imports hide cycles; only the command line uses them, to start fast."""
    if _stage(path) in ON_TOP:
        return
    assert [line for _, line, inside in _imports(path) if inside] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_and_functions_are_small(path: Path) -> None:
    """400 lines a module and 60 a function are the most that a reader is asked to hold in mind."""
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    long = [node.name for node in functions if (node.end_lineno or node.lineno) - node.lineno >= 60]
    assert long == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_what_is_public_says_what_holds(path: Path) -> None:
    """Every module that is not empty, and every class, function and method without an underscore, has a docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    public = [node for node in _definitions(tree) if not node.name.startswith("_")]
    missing = [node.name for node in public if not ast.get_docstring(node)]
    assert missing == []
    assert ast.get_docstring(tree) or not tree.body


def _definitions(tree: ast.Module | ast.ClassDef) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    """The classes and functions of a module, with the methods of its public classes."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _definitions(node)
