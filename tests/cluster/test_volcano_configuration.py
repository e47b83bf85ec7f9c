"""Volcano takes our configuration word for word, and says no more of a mistake than the table: hence a validator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
import urllib3
import yaml

from tenancy import plan as planning
from tenancy.backend.volcano.configuration import ADMISSIONS, pages
from tenancy.render.pages import page
from tenancy.render.pages import pages as environment
from tests.backend.volcano.mistakes import MISTAKES, RUN, Does, Mistake
from tests.cluster import deploy, versions, volcano
from tests.cluster.build import binary
from tests.cluster.plane import Cluster, until
from tests.cluster.processes import NotReady, free_ports
from tests.orgs import organized
from tools.golang import module_folder

pytestmark = pytest.mark.volcano("1.15")

TREE: Final = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "configured",
    "clusters": {"main": {}},
    "flavors": {
        "h100": {
            "gpu": "H100-SXM-80GB",
            "nodes": 2,
            "node": {"gpus": 8, "cpu": 66, "memory": "516Gi"},
            "topology": ["cloud.example/rack", "kubernetes.io/hostname"],
        }
    },
    "departments": {"research": {"teams": {"vision": {"budget": {"h100": 8}}}}},
}
NAME: Final = "volcano-tried"
LOADED: Final = re.compile(r"Finished loading scheduler config\. Final state: actions=\[(.*)], plugins=\[(.*)]")
COMPLAINT: Final = re.compile(r"^[EWF]\d{4} ", re.MULTILINE)
"""How klog begins a line that is a warning or worse."""
BUILT_IN: Final = (
    ["enqueue", "allocate", "backfill"],
    [*("priority", "gang", "conformance"), *("overcommit", "drf", "predicates", "proportion", "nodeorder")],
)
CYCLES: Final = 2
"""After so many a plugin that is not there was missed."""

State = tuple[list[str], list[str]]
"""The actions and the plugins that a scheduler runs with."""


@dataclass(slots=True)
class Tried:
    """A scheduler in place of the test bed's, without `--disable-default-scheduler-config` as the chart starts it."""

    cluster: Cluster
    read: int = 0
    """How much of its log was looked at."""
    file: Path = field(init=False)

    def __post_init__(self) -> None:
        self.file = self.cluster.folder / NAME / "volcano-scheduler.conf"
        self.file.parent.mkdir(exist_ok=True)

    def start(self, text: str) -> None:
        """A new scheduler with this configuration."""
        self.cluster.processes.stop(NAME)
        self.file.write_text(text, encoding="utf-8")
        log = self.cluster.processes.log(NAME)
        self.read = log.stat().st_size if log.exists() else 0
        program = binary(versions.volcano(self.cluster.volcano)) / "scheduler"
        arguments = [
            *("--kubeconfig", str(self.cluster.kubeconfig("volcano-scheduler")), "--leader-elect=false"),
            *("--scheduler-conf", str(self.file), "--schedule-period=100ms", "--cache-dumper=false", "-v=2"),
            *("--enable-metrics", "--listen-address", f"127.0.0.1:{self.cluster.ports['volcano-metrics']}"),
        ]
        self.cluster.processes.start(NAME, [program, *arguments], {"DEBUG_SOCKET_DIR": "sockets"})
        self.cluster.processes.wait(NAME, lambda: LOADED.search(self.said()) is not None)
        self.cluster.processes.wait(NAME, lambda: "start to run" in self.said())

    def change(self, text: str) -> None:
        """Another configuration, put in place at once as kubelet does it, and looked at for some cycles."""
        self.read = self.cluster.processes.log(NAME).stat().st_size
        half = self.file.parent.with_suffix(".half")
        half.write_text(text, encoding="utf-8")
        half.replace(self.file)
        until(lambda: self.ended or LOADED.search(self.said()) is not None, "the file is looked at")
        if not self.ended:
            self.pass_cycles()

    def pass_cycles(self) -> None:
        """Wait until it has gone through all plugins a few times, or has ended."""
        seen: list[int] = []

        def passed() -> bool:
            with suppress(urllib3.exceptions.HTTPError):  # It may end while it is asked.
                seen.append(volcano.cycles(self.cluster))
            return self.ended or (bool(seen) and seen[-1] >= seen[0] + CYCLES)

        until(passed, "it has had its cycles", pause=0.05)

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self.cluster.processes.running[NAME].poll() is not None

    def said(self) -> str:
        """What it wrote since it was started or its file was changed."""
        with self.cluster.processes.log(NAME).open("rb") as log:
            log.seek(self.read)
            return log.read().decode(errors="replace")

    def state(self) -> State:
        """What it runs with, as it says itself."""
        actions, plugins = LOADED.findall(self.said())[-1]
        return actions.split(), plugins.split()


