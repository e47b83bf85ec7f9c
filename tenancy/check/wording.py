"""What checks share: amounts and names in words, the place of a number, and whether a flavor can be compared at all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches

from tenancy.diagnostics import KeyPath
from tenancy.model.devices import SHARED
from tenancy.model.document import CpuAndMemory, CustomGpu, Flavor, Triple
from tenancy.model.gpus import CATALOGUE, MIG_RESOURCE_PREFIX
from tenancy.model.hardware import CPU, GPUS, MEMORY, Hardware, amount
from tenancy.model.organization import Node, Org
from tenancy.model.quantity import LARGEST, canonical, human

RELATED_AT_MOST = 6
"""Places shown beside a finding: more would hide the finding itself."""
_CLAIMED = re.compile(r"[^/]+/.+?-(?P<profile>\d+g\.\d+gb\S*)")


def amount_of(count: int, resource: str) -> str:
    """`24 GPUs`, "8 slices of `1g.10gb`", `32 GPU shares`, `500 cores`, `2000 GiB of memory`."""
    if resource == CPU:
        return human(count, resource)
    if resource == MEMORY:
        return f"{human(count, resource)} of memory"
    whole, plural = resource.removesuffix(SHARED), "" if count == 1 else "s"
    part = "slice" if whole == resource else "share"
    if profile := _profile(whole):
        return f"{count} {part}{plural} of `{profile}`"
    return f"{count} GPU{plural}" if whole == resource else f"{count} GPU share{plural}"


def node_count(count: int) -> str:
    """`1 node`, `2 nodes`."""
    return "1 node" if count == 1 else f"{count} nodes"


def _profile(resource: str) -> str:
    """The MIG profile in the name of a resource, also of one that is counted in claims; empty for whole GPUs."""
    if resource.startswith(MIG_RESOURCE_PREFIX):
        return resource.removeprefix(MIG_RESOURCE_PREFIX)
    claimed = _CLAIMED.fullmatch(resource)
    return claimed["profile"] if claimed else ""


def key_of(flavor: Hardware, resource: str) -> str:
    """The key of a budget that means `resource`."""
    return next((key for key, name in flavor.names.items() if name == resource), resource)


def entry_text(flavor: Hardware, resource: str, count: int) -> str:
    """What to write in a budget for `count` of a resource, as `h100: 24` or `a100-mig: {1g.10gb: 8}`."""
    shown = canonical(max(0, min(count, LARGEST)), resource)
    key = key_of(flavor, resource)
    return f"`{flavor.name}: {shown}`" if key == GPUS else f"`{flavor.name}: {{{key}: {shown}}}`"


def off_text(flavor: Hardware) -> str:
    """What to write in a budget to keep a unit off a flavor, as `h100: {limit: 0}`."""
    keys = [key_of(flavor, main) for main in flavor.mains]
    none = "0" if keys == [GPUS] else f"{{{', '.join(f'{key}: 0' for key in keys)}}}"
    return f"`{flavor.name}: {{limit: {none}}}`"


def number_path(unit: Node, flavor: Hardware, number: str, resource: str) -> KeyPath:
    """The place of one number of a budget entry, as exact as it was written; of the unit where it says nothing."""
    entry = unit.entries[flavor.name]
    said = unit.budget.get(flavor.name)
    if said is None:
        return entry.path
    path: KeyPath = entry.path
    if isinstance(said, Triple):
        value = getattr(said, number)
        if value is None:
            return path
        path = (*path, number)
    elif number != "quota":
        return path
    else:
        value = said
    if isinstance(value, dict):
        key = next((key for key in value if flavor.names.get(key) == resource), None)
        return (*path, key) if key is not None else path
    return path


def policy_path(unit: Node, key: str) -> KeyPath:
    """Where the policy in force for a unit was written: at itself or the nearest unit above that says it."""
    node: Node | None = unit
    camel = {"borrowing_preemption": "borrowingPreemption"}.get(key, key)
    while node is not None and node.document is not None:
        if getattr(node.document.policy, key) is not None:
            return (*node.path, "policy", camel)
        node = node.parent
    return ("policy", camel)


def derivation(unit: Node, flavor: Hardware, number: str, resource: str) -> str:
    """How an amount that nobody wrote follows from GPUs, as ` (23.75 cores for each of its 24 GPUs)`; else empty."""
    entry = unit.entries[flavor.name]
    if flavor.is_cpu or resource not in (CPU, MEMORY) or resource in entry.written.get(number, {}):
        return ""
    parts = [
        f"{amount_of(each[resource], resource)} for each of its {amount_of(count, main)}"
        for main, each in flavor.follows.items()
        if (count := getattr(entry.amounts[main], number))
    ]
    return f" ({', '.join(parts)})" if parts else ""


def following(flavor: Hardware, resource: str, units: Iterable[Node]) -> str:
    """What explains the sum of the units' quotas, if all follow from GPUs: ` (23.75 cores follow each GPU)`."""
    if flavor.is_cpu or resource not in (CPU, MEMORY):
        return ""
    if any(resource in unit.entries[flavor.name].written.get("quota", {}) for unit in units):
        return ""
    if len(flavor.follows) != 1:
        return " (with what follows their slices)"
    ((main, each),) = flavor.follows.items()
    return f" ({amount_of(each[resource], resource)} follow each {amount_of(1, main).removeprefix('1 ')})"


def breaking(flavor: Hardware, broken: Collection[str]) -> list[str]:
    """The main resources for which a law is broken; else the first of cpu and memory, which follow from them."""
    mains = [resource for resource in flavor.mains if resource in broken]
    return (
        mains or [resource for resource in flavor.resources if resource not in flavor.mains and resource in broken][:1]
    )


