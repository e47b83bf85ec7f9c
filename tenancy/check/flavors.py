"""Flavors: the labels that select their nodes, and the nodes themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tenancy.check.finding import Finding
from tenancy.check.gpus import under_single
from tenancy.check.wording import listed, node_count, under_kueue
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Flavor
from tenancy.model.gpus import CATALOGUE, COUNT, PRODUCT
from tenancy.model.hardware import CPU, DEFAULT_DAEMONS, HOSTNAME, MEMORY, Hardware, Layout, amount
from tenancy.model.organization import Org
from tenancy.model.quantity import canonical, human
from tenancy.model.syntax import is_label_key, is_label_value

FLAVORS_OVERLAP: Final = Rule(
    "flavors-overlap",
    Severity.ERROR,
    "Two flavors of the same nodes",
    "The same GPUs would be promised twice, and no scheduler notices. Kueue 0.17.0 admits more than there are, and the "
    "later jobs hold quota without a pod; on 0.19.2 they wait although their quota is free (both run).",
)
LABELS_EMPTY: Final = Rule(
    "flavor-labels-empty",
    Severity.ERROR,
    "A flavor without node labels",
    "A flavor without labels matches every node of the cluster, and Kueue refuses a topology for it.",
)
LABEL_SYNTAX: Final = Rule(
    "flavor-label-syntax",
    Severity.ERROR,
    "A node label that Kubernetes would refuse",
    "No node can carry such a label, and Kueue's webhook refuses the flavor.",
)
LABEL_NO_NODE: Final = Rule(
    "flavor-label-without-node",
    Severity.ERROR,
    "A node label that no node of the flavor has",
    "The labels become the node selector of every job that the flavor takes: with one that no node has, jobs are "
    "pending for ever.",
)
FLAVOR_LIMIT: Final = Rule(
    "flavor-limit",
    Severity.ERROR,
    "More labels or taints than a flavor can hold",
    "Kueue's ResourceFlavor holds at most 8 labels and 8 taints; the API server refuses more.",
)
SPARE_NODES: Final = Rule(
    "spare-nodes",
    Severity.ERROR,
    "As many spare nodes as there are nodes",
    "Spare nodes are kept out of budgets, and any node may be one of them: with as many spare nodes as there are, "
    "nothing is left to promise.",
)
FLAVOR_WITHOUT_NODES: Final = Rule(
    "flavor-without-nodes",
    Severity.WARNING,
    "A flavor without nodes",
    "Nothing can be promised on it, and every queue that may borrow lists it for nothing.",
)
NODE_BELOW_DAEMONS: Final = Rule(
    "node-below-daemons",
    Severity.ERROR,
    "DaemonSets that use the whole node",
    "What DaemonSets use is taken off every node. When nothing is left, no job can ever start there.",
)
PER_GPU_ABOVE_NODE: Final = Rule(
    "per-gpu-above-node",
    Severity.WARNING,
    "More cpu or memory for each GPU than the node has",
    "Jobs that take what follows their GPUs fill a node before its last GPU is used; that GPU stays idle.",
)

NOTHING_PER_GPU: Final = Rule(
    "nothing-per-gpu",
    Severity.ERROR,
    "GPUs without cpu or memory",
    "cpu and memory of a budget follow from its GPUs. Where nothing follows, no budget in GPUs covers what a job needs "
    "beside them: Kueue admits none, and Volcano takes a limit of 0 cpu or memory for no limit.",
)

MOST: Final = 8
"""Labels, and taints, of one ResourceFlavor (its CRD)."""


def overlaps(org: Org) -> Iterator[Finding]:
    """No two flavors of a cluster select the same nodes."""
    flavors = [org.flavors[name] for name in org.document.flavors]
    for index, flavor in enumerate(flavors):
        for other in flavors[:index]:
            if flavor.cluster == other.cluster and flavor.labels and other.labels and _nested(flavor, other):
                yield _overlap(org, flavor, other)
                break


def labels(org: Org) -> Iterator[Finding]:
    """Labels can be carried by the flavor's nodes, and only by them."""
    for name, flavor in org.document.flavors.items():
        path: KeyPath = ("flavors", name, "labels")
        if flavor.labels is None or (org.left_out and org.hides(path)):
            continue
        if not flavor.labels:
            help_ = f"leave `labels` out: the nodes are then selected by `{org.document.domain}/flavor: {name}`"
            yield Finding(LABELS_EMPTY, path, f"flavor `{name}` has empty `labels`", help_, at_key=True)
        if len(flavor.labels) > MOST and under_kueue(org, org.flavors[name].cluster):
            message = f"flavor `{name}` has {len(flavor.labels)} labels"
            yield Finding(FLAVOR_LIMIT, path, message, f"keep the {MOST} that tell its nodes from others", at_key=True)
        for key, value in flavor.labels.items():
            if (found := _label(org, name, flavor, key, value)) is not None:
                yield found


