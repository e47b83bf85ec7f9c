"""`tenancy nodes` on node lists in files: what it prints, and its status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenancy.cli import run
from tests.live.made import A100, H100, flavor

DAEMONS: dict[str, Any] = {"daemons": {"cpu": 2, "memory": "4Gi"}}
FLAVORS: dict[str, Any] = {
    "cloud": flavor("L4", autoscaling="karpenter", **DAEMONS),
    "h100": flavor("H100-SXM-80GB", 2, taint="gpu-reserved=training:NoSchedule", **DAEMONS),
    "mig": flavor("A100-SXM4-80GB", 3, mig=[{"nodes": 1, "1g.10gb": 7}, {"nodes": 2, "3g.40gb": 2}], **DAEMONS),
    "new": flavor("B200", 1, **DAEMONS),
    "old": flavor("B200", 1, **DAEMONS),
}


def item(name: str, product: str = "", **labels: str) -> dict[str, Any]:
    """A Node object; `flavor` and `mig` stand for the keys of labels."""
    keys = {"flavor": "acme.example/flavor", "mig": "nvidia.com/mig.config"}
    found = {**({"nvidia.com/gpu.product": product} if product else {}), **{keys[key]: labels[key] for key in labels}}
    return {"kind": "Node", "metadata": {"name": name, "labels": found}}


class Command:
    """The command on an organization and a list of nodes."""

    def __init__(self, folder: Path, out: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.out = out
        self.say({"main": {}})

    def say(self, clusters: dict[str, Any], flavors: dict[str, Any] | None = None) -> None:
        """Make this the organization."""
        tree = {
            "apiVersion": "tenancy/v1alpha1",
            "kind": "Organization",
            "name": "acme",
            "domain": "acme.example",
            "clusters": clusters,
            "flavors": flavors or FLAVORS,
            "departments": {"research": {"teams": {"vision": {}}}},
        }
        (self.folder / "org.yaml").write_text(json.dumps(tree))

    def run(self, nodes: list[dict[str, Any]], *options: str) -> tuple[int, str, str]:
        """Status, output and errors."""
        path = self.folder / "nodes.json"
        path.write_text(json.dumps({"kind": "List", "items": nodes}))
        status = run(["nodes", str(self.folder), "--nodes", str(path), *options])
        shown = self.out.readouterr()
        return status, shown.out.replace(str(path), "nodes.json"), shown.err


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """With one cluster."""
    return Command(tmp_path, capsys)


TEXT = """\
main: 9 nodes of nodes.json

cloud: 1 node of 4 declared; Karpenter makes them as the NodePool says

h100: 3 nodes of 2 declared
  set taint gpu-reserved=training:NoSchedule
      on 3 nodes: gpu-1, gpu-2, gpu-3
  set label acme.example/flavor=h100
      on 2 nodes: gpu-2, gpu-3

mig: 4 nodes of 3 declared
  set label acme.example/flavor=mig
      on 4 nodes: cut-1, cut-2, cut-3, cut-4
  set label nvidia.com/mig.config=MIG-1G (was all-disabled)
      on 1 node: cut-1
  set label nvidia.com/mig.config=MIG-3G
      on 1 node: cut-2

new: 0 nodes of 1 declared; nothing tells which they are: write `nodeNames` or `labels`, or label
     them

old: 0 nodes of 1 declared; nothing tells which they are: write `nodeNames` or `labels`, or label
     them

maintenance: the MIG manager divides the GPUs of 2 nodes anew, which fails or breaks jobs while
  pods hold GPUs there: cut-1, cut-2
left with the MIG layout it has, beyond the nodes that have one: cut-4
left alone, because no flavor claims them: 1 node: b200

