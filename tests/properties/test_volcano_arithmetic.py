"""The arithmetic of the lowering: every Queue of every tree has what its unit was promised, and Volcano takes the tree.

Only emitted objects are read, by rules written down here from Volcano's webhook (run on 1.15.1): sums against the
parent with an absent key counted as zero, each capability against the nearest one above, five levels at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

from hypothesis import HealthCheck, given, settings

from tenancy.backend import volcano
from tenancy.backend.manifest import Manifest, Object
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Quota
from tenancy.model.quantity import canonical, parse
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan, Group, Queue
from tenancy.render.conform import checker
from tests.examples import often
from tests.orgs import organized, scheduled
from tests.strategies import organizations

SETTINGS = settings(max_examples=often(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
DEEPEST = 5
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
DOMAIN = "tenancy.internal"

Amounts: TypeAlias = dict[str, int]


def _clusters(tree: dict[str, Any]) -> tuple[ClusterPlan, ...]:
    return plan(organized(scheduled(tree, "volcano")))


def _objects(cluster: ClusterPlan, kind: str) -> Iterator[Object]:
    for item in volcano.compile(cluster):
        if isinstance(item, Manifest):
            yield from (each for each in item.objects if each["kind"] == kind)


def _queues(cluster: ClusterPlan) -> dict[str, Object]:
    return {obj["metadata"]["name"]: obj for obj in _objects(cluster, "Queue")}


def _amounts(quantities: Mapping[str, str]) -> Amounts:
    return {name: parse(text, name) for name, text in quantities.items()}


def _numbers(queue: Object) -> tuple[Amounts, Amounts, Amounts]:
    """guarantee, deserved and capability."""
    spec = queue["spec"]
    return _amounts(spec["guarantee"]["resource"]), _amounts(spec["deserved"]), _amounts(spec["capability"])


def _flavor(queue: Object) -> str:
    return str(queue["metadata"]["annotations"].get(f"{DOMAIN}/flavor", ""))


def _name(unit: Group | Queue, flavor: str) -> str:
    """The path, the flavor at its end; between them what tells a team's inner queue from its leaf."""
    team = isinstance(unit, Group) and f"{DOMAIN}/team" in unit.labels
    return "-".join([*unit.title.split("/"), *(["projects"] if team else []), flavor])


def _capability(promised: Mapping[str, Quota], flavor: Hardware) -> Amounts:
    """The limits; where one is all that may be promised of the flavor, spare nodes are beside it."""
    limits = {resource: each.limit for resource, each in promised.items()}
    opened = [main for main in flavor.mains if limits[main] == flavor.capacity[main]]
    if len(opened) == len(flavor.mains) and flavor.installed != flavor.capacity:
        opened = list(flavor.resources)  # no organization of the strategy writes a limit of the cpu of GPUs
    return limits | {resource: flavor.installed[resource] for resource in opened}


def _reached(cluster: ClusterPlan, unit: Group | Queue) -> set[str]:
    """The flavors of which the unit may ever use a part."""
    return {
        flavor.name
        for flavor in cluster.flavors.values()
        if any(unit.quotas[flavor.name][main].limit for main in flavor.mains)
    }


def _path(queues: Mapping[str, Object], name: str) -> list[str]:
    """The queue and those above it, without `root`; a cycle ends where it comes round."""
    found: list[str] = []
    while name != "root" and name not in found:
        found.append(name)
        name = queues[name]["spec"]["parent"]
    return found


def _parents(queues: Mapping[str, Object]) -> set[str]:
    return {queue["spec"]["parent"] for queue in queues.values()}


