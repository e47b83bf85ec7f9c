"""Golden cases: organizations with their whole output, and the laws that every output obeys."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tenancy.backend import BACKENDS, LOSSES
from tenancy.diagnostics import Severity
from tenancy.load.yaml import parse as parse_yaml
from tenancy.output.lock import LOCK
from tenancy.output.write import survey, write
from tenancy.pipeline import Options, examine, generate
from tenancy.report import Report
from tenancy.report.text import text

CASES = Path(__file__).parent
ROOT = CASES.parent.parent
NAMES = sorted(path.name for path in CASES.iterdir() if (path / "org").is_dir())
EXAMPLE = ROOT / "org"


def _compiled(org: Path) -> dict[str, str]:
    found = examine(org, Options(accepted=[rule.code for rule in LOSSES]))
    assert [each.message for each in found.diagnostics if each.severity is Severity.ERROR] == []
    assert found.org is not None
    return generate(found.org, found.custom)


def _tree(root: Path) -> dict[str, str]:
    found = (path for path in root.rglob("*") if path.is_file() and path.name != LOCK)
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in found}


@pytest.mark.parametrize("scheduler", sorted(BACKENDS))
@pytest.mark.parametrize("name", NAMES)
def test_a_case_compiles_to_its_committed_output(name: str, scheduler: str, golden: bool) -> None:
    """Every file of expected/SCHEDULER is what the compiler writes for it, and nothing else, with all losses accepted.

    What an error keeps from being written is not there; expected/SCHEDULER.txt has all findings, losses included.
    """
    expected, report = (CASES / name / "expected" / each for each in (scheduler, f"{scheduler}.txt"))
    files, shown = _for(scheduler, CASES / name / "org")
    if golden:
        shutil.rmtree(expected, ignore_errors=True)
        assert write(expected, files, survey(expected, files)).diagnostics == ()
        report.write_text(shown, encoding="utf-8")
    assert shown == report.read_text(encoding="utf-8")
    assert files == _tree(expected)


def _for(scheduler: str, org: Path) -> tuple[dict[str, str], str]:
    """The files of a case for a scheduler, none where it has errors; and its findings as a user sees them."""
    found = examine(org, Options(scheduler=scheduler))
    findings = [replace(each, place=replace(each.place, file="org.yaml"), related=()) for each in found.diagnostics]
    shown = text(Report(tuple(findings), None, found.silenced, "0"), width=100)
    accepted = examine(org, Options(scheduler=scheduler, accepted=[rule.code for rule in LOSSES]))
    if not accepted.sound or accepted.org is None:
        return {}, shown
    return generate(accepted.org, accepted.custom), shown


def test_the_example_has_no_finding() -> None:
    """The example organization is what we recommend, so nothing is to be said about it."""
    assert [(each.code, each.message) for each in examine(EXAMPLE).diagnostics] == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("org", [EXAMPLE, *(CASES / name / "org" for name in NAMES)], ids=lambda org: org.parent.name)
def test_the_order_of_keys_does_not_matter(org: Path, seed: int, tmp_path: Path) -> None:
    """The same organization with its keys shuffled compiles to the same bytes."""
    source = org / "org.yaml"
    shuffled = tmp_path / "org"
    shutil.copytree(org, shuffled)
    for path in sorted(org.rglob("*.yaml")):
        tree = parse_yaml(path.read_text(encoding="utf-8"), 0, source.name).tree
        (shuffled / path.relative_to(org)).write_text(
            json.dumps(_shuffled(tree, random.Random(seed))), encoding="utf-8"
        )
    assert _compiled(shuffled) == _compiled(org)


def _shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        items = [(key, _shuffled(item, chance)) for key, item in value.items()]
        chance.shuffle(items)
        return dict(items)
    return [_shuffled(item, chance) for item in value] if isinstance(value, list) else value


def test_the_output_depends_on_neither_locale_nor_clock_nor_hash_seed(tmp_path: Path) -> None:
    """Two processes in different surroundings write the same bytes."""
    surroundings = (
        {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "1", "PYTHONUTF8": "0"},
        {"LC_ALL": "tr_TR.UTF-8", "TZ": "Pacific/Auckland", "PYTHONHASHSEED": "2", "PYTHONUTF8": "1"},
    )
    trees = []
    for index, extra in enumerate(surroundings):
        out = tmp_path / str(index)
        command = [sys.executable, "-m", "tenancy", "compile", str(EXAMPLE), "-o", str(out)]
        subprocess.run(command, env={**os.environ, **extra}, check=True, capture_output=True)
        trees.append(_tree(out) | {LOCK: (out / LOCK).read_text()})
    assert trees[0] == trees[1]


def test_compiling_again_touches_nothing(tmp_path: Path) -> None:
    """A second run leaves every file, its times included, as it was."""
    command = [sys.executable, "-m", "tenancy", "compile", str(EXAMPLE), "-o", str(tmp_path / "out")]
    subprocess.run(command, check=True, capture_output=True)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    subprocess.run(command, check=True, capture_output=True)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")} == before
    subprocess.run([*command, "--check"], check=True, capture_output=True)