def nodes(org: Org) -> Iterator[Finding]:
    """Nodes are there and leave something to jobs."""
    for name, flavor in org.document.flavors.items():
        path: KeyPath = ("flavors", name)
        if org.left_out and org.hides((*path, "node")):
            continue
        if flavor.spare_nodes >= flavor.nodes > 0:
            message = f"flavor `{name}` keeps {flavor.spare_nodes} of its {node_count(flavor.nodes)} spare"
            yield Finding(SPARE_NODES, (*path, "spareNodes"), message, _fewer_spare(flavor.nodes))
        elif (few := _all_spare(org, name)) is not None:
            entry = f"entry {int(few.path[-1]) + 1} of `mig`"
            message = (
                f"flavor `{name}` keeps {node_count(flavor.spare_nodes)} spare, but {entry} has {node_count(few.nodes)}"
            )
            help_ = f"{_fewer_spare(few.nodes)}, or give the entry more than {node_count(flavor.spare_nodes)}"
            yield Finding(SPARE_NODES, (*path, "spareNodes"), message, help_, (("the layout", few.path),))
        elif flavor.nodes == 0 and not _promised(org, name):
            message = f"flavor `{name}` has no nodes"
            yield Finding(
                FLAVOR_WITHOUT_NODES, (*path, "nodes"), message, "remove the flavor until its nodes are there"
            )
        for resource in (CPU, MEMORY):
            yield from _size(org, name, flavor, resource)


def _all_spare(org: Org, name: str) -> Layout | None:
    """A layout whose nodes may all be the lost ones, so that nothing can be promised of its slices."""
    document, layouts = org.document.flavors[name], org.flavors[name].layouts
    if not document.spare_nodes or not isinstance(document.mig, list) or org.hides(("flavors", name, "mig")):
        return None
    return next((layout for layout in layouts if 0 < layout.nodes <= document.spare_nodes), None)


def _fewer_spare(nodes: int) -> str:
    return f"write `spareNodes: {nodes - 1}` or less" if nodes > 1 else "remove `spareNodes`"


def _promised(org: Org, name: str) -> bool:
    """Whether some department has a quota on the flavor, which is a finding of its own where there are no nodes."""
    entries = [department.entries[name] for department in org.root.children]
    return any(entry.share or any(quota.quota for quota in entry.amounts.values()) for entry in entries)


def _nested(flavor: Hardware, other: Hardware) -> bool:
    """Whether the labels of one are among the labels of the other."""
    mine, theirs = flavor.labels.items(), other.labels.items()
    return mine <= theirs or theirs <= mine


def _overlap(org: Org, flavor: Hardware, other: Hardware) -> Finding:
    path: KeyPath = (*flavor.path, "labels")
    if dict(flavor.labels) == dict(other.labels):
        how = f"have the same labels, {_shown(flavor.labels)}"
    else:
        narrow = max(flavor, other, key=lambda each: len(each.labels))
        how = f"overlap: a node with {_shown(narrow.labels)} has the labels of both"
    message = f"flavors `{other.name}` and `{flavor.name}` {how}"
    help_ = (
        "give each a value of its own for one label, or leave `labels` out and label the nodes "
        f"`{org.document.domain}/flavor: NAME`"
    )
    return Finding(FLAVORS_OVERLAP, path, message, help_, (("the other flavor", (*other.path, "labels")),), at_key=True)


def _shown(labels_: Mapping[str, str]) -> str:
    return listed([f"{key}: {value}" for key, value in sorted(labels_.items())])


def _label(org: Org, name: str, flavor: Flavor, key: str, value: str) -> Finding | None:
    path: KeyPath = ("flavors", name, "labels", key)
    if not is_label_key(key):
        message = f"flavor `{name}`: `{key}` is not the key of a label"
        help_ = "write NAME or DOMAIN/NAME; letters, digits, `-`, `_` and `.`, at most 63 characters in NAME"
        return Finding(LABEL_SYNTAX, path, message, help_, at_key=True)
    if not is_label_value(value):
        message = f"flavor `{name}`: `{value}` is not the value of a label"
        return Finding(LABEL_SYNTAX, path, message, "write letters, digits, `-`, `_` and `.`, at most 63 characters")
    if key == HOSTNAME and flavor.nodes > 1:
        message = f"flavor `{name}`: only one of its {flavor.nodes} nodes has the host name `{value}`"
        return Finding(LABEL_NO_NODE, path, message, "select by a label that all nodes of the flavor have")
    if key == PRODUCT and not (org.left_out and org.hides((*path[:2], "gpu"))):
        return _product(org, name, flavor, value)
    if key == COUNT and flavor.mig is None and flavor.node.gpus and value != str(flavor.node.gpus):
        message = f"flavor `{name}`: its nodes have {flavor.node.gpus} GPUs, not `{value}`"
        related = (("GPUs of a node", (*path[:2], "node", "gpus")),)
        return Finding(LABEL_NO_NODE, path, message, f'write "{flavor.node.gpus}", or remove the label', related)
    return None


