"""The Configuration validator against what the real managers of Kueue 0.17.0 and 0.19.2 did with 51 configurations.

Left out of the recorded rows: duplicate keys, which the YAML reader refuses, and the two about --feature-gates on the
command line, which no file shows.
"""

from __future__ import annotations

import copy
from typing import Any, TypeAlias

import pytest

from tenancy.backend.kueue.configuration_schema import MINORS, gates, violations

Changes: TypeAlias = dict[str, Any]
BOTH, OLD, NEW, NONE = frozenset({"0.17", "0.19"}), frozenset({"0.17"}), frozenset({"0.19"}), frozenset[str]()

SHIPPED: dict[str, Any] = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "health": {"healthProbeBindAddress": ":8081"},
    "metrics": {"bindAddress": ":8443"},
    "webhook": {"port": 9443},
    "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
    "controller": {
        "groupKindConcurrency": {
            "Job.batch": 5,
            "Pod": 5,
            "Workload.kueue.x-k8s.io": 5,
            "LocalQueue.kueue.x-k8s.io": 1,
            "ClusterQueue.kueue.x-k8s.io": 1,
            "ResourceFlavor.kueue.x-k8s.io": 1,
        }
    },
    "clientConnection": {"qps": 50, "burst": 100},
    "integrations": {
        "frameworks": [
            "batch/job",
            "kubeflow.org/mpijob",
            "ray.io/rayjob",
            "ray.io/rayservice",
            "ray.io/raycluster",
            "jobset.x-k8s.io/jobset",
            "trainer.kubeflow.org/trainjob",
            "kubeflow.org/paddlejob",
            "kubeflow.org/pytorchjob",
            "kubeflow.org/tfjob",
            "kubeflow.org/xgboostjob",
            "kubeflow.org/jaxjob",
            "workload.codeflare.dev/appwrapper",
            "pod",
            "deployment",
            "statefulset",
            "leaderworkerset.x-k8s.io/leaderworkerset",
        ]
    },
}
BOTH_STRATEGIES = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
READY = {
    "timeout": "10m",
    "recoveryTimeout": "5m",
    "blockAdmission": False,
    "requeuingStrategy": {
        "timestamp": "Eviction",
        "backoffLimitCount": 5,
        "backoffBaseSeconds": 60,
        "backoffMaxSeconds": 3600,
    },
}
V1BETA1 = "config.kueue.x-k8s.io/v1beta1"


def names(operator: str, *values: str) -> dict[str, Any]:
    """A selector of namespaces by name."""
    expression = {"key": "kubernetes.io/metadata.name", "operator": operator, "values": list(values)}
    return {"matchExpressions": [expression]}


def transformation(**strategy: str) -> dict[str, Any]:
    """A transformation of one MIG profile."""
    entry = {"input": "nvidia.com/mig-1g.10gb", "outputs": {"example.com/slices": "1"}} | strategy
    return {"transformations": [entry]}