@pytest.fixture(scope="module")
def tried(cluster: Cluster) -> Iterator[Tried]:
    """The scheduler that gets the mistakes; the test bed's own runs again afterwards."""
    cluster.processes.stop("volcano-scheduler")
    made = Tried(cluster)
    made.start(RUN)
    yield made
    cluster.processes.stop(NAME)
    volcano.configure(cluster, {})


def stated(text: str) -> State:
    """The actions and plugins that a file asks for."""
    value = yaml.safe_load(text)
    plugins = [plugin["name"] for tier in value["tiers"] for plugin in tier.get("plugins", ())]
    return [action.strip() for action in value["actions"].split(",")], plugins


def test_ours_is_taken_without_a_complaint(tried: Tried) -> None:
    """At the start and when the file is put in place again: it runs with our actions and plugins and misses nothing."""
    made = deploy.compiled_for(tried.cluster, TREE)
    text = made.configuration["scheduler"]
    assert "network-topology-aware" in text
    tried.start(text)
    tried.pass_cycles()
    assert (tried.state(), COMPLAINT.search(tried.said())) == (stated(text), None)
    tried.change(text)
    assert (tried.state(), COMPLAINT.search(tried.said())) == (stated(text), None)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_does_what_the_table_says(tried: Tried, mistake: Mistake) -> None:
    """Most are taken without a word; a file that cannot be read changes nothing, with a line in the log."""
    if tried.ended:
        tried.start(RUN)
    tried.change(RUN)
    tried.change(mistake.text)
    said, complains = tried.said(), COMPLAINT.search(tried.said()) is not None
    assert mistake.log in said
    assert tried.ended == (mistake.does is Does.ENDS)
    assert complains == (mistake.does is not Does.TAKES)
    if not tried.ended:
        refused = mistake.does is Does.REFUSES
        assert ("is invalid" in said) == refused
        assert tried.state() == stated(RUN if refused else mistake.text)


@pytest.mark.parametrize("name", ["action misspelt", "empty"])
def test_a_file_that_cannot_be_used_at_the_start_means_the_built_in_one(tried: Tried, name: str) -> None:
    """Departments and quotas are gone with one line in the log, and jobs go on being placed."""
    (mistake,) = (each for each in MISTAKES if each.name == name)
    tried.start(mistake.text)
    assert "is invalid" in tried.said()
    assert tried.state() == BUILT_IN


def test_every_value_is_one_that_the_chart_has(cluster: Cluster) -> None:
    """Helm passes over others without a word."""
    part = versions.volcano(cluster.volcano)
    chart = module_folder(part.module, part.version) / "installer" / "helm" / "chart" / "volcano" / "values.yaml"
    known = yaml.safe_load(chart.read_text(encoding="utf-8"))["custom"]
    (plan,) = planning.plan(organized({**TREE, "clusters": {"main": {"scheduler": "volcano"}}}))
    values = next(each for each in pages(plan) if each.path.endswith(".yaml"))
    ours = yaml.safe_load(page(environment(), values.template, values.values))
    assert set(ours) == {"custom"}
    assert set(ours["custom"]) <= set(known)
    assert {"scheduler_config_override", "controller_config_override", "enabled_admissions"} <= set(ours["custom"])


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (f"{ADMISSIONS},/queues/check", "/queues/check not found on the admission registered map"),
        (f"{ADMISSIONS},/queues/validate", "conflicts with pattern"),
    ],
    ids=["unknown", "twice"],
)
def test_a_list_of_webhooks_with_a_mistake_ends_their_manager(cluster: Cluster, paths: str, words: str) -> None:
    """Then every change of a Queue is refused, since its webhooks fail closed."""
    keys, (port,) = cluster.certificates, free_ports(1)
    name = "webhooks-tried"
    program = binary(versions.volcano(cluster.volcano)) / "webhook-manager"
    arguments = [
        *("--kubeconfig", str(cluster.kubeconfig("volcano-admission")), "--enabled-admission", paths),
        *("--tls-cert-file", str(keys.server), "--tls-private-key-file", str(keys.server_key)),
        *("--ca-cert-file", str(keys.authority), "--listen-address", "127.0.0.1"),
        *("--port", str(port), "--webhook-url", "https://127.0.0.1"),
    ]
    cluster.processes.start(name, [program, *arguments], {"DEBUG_SOCKET_DIR": "sockets"})
    with pytest.raises(NotReady, match="ended"):
        cluster.processes.wait(name, lambda: False)
    cluster.processes.stop(name)
    assert words in cluster.processes.tail(name, 20_000)