def largest_first(
    units: Iterable[Node], flavor: Hardware, number: str, resource: str
) -> tuple[tuple[str, KeyPath], ...]:
    """The units with their amounts as related places, the largest first; a few of many."""
    amounts = [(getattr(unit.entries[flavor.name].amounts[resource], number), unit) for unit in units]
    amounts = sorted((pair for pair in amounts if pair[0]), key=lambda pair: (-pair[0], pair[1].names))
    shown = [
        (f"`{unit.title}`: {amount_of(count, resource)}", number_path(unit, flavor, number, resource))
        for count, unit in amounts[:RELATED_AT_MOST]
    ]
    if len(amounts) > len(shown):
        label, path = shown[-1]
        shown[-1] = (f"{label}, and {len(amounts) - len(shown)} more units with less", path)
    return tuple(shown)


def by_flavor(parent: Node) -> dict[str, list[Node]]:
    """The children that say something, by the flavor they speak of; the others have a quota of 0."""
    found: dict[str, list[Node]] = {}
    for child in parent.children:
        for name in child.budget:
            if name in child.entries:
                found.setdefault(name, []).append(child)
    return found


def comparable(org: Org) -> dict[str, Hardware]:
    """The flavors whose numbers could all be read: laws about others would repeat the finding about the flavor."""
    return {name: flavor for name, flavor in org.flavors.items() if _comparable(org, flavor)}


def _comparable(org: Org, flavor: Hardware) -> bool:
    document = org.document.flavors[flavor.name]
    if org.left_out and org.hides(flavor.path):
        return False
    if document.cluster is not None and document.cluster not in org.document.clusters:
        return False
    unread = any(
        value is not None and amount(value, resource) is None for _, value, resource in flavor_quantities(document)
    )
    spare = document.nodes > 0 and any(layout.nodes <= document.spare_nodes for layout in flavor.layouts)
    spare = spare or document.spare_nodes >= document.nodes > 0
    readable = known_board(document) and readable_layout(flavor) and readable_sharing(document)
    return not (unread or spare) and readable and _has_size(flavor)


def _has_size(flavor: Hardware) -> bool:
    """Whether a node leaves jobs something of all that it should have, and something of it to each GPU or slice."""
    sizes = [flavor.node[resource] for resource in ((CPU, MEMORY) if flavor.is_cpu else (CPU, MEMORY, GPUS))]
    return all(sizes) and all(amount for follows in flavor.follows.values() for amount in follows.values())


def readable_layout(flavor: Hardware) -> bool:
    """Whether the MIG layout makes instances of profiles of the board: else its own finding says enough."""
    if flavor.gpu is None:
        return True
    known = all(profile in flavor.gpu.profiles for layout in flavor.layouts for profile in layout.profiles)
    counts = [layout.profiles.values() for layout in flavor.layouts if layout.profiles]
    return known and bool(flavor.layouts) and all(min(each) >= 0 and any(each) for each in counts)


def readable_sharing(document: Flavor) -> bool:
    """Whether `sharing` says one way and a number of shares, if anything: else its own finding says enough."""
    if document.sharing is None:
        return True
    written = [count for count in (document.sharing.time_slicing, document.sharing.mps) if count is not None]
    return len(written) == 1 and written[0] > 1


def known_board(document: Flavor) -> bool:
    """Whether the GPU of a flavor is in the catalogue, or described with a resource of its own, or there is none."""
    if isinstance(document.gpu, CustomGpu):
        return "/" in document.gpu.resource
    if document.gpu is None:
        return document.node.gpus is None and document.mig is None
    return document.gpu in CATALOGUE


def flavor_quantities(document: Flavor) -> Iterator[tuple[KeyPath, object, str]]:
    """Every quantity of a flavor but its price: path inside the flavor, value (None: not written), resource."""
    sizes = (("node", document.node), ("perGpu", document.per_gpu), ("daemons", document.daemons or CpuAndMemory()))
    for key, size in sizes:
        yield (key, "cpu"), size.cpu, CPU
        yield (key, "memory"), size.memory, MEMORY
    if isinstance(document.gpu, CustomGpu):
        yield ("gpu", "memory"), document.gpu.memory, MEMORY


def runs_jobs(unit: Node) -> bool:
    """Whether the unit has a queue in which jobs wait, rather than units with queues of their own only."""
    if unit.kind == "team":
        return not unit.inner or any(not child.budget for child in unit.children)
    return unit.kind == "project" and bool(unit.budget)


def under_kueue(org: Org, cluster: str) -> bool:
    """Whether Kueue runs in the cluster; one that does not exist counts, it has a finding of its own."""
    document = org.document.clusters.get(cluster)
    return document is None or document.scheduler == "kueue"


def in_kueue(org: Org, unit: Node) -> bool:
    """Whether Kueue runs in some cluster of the unit."""
    return not unit.clusters or any(under_kueue(org, cluster) for cluster in unit.clusters)


def listed(names: list[str] | tuple[str, ...], last: str = "and") -> str:
    """Names in backticks as people list them: `a`, `b` and `c`."""
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}" if quoted else ""


_LONGEST_NAME = 253


def nearest(text: str, known: list[str] | tuple[str, ...], most: int = 1) -> str:
    """`did you mean ...? ` with a blank at its end, or nothing where no known name is near.

    A text that is longer than any name is compared with none: the cost grows with the square of the length.
    """
    near = get_close_matches(text, known, most, 0.6) if len(text) <= _LONGEST_NAME else []
    return f"did you mean {listed(near, 'or')}? " if near else ""


def units_in_words(units: list[Node]) -> str:
    """The titles of a few units, and how many more there are."""
    if len(units) > 3:
        return f"{', '.join(f'`{unit.title}`' for unit in units[:3])} and {len(units) - 3} more"
    return listed([unit.title for unit in units])
