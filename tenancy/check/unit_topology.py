"""Default topologies of units: whether they can be read, what their level means, and whom they reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from tenancy.check import mending
from tenancy.check.finding import Check, Finding
from tenancy.check.wording import RELATED_AT_MOST, amount_of, comparable, listed, nearest, units_in_words
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.hardware import HOSTNAME, Hardware, packed
from tenancy.model.organization import Node, Org, namespaces
from tenancy.model.reach import queue_node
from tenancy.model.unit_topology import MODES, UnitTopology, levels_of, meanings, parse_topology
from tenancy.model.versions import MUTATING_SINCE, kubernetes_minor, number

UNIT_TOPOLOGY_SYNTAX: Final = Rule(
    "unit-topology-syntax",
    Severity.ERROR,
    "A default topology that cannot be read",
    "It is `required` or `preferred`, and a level: whether a job waits until all its pods fit into one place, or takes "
    "more of them.",
)
UNIT_TOPOLOGY_LEVEL: Final = Rule(
    "unit-topology-level",
    Severity.ERROR,
    "A default topology with a level that is not there, or is not one",
    "A job waits for ever that asks for a label which no node has. The short name of a level stands for one label, or "
    "jobs would be kept together by the wrong one.",
)
UNIT_TOPOLOGY_PLAIN: Final = Rule(
    "unit-topology-plain",
    Severity.WARNING,
    "A default topology in a cluster with plain placement",
    "With plain placement Kueue counts quota and does not look at nodes: no job gets the default, and their pods are "
    "spread over racks.",
)
UNIT_TOPOLOGY_BY_HAND: Final = Rule(
    "unit-topology-by-hand",
    Severity.WARNING,
    "A default topology that the API server cannot give",
    "Only from Kubernetes 1.36 on does an admission policy write it into jobs. Before, a job that does not ask for it "
    "itself is spread over racks, and nothing says so.",
)
UNIT_TOPOLOGY_SHUTS_OUT: Final = Rule(
    "unit-topology-shuts-out",
    Severity.WARNING,
    "A required level that keeps jobs off a flavor of their own",
    "Kueue leaves out a flavor whose nodes lack the level that a job requires, so a job that has not chosen that "
    "flavor never runs there, however idle it is (run on 0.19.2).",
)

_SHOWN: Final = 3

Reached = Mapping[str, list[Hardware]]
"""The GPU flavors within a unit's reach, by cluster."""


def unit_topologies(org: Org) -> Iterator[Finding]:
    """What units say can be read, and its level is one of a flavor within reach."""
    flavors = list(comparable(org).values())
    whole = len(flavors) == len(org.flavors)
    read: list[Node] = []
    for unit in org.units:
        path: KeyPath = (*unit.path, "topology")
        text = unit.document.topology if unit.document is not None else None
        if text is None or (org.left_out and org.hides(path)):
            continue
        said = parse_topology(text)
        if said is None:
            yield _syntax(unit, path, text, flavors)
        elif whole and not any(entry.broken for entry in unit.entries.values()):
            faults = list(_level(org, unit, path, said, _reached(unit, flavors)))
            yield from faults
            read += [] if faults else [unit]
    yield from _without_effect(org, read, flavors)
    yield from _shut_out(org, {unit.path for unit in read}, flavors)


def _syntax(unit: Node, path: KeyPath, text: str, flavors: list[Hardware]) -> Finding:
    words = text.split()
    known = [level for flavor in flavors if flavor.gpu for level in flavor.levels]
    level = next((word for word in words[::-1] if meanings(word, known)), known[0] if known else HOSTNAME)
    message = f"`{unit.title}`: `{text}` is not a topology"
    help_ = (
        f"{nearest(words[0], MODES) if words else ''}write `required {level}`, with which a job waits until all its "
        f"pods fit into one, or `preferred {level}`"
    )
    return Finding(UNIT_TOPOLOGY_SYNTAX, path, message, help_)


def _reached(unit: Node, flavors: list[Hardware]) -> Reached:
    found: dict[str, list[Hardware]] = {}
    for flavor in flavors:
        if flavor.gpu is not None and unit.reaches(flavor):
            found.setdefault(flavor.cluster, []).append(flavor)
    return found


