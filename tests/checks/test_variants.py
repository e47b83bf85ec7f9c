"""The other ways to break the rules on hardware, access, limits, networks and dates, and what is fine beside them."""

from __future__ import annotations

from copy import deepcopy
from datetime import date
from typing import Any

import pytest

from tenancy.check import access, expiry, flavors, gpus, kueue, network, objects, storage, taints, topology
from tenancy.check.finding import Finding
from tenancy.load.source import Sources
from tenancy.model.budgets import promise
from tenancy.model.organization import Org, organize
from tenancy.model.parse import parse

MODULES = (access, expiry, flavors, gpus, kueue, network, objects, storage, taints, topology)
BASE: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "flavors": {
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 4, "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"}},
        "cpu": {"nodes": 4, "node": {"cpu": 64, "memory": "256Gi"}},
    },
    "departments": {"research": {"budget": {"h100": 16}, "teams": {"vision": {"budget": {"h100": 8}}}}},
}
VISION = ("departments", "research", "teams", "vision")


def organization(*changes: tuple[tuple[str, ...], Any]) -> Org:
    """The base organization with values set at paths."""
    tree = deepcopy(BASE)
    for path, value in changes:
        place = tree
        for key in path[:-1]:
            place = place.setdefault(key, {})
        place[path[-1]] = value
    parsed, _ = parse(tree, Sources((), tree, {}))
    assert parsed.organization is not None
    org = organize(parsed.organization, parsed.left_out)
    promise(org)
    return org


def found(org: Org) -> list[Finding]:
    return [finding for module in MODULES for check in module.CHECKS for finding in check(org)]


def codes(*changes: tuple[tuple[str, ...], Any]) -> list[str]:
    return [finding.rule.code for finding in found(organization(*changes))]


def h100(*path: str) -> tuple[str, ...]:
    return ("flavors", "h100", *path)


