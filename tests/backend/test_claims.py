"""GPUs that are allocated by claims: what Kueue maps, what quotas count, who may claim, and whom a fence lets in."""

from __future__ import annotations

import copy
from typing import Any, Final

import pytest

from tenancy import backend
from tenancy.backend.kueue.configuration import configuration
from tenancy.backend.kueue.configuration_schema import violations
from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.native import waiting
from tenancy.backend.shared.fences import FENCE, TOLERATIONS
from tenancy.backend.waiting import Request, untolerated
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.orgs import organized, scheduled

DAEMONS: Final = {"cpu": 2, "memory": "4Gi"}
TAINT: Final = "acme.example/reserved=training:NoSchedule"
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "flavors": {
        "h100": {
            "gpu": "H100-SXM-80GB",
            "nodes": 2,
            "node": {"gpus": 8, "cpu": 82, "memory": "804Gi"},
            "daemons": DAEMONS,
            "allocation": "dra",
            "taint": TAINT,
        },
        "mig": {
            "gpu": "A30",
            "nodes": 1,
            "node": {"gpus": 2, "cpu": 42, "memory": "204Gi"},
            "daemons": DAEMONS,
            "allocation": "dra",
            "mig": {"2g.12gb": 1, "1g.6gb+me": 1},
        },
    },
    "departments": {
        "research": {
            "budget": {"h100": 12},
            "teams": {"vision": {"budget": {"h100": {"quota": 8, "limit": 10}}}, "other": {}},
        }
    },
}
WHOLE: Final = "h100-sxm-80gb"
SLICES: Final = ("a30-1g.6gb.me", "a30-2g.12gb")
GIB: Final = 1 << 30


def made(scheduler: str, **cluster: Any) -> ClusterPlan:
    """The plan under a scheduler; all nodes are of flavors with claims unless another one is added."""
    tree = copy.deepcopy(TREE)
    tree["clusters"]["train"] = cluster
    (found,) = plan(organized(scheduled(tree, scheduler)))
    return found


def objects(cluster: ClusterPlan, kind: str, name: str, namespace: str | None = None) -> list[Object]:
    """What is written of a kind and a name, in one namespace if named."""
    every = (each for item in backend.items(cluster) if isinstance(item, Manifest) for each in item.objects)
    return [
        each
        for each in every
        if (each["kind"], each["metadata"]["name"]) == (kind, name)
        and namespace in (None, each["metadata"].get("namespace"))
    ]


def devices(name: str) -> str:
    """The key by which a quota counts claims of one of our classes."""
    return f"{name}.tenancy.internal.deviceclass.resource.k8s.io/devices"


@pytest.mark.parametrize(("minor", "kubernetes"), [("0.18", "1.35"), ("0.19", "1.36")])
def test_kueue_counts_classes_as_resources_of_our_own(minor: str, kubernetes: str) -> None:
    """Each class under one name, in a configuration with which the manager starts."""
    found = configuration(made("kueue", versions={"kueue": minor, "kubernetes": kubernetes}))
    assert found["resources"]["deviceClassMappings"] == [
        {"name": f"tenancy.internal/{name}", "deviceClassNames": [f"{name}.tenancy.internal"]}
        for name in (*SLICES, WHOLE)
    ]
    assert violations(found, minor) == []


def test_queues_list_what_is_counted_in_claims() -> None:
    """Beside cpu and memory, and the cluster has plain placement by itself."""
    cluster = made("kueue")
    (queue,) = objects(cluster, "ClusterQueue", "research-vision")
    (group,) = queue["spec"]["resourceGroups"]
    assert group["coveredResources"] == ["cpu", "memory", *(f"tenancy.internal/{name}" for name in (*SLICES, WHOLE))]
    assert not cluster.packed
    assert objects(cluster, "Topology", "h100") == []


def test_claims_stay_within_the_limit_of_a_queue() -> None:
    """A template that is put in the place of one that Kueue has counted gets no more than the unit may ever use, and
    nothing by the classes of NVIDIA's chart."""
    (quota,) = objects(made("kueue"), "ResourceQuota", "tenancy-claims", "research-vision")
    hard = quota["spec"]["hard"]
    assert hard[devices(WHOLE)] == "10"
    foreign = {name: count for name, count in hard.items() if ".nvidia.com." in name}
    assert {name.partition(".deviceclass")[0] for name in foreign} == {
        *("gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com")
    }
    assert set(foreign.values()) == {"0"}


@pytest.mark.parametrize("scheduler", ["kueue", "native"])
def test_without_claims_nothing_is_said_of_them(scheduler: str) -> None:
    """Neither in quotas nor in roles nor in policies."""
    tree = copy.deepcopy(TREE)
    for flavor in tree["flavors"].values():
        del flavor["allocation"]
    (cluster,) = plan(organized(scheduled(tree, scheduler)))
    every = [each for item in backend.items(cluster) if isinstance(item, Manifest) for each in item.objects]
    assert [each["metadata"]["name"] for each in every if "resource.k8s.io" in str(each)] == []
    assert [each["metadata"]["name"] for each in every if "resourceClaims" in str(each)] == []


