"""`tenancy explain` where GPUs are handed out in shares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenancy.cli import run

ORG = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
clusters: {train: {scheduler: kueue, accept: [no-gangs, no-borrowing, no-queue]}}
flavors:
  l4:
    gpu: L4
    nodes: 2
    node: {gpus: 8, cpu: 98, memory: 388Gi}
    daemons: {cpu: 2, memory: 4Gi}
    sharing: {timeSlicing: 4}
  h100:
    gpu: H100-SXM-80GB
    nodes: 1
    node: {gpus: 8, cpu: 98, memory: 388Gi}
    daemons: {cpu: 2, memory: 4Gi}
departments:
  research:
    budget: {l4: 64, h100: 8}
    teams:
      vision: {budget: {l4: 16, h100: 4}}
      small: {budget: {l4: 8, h100: {limit: 0}}}
"""


@pytest.fixture
def org(tmp_path: Path) -> Path:
    """An organization with shares of some GPUs beside whole ones."""
    (tmp_path / "org.yaml").write_text(ORG, encoding="utf-8")
    return tmp_path


def job(capsys: pytest.CaptureFixture[str], org: Path, *arguments: str) -> dict[str, Any]:
    """What is said of a job."""
    assert run(["explain", *arguments, str(org), "--format", "json"]) == 0
    (cluster,) = json.loads(capsys.readouterr().out)["clusters"]
    found: dict[str, Any] = cluster["job"]
    return found


@pytest.mark.parametrize("scheduler", ["kueue", "volcano", "native"])
def test_a_job_of_one_share_runs_and_one_of_two_never_does(
    capsys: pytest.CaptureFixture[str], org: Path, scheduler: str
) -> None:
    """With the cpu and memory of a share; the other one is refused before it waits for anything."""
    (org / "org.yaml").write_text(ORG.replace("scheduler: kueue", f"scheduler: {scheduler}"), encoding="utf-8")
    one = job(capsys, org, "research/vision", "--gpus", "1", "--flavor", "l4")
    assert one["pod"] == {"nvidia.com/gpu.shared": "1", "cpu": "3", "memory": "12Gi"}
    assert (one["outcome"], one["flavor"]) == ("quota", "l4")
    two = job(capsys, org, "research/vision", "--gpus", "2", "--flavor", "l4")
    assert (two["outcome"], two["cause"]) == ("never", "shares")
    assert run(["explain", "research/vision", "--gpus", "2", "--flavor", "l4", str(org)]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "it NEVER runs: the API server refuses it; a container gets one share of a GPU" in words


def test_several_gpus_are_whole_ones_where_there_is_a_choice(capsys: pytest.CaptureFixture[str], org: Path) -> None:
    """A team that reaches both flavors means those that can be given to one pod; one that reaches shares alone is told
    so."""
    found = job(capsys, org, "research/vision", "--gpus", "2")
    assert (found["pod"]["nvidia.com/gpu"], found["outcome"]) == ("2", "quota")
    alone = job(capsys, org, "research/small", "--gpus", "2")
    assert (alone["pod"]["nvidia.com/gpu.shared"], alone["cause"]) == ("2", "shares")


def test_no_pod_waits_for_a_whole_node(capsys: pytest.CaptureFixture[str], org: Path) -> None:
    """A pod of a share fits wherever one is free, so shares of several jobs on one node are no fragmentation."""
    assert run(["explain", "research/vision", "--flavor", "l4", str(org)]) == 0
    shown = capsys.readouterr().out
    assert "nvidia.com/gpu.shared" in shown
    assert "takes a whole node" not in shown
