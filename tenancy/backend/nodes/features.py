"""NodeFeatureRules: Node Feature Discovery, which the GPU operator brings, sets labels and taints of nodes it can tell.

It tells nodes by their names, or by the PCI id of their board. What it may not set is left to `tenancy nodes`: labels
and taints without a domain or in kubernetes.io it refuses, with no more than a line in its log (pkg/apis/nfd/validate
of v0.18.3), and a taint of the effect NoExecute could evict the worker that it depends on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.shared.metadata import obj
from tenancy.model.gpus import PRODUCT
from tenancy.model.hardware import Taint
from tenancy.model.syntax import pattern_expression
from tenancy.plan.nodes import Match
from tenancy.plan.values import ClusterPlan

API: Final = "nfd.k8s-sigs.io/v1alpha1"
VENDOR: Final = "10de"
"""NVIDIA, as the feature `pci.device` writes it: hexadecimal, in lower case, without a prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What Node Feature Discovery sets on the nodes of a flavor."""

    labels: Mapping[str, str]
    taints: tuple[Taint, ...]


def features(plan: ClusterPlan) -> Iterator[Manifest]:
    """A rule for each flavor whose nodes it can tell and that has something to be set."""
    rules = tuple(rule for name in plan.flavors if (rule := _rule(plan, name)) is not None)
    if rules:
        yield Manifest("platform/node-features.yaml", rules)


def sets(plan: ClusterPlan, flavor: str) -> Declared:
    """The labels and taints that the rule of a flavor sets; empty where there is none.

    There is none without the GPU operator, since nothing else says that Node Feature Discovery runs there, and none for
    nodes that Karpenter makes: they have everything from the start.
    """
    nodes = plan.nodes[flavor]
    operated = plan.cluster.gpu_operator.installed and any(each.nvidia for each in plan.flavors.values())
    if not operated or nodes.karpenter is not None or not _told(nodes.match):
        return Declared(labels={}, taints=())
    return Declared(
        labels={key: value for key, value in nodes.labels.items() if _in_a_domain(key)},
        taints=tuple(taint for taint in nodes.taints if _in_a_domain(taint.key) and taint.effect != "NoExecute"),
    )


def _rule(plan: ClusterPlan, name: str) -> Object | None:
    declared = sets(plan, name)
    if not declared.labels and not declared.taints:
        return None
    rule: dict[str, Any] = {"name": name}
    if declared.labels:
        rule["labels"] = dict(sorted(declared.labels.items()))
    if declared.taints:
        rule["taints"] = [taint.spec for taint in declared.taints]
    rule["matchFeatures"] = [_told(plan.nodes[name].match)]
    return obj(API, "NodeFeatureRule", name, plan.labels, spec={"rules": [rule]})


def _told(match: Match) -> dict[str, Any]:
    """The feature that tells the nodes; empty where none does.

    Names go before the board. Labels that the organization wrote tell nodes of a board from others with the same board,
    and rules do not see labels: then the board alone would say too much, unless the label is that of the board.
    """
    if match.names:
        names = {"op": "InRegexp", "value": [f"^{pattern_expression(pattern)}$" for pattern in match.names]}
        return {"feature": "system.name", "matchExpressions": {"nodename": names}}
    if match.pci_ids and match.labels.keys() <= {PRODUCT}:
        board = {"vendor": [VENDOR], "device": [each.lower() for each in match.pci_ids]}
        expressions = {key: {"op": "In", "value": values} for key, values in board.items()}
        return {"feature": "pci.device", "matchExpressions": expressions}
    return {}


def _in_a_domain(key: str) -> bool:
    """Whether the key has a domain, and not one of Kubernetes' own."""
    domain = key.rpartition("/")[0]
    return bool(domain) and domain != "kubernetes.io" and not domain.endswith(".kubernetes.io")
