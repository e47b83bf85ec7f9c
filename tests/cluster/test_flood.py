"""One department floods the API server, and nobody else waits for it: on a server with a tenth of the usual seats.

The server's own metrics say who queued and who was refused; times are compared only where they differ many times over.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest

from tenancy.backend.shared.fairness import LENT
from tenancy.backend.telemetry.dashboards.server import SERIES
from tenancy.model.fairness import BUILT_IN
from tests.cluster import again, deploy, plane
from tests.cluster.client import Client, Object
from tests.cluster.conftest import KUBERNETES, Beds
from tests.cluster.flood import Latency, Metrics, config_map, flooding, latency, metrics, slow_admission
from tests.cluster.plane import Cluster, until
from tests.orgs import organized

INFLIGHT: Final = (40, 20)
SEATS: Final = sum(INFLIGHT)
NOISY, QUIET, STAFF = "noisy-train", "quiet-train", "group:platform"
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {"scheduler": "native", "apiShares": 60}},
    "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"}}},
    "access": {"admins": [STAFF]},
    "departments": {
        name: {
            "budget": {"h100": 8},
            "teams": {"train": {"access": {"members": [f"group:{name}"], "serviceAccounts": ["robot"]}}},
        }
        for name in ("noisy", "quiet")
    },
}
CROWD: Final = (
    *((f"noisy-{index}", ("noisy",)) for index in range(60)),
    *((f"system:serviceaccount:{NOISY}:robot-{index}", ()) for index in range(20)),
)
SMALL: Final = config_map(QUIET, "small")
LIMITS: Final = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "small", "namespace": QUIET}}
RATIO: Final = 10
"""How many times longer others may wait than on a quiet server. With seats for all it is about one; the rest is for
the two cores that everything here shares."""
LEAST: Final = 0.02
"""Seconds below which two times are alike."""
REQUESTS: Final = 20
PEOPLE: Final = (
    *("Namespace", "ResourceQuota", "LimitRange", "ServiceAccount"),
    *("ClusterRole", "ClusterRoleBinding", "RoleBinding"),
)
FAIRNESS: Final = ("FlowSchema", "PriorityLevelConfiguration")


@pytest.fixture(scope="module")
def small(beds: Beds, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A control plane of its own, with the organization's people and quotas."""
    beds.stop(keep_logs=False)
    cluster = plane.start(beds.folder / "small", KUBERNETES, INFLIGHT)
    try:
        deploy.apply(cluster, [item for item in deploy.in_waves(objects(cluster)) if item["kind"] in PEOPLE])
        for index in range(20):
            cluster.client.create(config_map(NOISY, f"large-{index}", 100_000))
        for namespace in (NOISY, QUIET):
            until(partial(counted, cluster, namespace), f"the objects of {namespace} are counted")
        yield cluster
    finally:
        cluster.stop(keep_logs=request.session.testsfailed > 0)


def objects(cluster: Cluster) -> tuple[Object, ...]:
    """What the organization says of people, quotas and fairness; no policies, which judge what is not asked here."""
    made = deploy.compiled(organized(TREE), kubernetes=cluster.kubernetes)
    return tuple(item for item in made.objects if item["kind"] in (*PEOPLE, *FAIRNESS))


def counted(cluster: Cluster, namespace: str) -> bool:
    """Whether the quota of objects is in force."""
    quota = cluster.client.get(f"/api/v1/namespaces/{namespace}/resourcequotas/tenancy")
    return "configmaps" in quota.get("status", {}).get("used", {})


@pytest.fixture
def levels(small: Cluster) -> Iterator[Cluster]:
    """The same with the levels and flow schemas, which the server has taken up."""
    found = [item for item in objects(small) if item["kind"] in FAIRNESS]
    deploy.apply(small, found)
    until(lambda: "tenancy-noisy" in seats(small), "the levels are in force")
    until(lambda: in_force(small, "tenancy-noisy"), "the flow schemas are in force")
    yield small
    for item in found:
        small.client.delete(small.client.path(item))
    until(lambda: not in_force(small, "tenancy-noisy"), "the flow schemas are gone")


def in_force(cluster: Cluster, schema: str) -> bool:
    """Whether a request of the noisy department is now counted to this schema."""
    before = metrics(cluster.client).schemas("dispatched_requests_total").get(schema, 0)
    noisy(cluster).get(f"/api/v1/namespaces/{NOISY}/configmaps/large-0")
    return metrics(cluster.client).schemas("dispatched_requests_total").get(schema, 0) > before


def seats(cluster: Cluster) -> dict[str, int]:
    """The nominal seats of each level."""
    return {
        has["priority_level"]: int(value)
        for name, has, value in metrics(cluster.client).samples
        if name == "apiserver_flowcontrol_nominal_limit_seats"
    }


