"""Everything that is written is accepted, settles, and is then left alone: what Argo CD needs to be silent.

The organizations are the example and every golden case, each compiled for the scheduler and the minor that run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tenancy.backend import LOSSES
from tenancy.pipeline import Options, examine
from tenancy.plan import plan
from tests.cluster import deploy
from tests.cluster.client import Object, condition, label
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster, until
from tests.cluster.server_side import ADDED, REORDERED

pytestmark = [pytest.mark.kueue("0.19", "0.17"), pytest.mark.volcano("1.15"), pytest.mark.native]

ROOT: Final = Path(__file__).resolve().parents[2]
CASES: Final = ROOT / "tests" / "cases"
ORGANIZATIONS: Final = {"example": ROOT / "org"} | {
    path.parent.name: path for path in sorted(CASES.glob("*/org")) if path.is_dir()
}


def _clusters() -> Iterator[tuple[str, str]]:
    for name, path in ORGANIZATIONS.items():
        org = examine(path).org
        assert org is not None
        yield from ((name, cluster.name) for cluster in plan(org))


CLUSTERS: Final = tuple(_clusters())


def _compiled(cluster: Cluster, organization: str, name: str) -> Compiled:
    options = Options(scheduler=cluster.scheduler, accepted=[rule.code for rule in LOSSES])
    found = examine(ORGANIZATIONS[organization], options)
    if not found.sound or found.org is None:
        pytest.skip(f"the golden findings of {organization} say why {cluster.scheduler} cannot hold it")
    return deploy.compiled(found.org, found.custom, name=name, **deploy.running(cluster))


@pytest.mark.parametrize(("organization", "name"), CLUSTERS)
def test_applied_once_it_is_in_force_and_applied_twice_it_does_not_move(
    cluster: Cluster, organization: str, name: str
) -> None:
    """Applied in waves every object is accepted and every queue active, and nothing that is live differs from out/."""
    deploy.withdraw(cluster)
    made = _compiled(cluster, organization, name)
    deploy.deploy(cluster, made)
    live = _settled(cluster, made)
    assert [text for item in made.objects for text in _unlisted(item, live[label(item)])] == []
    assert _moved_by_applying_again(cluster, made) == []
    assert _type_warnings(cluster, made) == []


@pytest.mark.kueue("0.19")
@pytest.mark.volcano("1.15")
@pytest.mark.parametrize("at_once", [1, 8])
def test_any_order_of_application_ends_in_the_same_state(cluster: Cluster, at_once: int) -> None:
    """Without waves, one by one in random order or all at once, with retries, the same objects come to be."""
    deploy.withdraw(cluster)
    made = _compiled(cluster, "example", "train-eu")
    deploy.deploy(cluster, made)
    ordered = {key: deploy.stripped(item) for key, item in _settled(cluster, made).items()}
    deploy.withdraw(cluster)
    deploy.namespaces_gone(cluster, made)
    deploy.apply_until_accepted(cluster, made.objects, random.Random(0), at_once)
    until(lambda: deploy.inactive(cluster, made.plan) == {}, "every queue is active")
    shuffled = {key: deploy.stripped(item) for key, item in _settled(cluster, made).items()}
    assert shuffled == ordered


def _live(cluster: Cluster, made: Compiled) -> dict[str, Object]:
    """Every object of the organization as it is stored, read kind by kind."""
    wanted = {label(item) for item in made.objects}
    found: dict[str, Object] = {}
    for version, kind in sorted({(item["apiVersion"], item["kind"]) for item in made.objects}):
        for item in cluster.client.list(cluster.client.collection(version, kind)):
            whole = {"apiVersion": version, "kind": kind, **item}
            found |= {label(whole): whole} if label(whole) in wanted else {}
    assert found.keys() == wanted
    return found


def _settled(cluster: Cluster, made: Compiled) -> dict[str, Object]:
    """Every object, once no controller touches one of them any more, and all that Kueue guards are guarded."""
    pictures: list[dict[str, Object]] = [_live(cluster, made)]

    def still() -> bool:
        pictures.append(_live(cluster, made))
        return pictures[-1] == pictures[-2] and all(map(_guarded, pictures[-1].values()))

    until(still, "no object changes any more", pause=0.7)
    return pictures[-1]


def _guarded(item: Object) -> bool:
    return (item["kind"], "metadata.finalizers") not in ADDED or "finalizers" in item["metadata"]


def _moved_by_applying_again(cluster: Cluster, made: Compiled) -> list[str]:
    """What a second application changes: the version, or for kinds whose version it may move, anything else.

    Each object is read just before, since controllers write statuses whenever they come to it.
    """
    moved = []
    for item in deploy.in_waves(made.objects):
        dry, before = cluster.client.apply(item, dry_run=True), cluster.client.get(cluster.client.path(item))
        if deploy.stripped(dry) != deploy.stripped(before):
            moved.append(f"{label(item)} would be changed")
        after = cluster.client.apply(item)
        if item["kind"] in REORDERED:
            before, after = deploy.stripped(before), deploy.stripped(after)
        if after != before:
            moved.append(f"{label(item)} was changed")
    return moved


def _unlisted(emitted: Object, live: Object) -> Iterator[str]:
    """Fields of a live object that we did not write so, and that no line of the table explains."""
    for path, wrote, found in _differences(emitted, deploy.stripped(live), ()):
        if (emitted["kind"], path) not in ADDED:
            yield f"{label(emitted)} {path}: wrote {wrote!r}, found {found!r}"


def _differences(wrote: Any, found: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(wrote, dict) and isinstance(found, dict):
        for key in sorted(wrote.keys() | found.keys()):
            yield from _differences(wrote.get(key), found.get(key), (*path, key))
    elif isinstance(wrote, list) and isinstance(found, list) and len(wrote) == len(found):
        for one, other in zip(wrote, found, strict=True):
            yield from _differences(one, other, path)
    elif wrote != found:
        yield ".".join(path), wrote, found


def _type_warnings(cluster: Cluster, made: Compiled) -> list[str]:
    """What the API server's type checker says of our CEL."""
    found = deploy.policies_checked(cluster)
    policies = [item for item in made.objects if item["kind"] == "ValidatingAdmissionPolicy"]
    return [
        f"{label(item)}: {each['fieldRef']}: {each['warning']}"
        for item in policies
        for each in found[item["metadata"]["name"]].get("expressionWarnings", ())
    ]


@pytest.mark.kueue("0.19", "0.17")
def test_a_queue_without_its_flavor_is_not_active(cluster: Cluster) -> None:
    """The reverse: `active` is Kueue's own word and not always said, so that the tests above can fail."""
    deploy.withdraw(cluster)
    made = _compiled(cluster, "smallest", "only")
    deploy.apply(cluster, [item for item in deploy.in_waves(made.objects) if item["kind"] != "ResourceFlavor"])
    queue = next(item for item in made.objects if item["kind"] == "ClusterQueue")
    path = cluster.client.path(queue)
    missing = {"status": "False", "reason": "FlavorNotFound"}
    until(
        lambda: missing.items() <= (condition(cluster.client.get(path), "Active") or {}).items(),
        "Kueue misses the flavor",
    )
    assert label(queue) in deploy.inactive(cluster, made.plan)
