"""`tenancy gpus`: every layout worked out by hand, through the command line, and its ways to answer."""

from __future__ import annotations

import json

import pytest

from tenancy.cli import run
from tenancy.model.gpus import CATALOGUE
from tenancy.model.mig import RefusalKind

from .model.mig_examples import FIT, REFUSED
from .model.mig_reference import BOARDS, legal, mix


def _fit(text: str) -> str:
    """A mix of the examples as the option takes it."""
    return ",".join(f"{profile}={count}" for profile, count in mix(text).items())


@pytest.mark.parametrize(("gpu", "text", "listed"), FIT)
def test_an_example_that_fits_is_drawn(gpu: str, text: str, listed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Status 0, a box for each instance over the ruler of units, and legal starts in the JSON."""
    assert run(["gpus", gpu, "--fit", _fit(text)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(" fits")
    boxes = [box.rstrip(".").strip() for box in lines[3].strip().strip("|").split("|")]
    assert sorted(filter(None, boxes)) == sorted(mix(text).elements())
    assert run(["gpus", gpu, "--fit", _fit(text), "--format", "json"]) == 0
    placed = json.loads(capsys.readouterr().out)["instances"]
    assert legal(BOARDS[gpu], [(slot["profile"], slot["start"]) for slot in placed])
    if listed:
        assert sorted(f"{slot['start']}:{slot['memoryUnits']}" for slot in placed) == sorted(listed.split())


@pytest.mark.parametrize(("gpu", "text", "kind"), REFUSED)
def test_an_example_that_cannot_be_is_refused(
    gpu: str, text: str, kind: RefusalKind, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 1, the reason and what to write instead; the law that it breaks in the JSON."""
    assert run(["gpus", gpu, "--fit", _fit(text)]) == 1
    title, reason, help_ = capsys.readouterr().out.splitlines()
    assert title.endswith(" does not fit")
    assert run(["gpus", gpu, "--fit", _fit(text), "--format", "json"]) == 1
    refusal = json.loads(capsys.readouterr().out)["refusal"]
    assert (refusal["kind"], refusal["reason"], refusal["help"]) == (kind.value, reason.strip(), help_.strip())


@pytest.mark.parametrize("gpu", CATALOGUE)
def test_every_board_is_shown(gpu: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its text has its product labels and PCI ids, its JSON the same."""
    assert run(["gpus", gpu]) == 0
    text = capsys.readouterr().out
    assert run(["gpus", gpu, "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)["gpu"]
    assert text.startswith(f"{gpu}\n")
    assert all(name in text for name in (*shown["products"], *shown["pciIds"]))


def test_the_catalogue_is_shown_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a model the JSON lists every board."""
    assert run(["gpus", "--format", "json"]) == 0
    assert [gpu["name"] for gpu in json.loads(capsys.readouterr().out)["gpus"]] == list(CATALOGUE)


@pytest.mark.parametrize(
    "arguments",
    [["H101"], ["--fit", "1g.10gb=7"], ["A30", "--fit", "1g.6gb"], ["A30", "--fit", "1g.6gb=-1"], ["A30", "--fit", ""]],
)
def test_what_cannot_be_read_is_a_usage_error(arguments: list[str]) -> None:
    """An unknown board, a layout without a board, and text that is no layout are status 2."""
    assert run(["gpus", *arguments]) == 2