@SETTINGS
@given(organizations())
def test_each_queue_has_exactly_what_its_unit_was_promised(tree: dict[str, Any]) -> None:
    """One Queue for each unit and flavor that it reaches, none for others, with its three numbers of all resources."""
    for cluster in _clusters(tree):
        units: list[Group | Queue] = [*(group for group in cluster.groups if group.parent), *cluster.queues]
        promised = {_name(unit, flavor): unit.quotas[flavor] for unit in units for flavor in _reached(cluster, unit)}
        of_units = {
            name: queue
            for name, queue in _queues(cluster).items()
            if f"{DOMAIN}/unit" in queue["metadata"]["annotations"]
        }
        assert of_units.keys() == promised.keys()
        for name, queue in of_units.items():
            reserved, quota, limit = _numbers(queue)
            assert reserved == {resource: each.reserved for resource, each in promised[name].items()}
            assert quota == {resource: each.quota for resource, each in promised[name].items()}
            assert limit == _capability(promised[name], cluster.flavors[_flavor(queue)])


@SETTINGS
@given(organizations())
def test_each_tree_starts_with_all_of_its_flavor_on_its_own_nodes(tree: dict[str, Any]) -> None:
    """The queue below `root` has the hardware, all of it but spare nodes guaranteed, and alone names the node group."""
    for cluster in _clusters(tree):
        queues = _queues(cluster)
        for flavor in cluster.flavors.values():
            top = queues[flavor.name]
            assert _numbers(top) == (dict(flavor.capacity), dict(flavor.capacity), dict(flavor.installed))
            required = {"requiredDuringSchedulingIgnoredDuringExecution": [flavor.name]}
            assert top["spec"]["affinity"] == {"nodeGroupAffinity": required}
        below = {name for name, queue in queues.items() if queue["spec"]["parent"] == "root"}
        assert below == {"default", *cluster.flavors}
        assert {name for name, queue in queues.items() if "affinity" in queue["spec"]} == set(cluster.flavors)


@SETTINGS
@given(organizations())
def test_every_number_is_stated_and_stays_within_the_queue_above(tree: dict[str, Any]) -> None:
    """Every list of a path names every resource; sums of siblings, single capabilities and the triple are in order."""
    for cluster in _clusters(tree):
        queues = _queues(cluster)
        sums: dict[str, list[Amounts]] = {}
        for queue in queues.values():
            if not (flavor := _flavor(queue)):
                continue
            numbers = _numbers(queue)
            assert all(each.keys() == cluster.flavors[flavor].capacity.keys() for each in numbers)
            assert all(small[key] <= large[key] for small, large in pairwise(numbers) for key in small)
            above = queue["spec"]["parent"]
            if above != "root":
                assert _flavor(queues[above]) == flavor
                assert all(count <= _numbers(queues[above])[2][key] for key, count in numbers[2].items())
                for total, part in zip(sums.setdefault(above, [{}, {}]), numbers[:2], strict=True):
                    total |= {key: total.get(key, 0) + count for key, count in part.items()}
        for above, totals in sums.items():
            for total, whole in zip(totals, _numbers(queues[above])[:2], strict=True):
                assert all(count <= whole[key] for key, count in total.items())


@SETTINGS
@given(organizations())
def test_a_limit_is_never_spelt_as_none(tree: dict[str, Any]) -> None:
    """Volcano takes a capability of 0 cpu or 0 memory for no limit at all; where a queue exists it has some of each."""
    for cluster in _clusters(tree):
        for queue in _queues(cluster).values():
            capability = _amounts(queue["spec"]["capability"])
            assert capability["cpu"] > 0
            assert capability["memory"] > 0


@SETTINGS
@given(organizations())
def test_every_path_ends_at_root(tree: dict[str, Any]) -> None:
    """Every parent is emitted or `root`, and none comes twice: Volcano admits a cycle of two queues."""
    for cluster in _clusters(tree):
        queues = _queues(cluster)
        assert _parents(queues) <= {"root", *queues}
        assert all(queues[_path(queues, name)[-1]]["spec"]["parent"] == "root" for name in queues)


@SETTINGS
@given(organizations())
def test_names_and_depth_are_within_bounds(tree: dict[str, Any]) -> None:
    """Names are unique labels of at most 63 characters, no path has more than five levels, `root` is not emitted."""
    for cluster in _clusters(tree):
        names = [obj["metadata"]["name"] for obj in _objects(cluster, "Queue")]
        queues = _queues(cluster)
        assert len(names) == len(queues)
        assert all(NAME.fullmatch(name) for name in names)
        assert "root" not in names
        assert all(len(_path(queues, name)) <= DEEPEST for name in names)


