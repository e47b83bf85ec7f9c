"""What members of teams try on a cluster without a batch scheduler: attacks are refused, ordinary work is not."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.backend.kueue.attacks import ORGANIZATION, job, pod, spec
from tests.backend.native.attack_tables import ATTACKS, ORDINARY
from tests.cluster import deploy, native_jobs
from tests.cluster.again import touched
from tests.cluster.attackers import acting, create, is_policy, named, rules, wrongly_answered
from tests.cluster.native_jobs import Scene
from tests.cluster.plane import Cluster, until

pytestmark = pytest.mark.native

USUAL: Final[dict[str, Any]] = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "usual", "labels": {deploy.MANAGED: "tenancy"}},
    "value": 5,
    "preemptionPolicy": "Never",
    "globalDefault": True,
}
"""What Kubernetes writes into every pod that names no class."""


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """The organization of the attacks on its nodes, and a class for pods that name none."""
    found = native_jobs.opened(cluster, deploy.compiled_for(cluster, ORGANIZATION))
    cluster.client.apply(USUAL)
    until(lambda: classed(cluster), "pods get the class")
    return found


def classed(cluster: Cluster) -> bool:
    """Whether the API server writes the class into pods."""
    stored = cluster.client.create(named(pod(), "probe", "default"), dry_run=True)
    return bool(stored["spec"].get("priorityClassName") == USUAL["metadata"]["name"])


def test_every_attack_is_refused_with_its_words(scene: Scene) -> None:
    """By the policy whose rule it breaks, in words that say what to write."""
    assert wrongly_answered(scene.cluster, scene.made, {}, ATTACKS) == {}


def test_ordinary_work_is_let_through(scene: Scene) -> None:
    """What people do all day."""
    assert wrongly_answered(scene.cluster, scene.made, {}, ORDINARY) == {}


def test_every_rule_has_both(scene: Scene) -> None:
    """Every rule of every policy has an attack that it refuses and work that it lets through."""
    for attempts in (ATTACKS, ORDINARY):
        words = {attempt.rule for attempt in attempts}
        assert [rule for rule in rules(scene.made) if not any(each in rule[1] for each in words)] == []


def test_the_api_server_finds_no_type_error(scene: Scene) -> None:
    """In none of the policies, for any of the kinds that they match."""
    assert deploy.policies_checked(scene.cluster) == {name: {} for name, _ in rules(scene.made)}


def test_applied_twice_nothing_changes(scene: Scene) -> None:
    """The policies state every default."""
    assert touched(scene.cluster, filter(is_policy, scene.made.objects)) == []


def test_pods_of_a_job_get_the_class_of_the_cluster(scene: Scene) -> None:
    """It is written into pods that name none before a policy sees them, and they run."""
    create(acting(scene.cluster), named(job(spec()), "usual"))
    assert len(scene.running("lab/vision", 1)) == 1
    assert [each["spec"]["priorityClassName"] for each in scene.pods("lab/vision")] == ["usual"]
