"""The validator of Volcano's configurations against a table of mistakes, which tests/cluster runs on the scheduler."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tenancy.backend.volcano.configuration_chart import (
    RELIED_ON,
    admission_violations,
    controller_violations,
)
from tenancy.backend.volcano.configuration_schema import MINORS, text_violations, violations
from tenancy.backend.volcano.configuration_tables import PLUGINS
from tests.backend.volcano.mistakes import MISTAKES, RUN, Mistake

DEFAULT = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""
"""What the chart brings."""


def test_what_was_run_passes() -> None:
    """The configuration that the promises were run with has no finding."""
    assert text_violations(RUN, "1.15") == []


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_found(mistake: Mistake) -> None:
    """The finding says what is wrong, or what is meant."""
    assert any(mistake.said in found for found in text_violations(mistake.text, "1.15"))


def test_what_the_chart_brings_has_its_findings() -> None:
    """No tree, no quota, no reclaim, and what keeps lent quota from coming back."""
    found = "\n".join(text_violations(DEFAULT, "1.15"))
    for words in ("enqueue keeps", "reclaim is missing", "nodegroup is missing", "write capacity", "overcommit keeps"):
        assert words in found


def test_an_argument_belongs_to_its_minor() -> None:
    """1.14 passes over ancestorReclaimLevel, and over an action that came later."""
    (found,) = text_violations(RUN, "1.14")
    assert "ancestorReclaimLevel: is not an argument of capacity of Volcano 1.14" in found
    (found,) = text_violations(RUN.replace("reclaim, ", "gangreclaim, "), "1.14")[:1]
    assert "gangreclaim is not an action" in found
    older = RUN.replace("    arguments:\n      ancestorReclaimLevel: 1\n", "")
    assert text_violations(older, "1.14") == []


def test_a_switch_of_dynamic_resources_belongs_to_1_14() -> None:
    """1.15 still has its name and does not read it."""
    assert "predicate.DynamicResourceAllocationEnable" in PLUGINS["1.14"]["predicates"]
    assert "predicate.DynamicResourceAllocationEnable" not in PLUGINS["1.15"]["predicates"]


def test_every_minor_knows_the_same_plugins() -> None:
    """Arguments and actions differ, plugins do not."""
    assert [set(PLUGINS[minor]) for minor in MINORS] == [set(PLUGINS["1.15"])] * len(MINORS)


def test_an_unknown_minor_is_no_configuration() -> None:
    """Nothing is said of a version that was never read."""
    with pytest.raises(KeyError):
        violations(yaml.safe_load(RUN), "1.13")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{name: sla, arguments: {sla-waiting-time: soon}}", "must be a duration"),
        ("{name: sla, arguments: {sla-waiting-time: 1h30m}}", ""),
        ("{name: tdm, arguments: {tdm.revocable-zone.night: 22:00-06:00}}", ""),
        ("{name: tdm, arguments: {tdm.revocable-zone.night: 22-06}}", "must be hours"),
        ("{name: usage, arguments: {thresholds: {cpu: 80, mem: 70}}}", ""),
        ("{name: usage, arguments: {thresholds: {cpu: 80, memory: 70}}}", "must be a map with cpu and mem"),
        ("{name: rescheduling, arguments: {strategies: [{name: lowNodeUtilization}]}}", ""),
        ("{name: rescheduling, arguments: {strategies: [{name: high}]}}", "lowNodeUtilization"),
        ("{name: extender, arguments: {extender.managedResources: nvidia.com/gpu}}", "must be a list of texts"),
        (
            "{name: resource-strategy-fit, arguments: {resources: {nvidia.com/gpu: {type: MostAllocated, weight: 2}}}}",
            "",
        ),
        ("{name: resource-strategy-fit, arguments: {resources: {cpu: {type: Most}}}}", "MostAllocated or"),
        ("{name: resource-strategy-fit, arguments: {sra: {enable: true, resource: a}}}", "resourceWeight"),
        ("{name: resource-strategy-fit, arguments: {proportional: {enable: yes, resources: a}}}", ""),
        ("{name: deviceshare, arguments: {deviceshare.VGPUEnable: true}}", ""),
        (
            "{name: deviceshare, arguments: {deviceshare.VGPUEnable: true, deviceshare.GPUSharingEnable: true}}",
            "the scheduler ends",
        ),
        ("{name: deviceshare, arguments: {deviceshare.GPUExclusiveRules: [{team: a}]}}", ""),
        ("{name: numa-aware, arguments: {weight: 1.5}}", "must be a whole number"),
        ("{name: numa-aware, arguments: {weight: true}}", "must be a whole number"),
        ("{name: drf}", ""),
        ("{name: drf, arguments: [weight]}", "arguments: must be a map"),
        ("{plugin: drf}", "must be a map with the name"),
    ],
)
def test_arguments_have_their_kinds(entry: str, said: str) -> None:
    """Each argument is of the kind that its plugin reads."""
    found = "\n".join(text_violations(f"{RUN}  - {entry}\n", "1.15"))
    assert (said in found) if said else found == ""


def _controller(types: Any, **entry: Any) -> dict[str, Any]:
    config = {"networkTopologyTypes": types}
    return {"networkTopologyDiscovery": [{"source": "label", "enabled": True, "config": config, **entry}]}


def _levels(*labels: str) -> list[dict[str, str]]:
    return [{"nodeLabel": label} for label in labels]


HOST = "kubernetes.io/hostname"
RACKS = _levels("cloud/block", "cloud/rack", HOST)


@pytest.mark.parametrize(
    ("configuration", "said"),
    [
        ({}, ""),
        (_controller({"h100": RACKS}), ""),
        (_controller({"h100": RACKS, "gb200": _levels("cloud/domain", HOST)}), ""),
        ("networkTopologyDiscovery: []", "must be a map"),
        ({"networkTopology": []}, "networkTopology: is not a key"),
        ({"networkTopologyDiscovery": {}}, "must be a list"),
        ({"networkTopologyDiscovery": ["label"]}, "must be a map"),
        (_controller({"h100": RACKS}, source="roce"), "roce cannot be read"),
        (_controller({"h100": RACKS}, enabled="true"), "enabled: must be true"),
        (_controller({"h100": RACKS}, enable=True), "enable: is not a key"),
        (_controller({"h100": RACKS}, interval="10m"), "no effect on labels"),
        ({"networkTopologyDiscovery": [{"source": "ufm", "enabled": True, "interval": 10}]}, "must be a duration"),
        (
            {"networkTopologyDiscovery": _controller({"h100": RACKS})["networkTopologyDiscovery"] * 2},
            "label is there twice",
        ),
        (_controller([RACKS]), "networkTopologyTypes alone"),
        (_controller({"a-name-of-21-character": RACKS}), "20 characters at most"),
        (_controller({"H100": RACKS}), "not part of a name"),
        (_controller({"h100": ["cloud/rack", HOST]}), "nodeLabel alone"),
        (_controller({"h100": [{"nodelabel": "cloud/rack"}]}), "nodeLabel alone"),
        (_controller({"h100": _levels("cloud/rack", "cloud/rack", HOST)}), "is there twice"),
        (_controller({"h100": _levels("cloud/block", "cloud/rack")}), f"must end in {HOST}"),
        (_controller({"h100": _levels(HOST)}), "no level above the host"),
        (_controller({"h100": _levels("rack of mine", HOST)}), "not the key of a label"),
        (_controller({"h100": RACKS, "a100": _levels("cloud/rack", HOST)}), "one topology must hold both"),
    ],
)
def test_a_discovery_is_one_that_the_controller_takes(configuration: Any, said: str) -> None:
    """Keys, sources, names and levels, and no level in two topologies."""
    found = "\n".join(controller_violations(configuration))
    assert (said in found) if said else found == ""


def test_enabled_webhooks_are_those_that_exist_and_that_we_rely_on() -> None:
    """An unknown path, or one that is there twice, ends the manager; one of ours that is missing is named."""
    ours = ",".join(RELIED_ON)
    assert admission_violations(ours) == []
    assert "no webhook of Volcano" in admission_violations(f"{ours},/queues/check")[0]
    assert "an empty path" in admission_violations(f"{ours},")[0]
    assert "is there twice" in admission_violations(f"{ours},/jobs/mutate")[0]
    assert [found.split()[1] for found in admission_violations("/jobs/mutate")] == [
        path for path in RELIED_ON if path != "/jobs/mutate"
    ]
