"""`tenancy explain` for a team that scales its work with KEDA."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenancy.cli import run

ORG = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
clusters: {main: {}}
flavors:
  cpu: {nodes: 1, node: {cpu: 18, memory: 68Gi}, daemons: {cpu: 2, memory: 4Gi}}
  h100: {gpu: H100-SXM-80GB, nodes: 2, node: {gpus: 8, cpu: 192, memory: 2000Gi}, daemons: {cpu: 2, memory: 4Gi}}
departments:
  lab:
    budget: {h100: 16, cpu: {cpu: 16, memory: 64Gi}}
    teams:
      serve:
        autoscaling: keda
        budget: {h100: {quota: 4, limit: 6}, cpu: {quota: {cpu: 4, memory: 16Gi}, limit: {cpu: 8, memory: 64Gi}}}
        projects:
          web: {}
          api: {LIMITS}
      train: {budget: {h100: 8}}
"""


def explained(capsys: pytest.CaptureFixture[str], folder: Path, unit: str, *options: str, limits: str = "") -> str:
    """What is printed of a unit, on one line."""
    folder.joinpath("org.yaml").write_text(ORG.replace("LIMITS", limits), encoding="utf-8")
    assert run(["explain", unit, str(folder), *options]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_a_unit_shows_how_far_keda_goes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Six GPUs and eight cpu, for the team and each of its projects, with who says it; nothing of other teams."""
    team = explained(capsys, tmp_path, "lab/serve")
    assert "KEDA scales its work to no more than 14 pods: a ScaledObject that asks for more is refused." in team
    project = explained(capsys, tmp_path, "lab/serve/web")
    assert "no more than 14 pods:" in project
    assert f"autoscaling keda {tmp_path}/org.yaml:13:22, said by lab/serve" in project
    assert "KEDA" not in explained(capsys, tmp_path, "lab/train")


def test_namespaces_with_other_bounds_are_told_apart(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A project with larger default requests has a number of its own, in the text and in the data."""
    limits = "limits: {container: {cpu: 4}}"
    text = explained(capsys, tmp_path, "lab/serve", limits=limits)
    assert "no more than 8 pods in lab-serve-api, 14 pods in lab-serve-web:" in text
    data = json.loads(explained(capsys, tmp_path, "lab/serve", "--format", "json", limits=limits))
    assert data["clusters"][0]["scaled"] == {"lab-serve-api": 8, "lab-serve-web": 14}
