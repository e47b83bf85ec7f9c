"""Random organizations on Volcano: what is compiled for them is accepted, in force, and then left alone.

`--random-orgs` makes a longer run, `--random-seed` repeats one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from tenancy.plan import plan
from tests.cluster import again, deploy, volcano
from tests.cluster.client import Object
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster
from tests.cluster.stage import renamed
from tests.cluster.volcano_sync import drawn, told
from tests.orgs import organized, scheduled
from tests.strategies import organizations, small_organizations

pytestmark = pytest.mark.volcano("1.15")

SORTS: Final = (small_organizations(), organizations())
"""Of the larger ones only what lies outside namespaces is applied: those take most of the time."""
SHARE: Final = 0.4
"""Of the organizations that are asked for: nothing runs in these."""


def test_what_is_compiled_is_accepted_and_left_alone(cluster: Cluster, random_orgs: int, random_seed: int) -> None:
    """Every object is accepted, every Queue open and under its parent, and a second apply changes nothing."""
    for number in range(round(random_orgs * SHARE)):
        sort = number % len(SORTS)
        tree = renamed(drawn(SORTS[sort], f"{random_seed}/{number}"), number)  # Namespaces go slowly.
        with told(f"--random-seed {random_seed}, organization {number}: {tree}"):
            for made in _compiled(cluster, tree, outside=bool(sort)):
                deploy.withdraw(cluster)
                deploy.deploy(cluster, made)
                assert _parents(made.objects) == _parents(cluster.client.list(volcano.QUEUES))
                assert again.changed(cluster, made.objects) == []


def _compiled(cluster: Cluster, tree: dict[str, Any], *, outside: bool) -> Iterator[Compiled]:
    """What each cluster of an organization comes to; where it is said, only what lies outside namespaces."""
    org = organized(scheduled(tree, cluster.scheduler))
    for each in plan(org):
        made = deploy.compiled(org, None, name=each.name, **deploy.running(cluster))
        yield replace(made, objects=tuple(item for item in made.objects if _outside(item))) if outside else made


def _outside(item: Object) -> bool:
    return item["kind"] != "Namespace" and "namespace" not in item["metadata"]


def _parents(items: Iterable[Object]) -> dict[str, str]:
    """The tree of the Queues among some objects, without the root."""
    found = {item["metadata"]["name"]: item["spec"] for item in items if item.get("kind", "Queue") == "Queue"}
    return {name: spec["parent"] for name, spec in found.items() if name != "root"}
