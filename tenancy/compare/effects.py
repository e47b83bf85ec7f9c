"""What a change means: units, promises, namespaces and access before and after, read from the objects of both sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias

from tenancy.backend import KINDS, scheduler, units
from tenancy.backend.reading import UnitReading, note
from tenancy.compare.priority_changes import priority_changes
from tenancy.compare.rule_changes import rule_changes
from tenancy.compare.snapshot import Identity, Snapshot
from tenancy.model.hardware import CPU, MEMORY
from tenancy.model.organization import Quota

NOTHING: Final = Quota(0, 0, 0)

BINDINGS: Final = ("RoleBinding", "ClusterRoleBinding")
_ROLE_PREFIX: Final = "tenancy-"

Mains: TypeAlias = Mapping[str, tuple[str, ...]]
"""From flavor to the resources that its budgets count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaChange:
    """The three promises of a unit on one flavor and resource; None on the side where there is no such unit."""

    cluster: str
    unit: str
    flavor: str
    resource: str
    before: Quota | None
    after: Quota | None

    @property
    def gain(self) -> int:
        """How much quota is won; negative where it is lost."""
        return (self.after or NOTHING).quota - (self.before or NOTHING).quota


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitChange:
    """A unit that comes or goes."""

    cluster: str
    unit: str
    added: bool
    state: str
    """Of a unit that goes: the state that it was in."""
    inner: bool
    partner: str = ""
    """The unit that it seems to become, or to have been: the same promises under another name."""
    keeps_namespaces: bool = False
    """Whether the partner has the same namespaces, so that only the queue is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingChange:
    """A setting of units that stay: `state`, `weight`, `topology`, `priorities`, `pod_security`, `autoscaling`, a key
    of the policy; of a priority: `priority` (its value), `preemptible`, `grace_period`; or of the cluster: the level of
    a guard (`guard_fences`), and what is measured (`prometheus`, `grafana`, `pending_after`, …)."""

    cluster: str
    key: str
    before: str
    after: str
    units: tuple[str, ...]
    """Or priorities; of a setting of the cluster `the organization`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceChange:
    """A namespace that comes, or that is destroyed with all that is in it."""

    cluster: str
    namespace: str
    unit: str
    added: bool
    queue: str = ""
    """Of one that is destroyed: the unit in whose queue its jobs were; another one than `unit` for a project without a
    budget."""
    state: str = ""
    """The state that this unit was in."""
    stays: bool = False
    """Whether this unit stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessChange:
    """A level of access that a subject gains or loses, in namespaces or (where there are none) in the whole cluster."""

    cluster: str
    subject: str
    """As the language writes it: `group:NAME`, `user:NAME`, `serviceaccount:NAMESPACE/NAME`."""
    level: str
    gained: bool
    namespaces: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """All that a change means, each part in a total order."""

    schedulers: Mapping[str, str]
    """By cluster, those of the new side; of the old one where a cluster goes."""
    quotas: tuple[QuotaChange, ...]
    followers: tuple[tuple[str, str, int], ...]
    """Cluster, flavor and the number of units of which only the cpu and memory that follow their GPUs change."""
    units: tuple[UnitChange, ...]
    settings: tuple[SettingChange, ...]
    namespaces: tuple[NamespaceChange, ...]
    access: tuple[AccessChange, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One cluster on one side: its units by their names for people."""

    units: Mapping[str, UnitReading]
    scheduler: str = ""
    sharing: str = ""
    """`weighted` or `first-come`; empty where the side does not say: only Kueue has it, in the values of its chart."""

    @property
    def root(self) -> UnitReading | None:
        """The organization itself, where the side has it."""
        return self.units.get("")

    @property
    def top(self) -> list[UnitReading]:
        """The departments of the first level."""
        root = self.root
        return [unit for unit in self.units.values() if root is not None and unit.parent == root.queue]


def sides(snapshot: Snapshot) -> dict[str, Side]:
    """The units of every cluster. A team's shared queue is told from the team by its name."""
    schedulers = _schedulers(snapshot)
    return {
        cluster: Side(_by_name(units(snapshot.of(cluster, *KINDS))), schedulers[cluster], _sharing(snapshot, cluster))
        for cluster in snapshot.clusters
    }


def _sharing(snapshot: Snapshot, cluster: str) -> str:
    values = snapshot.items.get(Identity(cluster, "", "", "", "platform/kueue-values.yaml"))
    manager = (values or {}).get("managerConfig")
    if not isinstance(manager, dict):
        return ""
    return "weighted" if "fairSharing" in manager.get("controllerManagerConfigYaml", "") else "first-come"