@SETTINGS
@given(organizations())
def test_work_that_names_no_queue_finds_no_room(tree: dict[str, Any]) -> None:
    """`default` has a thousandth of a core, a mebibyte and no device of any flavor; it has no nodes and is kept."""
    for cluster in _clusters(tree):
        default = _queues(cluster)["default"]
        devices = {name for flavor in cluster.flavors.values() for name in flavor.capacity} - {"cpu", "memory"}
        assert default["spec"]["capability"] == {"cpu": "1m", "memory": "1Mi", **dict.fromkeys(devices, "0")}
        assert not default["spec"].keys() & {"deserved", "guarantee", "affinity"}
        assert default["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] == "Prune=false"


@SETTINGS
@given(organizations())
def test_a_namespace_may_name_the_leaves_of_its_unit_and_nothing_else(tree: dict[str, Any]) -> None:
    """One leaf for each flavor that the unit reaches: an inner queue or `root` would stop the whole cluster."""
    for cluster in _clusters(tree):
        queues, reached = _queues(cluster), {queue.name: _reached(cluster, queue) for queue in cluster.queues}
        units = {namespace.name: namespace.queue for namespace in cluster.namespaces}
        for obj in _objects(cluster, "Namespace"):
            named = [name for name in obj["metadata"]["annotations"][f"{DOMAIN}/queues"].split(",") if name]
            assert named == sorted(named)
            assert not set(named) & _parents(queues)
            assert {_flavor(queues[name]) for name in named} == reached[units[obj["metadata"]["name"]]]
            assert len(named) == len(reached[units[obj["metadata"]["name"]]])


@SETTINGS
@given(organizations())
def test_every_queue_fits_both_schemas_and_states_every_default(tree: dict[str, Any]) -> None:
    """Closed schemas of both minors take each Queue; fields that a webhook or controller fills in are there."""
    checks = [checker(kubernetes="1.36", volcano=minor) for minor in ("1.14", "1.15")]
    for cluster in _clusters(tree):
        for queue in _queues(cluster).values():
            assert [found for check in checks for found in check(queue)] == []
            spec = queue["spec"]
            assert (spec["reclaimable"], spec["priority"], spec["dequeueStrategy"]) == (True, 0, "traverse")
            assert 1 <= spec["weight"] <= 65535
            assert "state" not in spec


@SETTINGS
@given(organizations())
def test_a_quantity_has_the_spelling_that_kubernetes_would_give_it(tree: dict[str, Any]) -> None:
    """Volcano stores what is sent: `1000m` in place of `1` would be a change, and a number another one than a text."""
    for cluster in _clusters(tree):
        for queue in _queues(cluster).values():
            spec = queue["spec"]
            for amounts in (
                spec["capability"],
                spec.get("deserved", {}),
                spec.get("guarantee", {}).get("resource", {}),
            ):
                assert amounts == {name: canonical(parse(text, name), name) for name, text in amounts.items()}


@SETTINGS
@given(organizations())
def test_the_same_organization_compiles_to_the_same_objects(tree: dict[str, Any]) -> None:
    """A second compilation changes nothing, and within a file no queue stands before its parent."""
    for cluster, again in zip(_clusters(tree), _clusters(tree), strict=True):
        first = [item for item in volcano.compile(cluster) if isinstance(item, Manifest)]
        assert first == [item for item in volcano.compile(again) if isinstance(item, Manifest)]
        for item in first:
            names = [obj["metadata"]["name"] for obj in item.objects if obj["kind"] == "Queue"]
            for obj in item.objects:
                if obj["kind"] == "Queue" and obj["spec"]["parent"] in names:
                    assert names.index(obj["spec"]["parent"]) < names.index(obj["metadata"]["name"])
