"""Budgets against hardware: what the nodes have, and flavors that are given out in whole nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import (
    amount_of,
    breaking,
    by_flavor,
    comparable,
    following,
    largest_first,
    number_path,
    off_text,
    runs_jobs,
    units_in_words,
)
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.hardware import CPU, DEFAULT_DAEMONS, GPUS, MEMORY, Hardware, amount
from tenancy.model.organization import Node, Org
from tenancy.model.quantity import canonical, human

QUOTA_ABOVE_CAPACITY: Final = Rule(
    "quota-above-capacity",
    Severity.ERROR,
    "Departments with more quota than there is hardware",
    "A scheduler believes the numbers: it admits jobs whose pods find no node, and reclaims for an owner what does "
    "not exist.",
)
DAEMONS_NOT_STATED: Final = Rule(
    "daemons-not-stated",
    Severity.NOTE,
    "A guess at what DaemonSets use on the nodes",
    "Topology-aware scheduling takes the pods of DaemonSets off each node: if they use more than the guess, jobs of "
    "the default size leave the last GPU of every node unused.",
)
NOT_WHOLE_NODES: Final = Rule(
    "not-whole-nodes",
    Severity.ERROR,
    "An amount that is not a multiple of a node on a flavor of whole nodes",
    "Jobs on this flavor take whole nodes, so the rest of the amount could never be used.",
)
WHOLE_NODES_MIXED: Final = Rule(
    "whole-nodes-mixed",
    Severity.WARNING,
    "Units that reach whole nodes and another flavor with the same GPU resource",
    "No number of GPUs is right for both flavors, so no policy looks at requests in such a queue: small jobs are "
    "admitted to the whole nodes too and split them, and jobs of a whole node wait although their quota is free.",
)
WHOLE_NODES_SIZES: Final = Rule(
    "whole-nodes-sizes",
    Severity.WARNING,
    "Units that reach whole nodes of two sizes with the same GPU resource",
    "The policy lets a pod ask for the GPUs of either node, whichever flavor it then gets: a job for the small nodes "
    "may be admitted to the large ones and splits them.",
)
WHOLE_NODES_WITH_MIG: Final = Rule(
    "whole-nodes-with-mig",
    Severity.ERROR,
    "Whole nodes of a flavor that is divided into slices",
    "Budgets in whole nodes are multiples of the GPUs of a node, but a divided flavor counts slices: eight slices are "
    "no node, and no job could take one.",
)


def quota_above_capacity(org: Org) -> Iterator[Finding]:
    """The departments' quotas fit the nodes that are not spare, for every flavor and resource."""
    flavors = comparable(org)
    for name, departments in by_flavor(org.root).items():
        flavor = flavors.get(name)
        if flavor is None or any(each.entries[name].broken for each in departments):
            continue
        crowded = set(_crowded(org, flavor))
        total = {r: sum(each.entries[name].amounts[r].quota for each in departments) for r in flavor.resources}
        above = {r for r in flavor.resources if total[r] > flavor.capacity[r] and r not in crowded}
        for resource in breaking(flavor, above):
            yield _above_capacity(org, flavor, resource, total[resource], departments)


def _above_capacity(org: Org, flavor: Hardware, resource: str, total: int, departments: list[Node]) -> Finding:
    document, capacity = org.document.flavors[flavor.name], flavor.capacity[resource]
    places = largest_first(departments, flavor, "quota", resource)
    spare = f", {document.spare_nodes} of them spare" if document.spare_nodes else ""
    nodes = f"{document.nodes} nodes{spare}"
    who = f"`{departments[0].title}` has a quota" if len(departments) == 1 else "the departments have quotas"
    shared = f", each GPU in {flavor.shares} shares" if flavor.shares > 1 and resource in flavor.mains else ""
    hardware: tuple[tuple[str, KeyPath], ...] = (
        (f"{nodes}{shared}: {amount_of(capacity, resource)}", (*flavor.path, "nodes")),
    )
    if document.spare_nodes:
        hardware = (*hardware, ("nodes kept spare", (*flavor.path, "spareNodes")))
    return Finding(
        QUOTA_ABOVE_CAPACITY,
        places[0][1],
        f"{who} of {amount_of(total, resource)}{following(flavor, resource, departments)} on `{flavor.name}`, "
        f"{amount_of(total - capacity, resource)} more than the {amount_of(capacity, resource)} of its {nodes}",
        f"take {amount_of(total - capacity, resource)} from the departments, or raise `nodes` if there are more",
        (*places[1:], *hardware),
    )


def _crowded(org: Org, flavor: Hardware) -> Iterator[str]:
    """The resources whose perGpu is too large for a node: a finding of its own, which this one would only repeat."""
    document = org.document.flavors[flavor.name]
    for resource, written in ((CPU, document.per_gpu.cpu), (MEMORY, document.per_gpu.memory)):
        each = amount(written, resource) if written is not None else None
        if each is not None and each * flavor.node[GPUS] > flavor.node[resource]:
            yield resource


