"""The benchmark: its organizations are sound, so that it times compilations and not findings, and its verdict."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tenancy.pipeline import examine, generate

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def _tool(name: str) -> ModuleType:
    """A script of tools/, which is no package, as a module."""
    spec = importlib.util.spec_from_file_location(f"tools_{name}", TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


bench, bench_org = _tool("bench"), _tool("bench_org")


@pytest.mark.parametrize("teams", [10, 130])
def test_every_check_passes_with_nothing_to_say(teams: int, tmp_path: Path) -> None:
    """A part of a department, and several with a part, have no findings, warnings and notes included."""
    bench_org.write_org(teams, tmp_path / "org")
    found = examine(tmp_path / "org")
    assert found.org is not None
    assert [each.message for each in found.diagnostics] == []


def test_a_team_comes_to_about_a_dozen_objects(tmp_path: Path) -> None:
    """100 teams make 12 to 16 objects each, so that figures of different versions can be compared."""
    bench_org.write_org(100, tmp_path / "org")
    org = examine(tmp_path / "org").org
    assert org is not None
    texts = [text for path, text in generate(org, {}).items() if "/tenants/" in path or "/queues/" in path]
    objects = sum(text.count("\nkind: ") for text in texts if "kind: Kustomization" not in text)
    assert 12 <= objects / 100 <= 16


def test_a_missed_budget_fails_the_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    """One budget beyond its limit is enough for exit status 1, and the table says which one."""
    kept, missed = bench.Budget("kept one", most=0.5, measured=0.5), bench.Budget("missed one", most=0.5, measured=0.6)
    assert bench.verdict([kept]) == 0
    assert bench.verdict([kept, missed]) == 1
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.endswith("MISSED")] == ["missed"]
