"""`tenancy inventory` as a user meets it: what it prints, and its exit status."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tenancy.cli import run

LISTS = Path(__file__).parent / "live" / "nodes"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, with every node list under lists/."""
    shutil.copytree(LISTS, tmp_path / "lists")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(name: str, *options: str) -> int:
    return run(["inventory", f"lists/{name}/org.yaml", "--nodes", f"lists/{name}/nodes.yaml", *options])


@pytest.mark.usefixtures("here")
def test_nodes_that_agree_are_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each flavor, and that nothing was found."""
    assert _run("eks-p5") == 0
    assert capsys.readouterr().out == (
        "train: 11 nodes\n"
        "FLAVOR  DECLARED  FOUND  USABLE  TOLD BY\n"
        "h100    8         8      8       the label eks.amazonaws.com/nodegroup: p5-training\n"
        "\n"
        "no findings\n"
    )


@pytest.mark.parametrize("name", ["gb200-nvl72", "a30-edge"])
@pytest.mark.usefixtures("here")
def test_an_error_and_a_warning_are_status_1(name: str) -> None:
    """Whoever runs this in a pipeline wants to hear of a warning, too: the nodes are not what was declared."""
    assert _run(name) == 1


def test_a_note_is_status_0(here: Path) -> None:
    """A level that is the same on all nodes is worth a note, not a failure."""
    path = here / "lists" / "eks-p5" / "org.yaml"
    path.write_text(path.read_text().replace("topology: [", "topology: [topology.k8s.aws/network-node-layer-1, "))
    assert _run("eks-p5") == 0


def test_a_comment_silences_a_warning(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it does for the checks."""
    path = here / "lists" / "a30-edge" / "org.yaml"
    path.write_text(path.read_text().replace("1g.6gb: 2}", "1g.6gb: 2}  # tenancy: ignore[mig-config-other]"))
    assert _run("a30-edge") == 0
    assert capsys.readouterr().out.endswith("no findings, 1 silenced by comments\n")


@pytest.mark.usefixtures("here")
def test_findings_are_data(capsys: pytest.CaptureFixture[str]) -> None:
    """In the formats of the other commands, without the table."""
    assert _run("gb200-nvl72", "--format", "json") == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["code"], found["place"]["path"]) == ("node-topology", ["flavors", "gb200", "topology", 0])


def test_nodes_that_cannot_be_read_are_status_3(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Never "agrees", and the reason goes to the other stream."""
    (here / "lists" / "eks-p5" / "nodes.yaml").write_text("kind: Pod\n")
    assert _run("eks-p5") == 3
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "error: lists/eks-p5/nodes.yaml: a Pod is not a Node\n")


def test_an_organization_with_errors_is_not_compared(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its own findings are shown instead."""
    path = here / "lists" / "eks-p5" / "org.yaml"
    path.write_text(path.read_text().replace("H100-SXM-80GB", "H1000"))
    assert _run("eks-p5") == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "error[unknown-gpu]" in shown.err


@pytest.mark.usefixtures("here")
def test_without_an_organization_flavors_are_proposed(capsys: pytest.CaptureFixture[str]) -> None:
    """Who has none yet needs a start, and is told why."""
    assert run(["inventory", "--nodes", "lists/eks-p5/nodes.yaml"]) == 0
    shown = capsys.readouterr()
    assert shown.out == (LISTS / "eks-p5" / "propose.yaml").read_text(encoding="utf-8")
    assert shown.err == "no organization here or above: proposing flavors for the nodes\n"


@pytest.mark.usefixtures("here")
def test_a_proposal_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Also beside an organization, and as data."""
    assert _run("dgx-h100", "--propose", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["flavors"]["h100"]["node"] == {"gpus": 8, "cpu": 222, "memory": "2011Gi"}
    assert found["leftOut"] == {"of the control plane": ["cp-1", "cp-2", "cp-3"]}


USAGE = {
    "a proposal as SARIF": (["--propose", "--format", "sarif"], "formats text and json"),
    "a file and a cluster": (["--context", "train"], "neither --kubeconfig nor --context"),
    "a cluster that is not there": (["--cluster", "serve"], "no cluster 'serve'"),
}


@pytest.mark.parametrize("case", USAGE)
@pytest.mark.usefixtures("here")
def test_a_question_that_makes_no_sense_is_status_2(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says what does."""
    options, said = USAGE[case]
    assert _run("eks-p5", *options) == 2
    assert said in capsys.readouterr().err
