"""The guards: which policies a cluster gets at which level, what namespaces say to them, and what their texts are.

What they do is shown on a real API server (tests/cluster/test_attacks.py).
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from tenancy.backend import kueue, native, volcano
from tenancy.backend.kueue.policies import policies as of_kueue
from tenancy.backend.manifest import Object
from tenancy.backend.native.policies import policies as of_native
from tenancy.backend.shared.guards.security import BASELINE_CONTAINERS, BASELINE_PODS, RESTRICTED_CONTAINERS
from tenancy.backend.volcano.policies import policies as of_volcano
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.backend.kueue.attack_tables import ATTACKS, LATE, ORDINARY
from tests.backend.kueue.attacks import BEFORE, ORGANIZATION
from tests.backend.shared.support import planned
from tests.orgs import changed, organized, scheduled

POLICIES: Final = {"kueue": of_kueue, "volcano": of_volcano, "native": of_native}
BACKENDS: Final = {"kueue": kueue, "volcano": volcano, "native": native}
GUARDED: Final = {
    "queueing": {
        "kueue": {"tenancy-queueing", "tenancy-orphans", "tenancy-pod-roles", "tenancy-template-requests"},
        "native": set[str](),
    },
    "placement": {scheduler: {"tenancy-placement"} for scheduler in POLICIES},
    "priorities": {scheduler: {"tenancy-priorities", "tenancy-pod-priorities"} for scheduler in POLICIES},
    "security": {scheduler: {"tenancy-template-security", "tenancy-external-addresses"} for scheduler in POLICIES},
    "cluster": {"kueue": {"tenancy-cluster-safety"}, "native": set[str]()},
    "fences": {scheduler: {"tenancy-fenced-flavors"} for scheduler in POLICIES},
    "wholeNodes": {scheduler: {"tenancy-whole-nodes-nvidia.com-gpu-8", "tenancy-gpu-shares"} for scheduler in POLICIES},
}
"""By guard and scheduler: the policies that are left out with it."""
CASES: Final = [(guard, scheduler) for guard, found in GUARDED.items() for scheduler in found]


def attacked(scheduler: str = "kueue", **changes: Any) -> ClusterPlan:
    """The organization of the attacks under a scheduler."""
    tree = changed(scheduled(ORGANIZATION, scheduler), {key.replace("__", "."): each for key, each in changes.items()})
    (cluster,) = plan(organized(tree))
    return cluster


def named(cluster: ClusterPlan) -> dict[str, list[Object]]:
    """The policies with their bindings, by name."""
    found: dict[str, list[Object]] = {}
    for each in POLICIES[cluster.cluster.scheduler](cluster):
        found.setdefault(each["metadata"]["name"], []).append(each)
    return found


def policy(cluster: ClusterPlan, name: str) -> Object:
    """A policy's spec."""
    spec: Object = named(cluster)[name][0]["spec"]
    return spec


@pytest.mark.parametrize(("guard", "scheduler"), CASES)
def test_a_guard_that_is_off_takes_its_policies_along(guard: str, scheduler: str) -> None:
    """Those and no others."""
    every = named(attacked(scheduler))
    left = named(attacked(scheduler, clusters__train={"scheduler": scheduler, "guards": {guard: "off"}}))
    assert every.keys() - left.keys() == GUARDED[guard][scheduler]


@pytest.mark.parametrize(("level", "action"), [("deny", "Deny"), ("warn", "Warn"), ("audit", "Audit")])
@pytest.mark.parametrize(("guard", "scheduler"), CASES)
def test_a_level_says_what_its_policies_do(guard: str, scheduler: str, level: str, action: str) -> None:
    """Each validating policy of the guard, and all others refuse."""
    found = named(attacked(scheduler, clusters__train={"scheduler": scheduler, "guards": {guard: level}}))
    actions = {
        name: each["spec"]["validationActions"]
        for name, items in found.items()
        for each in items
        if each["kind"] == "ValidatingAdmissionPolicyBinding"
    }
    assert actions == {name: [action if name in GUARDED[guard][scheduler] else "Deny"] for name in actions}


