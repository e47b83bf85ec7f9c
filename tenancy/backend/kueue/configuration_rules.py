"""The rules of Kueue's manager Configuration that span fields, as pkg/config/validation.go of each minor has them.

A rule runs only on a Configuration whose structure is sound, so that types hold; any value may still be absent or null.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from tenancy.backend.kueue import configuration_integrations as integrations
from tenancy.backend.kueue import configuration_resources as resources
from tenancy.backend.kueue.configuration_start import Start, gate_dependencies, known_gates
from tenancy.backend.kueue.configuration_values import duplicates, nanoseconds, value_at
from tenancy.model.syntax import is_dns_label, is_dns_subdomain, is_label_key

STRATEGIES = (
    ("LessThanOrEqualToFinalShare",),
    ("LessThanInitialShare",),
    ("LessThanOrEqualToFinalShare", "LessThanInitialShare"),
)
Rule: TypeAlias = Callable[[Start], Iterable[str]]


_NON_NEGATIVE_DURATIONS = (
    "multiKueue.gcInterval",
    "multiKueue.workerLostTimeout",
    "admissionFairSharing.usageHalfLifeTime",
    "admissionFairSharing.usageSamplingInterval",
    "objectRetentionPolicies.workloads.afterFinished",
    "objectRetentionPolicies.workloads.afterDeactivatedByKueue",
)


def _durations(start: Start) -> Iterator[str]:
    for path in _NON_NEGATIVE_DURATIONS:
        if (nanoseconds(start.at(path)) or 0) < 0:
            yield f"{path}: must not be negative."
    for name, weight in (start.at("admissionFairSharing.resourceWeights") or {}).items():
        if (weight or 0) < 0:
            yield f"admissionFairSharing.resourceWeights.{name}: must not be negative."


def _wait_for_pods_ready(start: Start) -> Iterator[str]:
    section = start.at("waitForPodsReady")
    if section is None or start.enabled("DisableWaitForPodsReady"):
        return
    # Managers before 0.19 have no default for the timeout.
    if start.minor != "0.19" and not nanoseconds(section.get("timeout")):
        yield "waitForPodsReady.timeout: is required and must be greater than zero."
    for key in ("timeout", "recoveryTimeout"):
        if (nanoseconds(section.get(key)) or 0) < 0:
            yield f"waitForPodsReady.{key}: must not be negative."
    for key in ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds"):
        if (value_at(section, f"requeuingStrategy.{key}") or 0) < 0:
            yield f"waitForPodsReady.requeuingStrategy.{key}: must not be negative."


def _fair_sharing(start: Start) -> Iterator[str]:
    section = start.at("fairSharing")
    if section is None:
        return
    strategies = tuple(section.get("preemptionStrategies") or ())
    if not strategies:
        yield "fairSharing.preemptionStrategies: is required when fairSharing is present."
    elif strategies not in STRATEGIES:
        legal = ", ".join(f"[{', '.join(strategy)}]" for strategy in STRATEGIES)
        yield f"fairSharing.preemptionStrategies: must be one of {legal}."


def _certificates(start: Start) -> Iterator[str]:
    section = start.at("internalCertManagement") or {}
    if section.get("enable") is False:
        return
    service, secret = section.get("webhookServiceName"), section.get("webhookSecretName")
    if service is not None and not (is_dns_label(service) and service[0].isalpha()):
        yield "internalCertManagement.webhookServiceName: must be a DNS label that starts with a letter."
    if secret is not None and not is_dns_subdomain(secret):
        yield "internalCertManagement.webhookSecretName: must be a DNS subdomain."


def _leader_election(start: Start) -> Iterator[str]:
    # client-go's leaderelection.NewLeaderElector; defaults of component-base: 15 s, 10 s and 2 s.
    section = start.at("leaderElection") or {}
    if section.get("leaderElect") is False:
        return
    lease, renew, retry = (
        nanoseconds(section.get(key)) or default * 10**9
        for key, default in (("leaseDuration", 15), ("renewDeadline", 10), ("retryPeriod", 2))
    )
    if (section.get("resourceLock") or "leases") != "leases":
        yield "leaderElection.resourceLock: must be leases."
    if lease <= renew:
        yield "leaderElection.leaseDuration: must be greater than renewDeadline."
    if renew * 5 <= retry * 6 or retry < 1:
        yield "leaderElection.renewDeadline: must be greater than 1.2 times retryPeriod, which must be positive."


def _servers(start: Start) -> Iterator[str]:
    address, port = start.at("visibilityServer.bindAddress"), start.at("visibilityServer.bindPort")
    if address is not None and not _is_ip(address):
        yield "visibilityServer.bindAddress: must be an IP address."
    if port is not None and not 1 <= port <= 65535:
        yield "visibilityServer.bindPort: must be between 1 and 65535."
    if (start.at("webhook.port") or 0) > 65535:
        yield "webhook.port: must be at most 65535."


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _custom_labels(start: Start) -> Iterator[str]:
    labels = start.at("metrics.customLabels") or ()
    for index, label in enumerate(labels):
        path = f"metrics.customLabels[{index}]"
        name, key, annotation = (label.get(k) or "" for k in ("name", "sourceLabelKey", "sourceAnnotationKey"))
        if not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]*", name):
            yield f"{path}.name: must be letters, digits and underscores, a letter first."
        if key and annotation:
            yield f"{path}: sourceLabelKey and sourceAnnotationKey exclude each other."
        if not is_label_key(key or annotation or name):
            yield f"{path}: {key or annotation or name} is not a valid label key."
    for name in duplicates(label.get("name") for label in labels):
        yield f"metrics.customLabels: the name {name} stands there twice."
    if start.minor == "0.19":
        yield from _custom_label_limits(labels)


def _custom_label_limits(labels: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    path = "metrics.customLabels"
    kinds = [label.get("sourceKind") or "ClusterQueue" for label in labels]
    if len(kinds) > 20:
        yield f"{path}: at most 20 labels."
    for kind in sorted(set(kinds)):
        if kinds.count(kind) > (2 if kind == "Workload" else 6):
            yield f"{path}: at most {2 if kind == 'Workload' else 6} labels of sourceKind {kind}."
    for index, (label, kind) in enumerate(zip(labels, kinds, strict=True)):
        values = label.get("trackedValues") or ()
        least, most = (1, 12) if kind == "Workload" else (0, 16)
        if not least <= len(values) <= most:
            yield f"{path}[{index}].trackedValues: {least} to {most} values for sourceKind {kind}."
        if len(set(values)) < len(values):
            yield f"{path}[{index}].trackedValues: must not repeat a value."


def _tls(start: Start) -> Iterator[str]:
    section = start.at("tls") or {}
    version, suites = section.get("minVersion") or "", section.get("cipherSuites") or ()
    if version not in ("", "VersionTLS12", "VersionTLS13"):
        yield "tls.minVersion: must be VersionTLS12 or VersionTLS13."
    if version == "VersionTLS13" and suites:
        yield "tls.cipherSuites: must be absent when minVersion is VersionTLS13."
    for suite in suites:
        if suite not in resources.CIPHER_SUITES:
            yield f"tls.cipherSuites: {suite} is not a cipher suite that Go knows."
    curves = section.get("curvePreferences") or ()
    if len(set(curves)) < len(curves) or not set(curves) <= resources.CURVES:
        yield f"tls.curvePreferences: must be distinct identifiers out of {sorted(resources.CURVES)}."


def _resources(start: Start) -> Iterator[str]:
    section = start.at("resources") or {}
    yield from resources.transformations(section)
    if start.enabled("QuotaCheckStrategy"):
        yield from resources.quota_check_strategy(section)
    yield from resources.device_class_mappings(section, start.minor, start.enabled)


RULES: tuple[Rule, ...] = (
    known_gates,
    gate_dependencies,
    _durations,
    _wait_for_pods_ready,
    _fair_sharing,
    integrations.frameworks,
    integrations.namespace_selector,
    integrations.multikueue,
    integrations.cluster_profile,
    _certificates,
    _leader_election,
    _servers,
    _custom_labels,
    _tls,
    _resources,
)
