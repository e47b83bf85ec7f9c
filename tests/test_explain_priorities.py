"""What `tenancy explain` and the map say of work that others may interrupt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenancy.cli import run

GUARDS = str(Path(__file__).parent / "cases" / "guards" / "org")
TAKEN = "What its GPU jobs have beyond its quota may be taken back while they run"


def explained(capsys: pytest.CaptureFixture[str], unit: str, *options: str) -> str:
    """The output, in one line for each paragraph."""
    assert run(["explain", unit, GUARDS, *options]) == 0
    return capsys.readouterr().out


def joined(text: str) -> str:
    return " ".join(text.split())


def test_who_borrows_hears_who_takes_back_and_with_which_notice(capsys: pytest.CaptureFixture[str]) -> None:
    """The lenders, then what each of its priorities has to save its state."""
    text = joined(explained(capsys, "research/vision"))
    assert "It may borrow what is idle of" in text
    notices = "a job of research has 2 min to save its state, one of notebook has 1 min to save its state"
    assert f"{TAKEN}: {notices}, one of scavenger begins again." in text


def test_a_project_that_borrows_nothing_is_never_evicted_for_others(capsys: pytest.CaptureFixture[str]) -> None:
    """Beside others of its team that are."""
    text = joined(explained(capsys, "research/language/evaluation"))
    assert "none of its jobs is ever evicted for another unit" in text
    assert TAKEN not in text


def test_the_priorities_of_a_unit_come_from_somewhere(capsys: pytest.CaptureFixture[str]) -> None:
    """From the nearest unit that says any, or from the organization."""
    found = {}
    for unit in ("research/interns", "research/vision", "product/search"):
        (cluster,) = json.loads(explained(capsys, unit, "--format", "json"))["clusters"]
        (fact,) = [each for each in cluster["facts"] if each["name"] == "priorities"]
        found[unit] = fact["value"], fact["detail"]
    assert found == {
        "research/interns": ("scavenger", ""),
        "research/vision": ("notebook, research, scavenger", "said by research"),
        "product/search": ("notebook, production, research, scavenger", "all of the organization"),
    }


def test_as_json_it_is_values(capsys: pytest.CaptureFixture[str]) -> None:
    """The preemptible priorities of the unit, with seconds; nothing for a unit that runs no jobs."""
    (cluster,) = json.loads(explained(capsys, "research/interns", "--format", "json"))["clusters"]
    assert cluster["interruption"] == {"borrows": True, "refused": True, "priorities": {"scavenger": 0}}
    (cluster,) = json.loads(explained(capsys, "research", "--format", "json"))["clusters"]
    assert cluster["interruption"] is None


def test_the_map_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the page of each unit that runs jobs."""
    assert run(["report", GUARDS, "-o", str(tmp_path / "site")]) == 0, capsys.readouterr().err
    pages = {path.stem: path.read_text() for path in (tmp_path / "site").rglob("*.html")}
    assert TAKEN in pages["research-vision"]
    assert "ever evicted for another unit" in pages["research-language-evaluation"]
    assert "When GPUs are taken back" not in pages["research"]