# (row of the recorded runs, changes to the shipped Configuration (None removes a section), minors that accepted it).
ROWS: tuple[tuple[str, Changes, frozenset[str]], ...] = (
    ("base", {}, BOTH),
    ("unknown top-level field", {"bogus": 1}, NONE),
    ("unknown nested field", {"fairSharing": {"enable": True, "preemptionStrategies": BOTH_STRATEGIES}}, NONE),
    ("fairSharing {}", {"fairSharing": {}}, NONE),
    ("fairSharing strategies []", {"fairSharing": {"preemptionStrategies": []}}, NONE),
    ("fairSharing strategies reversed", {"fairSharing": {"preemptionStrategies": BOTH_STRATEGIES[::-1]}}, NONE),
    ("fairSharing both", {"fairSharing": {"preemptionStrategies": BOTH_STRATEGIES}}, BOTH),
    ("waitForPodsReady {}", {"waitForPodsReady": {}}, NEW),
    ("waitForPodsReady.enable", {"waitForPodsReady": {"enable": True, "timeout": "5m"}}, NONE),
    ("waitForPodsReady timeout 0s", {"waitForPodsReady": {"timeout": "0s"}}, NEW),
    ("waitForPodsReady all keys", {"waitForPodsReady": READY}, BOTH),
    (
        "waitForPodsReady timestamp wrong",
        {"waitForPodsReady": {"timeout": "5m", "requeuingStrategy": {"timestamp": "Now"}}},
        NONE,
    ),
    (
        "waitForPodsReady negative backoffLimitCount",
        {"waitForPodsReady": {"timeout": "5m", "requeuingStrategy": {"backoffLimitCount": -1}}},
        NONE,
    ),
    ("waitForPodsReady recoveryTimeout null", {"waitForPodsReady": {"timeout": "5m", "recoveryTimeout": None}}, BOTH),
    ("no integrations", {"integrations": None}, BOTH),
    ("integrations.frameworks []", {"integrations": {"frameworks": []}}, BOTH),
    ("framework unknown", {"integrations": {"frameworks": ["batch/job", "foo/bar"]}}, NONE),
    ("framework duplicate", {"integrations": {"frameworks": ["batch/job", "batch/job"]}}, NONE),
    ("pod integration without namespace selector", {"integrations": {"frameworks": ["batch/job", "pod"]}}, BOTH),
    (
        "selector matching kube-system",
        {"managedJobsNamespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}},
        NONE,
    ),
    ("selector In team namespaces", {"managedJobsNamespaceSelector": names("In", "team-a", "team-b")}, BOTH),
    ("resources.transformations without strategy", {"resources": transformation()}, BOTH),
    ("resources.transformations strategy Foo", {"resources": transformation(strategy="Foo")}, NONE),
    (
        "resources.excludeResourcePrefixes",
        {"resources": {"excludeResourcePrefixes": ["networking.example.com/"]}},
        BOTH,
    ),
    ("resources.quotaCheckStrategy (0.18+)", {"resources": {"quotaCheckStrategy": "IgnoreUndeclared"}}, NEW),
    (
        "resources.deviceClassMappings",
        {"resources": {"deviceClassMappings": [{"name": "example.com/gpu", "deviceClassNames": ["gpu.example.com"]}]}},
        BOTH,
    ),
    ("featureGates in file only", {"featureGates": {"VisibilityOnDemand": False}}, BOTH),
    ("unknown gate in file", {"featureGates": {"Nope": True}}, NONE),
    ("0.18 gate ConcurrentAdmission", {"featureGates": {"ConcurrentAdmission": True}}, NEW),
    ("GA locked gate set false", {"featureGates": {"LendingLimit": False}}, NONE),
    ("queueVisibility (v1beta1)", {"queueVisibility": {"updateIntervalSeconds": 5}}, NONE),
    ("integrations.podOptions (v1beta1)", {"integrations": {"frameworks": ["batch/job"], "podOptions": {}}}, NONE),
    (
        "apiVersion v1beta1 with waitForPodsReady.enable",
        {"apiVersion": V1BETA1, "waitForPodsReady": {"enable": True}},
        BOTH,
    ),
    ("apiVersion v1beta1 with fairSharing enable", {"apiVersion": V1BETA1, "fairSharing": {"enable": True}}, BOTH),
    (
        "admissionFairSharing",
        {
            "admissionFairSharing": {
                "usageHalfLifeTime": "168h",
                "usageSamplingInterval": "5m",
                "resourceWeights": {"cpu": 0.5, "nvidia.com/gpu": 2},
            }
        },
        BOTH,
    ),
    (
        "objectRetentionPolicies",
        {"objectRetentionPolicies": {"workloads": {"afterFinished": "168h", "afterDeactivatedByKueue": "1h30m"}}},
        BOTH,
    ),
    ("visibilityServer", {"visibilityServer": {"bindAddress": "0.0.0.0", "bindPort": 8082}}, BOTH),
    ("metrics.enableClusterQueueResources", {"metrics": {"enableClusterQueueResources": True}}, BOTH),
    (
        "metrics.localQueueMetrics",
        {"metrics": {"localQueueMetrics": {"enable": True, "localQueueSelector": {"matchLabels": {"team": "a"}}}}},
        BOTH,
    ),
    (
        "controller.groupKindConcurrency unknown kind",
        {"controller": {"groupKindConcurrency": {"Nothing.example.com": 3}}},
        BOTH,
    ),
    ("empty document but kind", dict.fromkeys(SHIPPED.keys() - {"apiVersion", "kind"}), BOTH),
)
# Rows that only the 0.19.2 manager was run with.
ROWS_019: tuple[tuple[str, Changes, bool], ...] = (
    ("gate DisableWaitForPodsReady", {"featureGates": {"DisableWaitForPodsReady": True}}, True),
    ("gate LendingLimit true", {"featureGates": {"LendingLimit": True}}, False),
    ("gate LocalQueueDefaulting true", {"featureGates": {"LocalQueueDefaulting": True}}, False),
    ("gate WorkloadPriorityClassDefaulting", {"featureGates": {"WorkloadPriorityClassDefaulting": True}}, True),
    ("gate DynamicResourceAllocation", {"featureGates": {"DynamicResourceAllocation": True}}, True),
    (
        "metrics.customLabels",
        {
            "featureGates": {"CustomMetricLabels": True},
            "metrics": {"customLabels": [{"name": "team", "sourceLabelKey": "acme.example/team"}]},
        },
        True,
    ),
    ("waitForPodsReady null", {"waitForPodsReady": None}, True),
)
# What Kueue's own validation says and the runs did not try: (changes, minor, start of the sentence or "" for accepted).
FURTHER: tuple[tuple[Changes, str, str], ...] = (
    ({"waitForPodsReady": {}}, "0.18", "waitForPodsReady.timeout"),
    ({"waitForPodsReady": {"timeout": "-1m"}}, "0.19", "waitForPodsReady.timeout"),
    ({"waitForPodsReady": {"timeout": "10 minutes"}}, "0.19", "waitForPodsReady.timeout"),
    ({"waitForPodsReady": {"timeout": 600}}, "0.19", "waitForPodsReady.timeout"),
    ({"controller": {"cacheSyncTimeout": "2m"}}, "0.19", "controller.cacheSyncTimeout"),
    ({"clientConnection": {"burst": 1.5}}, "0.19", "clientConnection.burst"),
    ({"clientConnection": {"qps": -1}}, "0.19", ""),
    ({"featureGates": {"LendingLimit": True}}, "0.17", ""),
    ({"featureGates": {"LendingLimit": False}}, "0.18", "featureGates.LendingLimit"),
    ({"featureGates": {"AllAlpha": False}}, "0.19", ""),
    ({"featureGates": {"TopologyAwareScheduling": False}}, "0.17", ""),
    ({"featureGates": {"TopologyAwareScheduling": False}}, "0.19", "featureGates.TASProfileMixed"),
    ({"featureGates": {"UnadmittedWorkloadsExplicitStatus": True}}, "0.19", "featureGates.UnadmittedWorkloadsExplicit"),
    (
        {
            "featureGates": dict.fromkeys(
                ("UnadmittedWorkloadsExplicitStatus", "UnadmittedWorkloadsObservability"), True
            )
        },
        "0.19",
        "",
    ),
    ({"integrations": {"frameworks": ["sparkoperator.k8s.io/sparkapplication"]}}, "0.19", "integrations.frameworks"),
    ({"integrations": {"externalFrameworks": ["Job"]}}, "0.19", "integrations.externalFrameworks[0]"),
    ({"integrations": {"externalFrameworks": ["Job.v1.batch"]}}, "0.19", "integrations.externalFrameworks[0]"),
    ({"integrations": {"externalFrameworks": ["Foo.v1.example.com"]}}, "0.19", ""),
    ({"managedJobsNamespaceSelector": {}}, "0.19", "managedJobsNamespaceSelector"),
    ({"managedJobsNamespaceSelector": names("NotIn", "kube-system")}, "0.19", "managedJobsNamespaceSelector"),
    ({"managedJobsNamespaceSelector": names("NotIn", "kube-system", "kueue-system")}, "0.19", ""),
    (
        {"managedJobsNamespaceSelector": names("NotIn", "kube-system", "kueue-system"), "namespace": "queues"},
        "0.19",
        "managedJobsNamespaceSelector: must not match the namespace queues",
    ),
    ({"managedJobsNamespaceSelector": names("In")}, "0.19", "managedJobsNamespaceSelector.matchExpressions[0]"),
    (
        {"resources": {"quotaCheckStrategy": "IgnoreUndeclared", "excludeResourcePrefixes": ["x/"]}},
        "0.19",
        "resources.quotaCheckStrategy",
    ),
    (
        {"resources": {"quotaCheckStrategy": "IgnoreUndeclared", "excludeResourcePrefixes": ["x/"]}},
        "0.18",
        "",
    ),
    (
        {"resources": {"transformations": transformation()["transformations"] * 2}},
        "0.19",
        "resources.transformations",
    ),
    ({"resources": {"deviceClassMappings": [{"name": "a"}]}}, "0.19", "resources.deviceClassMappings[0]"),
    (
        {"resources": {"deviceClassMappings": [{"name": name, "deviceClassNames": ["gpu"]} for name in "ab"]}},
        "0.19",
        "resources.deviceClassMappings: the device class gpu",
    ),
    ({"visibilityServer": {"bindAddress": "localhost"}}, "0.19", "visibilityServer.bindAddress"),
    ({"visibilityServer": {"bindPort": 0}}, "0.19", "visibilityServer.bindPort"),
    ({"leaderElection": {"leaseDuration": "9.5s"}}, "0.19", "leaderElection.leaseDuration"),
    ({"leaderElection": {"leaseDuration": "10s1ms"}}, "0.19", ""),
    ({"leaderElection": {"leaseDuration": "5s", "leaderElect": False}}, "0.19", ""),
    ({"leaderElection": {"leaseDuration": "5s"}}, "0.19", "leaderElection.leaseDuration"),
    ({"tls": {"minVersion": "VersionTLS11"}}, "0.19", "tls.minVersion"),
    ({"tls": {"minVersion": "VersionTLS13", "cipherSuites": ["TLS_AES_128_GCM_SHA256"]}}, "0.19", "tls.cipherSuites"),
    ({"tls": {"curvePreferences": [29, 29]}}, "0.19", "tls.curvePreferences"),
    ({"tls": {"curvePreferences": [29]}}, "0.18", "tls"),
    ({"metrics": {"customLabels": [{"name": "1st"}]}}, "0.17", "metrics.customLabels[0].name"),
    (
        {"metrics": {"customLabels": [{"name": "a", "sourceKind": "Workload"}]}},
        "0.19",
        "metrics.customLabels[0].tracked",
    ),
    ({"metrics": {"customLabels": [{"name": f"l{n}"} for n in range(7)]}}, "0.19", "metrics.customLabels: at most 6"),
    ({"multiKueue": {"gcInterval": "-1s"}}, "0.19", "multiKueue.gcInterval"),
    ({"multiKueue": {"incrementalDispatcherConfig": {}}}, "0.19", "multiKueue.incrementalDispatcherConfig"),
    ({"admissionFairSharing": {"resourceWeights": {"cpu": -1}}}, "0.19", "admissionFairSharing.resourceWeights.cpu"),
    ({"internalCertManagement": {"webhookServiceName": "1st"}}, "0.19", "internalCertManagement.webhookServiceName"),
    ({"apiVersion": "config.kueue.x-k8s.io/v1"}, "0.19", "apiVersion"),
    ({"kind": "ConfigMap"}, "0.19", "kind"),
)


def changed(changes: Changes) -> dict[str, Any]:
    """The shipped Configuration with sections replaced."""
    return {**copy.deepcopy(SHIPPED), **changes}


@pytest.mark.parametrize("minor", sorted(BOTH))
@pytest.mark.parametrize(("changes", "accepted"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_recorded_runs(changes: Changes, accepted: frozenset[str], minor: str) -> None:
    """The verdict is the one of the manager that was run."""
    assert (not violations(changed(changes), minor)) == (minor in accepted)


@pytest.mark.parametrize(("changes", "accepted"), [row[1:] for row in ROWS_019], ids=[row[0] for row in ROWS_019])
def test_recorded_runs_of_019(changes: Changes, accepted: bool) -> None:
    """The verdict on what came with 0.19 is the one of the manager that was run."""
    assert (not violations(changed(changes), "0.19")) == accepted


@pytest.mark.parametrize(("changes", "minor", "sentence"), FURTHER)
def test_rules_of_the_source(changes: Changes, minor: str, sentence: str) -> None:
    """A rule of Kueue's own validation names its path; what Kueue lets through is let through."""
    found = violations(changed(changes), minor)
    assert any(text.startswith(sentence) for text in found) if sentence else found == []


@pytest.mark.parametrize("minor", MINORS)
def test_shipped_configuration(minor: str) -> None:
    """Every minor accepts the Configuration that the chart ships."""
    assert violations(SHIPPED, minor) == []


def test_every_violation_is_listed() -> None:
    """Independent violations are all reported, not only the first."""
    found = violations(changed({"fairSharing": {}, "featureGates": {"Nope": True, "LendingLimit": True}}), "0.19")
    assert [text.partition(":")[0] for text in found] == [
        "featureGates.Nope",
        "featureGates.LendingLimit",
        "fairSharing.preemptionStrategies",
    ]


def test_unsupported_minor() -> None:
    """A minor without data raises KeyError, never silence."""
    with pytest.raises(KeyError):
        violations(SHIPPED, "0.16")


@pytest.mark.parametrize(
    ("minor", "locked", "absent"),
    [("0.17", "LendingLimit", "ConcurrentAdmission"), ("0.19", "HierarchicalCohorts", "LendingLimit")],
)
def test_gates_of_a_minor(minor: str, locked: str, absent: str) -> None:
    """Gates are those of the minor: locked once general, gone later."""
    known = gates(minor)
    assert known[locked].locked
    assert known[locked].default
    assert absent not in known