A100 = {"gpu": "A100-SXM4-80GB", "nodes": 4, "node": {"gpus": 8, "cpu": 128, "memory": "1000Gi"}}
ONE_HOST = (
    ("flavors", "h100"),
    {**BASE["flavors"]["h100"], "nodes": 1, "labels": {"kubernetes.io/hostname": "n1"}},
)
HARDWARE: list[tuple[tuple[tuple[tuple[str, ...], Any], ...], list[str]]] = [
    ((), []),
    (((h100("gpu"), "NVIDIA-H100-80GB-HBM3"),), ["unknown-gpu"]),
    (((h100("gpu"), "no-such-thing"), (h100("mig"), {"1g.10gb": 7})), ["unknown-gpu"]),
    (((h100("gpu"), {"name": "X", "memory": "1Gi", "resource": "kubernetes.io/gpu"}),), ["gpu-resource"]),
    (((h100("gpu"), {"name": "X", "memory": "1Gi", "resource": "x.kubernetes.io/gpu"}),), ["gpu-resource"]),
    (((h100("gpu"), {"name": "X", "memory": "1Gi", "resource": f"x.example/{'g' * 64}"}),), ["gpu-resource"]),
    (((h100("gpu"), {"name": "X", "memory": "1Gi", "resource": f"x.example/{'g' * 63}"}),), []),
    (((h100("gpu"), {"name": "X", "memory": "1Gi", "resource": "a/b/c"}),), ["gpu-resource"]),
    (((("flavors", "cpu", "mig"), {"1g.10gb": 7}),), ["mig-unsupported"]),
    (((h100("mig"), {}),), ["mig-does-not-fit"]),
    (((h100("mig"), {"1g.10gb": 0}),), ["mig-does-not-fit"]),
    (((h100("mig"), {"1g.10gb": -1}),), ["mig-does-not-fit"]),
    (((h100("mig"), {"1g.10gb": 8}),), ["mig-does-not-fit"]),
    (((h100("mig"), {"gpus": 4, "1g.10gb": 7}),), ["mig-profile-unknown"]),
    (((h100("mig"), {"1c.3g.40gb": 1}),), ["mig-profile-unknown"]),
    (((h100("mig"), {"3g.40gb": 2}),), []),
    (((h100("mig"), []),), ["mig-shares"]),
    (((h100("mig"), [{"1g.10gb": 7}]),), []),
    (((h100("mig"), [{"1g.10gb": 7}, {"gpus": 4, "3g.40gb": 2}]),), ["mig-shares"]),
    (((h100("mig"), [{"nodes": 2, "1g.10gb": 7}, {"gpus": 4, "3g.40gb": 2}]),), ["mig-shares"]),
    (((h100("mig"), [{"nodes": 2, "gpus": 4, "1g.10gb": 7}]),), ["mig-shares"]),
    (((h100("mig"), [{"nodes": 4, "1g.10gb": 7}, {"nodes": 0, "3g.40gb": 2}]),), ["mig-shares"]),
    (((h100("mig"), [{"nodes": 4, "1g.10gb": 7}, {"nodes": 1}]),), ["mig-shares"]),
    (((h100("mig"), [{"nodes": 3, "1g.10gb": 7}, {"nodes": 1}]),), []),
    (((h100("labels"), {"a": "b"}), (("flavors", "cpu", "labels"), {"a": "b"})), ["flavors-overlap"]),
    (((h100("labels"), {"a": "b"}), (("flavors", "cpu", "labels"), {"a": "c"})), []),
    (((h100("labels"), {"a": "b"}), (("flavors", "cpu", "labels"), {"c": "b"})), []),
    (((h100("labels"), {"kubernetes.io/hostname": "n1"}),), ["flavor-label-without-node"]),
    ((ONE_HOST,), []),
    (((h100("labels"), {"-a": "b"}),), ["flavor-label-syntax"]),
    (((h100("labels"), {"nvidia.com/gpu.count": "4"}),), ["flavor-label-without-node"]),
    (((h100("labels"), {"nvidia.com/gpu.count": "8"}),), []),
    (((h100("labels"), {"nvidia.com/gpu.product": "NVIDIA-H100-PCIe"}),), ["flavor-label-without-node"]),
    (
        ((h100("labels"), {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"}),),
        ["flavor-label-without-node"],
    ),
    (((("flavors", "cpu", "labels"), {"nvidia.com/gpu.product": "Tesla-T4"}),), ["flavor-label-without-node"]),
    (((h100("taints"), [f"a{n}:NoSchedule" for n in range(9)]),), ["flavor-limit"]),
    (((h100("taints"), [f"a{n}:NoSchedule" for n in range(8)]),), []),
    (((h100("spareNodes"), 5),), ["spare-nodes"]),
    (((h100("node", "memory"), "4Gi"),), ["node-below-daemons"]),
    (((h100("perGpu"), {"memory": "250Gi"}),), ["per-gpu-above-node"]),
    (((h100("perGpu"), {"memory": "249Gi"}),), []),
    (((h100("taint"), "reserved"),), ["taint-syntax"]),
    (((h100("taint"), "a=b:"),), ["taint-syntax"]),
    (((h100("taint"), "-a=b:NoSchedule"),), ["taint-syntax"]),
    (((h100("taint"), "node.cloudprovider.kubernetes.io/x:NoSchedule"),), ["taint-of-node-state"]),
    (((h100("taint"), "a:PreferNoSchedule"), (h100("cpuJobs"), "fence")), ["taint-soft", "fence-without-taint"]),
    (((h100("taint"), "a=b:Nope"), (h100("cpuJobs"), "fence")), ["taint-syntax"]),
    (((h100("cpuJobs"), "lend"),), []),
    (((h100("cluster"), "nowhere"),), []),
    (((h100("topology"), []),), ["topology-levels"]),
    (((h100("topology"), ["a", "a", "kubernetes.io/hostname"]),), ["topology-levels"]),
    (((h100("topology"), [*(f"l{n}" for n in range(16)), "kubernetes.io/hostname"]),), ["topology-levels"]),
    (((h100("topology"), [*(f"l{n}" for n in range(15)), "kubernetes.io/hostname"]),), []),
    (((h100("topology"), ["kubernetes.io/hostname", "a"]),), ["topology-hostname"]),
    (((("priorities",), {"low": -(2**31)}),), []),
    (((("priorities",), {"low": -(2**31) - 1}),), ["priority-range"]),
    (((("priorities",), {"high": 1_000_000_001}),), ["priority-range"]),
    (((("priorities",), {"p" * 64: 1}),), ["priority-name"]),
    (((("priorities",), {"High": 1}),), ["priority-name"]),
]


@pytest.mark.parametrize(("changes", "expected"), HARDWARE)
def test_hardware(changes: tuple[tuple[tuple[str, ...], Any], ...], expected: list[str]) -> None:
    """Each change of the hardware breaks exactly the rules that are named."""
    assert codes(*changes) == expected


def unit(*path: str) -> tuple[str, ...]:
    return (*VISION, *path)


ORGANIZATION: list[tuple[tuple[tuple[tuple[str, ...], Any], ...], list[str]]] = [
    (((unit("access", "members"), ["group:"]),), ["subject-syntax"]),
    (((unit("access", "members"), ["Group: vision"]),), ["subject-syntax"]),
    (((unit("access", "members"), ["serviceaccount:ci"]),), ["subject-syntax"]),
    (((unit("access", "members"), ["serviceaccount:CI/ci"]),), ["subject-syntax"]),
    (((unit("access", "members"), ["serviceaccount:ci/*"]),), ["subject-wildcard"]),
    (((unit("access", "members"), ["*"]),), ["subject-wildcard"]),
    (((unit("access", "members"), ["user:system:serviceaccount:ci:runner"]),), ["subject-system"]),
    (((unit("access", "members"), ["group:oidc:vision", "serviceaccount:ci/runner.v2"]),), []),
    (((("access", "admins"), ["group:system:masters"]),), ["subject-system"]),
    (((("access", "admins"), ["serviceaccount:argocd/controller"]),), []),
    (((("access",), {"admins": ["user:a"], "auditors": ["user:a"]}),), ["subject-at-two-levels"]),
    (
        ((unit("access"), {"admins": ["user:a"], "members": ["user:a"], "viewers": ["user:a"]}),),
        ["subject-at-two-levels"] * 2,
    ),
    (((unit("access", "serviceAccounts"), ["ci", "ci"]),), ["subject-twice"]),
    (((unit("access", "serviceAccounts"), ["serviceaccount:a/b"]),), ["service-account-name"]),
    (((unit("limits", "objects"), {"count/jobs": 5}),), []),
    (((unit("limits", "objects"), {"count/": 5}),), ["object-key"]),
    (((unit("limits", "objects"), {"jobs.batch": 5}),), ["object-key"]),
    (((unit("limits", "objects"), {"cpu": 5}),), ["object-compute"]),
    (((unit("limits", "objects"), {"limits.memory": "5Gi"}),), ["object-compute"]),
    (((unit("limits", "objects"), {"fast.storageclass.storage.k8s.io/requests.storage": "5Gi"}),), ["object-compute"]),
    (((unit("limits", "objects"), {"pods": 0}),), ["object-zero"]),
    (((unit("limits", "objects"), {"count/services": 0, "services.loadbalancers": 0}),), []),
    (((unit("limits", "objects"), {"pods": 32}),), []),
    (((unit("limits", "objects"), {"count/pods": 31}),), ["pods-below-queue"]),
    (((("departments", "research", "limits", "objects"), {"pods": 31}),), ["pods-below-queue"]),
    (((("departments", "research", "limits", "objects"), {"pods": 31}), (unit("limits", "objects"), {"pods": 40})), []),
    (((unit("limits", "container"), {"nvidia.com/gpu": 1}),), ["container-resource"]),
    (((unit("limits", "container"), {"memory": "250Gi"}),), ["container-too-large"]),
    (((unit("limits", "container"), {"memory": "200Gi", "cpu": "500m"}),), []),
    (
        ((unit("storage"), {"fast": "5Ti"}), (unit("projects"), {"a": {"storage": {"fast": "6Ti"}}})),
        ["storage-above-parent"],
    ),
    (
        (
            (("departments", "research", "storage"), {"fast": "5Ti"}),
            (unit("projects"), {"a": {"storage": {"fast": "6Ti"}}}),
        ),
        ["storage-above-parent"],
    ),
    (
        (
            (("departments", "research", "storage"), {"fast": "5Ti"}),
            (unit("projects"), {"a": {"storage": {"fast": "5Ti"}}}),
        ),
        [],
    ),
    (
        (
            (("departments", "research", "storage"), {"fast": "5Ti"}),
            (unit("projects"), {"a": {"storage": {"fast": "5Ti"}}, "b": {}}),
        ),
        ["storage-not-divided"],
    ),
    (((("network", "metadata"), ["169.254.169.254"]),), ["network-range"]),
    (((("network", "clusterRanges"), ["10.0.0.0/33"]),), ["network-range"]),
    (((("network", "clusterRanges"), ["10.0.0.0/8", "fd00::/8"]),), []),
    (((("network", "apiServer"), {"cidrs": ["0.0.0.0/0"]}),), ["metadata-exposed"]),
    (((("network", "apiServer"), {"cidrs": ["203.0.113.7/24"]}),), ["network-range"]),
    (((("network", "dns"), {"nodeLocal": None}),), []),
    (((("network", "services"), {"a": {"ports": [1]}}),), ["service-target"]),
    (((("network", "services"), {"a": {"ports": [1], "pods": {"a": "b"}}}),), ["service-target"]),
    (((("network", "services"), {"a": {"ports": [1], "namespace": "a", "pods": {}}}),), ["service-target"]),
    (((("network", "services"), {"a": {"ports": [1], "namespace": "A", "pods": {"a": "b"}}}),), ["service-target"]),
    (((("network", "services"), {"a": {"ports": [1], "namespace": "a", "pods": {"a": "b c"}}}),), ["service-target"]),
    (
        ((("network", "services"), {"a": {"ports": [1], "cidr": "10.0.0.0/8", "namespace": "a", "pods": {"a": "b"}}}),),
        ["service-target"],
    ),
    (((("network", "services"), {"a": {"ports": [1, 65535], "cidr": "10.0.0.0/8"}}),), []),
    (((("network", "services"), {"a": {"ports": [0], "cidr": "10.0.0.0/8"}}),), ["service-port"]),
    (((unit("network", "egress", "apiServer"), False),), []),
    (((unit("expires"), "2027-02-30"),), ["expires-syntax"]),
    (((unit("expires"), "20270228"),), ["expires-syntax"]),
    (((unit("expires"), "2027-02-28"),), []),
]


@pytest.mark.parametrize(("changes", "expected"), ORGANIZATION)
def test_units(changes: tuple[tuple[tuple[str, ...], Any], ...], expected: list[str]) -> None:
    """Each change of units and networks breaks exactly the rules that are named."""
    assert codes(*changes) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("H100", "`H100-SXM-80GB`, `H100-PCIE-80GB` or `H100-NVL-94GB`"),
        ("NVIDIA-H100-NVL", "`H100-NVL-94GB`"),
        ("h100-sxm-80gb", "`H100-SXM-80GB`"),
        ("A100-SXM4-80", "`A100-SXM4-80GB`"),
    ],
)
def test_the_nearest_boards_are_named(text: str, hint: str) -> None:
    """Product names, prefixes and misspellings lead to the key of the catalogue."""
    (finding,) = found(organization((h100("gpu"), text)))
    assert finding.help.startswith(f"did you mean {hint}?")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("vision", "did you mean `group:vision`?"),
        ("Group: vision", "did you mean `group:vision`?"),
        ("sa:ci", "a service account needs its namespace"),
        ("user:system:serviceaccount:ci:runner", "write `serviceaccount:ci/runner`"),
    ],
)
def test_the_nearest_subject_is_named(text: str, hint: str) -> None:
    """The help spells the subject that was probably meant."""
    (finding,) = found(organization((unit("access", "members"), [text])))
    assert finding.help.startswith(hint)


