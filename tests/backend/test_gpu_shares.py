"""GPUs in shares, from org.yaml to the objects of each scheduler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pytest

from tenancy.backend import BACKENDS, PARITIES, WAITING, units
from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.parity import parity
from tenancy.backend.shared.shares import SHARES as POLICY
from tenancy.backend.waiting import SHARES, Request, nodes
from tenancy.model.organization import Org, Quota
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.orgs import organized

SHARE, SLICE, WHOLE = "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb.shared", "nvidia.com/gpu"
DAEMONS: Final = {"cpu": 2, "memory": "4Gi"}
FLAVORS: Final[dict[str, Any]] = {
    "l4": {
        "gpu": "L4",
        "nodes": 2,
        "node": {"gpus": 8, "cpu": 98, "memory": "388Gi"},
        "daemons": DAEMONS,
        "sharing": {"timeSlicing": 4},
    },
    "a100": {
        "gpu": "A100-SXM4-80GB",
        "nodes": 1,
        "node": {"gpus": 8, "cpu": 130, "memory": "1028Gi"},
        "daemons": DAEMONS,
        "mig": {"1g.10gb": 7},
        "sharing": {"timeSlicing": 2},
    },
}
"""64 shares of GPUs, and 112 of slices."""
UNSHARED: Final = {key: value for key, value in FLAVORS["l4"].items() if key != "sharing"}
SCHEDULERS: Final = sorted(BACKENDS)


def organization(scheduler: str, flavors: dict[str, Any] | None = None) -> Org:
    """A team with 16 shares of 48 and twenty shares of slices, beside one with nothing."""
    names = flavors or FLAVORS
    budgets: tuple[dict[str, Any], ...] = (
        {"l4": 48, "a100": {"1g.10gb": 40}},
        {"l4": {"reserved": 8, "quota": 16, "limit": 32}, "a100": {"1g.10gb": 20}},
    )
    department, team = ({name: each for name, each in budget.items() if name in names} for budget in budgets)
    return organized(
        {
            "apiVersion": "tenancy/v1alpha1",
            "kind": "Organization",
            "name": "acme",
            "clusters": {"train": {"scheduler": scheduler}},
            "flavors": names,
            "departments": {
                "research": {"budget": department, "teams": {"vision": {"budget": team}, "speech": {}}},
            },
        }
    )


def planned(scheduler: str, flavors: dict[str, Any] | None = None) -> ClusterPlan:
    (cluster,) = plan(organization(scheduler, flavors))
    return cluster


def objects(cluster: ClusterPlan) -> list[Object]:
    """What the scheduler's backend emits."""
    made = BACKENDS[cluster.cluster.scheduler](cluster)
    return [obj for item in made if isinstance(item, Manifest) for obj in item.objects]


def named(found: Iterable[Object], kind: str, name: str, namespace: str | None = None) -> Object:
    """The object of a kind and a name."""
    (it,) = [
        each
        for each in found
        if (each["kind"], each["metadata"]["name"]) == (kind, name)
        and namespace in (None, each["metadata"].get("namespace"))
    ]
    return it


def test_kueue_counts_shares() -> None:
    """The quota of the queue, and what is left in the pools above it; 64 shares in all."""
    found = objects(planned("kueue"))
    queue = named(found, "ClusterQueue", "research-vision")["spec"]["resourceGroups"][0]
    assert set(queue["coveredResources"]) == {"cpu", "memory", SHARE, SLICE}
    amounts = {flavor["name"]: {each["name"]: each for each in flavor["resources"]} for flavor in queue["flavors"]}
    assert amounts["l4"][SHARE] == {
        "name": SHARE,
        "nominalQuota": "16",
        "borrowingLimit": "16",
        "lendingLimit": "8",
    }
    assert (amounts["l4"]["cpu"]["nominalQuota"], amounts["l4"]["memory"]["nominalQuota"]) == ("48", "192Gi")
    assert amounts["a100"][SLICE]["nominalQuota"] == "20"
    root = named(found, "Cohort", "acme")["spec"]["resourceGroups"][0]["flavors"]
    pool = {flavor["name"]: {each["name"]: each["nominalQuota"] for each in flavor["resources"]} for flavor in root}
    assert (pool["l4"][SHARE], pool["a100"][SLICE]) == ("16", "72")


def test_volcano_counts_shares() -> None:
    """In every dimension of the queue, and of the tree of its flavor."""
    found = objects(planned("volcano"))
    spec = named(found, "Queue", "research-vision-l4")["spec"]
    assert spec["deserved"] == {SHARE: "16", "cpu": "48", "memory": "192Gi"}
    assert (spec["guarantee"]["resource"][SHARE], spec["capability"][SHARE]) == ("8", "32")
    assert named(found, "Queue", "l4")["spec"]["capability"][SHARE] == "64"
    assert named(found, "Queue", "default")["spec"]["capability"][SHARE] == "0"


