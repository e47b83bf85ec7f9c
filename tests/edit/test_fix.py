"""`tenancy fix`: what findings propose ends them, and brings nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tenancy.cli import run
from tenancy.diagnostics import Diagnostic
from tenancy.edit.compared import new_findings
from tenancy.edit.editing import Texts, edited
from tenancy.pipeline import Options, examine
from tests.orgs import changed

CHECKS = Path(__file__).parent.parent / "checks"
TODAY = date(2026, 6, 15)
MENDED = (
    "limit-above-parent",
    "limit-unreachable",
    "loss-not-there",
    "loss-unknown",
    "quota-above-limit",
    "reserved-above-parent",
    "reserved-above-quota",
    "service-port-twice",
    "subject-at-two-levels",
    "subject-twice",
    "taint-soft",
    "topology-hostname",
    "unit-topology-level",
    "unknown-cluster",
    "unknown-flavor",
    "unknown-key",
    "unknown-namespace",
    "unknown-resource",
    "unknown-service",
    "unknown-value",
    "whole-nodes-without-gpu",
    "wrong-type",
)
"""Codes whose failing case under tests/checks has a change that is certain."""

BASE: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "flavors": {
        "h100": {
            "gpu": "H100-SXM-80GB",
            "nodes": 4,
            "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"},
            "daemons": {"cpu": 2, "memory": "4Gi"},
        },
        "cpu": {"nodes": 4, "node": {"cpu": 64, "memory": "256Gi"}, "daemons": {"cpu": 2, "memory": "4Gi"}},
    },
    "departments": {
        "research": {
            "budget": {"h100": 24},
            "teams": {"vision": {"budget": {"h100": 16}}, "speech": {"budget": {"h100": 8}}},
        }
    },
}
R, V = "departments.research", "departments.research.teams.vision"
VARIANTS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "a budget for the unit above, of all that is counted": (
        "quota-above-parent",
        {f"{V}.budget": {"h100": 16, "cpu": {"cpu": 8, "memory": "64Gi"}}},
    ),
    "a budget of GPUs for the unit above": ("quota-above-parent", {f"{R}.budget": {}}),
    "a board that is one letter off": ("unknown-gpu", {"flavors.h100.gpu": "H100-SXM-80"}),
    "a suffix with a B": ("quantity-syntax", {"flavors.h100.node": {"gpus": 8, "cpu": 192, "memory": "2000GiB"}}),
    "grouped digits": ("quantity-syntax", {"flavors.h100.node": {"gpus": 8, "cpu": "1,920", "memory": "2000Gi"}}),
    "a share that is misspelt": ("quantity-syntax", {f"{V}.budget": {"h100": "shared"}}),
    "a kind of subject in capitals": ("subject-syntax", {f"{V}.access": {"members": ["Group: vision"]}}),
    "an account as a login shows it": (
        "subject-system",
        {f"{V}.access": {"members": ["user:system:serviceaccount:argo:runner"]}},
    ),
    "an account of a team that is misspelt": (
        "unknown-service-account",
        {
            f"{V}.access": {"serviceAccounts": ["builder"]},
            f"{R}.access": {"viewers": ["serviceaccount:research-vision/bulder"]},
        },
    ),
    "an address without a length": ("network-range", {"network": {"metadata": ["169.254.169.254"]}}),
    "a custom resource without count/": ("object-key", {f"{V}.limits": {"objects": {"jobs.batch": 500}}}),
    "a node name that is there twice": (
        "node-names",
        {"flavors.cpu.nodeNames": ["cpu-*", "cpu-*"]},
    ),
    "a level that is there twice": (
        "topology-levels",
        {"flavors.h100.topology": ["a.example/rack", "a.example/rack", "kubernetes.io/hostname"]},
    ),
    "hosts before racks": (
        "topology-hostname",
        {"flavors.h100.topology": ["kubernetes.io/hostname", "a.example/rack"]},
    ),
    "a service account that is listed twice": ("subject-twice", {f"{V}.access": {"serviceAccounts": ["ci", "ci"]}}),
    "a number in quotes": ("wrong-type", {"flavors.h100.nodes": "4"}),
    "one member without brackets": ("wrong-type", {f"{V}.access": {"members": "group:vision"}}),
    "a limit above the parent's, in slices of cpu": (
        "limit-above-parent",
        {f"{R}.budget": {"h100": {"quota": 24, "limit": 24}}, f"{V}.budget": {"h100": {"quota": 16, "limit": 32}}},
    ),
}


def _case(code: str) -> Path:
    path = CHECKS / code / "fails.yaml"
    return path if path.exists() else CHECKS / code / "fails"


def _mends(path: Path, finding: Diagnostic, before: tuple[Diagnostic, ...]) -> None:
    """The edits of a finding end it, and bring none."""
    texts = edited(Texts(path), finding.edits)
    after = examine(path, Options(today=TODAY, texts=texts.texts)).diagnostics
    assert (finding.code, finding.place.path) not in {(each.code, each.place.path) for each in after}
    assert new_findings(before, after, finding.edits) == ()


@pytest.mark.parametrize("code", MENDED)
def test_what_a_finding_proposes_ends_it(code: str) -> None:
    """On the failing case of its rule."""
    found = examine(_case(code), Options(today=TODAY)).diagnostics
    proposed = [each for each in found if each.code == code and each.edits]
    assert proposed
    for finding in proposed:
        _mends(_case(code), finding, found)


@pytest.mark.parametrize("title", VARIANTS)
def test_what_a_variant_proposes_ends_it(title: str, tmp_path: Path) -> None:
    """Faults that the cases of the rules do not have."""
    code, changes = VARIANTS[title]
    path = tmp_path / "org.yaml"
    YAML(pure=True).dump(changed(BASE, dict(changes)), path)
    found = examine(path, Options(today=TODAY)).diagnostics
    proposed = [each for each in found if each.code == code and each.edits]
    assert proposed, [(each.code, each.message, each.help) for each in found]
    _mends(path, proposed[0], found)


def test_no_case_proposes_what_does_not_end_it() -> None:
    """Whatever the other rules propose, now or later."""
    for folder in sorted(CHECKS.iterdir()):
        path = _case(folder.name)
        if not path.exists() or folder.name in MENDED:
            continue
        found = examine(path, Options(today=TODAY)).diagnostics
        for finding in found:
            if finding.edits:
                _mends(path, finding, found)


def _misspell(org: Path) -> None:
    path = org / "org.yaml"
    text = path.read_text().replace("price: 3.20", "pirce: 3.20").replace("scheduler: kueue", "scheduler: keuue")
    path.write_text(text.replace("reserved: 2, quota: 6", "reserved: 7, quota: 6"))


def test_without_a_selection_it_lists(org: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every change with its place, and nothing is written; what a misspelt key hides comes later."""
    _misspell(org)
    old = (org / "org.yaml").read_text()
    assert run(["fix"]) == 1
    out = capsys.readouterr().out
    assert "org/org.yaml:15: error[unknown-key]: unknown key `pirce` in `flavors.h100`\n" in out
    assert "    rename flavors.h100.pirce to price\n" in out
    assert "    set clusters.train.scheduler to kueue\n" in out
    assert (org / "org.yaml").read_text() == old


