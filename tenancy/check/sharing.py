"""GPUs in shares: what the device plugin can do, and who may share a GPU with whom.

What is said of the device plugin was read in 0.20.0: `ValidateRequest` in internal/rm/rm.go, `assertReplicas` and
`Daemons` in cmd/mps-control-daemon/mps, `UnmarshalJSON` in api/config/v1/replicas.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import (
    RELATED_AT_MOST,
    amount_of,
    comparable,
    number_path,
    off_text,
    readable_sharing,
    runs_jobs,
    units_in_words,
)
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Flavor
from tenancy.model.document_hardware import FlavorSharing
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node, Org

SHAPE: Final = Rule(
    "sharing-shape",
    Severity.ERROR,
    "Shares of GPUs in no way, in two ways, or in a number that cannot be",
    "Budgets count shares, so there must be one number of them. The device plugin stops on fewer than two, its MPS "
    "daemon on more than it can serve, and the nodes then offer no GPU.",
)
UNSUPPORTED: Final = Rule(
    "sharing-unsupported",
    Severity.ERROR,
    "Shares of something that is no GPU of NVIDIA",
    "NVIDIA's device plugin makes the shares. No node would offer the resource that budgets count, and every job would "
    "wait for ever.",
)
MPS_MIG: Final = Rule(
    "sharing-mps-mig",
    Severity.ERROR,
    "MPS on MIG slices",
    "The device plugin's MPS daemon leaves MIG slices out: pods would be promised a part of the memory that nothing "
    "keeps for them.",
)
WHOLE_NODES: Final = Rule(
    "sharing-whole-nodes",
    Severity.ERROR,
    "Whole nodes of a flavor whose GPUs are shared",
    "A container gets one share of one GPU at most: the device plugin refuses more, so no pod could ever take the GPUs "
    "of a node.",
)
DRA: Final = Rule(
    "sharing-dra",
    Severity.ERROR,
    "Shares of GPUs that are allocated by claims",
    "The device plugin makes the shares, and it does not run where claims hand out the GPUs: no node would offer one.",
)
BY_HAND: Final = Rule(
    "sharing-by-hand",
    Severity.WARNING,
    "Shares that nothing here makes",
    "The shares are a configuration of NVIDIA's device plugin, which is written for the GPU operator. Without it the "
    "nodes go on offering whole GPUs under another name, and every job waits for shares.",
)
ISOLATION: Final = Rule(
    "sharing-isolation",
    Severity.WARNING,
    "Jobs that share GPUs without isolation",
    "Kubernetes counts the shares and nothing more. On the GPU itself time-slicing divides time alone, and MPS memory "
    "and time, but not faults. Who knows that writes `# tenancy: ignore[sharing-isolation]`.",
)
ACROSS_DEPARTMENTS: Final = Rule(
    "sharing-across-departments",
    Severity.ERROR,
    "Departments that share GPUs without isolation",
    "The device plugin puts the shares of one GPU into pods of whoever asks. A job of one department could then end "
    "the jobs of another, or take the memory that they count on, and no quota sees it.",
)

FEWEST: Final = 2
CLIENTS: Final = 48
"""Of MPS on one GPU."""
CLIENTS_OF_VOLTA: Final = 16
"""The device plugin takes compute capability 7.5 for the first with 48 clients, and Volta has 7.0."""


def shares(org: Org) -> Iterator[Finding]:
    """Shares are of NVIDIA's GPUs, in one way, in a number that can be, and beside nothing that rules them out."""
    for name, document in org.document.flavors.items():
        path: KeyPath = ("flavors", name, "sharing")
        if document.sharing is None or (org.left_out and _hidden(org, name)):
            continue
        flavor = org.flavors[name]
        if not flavor.nvidia:
            yield _unsupported(flavor, path)
            continue
        yield from _shape(flavor, document.sharing, path)
        yield from _beside(flavor, document, path)
        yield from _by_hand(org, flavor, path)


def isolation(org: Org) -> Iterator[Finding]:
    """Who shares a GPU is one department, or several that accept it; what they lose is said."""
    for name, flavor in comparable(org).items():
        document = org.document.flavors[name]
        sharing = document.sharing
        if sharing is None or sharing.across_departments or not _possible(flavor, document):
            continue
        units = [unit for unit in org.units if runs_jobs(unit) and _reaches(org, unit, flavor)]
        departments = list(dict.fromkeys(unit.chain()[0] for unit in units))
        if len(departments) > 1:
            yield _across(flavor, sharing, departments)
        elif units:
            yield _isolation(flavor, sharing, units)