def noisy(cluster: Cluster) -> Client:
    return cluster.client.acting_as("noah", ["noisy"])


def quiet(cluster: Cluster) -> Client:
    return cluster.client.acting_as("quinn", ["quiet"])


def staff(cluster: Cluster) -> Client:
    """An admin of the platform who is in the noisy department's group, too."""
    return cluster.client.acting_as("ada", ["platform", "noisy"])


def waited(before: Metrics, after: Metrics, schema: str) -> tuple[int, int]:
    """Requests of a schema that waited for a seat longer than 50 ms, of how many."""

    def grown(name: str, **labels: str) -> int:
        return int(after.sum(name, flow_schema=schema, **labels) - before.sum(name, flow_schema=schema, **labels))

    every = grown("request_wait_duration_seconds_count")
    return every - grown("request_wait_duration_seconds_bucket", le="0.05"), every


def asked(client: Client, item: Object, times: int = REQUESTS) -> Latency:
    """What somebody waits for answers in the quiet namespace."""
    return latency(client, [item] * times, f"/api/v1/namespaces/{QUIET}/limitranges/tenancy")


def queued(cluster: Cluster, level: str) -> bool:
    """Whether the flood fills its level: some wait, and some were refused for having waited too long."""
    found = metrics(cluster.client)
    waiting = found.sum("current_inqueue_requests", priority_level=level)
    return waiting >= 10 and found.sum("rejected_requests_total", priority_level=level) > 0


def test_seats_are_what_the_checks_say(levels: Cluster) -> None:
    """The server's own levels have the shares of our table, and seats are divided by shares and rounded up."""
    every = sum(BUILT_IN.values()) + 60
    shares = {**BUILT_IN, "tenancy-noisy": 30, "tenancy-quiet": 30}
    found = seats(levels)
    assert {name: found[name] for name in shares} == {name: -(-SEATS * each // every) for name, each in shares.items()}
    lower = metrics(levels.client).sum("lower_limit_seats", priority_level="tenancy-quiet")
    assert lower == found["tenancy-quiet"] * LENT / 100
    upper = metrics(levels.client).sum("upper_limit_seats", priority_level="tenancy-noisy")
    assert upper == found["tenancy-noisy"] + found["tenancy-quiet"]


def test_applied_twice_nothing_moves(levels: Cluster) -> None:
    """Every default is written, so Argo CD has nothing to do."""
    assert again.changed(levels, [item for item in objects(levels) if item["kind"] in FAIRNESS]) == []


def test_a_flood_waits_in_its_own_level_and_nobody_else_does(levels: Cluster) -> None:
    """Eighty clients of one department fill its seats and queues and are refused there; of another department and of
    the platform's staff nobody waits for a seat, and answers take no more than ten times as long as without it."""
    cluster = levels
    calm = asked(quiet(cluster), SMALL)
    with slow_admission(cluster, NOISY):
        before = metrics(cluster.client)
        with flooding(cluster, NOISY, CROWD) as flood:
            until(lambda: queued(cluster, "tenancy-noisy"), "the flood fills its level", 30)
            during = metrics(cluster.client)
            theirs, platforms = asked(quiet(cluster), SMALL), asked(staff(cluster), LIMITS)
        after = metrics(cluster.client)
    print("NUMBERS", calm, theirs, platforms, flood.refused)
    assert flood.refused[429] > 0
    late, many = waited(before, after, "tenancy-noisy")
    assert late > many / 2
    for schema in ("tenancy-quiet", "tenancy.staff"):
        late, many = waited(during, after, schema)
        assert many >= 2 * REQUESTS
        assert late == 0
    assert after.sum("rejected_requests_total") == after.sum(
        "rejected_requests_total", priority_level="tenancy-noisy"
    ), "somebody else was refused"
    shown = {name for name, has, _ in after.samples if has.get("priority_level") == "tenancy-noisy"}
    assert set(SERIES) <= shown, "dashboards ask for what the server does not say"
    for found in (theirs, platforms):
        assert found.p50 <= RATIO * max(calm.p50, LEAST)
        assert found.p95 <= RATIO * max(calm.p95, LEAST)


def test_without_the_levels_the_flood_is_everybodys(small: Cluster) -> None:
    """The same flood without our objects: whoever of another department asks waits in the queue for a seat."""
    cluster = small
    with slow_admission(cluster, NOISY):
        before = metrics(cluster.client)
        with flooding(cluster, NOISY, CROWD):
            until(lambda: queued(cluster, "global-default"), "the flood fills the level of everybody", 30)
            theirs = asked(quiet(cluster), SMALL, 4)
        after = metrics(cluster.client)
    assert set(after.schemas("dispatched_requests_total")) >= {"global-default", "service-accounts"}
    late, _ = waited(before, after, "global-default")
    assert late > 0
    print("CONTROL", theirs)
    assert theirs.p50 > RATIO * LEAST
