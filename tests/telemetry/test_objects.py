"""The objects that carry rules and scrape targets: where they are, what they are selected by, how large they get."""

from __future__ import annotations

from typing import Any, Final

import pytest
import yaml

from tenancy.backend import items
from tenancy.backend.manifest import Manifest
from tenancy.backend.telemetry.rules import MOST
from tenancy.plan import plan
from tests.orgs import organized, scheduled
from tests.telemetry.scenes import TREE, names, objects, planned, rules

LARGEST: Final = 256 << 10
"""Bytes: what `kubectl apply` notes of an object; Prometheus' operator takes twice as much, and ignores the rest."""
SCHEDULERS: Final = ("kueue", "volcano", "native")


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_objects_are_where_prometheus_looks_with_labels_that_it_selects_by(scheduler: str) -> None:
    """In the namespace of the cluster's telemetry, with its labels beside ours."""
    made = planned(scheduler, namespace="observing", labels={"release": "stack"})
    for kind in ("PrometheusRule", "ServiceMonitor"):
        for each in objects(made, kind):
            metadata = each["metadata"]
            assert metadata["namespace"] == "observing"
            assert metadata["labels"]["release"] == "stack"
            assert metadata["labels"]["app.kubernetes.io/managed-by"] == "tenancy"


def test_each_scheduler_has_its_targets() -> None:
    """Kueue's manager, Volcano's scheduler and controller; kube-state-metrics is Prometheus' own."""
    found = {
        each: [item["metadata"]["name"] for item in objects(planned(each), "ServiceMonitor")] for each in SCHEDULERS
    }
    assert found == {
        "kueue": ["tenancy-kueue"],
        "volcano": ["tenancy-volcano-scheduler", "tenancy-volcano-controller"],
        "native": [],
    }


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_without_prometheus_operator_nothing_of_its_kinds_is_written(scheduler: str) -> None:
    """`prometheus: off` is a cluster in which nobody knows these kinds."""
    made = planned(scheduler, prometheus="off")
    kinds = {obj["apiVersion"] for item in items(made) if isinstance(item, Manifest) for obj in item.objects}
    assert "monitoring.coreos.com/v1" not in kinds


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_names_of_objects_and_of_groups_are_told_apart(scheduler: str) -> None:
    """Prometheus refuses a file with two groups of one name."""
    found = objects(planned(scheduler))
    assert len({each["metadata"]["name"] for each in found}) == len(found)
    for each in found:
        groups = [group["name"] for group in each["spec"]["groups"]]
        assert len(set(groups)) == len(groups)


def test_alerts_wait_as_long_as_the_cluster_says() -> None:
    """`pendingAfter` is how long jobs may wait, and says so."""
    (alert,) = [
        rule for rule in rules(planned("kueue", pendingAfter="90m")) if rule.get("alert") == "TenancyJobsPending"
    ]
    assert alert["for"] == "90m"
    assert "for 90m" in alert["annotations"]["description"]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_large_department_has_several_objects_and_each_is_small_enough(scheduler: str) -> None:
    """More rules than one object may have go on in the next, under the longest names that units can have."""
    teams: dict[str, Any] = {f"{'t' * 40}-{number:04}": {} for number in range(MOST + 10)}
    tree = {**TREE, "departments": {"d" * 17: {"budget": {"h100": 32}, "teams": teams}}}
    found = objects(planned(scheduler, tree))
    assert len(found) > 2
    assert max(len(yaml.dump(each, Dumper=yaml.CSafeDumper, width=1 << 20)) for each in found) < LARGEST


def test_rules_of_a_large_department_go_on_in_the_next_object() -> None:
    """All of its units are there, each once."""
    teams: dict[str, Any] = {f"team-with-a-rather-long-name-{number:04}": {} for number in range(MOST + 10)}
    tree = {**TREE, "departments": {"research": {"budget": {"h100": 32}, "teams": teams}}}
    found = objects(planned("kueue", tree))
    assert [each["metadata"]["name"] for each in found] == ["tenancy", "tenancy-research", "tenancy-research.2"]
    told = [rule for rule in rules(planned("kueue", tree)) if rule.get("record") == "tenancy:queue_info"]
    assert len({rule["labels"]["unit"] for rule in told}) == MOST + 10


def test_what_is_measured_of_kueue_has_the_same_name_in_every_minor() -> None:
    """One set of rules for 0.17 to 0.19: tests/cluster compares it with what the first and the last export."""
    found = []
    for minor in ("0.17", "0.18", "0.19"):
        tree = {**TREE, "clusters": {"train": {"versions": {"kueue": minor}}}}
        found.append(rules(planned("kueue", tree)))
    assert found[0] == found[1] == found[2]
    assert "tenancy:used" in names(found[0], "record")


def test_flavors_that_an_autoscaler_grows_are_not_over_promised() -> None:
    """Their nodes are not all there, and need not be."""
    flavors = {**TREE["flavors"], "h100": {**TREE["flavors"]["h100"], "autoscaling": "karpenter"}}
    made = planned("kueue", {**TREE, "flavors": flavors})
    assert "TenancyOverPromised" not in names(rules(made), "alert")
    assert "TenancyFlavorSaturated" in names(rules(made), "alert")


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_scheduler_that_has_no_queue_is_not_reported_as_silent(scheduler: str) -> None:
    """In a cluster without units nothing about queues is exported, for ever."""
    flavors = {**TREE["flavors"], "a100": {**TREE["flavors"]["h100"], "cluster": "empty"}}
    tree = {**TREE, "clusters": {"train": {}, "empty": {}}, "flavors": flavors}
    found = {each.name: names(rules(each), "alert") for each in plan(organized(scheduled(tree, scheduler)))}
    assert "TenancySchedulerDown" in found["train"]
    assert "TenancySchedulerDown" not in found["empty"]
