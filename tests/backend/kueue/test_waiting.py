"""What Kueue will say of a job; the sentences were compared with real Workloads on Kueue 0.17.0 and 0.19.2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenancy.backend.kueue import compile as kueue
from tenancy.backend.kueue.capacity import capacity
from tenancy.backend.kueue.waiting import BYPASSED, verdict
from tenancy.backend.manifest import Manifest
from tenancy.backend.shared.whole_nodes import whole_nodes
from tenancy.backend.waiting import WHOLE_NODES, Request, Verdict, nodes
from tenancy.pipeline import Options, examine
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.kueue_model import QUEUE, build, potential
from tests.orgs import organized

ROOT = Path(__file__).parents[3]
ORGS = [ROOT / "org", *sorted(ROOT.glob("tests/cases/*/org"))]
GPU, SLICE, GIB = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", 1 << 30
SMALL = {"cpu": 1000, "memory": GIB}


@pytest.fixture(scope="module")
def example() -> ClusterPlan:
    """The cluster of the example organization: Kueue 0.19."""
    return plans(ROOT / "org")[0]


def plans(org: Path) -> tuple[ClusterPlan, ...]:
    found = examine(org, Options(scheduler="kueue")).org
    assert found is not None
    return plan(found)


def small(flavors: dict[str, Any], budget: dict[str, Any], **cluster: Any) -> ClusterPlan:
    """One team `a/t` beside another that owns as much, on flavors of one cluster."""
    teams = {name: {"budget": budget} for name in ("t", "u")}
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"one": cluster},
        "flavors": flavors,
        "departments": {"a": {"teams": teams, "budget": dict.fromkeys(budget, 16)}},
    }
    return plan(organized(tree))[0]


def h100(**more: Any) -> dict[str, Any]:
    node = {"gpus": 8, "cpu": 82, "memory": "804Gi"}
    return {"gpu": "H100-SXM-80GB", "nodes": 2, "node": node, **more}


def old(kueue_minor: str) -> dict[str, Any]:
    return {"versions": {"kubernetes": "1.35", "kueue": kueue_minor}}


def gpus(count: int, pods: int = 1, flavor: str = "h100", **more: Any) -> Request:
    return Request(pod={GPU: count, **SMALL}, pods=pods, flavor=flavor, **more)


@pytest.mark.parametrize("org", ORGS, ids=lambda path: path.parent.name)
def test_the_capacity_of_a_queue_is_that_of_kueues_tree(org: Path) -> None:
    """For every queue, flavor and resource: what an independent model of Kueue computes from the emitted objects."""
    for cluster in plans(org):
        tree = build(each for made in kueue(cluster) if isinstance(made, Manifest) for each in made.objects)
        queues = {queue.name: list(tree.quotas[QUEUE, queue.name]) for queue in cluster.queues}
        assert any(queues.values())
        for name, cells in queues.items():
            got = {cell: capacity(cluster, name, *cell) for cell in cells}
            assert got == {cell: potential(tree, (QUEUE, name), cell) for cell in cells}


@pytest.mark.parametrize(
    ("pods", "outcome"), [(1, "reserved"), (2, "quota"), (3, "quota"), (4, "borrows"), (5, "borrows"), (6, "never")]
)
def test_the_weakest_promise_that_a_job_needs(example: ClusterPlan, pods: int, outcome: str) -> None:
    """Of 8 reserved, a quota of 24 and a limit of 40 GPUs, in pods of whole nodes."""
    assert verdict(example, "research-vision", gpus(8, pods)).outcome == outcome


def test_each_resource_counts() -> None:
    """A job within its GPUs that asks for more cpu than its quota has borrows, and beyond its limit never runs."""
    budget = {"h100": {"quota": {"gpus": 4, "cpu": 10}, "limit": {"gpus": 8, "cpu": 20}}}
    cluster = small({"h100": h100()}, budget)
    outcomes = [
        verdict(cluster, "a-t", Request(pod={GPU: 1, "cpu": cores * 1000}, flavor="h100")).outcome
        for cores in (10, 11, 21)
    ]
    assert outcomes == ["quota", "borrows", "never"]


def test_above_the_limit(example: ClusterPlan) -> None:
    """The message names what is asked for and the most that the queue can have; with 41 pods of one GPU as well."""
    assert verdict(example, "research-vision", gpus(1, 41)) == Verdict(
        outcome="never",
        cause="capacity",
        flavor="h100",
        message=(
            "insufficient quota for nvidia.com/gpu in flavor h100, previously considered podsets requests (0) + "
            "current podset request (41) > maximum capacity (40)"
        ),
    )


def test_quantities_are_spelt_as_kueue_spells_them(example: ClusterPlan) -> None:
    """Thousands get a suffix, cpu may be in thousandths, memory is in powers of two."""
    job = Request(pod={"cpu": 1001, "memory": 1}, pods=5000)
    assert "request (5005) > maximum capacity (1260)" in verdict(example, "research-vision", job).message
    job = Request(pod={"cpu": 1, "memory": 2 << 40}, pods=3)
    assert "request (6Ti) > maximum capacity (5040Gi)" in verdict(example, "research-vision", job).message
    job = Request(pod={"cpu": 1000}, pods=5000)
    assert "request (5k) > maximum capacity (1260)" in verdict(example, "research-vision", job).message


@pytest.mark.parametrize(("minor", "certain"), [("0.17", False), ("0.18", False), ("0.19", True)])
def test_before_0_19_one_of_several_short_resources_is_named(minor: str, certain: bool) -> None:
    """Which one is chance there, so the prediction is what all their sentences share."""
    cluster = small({"h100": h100()}, {"h100": 4}, **old(minor))
    job = Request(pod={GPU: 17, "cpu": 170_000}, flavor="h100")
    message = verdict(cluster, "a-t", job).message
    assert message.startswith("insufficient quota for nvidia.com/gpu in flavor h100, ") is certain
    assert "in flavor h100, previously considered podsets requests (0) + current podset request (" in message


def test_a_pod_larger_than_a_node() -> None:
    """It finds no node although its quota would allow it; what DaemonSets use of a node is not there for it."""
    cluster = small({"h100": h100(daemons={"cpu": 1, "memory": "4Gi"})}, {"h100": 4})
    fits, not_quite = (verdict(cluster, "a-t", Request(pod={GPU: 1, "cpu": milli})) for milli in (81_000, 81_001))
    assert (fits.outcome, not_quite.cause) == ("borrows", "topology")
    assert not_quite.message == 'topology "h100" doesn\'t allow to fit any of 1 pod(s)'


def test_more_pods_than_the_nodes_hold(example: ClusterPlan) -> None:
    """Pods of five of eight GPUs: one to a node, and there are 16 nodes."""
    found = verdict(example, "product-inference", gpus(5, 17))
    assert (found.cause, found.message) == ("topology", 'topology "h100" allows to fit only 16 out of 17 pod(s)')


def test_flavors_after_the_one_without_place_have_the_last_word(example: ClusterPlan) -> None:
    """Kueue goes on with them in a second cycle, whose message replaces that of the first (run on both versions)."""
    found = verdict(example, "research-vision", gpus(9))
    assert (found.cause, found.flavor) == ("topology", "h100")
    assert found.message == "untolerated taint {gpu.acme.example/reserved sliced NoSchedule <nil>} in flavor a100-mig"


def test_with_plain_placement_pods_without_place_are_admitted() -> None:
    """Kueue knows no nodes there: the job has its quota and never starts, so no message is predicted."""
    budget = {"h100": {"quota": 4, "limit": 16}}
    cluster = small({"h100": h100()}, budget, placement="plain")
    found = verdict(cluster, "a-t", gpus(3, 2))
    assert (found.outcome, found.fragmented) == ("borrows", "")
    assert verdict(cluster, "a-t", gpus(9)) == Verdict(outcome="never", cause="nodes", flavor="h100")


def test_a_fence_keeps_jobs_without_gpus_out(example: ClusterPlan) -> None:
    """A job that selects GPU nodes and asks for no GPU; without the selector it runs on the CPU flavor."""
    taint = "untolerated taint {gpu.acme.example/reserved training NoSchedule <nil>} in flavor h100"
    found = verdict(example, "research-vision", Request(pod=SMALL, flavor="h100"))
    assert (found.cause, found.message) == ("taint", taint)
    assert verdict(example, "research-vision", gpus(8, tolerates=False)).message == taint
    assert verdict(example, "research-vision", Request(pod=SMALL)).flavor == "cpu"


def test_a_lent_flavor_takes_them() -> None:
    """Under `cpuJobs: lend` Kueue adds the toleration by itself."""
    lent = h100(taint="a=b:NoSchedule", cpuJobs="lend")
    job = Request(pod={"cpu": 1000}, tolerates=False)
    assert verdict(small({"h100": lent}, {"h100": 4}), "a-t", job).outcome == "quota"


@pytest.mark.parametrize("state", ["held", "draining"])
def test_a_stopped_queue_takes_nothing(state: str) -> None:
    """Kueue says `is inactive` or `is stopped`, as its controllers happen to come by."""
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"one": {}},
        "flavors": {"h100": h100()},
        "departments": {"a": {"budget": {"h100": 4}, "teams": {"t": {"budget": {"h100": 4}, "state": state}}}},
    }
    found = verdict(plan(organized(tree))[0], "a-t", gpus(1))
    assert found == Verdict(outcome="never", cause="stopped", message="ClusterQueue a-t is ")


CAGED = {"h100": {"quota": 0, "limit": 0}, "l4": 4}
L4 = {"gpu": {"name": "X", "memory": "24Gi", "resource": "example.com/x"}, "nodes": 2, "node": h100()["node"]}


def test_a_flavor_that_the_queue_does_not_reach() -> None:
    """Selecting its nodes is told of each flavor, or the missing resource is, whichever Kueue comes to first."""
    for minor, message in (
        ("0.17", "couldn't assign flavors to pod set "),
        ("0.19", "flavor l4 doesn't match node affinity"),
    ):
        found = verdict(small({"h100": h100(), "l4": L4}, CAGED, **old(minor)), "a-t", gpus(1))
        assert (found.cause, found.message) == ("resource", message)


def test_a_resource_that_no_flavor_has() -> None:
    """0.19 asks for resources in the order of a hash: memory before nvidia.com/gpu, this one before cpu and memory.
    Where cpu and memory found a flavor first, its own words replace the reason (run on 0.19.2)."""
    flavors = {"h100": h100(), "l4": L4}
    for minor, message in (("0.17", "resource nvidia.com/gpu unavailable in ClusterQueue"), ("0.19", BYPASSED)):
        assert verdict(small(flavors, CAGED, **old(minor)), "a-t", gpus(1, flavor="")).message == message
    first = Request(pod={"amd.com/gpu": 1, **SMALL})
    found = verdict(small(flavors, CAGED), "a-t", first)
    assert found.message == "resource amd.com/gpu unavailable in ClusterQueue"


def test_a_queue_without_flavors_has_nothing() -> None:
    """Whatever is asked for is unavailable."""
    nothing = {"h100": {"quota": 0, "limit": 0}}
    found = verdict(small({"h100": h100()}, nothing), "a-t", gpus(1))
    assert (found.cause, found.message.endswith(" unavailable in ClusterQueue")) == ("resource", True)


@pytest.mark.parametrize(("minor", "flavor"), [("0.17", "h100"), ("0.18", "cpu"), ("0.19", "cpu")])
def test_whose_label_keys_count(minor: str, flavor: str) -> None:
    """Until 0.17 a selected label of any flavor keeps a job off the flavors without it; later only a flavor's own keys
    do, and the flavor that is tried first takes the job."""
    flavors = {"h100": h100(labels={"pool": "big"}), "cpu": {"nodes": 1, "node": {"cpu": 10, "memory": "64Gi"}}}
    cluster = small(flavors, {"h100": 4}, **old(minor))
    assert verdict(cluster, "a-t", Request(pod={"cpu": 1000}, flavor="h100")).flavor == flavor


def test_parts_of_whole_nodes_are_refused() -> None:
    """By the admission policy, whose message begins so; multiples of pods of a node are fine."""
    cluster = small({"h100": h100(wholeNodes=True)}, {"h100": 8})
    assert verdict(cluster, "a-t", gpus(4)) == Verdict(
        outcome="never", cause="whole-nodes", flavor="h100", message=WHOLE_NODES
    )
    found = verdict(cluster, "a-t", gpus(8))
    assert (found.outcome, found.fragmented) == ("quota", "")
    policies = list(whole_nodes(cluster))
    assert any(WHOLE_NODES in str(policy["spec"].get("validations")) for policy in policies)


def test_what_is_said_meanwhile(example: ClusterPlan) -> None:
    """A job that can run waits for quota, or for a node; pods of one GPU find place wherever one is free."""
    found = verdict(example, "research-vision", gpus(8))
    assert found.waits == "insufficient unused quota for nvidia.com/gpu in flavor h100, "
    assert found.fragmented == 'topology "h100" doesn\'t allow to fit any of 1 pod(s)'
    assert verdict(example, "research-vision", gpus(8, 2)).fragmented == 'topology "h100" '
    assert verdict(example, "research-vision", gpus(1, 8)).fragmented == ""


def test_slices_are_counted_per_profile(example: ClusterPlan) -> None:
    """A MIG job finds the flavor that has its profile, and a pod no more slices than a node has."""
    notebooks = "research-notebooks"
    assert verdict(example, notebooks, Request(pod={SLICE: 16})).flavor == "a100-mig"
    assert verdict(example, notebooks, Request(pod={SLICE: 17})).cause == "topology"
    assert verdict(example, notebooks, Request(pod={SLICE: 29})).cause == "capacity"


@pytest.mark.parametrize(
    ("mig", "kinds"),
    [
        ({"1g.10gb": 7}, [(2, {SLICE: 56})]),
        (
            [{"1g.10gb": 7, "nodes": 1}, {"3g.40gb": 2, "nodes": 1}],
            [(1, {SLICE: 56}), (1, {"nvidia.com/mig-3g.40gb": 16})],
        ),
        ([{"1g.10gb": 7, "gpus": 2}, {"3g.40gb": 2, "gpus": 6}], [(2, {SLICE: 14, "nvidia.com/mig-3g.40gb": 12})]),
    ],
)
def test_kinds_of_nodes(mig: Any, kinds: list[tuple[int, dict[str, int]]]) -> None:
    """Layouts of different nodes make kinds of their own, layouts of different GPUs of a node make one."""
    flavor = small({"m": {**h100(), "gpu": "A100-SXM4-80GB", "mig": mig}}, {}).flavors["m"]
    got = [(count, {name: each for name, each in node.items() if "/" in name}) for count, node in nodes(flavor)]
    assert got == kinds


def test_unknown_names_are_errors(example: ClusterPlan) -> None:
    """A prediction about nothing would look like one."""
    with pytest.raises(KeyError):
        verdict(example, "research", gpus(1))
    with pytest.raises(KeyError):
        verdict(example, "research-vision", gpus(1, flavor="h200"))
