"""Node lists from files: what is read, and what is refused with its place."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tenancy.live.nodes import LiveNode
from tenancy.live.source import Unreadable, nodes_of_file
from tenancy.model.hardware import Taint

NODE = """\
kind: Node
metadata: {name: a, uid: "7", labels: {rack: r1}}
spec: {unschedulable: true, taints: [{key: k, value: v, effect: NoSchedule}, {key: bare, effect: NoExecute}]}
status: {allocatable: {nvidia.com/gpu: "8", cpu: 191500m}, conditions: [{type: Ready, status: "False"}]}
"""


def read(tmp_path: Path, text: str | bytes) -> list[LiveNode]:
    """The nodes of a file with this content."""
    path = tmp_path / "nodes.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return nodes_of_file(path)


def test_a_node_is_read_with_what_flavors_are_about(tmp_path: Path) -> None:
    """Labels, taints, amounts in base units, and whether it takes pods."""
    (node,) = read(tmp_path, NODE)
    assert (node.name, node.uid, node.labels) == ("a", "7", {"rack": "r1"})
    assert node.taints == (Taint("k", "v", "NoSchedule"), Taint("bare", "", "NoExecute"))
    assert node.allocatable == {"nvidia.com/gpu": 8, "cpu": 191500}
    assert (node.unschedulable, node.ready) == (True, False)


@pytest.mark.parametrize(
    "text",
    [
        "kind: List\nitems:\n- {kind: Node, metadata: {name: a}}\n- {kind: Node, metadata: {name: b}}\n",
        "kind: NodeList\nitems: [{metadata: {name: a}}, {metadata: {name: b}}]\n",
        "kind: Node\nmetadata: {name: a}\n---\n---\nkind: Node\nmetadata: {name: b}\n",
        json.dumps({"kind": "List", "items": [{"kind": "Node", "metadata": {"name": name}} for name in "ab"]}),
        "{kind: NodeList, items: [{metadata: {name: a}}, {metadata: {name: b}}]}\n",
        b"\xff\xfe" + "kind: NodeList\nitems: [{metadata: {name: a}}, {metadata: {name: b}}]\n".encode("utf-16-le"),
    ],
    ids=["list", "node-list", "documents", "json", "flow", "powershell"],
)
def test_every_form_that_kubectl_writes_is_read(tmp_path: Path, text: str | bytes) -> None:
    """A List, a NodeList, several documents, JSON, and what PowerShell makes of them."""
    assert [node.name for node in read(tmp_path, text)] == ["a", "b"]


def test_a_cluster_without_nodes_is_read(tmp_path: Path) -> None:
    """An empty List is an answer."""
    assert read(tmp_path, "kind: List\nitems: []\n") == []


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that kubectl can be piped in; what is wrong is said of standard input."""
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(NODE.encode())))
    assert [node.name for node in nodes_of_file(Path("-"))] == ["a"]
    with pytest.raises(Unreadable, match=r"^standard input: empty"):
        nodes_of_file(Path("-"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "nodes.yaml: empty"),
        ("NAME   STATUS\na      Ready\n", "nodes.yaml: not an object of Kubernetes"),
        ("kind: List\nitems: {a: b}\n", "nodes.yaml: items is no list"),
        ("kind: List\nitems:\n- {kind: Pod}\n", r"nodes.yaml: items\[0\]: a Pod is not a Node"),
        ("kind: List\nitems: [1]\n", r"nodes.yaml: items\[0\]: this is not a Node"),
        (f"{NODE}---\nkind: Secret\n", "nodes.yaml: document 2: a Secret is not a Node"),
        (f"{NODE}---\n{NODE}", "nodes.yaml: document 2: node 'a' is there twice"),
        ("kind: Node\nmetadata: {}\n", "nodes.yaml: a Node without metadata.name"),
        ("kind: Node\nmetadata: [a]\n", "nodes.yaml: metadata is no mapping"),
        ("kind: Node\nmetadata: {name: a, labels: {x: 1}}\n", "metadata.labels: 'x' has 1, which is no text"),
        ("kind: Node\nmetadata: {name: a}\nspec: {taints: [a]}\n", "taints is no list of mappings"),
        ("kind: Node\nmetadata: {name: a}\nstatus: {allocatable: [a]}\n", "status: allocatable is no mapping"),
        ("kind: Node\nmetadata: {name: a, managedFields: [{fieldsV1: 1}]}\n", "not in the form of a Node"),
        ("kind: List\n  items: []\n", "nodes.yaml:2:8: not YAML: mapping values are not allowed in this context"),
        ("[" * 5000, "nodes.yaml:1:1001: not YAML"),
        ('{"a":' * 50000, "nodes.yaml: nested too deeply"),
        (b"\xff", "nodes.yaml: not UTF-8"),
    ],
)
def test_what_is_no_list_of_nodes_is_refused_with_its_place(tmp_path: Path, text: str | bytes, message: str) -> None:
    """Nothing is passed over: a node that is not read would count as missing."""
    with pytest.raises(Unreadable, match=message):
        read(tmp_path, text)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """With the reason of the system."""
    with pytest.raises(Unreadable, match="No such file or directory"):
        nodes_of_file(tmp_path / "nothing.yaml")