def test_all_goes_on_until_nothing_is_proposed(org: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three faults, of which one hides another, and the files are as they were before them."""
    old = (org / "org.yaml").read_text()
    _misspell(org)
    assert run(["fix", "--all"]) == 0
    assert (org / "org.yaml").read_text() == old.replace("reserved: 2, quota: 6", "reserved: 6, quota: 6")
    assert "+        price: 3.20\n" in capsys.readouterr().out


def test_one_by_its_line_or_its_code(org: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The others stay, and one that hides a finding which is not selected stays itself."""
    _misspell(org)
    assert run(["fix", "org/org.yaml:7"]) == 0
    text = (org / "org.yaml").read_text()
    assert "scheduler: kueue " in text
    assert "pirce" in text
    assert run(["fix", "unknown-key"]) == 1
    assert "stays: its change would bring reserved-above-quota" in capsys.readouterr().err
    assert run(["fix", "unknown-key", "reserved-above-quota"]) == 2


def test_a_change_that_would_bring_a_finding_is_left(org: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says which, and the file stays."""
    path = org / "org.yaml"
    path.write_text(path.read_text().replace("price: 3.20", "pirce: cheap"))
    old = path.read_text()
    assert run(["fix", "--all"]) == 1
    captured = capsys.readouterr()
    assert "unknown-key stays: its change would bring quantity-syntax" in captured.err
    assert path.read_text() == old


@pytest.mark.parametrize(
    ("selected", "why"),
    [
        ("unknown-flavor", "there is no finding `unknown-flavor`"),
        ("org/org.yaml:1", "there is no finding `org/org.yaml:1`"),
        ("quota-above-parent", "no change is certain for `quota-above-parent`: take 80 GPUs"),
    ],
)
def test_what_cannot_be_fixed_says_so(org: Path, capsys: pytest.CaptureFixture[str], selected: str, why: str) -> None:
    """A selection of nothing is a fault of the command line; a decision is nobody's but the reader's."""
    path = org / "org.yaml"
    path.write_text(path.read_text().replace("reserved: 2, quota: 6, limit: 10", "quota: 88"))
    assert run(["fix", selected]) == 2
    assert why in capsys.readouterr().err