def _hidden(org: Org, name: str) -> bool:
    return any(org.hides(("flavors", name, key)) for key in ("sharing", "gpu"))


def _possible(flavor: Hardware, document: Flavor) -> bool:
    """Whether it has no finding of `shares`."""
    return (
        document.sharing is not None
        and flavor.nvidia
        and next(_shape(flavor, document.sharing, ()), None) is None
        and next(_beside(flavor, document, ()), None) is None
    )


def _unsupported(flavor: Hardware, path: KeyPath) -> Finding:
    if flavor.gpu is None:
        message = f"flavor `{flavor.name}` is a CPU flavor, which has no GPU to share"
        return Finding(UNSUPPORTED, path, message, "name the board under `gpu`, or remove `sharing`", at_key=True)
    message = f"flavor `{flavor.name}`: `{flavor.gpu.resource}` is not handed out by NVIDIA's device plugin"
    help_ = "remove `sharing`: where another device plugin makes shares, write their resource under `gpu.resource`"
    return Finding(UNSUPPORTED, path, message, help_, (("the GPU", (*flavor.path, "gpu")),), at_key=True)


def _shape(flavor: Hardware, sharing: FlavorSharing, path: KeyPath) -> Iterator[Finding]:
    """One way, and a number of shares that it can make."""
    written = {"timeSlicing": sharing.time_slicing, "mps": sharing.mps}
    ways = {way: count for way, count in written.items() if count is not None}
    if len(ways) != 1:
        says = "both `timeSlicing` and `mps`" if ways else "neither `timeSlicing` nor `mps`"
        message = f"flavor `{flavor.name}`: `sharing` says {says}"
        help_ = "keep one of them" if ways else "write `sharing: {timeSlicing: 4}`, or `mps`, or remove `sharing`"
        yield Finding(SHAPE, path, message, help_, at_key=True)
        return
    ((way, count),) = ways.items()
    if count < FEWEST:
        message = f"flavor `{flavor.name}`: `{way}: {count}` divides nothing"
        help_ = f"write {FEWEST} or more, or remove `sharing`: GPUs are then handed out whole"
        yield Finding(SHAPE, (*path, way), message, help_)
    most = _clients(flavor)
    if way == "mps" and count > most:
        message = f"flavor `{flavor.name}`: MPS serves {most} clients of a GPU at most, not {count}"
        yield Finding(SHAPE, (*path, way), message, f"write {most} or less, or use `timeSlicing`")


def _clients(flavor: Hardware) -> int:
    return CLIENTS_OF_VOLTA if flavor.gpu and flavor.gpu.family == "Volta" else CLIENTS


def _beside(flavor: Hardware, document: Flavor, path: KeyPath) -> Iterator[Finding]:
    """What a flavor with shares cannot have besides. Shares whose number is broken still rule it out."""
    name, sharing = flavor.name, document.sharing
    if sharing and sharing.mps and readable_sharing(document) and document.mig is not None and _divisible(flavor):
        message = f"flavor `{name}` shares its GPUs by MPS and has a MIG layout"
        help_ = f"write `sharing: {{timeSlicing: {sharing.mps}}}`, or remove `sharing`: the GPUs are divided already"
        yield Finding(MPS_MIG, (*path, "mps"), message, help_, (("the layout", (*path[:2], "mig")),))
    if document.whole_nodes:
        message = f"flavor `{name}` has `wholeNodes: true` and GPUs in shares"
        help_ = "remove `wholeNodes`, or remove `sharing` and hand out the GPUs whole"
        yield Finding(WHOLE_NODES, (*path[:2], "wholeNodes"), message, help_, (("the shares", path),))
    if document.allocation == "dra":
        message = f"flavor `{name}` has `allocation: dra` and GPUs in shares of the device plugin"
        help_ = "remove `sharing`, or write `allocation: device-plugin`"
        yield Finding(DRA, (*path[:2], "allocation"), message, help_, (("the shares", path),))


