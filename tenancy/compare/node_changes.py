"""Changes of what NVIDIA's tools do with the GPUs of nodes: no sync makes them, and a new layout needs idle nodes.

Read from mig-parted 0.15 (pkg/mig/reconfigure: a node label starts the change, tenants' pods are not looked at, and
after a failure NVIDIA's own pods stay away), gpu-operator 25.10 and k8s-device-plugin 0.17.4 (cmd/config-manager).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tenancy.backend.manifest import Object
from tenancy.backend.nodes.mig import DISABLED, ENABLED, KEY, MIG_NODES, MIG_PARTED
from tenancy.backend.nodes.plugin import DEVICE_PLUGIN
from tenancy.backend.reading import note
from tenancy.compare.amounts import few, measure, shown
from tenancy.compare.diff import Change, Create, Delete, Update
from tenancy.compare.effects import Side, mains
from tenancy.compare.procedures import Mark, Names, Procedure, about
from tenancy.compare.snapshot import Snapshot
from tenancy.model.devices import SHARED
from tenancy.model.hardware import CPU, MEMORY, Hardware
from tenancy.plan.nodes import MIG_CONFIG, PLUGIN_CONFIG, stem

_SHOWN: Final = 5
"""Units that are named before the rest is counted."""

_OTHERWISE: Final = "Jobs that ask for what there was never start, and what runs meanwhile is on no book."

_ASK: Final = (
    "After the sync upgrade the charts whose values change, run `tenancy nodes --apply`, and write into jobs what they "
    "ask for now."
)

_OPERATOR: Final = "gpu-operator-values.yaml"

_CHARTS: Final = {
    _OPERATOR: "the GPU operator",
    "nvidia-dra-driver-values.yaml": "NVIDIA's DRA driver",
}
"""Files of values, and what they are for."""

_WHEN: Final = "after the merge, and before `tenancy nodes --apply` sets taints that its pods must tolerate"
"""Its pods wait for a ConfigMap that is not there yet, and a taint keeps out only those that are not there yet."""

_RESTARTED: Final = (
    "A configuration of the device plugin changes under its name, and nothing watches the file.",
    "After the sync restart the DaemonSets of the device plugin and of GPU feature discovery: running pods keep their "
    "GPUs.",
)

_SHARES: Final = (
    "Its GPUs are shared in another way only where a node gets another label; work that runs there meanwhile would be "
    "on no book.",
    f"Right after the sync run `tenancy nodes --apply`, which changes `{PLUGIN_CONFIG}` where no pod uses the GPUs; "
    "the device plugin then reads its file again by itself. One that starts before that ends, since the label names no "
    "configuration any more.",
)

_BUSY: Final = (
    "The MIG manager ends no pod of a tenant: a GPU in use makes the change fail, and the node then offers no GPUs "
    "until it is done."
)

_RESET: Final = (
    "Switching MIG on or off resets all GPUs of a node of this board (Ampere); where they cannot be reset, as in most "
    "virtual machines, the node must be rebooted (`WITH_REBOOT`)."
)

IDLE: Final = {
    "kueue": "Before the merge empty its nodes: cordon and drain them, or merge `state: draining` for its units and "
    "wait until nothing runs there.",
    "": "Before the merge empty its nodes: cordon and drain them, and wait until nothing runs there.",
}
"""By scheduler: only Kueue ends the work of a unit that is draining."""

_UNCORDON: Final = f"and uncordon each node that says `{MIG_CONFIG}.state=success`."

_APPLY: Final = (
    f"After the sync run `tenancy nodes --apply`, which sets `{MIG_CONFIG}` where no pod uses the GPUs, {_UNCORDON}"
)

_DISABLE: Final = (
    f"After the sync run `tenancy nodes --apply`, which removes `{MIG_CONFIG}` where no pod uses the GPUs (the "
    f"operator then writes `{DISABLED}`), {_UNCORDON}"
)

_RENAMED: Final = (
    "Slices then have other resource names: work that asks for the old ones never starts, and what runs is on no book."
)

_RENAME: Final = "Upgrade the operator after it, and write the new names into jobs."

_DRIFT: Final = (
    "Karpenter replaces nodes whose NodePool has another label, as far as its disruption budgets let it, and evicts "
    "their pods.",
    "Pods with the annotation `karpenter.sh/do-not-disrupt` keep their node until they are done.",
)

_Configs: TypeAlias = dict[str, Any]
"""By name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Both sides of a comparison, and the new organization's flavors."""

    old: Snapshot
    new: Snapshot
    before: Mapping[str, Side]
    after: Mapping[str, Side]
    schedulers: Mapping[str, str]
    flavors: Mapping[str, Hardware]
    old_flavors: Mapping[str, Hardware] | None = None
    """None where the old organization is not at hand."""

    def home(self, cluster: str) -> dict[str, Hardware]:
        """The flavors of a cluster by what the names of their configurations begin with."""
        return {stem(name): flavor for name, flavor in self.flavors.items() if flavor.cluster == cluster}


