"""What is measured, and where that is declared."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Cluster
from tenancy.model.duration import parse_duration
from tenancy.model.organization import Org, namespaces
from tenancy.model.syntax import is_dns_label, is_label_key, is_label_value

TELEMETRY_NAMESPACE: Final = Rule(
    "telemetry-namespace",
    Severity.ERROR,
    "A namespace of telemetry that Kubernetes cannot have",
    "The API server refuses every rule, scrape target and dashboard: nothing is measured, and nobody is told.",
)
TELEMETRY_NAMESPACE_OF_UNIT: Final = Rule(
    "telemetry-namespace-of-unit",
    Severity.ERROR,
    "Telemetry in a namespace of tenants",
    "Its people may write ConfigMaps there, so they could put dashboards before everybody, and rules would go with the "
    "namespace when the unit is removed.",
)
TELEMETRY_LABEL: Final = Rule(
    "telemetry-label",
    Severity.ERROR,
    "A label of telemetry that objects cannot have",
    "The API server refuses every rule and scrape target that carries it; one of this tool's own keys would hide whose "
    "the objects are.",
)
TELEMETRY_PENDING: Final = Rule(
    "telemetry-pending-after",
    Severity.ERROR,
    "A time until jobs are reported that no alert can have",
    "Prometheus' operator refuses a rule with a duration that it cannot read, and all rules of the same object with "
    "it. Whether a queue moves is seen from one scrape to another: in less than five minutes every queue stands still.",
)
SHORTEST: Final = timedelta(minutes=5)


def telemetry(org: Org) -> Iterator[Finding]:
    """Namespace, labels and durations of every cluster."""
    of_units = {name: unit.title for unit in org.units if unit.kind == "team" for name, _ in namespaces(unit)}
    for name, cluster in org.document.clusters.items():
        path: KeyPath = ("clusters", name, "telemetry")
        yield from _namespace(cluster, path, of_units)
        yield from _labels(org, cluster, path)
        yield from _pending(cluster, path)


def _namespace(cluster: Cluster, path: KeyPath, of_units: dict[str, str]) -> Iterator[Finding]:
    namespace = cluster.telemetry.namespace
    if not is_dns_label(namespace):
        message = f"`{namespace}` cannot be a namespace"
        help_ = "write lower-case letters, digits and dashes, such as `monitoring`"
        yield Finding(TELEMETRY_NAMESPACE, (*path, "namespace"), message, help_)
    elif namespace in of_units:
        message = f"`{namespace}` is the namespace of `{of_units[namespace]}`"
        help_ = "write the namespace of Prometheus, or another that no unit has, such as `monitoring`"
        yield Finding(TELEMETRY_NAMESPACE_OF_UNIT, (*path, "namespace"), message, help_)


def _labels(org: Org, cluster: Cluster, path: KeyPath) -> Iterator[Finding]:
    for key, value in cluster.telemetry.labels.items():
        at = (*path, "labels", key)
        if not is_label_key(key):
            message = f"`{key}` is not the key of a label"
            help_ = "write NAME or DOMAIN/NAME, such as `release`; letters, digits, `-`, `_` and `.`"
            yield Finding(TELEMETRY_LABEL, at, message, help_, at_key=True)
        elif key == "app.kubernetes.io/managed-by" or key.startswith(f"{org.document.domain}/"):
            message = f"the label `{key}` is one that this tool sets"
            help_ = "write the label that Prometheus selects rules by, such as `release: kube-prometheus-stack`"
            yield Finding(TELEMETRY_LABEL, at, message, help_, at_key=True)
        elif not is_label_value(value):
            message = f"`{value}` is not the value of a label"
            help_ = "write letters, digits, `-`, `_` and `.`, a letter or digit at both ends, at most 63 characters"
            yield Finding(TELEMETRY_LABEL, at, message, help_)


def _pending(cluster: Cluster, path: KeyPath) -> Iterator[Finding]:
    said = cluster.telemetry.pending_after
    duration = parse_duration(said)
    if duration is None or duration < SHORTEST:
        message = f"`{said}` is {'not a duration' if duration is None else 'less than five minutes'}"
        help_ = "write hours and minutes, such as `1h`, `90m` or `1h30m`"
        yield Finding(TELEMETRY_PENDING, (*path, "pendingAfter"), message, help_)


RULES: Final = (TELEMETRY_NAMESPACE, TELEMETRY_NAMESPACE_OF_UNIT, TELEMETRY_LABEL, TELEMETRY_PENDING)
CHECKS: Final[tuple[Check, ...]] = (telemetry,)
