"""What the new value of a setting means for people, where the word alone does not say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tenancy.compare.effects import SettingChange
from tenancy.compare.rule_changes import GUARD

_STATES: Final = {
    "kueue": {
        "active": "takes new work",
        "held": "admits no new work, what runs goes on",
        "draining": "admits no new work, what runs is evicted",
    },
    "volcano": {
        "active": "takes new work",
        "held": "refuses new work, what waits still starts",
        "draining": "refuses new work and ends nothing",
    },
    "native": {
        "active": "takes new work",
        "held": "gets no new pods, what runs goes on",
        "draining": "gets no new pods, and nothing is ended",
    },
}
"""By scheduler and state of a unit."""

_MEANINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "preemptible": {
        "no": "its jobs are no longer for GPUs that are borrowed",
        "checkpointed": "its jobs save their state before they are interrupted",
        "restartable": "its jobs begin again when they are interrupted",
    },
    "pod_security": {
        "privileged": "its pods may be root on their nodes, and read what the pods of other units have there",
        "baseline": "its pods have nothing of their nodes, and may run as root inside",
        "restricted": "its new pods are refused unless they run as another user than root and without privileges",
    },
    "autoscaling": {
        "keda": "its members may let KEDA scale their work, up to what its queue can ever have",
        "none": "its members may make no objects of KEDA any more",
    },
    "prometheus": {
        "operator": "quotas, waits and evictions are recorded, and alerts tell of queues that stand still",
        "off": "nothing is recorded, and nobody is told of queues that stand still",
    },
    "grafana": {"sidecar": "the cluster and each department have a dashboard", "off": "the dashboards go"},
}
"""By setting and its new value."""

_TELEMETRY: Final[Mapping[str, str]] = {
    "telemetry_namespace": "Prometheus and Grafana must look for rules and dashboards there",
    "telemetry_labels": "Prometheus must select rules and targets by them",
    "pending_after": "so long jobs of a queue wait without a start before an alert",
}
"""By setting, whatever its value."""

_GUARDS: Final[Mapping[str, tuple[str, str]]] = {
    "queueing": (
        "work outside the queue of its unit is refused",
        "work may run beside every queue, on what others own",
    ),
    "placement": (
        "work that names a node, another scheduler or nodes of other units is refused",
        "work may run on nodes of other units",
    ),
    "priorities": (
        "work with a priority that is not its unit's is refused",
        "every job may have any priority, and go before everybody else's",
    ),
    "interruption": (
        "GPU jobs of units that may borrow are refused unless they are made for interruptions",
        "GPU jobs need not be made for interruptions",
    ),
    "security": (
        "templates that ask for more of the host than pods may have are refused",
        "templates may ask for more of the host than their pods may, which are then refused one by one",
    ),
    "fences": ("jobs without GPUs are refused on fenced nodes", "jobs without GPUs may run on GPU nodes"),
    "wholeNodes": (
        "jobs for parts of whole nodes are refused",
        "jobs may take parts of nodes, and owners of whole nodes wait",
    ),
    "scaling": ("KEDA scales nothing beyond its queue", "nothing bounds what KEDA scales"),
    "cluster": (
        "objects by which the scheduler would stop for everybody are refused",
        "one object of anybody may stop the scheduler for everybody",
    ),
}
"""By guard: what it refuses, and what is done where it does not."""

_LEVELS: Final[Mapping[str, str]] = {"warn": "; their authors are warned", "audit": "; the audit log has it"}


def meaning(change: SettingChange, scheduler: str) -> str:
    """The words; empty where there are none."""
    if change.key == "state":
        return _STATES[scheduler].get(change.after, "")
    if change.key.startswith(GUARD):
        refused, done = _GUARDS[change.key.removeprefix(GUARD)]
        return refused if change.after == "deny" else f"{done}{_LEVELS.get(change.after, '')}"
    return _TELEMETRY.get(change.key, "") or _MEANINGS.get(change.key, {}).get(change.after, "")
