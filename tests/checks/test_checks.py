"""Every rule has a case that breaks it, with the text that a user sees, and a nearest case that is fine."""

from __future__ import annotations

import os
import re
from datetime import date
from pathlib import Path

import pytest

from tenancy import backend, check, load, model
from tenancy.diagnostics import Rule
from tenancy.pipeline import Examined, Options, examine
from tenancy.report import Report
from tenancy.report.text import text

CASES = Path(__file__).parent
TODAY = date(2026, 6, 15)
RULES = {rule.code: rule for rule in (*load.RULES, *model.RULES, *check.RULES, *backend.RULES)}
NAMES = ("Flux", "Kueue", "Kubernetes", "Volcano")
"""With which a message may begin."""
NOT_FROM_A_FILE = frozenset({"file-unreadable", "org-ambiguous", "org-missing", "yaml-size"})
"""Rules about the file system, whose cases are in tests/load."""


def _examine(code: str, kind: str) -> Examined:
    folder = CASES / code
    path = folder / f"{kind}.yaml"
    return examine(Path(os.path.relpath(path if path.exists() else folder / kind)), Options(today=TODAY))


@pytest.mark.parametrize("code", sorted(RULES.keys() - NOT_FROM_A_FILE))
def test_a_broken_rule_is_shown_as_committed(code: str, golden: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The failing case gives the finding, in the words of diagnostics.txt."""
    monkeypatch.chdir(CASES / code)
    found = _examine(code, "fails")
    shown = text(Report(found.diagnostics, found.sources, found.silenced, "0"), width=100)
    expected = CASES / code / "diagnostics.txt"
    if golden:
        expected.write_text(shown, encoding="utf-8")
    assert code in {diagnostic.code for diagnostic in found.diagnostics}
    assert shown == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("code", sorted(RULES.keys() - NOT_FROM_A_FILE))
def test_the_nearest_fine_case_has_no_finding(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The passing case gives nothing at all."""
    monkeypatch.chdir(CASES / code)
    found = _examine(code, "passes")
    assert [(diagnostic.code, diagnostic.message) for diagnostic in found.diagnostics] == []


def test_findings_are_written_alike() -> None:
    """A message begins in lower case unless with a name and has no period at its end; a help begins in lower case."""
    texts = [path.read_text(encoding="utf-8") for path in CASES.glob("*/diagnostics.txt")]
    messages = [line for text in texts for line in re.findall(r"^(?:error|warning|note)\[\S+\]: (.+)$", text, re.M)]
    assert [line for line in messages if line.endswith(".") or (line[0].isupper() and not line.startswith(NAMES))] == []
    assert [line for text in texts for line in re.findall(r"^ *= help: ([A-Z].*)$", text, re.M)] == []


def test_every_folder_belongs_to_a_rule() -> None:
    """A case whose rule is gone would never run."""
    folders = {path.name for path in CASES.iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert folders <= RULES.keys()


def test_codes_are_unique() -> None:
    """A code names one rule in the whole program."""
    every: tuple[Rule, ...] = (*load.RULES, *model.RULES, *check.RULES, *backend.RULES)
    assert len({rule.code for rule in every}) == len(every)
