"""What a comparison of declared and running nodes finds, on node lists of several vendors and on single faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tenancy import backend, check, load, model
from tenancy.backend import CODES
from tenancy.check.finding import placed
from tenancy.diagnostics import Diagnostic, in_file_order
from tenancy.live import inventory_rules
from tenancy.live.inventory import compare
from tenancy.live.matching import matched
from tenancy.live.nodes import LiveNode
from tenancy.model.hardware import Taint
from tenancy.pipeline import Options, examine
from tenancy.plan import plan
from tenancy.plan.nodes import MIG_CONFIG
from tenancy.plan.values import ClusterPlan
from tenancy.render.yaml import document
from tenancy.report import Report
from tenancy.report.text import text
from tests.live.lists import LISTS, NAMES, nodes_of

GIB = 1 << 30


def _found(path: Path, nodes: Iterator[LiveNode] | tuple[LiveNode, ...] | list[LiveNode]) -> list[Diagnostic]:
    found = examine(path, Options(accepted=CODES))
    assert found.org is not None
    assert found.sources is not None
    assert found.sound, found.diagnostics
    (cluster,) = found.plans or plan(found.org)
    findings = compare(found.org, cluster, matched(cluster, nodes))
    return in_file_order(placed(finding, found.sources) for finding in findings)


@pytest.mark.parametrize("name", NAMES)
def test_a_list_is_compared_as_committed(name: str, golden: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The findings about each list beside its organization are those of compare.txt."""
    monkeypatch.chdir(LISTS / name)
    path = Path("org.yaml")
    found = examine(path, Options(accepted=CODES))
    shown = text(Report(tuple(_found(path, nodes_of(name))), found.sources, 0, "0"), width=100)
    expected = LISTS / name / "compare.txt"
    if golden:
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")


def _texts() -> list[str]:
    return [(LISTS / name / "compare.txt").read_text(encoding="utf-8") for name in NAMES]


def test_every_rule_is_broken_by_some_list() -> None:
    """A rule that no list breaks would have no example, and no test of its words."""
    seen = {code for shown in _texts() for code in re.findall(r"^\w+\[([\w-]+)\]", shown, re.MULTILINE)}
    assert seen == {rule.code for rule in inventory_rules.RULES}


def test_codes_are_of_this_stage_alone() -> None:
    """A code names one rule in the whole program."""
    others = {rule.code for rules in (load.RULES, model.RULES, check.RULES, backend.RULES) for rule in rules}
    assert [rule.code for rule in inventory_rules.RULES if rule.code in others] == []


def test_some_list_agrees_with_its_organization() -> None:
    """A comparison can be clean, so that a finding means something."""
    assert "no findings\n" in _texts()


def test_findings_are_written_alike() -> None:
    """A message begins in lower case and has no period at its end; a help begins in lower case."""
    for shown in _texts():
        messages = re.findall(r"^(?:error|warning|note)\[\S+\]: (.+)$", shown, re.MULTILINE)
        assert [line for line in messages if line.endswith(".") or line[0].isupper()] == []
        assert re.findall(r"^ *= help: ([A-Z].*)$", shown, re.MULTILINE) == []


# One flavor, and nodes that agree with it until a test changes one thing.

H100 = {
    "gpu": "H100-SXM-80GB",
    "nodes": 4,
    "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"},
    "daemons": {"cpu": 2, "memory": "4Gi"},
    "nodeNames": ["gpu-*"],
}


def _organization(folder: Path, flavor: dict[str, Any], **cluster: Any) -> Path:
    content = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "domain": "gpu.acme.example",
        "clusters": {"train": {"scheduler": "kueue", **cluster}},
        "flavors": {"h100": {**H100, **flavor}},
        "departments": {"research": {"teams": {"vision": {}}}},
    }
    path = folder / "org.yaml"
    path.write_text(document(content), encoding="utf-8")
    return path


def _nodes(count: int = 4, **offered: int) -> list[LiveNode]:
    """Nodes as the flavor says; `offered` are resources of NVIDIA by the part of their names after the slash."""
    devices = {f"nvidia.com/{name}": number for name, number in (offered or {"gpu": 8}).items()}
    return [
        LiveNode(
            name=f"gpu-{index}",
            labels={
                "gpu.acme.example/flavor": "h100",
                "kubernetes.io/hostname": f"gpu-{index}",
                "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
                "nvidia.com/gpu.count": "8",
            },
            taints=(),
            allocatable={"cpu": 192_000, "memory": 2000 * GIB, **devices},
            unschedulable=False,
            ready=True,
        )
        for index in range(count)
    ]


