"""Flavors whose nodes Karpenter makes: what it is told, and what it does not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Finding
from tenancy.check.wording import listed
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Autoscaling, Flavor
from tenancy.model.document_hardware import Karpenter, NodeClass
from tenancy.model.hardware import GPUS, Hardware
from tenancy.model.karpenter import AWS, POOL, aws_gpu, chooses, is_requirement, is_restricted
from tenancy.model.organization import Org
from tenancy.model.syntax import is_dns_subdomain, is_label_key, is_label_value

AUTOSCALING_SYNTAX: Final = Rule(
    "autoscaling-syntax",
    Severity.ERROR,
    "Words for an autoscaler that Kubernetes would refuse",
    "The API server refuses the NodePool, or the configuration of provisioning requests, and no node ever comes.",
)
KARPENTER_LABEL: Final = Rule(
    "karpenter-label",
    Severity.ERROR,
    "A label that no NodePool can have",
    "Karpenter keeps such labels for itself: the API server refuses the NodePool, and no node ever comes.",
)
KARPENTER_REQUIREMENTS: Final = Rule(
    "karpenter-requirements",
    Severity.ERROR,
    "A NodePool that would start any machine",
    "Nothing tells Karpenter which machines the nodes of the flavor are. It takes the cheapest that fits the waiting "
    "pods, of whatever size and board; budgets count nodes as the flavor describes them.",
)
KARPENTER_MIG: Final = Rule(
    "karpenter-mig",
    Severity.WARNING,
    "Devices that Karpenter does not know",
    "Karpenter knows machines by their whole GPUs. For a pod that asks for MIG slices, for shares or by a claim it "
    "starts no node: the job waits for ever unless a node is there already.",
)

_CHOICE: Final = "`karpenter: {requirements: {node.kubernetes.io/instance-type: [...]}}`"


def syntax(org: Org) -> Iterator[Finding]:
    """Names, keys and values are ones that the objects can have."""
    for name, flavor in org.document.flavors.items():
        path: KeyPath = ("flavors", name, "autoscaling")
        if not isinstance(flavor.autoscaling, Autoscaling) or (org.left_out and org.hides(path)):
            continue
        if flavor.autoscaling.karpenter is not None:
            yield from _node_class(name, flavor.autoscaling.karpenter.node_class, (*path, "karpenter", "nodeClass"))
            yield from _requirements(name, flavor.autoscaling.karpenter, (*path, "karpenter", "requirements"))
        request = flavor.autoscaling.provisioning_request
        if request is not None and not is_dns_subdomain(request.provisioning_class):
            message = f"flavor `{name}`: `{request.provisioning_class}` is not the name of a provisioning class"
            help_ = "write a name in lower case such as `check-capacity.autoscaling.x-k8s.io`, or remove it"
            yield Finding(AUTOSCALING_SYNTAX, (*path, "provisioningRequest", "provisioningClass"), message, help_)


def labels(org: Org) -> Iterator[Finding]:
    """Labels and requirements are ones that a NodePool can have."""
    for name, flavor, karpenter in _flavors(org):
        group = karpenter.node_class.group
        own = {POOL: name}
        for key, value in (flavor.labels or {}).items():
            if is_restricted(key, group) and own.get(key) != value:
                yield _restricted(name, key, ("flavors", name, "labels", key))
        for key in karpenter.requirements:
            if is_restricted(key, group):
                yield _restricted(name, key, ("flavors", name, "autoscaling", "karpenter", "requirements", key))


def choice(org: Org) -> Iterator[Finding]:
    """Something says which machines the nodes of a flavor are."""
    for name, flavor, karpenter in _flavors(org):
        hardware, group = org.flavors[name], karpenter.node_class.group
        written = [key for key in flavor.labels or () if is_requirement(key, group)]
        known = group == AWS and hardware.gpu is not None and aws_gpu(hardware.gpu, hardware.node[GPUS])
        if known or any(chooses(key) for key in (*karpenter.requirements, *written)):
            continue
        what = "nothing says which machines its nodes are"
        if group == AWS and hardware.gpu is not None:
            what = f"no machine of AWS is known to have a `{hardware.gpu.name}`"
        message = f"flavor `{name}` gets its nodes from Karpenter, but {what}"
        path: KeyPath = ("flavors", name, "autoscaling")
        yield Finding(KARPENTER_REQUIREMENTS, path, message, f"write {_CHOICE} under `autoscaling`", at_key=True)


def devices(org: Org) -> Iterator[Finding]:
    """Karpenter's nodes hand out whole GPUs by the device plugin."""
    for name, flavor, _ in _flavors(org):
        if (key := _divided(flavor)) is None:
            continue
        path: KeyPath = ("flavors", name, key)
        message = f"flavor `{name}`: Karpenter {_unknown(org.flavors[name])}"
        help_ = "keep these nodes running and remove `autoscaling`, or hand out whole GPUs"
        related = (("Karpenter", ("flavors", name, "autoscaling")),)
        yield Finding(KARPENTER_MIG, path, message, help_, related, at_key=True)


