"""What a comparison of declared and running nodes may find. Each is a fact about nodes, placed at the flavor."""

from __future__ import annotations

from typing import Final

from tenancy.diagnostics import Rule, Severity

NODES_MISSING: Final = Rule(
    "nodes-missing",
    Severity.ERROR,
    "Fewer nodes than budgets count on",
    "Budgets promise what is not there: jobs within their quota wait for nodes, and not all quotas can be kept at the "
    "same time.",
)
NODES_SPARE_GONE: Final = Rule(
    "nodes-spare-gone",
    Severity.WARNING,
    "Spare nodes that are gone",
    "Every promise can still be kept, but not after the loss of another node: that is what the spare nodes were for.",
)
NODES_SURPLUS: Final = Rule(
    "nodes-surplus",
    Severity.WARNING,
    "More nodes than declared",
    "The nodes beyond the declared ones are in no budget: what they have is handed out by nobody's promise.",
)
NODES_NOT_READY: Final = Rule(
    "nodes-not-ready",
    Severity.WARNING,
    "Nodes that are not ready",
    "Budgets count them, but no pod starts there until the kubelet reports again.",
)
NODES_CORDONED: Final = Rule(
    "nodes-cordoned",
    Severity.WARNING,
    "Nodes that are cordoned",
    "Budgets count them, but no new pod starts there until somebody uncordons them.",
)
NODES_CLAIMED_TWICE: Final = Rule(
    "nodes-claimed-twice",
    Severity.ERROR,
    "Nodes that several flavors claim",
    "Their GPUs would be promised twice. They count for neither flavor until it is clear whose they are.",
)
GPUS_UNCLAIMED: Final = Rule(
    "gpus-unclaimed",
    Severity.WARNING,
    "GPU nodes of no flavor",
    "Their GPUs are in no budget. No queue starts jobs there, but a pod beside the queues may take them.",
)
NODE_PRODUCT: Final = Rule(
    "node-product",
    Severity.ERROR,
    "Another board than declared",
    "Jobs get another GPU than their budget says, with other memory and another price, and a MIG layout for the "
    "declared board fails on it.",
)
NODE_PRODUCT_UNKNOWN: Final = Rule(
    "node-product-unknown",
    Severity.NOTE,
    "Nodes that do not say which board they have",
    "GPU feature discovery labels nodes with their board. Without it nobody sees when a node has another one.",
)
NODE_GPUS: Final = Rule(
    "node-gpus",
    Severity.ERROR,
    "Another number of GPUs in a node than declared",
    "Budgets count nodes times GPUs: with fewer the promises are too large, with more the rest is in no budget.",
)
NODE_TOO_SMALL: Final = Rule(
    "node-too-small",
    Severity.ERROR,
    "Nodes that offer less cpu or memory than declared",
    "cpu and memory that follow a GPU are the node's, divided by its GPUs. Where the node has less, its last GPU finds "
    "none left and stays idle.",
)
NODE_DEVICES: Final = Rule(
    "node-devices",
    Severity.ERROR,
    "GPUs that the nodes do not offer as declared",
    "Pods can only ask for what the device plugin offers. What it does not offer is promised, but starts no job.",
)
MIG_NOT_APPLIED: Final = Rule(
    "mig-not-applied",
    Severity.ERROR,
    "A MIG layout that is not on the nodes",
    "Budgets count the slices of the layout. Until the GPUs are divided so, jobs that ask for one wait for ever.",
)
MIG_CONFIG_OTHER: Final = Rule(
    "mig-config-other",
    Severity.WARNING,
    "The right MIG layout under a name that is not in the file",
    "The MIG manager reads the organization's file and finds no such configuration there: after its next restart the "
    "node is in state `failed`.",
)
SHARING_NOT_APPLIED: Final = Rule(
    "sharing-not-applied",
    Severity.ERROR,
    "Shares of GPUs that the nodes do not offer",
    "Budgets count shares under a resource name of their own. Until the device plugin offers it, jobs that ask for one "
    "wait for ever.",
)
NODE_LABELS: Final = Rule(
    "node-labels",
    Severity.ERROR,
    "Nodes without the labels of their flavor",
    "The labels become the node selector of every job that the flavor takes, and some say what runs on the node: "
    "without them jobs never land there, or find it run otherwise.",
)
NODE_TOPOLOGY: Final = Rule(
    "node-topology",
    Severity.ERROR,
    "Nodes without a level of their topology",
    "Topology-aware scheduling does not see a node that lacks one of the labels: its GPUs are promised and never used.",
)
TOPOLOGY_FLAT: Final = Rule(
    "topology-flat",
    Severity.NOTE,
    "A level of the topology that tells no nodes apart",
    "A level that is the same on all nodes, or different on each, groups nothing: jobs that ask for it get what they "
    "get without it.",
)
NODE_TAINTS: Final = Rule(
    "node-taints",
    Severity.ERROR,
    "Nodes without the taints of their flavor",
    "The nodes stand open: pods of anybody land there, take cpu and memory, and GPUs stay idle beside them.",
)
NODE_TAINTS_FOREIGN: Final = Rule(
    "node-taints-foreign",
    Severity.ERROR,
    "Taints that the flavor does not declare",
    "Jobs get tolerations for the declared taints only: they are admitted and stay pending, or Kueue does not count "
    "the nodes at all.",
)

RULES: Final = (
    NODES_MISSING,
    NODES_SPARE_GONE,
    NODES_SURPLUS,
    NODES_NOT_READY,
    NODES_CORDONED,
    NODES_CLAIMED_TWICE,
    GPUS_UNCLAIMED,
    NODE_PRODUCT,
    NODE_PRODUCT_UNKNOWN,
    NODE_GPUS,
    NODE_TOO_SMALL,
    NODE_DEVICES,
    MIG_NOT_APPLIED,
    MIG_CONFIG_OTHER,
    SHARING_NOT_APPLIED,
    NODE_LABELS,
    NODE_TOPOLOGY,
    TOPOLOGY_FLAT,
    NODE_TAINTS,
    NODE_TAINTS_FOREIGN,
)