def _codes(path: Path, nodes: list[LiveNode]) -> list[str]:
    return [diagnostic.code for diagnostic in _found(path, nodes)]


def _labelled(node: LiveNode, **labels: str) -> LiveNode:
    return replace(node, labels={**node.labels, **labels})


def test_nodes_that_agree_give_nothing(tmp_path: Path) -> None:
    """The nodes of these tests agree until one thing is changed."""
    assert _codes(_organization(tmp_path, {}), _nodes()) == []


CHANGES: dict[str, tuple[Callable[[LiveNode], LiveNode], list[str]]] = {
    "a taint of the node's state": (
        lambda node: replace(node, taints=(Taint("node.kubernetes.io/not-ready", "", "NoExecute"),)),
        [],
    ),
    "a soft taint": (lambda node: replace(node, taints=(Taint("maintenance", "", "PreferNoSchedule"),)), []),
    "a foreign taint": (
        lambda node: replace(node, taints=(Taint("maintenance", "", "NoExecute"),)),
        ["node-taints-foreign"],
    ),
    "more cpu and memory": (
        lambda node: replace(node, allocatable={**node.allocatable, "cpu": 200_000, "memory": 2100 * GIB}),
        [],
    ),
    "a little less cpu": (
        lambda node: replace(node, allocatable={**node.allocatable, "cpu": 191_999}),
        ["node-too-small"],
    ),
    "a resource that is none of GPUs": (
        lambda node: replace(node, allocatable={**node.allocatable, "rdma/hca": 8}),
        [],
    ),
    "a kubelet that does not report": (lambda node: replace(node, ready=False), ["nodes-not-ready"]),
    "a GPU that is unfit": (
        lambda node: replace(node, allocatable={**node.allocatable, "nvidia.com/gpu": 7}),
        ["node-devices"],
    ),
    "slices that are not declared": (
        lambda node: replace(node, allocatable={**node.allocatable, "nvidia.com/gpu": 7, "nvidia.com/mig-1g.10gb": 7}),
        ["node-devices"],
    ),
    "a suffix that sharing appends": (
        lambda node: _labelled(node, **{"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-SHARED"}),
        [],
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_one_node_is_what_is_found(change: str, tmp_path: Path) -> None:
    """What matters about a node is found, and nothing else."""
    changed, codes = CHANGES[change]
    first, *rest = _nodes()
    assert _codes(_organization(tmp_path, {}), [changed(first), *rest]) == codes


def test_a_taint_of_any_value_is_declared_without_one(tmp_path: Path) -> None:
    """A toleration without a value gets jobs past every value, so the node's value is neither foreign nor missing."""
    nodes = [replace(node, taints=(Taint("nvidia.com/gpu", "present", "NoSchedule"),)) for node in _nodes()]
    assert _codes(_organization(tmp_path, {"taint": "nvidia.com/gpu:NoSchedule"}), nodes) == []


def test_an_autoscaler_may_have_fewer_nodes_but_not_more(tmp_path: Path) -> None:
    """`nodes` is then the most there may be."""
    path = _organization(tmp_path, {"autoscaling": "provisioning-request"})
    assert _codes(path, _nodes(1)) == []
    assert _codes(path, _nodes(5)) == ["nodes-surplus"]


def test_claims_are_in_no_status_of_nodes(tmp_path: Path) -> None:
    """Under `allocation: dra` no device plugin offers the GPUs, and that is no finding."""
    path = _organization(tmp_path, {"allocation": "dra"})
    found = examine(path, Options(accepted=CODES))
    assert found.org is not None
    (cluster,) = plan(found.org)
    nodes = [_labelled(node, **cluster.nodes["h100"].labels) for node in _nodes(gpu=0)]
    assert _codes(path, nodes) == []


def _configs(path: Path) -> list[str]:
    found = examine(path, Options(accepted=CODES))
    assert found.org is not None
    (cluster,) = plan(found.org)
    return [config.name for config in cluster.nodes["h100"].mig]


def test_a_layout_of_some_nodes_is_on_so_many(tmp_path: Path) -> None:
    """With layouts by nodes each node has one of them, and none is on more nodes than declared."""
    path = _organization(tmp_path, {"mig": [{"nodes": 1, "7g.80gb": 1}, {"nodes": 3, "1g.10gb": 7}]})
    seven, one = _configs(path)
    large = [_labelled(node, **{MIG_CONFIG: seven}) for node in _nodes(4, **{"mig-7g.80gb": 8})]
    small = [_labelled(node, **{MIG_CONFIG: one}) for node in _nodes(4, **{"mig-1g.10gb": 56})]
    assert _codes(path, [*large[:1], *small[1:]]) == []
    (found,) = _found(path, [*large[:2], *small[2:]])
    assert (found.code, found.place.path) == ("mig-not-applied", ("flavors", "h100", "mig", 0))
    assert "entry 1 of `mig` is on 2 nodes instead of 1" in found.message


def test_a_label_of_one_layout_with_the_slices_of_another(tmp_path: Path) -> None:
    """What the label asks for is what counts: the MIG manager would change the node to it at its next start."""
    path = _organization(tmp_path, {"mig": [{"nodes": 1, "7g.80gb": 1}, {"nodes": 3, "1g.10gb": 7}]})
    seven, _ = _configs(path)
    nodes = [_labelled(node, **{MIG_CONFIG: seven}) for node in _nodes(1, **{"mig-1g.10gb": 56})]
    (found,) = [found for found in _found(path, nodes) if found.code == "mig-not-applied"]
    assert "offers 56 `nvidia.com/mig-1g.10gb` instead of" in found.message


def test_slices_under_the_strategy_single(tmp_path: Path) -> None:
    """The device plugin calls slices GPUs, the count label counts them, and the product label names the profile."""
    path = _organization(tmp_path, {"mig": {"1g.10gb": 7}}, gpuOperator={"migStrategy": "single"})
    (config,) = _configs(path)
    labels = {
        MIG_CONFIG: config,
        "nvidia.com/mig.strategy": "single",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb",
        "nvidia.com/gpu.count": "56",
    }
    assert _codes(path, [_labelled(node, **labels) for node in _nodes(gpu=56)]) == []
    assert set(_codes(path, [_labelled(node, **labels) for node in _nodes(gpu=55)])) == {"mig-not-applied"}


def test_whole_gpus_beside_slices(tmp_path: Path) -> None:
    """An entry without profiles keeps whole GPUs: both are offered."""
    path = _organization(tmp_path, {"mig": [{"gpus": 2, "1g.10gb": 7}, {"gpus": 6}]})
    (config,) = _configs(path)
    nodes = [_labelled(node, **{MIG_CONFIG: config}) for node in _nodes(**{"gpu": 6, "mig-1g.10gb": 14})]
    assert _codes(path, nodes) == []
    assert set(_codes(path, _nodes())) == {"mig-not-applied"}


def test_a_board_of_another_vendor_is_counted_by_its_resource(tmp_path: Path) -> None:
    """Also where nothing but the organization knows that the resource is one of GPUs."""
    board = {"name": "Ascend-910B", "memory": "64Gi", "resource": "huawei.com/Ascend910"}
    path = _organization(tmp_path, {"gpu": board})
    nodes = [
        replace(node, labels={"gpu.acme.example/flavor": "h100", "kubernetes.io/hostname": node.name})
        for node in _nodes()
    ]
    nodes = [replace(node, allocatable={"cpu": 192_000, "memory": 2000 * GIB}) for node in nodes]
    good = [replace(node, allocatable={**node.allocatable, "huawei.com/Ascend910": 8}) for node in nodes]
    assert _codes(path, good) == []
    assert _codes(path, nodes) == ["node-devices"]


def test_a_flavor_that_nothing_tells_says_so(tmp_path: Path) -> None:
    """A CPU flavor without names and labels is found by a label that no node has yet."""
    path = _organization(tmp_path, {})
    text_ = path.read_text().replace('    nodeNames:\n      - "gpu-*"\n', "").replace("    gpu: H100-SXM-80GB\n", "")
    path.write_text(text_.replace("      gpus: 8\n", ""))
    (found,) = _found(path, [])
    assert (found.code, found.message) == ("nodes-missing", "flavor `h100`: no node is there, 4 are declared")
    assert "write `nodeNames`" in found.help


def test_only_the_nodes_of_the_chosen_cluster_count(tmp_path: Path) -> None:
    """A comparison is about one cluster: flavors of others are not missed."""
    path = _organization(tmp_path, {"cluster": "train"})
    path.write_text(path.read_text().replace("clusters:\n", "clusters:\n  serve:\n    scheduler: kueue\n"))
    found = examine(path, Options(accepted=CODES))
    assert found.org is not None
    clusters: dict[str, ClusterPlan] = {cluster.name: cluster for cluster in plan(found.org)}
    serve, train = (
        list(compare(found.org, each, matched(each, []))) for each in (clusters["serve"], clusters["train"])
    )
    assert serve == []
    assert [finding.rule.code for finding in train] == ["nodes-missing"]