def _by_hand(org: Org, flavor: Hardware, path: KeyPath) -> Iterator[Finding]:
    cluster = org.document.clusters.get(flavor.cluster)
    if cluster is None or cluster.gpu_operator.installed:
        return
    if _possible(flavor, org.document.flavors[flavor.name]):
        message = (
            f"flavor `{flavor.name}` shares its GPUs, and cluster `{flavor.cluster}` has no GPU operator that would "
            "be told so"
        )
        names = ", ".join(f"`{main}`" for main in flavor.mains)
        help_ = (
            f"see to it that the device plugin offers {names}, or remove `sharing`, or remove `installed: false` there"
        )
        related = (("the cluster", ("clusters", flavor.cluster, "gpuOperator")),)
        yield Finding(BY_HAND, path, message, help_, related, at_key=True)


def _divisible(flavor: Hardware) -> bool:
    return flavor.gpu is not None and bool(flavor.gpu.profiles)


def _reaches(org: Org, unit: Node, flavor: Hardware) -> bool:
    """Whether pods of the unit may come to run there; without a scheduler nobody borrows."""
    cluster = org.document.clusters[flavor.cluster]
    return unit.reaches(flavor) and (cluster.scheduler != "native" or unit.owns(flavor))


def _across(flavor: Hardware, sharing: FlavorSharing, departments: list[Node]) -> Finding:
    main = flavor.mains[0]
    limits = [(unit, unit.entries[flavor.name].amounts[main].limit) for unit in departments]
    related = tuple(
        (f"`{unit.title}` may use {amount_of(limit, main)}", number_path(unit, flavor, "limit", main))
        for unit, limit in limits[:RELATED_AT_MOST]
    )
    way, isolated = _way(sharing), ", or divide the GPUs with `mig`, which isolates" if _divisible(flavor) else ""
    return Finding(
        ACROSS_DEPARTMENTS,
        (*flavor.path, "sharing"),
        f"{units_in_words(departments)} may share GPUs of `{flavor.name}` by {way}, which isolates no "
        f"{'faults' if sharing.mps else 'memory and no faults'}",
        f"keep it to one department: write {off_text(flavor)} in the budget of each other{isolated}; or write "
        "`acrossDepartments: true` under `sharing` if they trust each other",
        related,
        at_key=True,
    )


def _isolation(flavor: Hardware, sharing: FlavorSharing, units: list[Node]) -> Finding:
    """What the pods of these units can do to each other."""
    who, what = units_in_words(units), "slice" if flavor.divided else "GPU"
    if sharing.mps:
        message = (
            f"pods of {who} share GPUs of `{flavor.name}` by MPS: each has {_part(flavor)} and the same part of its "
            f"compute, but a fatal fault of one may end all {sharing.mps}"
        )
    else:
        message = (
            f"pods of {who} share {what}s of `{flavor.name}` by time-slicing: each of {sharing.time_slicing} may take "
            f"all the memory of the {what}, a fault of one may end all, and more shares would give it no more time"
        )
    bounded = not sharing.mps and not flavor.divided and flavor.shares <= _clients(flavor)
    isolates = "unshared slices isolate" if flavor.divided else "`mig` isolates" if _divisible(flavor) else ""
    help_ = (
        f"keep it to jobs that trust each other; {f'`mps: {flavor.shares}` bounds memory, and ' if bounded else ''}"
        f"{isolates or 'whole GPUs isolate'}"
    )
    return Finding(ISOLATION, (*flavor.path, "sharing"), message, help_, at_key=True)


def _part(flavor: Hardware) -> str:
    """What MPS caps the memory of a pod at, as far as the size of the board is known."""
    gib = flavor.gpu.memory_gib if flavor.gpu else 0
    return f"{gib / flavor.shares:.3g} GiB of the GPU's memory" if gib else f"1/{flavor.shares} of the GPU's memory"


def _way(sharing: FlavorSharing) -> str:
    return "MPS" if sharing.mps else "time-slicing"


CHECKS: Final[tuple[Check, ...]] = (shares, isolation)
RULES: Final = (SHAPE, UNSUPPORTED, MPS_MIG, WHOLE_NODES, DRA, BY_HAND, ISOLATION, ACROSS_DEPARTMENTS)