@pytest.mark.parametrize("scheduler", POLICIES)
def test_a_namespace_says_what_is_its_own(scheduler: str) -> None:
    """Every backend writes the priorities and the flavors of a namespace's unit beside its own marks."""
    cluster = attacked(scheduler)
    marks = {
        each["metadata"]["name"]: each["metadata"]["annotations"]
        for item in BACKENDS[scheduler].compile(cluster)
        for each in getattr(item, "objects", ())
        if each["kind"] == "Namespace"
    }
    assert marks["lab-vision"]["tenancy.internal/priorities"] == "research,scavenger"
    assert marks["lab-vision"]["tenancy.internal/flavors"].split(",") == ["cpu", "h100", "l4"]
    assert marks["big-whole"]["tenancy.internal/flavors"] == "h200"
    assert marks["big-whole"]["tenancy.internal/priorities"] == "production,research,scavenger"


def test_a_unit_without_priorities_says_none() -> None:
    """An empty list is no annotation, and then nothing is allowed."""
    cluster = planned({"priorities": []}, priorities={"urgent": 5})
    (own,) = (each for each in kueue_objects(cluster) if each["kind"] == "Namespace")
    assert "tenancy.internal/priorities" not in own["metadata"]["annotations"]


def kueue_objects(cluster: ClusterPlan) -> list[Object]:
    """Everything that a cluster with Kueue gets."""
    return [each for item in kueue.compile(cluster) for each in getattr(item, "objects", ())]


def test_flavors_are_closed_only_where_somebody_cannot_reach_one() -> None:
    """Where every unit reaches every flavor, the policy on placement says nothing of flavors."""
    messages = [each["message"] for each in policy(planned(), "tenancy-placement")["validations"]]
    assert not any("flavors" in each for each in messages)
    closed = policy(attacked(), "tenancy-placement")
    assert [each["message"] for each in closed["validations"] if "flavors" in each["message"]] != []
    labels = next(each["expression"] for each in closed["variables"] if each["name"] == "labels")
    assert '{"key": "tenancy.internal/flavor", "value": "h200", "flavors": "h200"}' in labels


def test_a_toleration_is_given_only_for_flavors_within_reach() -> None:
    """A GPU job that carries none gets those of flavors that its namespace says; where all reach all, of every one."""
    found = policy(attacked(), "tenancy-gpu-tolerations")["mutations"][0]["jsonPatch"]["expression"]
    assert 'variables.reach.exists(name, name in ["h200"])' in found
    fenced = planned(
        flavors={
            "h100": {
                "gpu": "H100-SXM-80GB",
                "nodes": 4,
                "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"},
                "taint": "tenancy.internal/reserved=h100:NoSchedule",
            }
        }
    )
    assert "reach" not in policy(fenced, "tenancy-gpu-tolerations")["mutations"][0]["jsonPatch"]["expression"]


def test_a_role_that_is_the_taint_of_a_flavor_may_be_tolerated() -> None:
    """Its nodes are a flavor like another; those of every other role are not."""
    node = {"gpus": 8, "cpu": 192, "memory": "2000Gi"}
    h100 = {"gpu": "H100-SXM-80GB", "nodes": 4, "node": node, "taint": "node-role.kubernetes.io/gpu:NoSchedule"}
    said = str(policy(planned(flavors={"h100": h100}), "tenancy-placement")["variables"])
    assert '!(it.key in ["node-role.kubernetes.io/gpu"])' in said
    assert "!(it.key in [])" in str(policy(planned(), "tenancy-placement")["variables"])


@pytest.mark.parametrize("scheduler", POLICIES)
def test_both_versions_of_an_mpi_job_are_judged(scheduler: str) -> None:
    """Whichever operator a cluster has; each of its templates once."""
    spec = policy(attacked(scheduler), "tenancy-placement")
    versions = {
        rule["apiVersions"][0] for rule in spec["matchConstraints"]["resourceRules"] if "mpijobs" in rule["resources"]
    }
    assert versions == {"v1", "v2beta1"}
    assert spec["variables"][1]["expression"].count("?mpiReplicaSpecs") == 1


