"""GPUs of flavors: boards that exist, MIG layouts that fit on them, and the names of slices."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from tenancy.check import mending
from tenancy.check.finding import Finding
from tenancy.check.wording import comparable, listed, off_text, runs_jobs, units_in_words
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import CustomGpu, Flavor
from tenancy.model.gpus import CATALOGUE, Gpu
from tenancy.model.hardware import GPUS, Hardware, Layout
from tenancy.model.mig import Placement, Refusal, RefusalKind, additions, pack
from tenancy.model.organization import Node, Org
from tenancy.model.syntax import is_dns_subdomain, is_label_key

UNKNOWN_GPU: Final = Rule(
    "unknown-gpu",
    Severity.ERROR,
    "A GPU that the catalogue does not know",
    "The catalogue says which resource the device plugin offers, how much memory there is and what MIG can do; "
    "without it every number that follows from the board would be a guess.",
)
GPUS_PER_NODE_MISSING: Final = Rule(
    "gpus-per-node-missing",
    Severity.ERROR,
    "A GPU flavor without the number of GPUs in a node",
    "The flavor would count no GPU at all: every budget on it would be above what the hardware has.",
)
GPUS_ON_CPU_FLAVOR: Final = Rule(
    "gpus-on-cpu-flavor",
    Severity.ERROR,
    "Nodes with GPUs in a flavor without a GPU",
    "A flavor without `gpu` has no GPU resource: its GPUs would stay outside every quota, and nobody could use them.",
)
WHOLE_NODES_WITHOUT_GPU: Final = Rule(
    "whole-nodes-without-gpu",
    Severity.ERROR,
    "Whole nodes of a flavor without GPUs",
    "Whole nodes are counted by their GPUs. On a CPU flavor the key would have no effect, and somebody would rely on "
    "it.",
)
GPU_RESOURCE: Final = Rule(
    "gpu-resource",
    Severity.ERROR,
    "A GPU resource that no device plugin can offer",
    "Kubernetes takes extended resources only as DOMAIN/NAME outside kubernetes.io; under another name no node "
    "ever offers a GPU, and every job stays pending.",
)
MIG_UNSUPPORTED: Final = Rule(
    "mig-unsupported",
    Severity.ERROR,
    "A MIG layout on a GPU that MIG cannot divide",
    "The MIG manager would fail on every node of the flavor, and the nodes would offer no MIG slice.",
)
MIG_PROFILE_UNKNOWN: Final = Rule(
    "mig-profile-unknown",
    Severity.ERROR,
    "A MIG profile that the board does not have",
    "Profiles are named after the memory of the board, so each board has its own. The MIG manager fails on the "
    "node with a profile that it does not have, and the node is left without GPUs.",
)
MIG_DOES_NOT_FIT: Final = Rule(
    "mig-does-not-fit",
    Severity.ERROR,
    "A MIG layout that does not fit on one GPU",
    "Nothing checks a layout before the driver tries it on the node; when it fails there, after the GPU was "
    "drained, the node is left without GPUs.",
)
MIG_SHARES: Final = Rule(
    "mig-shares",
    Severity.ERROR,
    "MIG layouts that do not divide the GPUs or the nodes",
    "Every GPU of every node has exactly one layout. GPUs that no entry covers would be in no budget, those that "
    "two entries cover would be in two.",
)
MIG_ROOM_LEFT: Final = Rule(
    "mig-room-left",
    Severity.NOTE,
    "A MIG layout that leaves room for another instance",
    "What no instance owns cannot be used by any job: memory and compute of the GPU stay idle.",
)
MIG_SINGLE_STRATEGY: Final = Rule(
    "mig-single-strategy",
    Severity.ERROR,
    "A MIG layout that the strategy `single` cannot offer",
    "Under `single` every slice is called `nvidia.com/gpu`, so all GPUs of a node must be divided into one profile: on "
    "any other node the device plugin stops, and no GPU is offered. Where nodes of one flavor differ, the same quota "
    "would buy slices of either size.",
)
MIG_SINGLE_MIXED: Final = Rule(
    "mig-single-mixed",
    Severity.WARNING,
    "Units that reach slices and other GPUs under one name",
    "Under the strategy `single` a slice is called `nvidia.com/gpu`, as a whole GPU is. A job cannot say which it "
    "means: one that needs a GPU may be given a slice of it, and a small one a whole GPU.",
)
MIG_COHERENT_MEMORY: Final = Rule(
    "mig-coherent-memory",
    Severity.NOTE,
    "A MIG layout on a GPU that shares its memory with the CPU",
    "The driver has a memory mode for such boards (CDMM, since 580.65.06) that is known to conflict with MIG: in that "
    "mode the MIG manager fails, and the nodes offer no slice.",
)

CUSTOM: Final = "gpu: {name: MI300X, memory: 192Gi, resource: amd.com/gpu}"
_SHARES = ("gpus", "nodes")


def boards(org: Org) -> Iterator[Finding]:
    """Boards are in the catalogue or written out, and go together with `node.gpus`."""
    for name, flavor in org.document.flavors.items():
        path: KeyPath = ("flavors", name)
        if isinstance(flavor.gpu, str) and flavor.gpu not in CATALOGUE:
            message = f"flavor `{name}`: the catalogue has no GPU `{flavor.gpu}`"
            near = _nearest_boards(flavor.gpu)
            hint = f"did you mean {listed(near, 'or')}? " if near else ""
            help_ = f"{hint}`tenancy gpus` lists all; hardware that it does not know is written out: `{CUSTOM}`"
            edits = mending.write((*path, "gpu"), near[0]) if len(near) == 1 else ()
            yield Finding(UNKNOWN_GPU, (*path, "gpu"), message, help_, edits=edits)
        if isinstance(flavor.gpu, CustomGpu) and (fault := _resource_fault(flavor.gpu.resource)):
            message = f"flavor `{name}`: `{flavor.gpu.resource}` {fault}"
            help_ = "write the name that the nodes show under `allocatable`, such as `amd.com/gpu`"
            yield Finding(GPU_RESOURCE, (*path, "gpu", "resource"), message, help_)
        yield from _gpus_per_node(org, name, flavor, path)


def layouts(org: Org) -> Iterator[Finding]:
    """MIG layouts fit on the board and divide the GPUs or the nodes of the flavor."""
    for name, flavor in org.document.flavors.items():
        gpu = org.flavors[name].gpu
        unknown = isinstance(flavor.gpu, str) and flavor.gpu not in CATALOGUE
        path: KeyPath = ("flavors", name, "mig")
        if flavor.mig is None or unknown or org.hides((*path[:2], "gpu")) or org.hides(path):
            continue
        if gpu is None or not gpu.profiles:
            what = f"`{gpu.name}` cannot be divided by MIG" if gpu else "a CPU flavor has no GPU that MIG could divide"
            help_ = "remove `mig`; `tenancy gpus` shows which boards have it" if gpu else "name the board under `gpu`"
            yield Finding(MIG_UNSUPPORTED, path, f"flavor `{name}`: {what}", help_, at_key=True)
            continue
        if isinstance(flavor.mig, list):
            yield from _shares(org, name, flavor, flavor.mig, path)
        for layout in org.flavors[name].layouts:
            if layout.profiles or not isinstance(flavor.mig, list):
                yield from _layout(name, gpu, layout)


def single_strategy(org: Org) -> Iterator[Finding]:
    """Where every slice is called `nvidia.com/gpu`, a MIG flavor has slices of one profile and nothing else.

    The device plugin demands it of a node (reference of strategies, k8s-device-plugin 0.20); quotas demand it of the
    flavor, because they count one resource.
    """
    for flavor in org.flavors.values():
        keys, path = under_single(org, flavor), (*flavor.path, "mig")
        if len(keys) < 2 or org.hides(path):
            continue
        profiles = listed([key for key in keys if key != GPUS])
        whole = "whole GPUs and " if GPUS in keys else ""
        message = (
            f"flavor `{flavor.name}` offers {whole}{profiles}, but cluster `{flavor.cluster}` has the strategy `single`"
        )
        help_ = "write `migStrategy: mixed`, which names each profile, or give every GPU of the flavor one profile"
        where = ("clusters", flavor.cluster, "gpuOperator", "migStrategy")
        yield Finding(MIG_SINGLE_STRATEGY, path, message, help_, (("the strategy", where),), at_key=True)


def single_mixed(org: Org) -> Iterator[Finding]:
    """Under the strategy `single` no unit reaches slices beside anything else of the same name."""
    flavors = [flavor for flavor in comparable(org).values() if flavor.gpu is not None]
    sliced = {flavor.name: keys for flavor in flavors if len(keys := under_single(org, flavor)) == 1}
    clear = [flavor for flavor in flavors if len(under_single(org, flavor)) < 2]
    for flavor in (flavor for flavor in clear if flavor.name in sliced):
        for other in clear:
            same = other.cluster != flavor.cluster or sliced.get(other.name) == sliced[flavor.name]
            seen = other.name in sliced and other.name <= flavor.name
            if same or seen or not set(other.mains) & set(flavor.mains):
                continue
            reaching = [unit for unit in org.units if runs_jobs(unit) and unit.reaches(flavor) and unit.reaches(other)]
            if reaching:
                yield _side_by_side(flavor, sliced[flavor.name][0], other, reaching)


def coherent_memory(org: Org) -> Iterator[Finding]:
    """A layout on a board with coherent memory depends on how the driver is set."""
    for flavor in org.flavors.values():
        path: KeyPath = (*flavor.path, "mig")
        if flavor.gpu is None or not flavor.gpu.coherent or not flavor.divided or org.hides(path):
            continue
        message = f"flavor `{flavor.name}`: MIG on `{flavor.gpu.name}` depends on the memory mode of the driver"
        help_ = "see that its nodes do not run with `NVreg_CoherentGPUMemoryMode=driver`"
        yield Finding(MIG_COHERENT_MEMORY, path, message, help_, at_key=True)


def under_single(org: Org, flavor: Hardware) -> tuple[str, ...]:
    """What a flavor with divided GPUs offers in a cluster with the strategy `single`; nothing elsewhere."""
    cluster = org.document.clusters.get(flavor.cluster)
    if cluster is None or cluster.gpu_operator.mig_strategy != "single" or not flavor.divided:
        return ()
    return tuple(device.key for device in flavor.devices if not device.device_class)


def _side_by_side(flavor: Hardware, profile: str, other: Hardware, units: list[Node]) -> Finding:
    return Finding(
        MIG_SINGLE_MIXED,
        (*flavor.path, "mig"),
        f"{units_in_words(units)} may use `{flavor.name}`, in slices of `{profile}`, and `{other.name}`, both as "
        f"`{flavor.mains[0]}`",
        f"write `migStrategy: mixed` in cluster `{flavor.cluster}`, or {off_text(flavor)} in the budget of units (or "
        f"departments) that need whole GPUs, and {off_text(other)} in that of the others",
        (("the other flavor", other.path),),
        at_key=True,
    )


def _gpus_per_node(org: Org, name: str, flavor: Flavor, path: KeyPath) -> Iterator[Finding]:
    gpus, gpu = (*path, "node", "gpus"), (*path, "gpu")
    if org.left_out and (org.hides(gpu) or org.hides(gpus)):
        return
    if flavor.gpu is not None and flavor.node.gpus is None:
        message = f"flavor `{name}` has a GPU, but `node` does not say how many there are in a node"
        yield Finding(GPUS_PER_NODE_MISSING, (*path, "node"), message, "add `gpus:` to `node`, such as `gpus: 8`")
    if flavor.gpu is None and flavor.node.gpus is not None:
        message = f"flavor `{name}` has no `gpu`, but {flavor.node.gpus} GPUs in a node"
        help_ = f"name the board, such as `gpu: H100-SXM-80GB` or `{CUSTOM}`, or remove `gpus` from `node`"
        yield Finding(GPUS_ON_CPU_FLAVOR, gpus, message, help_)
    if flavor.gpu is None and flavor.whole_nodes:
        message = f"flavor `{name}` has `wholeNodes: true`, but no GPU"
        at = (*path, "wholeNodes")
        yield Finding(WHOLE_NODES_WITHOUT_GPU, at, message, "remove `wholeNodes`", edits=mending.leave_out(at))


def _nearest_boards(text: str) -> list[str]:
    """Boards with that product name, then those that start alike, then those that are spelled alike."""
    wanted = text.upper().replace(" ", "-").replace("_", "-").removeprefix("NVIDIA-")
    near = [name for name, gpu in CATALOGUE.items() if text in gpu.products]
    near = near or [name for name in CATALOGUE if name.startswith(wanted)]
    return (near or get_close_matches(wanted, CATALOGUE, 3, 0.5))[:4]


def _resource_fault(resource: str) -> str:
    """What keeps the text from being an extended resource; empty where it is one."""
    prefix, slash, name = resource.partition("/")
    if not slash:
        return "has no domain before a slash"
    if prefix == "kubernetes.io" or prefix.endswith(".kubernetes.io"):
        return "is in the domain kubernetes.io, which is reserved"
    if len(name) > 63:
        return f"has {len(name)} characters after the slash, 63 are allowed"
    if resource.startswith("requests.") or not is_dns_subdomain(prefix) or not is_label_key(resource):
        return "is not of the form DOMAIN/NAME"
    return ""


def _layout(name: str, gpu: Gpu, layout: Layout) -> Iterator[Finding]:
    found = pack(gpu, layout.profiles)
    if isinstance(found, Placement):
        room = [profile for profile in additions(gpu, layout.profiles) if gpu.profiles[profile].plain]
        if room:
            most = max(room, key=lambda profile: gpu.profiles[profile].size)
            message = f"flavor `{name}`: one more `{most}` fits on every GPU"
            yield Finding(MIG_ROOM_LEFT, layout.path, message, f"add one of {listed(room, 'or')}", at_key=True)
        return
    rule = MIG_DOES_NOT_FIT
    if found.kind in (RefusalKind.UNKNOWN_PROFILE, RefusalKind.COMPUTE_INSTANCE):
        rule = MIG_PROFILE_UNKNOWN
    path = (*layout.path, found.profile) if found.profile else layout.path
    yield Finding(rule, path, f"flavor `{name}`: {found.reason}", _help(found), at_key=True)


def _help(refusal: Refusal) -> str:
    if refusal.kind is RefusalKind.UNKNOWN_PROFILE and refusal.profile in _SHARES:
        return f"`{refusal.profile}` belongs to a list of layouts: `mig: [{{{refusal.profile}: 4, ...}}, ...]`"
    return refusal.help


def _shares(org: Org, name: str, flavor: Flavor, parts: list[dict[str, int]], path: KeyPath) -> Iterator[Finding]:
    """Either all entries say `gpus` or all say `nodes`; one entry alone may leave it out."""
    said = [[key for key in _SHARES if key in part] for part in parts]
    if not parts or (len(parts) == 1 and not said[0]):
        if not parts:
            message = f"flavor `{name}`: the list of MIG layouts is empty"
            yield Finding(MIG_SHARES, path, message, "name a layout, or remove `mig`", at_key=True)
        return
    share = next((keys[0] for keys in said if keys), "gpus")
    for index, keys in enumerate(said):
        if keys != [share]:
            what = f"says {' and '.join(f'`{key}`' for key in keys)}" if keys else f"does not say `{share}`"
            message = f"flavor `{name}`: entry {index + 1} of `mig` {what}"
            help_ = "let every entry say `gpus` (of each node), or every entry `nodes` (of the flavor)"
            yield Finding(MIG_SHARES, (*path, index), message, help_)
            return
    few = next((index for index, part in enumerate(parts) if part[share] < 1), None)
    if few is not None:
        message = f"flavor `{name}`: entry {few + 1} of `mig` covers {parts[few][share]} {share}"
        yield Finding(MIG_SHARES, (*path, few, share), message, "write 1 or more, or remove the entry")
        return
    whole = flavor.node.gpus if share == "gpus" else flavor.nodes
    total = sum(part[share] for part in parts)
    if whole is not None and total != whole and not org.hides((*path[:2], "node", "gpus")):
        of = f"a node has {whole} GPUs" if share == "gpus" else f"the flavor has {whole} nodes"
        message = f"flavor `{name}`: the MIG layouts cover {total} {'GPUs' if share == 'gpus' else share}, but {of}"
        shares = " + ".join(str(part[share]) for part in parts)
        help_ = f"make `{share}` of the entries ({shares}) come to {whole}; an entry without profiles keeps whole GPUs"
        yield Finding(MIG_SHARES, path, message, help_, at_key=True)


CHECKS: Final = (boards, layouts, single_strategy, single_mixed, coherent_memory)
RULES: Final = (
    UNKNOWN_GPU,
    GPUS_PER_NODE_MISSING,
    GPUS_ON_CPU_FLAVOR,
    WHOLE_NODES_WITHOUT_GPU,
    GPU_RESOURCE,
    MIG_UNSUPPORTED,
    MIG_PROFILE_UNKNOWN,
    MIG_DOES_NOT_FIT,
    MIG_SHARES,
    MIG_ROOM_LEFT,
    MIG_SINGLE_STRATEGY,
    MIG_SINGLE_MIXED,
    MIG_COHERENT_MEMORY,
)