def node_changes(changes: Iterable[Change], sides: Sides, named: Names) -> Iterator[Procedure]:
    """Everything to know of the nodes of every cluster before the merge; `named` says how an object is called."""
    listed = list(changes)
    yield from _charts(listed, sides, named)
    yield from _strategies(listed, sides)
    for cluster in sorted(sides.old.clusters & sides.new.clusters):
        yield from _layouts(cluster, sides)
        yield from _allocations(cluster, sides)
        yield from _shares(cluster, sides)
    yield from about(Mark.RESTART, [named(each.identity) for each in listed if _in_place(each)], *_RESTARTED)


def _charts(changes: list[Change], sides: Sides, named: Names) -> Iterator[Procedure]:
    """Values of a cluster that is there already: nothing but Helm brings them to it, the first ones too."""
    for file, what in _CHARTS.items():
        for kind, values in ((Create, "them"), (Update, "the new values"), (Delete, "its other values alone")):
            touched = [
                named(each.identity)
                for each in changes
                if isinstance(each, kind)
                and each.identity.name == f"platform/{file}"
                and each.identity.cluster in sides.old.clusters & sides.new.clusters
            ]
            happens = f"The values of {what} change, which no sync applies."
            yield from about(Mark.RESTART, touched, happens, f"Upgrade its Helm release with {values} {_WHEN}.")


def _strategies(changes: list[Change], sides: Sides) -> Iterator[Procedure]:
    """Another strategy calls the slices that are there by other names."""
    for change in changes:
        if not isinstance(change, Update) or change.identity.name != f"platform/{_OPERATOR}":
            continue
        for each in (each for each in change.differences if each.path == "mig.strategy"):
            for flavor in _divided(change.identity.cluster, sides):
                changed = _Changed(change.identity.cluster, flavor, {}, {})
                first = f"The MIG strategy changes from {each.old} to {each.new}."
                yield _window(changed, first, sides, _RENAMED, f"{_idle(changed, sides)} {_RENAME}")


def _divided(cluster: str, sides: Sides) -> Iterator[Hardware]:
    """The flavors of both sides that have slices now."""
    for flavor in sides.home(cluster).values():
        if flavor.divided and _there(sides.before[cluster], flavor.name):
            yield flavor


def _in_place(change: Change) -> bool:
    """Whether a configuration of the device plugin changes without a new name."""
    if not isinstance(change, Update) or (change.identity.kind, change.identity.name) != ("ConfigMap", DEVICE_PLUGIN):
        return False
    old, new = change.old.get("data", {}), change.new.get("data", {})
    return any(old[key] != new[key] for key in old.keys() & new.keys())


@dataclass(frozen=True, slots=True)
class _Changed:
    """A flavor and its configurations by name."""

    cluster: str
    flavor: Hardware
    before: _Configs
    after: _Configs


def _by_flavor(configs: Mapping[str, Any], home: Mapping[str, Hardware]) -> dict[str, _Configs]:
    found: dict[str, _Configs] = {}
    for name, config in configs.items():
        if flavor := home.get(name.rpartition("-")[0]):
            found.setdefault(flavor.name, {})[name] = config
    return found


def _config_map(snapshot: Snapshot, cluster: str, name: str) -> Object:
    """A ConfigMap of ours; one without data where the side has none."""
    found = (each for each in snapshot.of(cluster, "ConfigMap") if each["metadata"]["name"] == name)
    return {"metadata": {}, "data": {}, **next(found, {})}