def _known(org: Org, cluster: str, flavors: list[Hardware]) -> dict[str, list[Hardware]]:
    """The levels that jobs can ask for in a cluster, each with its flavors."""
    known: dict[str, list[Hardware]] = {}
    for flavor in flavors:
        for level in levels_of(flavor, org.document.clusters[cluster].scheduler):
            known.setdefault(level, []).append(flavor)
    return known


def _level(org: Org, unit: Node, path: KeyPath, said: UnitTopology, reached: Reached) -> Iterator[Finding]:
    """At least in one cluster the level is there, and in none is it two."""
    known = {cluster: _known(org, cluster, flavors) for cluster, flavors in reached.items()}
    found = {cluster: meanings(said.level, levels) for cluster, levels in known.items()}
    for cluster, keys in found.items():
        if len(keys) > 1:
            yield _ambiguous(unit, path, said, {key: known[cluster][key] for key in keys})
            return
    if not any(found.values()):
        yield _missing(unit, path, said, known)


def _ambiguous(unit: Node, path: KeyPath, said: UnitTopology, keys: Mapping[str, list[Hardware]]) -> Finding:
    each = [f"`{key}` of {listed([flavor.name for flavor in flavors])}" for key, flavors in keys.items()]
    message = f"`{unit.title}`: level `{said.level}` may be {' or '.join(each)}"
    related = tuple(
        (f"flavor `{flavor.name}`", (*flavor.path, "topology")) for flavors in keys.values() for flavor in flavors[:1]
    )
    help_ = f"write the whole key, such as `{said.mode} {next(iter(keys))}`"
    return Finding(UNIT_TOPOLOGY_LEVEL, path, message, help_, related[:RELATED_AT_MOST])


def _missing(
    unit: Node, path: KeyPath, said: UnitTopology, known: Mapping[str, Mapping[str, list[Hardware]]]
) -> Finding:
    if not known:
        message = f"`{unit.title}` has a default topology and reaches no flavor with GPUs"
        return Finding(UNIT_TOPOLOGY_LEVEL, path, message, "remove it, or give the unit a budget of GPUs")
    levels = list(dict.fromkeys(level for each in known.values() for level in each))
    if meanings(said.level, [HOSTNAME]) and HOSTNAME not in levels:
        message = f"`{unit.title}`: Volcano places jobs by racks and blocks, and cannot keep one on a single host"
        help_ = "let one pod ask for all GPUs that are to be on one host"
        help_ += f", or write `{said.mode} {levels[-1]}`" if levels else ""
        return Finding(UNIT_TOPOLOGY_LEVEL, path, message, f"{help_}, or remove it")
    message = f"`{unit.title}`: no flavor that it reaches has a level `{said.level}`"
    names = list(dict.fromkeys([*(level.rpartition("/")[2] for level in levels), *levels]))
    near = nearest(said.level, names)
    if levels:
        edits = mending.meant(path, said.level, names)
        edits = tuple(replace(edit, value=f"{said.mode} {edit.value}") for edit in edits)
        return Finding(UNIT_TOPOLOGY_LEVEL, path, message, f"{near}the levels are {listed(levels)}", edits=edits)
    return Finding(UNIT_TOPOLOGY_LEVEL, path, message, "write `topology` into the flavor, from wide to narrow")


def _without_effect(org: Org, units: list[Node], flavors: list[Hardware]) -> Iterator[Finding]:
    """One finding for each cluster in which nobody gives jobs the default."""
    for cluster, document in org.document.clusters.items():
        here = [unit for unit in units if _holds(org, unit, cluster, flavors)]
        if not here or document.scheduler == "native":
            continue  # Kubernetes alone has a loss for it.
        path: KeyPath = ("clusters", cluster)
        if document.scheduler == "kueue" and not packed(org.document, cluster):
            written = document.placement is not None
            what = "`placement: plain`" if written else "plain placement, because of flavors without nodes to look at"
            at = (*path, "placement") if written else path
            help_ = "remove `topology` of the unit, or write `placement: packed`" if written else "remove `topology`"
            yield _of_cluster(UNIT_TOPOLOGY_PLAIN, here, f"and cluster `{cluster}` has {what}", help_, at)
        elif number(minor := kubernetes_minor(document)) < MUTATING_SINCE:
            ask = "`kueue.x-k8s.io/podset-required-topology`" if document.scheduler == "kueue" else "`networkTopology`"
            help_ = f"run Kubernetes 1.36, or let every job ask by itself: {ask}, as `tenancy explain` shows"
            at = (*path, "versions", "kubernetes") if document.versions.kubernetes else path
            yield _of_cluster(
                UNIT_TOPOLOGY_BY_HAND, here, f"and nothing gives it to jobs on Kubernetes {minor}", help_, at
            )