def daemons_not_stated(org: Org) -> Iterator[Finding]:
    """Somebody measured what DaemonSets use."""
    for name, flavor in org.flavors.items():
        daemons = org.document.flavors[name].daemons
        path = (*flavor.path, "daemons")
        missing = [r for r in (CPU, MEMORY) if daemons is None or getattr(daemons, r) is None]
        if not missing or (org.left_out and org.hides(path)):
            continue
        guess = " and ".join(f"{human(DEFAULT_DAEMONS[r], r)} of {r}" for r in missing)
        keys = ", ".join(f"{r}: {canonical(DEFAULT_DAEMONS[r], r)}" for r in missing)
        yield Finding(
            DAEMONS_NOT_STATED,
            flavor.path if daemons is None else path,
            f"flavor `{name}` does not say what DaemonSets use on each node: {guess} are assumed",
            f"write `daemons: {{{keys}}}` with what `kubectl describe node` shows for them",
            at_key=True,
        )


def not_whole_nodes(org: Org) -> Iterator[Finding]:
    """Amounts of a flavor of whole nodes are multiples of a node."""
    flavors = {name: f for name, f in comparable(org).items() if f.whole_nodes and f.gpu and not _divided(f)}
    for unit in org.units if flavors else ():
        for name in unit.budget:
            flavor, entry = flavors.get(name), unit.entries.get(name)
            if flavor is None or entry is None or entry.broken:
                continue
            for number, amounts in entry.written.items():
                for resource, count in amounts.items():
                    if resource in flavor.mains and count % flavor.steps[resource]:
                        yield _partial_node(unit, flavor, number, resource, count)


def _partial_node(unit: Node, flavor: Hardware, number: str, resource: str, count: int) -> Finding:
    size = flavor.steps[resource]
    lower, upper = count // size * size, (count // size + 1) * size
    return Finding(
        NOT_WHOLE_NODES,
        number_path(unit, flavor, number, resource),
        f"`{unit.title}` has a {number} of {amount_of(count, resource)} on `{flavor.name}`, which is given out in "
        f"nodes of {size}",
        f"write {lower} or {upper}" if lower else f"write {upper}",
        (("given out in whole nodes", (*flavor.path, "wholeNodes")),),
    )


def whole_nodes_with_mig(org: Org) -> Iterator[Finding]:
    """A flavor is given out in whole nodes or in slices."""
    for flavor in org.flavors.values():
        if flavor.whole_nodes and flavor.divided:
            yield Finding(
                WHOLE_NODES_WITH_MIG,
                (*flavor.path, "wholeNodes"),
                f"flavor `{flavor.name}` has `wholeNodes: true` and a MIG layout",
                "remove `wholeNodes`, or remove `mig` and give out the GPUs undivided",
                (("the layout", (*flavor.path, "mig")),),
            )


def _divided(flavor: Hardware) -> bool:
    """Whether no pod can take a whole node of it, which is a finding of its own."""
    return flavor.divided or flavor.shares > 1


def whole_nodes_mixed(org: Org) -> Iterator[Finding]:
    """A unit that reaches whole nodes reaches no other flavor with the same GPU resource in that cluster."""
    for whole, other in _side_by_side(org):
        mixed = [] if other.whole_nodes else _reaching_both(org, whole, other)
        if mixed:
            yield Finding(
                WHOLE_NODES_MIXED,
                (*whole.path, "wholeNodes"),
                f"{units_in_words(mixed)} may use `{whole.name}`, in whole nodes, and `{other.name}`: small jobs may "
                f"land on `{whole.name}`",
                f"write {off_text(whole)} in the budget of units (or departments) with small jobs, and "
                f"{off_text(other)} in that of units with large ones",
                (("the other flavor", other.path),),
            )


def whole_nodes_sizes(org: Org) -> Iterator[Finding]:
    """Whole nodes that a unit reaches have one size for each GPU resource."""
    for large, small in _side_by_side(org):
        sizes = large.node[GPUS], small.node[GPUS]
        mixed = _reaching_both(org, large, small) if small.whole_nodes and sizes[0] > sizes[1] else []
        if mixed:
            yield Finding(
                WHOLE_NODES_SIZES,
                (*large.path, "wholeNodes"),
                f"{units_in_words(mixed)} may use `{large.name}`, in nodes of {sizes[0]}, and `{small.name}`, in nodes "
                f"of {sizes[1]}: jobs of {sizes[1]} GPUs may land on `{large.name}`",
                f"write {off_text(large)} in the budget of units (or departments) with jobs of {sizes[1]} GPUs, and "
                f"{off_text(small)} in that of the others",
                (("the smaller nodes", (*small.path, "wholeNodes")),),
            )


def _side_by_side(org: Org) -> Iterator[tuple[Hardware, Hardware]]:
    """Each flavor of whole nodes with each other flavor of the same cluster and GPU resource."""
    flavors = [flavor for flavor in comparable(org).values() if flavor.gpu is not None]
    for whole in (flavor for flavor in flavors if flavor.whole_nodes and not _divided(flavor)):
        for other in flavors:
            if other is not whole and other.cluster == whole.cluster and set(other.mains) & set(whole.mains):
                yield whole, other


def _reaching_both(org: Org, one: Hardware, other: Hardware) -> list[Node]:
    return [unit for unit in org.units if runs_jobs(unit) and unit.reaches(one) and unit.reaches(other)]


RULES: Final = (
    QUOTA_ABOVE_CAPACITY,
    DAEMONS_NOT_STATED,
    NOT_WHOLE_NODES,
    WHOLE_NODES_WITH_MIG,
    WHOLE_NODES_MIXED,
    WHOLE_NODES_SIZES,
)
CHECKS: Final[tuple[Check, ...]] = (
    quota_above_capacity,
    daemons_not_stated,
    not_whole_nodes,
    whole_nodes_with_mig,
    whole_nodes_mixed,
    whole_nodes_sizes,
)