def _layouts_of(snapshot: Snapshot, cluster: str) -> _Configs:
    """The configurations that flavors of ours ask for."""
    file = _config_map(snapshot, cluster, MIG_PARTED)["data"].get(KEY)
    configs = file.get("mig-configs", {}) if isinstance(file, dict) else {}
    return {name: config for name, config in configs.items() if name not in (DISABLED, ENABLED)}


def _changed(cluster: str, sides: Sides, read: Callable[[Snapshot], Mapping[str, Any]]) -> Iterator[_Changed]:
    """The flavors on both sides whose configurations differ."""
    home = sides.home(cluster)
    was, now = (_by_flavor(read(side), home) for side in (sides.old, sides.new))
    for name in sorted(was.keys() | now.keys()):
        before, after = was.get(name, {}), now.get(name, {})
        if before.keys() != after.keys() and (before or _there(sides.before[cluster], name)):
            yield _Changed(cluster, sides.flavors[name], before, after)


def _there(side: Side, flavor: str) -> bool:
    """Whether the side has the flavor: a new one has no work that a layout could disturb."""
    return any(flavor in unit.quotas for unit in side.units.values())


def _layouts(cluster: str, sides: Sides) -> Iterator[Procedure]:
    for each in _changed(cluster, sides, lambda side: _layouts_of(side, cluster)):
        yield _maintenance(each, f"from {_said(each.before)} to {_said(each.after)}", sides)
    was, now = (_numbers(side, cluster, sides.home(cluster)) for side in (sides.old, sides.new))
    configs = _layouts_of(sides.new, cluster)
    for name in sorted(was.keys() & now.keys()):
        before, after = was[name], now[name]
        gained = {config: after[config] - before[config] for config in before.keys() & after.keys()}
        if before.keys() == after.keys() and min(gained.values()) < 0 < max(gained.values()):
            own = {config: configs[config] for config in after}
            moves = (f"{_said({config: own[config]})} on {before[config]} → {after[config]} nodes" for config in own)
            yield _maintenance(_Changed(cluster, sides.flavors[name], own, own), f"to {', '.join(moves)}", sides)


def _numbers(snapshot: Snapshot, cluster: str, home: Mapping[str, Hardware]) -> dict[str, Counter[str]]:
    """By flavor with several layouts: on how many nodes each is."""
    found: dict[str, Counter[str]] = {}
    for text in filter(None, note(_config_map(snapshot, cluster, MIG_PARTED), MIG_NODES).split(",")):
        name, _, number = text.partition("=")
        if flavor := home.get(name.rpartition("-")[0]):
            found.setdefault(flavor.name, Counter())[name] += int(number)
    return found


def _maintenance(changed: _Changed, change: str, sides: Sides) -> Procedure:
    """What happens to nodes that stay, and what to do; Karpenter's do not stay."""
    first = f"Its MIG layout changes {change}."
    if changed.flavor.autoscaler == "karpenter":
        return _window(changed, first, sides, *_DRIFT)
    happens = f"{_BUSY} {_RESET}" if _switched(changed) else _BUSY
    do = f"{_idle(changed, sides)} {_APPLY if changed.after else _DISABLE}"
    return _window(changed, first, sides, happens, do)


def _idle(changed: _Changed, sides: Sides) -> str:
    return IDLE.get(sides.schedulers[changed.cluster], IDLE[""])


def _window(changed: _Changed, first: str, sides: Sides, happens: str, do: str) -> Procedure:
    parts = (first, _resources(changed, sides), _users(changed, sides), happens)
    return Procedure(
        mark=Mark.MAINTENANCE,
        subjects=(_placed(changed.cluster, changed, sides),),
        happens=" ".join(part for part in parts if part),
        do=do,
    )


def _switched(changed: _Changed) -> bool:
    """Whether GPUs of an Ampere board go into or out of MIG mode; later boards switch without a reset."""
    sides = (changed.before, changed.after)
    modes = {entry["mig-enabled"] for configs in sides for entries in configs.values() for entry in entries}
    gpu = changed.flavor.gpu
    return gpu is not None and gpu.family == "Ampere" and (len(modes) > 1 or not all(sides))


def _said(configs: _Configs) -> str:
    """Layouts as people write them; those of different nodes with a bar between them."""
    return " | ".join("; ".join(map(_entry, entries)) for entries in configs.values()) or "whole GPUs"


