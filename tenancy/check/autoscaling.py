"""Nodes that come on demand: what makes them, what it must be told, and what cannot be seen of nodes not there yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Finding
from tenancy.check.wording import listed
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Autoscaling
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Org

AUTOSCALING_BOTH: Final = Rule(
    "autoscaling-both",
    Severity.ERROR,
    "Not exactly one autoscaler",
    "With two of them each would start nodes for the same jobs; with none named, no node would come at all.",
)
AUTOSCALING_NEEDS_KUEUE: Final = Rule(
    "autoscaling-needs-kueue",
    Severity.ERROR,
    "Provisioning requests without Kueue",
    "It is Kueue that asks the cluster autoscaler for the nodes of a job. Under another scheduler nobody asks, and "
    "jobs wait for nodes that never come.",
)
AUTOSCALING_LABEL: Final = Rule(
    "autoscaling-label",
    Severity.NOTE,
    "A label that the node group must give its nodes",
    "The cluster autoscaler chooses a node group by the labels that the group gives to its nodes, and jobs of the "
    "flavor select its label. One that is set only on nodes that are there comes too late: no group fits, and no node "
    "ever comes.",
)
PLACEMENT_PACKED: Final = Rule(
    "placement-packed",
    Severity.ERROR,
    "Packed placement where nodes or devices cannot be seen",
    "Packed, a job is admitted when Kueue finds a place for it on nodes that are there, by what its pods request (run "
    "on 0.17.0 and 0.19.2). Karpenter makes nodes for pods that wait, so before a job is admitted there is none; and "
    "devices that pods claim are no part of a place. Such jobs are pending for ever.",
)
PLACEMENT_PLAIN: Final = Rule(
    "placement-plain",
    Severity.NOTE,
    "Jobs are placed by quota alone",
    "Kueue packs jobs onto nodes that are there. Where nodes come on demand it counts quota only, unless it is told "
    "otherwise: jobs are not kept together, free GPUs may lie in pieces, and a job with quota may wait for place.",
)


_PACKED: Final = "`placement: packed`: a job then gets its place once the nodes that Kueue asked for have come"


def one_autoscaler(org: Org) -> Iterator[Finding]:
    """A mapping names exactly one autoscaler, and Kueue is there for the one that it asks."""
    for name, flavor in org.document.flavors.items():
        path: KeyPath = ("flavors", name, "autoscaling")
        if flavor.autoscaling is None or (org.left_out and org.hides(path)):
            continue
        if isinstance(flavor.autoscaling, Autoscaling) and (found := _named(name, flavor.autoscaling, path)):
            yield found
        elif org.flavors[name].autoscaler == "provisioning-request":
            yield from _kueue(org, name, path)
            if flavor.labels is None and flavor.allocation != "dra":
                ((key, value),) = org.flavors[name].labels.items()
                message = f"flavor `{name}`: its node group must label its nodes `{key}: {value}`"
                help_ = (
                    f"let the group do so and write `labels: {{{key}: {value}}}`, or write labels that it gives already"
                )
                yield Finding(AUTOSCALING_LABEL, path, message, help_, at_key=True)


def placement(org: Org) -> Iterator[Finding]:
    """Clusters of Kueue are packed where that can be, and where they are not by themselves, it is said."""
    for name, cluster in org.document.clusters.items():
        if cluster.scheduler != "kueue" or (org.left_out and org.hides(("clusters", name))):
            continue
        flavors = [org.flavors[each] for each in org.document.flavors if org.flavors[each].cluster == name]
        unseen = [flavor for flavor in flavors if flavor.autoscaler == "karpenter" or flavor.claimed]
        coming = [flavor for flavor in flavors if flavor.autoscaler]
        if cluster.placement == "packed" and unseen:
            path: KeyPath = ("clusters", name, "placement")
            whose = listed([flavor.name for flavor in unseen])
            message = f"cluster `{name}` has `placement: packed`, but Kueue cannot see nodes or devices of {whose}"
            help_ = "remove `placement`, or move these flavors to a cluster of their own"
            related = tuple((f"flavor `{flavor.name}`", _reason(flavor)) for flavor in unseen)
            yield Finding(PLACEMENT_PACKED, path, message, help_, related)
        elif cluster.placement is None and coming:
            whose = listed([flavor.name for flavor in coming])
            message = f"cluster `{name}` does not pack jobs, because nodes of {whose} come on demand"
            help_ = f"write `placement: plain` in cluster `{name}` if that is meant, or "
            help_ += "move other flavors to another one" if unseen else _PACKED
            yield Finding(PLACEMENT_PLAIN, (*coming[0].path, "autoscaling"), message, help_, at_key=True)


def _named(name: str, written: Autoscaling, path: KeyPath) -> Finding | None:
    both = written.karpenter is not None and written.provisioning_request is not None
    if not both and (written.karpenter is not None or written.provisioning_request is not None):
        return None
    what = "both `karpenter` and `provisioningRequest`" if both else "neither `karpenter` nor `provisioningRequest`"
    help_ = "keep one of them" if both else "write `autoscaling: karpenter` or `autoscaling: provisioning-request`"
    return Finding(AUTOSCALING_BOTH, path, f"flavor `{name}`: `autoscaling` names {what}", help_, at_key=True)


def _kueue(org: Org, name: str, path: KeyPath) -> Iterator[Finding]:
    cluster = org.flavors[name].cluster
    written = org.document.clusters.get(cluster)
    if written is not None and written.scheduler != "kueue":
        message = (
            f"flavor `{name}` gets its nodes by provisioning requests, but `{written.scheduler}` runs in `{cluster}`"
        )
        help_ = (
            "write `autoscaling: karpenter`, or let `scheduler: kueue` run there; the cluster autoscaler alone, which "
        )
        help_ += "looks at waiting pods, needs no `autoscaling`"
        related = (("the cluster", ("clusters", cluster, "scheduler")),)
        yield Finding(AUTOSCALING_NEEDS_KUEUE, path, message, help_, related, at_key=True)


def _reason(flavor: Hardware) -> KeyPath:
    """The key that says why Kueue cannot see nodes or devices of a flavor."""
    return (*flavor.path, "allocation" if flavor.claimed else "autoscaling")


CHECKS: Final = (one_autoscaler, placement)
RULES: Final = (AUTOSCALING_BOTH, AUTOSCALING_NEEDS_KUEUE, AUTOSCALING_LABEL, PLACEMENT_PACKED, PLACEMENT_PLAIN)