def test_kubernetes_alone_counts_shares() -> None:
    """A team without any has none, and whole GPUs of a node that does not share them yet are nobody's."""
    found = objects(planned("native"))
    owned = named(found, "ResourceQuota", "tenancy-compute", "research-vision")["spec"]["hard"]
    assert (owned[f"requests.{SHARE}"], owned[f"requests.{SLICE}"], owned["requests.cpu"]) == ("16", "20", "68")
    assert (owned[f"requests.{WHOLE}"], owned["requests.nvidia.com/mig-1g.10gb"]) == ("0", "0")
    other = named(found, "ResourceQuota", "tenancy-compute", "research-speech")["spec"]["hard"]
    assert {count for name, count in other.items() if "nvidia" in name} == {"0"}


def test_whole_gpus_of_another_flavor_keep_their_quota() -> None:
    """Only a name that no flavor has is closed."""
    cluster = planned("native", {"l4": UNSHARED, "shared": {**FLAVORS["l4"], "gpu": "A10"}})
    owned = named(objects(cluster), "ResourceQuota", "tenancy-compute", "research-vision")["spec"]["hard"]
    assert (owned[f"requests.{WHOLE}"], owned[f"requests.{SHARE}"]) == ("16", "0")


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_what_is_read_back_are_shares(scheduler: str) -> None:
    """The plan of `diff` compares what the objects say."""
    (unit,) = [each for each in units(objects(planned(scheduler))) if each.title == "research/vision"]
    expected = Quota(16, 16, 16) if scheduler == "native" else Quota(8, 16, 32)
    assert unit.quotas["l4"][SHARE] == expected


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_promises_are_told_in_shares(scheduler: str) -> None:
    """Not in GPUs, of which there are fewer."""
    org = organization(scheduler)
    (cluster,) = plan(org)
    said = [each.said for each in parity(org, cluster, PARITIES[scheduler]) if each.unit == "research/vision"]
    assert {"it owns 16 GPU shares", "it owns 20 shares of `1g.10gb`", "it never lends 8 GPU shares"} <= {*said}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_the_policy_lets_a_container_ask_for_one_share(scheduler: str) -> None:
    """One policy for all shares of the cluster, of the same kinds of work as the others; none where nothing is
    shared."""
    spec = named(objects(planned(scheduler)), "ValidatingAdmissionPolicy", POLICY)["spec"]
    variables = {each["name"]: each["expression"] for each in spec["variables"]}
    assert variables["shares"] == f'["{SHARE}", "{SLICE}"]'
    (rule,) = spec["validations"]
    assert rule["message"].startswith(SHARES)
    assert f"{SHARE} or {SLICE}" in rule["message"]
    others = objects(planned(scheduler, {"l4": UNSHARED}))
    assert [each for each in others if each["metadata"]["name"] == POLICY] == []


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("resource", [SHARE, SLICE])
def test_a_job_of_several_shares_in_a_pod_is_refused(scheduler: str, resource: str) -> None:
    """However much is free: one share in each pod runs."""
    cluster, ask = planned(scheduler), WAITING[scheduler].verdict
    refused = ask(cluster, "research-vision", Request(pod={resource: 2, "cpu": 1000}))
    assert (refused.outcome, refused.cause, refused.message) == ("never", "shares", SHARES)
    single = ask(cluster, "research-vision", Request(pod={resource: 1, "cpu": 500, "memory": 1 << 30}, pods=16))
    assert (single.outcome, single.fragmented) == ("quota", "")


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_job_may_have_as_many_pods_as_there_are_shares(scheduler: str) -> None:
    """To the last share of the limit, and one more never runs."""
    cluster, ask = planned(scheduler), WAITING[scheduler].verdict
    most = 16 if scheduler == "native" else 32
    pod = {SHARE: 1, "cpu": 3000, "memory": 12 << 30}
    assert ask(cluster, "research-vision", Request(pod=pod, pods=most)).runs
    assert ask(cluster, "research-vision", Request(pod=pod, pods=most + 1)).cause in ("capacity", "part")


def test_a_node_offers_its_shares() -> None:
    """What a node holds is what its device plugin shows."""
    flavors = planned("kueue").flavors
    assert list(nodes(flavors["l4"])) == [(2, {"cpu": 96_000, "memory": 384 << 30, SHARE: 32})]
    assert list(nodes(flavors["a100"])) == [(1, {"cpu": 128_000, "memory": 1024 << 30, SLICE: 112})]
