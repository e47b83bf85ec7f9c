"""Variants of the cases about autoscalers and names of nodes, with the words that depend on the variant."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.test_variants import findings

PLAIN = {"clusters.train.placement": "plain"}
H = "flavors.h100"
REQUEST: dict[str, Any] = {"provisioningRequest": {}}
SKU = {"karpenter.azure.com/sku-name": ["Standard_ND96isr_H100_v5"]}
AZURE = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "gpu"}


def karpenter(**said: Any) -> dict[str, Any]:
    """Nodes of the flavor `h100` made by Karpenter, which is told this."""
    return {f"{H}.autoscaling": {"karpenter": said}, **PLAIN}


def autoscaled(changes: dict[str, Any]) -> list[str]:
    """The codes of what is said of autoscaling and names, apart from the note about a label of the node group."""
    wanted = ("autoscaling-", "karpenter-", "placement-", "node-names")
    codes = [found.code for found in findings(changes) if found.code.startswith(wanted)]
    return [code for code in codes if code != "autoscaling-label"]


FINE: dict[str, dict[str, Any]] = {
    "Karpenter on AWS knows the board": {f"{H}.autoscaling": "karpenter", **PLAIN},
    "a provisioning request": {f"{H}.autoscaling": "provisioning-request", **PLAIN},
    "packed, with requests": {f"{H}.autoscaling": "provisioning-request", "clusters.train.placement": "packed"},
    "plain by itself under Volcano": {f"{H}.autoscaling": "karpenter", "clusters.train.scheduler": "volcano"},
    "another provider, with its machines": karpenter(nodeClass=AZURE, requirements=SKU),
    "machines by a written label": {
        f"{H}.labels": {"node.kubernetes.io/instance-type": "p5.48xlarge"},
        f"{H}.gpu": "H100-PCIE-80GB",
        **karpenter(),
    },
    "a label of Kubernetes' own": {f"{H}.labels": {"node-role.kubernetes.io/gpu": ""}, **karpenter()},
    "names": {f"{H}.nodeNames": ["dgx-*", "a.b", "1"]},
    "every node by name": {f"{H}.nodeNames": ["n1", "n2", "n3", "n4"]},
    "fewer names than there may be nodes": {f"{H}.nodeNames": ["n1"], f"{H}.autoscaling": REQUEST, **PLAIN},
    "names that begin alike": {f"{H}.nodeNames": ["gpu-a-*"], "flavors.mig.nodeNames": ["gpu-b-*"]},
    "the same names in another cluster": {
        f"{H}.nodeNames": ["gpu-*"],
        "clusters.other": {},
        "flavors.mig.nodeNames": ["gpu-*"],
        **{f"flavors.{name}.cluster": "train" for name in ("h100", "cpu")},
        "flavors.mig.cluster": "other",
    },
}
BROKEN: dict[str, tuple[dict[str, Any], list[str]]] = {
    "an empty mapping": ({f"{H}.autoscaling": {}, **PLAIN}, ["autoscaling-both"]),
    "requests under Volcano": (
        {f"{H}.autoscaling": REQUEST, "clusters.train.scheduler": "volcano"},
        ["autoscaling-needs-kueue"],
    ),
    "packed with claims": (
        {f"{H}.allocation": "dra", "clusters.train.placement": "packed"},
        ["placement-packed"],
    ),
    "plain is said once for a cluster": (
        {f"{H}.autoscaling": "karpenter", "flavors.mig.autoscaling": REQUEST},
        ["placement-plain"],
    ),
    "a CPU flavor without machines": ({"flavors.cpu.autoscaling": "karpenter", **PLAIN}, ["karpenter-requirements"]),
    "a board that AWS does not have": ({f"{H}.gpu": "H100-PCIE-80GB", **karpenter()}, ["karpenter-requirements"]),
    "a requirement that every machine meets": (
        karpenter(nodeClass=AZURE, requirements={"karpenter.sh/capacity-type": ["spot"]}),
        ["karpenter-requirements"],
    ),
    "the host name": (
        {f"{H}.labels": {"kubernetes.io/hostname": "n1"}, f"{H}.nodes": 1, **karpenter()},
        ["karpenter-label"],
    ),
    "the name of another pool": ({f"{H}.labels": {"karpenter.sh/nodepool": "x"}, **karpenter()}, ["karpenter-label"]),
    "the pool as a requirement": (
        karpenter(requirements={"karpenter.sh/nodepool": ["h100"]}),
        ["karpenter-label"],
    ),
    "an unknown label of AWS": (
        karpenter(requirements={"karpenter.k8s.aws/instance-gpu": ["h100"]}),
        ["karpenter-label"],
    ),
    "a requirement without a value": (karpenter(requirements={"a.example/b": []}), ["autoscaling-syntax"]),
    "a value with blanks": (karpenter(requirements={"a.example/b": ["c d"]}), ["autoscaling-syntax"]),
    "a key with blanks": (karpenter(requirements={"a b": ["c"]}), ["autoscaling-syntax"]),
    "a group with a version": (
        karpenter(nodeClass={"group": "karpenter.k8s.aws/v1"}, requirements=SKU),
        ["autoscaling-syntax"],
    ),
    "a kind with a dash": (karpenter(nodeClass={"kind": "EC2-NodeClass"}), ["autoscaling-syntax"]),
    "a node class without a name": (karpenter(nodeClass={"name": ""}), ["autoscaling-syntax"]),
    "slices from Karpenter": ({"flavors.mig.autoscaling": "karpenter", **PLAIN}, ["karpenter-mig"]),
    "shares from Karpenter": (
        {f"{H}.sharing": {"mps": 4, "acrossDepartments": True}, **karpenter()},
        ["karpenter-mig"],
    ),
    "claims from Karpenter": ({f"{H}.allocation": "dra", **karpenter()}, ["karpenter-mig"]),
    "no names": ({f"{H}.nodeNames": []}, ["node-names"]),
    "an empty name": ({f"{H}.nodeNames": ["", "dgx-*"]}, ["node-names"]),
    "a name that ends in a dash": ({f"{H}.nodeNames": ["dgx-"]}, ["node-names"]),
    "a name twice": ({f"{H}.nodeNames": ["dgx-*", "dgx-*"]}, ["node-names"]),
    "more names than nodes": ({f"{H}.nodeNames": ["n1", "n2", "n3", "n4", "n5", "gpu-*"]}, ["node-names"]),
    "fewer names than nodes": ({f"{H}.nodeNames": ["n1", "n2"]}, ["node-names"]),
    "a name within a pattern": (
        {f"{H}.nodeNames": ["gpu-*"], "flavors.mig.nodeNames": ["gpu-1", "gpu-2"]},
        ["node-names"],
    ),
    "a pattern within a pattern": ({f"{H}.nodeNames": ["gpu-a-*"], "flavors.mig.nodeNames": ["*"]}, ["node-names"]),
}


@pytest.mark.parametrize("variant", FINE)
def test_what_works_is_let_through(variant: str) -> None:
    """Nothing is said of autoscalers, pools or names."""
    assert autoscaled(FINE[variant]) == []


@pytest.mark.parametrize("variant", BROKEN)
def test_what_does_not_work_is_said_once(variant: str) -> None:
    """Each fault gives its findings, and no other of the same concern."""
    changes, expected = BROKEN[variant]
    assert autoscaled(changes) == expected


def test_a_label_that_was_written_is_taken_to_be_there() -> None:
    """Nodes that are asked for need a label from their group, and who writes one has seen to it; others need none."""
    codes = [
        [found.code for found in findings({f"{H}.autoscaling": how, **changes}) if found.code == "autoscaling-label"]
        for how, changes in (
            ("provisioning-request", PLAIN),
            ("provisioning-request", {f"{H}.labels": {"tenancy.internal/flavor": "h100"}, **PLAIN}),
            ("karpenter", PLAIN),
        )
    ]
    assert codes == [["autoscaling-label"], [], []]


def test_who_may_pack_is_told_so() -> None:
    """Where all nodes that come are asked for by Kueue, packing is offered; where Karpenter makes some it is not."""
    asked, made = (
        [found.help for found in findings({f"{H}.autoscaling": how}) if found.code == "placement-plain"]
        for how in ("provisioning-request", "karpenter")
    )
    assert "`placement: packed`" in asked[0]
    assert "packed" not in made[0]


def test_slices_under_one_name_are_said_to_be_counted_wrongly() -> None:
    """With the strategy `single` Karpenter knows the name of the resource, but not how many a node has."""
    changes = {"flavors.mig.mig": {"1g.10gb": 7}, "flavors.mig.autoscaling": "karpenter", **PLAIN}
    changes |= {"clusters.train.gpuOperator": {"migStrategy": "single"}, "departments.research.budget": {}}
    (found,) = [each for each in findings(changes) if each.code == "karpenter-mig"]
    assert found.message == "flavor `mig`: Karpenter counts 8 `nvidia.com/gpu` in a node, not the slices that it has"