def _by_name(readings: Iterable[UnitReading]) -> dict[str, UnitReading]:
    return {f"{each.title} (shared)" if each.shared else each.title: each for each in readings}


def mains(old: Side, new: Side) -> Mains:
    """What budgets count of each flavor: its devices, or cpu and memory where it has none.

    The organization has all; where objects say nothing of it (`native`), the units together.
    """
    found: dict[str, set[str]] = {}
    for side in (old, new):
        for unit in [side.root] if side.root and side.root.quotas else side.units.values():
            for flavor, amounts in unit.quotas.items():
                found.setdefault(flavor, set()).update(name for name, quota in amounts.items() if quota.quota)
    devices = {flavor: tuple(sorted(names - {CPU, MEMORY})) for flavor, names in found.items()}
    return {flavor: names or (CPU, MEMORY) for flavor, names in devices.items()}


def undrained(effects: Effects) -> list[NamespaceChange]:
    """The namespaces that go with what runs in them; one without a queue has no work of ours."""
    return [each for each in effects.namespaces if not each.added and each.queue and each.state != "draining"]


def effects(old: Snapshot, new: Snapshot, before: Mapping[str, Side], after: Mapping[str, Side]) -> Effects:
    """Everything but the objects themselves: what people and jobs notice. `before` and `after` are their sides."""
    nobody = Side({})
    pairs = [(name, before.get(name, nobody), after.get(name, nobody)) for name in sorted({*before, *after})]
    quotas = list(chain.from_iterable(_quotas(*pair) for pair in pairs))
    return Effects(
        schedulers={**_schedulers(old), **_schedulers(new)},
        quotas=tuple(change for change in quotas if isinstance(change, QuotaChange)),
        followers=tuple(change for change in quotas if isinstance(change, tuple)),
        units=tuple(chain.from_iterable(_units(*pair) for pair in pairs)),
        settings=tuple(_settings(pairs, old, new)),
        namespaces=tuple(_namespaces(old, new, pairs)),
        access=tuple(_access(old, new)),
    )


def _schedulers(snapshot: Snapshot) -> dict[str, str]:
    return {cluster: scheduler(snapshot.of(cluster, *KINDS)) for cluster in snapshot.clusters}


def _quotas(cluster: str, old: Side, new: Side) -> Iterator[QuotaChange | tuple[str, str, int]]:
    """Changes of what budgets count; of the cpu and memory of GPUs only how many units they reach alone."""
    counted = mains(old, new)
    alone: dict[str, int] = {}
    for unit in sorted({*old.units, *new.units} - {""}):
        was, now = old.units.get(unit), new.units.get(unit)
        for flavor in sorted({*(was.quotas if was else ()), *(now.quotas if now else ())}):
            one, other = _of(was, flavor), _of(now, flavor)
            changes = [
                QuotaChange(
                    cluster=cluster,
                    unit=unit,
                    flavor=flavor,
                    resource=resource,
                    before=one.get(resource, NOTHING) if was else None,
                    after=other.get(resource, NOTHING) if now else None,
                )
                for resource in counted.get(flavor, ())
                if one.get(resource, NOTHING) != other.get(resource, NOTHING)
            ]
            yield from changes
            if not changes and any(one.get(name) != other.get(name) for name in (CPU, MEMORY)):
                alone[flavor] = alone.get(flavor, 0) + 1
    yield from ((cluster, flavor, count) for flavor, count in sorted(alone.items()))


def _of(unit: UnitReading | None, flavor: str) -> Mapping[str, Quota]:
    return {name: quota for name, quota in unit.quotas.get(flavor, {}).items() if any(quota)} if unit else {}


def _units(cluster: str, old: Side, new: Side) -> Iterator[UnitChange]:
    gone = {name: unit for name, unit in old.units.items() if name and name not in new.units}
    come = {name: unit for name, unit in new.units.items() if name and name not in old.units}
    partners = _partners(gone, come)
    back = {name: other for other, name in partners.items()}
    for name, unit in [*sorted(gone.items()), *sorted(come.items())]:
        partner = (partners if name in gone else back).get(name, "")
        other = {**gone, **come}.get(partner)
        yield UnitChange(
            cluster=cluster,
            unit=name,
            added=name in come,
            state=unit.state,
            inner=unit.inner,
            partner=partner,
            keeps_namespaces=other is not None and bool(unit.namespaces) and unit.namespaces == other.namespaces,
        )


