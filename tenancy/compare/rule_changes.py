"""What becomes of the rules over people and pods: guards, what pods may ask of the host, KEDA, what is measured.

Each as a setting in the words of the language, read from the objects of both sides. An object that is not there says
`none`: the guard is off, or has nothing to guard.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tenancy.backend.kueue.queueing import QUEUEING
from tenancy.backend.manifest import Object
from tenancy.backend.reading import note
from tenancy.backend.shared.fences import FENCE
from tenancy.backend.shared.guards.cluster import CLUSTER
from tenancy.backend.shared.guards.interruption import NAME as INTERRUPTION
from tenancy.backend.shared.guards.placement import PLACEMENT
from tenancy.backend.shared.guards.priorities import NAME as PRIORITIES
from tenancy.backend.shared.guards.scaling import SCALING
from tenancy.backend.shared.guards.security import LEVEL, SECURITY
from tenancy.backend.shared.keda import MOST_PODS
from tenancy.backend.shared.whole_nodes import WHOLE_NODES
from tenancy.backend.volcano.binding import BINDING
from tenancy.backend.volcano.cluster import COMMANDS
from tenancy.compare.snapshot import Snapshot

NONE: Final = "none"
"""What is said where there is no object that says it."""
GUARD: Final = "guard_"
"""How the settings of guards begin."""
EVERYBODY: Final = "the organization"
"""Whom a setting of the cluster is of."""

_BINDING: Final = "ValidatingAdmissionPolicyBinding"
_GUARDS: Final[Mapping[str, str]] = {
    QUEUEING: "queueing",
    BINDING: "queueing",
    PLACEMENT: "placement",
    PRIORITIES: "priorities",
    INTERRUPTION: "interruption",
    SECURITY: "security",
    FENCE: "fences",
    WHOLE_NODES: "wholeNodes",
    SCALING: "scaling",
    CLUSTER: "cluster",
    COMMANDS: "cluster",
}
"""From the name of a policy to the guard that it shows the level of; others of a guard have its level as well, but come
and go with something else, as that on shares of GPUs does."""

_PENDING: Final = "TenancyJobsPending"
_RULES: Final = "tenancy"
_BOARD: Final = "tenancy-dashboard"
"""What is there wherever rules, or dashboards, are; more of them follow departments."""
_OFF: Final[Mapping[str, str]] = {"prometheus": "off", "grafana": "off"}
"""Settings whose objects are gone where they are off. The rest of telemetry then says nothing."""
_OURS: Final = ("app.kubernetes.io/managed-by", "/organization")
"""How labels end that every object of ours has."""


def rule_changes(old: Snapshot, new: Snapshot, cluster: str) -> Iterator[tuple[str, str, str, str]]:
    """The key of a setting, before, after, and whom it is of, in a cluster that stays."""
    if cluster not in old.clusters & new.clusters:
        return
    was, now = ({**_guards(side, cluster), **_telemetry(side, cluster)} for side in (old, new))
    for key in sorted(was.keys() | now.keys()):
        before, after = (side.get(key, _absent(key)) for side in (was, now))
        if before != after and "" not in (before, after):
            yield key, before, after, EVERYBODY
    yield from _namespaces(old, new, cluster)


def _absent(key: str) -> str:
    return NONE if key.startswith(GUARD) else _OFF.get(key, "")


def _guards(snapshot: Snapshot, cluster: str) -> dict[str, str]:
    """The level of each guard that has a policy."""
    return {
        f"{GUARD}{guard}": "".join(binding["spec"].get("validationActions") or [NONE]).lower()
        for binding in snapshot.of(cluster, _BINDING)
        if (guard := _guard(binding["metadata"]["name"]))
    }


def _guard(name: str) -> str:
    return _GUARDS.get(WHOLE_NODES if name.startswith(WHOLE_NODES) else name, "")


def _telemetry(snapshot: Snapshot, cluster: str) -> dict[str, str]:
    """Who is told of what happens, where, and how soon."""
    found: dict[str, str] = {}
    for board in snapshot.of(cluster, "ConfigMap"):
        if board["metadata"]["name"] == _BOARD:
            found |= {"grafana": "sidecar", "telemetry_namespace": board["metadata"]["namespace"]}
    for rules in snapshot.of(cluster, "PrometheusRule"):
        if rules["metadata"]["name"] == _RULES:
            labels = rules["metadata"]["labels"].items()
            own = [f"{key}={value}" for key, value in sorted(labels) if not key.endswith(_OURS)]
            found |= {"prometheus": "operator", "telemetry_namespace": rules["metadata"]["namespace"]}
            found |= {"telemetry_labels": ", ".join(own) or NONE}
            found |= {"pending_after": _pending(rules)}
    return found


def _pending(rules: Object) -> str:
    """How long jobs wait before an alert; empty where the rules have none, for want of queues."""
    alerts = (each for group in rules["spec"]["groups"] for each in group["rules"])
    return next((str(each["for"]) for each in alerts if each.get("alert") == _PENDING), "")


def _namespaces(old: Snapshot, new: Snapshot, cluster: str) -> Iterator[tuple[str, str, str, str]]:
    """What namespaces that stay say of their pods."""
    for each, obj in new.items.items():
        if each.cluster == cluster and each.kind == "Namespace" and each in old.items and (unit := note(obj, "unit")):
            was, now = _said(old.items[each]), _said(obj)
            yield from ((key, was[key], now[key], unit) for key in was if was[key] != now[key])


def _said(namespace: Object) -> dict[str, str]:
    level = namespace["metadata"].get("labels", {}).get(LEVEL, NONE)
    return {"pod_security": level, "autoscaling": "keda" if note(namespace, MOST_PODS) else NONE}
