"""The stages together: what stops what, and what a comment can silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenancy.pipeline import examine

ORG = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
clusters:
  train: {}
flavors:
  cpu:
    nodes: 4
    node: {cpu: 64, memory: 256Gi}
    daemons: {cpu: 2, memory: 4Gi}
departments:
  research:
    budget:
      cpu: {cpu: 100, memory: 400Gi}
    teams:
      vision:
        budget:
          cpu: {cpu: 50, memory: 200Gi}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "org.yaml"


def test_a_comment_silences_a_warning_at_its_line(path: Path) -> None:
    """The finding is counted and not shown; it is shown again without the comment."""
    unused = ORG.replace(
        "departments:\n",
        "  spare: {nodes: 0, node: {cpu: 8, memory: 32Gi}, daemons: {cpu: 1, memory: 1Gi}}\ndepartments:\n",
    )
    path.write_text(unused)
    (found,) = examine(path).diagnostics
    assert found.code == "flavor-without-nodes"
    path.write_text(unused.replace("  spare:", "  # tenancy: ignore[flavor-without-nodes]\n  spare:"))
    examined = examine(path)
    assert (examined.diagnostics, examined.silenced) == ((), 1)


def test_no_comment_silences_an_error(path: Path) -> None:
    """What it stands for cannot be compiled, whoever agrees with it."""
    line = "          cpu: {cpu: 150, memory: 200Gi}"
    path.write_text(
        ORG.replace("          cpu: {cpu: 50, memory: 200Gi}", f"{line} # tenancy: ignore[quota-above-parent]")
    )
    path.write_text(
        path.read_text().replace(
            "      cpu: {cpu: 100,", "      # tenancy: ignore[quota-above-parent]\n      cpu: {cpu: 100,"
        )
    )
    examined = examine(path)
    assert [found.code for found in examined.diagnostics] == ["quota-above-parent"]
    assert not examined.sound
    assert examined.silenced == 0


def test_one_run_finds_faults_of_every_stage(path: Path) -> None:
    """A broken law, a duplicate key and a misspelt one are found together, in file order."""
    text = ORG.replace("    teams:\n", "    displayName: A\n    displayName: B\n    weigth: 2\n    teams:\n")
    path.write_text(text.replace("cpu: {cpu: 50, memory: 200Gi}", "cpu: {cpu: 50, memory: 900Gi}"))
    codes = [found.code for found in examine(path).diagnostics]
    assert codes == ["quota-above-parent", "yaml-duplicate-key", "unknown-key"]


def test_a_misspelt_key_for_the_units_is_one_finding(path: Path) -> None:
    """Units that could not be read leave no pool unused: the misspelt key says it all."""
    path.write_text(ORG.replace("    teams:\n", "    team:\n"))
    assert [found.code for found in examine(path).diagnostics] == ["unknown-key"]


def test_compiling_does_not_look_at_the_calendar(path: Path) -> None:
    """Without a day nothing is expired, so that the output depends on the input alone."""
    path.write_text(ORG.replace("      vision:\n", "      vision:\n        expires: 2020-01-01\n"))
    assert examine(path).diagnostics == ()
