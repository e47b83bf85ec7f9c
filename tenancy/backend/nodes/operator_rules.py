"""Whether NVIDIA's GPU operator would take the values that we write: Helm passes over keys that a chart does not have.

The chart is read as of September 2025 (25.10; tests/cluster/test_gpu_operator.py compares it). Node Feature Discovery
is a chart inside it; `master.config` is the file of its master, whose keys no chart lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenancy.backend.nodes.tolerations import STACK
from tenancy.model.hardware import EFFECTS
from tenancy.model.syntax import is_label_key

_CONTROL_PLANE: Final = tuple(
    {"key": f"node-role.kubernetes.io/{role}", "operator": "Equal", "value": "", "effect": "NoSchedule"}
    for role in ("master", "control-plane")
)

DEFAULTS: Final[Mapping[str, Any]] = {
    "mig.strategy": "single",
    "migManager.config.create": False,
    "migManager.config.name": "",
    "migManager.config.default": "all-disabled",
    "devicePlugin.enabled": True,
    "devicePlugin.config.create": False,
    "devicePlugin.config.name": "",
    "devicePlugin.config.default": "",
    "daemonsets.tolerations": (STACK,),
    "node-feature-discovery.worker.tolerations": (*_CONTROL_PLANE, STACK),
    "node-feature-discovery.master.config.enableTaints": False,
}
"""The keys of the chart that we set, with their defaults there."""

_STRATEGIES: Final = ("none", "single", "mixed")
_TOLERATION: Final = ("key", "operator", "value", "effect")


def violations(values: Mapping[str, Any]) -> list[str]:
    """What the chart would not take, or not as it is meant: one sentence each, with its path first."""
    found: list[str] = []
    for path, value in _leaves(values):
        default = DEFAULTS.get(path)
        if default is None:
            found.append(f"{path}: is not a key of the chart that we know.")
        elif isinstance(default, tuple):
            found += _tolerations(path, value, default)
        elif type(value) is not type(default):
            found.append(f"{path}: must be of the type of its default, {type(default).__name__}.")
    flat = dict(_leaves(values))
    if flat.get("mig.strategy", "single") not in _STRATEGIES:
        found.append(f"mig.strategy: must be one of {', '.join(_STRATEGIES)}.")
    if flat.get("migManager.config.default", "") not in ("", "all-disabled"):
        found.append("migManager.config.default: the operator's own definition takes all-disabled or nothing.")
    return found


def _leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _tolerations(path: str, value: Any, default: tuple[Any, ...]) -> Iterator[str]:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        yield f"{path}: must be a list of tolerations."
        return
    yield from (
        f"{path}: replaces the chart's list and lacks its {each['key']}." for each in default if each not in value
    )
    for index, each in enumerate(value):
        where = f"{path}[{index}]"
        yield from (f"{where}.{key}: is not a field of a toleration." for key in each if key not in _TOLERATION)
        if not is_label_key(str(each.get("key", ""))):
            yield f"{where}.key: is not the key of a taint."
        if each.get("operator") not in ("Exists", "Equal") or (each["operator"] == "Exists" and "value" in each):
            yield f"{where}.operator: must be Exists without a value, or Equal."
        if each.get("effect") not in EFFECTS:
            yield f"{where}.effect: must be one of {', '.join(EFFECTS)}."
