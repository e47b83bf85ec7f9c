"""What Volcano's scheduler knows of a configuration, by minor: actions, plugins, switches and arguments.

From pkg/scheduler of volcano 1.15.1 and 1.14.2: conf/, the constants of plugins/ and actions/, and where they are read.
The scheduler looks up what it knows and passes over the rest, so only a list like this one sees a wrong spelling.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

Arguments: TypeAlias = Mapping[str, str]
"""From the key of an argument to its kind, a key of `configuration_values.KINDS`; `*` at the end of a key stands for
the name of a resource or a zone."""

TOP: Final = ("actions", "tiers", "configurations", "metrics")

METRICS: Final[Arguments] = {
    "type": "text",
    "address": "text",
    "interval": "duration",
    "tls.insecureSkipVerify": "text",
    "elasticsearch.index": "text",
    "elasticsearch.hostnameFieldName": "text",
    "elasticsearch.username": "text",
    "elasticsearch.password": "text",
}

SWITCHES: Final = (
    *("enableJobOrder", "enableHierarchy", "enableJobReady", "enableJobPipelined", "enableTaskOrder"),
    *("enablePreemptable", "enableReclaimable", "enablePreemptive", "enableQueueOrder", "EnabledClusterOrder"),
    *("enablePredicate", "enableBestNode", "enableNodeOrder", "enableTargetJob", "enableReservedNodes"),
    *("enableJobEnqueued", "enabledVictim", "enableJobStarving", "enabledOverused", "enabledAllocatable"),
    *("enabledHyperNodeOrder", "enabledSubJobReady", "enabledSubJobPipelined", "enabledSubJobOrder"),
    "enabledHyperNodeGradient",
)
"""As the file spells them, with and without a d, and one with a capital (the tags of conf.PluginOption)."""

HIERARCHICAL: Final = ("capacity", "nodegroup", "drf")
"""The plugins that look at enableHierarchy."""

_CACHED: Final[Arguments] = {"predicateErrorCacheEnable": "boolean"}
_GANG: Final[Arguments] = {"maxDomains": "positive", "allowWholeBundle": "boolean"}
_COMMON_ACTIONS: Final[Mapping[str, Arguments]] = {
    "enqueue": {},
    "allocate": _CACHED,
    "backfill": _CACHED,
    "preempt": {
        **_CACHED,
        "enableTopologyAwarePreemption": "boolean",
        "topologyAwarePreemptWorkerNum": "positive",
        "minCandidateNodesPercentage": "count",
        "minCandidateNodesAbsolute": "count",
        "maxCandidateNodesAbsolute": "count",
    },
    "reclaim": _CACHED,
    "shuffle": {},
}
ACTIONS: Final[Mapping[str, Mapping[str, Arguments]]] = {
    "1.14": _COMMON_ACTIONS,
    "1.15": {**_COMMON_ACTIONS, "gangpreempt": _GANG, "gangreclaim": _GANG},
}
"""By minor: each action with its arguments, which stand under `configurations`."""

_COMMON: Final[Mapping[str, Arguments]] = {
    "binpack": {
        **{f"binpack.{name}": "count" for name in ("weight", "cpu", "memory", "resources.*")},
        "binpack.resources": "text",
    },
    "capacity": {},
    "cdp": {},
    "conformance": {},
    "deviceshare": {
        **{
            f"deviceshare.{name}": "boolean"
            for name in (
                *("GPUSharingEnable", "NodeLockEnable", "GPUNumberEnable", "VGPUEnable"),
                *("AscendMindClusterVNPUEnable", "AscendHAMiVNPUEnable"),
            )
        },
        **{f"deviceshare.{name}": "text" for name in ("KnownGeometriesCMName", "KnownGeometriesCMNamespace")},
        "deviceshare.SchedulePolicy": "text",
        "deviceshare.ScheduleWeight": "count",
    },
    "drf": {},
    "extender": {
        **{
            f"extender.{name}Verb": "text"
            for name in (
                *("onSessionOpen", "onSessionClose", "predicate", "prioritize", "preemptable", "reclaimable"),
                *("queueOverused", "jobEnqueueable", "jobReady", "allocateFunc", "deallocateFunc"),
            )
        },
        "extender.urlPrefix": "text",
        "extender.httpTimeout": "duration",
        "extender.ignorable": "boolean",
        "extender.managedResources": "texts",
    },
    "gang": {},
    "network-topology-aware": {
        "weight": "count",
        **{f"hypernode.binpack.{name}": "count" for name in ("cpu", "memory", "resources.*")},
        "hypernode.binpack.resources": "text",
        "hypernode.binpack.normal-pod.enable": "boolean",
        "hypernode.binpack.normal-pod.fading": "number",
    },
    "nodegroup": {"strict": "boolean"},
    "nodeorder": {
        f"{name}.weight": "count"
        for name in (
            *("nodeaffinity", "podaffinity", "leastrequested", "balancedresource", "mostrequested"),
            *("tainttoleration", "imagelocality", "podtopologyspread"),
        )
    },
    "numa-aware": {"weight": "count"},
    "overcommit": {"overcommit-factor": "number"},
    "pdb": {},
    "predicates": {
        **{
            f"predicate.{name}Enable": "boolean"
            for name in (
                *("NodeAffinity", "NodePorts", "TaintToleration", "PodAffinity", "NodeVolumeLimits"),
                *("VolumeZone", "PodTopologySpread", "VolumeBinding", "Cache"),
            )
        },
        "volumebinding.weight": "count",
        "volumebinding.bindTimeoutSeconds": "count",
        "volumebinding.shape": "shape",
        "dynamicresources.filterTimeoutSeconds": "count",
    },
    "priority": {},
    "proportion": {},
    "rescheduling": {"interval": "duration", "metricsPeriod": "duration", "strategies": "strategies"},
    "resource-strategy-fit": {
        "resourceStrategyFitWeight": "count",
        "resources": "strategy of resources",
        "sra": "sra",
        "proportional": "proportional",
    },
    "resourcequota": {},
    "sla": {"sla-waiting-time": "duration"},
    "task-topology": {"task-topology.weight": "count"},
    "tdm": {"tdm.revocable-zone.*": "hours", "tdm.evict.period": "duration"},
    "usage": {"usage.weight": "count", "cpu.weight": "count", "memory.weight": "count", "thresholds": "thresholds"},
}
_FROM_1_15: Final[Mapping[str, Arguments]] = {
    "capacity": {
        "ancestorReclaimLevel": "count",
        "capacity.DynamicResourceAllocationEnable": "boolean",
        "capacity.DRAConsumableCapacityEnable": "boolean",
    },
    "deviceshare": {"deviceshare.GPUExclusiveRules": "labels"},
    "network-topology-aware": {"hypernode.gradient.evict.max-hypernodes": "positive"},
    "nodegroup": {"enablePreferredOrder": "boolean"},
}
_UNTIL_1_14: Final[Mapping[str, Arguments]] = {
    # 1.15 still has the constant and asks the feature gate instead.
    "predicates": {"predicate.DynamicResourceAllocationEnable": "boolean"},
}
PLUGINS: Final[Mapping[str, Mapping[str, Arguments]]] = {
    minor: {plugin: {**arguments, **other.get(plugin, {})} for plugin, arguments in _COMMON.items()}
    for minor, other in (("1.14", _UNTIL_1_14), ("1.15", _FROM_1_15))
}
"""By minor: each plugin with its arguments."""

ADMISSIONS: Final = (
    *("/cronjobs/validate", "/hypernodes/validate", "/jobflows/validate", "/jobs/mutate", "/jobs/validate"),
    *("/podgroups/mutate", "/podgroups/validate", "/pods/mutate", "/pods/validate"),
    *("/queues/mutate", "/queues/validate"),
)
"""The webhooks of pkg/webhooks, by their paths."""

SOURCES: Final = ("label", "ufm")
"""What the discovery of HyperNodes can read (pkg/controllers/hypernode/discovery)."""