def _partners(gone: Mapping[str, UnitReading], come: Mapping[str, UnitReading]) -> dict[str, str]:
    """Units that seem to be renamed: the same namespaces, or the same promises and the same parent or last name.

    Only where exactly one candidate stands on each side: a wrong guess would be worse than none.
    """
    candidates = {
        name: [other for other, unit in come.items() if _alike(name, gone[name], other, unit)] for name in gone
    }
    chosen = [names[0] for names in candidates.values() if len(names) == 1]
    return {name: names[0] for name, names in candidates.items() if len(names) == 1 and chosen.count(names[0]) == 1}


def _alike(name: str, old: UnitReading, other: str, new: UnitReading) -> bool:
    if old.inner != new.inner:
        return False
    if old.namespaces and old.namespaces == new.namespaces:
        return True
    related = old.parent == new.parent or name.rpartition("/")[2] == other.rpartition("/")[2]
    promised = any(quota.quota for amounts in old.quotas.values() for quota in amounts.values())
    return related and promised and old.quotas == new.quotas


def _settings(pairs: list[tuple[str, Side, Side]], old: Snapshot, new: Snapshot) -> Iterator[SettingChange]:
    """Units with the same change of a setting together: a policy of the organization reaches them all at once."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for cluster, one, other in pairs:
        for name in one.units.keys() & other.units.keys():
            for key, before, after in _differing(one.units[name], other.units[name]):
                found.setdefault((cluster, key, before, after), []).append(name)
        for name, before, after in _topologies(old, new, cluster):
            found.setdefault((cluster, "topology", before, after), []).append(name)
        for key, before, after, name in (*priority_changes(old, new, cluster), *rule_changes(old, new, cluster)):
            found.setdefault((cluster, key, before, after), []).append(name)
    for (cluster, key, before, after), names in sorted(found.items()):
        yield SettingChange(cluster=cluster, key=key, before=before, after=after, units=tuple(sorted(names)))


def _differing(old: UnitReading, new: UnitReading) -> Iterator[tuple[str, str, str]]:
    if old.state != new.state and old.inner == new.inner:
        yield "state", old.state, new.state
    if old.weight != new.weight:
        yield "weight", old.weight, new.weight
    for key, word in new.rules.items():
        if old.rules.get(key, word) != word:
            yield key, old.rules[key], word


def _topologies(old: Snapshot, new: Snapshot, cluster: str) -> Iterator[tuple[str, str, str]]:
    """Units whose jobs get another default, as namespaces that stay say it."""
    for each, obj in new.items.items():
        if each.cluster == cluster and each.kind == "Namespace" and each in old.items:
            before, after = (note(side.items[each], "default-topology") or "none" for side in (old, new))
            if before != after and (unit := note(obj, "unit")):
                yield unit, before, after


def _namespaces(old: Snapshot, new: Snapshot, pairs: list[tuple[str, Side, Side]]) -> Iterator[NamespaceChange]:
    homes = {
        (cluster, namespace): (name, unit.state, name in other.units)
        for cluster, one, other in pairs
        for name, unit in one.units.items()
        for namespace in unit.namespaces
    }
    for gone, snapshot, other in ((True, old, new), (False, new, old)):
        for each in sorted(snapshot.items.keys() - other.items.keys()):
            if each.kind == "Namespace":
                queue, state, stays = homes.get((each.cluster, each.name), ("", "", False)) if gone else ("", "", False)
                yield NamespaceChange(
                    cluster=each.cluster,
                    namespace=each.name,
                    unit=note(snapshot.items[each], "unit"),
                    added=not gone,
                    queue=queue,
                    state=state,
                    stays=stays,
                )


def _access(old: Snapshot, new: Snapshot) -> Iterator[AccessChange]:
    """Losses first, then gains, the namespaces of one subject and level together."""
    was, now = _grants(old), _grants(new)
    for gained, grants in ((False, was - now), (True, now - was)):
        places: dict[tuple[str, str, str], list[str]] = {}
        for cluster, subject, level, namespace in sorted(grants):
            places.setdefault((cluster, subject, level), []).extend([namespace] if namespace else [])
        for (cluster, subject, level), namespaces in places.items():
            yield AccessChange(
                cluster=cluster, subject=subject, level=level, gained=gained, namespaces=tuple(namespaces)
            )


def _grants(snapshot: Snapshot) -> set[tuple[str, str, str, str]]:
    """Cluster, subject, level and namespace of every subject of every binding."""
    return {
        (each.cluster, _subject(subject), obj["roleRef"]["name"].removeprefix(_ROLE_PREFIX), each.namespace)
        for each, obj in snapshot.items.items()
        if each.kind in BINDINGS
        for subject in obj.get("subjects") or ()
    }


def _subject(subject: Mapping[str, str]) -> str:
    name = f"{subject['namespace']}/{subject['name']}" if "namespace" in subject else subject["name"]
    return f"{subject['kind'].lower()}:{name}"