def test_a_unit_expires_after_its_last_day() -> None:
    """The last day itself still belongs to the unit."""
    org = organization((unit("expires"), "2026-06-15"))
    assert list(expiry.expired(org, date(2026, 6, 15))) == []
    assert [finding.rule.code for finding in expiry.expired(org, date(2026, 6, 16))] == ["expired"]


def test_draining_units_are_told_to_be_removed() -> None:
    """A unit that is already draining needs no advice to drain."""
    org = organization((unit("expires"), "2026-06-01"), (unit("state"), "draining"))
    (finding,) = expiry.expired(org, date(2026, 6, 15))
    assert finding.help.startswith("remove the unit")


def test_what_could_not_be_read_is_not_judged_again() -> None:
    """A GPU of the wrong type has one finding, from the parser, and does not make a CPU flavor."""
    assert codes((h100("gpu"), ["H100"]), (h100("mig"), {"1g.10gb": 7})) == []
    assert codes((h100("taint"), 5), (h100("cpuJobs"), "fence")) == []


def test_queues_that_do_not_borrow_are_small() -> None:
    """Pairs are counted for the flavors that a unit may use, not for those of its cluster."""
    many = {
        f"a{n}": {**A100, "gpu": {"name": "X", "memory": "1Gi", "resource": f"x{n}.example/gpu"}} for n in range(30)
    }
    budget = {"research": {"budget": {"a1": 1}, "teams": {"vision": {"budget": {"a1": 1}}}}}
    borrowing = codes((("flavors",), many), (("departments",), budget))
    alone = codes((("flavors",), many), (("departments",), budget), (("policy",), {"borrowing": "none"}))
    assert "kueue-pairs" in borrowing
    assert "kueue-pairs" not in alone
