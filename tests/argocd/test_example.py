"""The example organization under Argo CD: how it arrives, and how little happens after that."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
import yaml

from tenancy.pipeline import Custom, examine
from tests.argocd.delivery import Delivery, differing, resources
from tests.cluster import deploy, nodes
from tests.cluster.client import Object, condition
from tests.cluster.deploy import WAVE, Compiled
from tests.cluster.jobs import Scene
from tests.cluster.manager import KUEUE
from tests.orgs import changed

pytestmark = pytest.mark.kueue("0.19")

ORG: Final = Path(__file__).resolve().parents[2] / "org"
CLUSTER: Final = "train-eu"
NODES: Final = {"h100": 2, "a100-mig": 1, "cpu": 2}
SILENCE: Final = 300
"""Seconds."""

Example: TypeAlias = Callable[[dict[str, Any]], tuple[Compiled, Custom]]


@pytest.fixture(scope="module")
def example(delivery: Delivery, tmp_path_factory: pytest.TempPathFactory) -> Example:
    """The example, with some of its root file changed, following the repository of the test bed."""

    def made(changes: dict[str, Any]) -> tuple[Compiled, Custom]:
        folder = tmp_path_factory.mktemp("example") / "org"
        shutil.copytree(ORG, folder)
        tree = yaml.safe_load((folder / "org.yaml").read_text(encoding="utf-8"))
        (folder / "org.yaml").write_text(yaml.safe_dump(changed(tree, changes), sort_keys=False), encoding="utf-8")
        found = examine(folder)
        assert found.org is not None
        assert found.sound, found.diagnostics
        document = found.org.document
        assert document.gitops is not None
        here = document.gitops.model_copy(update=delivery.gitops())  # Which a check would refuse: it is on this machine
        org = replace(found.org, document=document.model_copy(update={"gitops": here}))
        return deploy.compiled(org, found.custom, name=CLUSTER, **deploy.running(delivery.cluster)), found.custom

    return made


@pytest.fixture(scope="module")
def arrived(delivery: Delivery, example: Example) -> dict[str, Object]:
    """Everything that the example declares, as it was when it had arrived on an empty cluster with its nodes."""
    made, custom = example({})
    nodes.make(delivery.cluster, made, NODES)
    delivery.bootstrap(made, custom)
    return delivery.live()


@pytest.fixture
def synced(delivery: Delivery, example: Example, arrived: dict[str, Object]) -> Delivery:  # noqa: ARG001
    """The example as it is in this repository."""
    delivery.deliver(*example({}))
    return delivery


def test_all_of_it_arrives(delivery: Delivery, arrived: dict[str, Object]) -> None:
    """Every object that is declared is there, and belongs to one Application."""
    assert arrived.keys() == delivery.declared().keys()
    owned = [name for item in delivery.applications().values() for name in resources(item)]
    assert sorted(name for name in owned if name in arrived) == sorted(arrived)


def test_it_arrives_in_the_order_of_its_waves(delivery: Delivery, arrived: dict[str, Object]) -> None:
    """In each Application no object is older than one of an earlier wave."""
    for name, application in delivery.applications().items():
        mine = [arrived[each] for each in resources(application) if each in arrived]
        waves: dict[int, list[str]] = {}
        for item in mine:
            if item["kind"] == "ServiceAccount" and item["metadata"]["name"] == "default":
                continue  # Kubernetes makes it with each namespace.
            wave = int(item["metadata"]["annotations"][WAVE])
            waves.setdefault(wave, []).append(item["metadata"]["creationTimestamp"])
        spans = [(min(times), max(times)) for _, times in sorted(waves.items())]
        assert all(last <= first for (_, last), (first, _) in pairwise(spans)), (name, spans)


def test_work_has_no_way_in_before_its_queue_is_active(arrived: dict[str, Object]) -> None:
    """Each LocalQueue was created when Kueue had taken up its ClusterQueue."""
    found = [item for item in arrived.values() if item["kind"] == "LocalQueue"]
    assert found
    for item in found:
        active = condition(arrived[f"ClusterQueue {item['spec']['clusterQueue']}"], "Active")
        assert active is not None
        assert active["status"] == "True"
        assert _time(active["lastTransitionTime"]) <= _time(item["metadata"]["creationTimestamp"])


def test_then_nothing_happens(synced: Delivery) -> None:
    """For minutes, with work running: no difference, no operation, no write."""
    assert synced.made is not None
    scene = Scene(synced.cluster, synced.made)
    scene.submit("research/vision", 8)
    scene.running("research/vision", 1)
    scene.submit("product/ads/ranking", 1)
    scene.settle()
    synced.silent(SILENCE)
    scene.clear()


def test_a_budget_touches_what_it_changes_and_nothing_else(synced: Delivery, example: Example) -> None:
    """Of all that is declared, only the objects whose text is different are written."""
    before, declared = synced.live(), synced.declared()
    synced.deliver(*example({"departments.platform.teams.ci.budget.cpu.cpu": 80}))
    texts = synced.declared()
    expected = {name for name in declared.keys() | texts.keys() if declared.get(name) != texts.get(name)}
    assert "ClusterQueue platform-ci" in expected
    assert differing(before, synced.live()) == expected


def test_what_is_edited_by_hand_is_undone(synced: Delivery) -> None:
    """A quota that somebody raises, and an object that somebody deletes, are as they were."""
    client, declared = synced.cluster.client, synced.declared()
    queue = f"{KUEUE}/clusterqueues/platform-ci"
    groups = client.get(queue)["spec"]["resourceGroups"]
    groups[0]["flavors"][0]["resources"][0]["nominalQuota"] = "4711"
    client.patch(queue, {"spec": {"resourceGroups": groups}})
    binding = next(item for item in declared.values() if item["kind"] == "RoleBinding")
    client.delete(client.path(binding))
    wanted = declared["ClusterQueue platform-ci"]["spec"]["resourceGroups"]
    synced.wait(lambda: client.get(queue)["spec"]["resourceGroups"] == wanted, "the quota is as before")
    synced.wait(lambda: client.find(client.path(binding)) is not None, "the binding is back")
    synced.settled()


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
