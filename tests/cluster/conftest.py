"""Clusters for the tests of this folder: one at a time in each worker, kept while the next test wants the same."""

from __future__ import annotations

import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.cluster import deploy, frameworks, node_tools, plane, versions
from tests.cluster.build import RUNS, CannotBuild, binary, check_machine, node_kinds
from tests.cluster.plane import Cluster
from tests.cluster.schedulers import SCHEDULERS

KUBERNETES: Final = os.environ.get("TEST_BED_KUBERNETES", versions.DEFAULT_KUBERNETES)
BEDS: Final = (
    *(f"kueue-{minor}" for minor in versions.KUEUE),
    *(f"volcano-{minor}" for minor in versions.VOLCANO),
    f"native-{KUBERNETES}",
)
"""What a control plane may run, in the order in which the tests of each run."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("random organizations")
    group.addoption("--random-orgs", type=int, default=25, help="how many are tried (default 25)")
    group.addoption("--random-seed", type=int, help="which ones (default: others in each run, the same in CI)")


def pytest_configure(config: pytest.Config) -> None:
    for scheduler in SCHEDULERS:
        config.addinivalue_line(
            "markers", f"{scheduler}(*minors): the minors of {scheduler} that the tests of a module run against"
        )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test that asks for a cluster runs once for each scheduler and minor that it names, or else its module; the
    default is the newest Kueue."""
    if "cluster" in metafunc.fixturenames:
        said = [(node, mark) for node, mark in metafunc.definition.iter_markers_with_node() if mark.name in SCHEDULERS]
        nearest = [mark for node, mark in said if node is said[0][0]]
        named = {f"{mark.name}-{minor}" for mark in nearest for minor in mark.args or (KUBERNETES,)}
        beds = [bed for bed in BEDS if bed in named]
        assert len(beds) == len(named), f"{metafunc.definition.nodeid}: {sorted(named)} are not all of {BEDS}"
        metafunc.parametrize("cluster", beds or BEDS[:1], indirect=True, scope="module")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bed by bed, so that a worker changes its control plane as seldom as can be. What is long comes first."""
    sizes = Counter(_scope(item.nodeid) for item in items)

    def key(item: pytest.Item) -> tuple[int, bool, int, str]:
        scope = _scope(item.nodeid)
        bed = next((index for index, bed in enumerate(BEDS) if bed in scope), len(BEDS))
        return bed, "shard" not in scope, -sizes[scope], scope

    items.sort(key=key)


def _scope(nodeid: str) -> str:
    module, _, test = nodeid.partition("::")
    return " ".join([module, *re.findall(rf"{'|'.join(map(re.escape, BEDS))}|shard-[0-9]+", test)])


class ByModule(LoadScopeScheduling):  # type: ignore[misc]
    """A module and a minor go to one worker, which then deploys their organization once; shards go anywhere.

    Not xdist's own groups: pytest 9.2 does not show them to its scheduler.
    """

    def _split_scope(self, nodeid: str) -> str:
        return _scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByModule:
    return ByModule(config, log)


@dataclass(slots=True)
class Beds:
    """The cluster of this worker, if there is one."""

    folder: Path
    running: list[Cluster] = field(default_factory=list)
    started: int = 0
    bed: str = ""
    """What runs there, as BEDS has it."""

    def cluster(self, bed: str) -> Cluster:
        """A cluster with this scheduler and nothing of ours on it."""
        if self.running and self.bed != bed:
            self.stop(keep_logs=False)
        if not self.running:
            self.started += 1
            self.bed = bed
            self.running.append(plane.start(self.folder / str(self.started), KUBERNETES))
            node_tools.install(self.running[0])
            scheduler, _, minor = bed.partition("-")
            SCHEDULERS[scheduler].install(self.running[0], minor)
        return self.running[0]

    def stop(self, *, keep_logs: bool) -> None:
        """End what runs."""
        while self.running:
            self.running.pop().stop(keep_logs=keep_logs)


@pytest.fixture(scope="session")
def means() -> None:
    """Whether this machine can run a control plane: a skip where it cannot, a failure where CI insists."""
    try:
        check_machine()
        missing = [part.name for part in versions.parts(KUBERNETES) if not binary(part).exists()]
        missing += [] if node_kinds().exists() else ["the kinds of the tools of nodes"]
        if missing:
            raise CannotBuild(f"not built: {', '.join(missing)}; `make test-cluster` builds them")
    except CannotBuild as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no test bed: {error}")


@pytest.fixture(scope="session")
def beds(means: None, request: pytest.FixtureRequest) -> Iterator[Beds]:  # noqa: ARG001
    """Ends with the session whatever happens; after a failure the logs stay."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    made = Beds(RUNS / f"{os.getpid()}-{worker}")
    yield made
    failed = request.session.testsfailed > 0
    made.stop(keep_logs=failed)
    if failed:
        print(f"test bed: logs are kept in {made.folder}", file=sys.stderr)


@pytest.fixture(scope="module")
def cluster(beds: Beds, request: pytest.FixtureRequest) -> Cluster:
    """A real control plane with the scheduler that the tests of one module ask for: Kueue, unless they say so."""
    found = beds.cluster(request.param)
    deploy.withdraw(found)
    return found


@pytest.fixture(scope="session")
def random_orgs(request: pytest.FixtureRequest) -> int:
    """How many random organizations this run tries."""
    return int(request.config.getoption("--random-orgs"))


@pytest.fixture(scope="session")
def random_seed(request: pytest.FixtureRequest) -> int:
    """Which random organizations this run tries: for the same seed and code the same ones. A failure tells it."""
    given = request.config.getoption("--random-seed")
    if given is None:
        return 0 if os.environ.get("CI") else random.randrange(10**6)
    return int(given)


@pytest.fixture(scope="module")
def with_frameworks(cluster: Cluster, beds: Beds, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The cluster with the kinds of every framework; ended with the module, since others do not want to carry them."""
    frameworks.install(cluster)
    yield cluster
    beds.stop(keep_logs=request.session.testsfailed > 0)