Nothing is set yet on 7 nodes; --apply does it.
"""


def test_the_whole_text(command: Command) -> None:
    """Flavor by flavor what is to set and where, then what stands in the way, then what is left alone."""
    nodes = [
        *(item("gpu-3", H100), item("gpu-2", H100), item("gpu-1", H100, flavor="h100")),
        *(item("cut-1", A100, mig="all-disabled"), item("cut-2", A100), item("cut-4", A100)),
        *(item("b200", "NVIDIA-B200"), item("l4", "NVIDIA-L4")),
    ]
    _, shown, _ = command.run(nodes, "--format", "json")
    found = {node["name"]: node["set_labels"].get("nvidia.com/mig.config", "") for node in json.loads(shown)["changes"]}
    nodes.append(item("cut-3", A100, mig=found["cut-2"]))
    status, shown, _ = command.run(nodes)
    for name, short in ((found["cut-1"], "MIG-1G"), (found["cut-2"], "MIG-3G")):
        shown = shown.replace(name, short)
    assert shown == TEXT
    assert status == 1


def test_nodes_as_they_should_be_are_status_0(command: Command) -> None:
    """Nodes that nobody claims, and a flavor with too few of them, are told and change nothing of that."""
    command.say({"main": {}}, {"l4": flavor("L4", **DAEMONS)})
    status, shown, _ = command.run([item("a", "NVIDIA-L4", flavor="l4"), item("cp")])
    assert (status, shown.splitlines()[-1]) == (0, "Nothing to do.")
    assert "l4: 1 node of 4 declared" in shown
    assert "no flavor claims them: 1 node: cp" in shown


def test_a_node_that_two_flavors_claim_is_named_with_both(command: Command) -> None:
    """Nothing of it is set."""
    patterns = {"one": "gpu-*", "two": "*-1"}
    command.say({"main": {}}, {name: flavor("L4", nodeNames=[each], **DAEMONS) for name, each in patterns.items()})
    status, shown, _ = command.run([item("gpu-1")])
    assert "left alone: gpu-1, which flavors one, two all claim" in shown
    assert status == 0


def test_names_from_outside_cannot_drive_the_terminal(command: Command) -> None:
    """Control characters of names, labels and messages are shown as escapes."""
    command.say({"main": {}}, {"l4": flavor("L4", nodeNames=["n*"], **DAEMONS)})
    hostile = "n\x1b[2J\u202e"
    for nodes in ([item(hostile, flavor="\x1b[31mx"), item("\x07")], [item(hostile), item(hostile)]):
        shown = "".join(command.run(nodes)[1:])
        assert "\\x1b[2J\\u202e" in shown
        assert not {"\x1b", "\u202e", "\x07"} & set(shown)


def test_a_list_that_cannot_be_read_is_status_3(command: Command) -> None:
    """With its reason on the error output."""
    status, shown, error = command.run([{"kind": "Pod"}])
    assert (status, shown) == (3, "")
    assert "nodes.json: items[0]: a Pod is not a Node" in error


def test_an_organization_with_errors_is_shown_instead(command: Command) -> None:
    """What flavors say has to be right before nodes are compared with it."""
    command.say({"main": {}}, {"l4": flavor("L4", taint="nonsense")})
    status, shown, error = command.run([item("a")])
    assert (status, shown) == (1, "")
    assert "error[" in error


def test_of_several_clusters_one_is_chosen(command: Command) -> None:
    """Without a choice, and for a name that is none, the usage error lists them."""
    command.say({"one": {}, "two": {}}, {name: flavor("L4", cluster=name, **DAEMONS) for name in ("one", "two")})
    assert "choose with --cluster: one, two" in command.run([])[2]
    assert "no cluster 'x'; there is one, two" in command.run([], "--cluster", "x")[2]
    assert command.run([], "--cluster", "two")[1].startswith("two: 0 nodes")


@pytest.mark.parametrize("option", [("--apply",), ("--kubeconfig", "x"), ("--context", "x")])
def test_a_file_goes_with_no_option_of_a_cluster(command: Command, option: tuple[str, ...]) -> None:
    """A file cannot be written to: a usage error."""
    status, _, error = command.run([], *option)
    assert status == 2
    assert "--nodes reads a file" in error


def test_a_kubeconfig_that_is_not_there_is_status_3(command: Command, tmp_path: Path) -> None:
    """So is one without the context that is asked for."""
    config = tmp_path / "config"
    for content, options, message in (
        (None, (), "No configuration found"),
        ("[1]", (), "no kubeconfig"),
        ("{apiVersion: v1, kind: Config, contexts: [], clusters: [], users: []}", ("--context", "x"), "name x"),
    ):
        if content is not None:
            config.write_text(content)
        status = run(["nodes", str(command.folder), "--kubeconfig", str(config), *options])
        assert status == 3
        assert message in " ".join(command.out.readouterr().err.split())