def _entry(entry: Mapping[str, Any]) -> str:
    profiles = ", ".join(f"{profile}: {count}" for profile, count in (entry.get("mig-devices") or {}).items())
    devices = entry["devices"]
    where = f" on {len(devices)} GPUs" if isinstance(devices, list) and len(devices) > 1 else ""
    where = " on 1 GPU" if isinstance(devices, list) and len(devices) == 1 else where
    return (f"{{{profiles}}}" if profiles else "whole GPUs") + where


def _resources(changed: _Changed, sides: Sides) -> str:
    """What there is of each resource before and after; nothing where the objects do not say (`native`)."""
    was, now = (_capacity(side[changed.cluster], changed.flavor.name) for side in (sides.before, sides.after))
    parts = []
    for resource in sorted(was.keys() | now.keys()):
        before, after = was.get(resource, 0), now.get(resource, 0)
        if before != after:
            fate = "gone" if not after else "new" if not before else "fewer" if after < before else "more"
            parts.append(f"{measure(resource)} {shown(before, resource)} → {shown(after, resource)} ({fate})")
    return f"What it offers: {', '.join(parts)}." if parts else ""


def _capacity(side: Side, flavor: str) -> dict[str, int]:
    amounts = side.root.quotas.get(flavor, {}) if side.root else {}
    return {name: quota.quota for name, quota in amounts.items() if name not in (CPU, MEMORY) and quota.quota}


def _users(changed: _Changed, sides: Sides) -> str:
    """Queues with a budget on the flavor: their work runs there, beside what others have borrowed."""
    units = sorted(
        {
            name
            for side in (sides.before[changed.cluster], sides.after[changed.cluster])
            for name, unit in side.units.items()
            if name
            and not unit.inner
            and any(quota.quota for quota in unit.quotas.get(changed.flavor.name, {}).values())
        }
    )
    return f"Units with a budget on it: {few(units, _SHOWN)}." if units else ""


def _allocations(cluster: str, sides: Sides) -> Iterator[Procedure]:
    """Flavors whose GPUs come to be handed out as something else."""
    for flavor in _reallocated(cluster, sides):
        before, after = (words for words in _handed(cluster, flavor, sides))
        changed = _Changed(cluster, flavor, {}, {})
        first = f"It hands out {after} and no longer {before}."
        yield _window(changed, first, sides, _OTHERWISE, f"{_idle(changed, sides)} {_ASK}")


def _reallocated(cluster: str, sides: Sides) -> list[Hardware]:
    found = (flavor for flavor in sides.home(cluster).values() if flavor.gpu)
    return [flavor for flavor in found if "" not in (both := _handed(cluster, flavor, sides)) and both[0] != both[1]]


def _handed(cluster: str, flavor: Hardware, sides: Sides) -> tuple[str, str]:
    """What the flavor hands out on both sides, in words; empty where a side has nothing of it."""
    was, now = (
        _kind(flavor, set(mains(side[cluster], Side({})).get(flavor.name, ())) - {CPU, MEMORY})
        for side in (sides.before, sides.after)
    )
    return was, now


def _kind(flavor: Hardware, resources: set[str]) -> str:
    """Claims are counted under names in the organization's own domain."""
    vendor = flavor.gpu.resource.partition("/")[0] if flavor.gpu else ""
    if not resources:
        return ""
    if any(name.partition("/")[0] != vendor for name in resources):
        return "claims"
    return "shares" if any(name.endswith(SHARED) for name in resources) else "whole devices"


def _shares(cluster: str, sides: Sides) -> Iterator[Procedure]:
    """Other shares of the same devices; where other devices come of it, that is said already."""
    found = _changed(cluster, sides, lambda side: _config_map(side, cluster, DEVICE_PLUGIN)["data"])
    said = {flavor.name for flavor in _reallocated(cluster, sides)}
    names = [_placed(cluster, each, sides) for each in found if each.flavor.name not in said]
    yield from about(Mark.WARNING, names, *_SHARES, by_hand=True)


def _placed(cluster: str, changed: _Changed, sides: Sides) -> str:
    several = len(sides.old.clusters | sides.new.clusters) > 1
    return f"{cluster}: {changed.flavor.name}" if several else changed.flavor.name
