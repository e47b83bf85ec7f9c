"""Whether a Kueue manager would start with a Configuration.

The chart checks nothing and the manager exits on a wrong key, a wrong value or an unknown feature gate, which stops
admission in the whole cluster. `schemas/kueue-manager/MINOR/` holds what each minor knows: the structure
(tools/kueue_configuration.py) and the feature gates (tools/kueue_gates.py), read from Kueue 0.17.0, 0.18.4 and 0.19.2.
Later patches of a minor may know more gates.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema_rs

from tenancy.backend.kueue.configuration_rules import RULES
from tenancy.backend.kueue.configuration_start import Gate, Start
from tenancy.model.versions import KUEUE
from tenancy.resources import data_path

MINORS = tuple(KUEUE)
_V1BETA1 = "config.kueue.x-k8s.io/v1beta1"


def violations(configuration: Mapping[str, Any], minor: str) -> list[str]:
    """Why the manager of a minor ("0.17", "0.18" or "0.19") would not start: one sentence each, with its path first.

    Empty when it would start. Stricter than the manager in two points: apiVersion and kind are required, and a misspelt
    enumeration is refused where the manager ignores it. CEL expressions are not compiled, and files, addresses and
    clusters that the Configuration names are not looked at.
    Raises KeyError for a minor that is not supported.
    """
    if minor not in MINORS:
        raise KeyError(minor)
    v1beta1 = configuration.get("apiVersion") == _V1BETA1
    errors = _structure(minor, v1beta1=v1beta1).iter_errors(dict(configuration))
    found = [f"{_path(error.instance_path)}: {error.message}." for error in errors]
    if found:
        return found
    start = Start(
        configuration=_as_v1beta2(configuration) if v1beta1 else configuration, minor=minor, gates=gates(minor)
    )
    return [sentence for rule in RULES for sentence in rule(start)]


@cache
def gates(minor: str) -> Mapping[str, Gate]:
    """The feature gates that the manager of a minor knows, by name, the Kubernetes gates linked into it included."""
    groups = json.loads(_read(minor, "gates.json"))
    return {name: Gate(**gate) for group in ("kubernetes", "kueue") for name, gate in groups[group].items()}


@cache
def _structure(minor: str, *, v1beta1: bool) -> jsonschema_rs.Draft202012Validator:
    name = "configuration-v1beta1.json" if v1beta1 else "configuration.json"
    return jsonschema_rs.Draft202012Validator(json.loads(_read(minor, name)))


def _read(minor: str, name: str) -> str:
    return (data_path("schemas") / "kueue-manager" / minor / name).read_text(encoding="utf-8")


def _path(keys: list[str | int]) -> str:
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return text.removeprefix(".") or "Configuration"


def _as_v1beta2(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """What the manager makes of a v1beta1 Configuration: `enable` becomes presence, and two sections have defaults."""
    converted = {key: value for key, value in configuration.items() if key != "queueVisibility"}
    defaults: dict[str, dict[str, Any]] = {
        "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]},
        "waitForPodsReady": {"timeout": "5m"},
    }
    for section, values in defaults.items():
        given = converted.pop(section, None) or {}
        if given.get("enable"):
            stated = {key: value for key, value in given.items() if key != "enable" and value not in (None, [])}
            converted[section] = values | stated
    return converted
