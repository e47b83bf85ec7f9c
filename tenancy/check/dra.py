"""Flavors whose GPUs are allocated by claims (dynamic resource allocation): what there can be promised of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import known_board, listed
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import CustomGpu, Flavor
from tenancy.model.hardware import HOSTNAME, Hardware
from tenancy.model.organization import Org
from tenancy.model.versions import kueue_minor, number

SCHEDULER: Final = Rule(
    "dra-scheduler",
    Severity.ERROR,
    "Claims under a scheduler that keeps no promise of them",
    "Volcano 1.15 holds claims to the `capability` of a queue alone, where 0 means no limit; what a queue deserves of "
    "a device class, or is guaranteed, it reads and never uses, so nothing that was lent comes back "
    "(pkg/scheduler/plugins/capacity), and 1.14 does not count claims. Kueue 0.17 lets them pass its quotas, unless an "
    "alpha gate is on.",
)
BOARD: Final = Rule(
    "dra-board",
    Severity.ERROR,
    "Claims of something that is no GPU of NVIDIA's driver",
    "A device class selects devices by what the driver says of them. That is known of NVIDIA's driver and the boards "
    "of the catalogue; a class that selects nothing leaves every job pending.",
)
WHOLE_NODES: Final = Rule(
    "dra-whole-nodes",
    Severity.ERROR,
    "Whole nodes of a flavor whose GPUs are allocated by claims",
    "The number of GPUs stands in the claim and not in the pod, which only names a template: no admission policy can "
    "see that a pod takes a part of a node.",
)
TOPOLOGY: Final = Rule(
    "dra-topology",
    Severity.WARNING,
    "A topology in a cluster where GPUs are allocated by claims",
    "Kueue's topology-aware scheduling counts the resources of pods, and the GPUs of a claim are none: the cluster has "
    "plain placement, its levels have no effect, and jobs are spread over racks.",
)
TOO_MANY: Final = Rule(
    "dra-too-many",
    Severity.ERROR,
    "More device classes than Kueue can count",
    "Kueue takes at most 16 `deviceClassMappings`, one for each board or MIG profile here; with more its manager does "
    "not start, and no job of the cluster is admitted.",
)
CLASS_NAME: Final = Rule(
    "dra-class-name",
    Severity.ERROR,
    "A device class with a name that is too long",
    "Kueue takes the names of device classes for label keys, of at most 63 characters, and does not start with a "
    "longer one; nor can a ResourceQuota count what pods get of such a class without a claim.",
)
MIXED: Final = Rule(
    "dra-mixed",
    Severity.WARNING,
    "GPUs of the device plugin and of claims in one cluster",
    "Where both run on a node, one GPU is handed to two pods, and NVIDIA supports one of the two in a cluster. Only a "
    "label of the nodes keeps the operator's device plugin away (`nvidia.com/gpu.deploy.device-plugin`), and the "
    "operator's validator then waits there for a resource that never comes. Without the operator nothing does.",
)
PROVISIONING: Final = Rule(
    "dra-provisioning-request",
    Severity.ERROR,
    "Provisioning requests for GPUs that are allocated by claims",
    "The pods for which the cluster autoscaler looks for nodes are not there yet, and so their claims are not either: "
    "it finds no capacity, whatever there is (kubernetes/autoscaler#10065), and no job ever starts.",
)

MOST_MAPPINGS: Final = 16
"""Kueue's `deviceClassMappings` (pkg/config/validation.go)."""
LONGEST: Final = 63
"""The name part of a label key, which has no slash here."""
FIRST_KUEUE: Final = "0.18"


def claims(org: Org) -> Iterator[Finding]:
    """Claims are counted by the scheduler, are of NVIDIA's GPUs, and stand beside nothing that they rule out."""
    for name, document in org.document.flavors.items():
        path: KeyPath = ("flavors", name)
        if document.allocation != "dra" or (org.left_out and _hidden(org, name)):
            continue
        flavor = org.flavors[name]
        yield from _scheduler(org, flavor)
        if not _published(flavor, document):
            yield from _board(flavor, document)
            continue
        if document.whole_nodes:
            message = f"flavor `{name}` has `wholeNodes: true`, and its GPUs are allocated by claims"
            help_ = "remove `wholeNodes`, or write `allocation: device-plugin`"
            yield Finding(WHOLE_NODES, (*path, "wholeNodes"), message, help_, _claimed(flavor))
        if flavor.autoscaler == "provisioning-request":
            message = f"flavor `{name}` gets its nodes by provisioning requests, and its GPUs are allocated by claims"
            help_ = "remove `autoscaling` and write the nodes that are there, or write `allocation: device-plugin`"
            yield Finding(PROVISIONING, (*path, "autoscaling"), message, help_, _claimed(flavor), at_key=True)
        yield from _names(flavor)


