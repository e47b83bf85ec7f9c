"""The rules of `resources` in Kueue's manager Configuration, and the TLS names that Go knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tenancy.backend.kueue.configuration_values import duplicates, value_at
from tenancy.model.syntax import is_dns_label, is_dns_subdomain, is_label_key

_PATH = "resources.deviceClassMappings"
_PARTITIONABLE = "KueueDRAIntegrationPartitionableDevices"
_CONSUMABLE = "KueueDRAIntegrationConsumableCapacity"

CIPHER_SUITES = frozenset(
    f"TLS_{name}"
    for name in (
        "AES_128_GCM_SHA256",
        "AES_256_GCM_SHA384",
        "CHACHA20_POLY1305_SHA256",
        *(
            f"ECDHE_{key}_WITH_{cipher}"
            for key in ("ECDSA", "RSA")
            for cipher in (
                "AES_128_CBC_SHA",
                "AES_128_CBC_SHA256",
                "AES_128_GCM_SHA256",
                "AES_256_CBC_SHA",
                "AES_256_GCM_SHA384",
                "CHACHA20_POLY1305",
                "CHACHA20_POLY1305_SHA256",
                "RC4_128_SHA",
            )
        ),
        "ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
        "RSA_WITH_3DES_EDE_CBC_SHA",
        "RSA_WITH_AES_128_CBC_SHA",
        "RSA_WITH_AES_128_CBC_SHA256",
        "RSA_WITH_AES_128_GCM_SHA256",
        "RSA_WITH_AES_256_CBC_SHA",
        "RSA_WITH_AES_256_GCM_SHA384",
        "RSA_WITH_RC4_128_SHA",
    )
)
"""The names of crypto/tls's secure and insecure suites, with the two short names that component-base keeps."""

CURVES = frozenset({23, 24, 25, 29, 4587, 4588, 4589})
"""IANA identifiers of P-256, P-384, P-521, X25519 and the three hybrids with ML-KEM."""


def transformations(section: Mapping[str, Any]) -> Iterator[str]:
    """An input may be transformed once."""
    inputs = [entry.get("input") or "" for entry in section.get("transformations") or ()]
    for name in duplicates(inputs):
        yield f"resources.transformations: the input {name} stands there twice."


def quota_check_strategy(section: Mapping[str, Any]) -> Iterator[str]:
    """IgnoreUndeclared leaves nothing for excludeResourcePrefixes to exclude."""
    if section.get("quotaCheckStrategy") == "IgnoreUndeclared" and section.get("excludeResourcePrefixes"):
        yield "resources.quotaCheckStrategy: IgnoreUndeclared excludes excludeResourcePrefixes."


def device_class_mappings(section: Mapping[str, Any], minor: str, enabled: Callable[[str], bool]) -> Iterator[str]:
    """At most 16 mappings of 1 to 8 device classes, names valid and unique, a class mapped once unless by counters."""
    mappings = section.get("deviceClassMappings") or ()
    if len(mappings) > 16:
        yield f"{_PATH}: at most 16 mappings."
    for name in duplicates(mapping.get("name") or "" for mapping in mappings):
        yield f"{_PATH}: the name {name} stands there twice."
    for index, mapping in enumerate(mappings):
        path, classes = f"{_PATH}[{index}]", mapping.get("deviceClassNames") or ()
        if not 1 <= len(classes) <= 8:
            yield f"{path}.deviceClassNames: must name 1 to 8 device classes."
        for name in (mapping.get("name") or "", *classes):
            if not is_label_key(name) or len(name) > 253:
                yield f"{path}: {name or 'an empty name'} is not a valid qualified name."
        for name in duplicates(classes):
            yield f"{path}.deviceClassNames: {name} stands there twice."
        yield from _sources(f"{path}.sources", mapping.get("sources") or (), minor, enabled)
    yield from _shared_classes(mappings, counters=minor == "0.19")


def _shared_classes(mappings: Any, *, counters: bool) -> Iterator[str]:
    """Since 0.19 a class may belong to several mappings, each with a counter of its own."""
    owners: dict[str, list[tuple[str, str]]] = {}
    for mapping in mappings:
        sources: Any = mapping.get("sources") or ({},)
        counter = (value_at(sources[0], "counter.name") or "") if counters else ""
        for name in dict.fromkeys(mapping.get("deviceClassNames") or ()):
            others = [known for resource, known in owners.get(name, []) if resource != mapping.get("name")]
            if others and (not counter or "" in others or counter in others):
                yield f"{_PATH}: the device class {name} is mapped twice."
            owners.setdefault(name, []).append((mapping.get("name") or "", counter))


def _sources(path: str, sources: Any, minor: str, enabled: Callable[[str], bool]) -> Iterator[str]:
    if sources and minor == "0.18" and (len(sources) > 1 or not enabled(_PARTITIONABLE)):
        yield f"{path}: needs the gate {_PARTITIONABLE} and at most one source."
    kinds = set()
    for index, source in enumerate(sources):
        given = [kind for kind in ("counter", "capacity") if source.get(kind) is not None]
        kinds |= set(given)
        if len(given) != 1:
            yield f"{path}[{index}]: must have exactly one of counter and capacity."
            continue
        kind = given[0]
        gate = _PARTITIONABLE if kind == "counter" else _CONSUMABLE
        if not enabled(gate):
            yield f"{path}[{index}].{kind}: needs the gate {gate}."
        yield from _source(f"{path}[{index}].{kind}", kind, source[kind], minor)
    if len(kinds) > 1:
        yield f"{path}: must not mix counter and capacity."


def _source(path: str, kind: str, source: Mapping[str, Any], minor: str) -> Iterator[str]:
    name, driver = source.get("name") or "", source.get("driver") or ""
    named = _is_dra_name(name) if kind == "capacity" else _is_counter(name, minor)
    if not named:
        yield f"{path}.name: {name or 'the empty name'} is not valid."
    longest = 253 if minor == "0.18" else 63
    if not driver or len(driver) > longest or (minor == "0.19" and not is_dns_subdomain(driver)):
        yield f"{path}.driver: must be the name of a driver, at most {longest} characters."
    if not value_at(source, "deviceSelector.cel.expression"):
        yield f"{path}.deviceSelector.cel.expression: is required."


def _is_counter(name: str, minor: str) -> bool:
    return 0 < len(name) <= 63 if minor == "0.18" else is_dns_label(name)


def _is_dra_name(name: str) -> bool:
    domain, slash, identifier = name.rpartition("/")
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,31}", identifier) is None:
        return False
    return not slash or (len(domain) <= 63 and is_dns_subdomain(domain.lower()))