def test_a_unit_of_negative_priorities_must_name_one() -> None:
    """Since work without a priority has 0, above all that the unit may have. The policy stays the same when a value is
    edited."""
    required = {
        each["metadata"]["name"]: each["metadata"]["annotations"].get("tenancy.internal/priority-required")
        for each in kueue_objects(attacked())
        if each["kind"] == "Namespace"
    }
    assert {name for name, said in required.items() if said == "true"} == {"lab-late"}
    assert named(attacked()) == named(attacked(priorities__research=200))


def test_pods_are_judged_beside_the_classes_that_there_are() -> None:
    """The default class of the cluster is in every pod before a policy sees it, so each class is a parameter."""
    _, binding = named(attacked())["tenancy-pod-priorities"]
    assert policy(attacked(), "tenancy-pod-priorities")["paramKind"] == {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
    }
    assert binding["spec"]["paramRef"] == {"selector": {}, "parameterNotFoundAction": "Allow"}


def test_security_looks_at_what_the_levels_of_the_cluster_forbid() -> None:
    """Controls of `restricted` only where a namespace has it, and none where all are privileged; never pods, which Pod
    Security judges itself."""

    def expressions(cluster: ClusterPlan) -> str:
        return str(policy(cluster, "tenancy-template-security")["variables"])

    for control in (*BASELINE_PODS, *BASELINE_CONTAINERS):
        assert control.field in expressions(planned())
    assert RESTRICTED_CONTAINERS[0].field not in expressions(planned())
    for control in RESTRICTED_CONTAINERS:
        assert control.field in expressions(planned({"podSecurity": {"level": "restricted"}}))
    free = planned({"podSecurity": {"level": "privileged", "reason": "drivers"}})
    assert "tenancy-template-security" not in named(free)
    rules = policy(planned(), "tenancy-template-security")["matchConstraints"]["resourceRules"]
    assert "pods" not in {name for rule in rules for name in rule["resources"]}


@pytest.mark.parametrize("scheduler", POLICIES)
def test_messages_are_one_line(scheduler: str) -> None:
    """As the API demands, and long enough to say what to write."""
    found = [item for items in named(attacked(scheduler)).values() for item in items]
    messages = [rule["message"] for item in found for rule in item["spec"].get("validations", ())]
    assert len(messages) > 10
    assert [each for each in messages if "\n" in each or len(each) < 40] == []


def test_below_136_nobody_groups_pods() -> None:
    """What a pod of a group says of its role can be removed only by a mutating policy; without one there are no groups
    of pods that somebody makes by hand."""

    def messages(kubernetes: str) -> list[str]:
        cluster = attacked(clusters__train={"versions": {"kubernetes": kubernetes}})
        assert ("tenancy-pod-roles" in named(cluster)) == (kubernetes == "1.36")
        return [each["message"] for each in policy(cluster, "tenancy-queueing")["validations"]]

    (more,) = {*messages("1.35")} - {*messages("1.36")}
    assert more.startswith("A group of single pods")


def test_the_tables_of_attacks_try_every_rule() -> None:
    """Each rule of each policy under Kueue has an attack and ordinary work, and tables name only what is there."""
    rules = [
        rule["message"]
        for items in named(attacked()).values()
        for item in items
        for rule in item["spec"].get("validations", ())
    ]
    for attempts in (ATTACKS, ORDINARY):
        words = {*LATE, *(attempt.rule for attempt in attempts)}
        assert [message for message in rules if not any(each in message for each in words)] == []
        assert [each for each in words if not any(each in message for message in rules)] == []
        assert len(attempts) >= 25
        assert {attempt.of.removesuffix("/pod") for attempt in attempts} - {""} <= BEFORE.keys()
    assert all(attempt.told for attempt in ATTACKS)
    assert not any(attempt.told for attempt in ORDINARY)
