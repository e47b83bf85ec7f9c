"""What people might ask of a small organization: rounds of submissions, drawn by Hypothesis, and told as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tenancy.model.hardware import CPU, MEMORY, Hardware
from tenancy.plan import plan
from tenancy.plan.values import Queue
from tests.orgs import organized
from tests.strategies import GIB_PER_CORE, small_organizations

GPU_SIZES: Final = (1, 1, 1, 2, 2, 4, 8)
SLICE_SIZES: Final = (1, 2)
CORE_SIZES: Final = (1, 2, 2, 31)
"""All divide the 62 cores that a node leaves to jobs."""
PODS: Final = 16
"""The most that one job has."""
JOBS: Final = 3
"""The most that one submission is split into."""


@dataclass(frozen=True, slots=True)
class Submission:
    """`jobs` jobs of a unit, each a gang of `pods` pods of `size` GPUs, slices or cores."""

    unit: str
    flavor: str
    resource: str
    size: int
    pods: int
    jobs: int


@dataclass(frozen=True, slots=True)
class Round:
    """Some jobs end, then others are submitted, then the cluster comes to rest."""

    ended: tuple[int, ...]
    """Positions among the jobs that are there, modulo their number."""
    submitted: tuple[Submission, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """An organization and what happens to it."""

    tree: dict[str, Any]
    rounds: tuple[Round, ...]

    def __str__(self) -> str:
        lines = [yaml.safe_dump(self.tree, sort_keys=False)]
        for number, each in enumerate(self.rounds, start=1):
            lines.append(f"round {number}: the jobs {list(each.ended)} end, then")
            lines += [
                f"  {one.unit}: {one.jobs} jobs of {one.pods} pods of {one.size} {one.resource}"
                for one in each.submitted
            ]
        return "\n".join(lines)


@st.composite
def stories(draw: DrawFn) -> Story:
    """A small organization and two rounds: first units take all they may, then others come. Pods on a flavor are mostly
    of one size."""
    tree = draw(small_organizations())
    (made,) = plan(organized(tree))
    sizes = {name: draw(_sizes(flavor)) for name, flavor in made.flavors.items()}
    queues = [queue for queue in made.queues if _reach(queue)] or made.queues
    chosen = st.sampled_from(queues)
    greedy = chosen.flatmap(lambda queue: _submissions(queue, made.flavors, sizes, greedy=True))
    usual = chosen.flatmap(lambda queue: _submissions(queue, made.flavors, sizes, greedy=False))
    first = draw(st.lists(greedy, min_size=2, max_size=3))
    ended = st.lists(st.integers(0, 35), max_size=4)
    rounds = st.builds(Round, ended.map(tuple), st.lists(usual, min_size=2, max_size=4).map(tuple))
    return Story(tree, (Round((), tuple(first)), draw(rounds)))


def requests(flavor: Hardware, resource: str, size: int) -> dict[str, str]:
    """What one pod asks for: cpu and memory follow a GPU or a slice, memory follows the cores of a CPU flavor."""
    if flavor.is_cpu:
        return {CPU: str(size), MEMORY: f"{size * GIB_PER_CORE}Gi"}
    follows = flavor.follows[resource]
    return {resource: str(size), CPU: f"{follows[CPU] * size}m", MEMORY: str(follows[MEMORY] * size)}


def uniform(story: Story) -> frozenset[str]:
    """The flavors on which all pods have one size."""
    sizes: dict[str, set[int]] = {}
    for one in (one for each in story.rounds for one in each.submitted):
        sizes.setdefault(one.flavor, set()).add(one.size)
    return frozenset(flavor for flavor, found in sizes.items() if len(found) == 1)


def _reach(queue: Queue) -> list[tuple[str, str]]:
    """The flavors and resources of which a unit may hold anything, without what follows them."""
    return [
        (flavor, resource)
        for flavor, amounts in queue.quotas.items()
        for resource, promised in amounts.items()
        if promised.limit and resource != MEMORY and (resource != CPU or len(amounts) == 2)
    ]


def _sizes(flavor: Hardware) -> st.SearchStrategy[list[int]]:
    whole = SLICE_SIZES if any("mig" in main for main in flavor.mains) else GPU_SIZES
    sizes = st.sampled_from(CORE_SIZES if flavor.is_cpu else whole)
    return st.one_of(*[sizes.map(lambda size: [size])] * 3, st.lists(sizes, min_size=2, max_size=2, unique=True))


@st.composite
def _submissions(
    draw: DrawFn, queue: Queue, flavors: Mapping[str, Hardware], sizes: Mapping[str, list[int]], *, greedy: bool
) -> Submission:
    """Mostly as much as one of the unit's numbers says, where the laws have their edges; at times one more. The greedy
    ask for their limit in small jobs."""
    name, resource = draw(st.sampled_from(_reach(queue) or [(name, each.mains[0]) for name, each in flavors.items()]))
    flavor = flavors[name]
    size = draw(st.sampled_from(sizes[flavor.name]))
    unit = 1000 if flavor.is_cpu else 1
    numbers = [number // unit // size for number in queue.quotas[flavor.name][resource]]
    amounts = st.sampled_from(sorted({1, *numbers} - {0})) | st.integers(1, numbers[-1] + 1)
    pods = max(1, numbers[-1]) if greedy else draw(amounts)
    jobs = min(JOBS, pods) if greedy else draw(st.integers(1, min(JOBS, pods)))
    return Submission(queue.title, flavor.name, resource, size, min(PODS, pods // jobs), jobs)