def test_a_quota_counts_claims_and_what_pods_get_without_one() -> None:
    """Both by the class; a class of which the unit owns nothing is closed, as are those of NVIDIA's chart."""
    (quota,) = objects(made("native"), "ResourceQuota", "tenancy-compute", "research-vision")
    hard = quota["spec"]["hard"]
    implicit = "requests.deviceclass.resource.kubernetes.io/{}.tenancy.internal"
    assert (hard[devices(WHOLE)], hard[implicit.format(WHOLE)]) == ("8", "8")
    assert {hard[devices(name)] for name in SLICES} | {hard[implicit.format(name)] for name in SLICES} == {"0"}
    assert hard["gpu.nvidia.com.deviceclass.resource.k8s.io/devices"] == "0"
    assert not [key for key in hard if key.startswith("requests.tenancy.internal/")]


@pytest.mark.parametrize(
    ("pod", "words"),
    [
        ({WHOLE: 9}, f"exceeded quota: tenancy-compute, requested: {devices(WHOLE)}=9, used: "),
        ({WHOLE: 9, "cpu": 81_000}, "exceeded quota: tenancy-compute, requested: requests.cpu=81, used: "),
    ],
)
def test_a_refusal_is_of_the_pod_or_of_its_claim(pod: dict[str, int], words: str) -> None:
    """A pod is refused for what it requests before there is a claim; the claim is refused when the pod is there."""
    asked = {name if name == "cpu" else f"tenancy.internal/{name}": count for name, count in pod.items()}
    found = waiting.verdict(made("native"), "research-vision", Request(pod={"memory": GIB, **asked}))
    assert (found.outcome, found.cause, found.message) == ("never", "capacity", words)


def test_a_claim_that_no_node_can_fill_is_told_so() -> None:
    """kube-scheduler names claims, not a resource that nodes would have."""
    tree = copy.deepcopy(TREE)
    tree["departments"]["research"]["teams"]["vision"] = {"budget": {"h100": 12}}
    (cluster,) = plan(organized(scheduled(tree, "native")))
    pod = {"tenancy.internal/h100-sxm-80gb": 9, "cpu": 1000, "memory": GIB}
    found = waiting.verdict(cluster, "research-vision", Request(pod=pod))
    assert (found.cause, found.message) == ("nodes", "cannot allocate all claims")


@pytest.mark.parametrize("scheduler", ["kueue", "native"])
def test_who_may_claim(scheduler: str) -> None:
    """Members write templates and nobody of a team a claim; classes are the platform's, and templates are bounded."""
    cluster = made(scheduler)
    rights = {level: _rights(cluster, level) for level in ("admin", "member", "viewer", "platform-admin")}
    for level in ("admin", "member"):
        assert rights[level]["resourceclaimtemplates"] >= {"create", "delete", "get"}
        assert rights[level]["resourceclaims"] == {"get", "list", "watch"}
    assert rights["viewer"]["resourceclaimtemplates"] == {"get", "list", "watch"}
    assert [level for level, found in rights.items() if "create" in found.get("deviceclasses", ())] == [
        "platform-admin"
    ]
    (quota,) = objects(cluster, "ResourceQuota", "tenancy", "research-vision")
    assert quota["spec"]["hard"]["count/resourceclaimtemplates.resource.k8s.io"] == "1k"


def _rights(cluster: ClusterPlan, level: str) -> dict[str, set[str]]:
    """The verbs that a role has on claims and classes."""
    (role,) = objects(cluster, "ClusterRole", f"tenancy-{level}")
    found: dict[str, set[str]] = {}
    for rule in role["rules"]:
        for resource in rule["resources"] if rule["apiGroups"] == ["resource.k8s.io"] else ():
            found.setdefault(resource, set()).update(rule["verbs"])
    return found


def test_a_fence_asks_for_claims() -> None:
    """What a pod claims stands in a template: one with claims counts as asking for all that is claimed."""
    (policy,) = objects(made("kueue"), "ValidatingAdmissionPolicy", FENCE)
    variables = {each["name"]: each["expression"] for each in policy["spec"]["variables"]}
    assert variables["claimed"] == '["deviceclass.resource.kubernetes.io/h100-sxm-80gb.tenancy.internal"]'
    assert "pod.spec.?resourceClaims.orValue([]).size() > 0" in variables["pods"]
    assert "Only pods that ask for h100-sxm-80gb.tenancy.internal may tolerate" in str(policy["spec"]["validations"])
    (mutation,) = objects(made("kueue"), "MutatingAdmissionPolicy", TOLERATIONS)
    assert "claimed" in {each["name"] for each in mutation["spec"]["variables"]}


def test_pods_with_any_claim_get_past_the_fence() -> None:
    """As the policy gives them the tolerations of all flavors with claims; pods without one stay out."""
    cluster = made("kueue")
    flavor = cluster.flavors["h100"]
    assert untolerated(cluster, flavor, Request(pod={"tenancy.internal/a30-2g.12gb": 1})) is None
    left = untolerated(cluster, flavor, Request(pod={"cpu": 1000}))
    assert left is not None
    assert left.text == TAINT
