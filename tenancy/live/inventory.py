"""The nodes of a cluster beside what the organization says of them: what is missing, other, or not done yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from tenancy.check.finding import Finding
from tenancy.check.taints import NODE_STATE
from tenancy.check.wording import listed, node_count
from tenancy.live.boards import board_of, gpus_by_label, offered, shown
from tenancy.live.devices import offers
from tenancy.live.inventory_rules import (
    GPUS_UNCLAIMED,
    NODE_GPUS,
    NODE_LABELS,
    NODE_PRODUCT,
    NODE_PRODUCT_UNKNOWN,
    NODE_TAINTS,
    NODE_TAINTS_FOREIGN,
    NODE_TOO_SMALL,
    NODE_TOPOLOGY,
    NODES_CLAIMED_TWICE,
    NODES_CORDONED,
    NODES_MISSING,
    NODES_NOT_READY,
    NODES_SPARE_GONE,
    NODES_SURPLUS,
    TOPOLOGY_FLAT,
)
from tenancy.live.matching import Matched, product
from tenancy.live.nodes import LiveNode
from tenancy.live.seen import Seen, doing, few, grouped, named
from tenancy.model.gpus import PRODUCT
from tenancy.model.hardware import CPU, GPUS, HOSTNAME, MEMORY, Taint, amount, tolerated
from tenancy.model.organization import Org
from tenancy.model.quantity import canonical
from tenancy.plan.values import ClusterPlan

PASSING: Final = (*NODE_STATE, "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler")
"""Taints that come and go with the state of a node; a finding about them would be gone before it is read."""

View: TypeAlias = Callable[[Seen], Iterator[Finding]]


def compare(org: Org, cluster: ClusterPlan, found: Matched) -> Iterator[Finding]:
    """What does not agree between a cluster of the organization and the nodes that it has."""
    for seen in seen_in(org, cluster, found):
        for view in _VIEWS:
            yield from view(seen)
    yield from _claimed(cluster, found)
    yield from _strangers(found)


def seen_in(org: Org, cluster: ClusterPlan, found: Matched) -> Iterator[Seen]:
    """Every flavor of a cluster with its nodes."""
    for name, flavor in cluster.flavors.items():
        yield Seen(
            document=org.document.flavors[name],
            flavor=flavor,
            wanted=cluster.nodes[name],
            nodes=found.flavors[name],
        )


def told_by(seen: Seen) -> str:
    """By what the nodes of a flavor are found, in words; empty where nothing tells them."""
    match = seen.wanted.match
    own = (
        "" if match.labels else f"the label {listed([f'{key}: {value}' for key, value in seen.flavor.labels.items()])}"
    )
    if match.names:
        return f"the name {listed(match.names, 'or')}"
    if match.labels:
        return f"the label {listed([f'{key}: {value}' for key, value in match.labels.items()])}"
    if match.products:
        return f"{own}, or `{PRODUCT}: {match.products[0]}`"
    return own


def _numbers(seen: Seen) -> Iterator[Finding]:
    """As many nodes as are declared; where an autoscaler adds them, not more."""
    there, declared, spare = len(seen.nodes), seen.flavor.nodes, seen.document.spare_nodes
    path = (*seen.flavor.path, "nodes")
    if there > declared:
        message = f"flavor `{seen.name}`: {node_count(there)} are there, {_are(declared)} declared"
        yield Finding(NODES_SURPLUS, path, message, f"write `nodes: {there}`, or take nodes out")
    if there >= declared or seen.flavor.autoscaler:
        return
    message = f"flavor `{seen.name}`: {there} of {node_count(declared)} {'is' if there == 1 else 'are'} there"
    if not there:
        message = f"flavor `{seen.name}`: no node is there, {_are(declared)} declared"
    if declared - there <= spare:
        message = f"{message}; {_are(spare)} kept spare, so that budgets still hold"
        yield Finding(NODES_SPARE_GONE, path, message, f"bring them back, or write `nodes: {there}` and fewer spare")
        return
    help_ = f"write `nodes: {there}`, or bring the nodes up; they are found by {told_by(seen)}"
    if not there and not seen.wanted.match.names and not seen.wanted.match.labels and not seen.wanted.match.products:
        help_ = f"nothing but {told_by(seen)} tells them: write `nodeNames`, or existing labels under `labels`"
    yield Finding(NODES_MISSING, path, message, help_)


def _are(count: int) -> str:
    return f"{count} is" if count == 1 else f"{count} are"


def _fit(seen: Seen) -> Iterator[Finding]:
    """Nodes take pods."""
    path, needed = (*seen.flavor.path, "nodes"), seen.flavor.nodes - seen.document.spare_nodes
    left = sum(node.ready and not node.unschedulable for node in seen.nodes)
    state = f"{node_count(left)} can take pods, budgets count on {needed}"
    if out := [node for node in seen.nodes if not node.ready]:
        message = f"flavor `{seen.name}`: {doing(out, 'are')} not ready: {named(out)}; {state}"
        yield Finding(
            NODES_NOT_READY, path, message, "see `kubectl describe node`; write fewer `nodes` for those that stay away"
        )
    if out := [node for node in seen.nodes if node.unschedulable and node.ready]:
        message = f"flavor `{seen.name}`: {doing(out, 'are')} cordoned: {named(out)}; {state}"
        yield Finding(NODES_CORDONED, path, message, "`kubectl uncordon` them once their maintenance is over")


def _boards(seen: Seen) -> Iterator[Finding]:
    """Every node has the board of the catalogue that the flavor names, and as many of it."""
    gpu = seen.flavor.gpu
    if gpu is None:
        return
    path = (*seen.flavor.path, "gpu")
    for name, nodes in grouped(seen.nodes, lambda node: _other_board(seen, node)).items():
        message = f"flavor `{seen.name}`: {doing(nodes, 'have')} `{name}`, not `{gpu.name}`: {named(nodes)}"
        help_ = (
            "declare them as a flavor of their own, with the right `gpu` and labels, or write it here if all have it"
        )
        yield Finding(NODE_PRODUCT, path, message, help_)
    silent = [node for node in seen.nodes if gpu.products and (board := board_of(node)) and not board.label]
    if silent:
        message = f"flavor `{seen.name}`: {doing(silent, 'lack')} the label `{PRODUCT}`: {named(silent)}"
        yield Finding(
            NODE_PRODUCT_UNKNOWN, path, message, "let GPU feature discovery run there; the operator brings it"
        )
    for count, nodes in grouped(seen.nodes, lambda node: _other_count(seen, node)).items():
        have = f"flavor `{seen.name}`: {doing(nodes, 'have')} {count} {'GPU' if count == 1 else 'GPUs'}"
        message = f"{have}, not {seen.flavor.node[GPUS]}: {named(nodes)}"
        help_ = "a GPU that is gone from the bus needs service; nodes built otherwise need a flavor of their own"
        yield Finding(NODE_GPUS, (*seen.flavor.path, "node", "gpus"), message, help_)


def _other_board(seen: Seen, node: LiveNode) -> str | None:
    """The board of a node that is not the flavor's; what only a machine's name says proves nothing."""
    board, gpu = board_of(node), seen.flavor.gpu
    if board is None or gpu is None or not gpu.products or not board.label or board.guessed:
        return None
    return None if board.name == gpu.name else product(node) or shown(board)


def _other_count(seen: Seen, node: LiveNode) -> int | None:
    count = gpus_by_label(node) if seen.flavor.nvidia else None
    return count if count is not None and count != seen.flavor.node[GPUS] else None


def _sizes(seen: Seen) -> Iterator[Finding]:
    """Every node offers the cpu and memory that the flavor says."""
    for resource in (CPU, MEMORY):
        declared = amount(getattr(seen.document.node, resource), resource) or 0
        small = [node for node in seen.nodes if node.allocatable.get(resource, declared) < declared]
        if not small:
            continue
        least = min(node.allocatable[resource] for node in small)
        what = f"{_rounded(least, resource)} of {resource}, not {canonical(declared, resource)}"
        message = f"flavor `{seen.name}`: {doing(small, 'offer')} as little as {what}: {named(small)}"
        help_ = f"write `{resource}: {_rounded(least, resource)}`: what kubelet and system reserve is not for pods"
        yield Finding(NODE_TOO_SMALL, (*seen.flavor.path, "node", resource), message, help_)


def _rounded(least: int, resource: str) -> str:
    unit = 1000 if resource == CPU else 1 << 30
    return canonical(least // unit * unit or least, resource)


def _labels(seen: Seen) -> Iterator[Finding]:
    """Every node has the labels that become the selector of jobs."""
    for labels, nodes in grouped(seen.nodes, lambda node: _lacking(seen, node)).items():
        absent = listed([f"{key}: {value}" for key, value in labels])
        message = f"flavor `{seen.name}`: {doing(nodes, 'lack')} {absent}: {named(nodes)}"
        help_ = "put them on the node pool; `tenancy nodes` sets labels of its own only"
        if all(key in seen.wanted.labels for key, _ in labels):
            help_ = "apply the files of the cluster under platform/, or run `tenancy nodes --apply`"
        yield Finding(NODE_LABELS, (*seen.flavor.path, "labels"), message, help_, at_key=True)


def _lacking(seen: Seen, node: LiveNode) -> tuple[tuple[str, str], ...] | None:
    wanted = {**seen.wanted.labels, **seen.flavor.labels}
    return tuple(sorted(wanted.items() - node.labels.items())) or None


def _topology(seen: Seen) -> Iterator[Finding]:
    """Every node has every level, and a level tells some nodes from others."""
    for index, level in enumerate(seen.flavor.levels):
        path = (*seen.flavor.path, "topology", index)
        if lacking := [node for node in seen.nodes if not node.labels.get(level)]:
            message = f"flavor `{seen.name}`: {doing(lacking, 'lack')} the level `{level}`: {named(lacking)}"
            help_ = "label them, or leave the level out until all nodes have it"
            yield Finding(NODE_TOPOLOGY, path, message, help_)
            continue
        values = {node.labels[level] for node in seen.nodes}
        if level != HOSTNAME and len(seen.nodes) > 2 and len(values) in (1, len(seen.nodes)):
            how = f"is `{min(values)}` on all" if len(values) == 1 else "is different on each of"
            message = f"flavor `{seen.name}`: the level `{level}` {how} {node_count(len(seen.nodes))}"
            yield Finding(TOPOLOGY_FLAT, path, message, "leave it out, unless more nodes are to come")


def _taints(seen: Seen) -> Iterator[Finding]:
    """Nodes have the taints of the flavor, and no other that keeps its jobs out."""
    key = "taints" if seen.document.taints else "taint"
    for taint in seen.flavor.taints:
        if open_ := [node for node in seen.nodes if not any(tolerated(each, taint) for each in node.taints)]:
            message = f"flavor `{seen.name}`: {doing(open_, 'lack')} the taint `{taint.text}`: {named(open_)}"
            help_ = "`tenancy nodes --apply` sets it; a node pool that makes new nodes must have it, too"
            yield Finding(NODE_TAINTS, (*seen.flavor.path, key), message, help_, at_key=True)
    foreign: dict[Taint, list[LiveNode]] = {}
    for node in seen.nodes:
        for taint in node.taints:
            declared = any(tolerated(taint, given) for given in seen.flavor.taints)
            if taint.keeps_out and not declared and not taint.key.startswith(PASSING):
                foreign.setdefault(taint, []).append(node)
    for taint, nodes in sorted(foreign.items(), key=lambda item: item[0].text):
        message = f"flavor `{seen.name}`: {doing(nodes, 'have')} the taint `{taint.text}`: {named(nodes)}"
        help_ = f"declare it with the others of the flavor, or `kubectl taint nodes NAME {taint.key}:{taint.effect}-`"
        yield Finding(NODE_TAINTS_FOREIGN, (*seen.flavor.path, key), message, help_, at_key=True)


def _claimed(cluster: ClusterPlan, found: Matched) -> Iterator[Finding]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for node, owners in found.claimed.items():
        groups.setdefault(owners, []).append(node)
    for owners, names in groups.items():
        paths = [cluster.flavors[owner].path for owner in owners]
        message = f"flavors {listed(owners)} claim {node_count(len(names))}: {few(names)}"
        help_ = "tell them apart by `nodeNames`, or by labels that differ"
        related = tuple((f"flavor `{owner}`", path) for owner, path in zip(owners[1:], paths[1:], strict=True))
        yield Finding(NODES_CLAIMED_TWICE, paths[0], message, help_, related, at_key=True)


def _strangers(found: Matched) -> Iterator[Finding]:
    """Nodes without GPUs may be anybody's: the control plane's, the platform's."""
    for board, nodes in grouped(found.strangers, board_of).items():
        gpus = sum(sum(offered(node).values()) for node in nodes)
        what = f"{node_count(len(nodes))} with `{shown(board)}`, {gpus} devices in all"
        message = f"no flavor claims {what}: {named(nodes)}"
        help_ = "declare a flavor for them; `tenancy inventory --propose` writes one"
        yield Finding(GPUS_UNCLAIMED, ("flavors",), message, help_, at_key=True)


_VIEWS: Final[tuple[View, ...]] = (_numbers, _fit, _boards, _sizes, offers, _labels, _topology, _taints)