def _flavors(org: Org) -> Iterator[tuple[str, Flavor, Karpenter]]:
    """The flavors whose nodes Karpenter makes, with what it is told."""
    for name, flavor in org.document.flavors.items():
        written = flavor.autoscaling
        if org.flavors[name].autoscaler == "karpenter" and not (org.left_out and org.hides(("flavors", name))):
            said = written.karpenter if isinstance(written, Autoscaling) else None
            yield name, flavor, said or Karpenter()


def _node_class(name: str, said: NodeClass, path: KeyPath) -> Iterator[Finding]:
    for key, value, right in (
        ("group", said.group, is_dns_subdomain(said.group)),
        ("kind", said.kind, said.kind.isalnum()),
        ("name", said.name, is_dns_subdomain(said.name)),
    ):
        if not right:
            message = f"flavor `{name}`: `{value}` is not the {key} of a node class"
            help_ = (
                "write what the object says, such as `{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}`"
            )
            yield Finding(AUTOSCALING_SYNTAX, (*path, key), message, help_)


def _requirements(name: str, said: Karpenter, path: KeyPath) -> Iterator[Finding]:
    for key, values in said.requirements.items():
        if not is_label_key(key):
            message = f"flavor `{name}`: `{key}` is not the key of a node label"
            help_ = "write NAME or DOMAIN/NAME, such as `node.kubernetes.io/instance-type`"
            yield Finding(AUTOSCALING_SYNTAX, (*path, key), message, help_, at_key=True)
        elif not values:
            message = f"flavor `{name}`: the requirement `{key}` allows no value"
            yield Finding(
                AUTOSCALING_SYNTAX, (*path, key), message, "list the values that nodes may have, or remove it"
            )
        for index, value in enumerate(values):
            if not is_label_value(value):
                message = f"flavor `{name}`: `{value}` is not the value of a label"
                help_ = "write letters, digits, `-`, `_` and `.`, at most 63 characters"
                yield Finding(AUTOSCALING_SYNTAX, (*path, key, index), message, help_)


def _restricted(name: str, key: str, path: KeyPath) -> Finding:
    message = f"flavor `{name}`: no node pool can have the label `{key}`"
    if key == POOL:
        help_ = f"remove it: the pool of the flavor is called `{name}`, and Karpenter labels its nodes with that"
    else:
        help_ = "choose nodes by a label of a domain of your own, or leave `labels` out"
    return Finding(KARPENTER_LABEL, path, message, help_, at_key=True)


def _divided(flavor: Flavor) -> str | None:
    """The key by which GPUs are handed out in another way than whole, if there is one."""
    if flavor.allocation == "dra":
        return "allocation"
    return "mig" if flavor.mig else "sharing" if flavor.sharing is not None else None


def _unknown(flavor: Hardware) -> str:
    """What it does not know, in words."""
    whole = flavor.gpu.resource if flavor.gpu else ""
    if any(device.device_class for device in flavor.devices):
        return "starts no node for pods that claim devices"
    if names := [main for main in flavor.mains if main != whole]:
        return f"starts no node for pods that ask for {listed(names, 'or')}"
    return f"counts {flavor.node[GPUS]} `{whole}` in a node, not the slices that it has"


CHECKS: Final = (syntax, labels, choice, devices)
RULES: Final = (AUTOSCALING_SYNTAX, KARPENTER_LABEL, KARPENTER_REQUIREMENTS, KARPENTER_MIG)
