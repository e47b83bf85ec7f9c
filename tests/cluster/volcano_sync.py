"""What a sync does with Queues, pass by pass, against the real webhook.

The webhook reads a cache that is milliseconds behind: what depends on a change just sent may be refused for that alone.
So nothing goes on before the webhook has seen it all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, Final, NamedTuple, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from tenancy.backend.volcano.order import Step
from tests.cluster import volcano
from tests.cluster.client import Refused
from tests.cluster.plane import Cluster, until

Drawn = TypeVar("Drawn")

AT_ONCE: Final = 8
MARKER: Final = "seen-by-the-webhook"
NUMBERS: Final = itertools.count(1)
VERSION: Final = "scheduling.volcano.sh/v1beta1"
ONE: Final = settings(
    max_examples=2, phases=(Phase.generate,), database=None, deadline=None, suppress_health_check=list(HealthCheck)
)
"""The first example that Hypothesis draws is the simplest one; the second is what was wanted."""


class Left(NamedTuple):
    """A step that a pass did not do."""

    step: Step
    why: str
    """What the webhook said; empty where the step was not tried."""


@dataclass(frozen=True, slots=True)
class Sync:
    """The Queues of a cluster. `chance` decides what is sent first."""

    cluster: Cluster
    chance: Random

    def follow(self, steps: Iterable[Step]) -> None:
        """One step after the other. Raises Refused."""
        for step in steps:
            self._send(step)
            self.seen()

    def park(self, steps: Iterable[Step]) -> None:
        """Moves below `root`, as somebody does them by hand. Raises Refused."""
        for step in steps:
            change = {"spec": {"parent": step.queue["spec"]["parent"]}}
            self.cluster.client.patch(f"{volcano.QUEUES}/{step.name}", change)
            self.seen()

    def run(self, steps: Iterable[Step], at_most: int) -> int:
        """Pass after pass until nothing is left; how many it took. Raises AssertionError where more are needed."""
        left, passes = [Left(step, "") for step in steps], 0
        while left:
            assert passes < at_most, f"after {passes} passes: {[(each.step.name, each.why) for each in left]}"
            passes += 1
            left = self.once([each.step for each in left])
        return passes

    def once(self, steps: Sequence[Step]) -> list[Left]:
        """One pass as Argo CD makes it, eight requests at a time: deletions, and where none of them is refused all the
        rest."""
        others = [step for step in steps if step.action != "delete"]
        left = self._sent([step for step in steps if step.action == "delete"])
        return [*left, *(Left(step, "") for step in others)] if left else self._sent(others)

    def clear(self) -> None:
        """Every Queue is gone, and the webhook knows."""
        until(partial(volcano.emptied, self.cluster), "no Queue of ours is left", pause=0.05)
        self.seen()

    def specs(self) -> dict[str, Any]:
        """What is stored of each Queue but Volcano's own, by name."""
        found = {item["metadata"]["name"]: item["spec"] for item in self.cluster.client.list(volcano.QUEUES)}
        return {name: spec for name, spec in found.items() if name not in (*volcano.BUILT_IN, MARKER)}

    def seen(self) -> None:
        """Wait until the webhook has all that is stored: it sees changes in their order, and the last is a larger
        number, which then shows in what it lets in below."""
        client, spec = self.cluster.client, {"capability": {"cpu": str(next(NUMBERS))}}
        client.apply(volcano.queue(MARKER, {"parent": "root", **spec}))
        below = volcano.queue(f"{MARKER}-below", {"parent": MARKER, **spec})

        def let_in() -> bool:
            try:
                client.create(below, dry_run=True)
            except Refused as refused:
                if "exceeds its ancestor" not in refused.message and "failed to get parent" not in refused.message:
                    raise
                return False
            return True

        until(let_in, "the webhook has seen every Queue", pause=0.01)

    def _sent(self, steps: Sequence[Step]) -> list[Left]:
        mixed = self.chance.sample(steps, len(steps))
        with ThreadPoolExecutor(AT_ONCE) as workers:
            left = [each for each in workers.map(self._tried, mixed) if each is not None]
        if steps:
            self.seen()
        return left

    def _tried(self, step: Step) -> Left | None:
        try:
            self._send(step)
        except Refused as refused:
            return Left(step, refused.message)
        return None

    def _send(self, step: Step) -> None:
        client = self.cluster.client
        if step.action == "delete":
            client.delete(f"{volcano.QUEUES}/{step.name}")
        else:
            client.apply({"apiVersion": VERSION, **step.queue})


def drawn(strategy: SearchStrategy[Drawn], number: str) -> Drawn:
    """What a strategy draws for a seed, the same each time."""
    found: list[Drawn] = []

    def take(value: Drawn) -> None:
        found.append(value)

    seed(number)(ONE(given(strategy)(take)))()
    return found[-1]


@contextmanager
def told(name: str) -> Iterator[None]:
    """A failure says what repeats it."""
    try:
        yield
    except Exception as error:
        error.add_note(name)
        raise