def _holds(org: Org, unit: Node, cluster: str, flavors: list[Hardware]) -> bool:
    """Whether the level of the unit is there in the cluster."""
    found = _reached(unit, flavors).get(cluster, [])
    return unit.topology is not None and len(meanings(unit.topology.level, _known(org, cluster, found))) == 1


def _of_cluster(rule: Rule, units: list[Node], why: str, help_: str, at: KeyPath) -> Finding:
    first, *others = units
    say = "has" if len(units) == 1 else "have"
    related = (("the cluster", at), *((f"`{unit.title}`", (*unit.path, "topology")) for unit in others[: _SHOWN - 1]))
    message = f"{units_in_words(units)} {say} a default topology, {why}"
    return Finding(rule, (*first.path, "topology"), message, help_, related)


def _shut_out(org: Org, read: set[KeyPath], flavors: list[Hardware]) -> Iterator[Finding]:
    """For each unit that requires a level, those who own GPUs of the same resource on nodes without it."""
    found: dict[tuple[KeyPath, str], list[tuple[Node, Hardware, str]]] = {}
    for team in (unit for unit in org.units if unit.kind == "team"):
        for _, node in namespaces(team):
            says = next((unit for unit in (node, *node.ancestors()) if unit.document and unit.document.topology), None)
            if says is not None and says.path in read and node.topology and node.topology.mode == "required":
                for flavor, level in _lacking(org, queue_node(node), node.topology, flavors):
                    found.setdefault((says.path, flavor.name), []).append((queue_node(node), flavor, level))
    for (path, _), every in found.items():
        unit, flavor, level = every[0]
        units = list(dict.fromkeys(unit for unit, _, _ in every))
        main = next(main for main in flavor.mains if unit.entries[flavor.name].amounts[main].quota)
        owned = amount_of(sum(each.entries[flavor.name].amounts[main].quota for each in units), main)
        message = (
            f"jobs of {units_in_words(units)} that choose no flavor never run on `{flavor.name}`, whose nodes have no "
            f"`{level}`; {'it owns' if len(units) == 1 else 'they own'} {owned} there"
        )
        labels = ", ".join(f"{key}: {value}" for key, value in sorted(flavor.labels.items()))
        help_ = (
            f"write `preferred`, let jobs for `{flavor.name}` select it with `nodeSelector: {{{labels}}}`, or write "
            "another `topology` in a unit below"
        )
        related = ((f"flavor `{flavor.name}`", flavor.path),)
        yield Finding(UNIT_TOPOLOGY_SHUTS_OUT, (*path, "topology"), message, help_, related)


def _lacking(org: Org, queue: Node, said: UnitTopology, flavors: list[Hardware]) -> Iterator[tuple[Hardware, str]]:
    """Own flavors of Kueue without the level, beside one that has it and offers the same resource."""
    for cluster, reached in _reached(queue, flavors).items():
        known = _known(org, cluster, reached)
        keys = meanings(said.level, known)
        kueue = org.document.clusters[cluster].scheduler == "kueue" and packed(org.document, cluster)
        if len(keys) == 1 and kueue:
            offered = {main for flavor in known[keys[0]] for main in flavor.mains}
            for flavor in reached:
                if flavor not in known[keys[0]] and queue.owns(flavor) and offered & set(flavor.mains):
                    yield flavor, keys[0]


RULES: Final = (
    UNIT_TOPOLOGY_SYNTAX,
    UNIT_TOPOLOGY_LEVEL,
    UNIT_TOPOLOGY_PLAIN,
    UNIT_TOPOLOGY_BY_HAND,
    UNIT_TOPOLOGY_SHUTS_OUT,
)
CHECKS: Final[tuple[Check, ...]] = (unit_topologies,)