def _product(org: Org, name: str, flavor: Flavor, value: str) -> Finding | None:
    """The product label has the value that GPU feature discovery gives it on these nodes.

    That is the plain one with MIG under the strategy `mixed` and with renamed shared resources; `single` appends the
    profile.
    """
    path: KeyPath = ("flavors", name, "labels", PRODUCT)
    if flavor.gpu is None:
        message = f"flavor `{name}` is a CPU flavor, whose nodes have no `{PRODUCT}`"
        return Finding(LABEL_NO_NODE, path, message, "name the board under `gpu`, or remove the label")
    gpu = CATALOGUE.get(flavor.gpu) if isinstance(flavor.gpu, str) else None
    single = under_single(org, org.flavors[name])
    if gpu is None or not gpu.products or len(single) > 1:
        return None
    suffix = "".join(f"-MIG-{profile.replace('+', '.')}" for profile in single)
    right = [product + suffix for product in gpu.products if is_label_value(product + suffix)]
    if value in right:
        return None
    message = f"flavor `{name}`: nodes with `{gpu.name}` are not labelled `{PRODUCT}: {value}`"
    plain, _, rest = value.partition("-MIG-")
    plain, shared = plain.removesuffix("-SHARED"), value.endswith("-SHARED")
    owner = next((other.name for other in CATALOGUE.values() if plain in other.products), None)
    help_ = f"write {listed(right, 'or')}"
    if owner and owner != gpu.name:
        help_ += f", or `gpu: {owner}`"
    elif shared:
        help_ += "; `-SHARED` is for shares under the name of whole GPUs, and here they have a name of their own"
    elif rest and not suffix:
        help_ += "; `-MIG-` is for MIG under the strategy `single`"
    elif suffix:
        help_ += ": under the strategy `single` the label names the profile"
    return Finding(LABEL_NO_NODE, path, message, help_, (("the board", (*path[:2], "gpu")),))


def _size(org: Org, name: str, flavor: Flavor, resource: str) -> Iterator[Finding]:
    path: KeyPath = ("flavors", name, "node", resource)
    size = amount(getattr(flavor.node, resource), resource)
    said = getattr(flavor.daemons, resource) if flavor.daemons else None
    used = amount(said, resource) if said is not None else DEFAULT_DAEMONS[resource]
    if size is None or used is None:
        return
    if size <= used:
        source = "use" if said is not None else "are taken to use"
        message = f"flavor `{name}`: DaemonSets {source} {human(used, resource)} of the node's {human(size, resource)}"
        help_ = f"write the {resource} of one node (not of one GPU), or what DaemonSets use under `daemons`"
        yield Finding(NODE_BELOW_DAEMONS, path, message, help_)
        return
    per_gpu = getattr(flavor.per_gpu, resource)
    each = amount(per_gpu, resource) if per_gpu is not None else None
    gpus, left = flavor.node.gpus or 0, org.flavors[name].node[resource]
    if _lacks(org.flavors[name], resource):
        yield _nothing_per_gpu(org.flavors[name], resource, written=each is not None)
    if each is not None and gpus and each * gpus > left:
        message = (
            f"flavor `{name}`: {human(each, resource)} for each of {gpus} GPUs come to {human(each * gpus, resource)}, "
            f"but the node has {human(left, resource)} left for jobs"
        )
        fits = canonical(left // gpus, resource)
        help_ = f"write `{resource}: {fits}` or less, or remove it: it is then what the node has for each GPU"
        yield Finding(PER_GPU_ABOVE_NODE, ("flavors", name, "perGpu", resource), message, help_)


def _lacks(flavor: Hardware, resource: str) -> bool:
    """Whether nothing of it follows a GPU. Shares that are too many for both are told so once."""
    lacking = [each for each in (CPU, MEMORY) if not all(follows[each] for follows in flavor.follows.values())]
    return resource in (lacking[:1] if flavor.shares > 1 else lacking)


def _nothing_per_gpu(flavor: Hardware, resource: str, *, written: bool) -> Finding:
    if flavor.shares > 1:
        message = f"flavor `{flavor.name}`: no {resource} is left for each of {flavor.shares} shares of a GPU"
        return Finding(NOTHING_PER_GPU, (*flavor.path, "sharing"), message, "write fewer shares", at_key=True)
    path: KeyPath = (*flavor.path, "perGpu" if written else "node", resource)
    message = f"flavor `{flavor.name}`: no {resource} follows each of its GPUs or slices"
    least = "1m" if resource == CPU else "1Mi"
    help_ = f"write {least} or more for each, or remove it" if written else f"write the {resource} of one node"
    return Finding(NOTHING_PER_GPU, path, message, help_)


CHECKS: Final = (overlaps, labels, nodes)
RULES: Final = (
    FLAVORS_OVERLAP,
    LABELS_EMPTY,
    LABEL_SYNTAX,
    LABEL_NO_NODE,
    FLAVOR_LIMIT,
    SPARE_NODES,
    FLAVOR_WITHOUT_NODES,
    NODE_BELOW_DAEMONS,
    PER_GPU_ABOVE_NODE,
    NOTHING_PER_GPU,
)
