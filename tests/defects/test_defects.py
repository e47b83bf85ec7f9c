"""The thirty seeded defects: every one is an error at its line, alone, and its near miss is fine.

Each is an edit of trial.yaml. docs/why-checks.md says what the real control plane does with them: it refuses eleven.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tenancy.diagnostics import Severity
from tenancy.pipeline import Examined, examine, generate

TRIAL = (Path(__file__).parent / "trial.yaml").read_text(encoding="utf-8")
HEAD = "apiVersion: tenancy/v1alpha1\nkind: Departments\n"
TEAM = "    budget: {h100: 8}\n    teams: {one: {}}\n"


@dataclass(frozen=True, kw_only=True)
class Defect:
    """An edit of the trial organization: `old` becomes `bad`, or `near`, which is the nearest thing that is fine."""

    name: str
    code: str
    line: str
    """Text of the line that the error must point at, in the edited file."""
    old: str = ""
    bad: str = ""
    near: str = ""
    file: str = "org.yaml"
    bad_files: Mapping[str, str] = field(default_factory=dict)
    near_files: Mapping[str, str] = field(default_factory=dict)


def _boards(count: int) -> str:
    """Flavors of `count` boards, each divided into MIG profiles of its own."""
    layouts = {
        "A100-SXM4-40GB": "{3g.20gb: 1, 2g.10gb: 1, 1g.5gb: 2}",
        "A100-PCIE-80GB": "{4g.40gb: 1, 1g.20gb: 1, 1g.10gb+me: 1, 1g.10gb: 1}",
        "H100-NVL-94GB": "{3g.47gb: 1, 2g.24gb: 1, 1g.12gb: 2}",
        "H20-96GB": "{4g.48gb: 1, 3g.48gb: 1}",
        "H200-SXM-141GB": "{3g.71gb: 1, 2g.35gb: 1, 1g.18gb: 2}",
        "H200-NVL-141GB": "{4g.71gb: 1, 1g.35gb: 1, 1g.18gb+me: 1, 1g.18gb: 1}",
        "H100-96GB": "{2g.24gb: 2, 1g.24gb: 2}",
        "H100-SXM-64GB": "{3g.32gb: 1, 2g.16gb: 1, 1g.8gb: 2}",
        "B200": "{3g.90gb: 1, 2g.45gb: 1, 1g.23gb: 2}",
        "H800-NVL-94GB": "{4g.47gb: 1, 2g.24gb: 1, 1g.12gb: 1}",
        "B300": "{3g.135gb: 1, 2g.67gb: 1, 1g.34gb: 2}",
        "GB300": "{3g.139gb: 1, 2g.70gb: 1, 1g.35gb: 2}",
        "A30": "{2g.12gb: 1, 1g.6gb: 2}",
        "RTX-PRO-6000": "{2g.48gb: 1, 1g.24gb: 2}",
    }
    lines = []
    for gpu, layout in list(layouts.items())[:count]:
        lines.append(f"  {gpu.lower()}:")
        lines.append(f"    gpu: {gpu}\n    nodes: 2\n    node: {{gpus: 8, cpu: 128, memory: 1000Gi}}")
        lines.append(f"    daemons: {{cpu: 2, memory: 4Gi}}\n    mig: {layout}")
    return "\n".join(lines) + "\n"


DEFECTS = (
    Defect(
        name="field misspelt",
        code="unknown-key",
        line="wieght",
        old="weight: 30",
        bad="wieght: 30",
        near="weight: 31",
    ),
    Defect(
        name="unknown enum value",
        code="unknown-value",
        line="reclaim:",
        old="reclaim: any",
        bad="reclaim: all",
        near="reclaim: lower-priority",
    ),
    Defect(
        name="more resources than a queue can hold",
        code="kueue-pairs",
        line="flavors:",
        old="  cpu:\n    nodes",
        bad=_boards(14) + "  cpu:\n    nodes",
        near=_boards(8) + "  cpu:\n    nodes",
    ),
    Defect(
        name="negative quota",
        code="quantity-negative",
        line="h100: -16",
        old="h100: 16",
        bad="h100: -16",
        near="h100: 0",
    ),
    Defect(
        name="limit where nothing can be borrowed",
        code="limit-above-borrowing",
        line="limit: 40",
        old="        weight: 30",
        bad="        weight: 30\n        policy: {borrowing: none}",
        near="        weight: 30\n        policy: {borrowing: department}",
    ),
    Defect(
        name="reserved above quota",
        code="reserved-above-quota",
        line="reserved: 25",
        old="reserved: 8,",
        bad="reserved: 25,",
        near="reserved: 24,",
    ),
    Defect(
        name="flavor given twice",
        code="yaml-duplicate-key",
        line="h100: 8 # again",
        old="          h100: 16\n",
        bad="          h100: 16\n          h100: 8 # again\n",
        near="          h100: 16\n          a100-mig: {1g.10gb: 8} # another\n",
    ),
    Defect(
        name="a GPU count of 2.5",
        code="quantity-fraction",
        line="h100: 2.5",
        old="h100: 16",
        bad="h100: 2.5",
        near="h100: 2.0",
    ),
    Defect(
        name="reclaim never with borrowing preemption",
        code="reclaim-never-with-borrowing-preemption",
        line="borrowingPreemption",
        old="          h100: 8\n",
        bad=(
            "          h100: {reserved: 8, quota: 8}\n"
            "        policy:\n"
            "          reclaim: never\n"
            "          borrowingPreemption: lower-priority\n"
        ),
        near=(
            "          h100: {reserved: 8, quota: 8}\n"
            "        policy:\n"
            "          reclaim: any\n"
            "          borrowingPreemption: lower-priority\n"
        ),
    ),
    Defect(
        name="duplicate taint",
        code="taint-twice",
        line="- acme.example/reserved=serving",
        old="    taint: acme.example/reserved=training:NoSchedule\n",
        bad=(
            "    taints:\n"
            "      - acme.example/reserved=training:NoSchedule\n"
            "      - acme.example/reserved=serving:NoSchedule\n"
        ),
        near=(
            "    taints:\n"
            "      - acme.example/reserved=training:NoSchedule\n"
            "      - acme.example/reserved=training:NoExecute\n"
        ),
    ),
    Defect(
        name="budget for a resource the flavor lacks",
        code="unknown-resource",
        line="7g.80gb",
        old="a100-mig: {1g.10gb: 16}",
        bad="a100-mig: {1g.10gb: 16, 7g.80gb: 1}",
        near="a100-mig: {1g.10gb: 16, 3g.40gb: 1}",
    ),
    Defect(
        name="name too long for the queue label",
        code="name-too-long",
        line="speech-and-",
        old="      speech:",
        bad="      speech-and-language-processing-for-customer-service-telephony:",
        near="      speech-and-language-processing-for-customer-service:",
    ),
    Defect(
        name="missing flavor",
        code="unknown-flavor",
        line="h10: 16",
        old="h100: 16",
        bad="h10: 16",
        near="h100: 15",
    ),
    Defect(
        name="missing department file",
        code="department-file-missing",
        line="file:",
        old="departments:\n",
        bad="departments:\n  robotics:\n    file: departments/robotics.yaml\n",
        near="departments:\n  robotics:\n    file: departments/robotics.yaml\n",
        near_files={"robotics": "departments:\n  robotics:\n" + TEAM},
    ),
    Defect(
        name="department cycle through files",
        code="department-cycle",
        line="parent:",
        file="departments/a.yaml",
        bad_files={
            "a": "parent: sound\ndepartments:\n  light:\n" + TEAM,
            "b": "parent: light\ndepartments:\n  sound:\n" + TEAM,
        },
        near_files={
            "a": "parent: product/sound\ndepartments:\n  light:\n    teams: {one: {}}\n",
            "b": "parent: product\ndepartments:\n  sound:\n    teams: {one: {}}\n",
        },
    ),
    Defect(
        name="missing parent",
        code="department-parent-missing",
        line="parent:",
        file="departments/a.yaml",
        bad_files={"a": "parent: reserch\ndepartments:\n  light:\n" + TEAM},
        near_files={"a": "parent: research\ndepartments:\n  light:\n" + TEAM},
    ),
    Defect(
        name="namespace in two teams",
        code="namespace-twice",
        line="namespace: product-ads",
        old="      speech:\n",
        bad="      speech:\n        namespace: product-ads\n",
        near="      speech:\n        namespace: product-ads-speech\n",
    ),
    Defect(
        name="topology without labels that select nodes",
        code="flavor-labels-empty",
        line="labels:",
        old="    spareNodes: 1\n",
        bad="    spareNodes: 1\n    topology: [acme.example/rack, kubernetes.io/hostname]\n    labels: {}\n",
        near=(
            "    spareNodes: 1\n"
            "    topology: [acme.example/rack, kubernetes.io/hostname]\n"
            "    labels: {acme.example/pool: h100}\n"
        ),
    ),
    Defect(
        name="two teams whose queue names collide",
        code="name-ambiguous",
        line="speech-lab: {}",
        old="    teams:\n      vision:\n",
        bad=(
            "    departments:\n"
            "      speech:\n"
            "        teams: {lab: {}}\n"
            "    teams:\n"
            "      speech-lab: {}\n"
            "      vision:\n"
        ),
        near=(
            "    departments:\n"
            "      speech-lab:\n"
            "        teams: {lab: {}}\n"
            "    teams:\n"
            "      speech-lab2: {}\n"
            "      vision:\n"
        ),
    ),
    Defect(
        name="borrowable flavor not reachable",
        code="limit-of-nothing",
        line="a100-mig: {limit",
        old="          h100: 8\n",
        bad="          h100: 8\n          a100-mig: {limit: {1g.10gb: 4}}\n        policy: {borrowing: department}\n",
        near="          h100: 8\n          a100-mig: {limit: {1g.10gb: 4}}\n",
    ),
    Defect(
        name="object quota below what the queue admits",
        code="pods-below-queue",
        line="pods: 39",
        old="        weight: 30\n",
        bad="        weight: 30\n        limits: {objects: {pods: 39}}\n",
        near="        weight: 30\n        limits: {objects: {pods: 300}}\n",
    ),
    Defect(
        name="taint without a way to tolerate it",
        code="fence-on-cpu-flavor",
        line="cpuJobs",
        old="    nodes: 10\n",
        bad="    nodes: 10\n    taint: acme.example/cpu:NoSchedule\n    cpuJobs: fence\n",
        near="    nodes: 10\n    taint: acme.example/cpu:NoSchedule\n    cpuJobs: lend\n",
    ),
    Defect(
        name="cpu without memory",
        code="cpu-memory-uncovered",
        line="cpu: {cpu: 100}",
        old="cpu: {cpu: 100, memory: 400Gi}",
        bad="cpu: {cpu: 100}",
        near="cpu: {cpu: 100, memory: 1Gi}",
    ),
    Defect(
        name="access for a namespace that nobody makes",
        code="unknown-namespace",
        line="product-serch",
        old="product-search/ci",
        bad="product-serch/ci",
        near="product-search/ci",
    ),
    Defect(
        name="quota above the physical GPUs",
        code="quota-above-capacity",
        line="h100: 89",
        old="      h100: 64\n",
        bad="      h100: 89\n",
        near="      h100: 88\n",
    ),
    Defect(
        name="label that matches no declared node",
        code="flavor-label-without-node",
        line="nvidia.com/gpu.product",
        old="    spareNodes: 1\n",
        bad="    spareNodes: 1\n    labels: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}\n",
        near="    spareNodes: 1\n    labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}\n",
    ),
    Defect(
        name="two flavors on the same nodes",
        code="flavors-overlap",
        line="labels: {acme.example/pool: gpu, ",
        old="    spareNodes: 1\n",
        bad="    spareNodes: 1\n    labels: {acme.example/pool: gpu}\n",
        near="    spareNodes: 1\n    labels: {acme.example/pool: h100}\n",
    ),
    Defect(
        name="MIG above the layout",
        code="quota-above-capacity",
        line="1g.10gb: 65",
        old="{1g.10gb: 16}",
        bad="{1g.10gb: 65}",
        near="{1g.10gb: 64}",
    ),
    Defect(
        name="teams above their department",
        code="quota-above-parent",
        line="h100: 32",
        old="          h100: 8\n",
        bad="          h100: 9\n",
        near="          h100: 7\n",
    ),
)
"""Twenty-nine errors; the thirtieth is none: a non-canonical quantity, which is accepted and emitted canonically."""


def edited(defect: Defect, replacement: str, files: Mapping[str, str], folder: Path) -> Examined:
    """The trial organization with a part of it replaced and further files, written to an empty folder and examined."""
    text = TRIAL
    if defect.old:
        assert defect.old in text
        text = text.replace(defect.old, replacement, 1)
    if defect.code == "flavors-overlap":
        text = text.replace(
            "    nodes: 4\n", "    nodes: 4\n    labels: {acme.example/pool: gpu, acme.example/board: a100}\n"
        )
    (folder / "departments").mkdir()
    (folder / "org.yaml").write_text(text, encoding="utf-8")
    for name, content in files.items():
        (folder / "departments" / f"{name}.yaml").write_text(HEAD + content, encoding="utf-8")
    return examine(folder)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_seeded_defect_is_one_error_at_its_line(defect: Defect, tmp_path: Path) -> None:
    """Exactly the expected error, at the line that somebody would have to edit."""
    found = edited(defect, defect.bad, defect.bad_files, tmp_path)
    assert len(found.diagnostics) == 1, [(each.code, each.message) for each in found.diagnostics]
    (diagnostic,) = found.diagnostics
    assert (diagnostic.code, diagnostic.severity) == (defect.code, Severity.ERROR)
    assert diagnostic.place.file.endswith(defect.file)
    line = Path(diagnostic.place.file).read_text(encoding="utf-8").splitlines()[diagnostic.place.line - 1]
    assert defect.line in line


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_the_near_miss_of_a_defect_is_fine(defect: Defect, tmp_path: Path) -> None:
    """The check does not refuse what is harmless."""
    found = edited(defect, defect.near, defect.near_files, tmp_path)
    assert [(each.code, each.message) for each in found.diagnostics] == []


@pytest.mark.parametrize(
    ("written", "emitted"),
    [("0.5", "500m"), ("64000m", "64"), ("'200.0'", "200"), ("1e2", "100")],
)
def test_a_quantity_in_another_spelling_is_emitted_canonically(written: str, emitted: str, tmp_path: Path) -> None:
    """The thirtieth: accepted as written; the object has the one spelling that no webhook rewrites."""
    (tmp_path / "org.yaml").write_text(
        TRIAL.replace("{cpu: 100, memory: 400Gi}", f"{{cpu: {written}, memory: 1024Gi}}").replace("800Gi", "2Ti"),
        encoding="utf-8",
    )
    found = examine(tmp_path)
    assert found.diagnostics == ()
    assert found.org is not None
    queues = generate(found.org, found.custom)["train/queues/departments/research/research.yaml"]
    assert f'nominalQuota: "{emitted}"' in queues
    assert 'nominalQuota: "1Ti"' in queues
    assert "1024Gi" not in queues


def test_there_are_thirty() -> None:
    """Twenty-nine errors and the accepted spelling."""
    assert len({defect.name for defect in DEFECTS}) == 29