def clusters(org: Org) -> Iterator[Finding]:
    """Each cluster has as many classes as Kueue counts, and one way to hand out GPUs."""
    for name, cluster in org.document.clusters.items():
        flavors = [org.flavors[each] for each in org.document.flavors if org.flavors[each].cluster == name]
        claimed = [each for each in flavors if each.claimed and _published(each, org.document.flavors[each.name])]
        plugged = [each for each in flavors if each.nvidia and not each.claimed]
        classes = {device.device_class for each in claimed for device in each.devices}
        if claimed and cluster.scheduler == "kueue" and cluster.placement is None:
            yield from _topologies(org, flavors, claimed)
        if cluster.scheduler == "kueue" and len(classes) > MOST_MAPPINGS:
            message = f"cluster `{name}` has {len(classes)} device classes"
            help_ = f"keep {MOST_MAPPINGS} boards and MIG profiles, or hand out some flavors by the device plugin"
            yield Finding(TOO_MANY, ("clusters", name), message, help_, _each(claimed), at_key=True)
        if claimed and plugged:
            by_plugin, by_claims = (listed([each.name for each in part]) for part in (plugged, claimed))
            message = f"cluster `{name}` hands out GPUs of {by_plugin} by the device plugin, of {by_claims} by claims"
            own = "" if cluster.gpu_operator.installed else ", or keep the device plugin's DaemonSet off these nodes"
            help_ = f"allocate all flavors of a cluster in one way{own}"
            yield Finding(MIXED, ("clusters", name), message, help_, _each(claimed), at_key=True)


def _topologies(org: Org, flavors: list[Hardware], claimed: list[Hardware]) -> Iterator[Finding]:
    """Levels above the node, of whatever flavor. With `placement: plain` they have a finding of their own."""
    for flavor in flavors:
        path: KeyPath = (*flavor.path, "topology")
        written = org.document.flavors[flavor.name].topology
        if any(level != HOSTNAME for level in written or ()) and not (org.left_out and org.hides(path)):
            own = flavor.claimed
            whose = "its GPUs" if own else f"GPUs of {listed([each.name for each in claimed])} in its cluster"
            message = f"flavor `{flavor.name}` has a topology, and {whose} are allocated by claims"
            other = "write `allocation: device-plugin`" if own else "give these flavors a cluster of their own"
            yield Finding(TOPOLOGY, path, message, f"remove `topology`, or {other}", _each(claimed), at_key=True)


def _hidden(org: Org, name: str) -> bool:
    return any(org.hides(("flavors", name, key)) for key in ("allocation", "gpu", "mig"))


def _published(flavor: Hardware, document: Flavor) -> bool:
    """Whether NVIDIA's driver publishes the board under a name that is known."""
    return flavor.gpu is not None and not isinstance(document.gpu, CustomGpu) and bool(flavor.gpu.products)


def _claimed(flavor: Hardware) -> tuple[tuple[str, KeyPath], ...]:
    return (("the claims", (*flavor.path, "allocation")),)


def _each(flavors: list[Hardware]) -> tuple[tuple[str, KeyPath], ...]:
    return tuple((f"claims of `{flavor.name}`", (*flavor.path, "allocation")) for flavor in flavors[:6])


def _scheduler(org: Org, flavor: Hardware) -> Iterator[Finding]:
    cluster = org.document.clusters.get(flavor.cluster)
    if cluster is None:
        return
    path: KeyPath = (*flavor.path, "allocation")
    versions: KeyPath = ("clusters", flavor.cluster, "versions")
    if cluster.scheduler == "volcano":
        message = f"flavor `{flavor.name}` is allocated by claims, of which Volcano keeps no promise"
        help_ = "write `allocation: device-plugin`, or `scheduler: kueue` for the cluster"
        yield Finding(SCHEDULER, path, message, help_, (("the scheduler", (*versions[:2], "scheduler")),))
    minor = kueue_minor(cluster.versions)
    if cluster.scheduler == "kueue" and number(minor) < number(FIRST_KUEUE):
        message = f"flavor `{flavor.name}` is allocated by claims, and Kueue {minor} does not count them"
        help_ = f'write "{FIRST_KUEUE}" or newer under `versions.kueue`, or `allocation: device-plugin`'
        yield Finding(SCHEDULER, path, message, help_, (("the version", (*versions, "kueue")),))


def _board(flavor: Hardware, document: Flavor) -> Iterator[Finding]:
    """An unknown board has a finding of its own."""
    path: KeyPath = (*flavor.path, "allocation")
    if flavor.gpu is None:
        message = f"flavor `{flavor.name}` is a CPU flavor, which has no GPU to allocate"
        yield Finding(BOARD, path, message, "name the board under `gpu`, or remove `allocation`")
    elif known_board(document):
        message = f"flavor `{flavor.name}`: what a driver publishes of `{flavor.gpu.name}` is not known"
        help_ = "remove `allocation`: its device plugin hands out the GPUs, and budgets count them"
        yield Finding(BOARD, path, message, help_, (("the GPU", (*flavor.path, "gpu")),))


def _names(flavor: Hardware) -> Iterator[Finding]:
    long = [device.device_class for device in flavor.devices if len(device.device_class) > LONGEST]
    if long:
        name = max(long, key=len)
        message = f"flavor `{flavor.name}`: the device class `{name}` has {len(name)} characters of at most {LONGEST}"
        help_ = f"write a `domain` that is shorter by {len(name) - LONGEST}, or `allocation: device-plugin`"
        yield Finding(CLASS_NAME, (*flavor.path, "allocation"), message, help_, (("the domain", ("domain",)),))


CHECKS: Final[tuple[Check, ...]] = (claims, clusters)
RULES: Final = (SCHEDULER, BOARD, WHOLE_NODES, TOPOLOGY, TOO_MANY, CLASS_NAME, MIXED, PROVISIONING)
