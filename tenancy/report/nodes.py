"""What the nodes of a cluster lack of what their flavors say, as text and as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from json import dumps
from typing import Final

from tenancy.report.report import plural
from tenancy.report.terminal import NARROWEST, hanging, visible, wrap

NAMED: Final = 10
"""Names in a row before the rest is a number; `json` has all."""

_LAYOUT: Final = "nvidia.com/mig.config"
_MAINTENANCE: Final = (
    "maintenance: the MIG manager divides the GPUs of {nodes} anew, which fails or breaks jobs while pods hold GPUs "
    "there: {names}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The nodes of a flavor."""

    flavor: str
    declared: int
    found: int
    note: str
    """Why its nodes are left alone, or are not found; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """What another hand has set to another value."""

    what: str
    live: str
    wanted: str
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node on which something is to do."""

    name: str
    flavor: str
    set_labels: Mapping[str, str]
    remove_labels: tuple[str, ...]
    set_taints: tuple[str, ...]
    remove_taints: tuple[str, ...]
    before: Mapping[str, str]
    """What the labels to set have now."""
    conflicts: tuple[Clash, ...]
    held: tuple[str, ...]
    """Labels and taints that wait until `pods` are gone."""
    pods: tuple[str, ...]
    problem: str = ""
    """Why it could not be made so; empty before it was tried, and where it worked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """The nodes of one cluster."""

    cluster: str
    source: str
    """The API server or the file."""
    total: int
    pools: tuple[Pool, ...]
    changes: tuple[Node, ...]
    unclaimed: tuple[str, ...]
    """Nodes of no flavor."""
    claimed: Mapping[str, tuple[str, ...]]
    """Nodes that several flavors claim, with the flavors."""
    unlaid: tuple[str, ...]
    """Nodes beyond those that have a MIG layout."""
    applied: bool
    """Whether the changes were made, as far as they could be."""


def json(nodes: Nodes) -> str:
    """One object in ASCII."""
    return dumps(asdict(nodes), indent=2) + "\n"


def text(nodes: Nodes, width: int = 100) -> str:
    """Flavor by flavor what is to set, then what stands in the way, then what is left alone."""
    pools = [line for pool in nodes.pools for line in _pool(nodes, pool, width)]
    rest = [*_obstacles(nodes, width), *_alone(nodes, width)]
    lines = [_head(nodes), *pools, *(["", *rest] if rest else []), "", _end(nodes)]
    return "\n".join(lines) + "\n"


def _head(nodes: Nodes) -> str:
    return f"{visible(nodes.cluster)}: {plural(nodes.total, 'node')} of {visible(nodes.source)}"


def _pool(nodes: Nodes, pool: Pool, width: int) -> Iterator[str]:
    yield ""
    counted = f"{plural(pool.found, 'node')} of {pool.declared} declared"
    yield from hanging(f"{visible(pool.flavor)}:", f"{counted}; {pool.note}" if pool.note else counted, width, " ")
    steps: dict[str, list[str]] = {}
    for node in nodes.changes:
        for step in _steps(node) if node.flavor == pool.flavor else ():
            steps.setdefault(step, []).append(node.name)
    for step, names in steps.items():
        yield f"  {visible(step)}"
        yield from hanging("     ", f"on {_named(names)}", width, " ")


def _steps(node: Node) -> Iterator[str]:
    for key, value in node.set_labels.items():
        was = f" (was {node.before[key]})" if key in node.before else ""
        yield f"set label {key}={value}{was}"
    yield from (f"remove label {key}" for key in node.remove_labels)
    yield from (f"set taint {taint}" for taint in node.set_taints)
    yield from (f"remove taint {taint}" for taint in node.remove_taints)


def _obstacles(nodes: Nodes, width: int) -> Iterator[str]:
    """What was not done, or will not be."""
    laid = [node.name for node in nodes.changes if _LAYOUT in (*node.set_labels, *node.remove_labels)]
    if laid and not nodes.applied:
        yield from _item(_MAINTENANCE.format(nodes=plural(len(laid), "node"), names=_names(laid)), width)
    for node in nodes.changes:
        if node.held:
            who = f"{_names(node.pods)} {'runs' if len(node.pods) == 1 else 'run'} there"
            sentence = f"held back: {', '.join(node.held)} of {node.name}, because {who}; drain it, or --disruptive"
            yield from _item(sentence, width)
        for clash in node.conflicts:
            by = f", set by {', '.join(clash.owners)}" if clash.owners else ""
            sentence = f"conflict: {clash.what} of {node.name} is {clash.live!r}{by}; it should be {clash.wanted!r}"
            yield from _item(f"{sentence}; nothing of the node is set unless --force-conflicts", width)
        if node.problem and not node.conflicts:
            yield from _item(f"not done: {node.name}: {node.problem}", width)


def _alone(nodes: Nodes, width: int) -> Iterator[str]:
    for name, flavors in nodes.claimed.items():
        yield from _item(f"left alone: {name}, which flavors {', '.join(flavors)} all claim", width)
    if nodes.unlaid:
        yield from _item(
            f"left with the MIG layout it has, beyond the nodes that have one: {_names(nodes.unlaid)}", width
        )
    if nodes.unclaimed:
        yield from _item(f"left alone, because no flavor claims them: {_named(nodes.unclaimed)}", width)


def _end(nodes: Nodes) -> str:
    waits = sum(bool(node.held or node.conflicts or node.problem) for node in nodes.changes)
    if not nodes.changes:
        return "Nothing to do."
    if nodes.applied:
        done = sum(not (node.conflicts or node.problem) and bool(list(_steps(node))) for node in nodes.changes)
        return f"Set on {plural(done, 'node')}{f'; {waits} not or not in full' if waits else ''}."
    return f"Nothing is set yet on {plural(len(nodes.changes), 'node')}; --apply does it."


def _item(sentence: str, width: int) -> Iterator[str]:
    lines: Iterable[str] = wrap(visible(sentence), max(width - 2, NARROWEST))
    for index, line in enumerate(lines):
        yield line if index == 0 else f"  {line}"


def _named(names: Sequence[str]) -> str:
    return f"{plural(len(names), 'node')}: {_names(names)}"


def _names(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
