"""Organizations of any size for `tools/bench.py`: one org.yaml and a file a department, as a large company would write.

    python tools/bench_org.py 1000 DIR

Nothing is random: the same number of teams makes the same files. Capacity is sized to the budgets, so that every check
passes with nothing to say. A team comes to about 12 objects; every tenth has several namespaces.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TEAMS_A_DEPARTMENT = 50
_FIELDS = ("vision", "language", "speech", "ranking", "forecasting", "robotics", "genomics", "search", "fraud", "maps")
_SUITES = ("core", "applied", "platform", "labs", "quality")
_H100 = (0, 2, 4, 4, 8, 8, 8, 16, 24, 6)
_SLICES = (0, 0, 4, 0, 8)
_CORES = (16, 32, 32, 64, 24, 48)

_ROOT = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: globex
displayName: Globex
domain: gpu.globex.example

clusters:
  main:
    scheduler: kueue
    versions: {{kubernetes: "1.36", kueue: "0.19"}}

flavors:
  h100:
    gpu: H100-SXM-80GB
    nodes: {h100_nodes}
    spareNodes: 1
    node: {{gpus: 8, cpu: 192, memory: 2000Gi}}
    daemons: {{cpu: 2, memory: 8Gi}}
    taint: gpu.globex.example/reserved=training:NoSchedule
    topology: [cloud.example/block, cloud.example/rack, kubernetes.io/hostname]
    price: 3.20
  a100-mig:
    gpu: A100-SXM4-80GB
    nodes: {mig_nodes}
    node: {{gpus: 8, cpu: 128, memory: 1000Gi}}
    daemons: {{cpu: 2, memory: 8Gi}}
    mig: {{1g.10gb: 7}}
    taint: gpu.globex.example/reserved=sliced:NoSchedule
    price: 1.80
  cpu:
    nodes: {cpu_nodes}
    node: {{cpu: 66, memory: 260Gi}}
    daemons: {{cpu: 2, memory: 4Gi}}
    price: 2.40

priorities: {{production: 1000, research: 100, scavenger: -100}}

policy:
  borrowing: organization
  reclaim: any
  preemption: lower-priority
  queueing: best-effort
  gang: {{startTimeout: 10m, retries: 5}}

access:
  admins: ["group:platform-engineering"]
  auditors: ["group:internal-audit"]

network:
  services:
    model-registry: {{namespace: registry, pods: {{app.kubernetes.io/name: registry}}, ports: [443]}}
    datasets: {{cidr: 10.40.0.0/16, ports: [443, 2049]}}

departments:
"""

_DEPARTMENT = """\
# yaml-language-server: $schema=../../schemas/departments.schema.json
apiVersion: tenancy/v1alpha1
kind: Departments
departments:
  {name}:
    displayName: {title}
    costCenter: CC-{number}
    owner: {name}-leads@globex.example
    weight: {weight}
    budget:
      h100: {h100}
      a100-mig: {{1g.10gb: {slices}}}
      cpu: {{cpu: {cores}, memory: {memory}Gi}}
    access: {{admins: ["group:{name}-leads"]}}
    network: {{egress: {{services: [model-registry]}}}}
    teams:
"""


@dataclass(frozen=True, slots=True)
class Sums:
    """What the teams of a department, or of the organization, have as quota: GPUs, slices and cores."""

    h100: int
    slices: int
    cores: int

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.h100 + other.h100, self.slices + other.slices, self.cores + other.cores)


def write_org(teams: int, folder: Path) -> None:
    """Write an organization of `teams` teams into `folder`, which is made."""
    (folder / "departments").mkdir(parents=True)
    total = Sums(0, 0, 0)
    references = []
    for first in range(0, teams, TEAMS_A_DEPARTMENT):
        numbers = range(first, min(first + TEAMS_A_DEPARTMENT, teams))
        name = f"{_FIELDS[first // TEAMS_A_DEPARTMENT % len(_FIELDS)]}-{first // TEAMS_A_DEPARTMENT:03}"
        sums = _sum(numbers)
        total += sums
        references.append(f"  {name}:\n    file: departments/{name}.yaml\n")
        text = _department(name, first // TEAMS_A_DEPARTMENT, sums) + "".join(_team(name, number) for number in numbers)
        (folder / "departments" / f"{name}.yaml").write_text(text, encoding="utf-8")
    (folder / "org.yaml").write_text(_root(total) + "".join(references), encoding="utf-8")


def _sum(numbers: range) -> Sums:
    total = Sums(0, 0, 0)
    for number in numbers:
        total += Sums(_pick(_H100, number), _pick(_SLICES, number), _pick(_CORES, number))
    return total


def _pick(choices: tuple[int, ...], number: int) -> int:
    return choices[number % len(choices)]


def _root(total: Sums) -> str:
    return _ROOT.format(
        h100_nodes=total.h100 // 8 + 9, mig_nodes=total.slices // 56 + 4, cpu_nodes=total.cores // 64 + 8
    )


def _department(name: str, index: int, sums: Sums) -> str:
    return _DEPARTMENT.format(
        name=name,
        title=f"Department {index} ({name})",
        number=1000 + index,
        weight=10 + index % 40,
        h100=sums.h100,
        slices=sums.slices,
        cores=sums.cores,
        memory=4 * sums.cores,
    )


def _team(department: str, number: int) -> str:
    name = f"{_SUITES[number % len(_SUITES)]}-{number:05}"
    return f"      {name}:\n" + "".join(f"        {line}\n" for line in _lines(department, name, number))


def _lines(department: str, name: str, number: int) -> Iterator[str]:
    cores = _pick(_CORES, number)
    yield f"displayName: Team {number} of {department}"
    yield f"weight: {1 + number % 30}"
    yield "budget:"
    yield f"  cpu: {{cpu: {cores}, memory: {4 * cores}Gi}}"
    if gpus := _pick(_H100, number):
        yield f"  h100: {{reserved: {gpus // 4}, quota: {gpus}, limit: {2 * gpus}}}"
    if slices := _pick(_SLICES, number):
        yield f"  a100-mig: {{1g.10gb: {slices}}}"
    yield "access:"
    yield f'  members: ["group:{department}-{name}"]'
    if number % 4 == 0:
        yield "  serviceAccounts: [ci]"
    if number % 6 == 0:
        yield "network: {egress: {internet: true, services: [datasets]}}"
    if number % 12 == 5:
        yield "policy: {preemption: lower-or-newer-equal}"
    if number % 15 == 7:
        yield "labels: {globex.example/tier: gold}"
    if number % 20 == 3:
        yield "projects: {train: {}, serve: {}}"
    elif number % 20 == 14:
        yield f"projects: {{pretraining: {{budget: {{h100: {gpus // 2}}}}}, evaluation: {{}}}}"


if __name__ == "__main__":
    write_org(int(sys.argv[1]), Path(sys.argv[2]))
