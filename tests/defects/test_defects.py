"""The thirty seeded defects: every one is an error at its line, alone, and its near miss is fine.

Each is an edit of trial.yaml. kubeconform catches three of them after they are compiled, Kueue's admission eleven.
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


@dataclass(frozen=True)
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
        "GH200-96GB": "{2g.24gb: 2, 1g.24gb: 2}",
        "GH200-144GB": "{3g.72gb: 1, 2g.36gb: 1, 1g.18gb: 2}",
        "B200": "{3g.90gb: 1, 2g.45gb: 1, 1g.23gb: 2}",
        "GB200": "{3g.93gb: 1, 2g.47gb: 1, 1g.23gb: 2}",
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
    Defect("field misspelt", "unknown-key", "wieght", "weight: 30", "wieght: 30", "weight: 31"),
    Defect(
        "unknown enum value", "unknown-value", "reclaim:", "reclaim: any", "reclaim: all", "reclaim: lower-priority"
    ),
    Defect(
        "more resources than a queue can hold",
        "kueue-pairs",
        "flavors:",
        "  cpu:\n    nodes",
        _boards(14) + "  cpu:\n    nodes",
        _boards(8) + "  cpu:\n    nodes",
    ),
    Defect("negative quota", "quantity-negative", "h100: -16", "h100: 16", "h100: -16", "h100: 0"),
    Defect(
        "limit where nothing can be borrowed",
        "limit-above-borrowing",
        "limit: 40",
        "        weight: 30",
        "        weight: 30\n        policy: {borrowing: none}",
        "        weight: 30\n        policy: {borrowing: department}",
    ),
    Defect(
        "reserved above quota", "reserved-above-quota", "reserved: 25", "reserved: 8,", "reserved: 25,", "reserved: 24,"
    ),
    Defect(
        "flavor given twice",
        "yaml-duplicate-key",
        "h100: 8 # again",
        "          h100: 16\n",
        "          h100: 16\n          h100: 8 # again\n",
        "          h100: 16\n          a100-mig: {1g.10gb: 8} # another\n",
    ),
    Defect("a GPU count of 2.5", "quantity-fraction", "h100: 2.5", "h100: 16", "h100: 2.5", "h100: 2.0"),
    Defect(
        "reclaim never with borrowing preemption",
        "reclaim-never-with-borrowing-preemption",
        "borrowingPreemption",
        "          h100: 8\n",
        "          h100: {reserved: 8, quota: 8}\n        policy:\n          reclaim: never\n          borrowingPreemption: lower-priority\n",
        "          h100: {reserved: 8, quota: 8}\n        policy:\n          reclaim: any\n          borrowingPreemption: lower-priority\n",
    ),
    Defect(
        "duplicate taint",
        "taint-twice",
        "- acme.example/reserved=serving",
        "    taint: acme.example/reserved=training:NoSchedule\n",
        "    taints:\n      - acme.example/reserved=training:NoSchedule\n      - acme.example/reserved=serving:NoSchedule\n",
        "    taints:\n      - acme.example/reserved=training:NoSchedule\n      - acme.example/reserved=training:NoExecute\n",
    ),
    Defect(
        "budget for a resource the flavor lacks",
        "unknown-resource",
        "7g.80gb",
        "a100-mig: {1g.10gb: 16}",
        "a100-mig: {1g.10gb: 16, 7g.80gb: 1}",
        "a100-mig: {1g.10gb: 16, 3g.40gb: 1}",
    ),
    Defect(
        "name too long for the queue label",
        "name-too-long",
        "speech-and-",
        "      speech:",
        "      speech-and-language-processing-for-customer-service-telephony:",
        "      speech-and-language-processing-for-customer-service:",
    ),
    Defect("missing flavor", "unknown-flavor", "h10: 16", "h100: 16", "h10: 16", "h100: 15"),
    Defect(
        "missing department file",
        "department-file-missing",
        "file:",
        "departments:\n",
        "departments:\n  robotics:\n    file: departments/robotics.yaml\n",
        "departments:\n  robotics:\n    file: departments/robotics.yaml\n",
        near_files={"robotics": "departments:\n  robotics:\n" + TEAM},
    ),
    Defect(
        "department cycle through files",
        "department-cycle",
        "parent:",
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
        "missing parent",
        "department-parent-missing",
        "parent:",
        file="departments/a.yaml",
        bad_files={"a": "parent: reserch\ndepartments:\n  light:\n" + TEAM},
        near_files={"a": "parent: research\ndepartments:\n  light:\n" + TEAM},
    ),
    Defect(
        "namespace in two teams",
        "namespace-twice",
        "namespace: product-ads",
        "      speech:\n",
        "      speech:\n        namespace: product-ads\n",
        "      speech:\n        namespace: product-ads-speech\n",
    ),
    Defect(
        "topology without labels that select nodes",
        "flavor-labels-empty",
        "labels:",
        "    spareNodes: 1\n",
        "    spareNodes: 1\n    topology: [acme.example/rack, kubernetes.io/hostname]\n    labels: {}\n",
        "    spareNodes: 1\n    topology: [acme.example/rack, kubernetes.io/hostname]\n    labels: {acme.example/pool: h100}\n",
    ),
    Defect(
        "two teams whose queue names collide",
        "name-ambiguous",
        "speech-lab: {}",
        "    teams:\n      vision:\n",
        "    departments:\n      speech:\n        teams: {lab: {}}\n    teams:\n      speech-lab: {}\n      vision:\n",
        "    departments:\n      speech-lab:\n        teams: {lab: {}}\n    teams:\n      speech-lab2: {}\n      vision:\n",
    ),
    Defect(
        "borrowable flavor not reachable",
        "limit-of-nothing",
        "a100-mig: {limit",
        "          h100: 8\n",
        "          h100: 8\n          a100-mig: {limit: {1g.10gb: 4}}\n        policy: {borrowing: department}\n",
        "          h100: 8\n          a100-mig: {limit: {1g.10gb: 4}}\n",
    ),
    Defect(
        "object quota below what the queue admits",
        "pods-below-queue",
        "pods: 39",
        "        weight: 30\n",
        "        weight: 30\n        limits: {objects: {pods: 39}}\n",
        "        weight: 30\n        limits: {objects: {pods: 300}}\n",
    ),
    Defect(
        "taint without a way to tolerate it",
        "fence-on-cpu-flavor",
        "cpuJobs",
        "    nodes: 10\n",
        "    nodes: 10\n    taint: acme.example/cpu:NoSchedule\n    cpuJobs: fence\n",
        "    nodes: 10\n    taint: acme.example/cpu:NoSchedule\n    cpuJobs: lend\n",
    ),
    Defect(
        "cpu without memory",
        "cpu-memory-uncovered",
        "cpu: {cpu: 100}",
        "cpu: {cpu: 100, memory: 400Gi}",
        "cpu: {cpu: 100}",
        "cpu: {cpu: 100, memory: 1Gi}",
    ),
    Defect(
        "access for a namespace that nobody makes",
        "unknown-namespace",
        "product-serch",
        "product-search/ci",
        "product-serch/ci",
        "product-search/ci",
    ),
    Defect(
        "quota above the physical GPUs",
        "quota-above-capacity",
        "h100: 89",
        "      h100: 64\n",
        "      h100: 89\n",
        "      h100: 88\n",
    ),
    Defect(
        "label that matches no declared node",
        "flavor-label-without-node",
        "nvidia.com/gpu.product",
        "    spareNodes: 1\n",
        "    spareNodes: 1\n    labels: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}\n",
        "    spareNodes: 1\n    labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}\n",
    ),
    Defect(
        "two flavors on the same nodes",
        "flavors-overlap",
        "labels: {acme.example/pool: gpu, ",
        "    spareNodes: 1\n",
        "    spareNodes: 1\n    labels: {acme.example/pool: gpu}\n",
        "    spareNodes: 1\n    labels: {acme.example/pool: h100}\n",
    ),
    Defect(
        "MIG above the layout", "quota-above-capacity", "1g.10gb: 65", "{1g.10gb: 16}", "{1g.10gb: 65}", "{1g.10gb: 64}"
    ),
    Defect(
        "teams above their department",
        "quota-above-parent",
        "h100: 32",
        "          h100: 8\n",
        "          h100: 9\n",
        "          h100: 7\n",
    ),
)
"""Twenty-nine errors; the thirtieth is no error: a non-canonical quantity, which is accepted and emitted canonically."""


def _edited(defect: Defect, replacement: str, files: Mapping[str, str], folder: Path) -> Examined:
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
    found = _edited(defect, defect.bad, defect.bad_files, tmp_path)
    assert len(found.diagnostics) == 1, [(each.code, each.message) for each in found.diagnostics]
    (diagnostic,) = found.diagnostics
    assert (diagnostic.code, diagnostic.severity) == (defect.code, Severity.ERROR)
    assert diagnostic.place.file.endswith(defect.file)
    line = Path(diagnostic.place.file).read_text(encoding="utf-8").splitlines()[diagnostic.place.line - 1]
    assert defect.line in line


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_the_near_miss_of_a_defect_is_fine(defect: Defect, tmp_path: Path) -> None:
    """The check does not refuse what is harmless."""
    found = _edited(defect, defect.near, defect.near_files, tmp_path)
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
    queues = generate(found.org, found.custom)["train/queues/departments/research.yaml"]
    assert f'nominalQuota: "{emitted}"' in queues
    assert 'nominalQuota: "1Ti"' in queues
    assert "1024Gi" not in queues


def test_there_are_thirty() -> None:
    """Twenty-nine errors and the accepted spelling."""
    assert len({defect.name for defect in DEFECTS}) == 29
