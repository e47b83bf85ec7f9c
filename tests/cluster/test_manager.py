"""What stops Kueue's manager: configurations, which our validator must tell apart as it does, and a priority class."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tenancy.backend.kueue.configuration_schema import violations
from tenancy.pipeline import examine
from tenancy.plan import plan
from tests.backend.kueue.test_configuration_schema import ROWS, ROWS_019, changed
from tests.cluster import deploy, jobs, manager
from tests.cluster.attackers import unread_format
from tests.cluster.client import Object, Refused
from tests.cluster.jobs import Scene
from tests.cluster.manager import KUEUE
from tests.cluster.plane import Cluster
from tests.cluster.processes import NotReady

pytestmark = pytest.mark.kueue("0.19", "0.17")

ROOT: Final = Path(__file__).parents[2]
COMMITTED: Final = {
    ROOT / "org": ROOT / "out",
    **{each / "org": each / "expected" / "kueue" for each in (ROOT / "tests" / "cases").iterdir() if each.is_dir()},
}
"""The output of every organization that has one."""
WORDS: Final = {
    "unknown top-level field": 'unknown field "bogus"',
    "unknown nested field": 'unknown field "fairSharing.enable"',
    "fairSharing {}": "fairSharing.preemptionStrategies",
    "fairSharing strategies reversed": "fairSharing.preemptionStrategies",
    "waitForPodsReady {}": "waitForPodsReady.timeout",
    "waitForPodsReady timestamp wrong": "waitForPodsReady.requeuingStrategy.timestamp",
    "waitForPodsReady negative backoffLimitCount": "waitForPodsReady.requeuingStrategy.backoffLimitCount",
    "waitForPodsReady all keys": "",
    "framework unknown": "foo/bar",
    "framework duplicate": "batch/job",
    "integrations.frameworks []": "",
    "selector matching kube-system": "managedJobsNamespaceSelector",
    "resources.transformations strategy Foo": "resources.transformations",
    "resources.quotaCheckStrategy (0.18+)": 'unknown field "resources.quotaCheckStrategy"',
    "unknown gate in file": "unrecognized feature gate: Nope",
    "0.18 gate ConcurrentAdmission": "unrecognized feature gate: ConcurrentAdmission",
    "GA locked gate set false": "LendingLimit",
    "queueVisibility (v1beta1)": 'unknown field "queueVisibility"',
    "admissionFairSharing": "",
}
"""Rows of the validator's table, and a part of what a manager that refuses one says last."""
STRANDED: Final = 4.0
"""Seconds in which nothing happens to a job that a working manager admits in less than one."""
TEAM: Final = "stoppable/dev"
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "stops",
    "clusters": {"main": {"guards": {"cluster": "off", "priorities": "off"}}},
    "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": {"gpus": 8, "cpu": 64, "memory": "512Gi"}}},
    "departments": {"stoppable": {"budget": {"h100": 16}, "teams": {"dev": {}}}},
}


@pytest.fixture(scope="module", autouse=True)
def _started_again(cluster: Cluster) -> Iterator[None]:
    """The next module finds a manager that runs."""
    yield
    manager.configure(cluster, {})


def start(cluster: Cluster, configuration: dict[str, Any]) -> str:
    """Start a manager with a configuration; its last words where it ends, else nothing."""
    wanted = manager.adapted(cluster, configuration)
    cluster.processes.stop("kueue")
    before = cluster.processes.mark("kueue")
    try:
        manager.start(cluster, wanted)
    except NotReady:
        return cluster.processes.since("kueue", before).replace("\\", "")  # quotes inside of a log's JSON
    return ""


def test_a_manager_starts_with_every_committed_configuration(cluster: Cluster) -> None:
    """Each configuration in out/ and in the golden cases starts the manager of its minor, although no framework's kinds
    are served; one for a minor that is not run is left out."""
    started = []
    for org, output in COMMITTED.items():
        found = examine(org).org
        assert found is not None
        for each in plan(found):
            if each.kueue == cluster.kueue:
                values = yaml.safe_load((output / each.name / manager.VALUES).read_text(encoding="utf-8"))
                text = values["managerConfig"]["controllerManagerConfigYaml"]
                started.append(start(cluster, yaml.safe_load(text)))
    assert started
    assert set(started) == {""}


@pytest.mark.parametrize("row", WORDS)
def test_the_validator_and_the_manager_agree(row: str, cluster: Cluster) -> None:
    """Our validator accepts a configuration exactly where the manager of this minor starts with it; a manager that does
    not start names what is wrong."""
    changes, accepted = next((changes, minors) for name, changes, minors in ROWS if name == row)
    configuration = changed(changes)
    said = start(cluster, configuration)
    assert (said == "") == (violations(configuration, cluster.kueue) == []) == (cluster.kueue in accepted)
    assert not said or WORDS[row] in said


def test_a_removed_gate_stops_the_manager(cluster: Cluster) -> None:
    """LendingLimit, which an organization could still set for 0.17, stops the manager of 0.19, and the validator says
    so for the one and not for the other."""
    changes = next(changes for name, changes, _ in ROWS_019 if name == "gate LendingLimit true")
    said = start(cluster, changed(changes))
    assert bool(said) == (cluster.kueue == "0.19") == bool(violations(changed(changes), cluster.kueue))
    assert not said or "unrecognized feature gate: LendingLimit" in said


@pytest.fixture
def scene(cluster: Cluster) -> Scene:
    """One team with 16 GPUs."""
    return jobs.opened(cluster, deploy.compiled_for(cluster, TREE))


def priority_class(name: str, value: int) -> Object:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": name, "labels": {deploy.MANAGED: "tenancy"}},
        "value": value,
    }


def test_kubernetes_refuses_a_priority_beyond_32_bits(cluster: Cluster) -> None:
    """From 1.36 on, the API server holds a WorkloadPriorityClass to the format of its value."""
    cluster.client.apply(priority_class("largest", 2**31 - 1), dry_run=True)
    refusal = pytest.raises(Refused, match="must be of type integer with format int32")
    with contextlib.nullcontext() if cluster.kubernetes == "1.35" else refusal:
        cluster.client.apply(priority_class("too-large", 2**31), dry_run=True)


def test_a_priority_beyond_32_bits_stops_all_admission_until_it_is_gone(cluster: Cluster, scene: Scene) -> None:
    """Before Kubernetes 1.36: a running manager makes no Workload for jobs of this class or of a later one; one that
    starts says that it is ready and makes none for any job; once the class is gone, all others get theirs."""
    client = cluster.client
    with unread_format(cluster):
        client.apply(priority_class("too-large", 3 * 10**9))
        client.apply(priority_class("later", 7))
        (cursed,) = scene.submit(TEAM, priority="too-large")
        (later,) = scene.submit(TEAM, priority="later")
        plain = scene.submit(TEAM, times=2)
        scene.asked = 2  # are expected to get Workloads
        scene.wait(lambda: scene.admitted(TEAM) == sorted(plain), "jobs without a class are admitted")
        # It says that it is ready; which of its controllers get as far as to work is a matter of their order.
        manager.start(cluster, cluster.configuration, settled="")
        (stranded,) = scene.submit(TEAM)
        scene.asked = 2
        scene.settle(STRANDED)
        assert scene.admitted(TEAM) == sorted(plain)
        client.delete(f"{KUEUE}/workloadpriorityclasses/too-large")
        scene.wait(lambda: scene.admitted(TEAM) == sorted([*plain, later, stranded]), "all others are admitted")
    assert cursed not in set(map(jobs.owner, scene.workloads(TEAM)))
    scene.clear()
