"""GPUs that pods get by claims: what a driver would publish of fake nodes, counted by Kueue or by ResourceQuotas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from tenancy.model.versions import MUTATING_SINCE, number
from tests.cluster import again, deploy, jobs, native_jobs
from tests.cluster.client import Object, Refused
from tests.cluster.jobs import Scene
from tests.cluster.plane import Cluster
from tests.cluster.scene import PATIENCE

KUEUE = pytest.mark.kueue("0.19")
RESOURCE: Final = "/apis/resource.k8s.io/v1"
DOMAIN: Final = "tenancy.internal"
WHOLE, LARGE, MEDIA = (f"{name}.{DOMAIN}" for name in ("h100-sxm-80gb", "a30-2g.12gb", "a30-1g.6gb.me"))
TAINT: Final = {"key": f"{DOMAIN}/reserved", "operator": "Equal", "value": "training", "effect": "NoSchedule"}
SMALL: Final = {"cpu": "1", "memory": "1Gi"}
VISION, NLP = "claims/vision", "claims/nlp"
PRODUCTS: Final = {"h100": "NVIDIA H100 80GB HBM3", "a30": "NVIDIA A30"}
"""What the driver says: with blanks, where the node labels have dashes."""


def org(name: str) -> dict[str, Any]:
    """Eight GPUs and two divided ones, all of them allocated by claims; a team may use three and another one."""
    small = {"daemons": {"cpu": "2", "memory": "4Gi"}, "nodes": 1, "allocation": "dra"}
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "claimed",
        "clusters": {"main": {}},
        "flavors": {
            "h100": {
                **small,
                "gpu": "H100-SXM-80GB",
                "node": {"gpus": 8, "cpu": 82, "memory": "804Gi"},
                "taint": f"{DOMAIN}/reserved=training:NoSchedule",
            },
            "a30": {
                **small,
                "gpu": "A30",
                "node": {"gpus": 2, "cpu": 42, "memory": "204Gi"},
                "mig": {"2g.12gb": 1, "1g.6gb": 1, "1g.6gb+me": 1},
            },
        },
        "departments": {
            name: {
                "budget": {"h100": 4, "a30": {"2g.12gb": 1, "1g.6gb+me": 1}},
                "policy": {"borrowing": "none"},
                "teams": {
                    "vision": {"budget": {"h100": 3, "a30": {"2g.12gb": 1, "1g.6gb+me": 1}}},
                    "nlp": {"budget": {"h100": 1}},
                },
            }
        },
    }


def published(cluster: Cluster, made: deploy.Compiled) -> None:
    """The ResourceSlices of NVIDIA's driver, one for each node: its GPUs or its MIG devices."""
    for name, flavor in made.plan.flavors.items():
        layout = flavor.layouts[0]
        profiles = [profile for profile, count in layout.profiles.items() for _ in range(count)] or [""]
        devices = [_device(name, gpu, profile) for gpu in range(layout.gpus) for profile in profiles]
        node = f"{name}-0"
        spec = {
            "driver": "gpu.nvidia.com",
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        }
        metadata = {"name": f"{node}-gpu.nvidia.com"}
        cluster.client.create(
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": metadata, "spec": spec}
        )


def _device(flavor: str, gpu: int, profile: str) -> dict[str, Any]:
    name = f"gpu-{gpu}" + (f"-mig-{profile.replace('+', '-').replace('.', '-')}" if profile else "")
    texts = {"type": "mig" if profile else "gpu", "uuid": f"{flavor}-{name}", "productName": PRODUCTS[flavor]}
    texts |= {"profile": profile} if profile else {}
    return {"name": name, "attributes": {key: {"string": text} for key, text in texts.items()}}


def withdrawn(cluster: Cluster) -> None:
    """What the driver publishes goes with its nodes."""
    cluster.client.delete(f"{RESOURCE}/resourceslices")


def template(scene: Any, unit: str, name: str, device_class: str, count: int = 1) -> Object:
    """A ResourceClaimTemplate in the namespace of a unit."""
    exactly = {"deviceClassName": device_class, "count": count, "allocationMode": "ExactCount"}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": scene.namespace(unit).name},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}},
    }


def claiming(name: str) -> dict[str, Any]:
    """What a pod says to get what a template claims; before Kubernetes 1.36 nothing gives it the toleration."""
    return {**wanting(name), "tolerations": [TAINT]}


def wanting(name: str) -> dict[str, Any]:
    """The claim alone."""
    return {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": name}]}


def allocated(scene: Any, unit: str) -> list[tuple[str, int]]:
    """The nodes and the numbers of devices of the unit's claims, sorted."""
    found = []
    for item in scene.cluster.client.list(f"{RESOURCE}/namespaces/{scene.namespace(unit).name}/resourceclaims"):
        results = item.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
        found += [(results[0]["pool"], len(results))] if results else []
    return sorted(found)


# Kueue.


@pytest.fixture(scope="module")
def queued(cluster: Cluster) -> Iterator[Scene]:
    """Two teams whose claims Kueue counts, with a template for each class."""
    made = deploy.compiled_for(cluster, org("claims"))
    scene = jobs.opened(cluster, made)
    published(cluster, made)
    for name, device_class in (("one", WHOLE), ("large", LARGE), ("media", MEDIA), ("foreign", "gpu.nvidia.com")):
        cluster.client.create(template(scene, VISION, name, device_class))
    cluster.client.create(template(scene, VISION, "two", WHOLE, 2))
    cluster.client.create(template(scene, NLP, "one", WHOLE))
    yield scene
    withdrawn(cluster)


def cleared(scene: Scene) -> None:
    """Nobody works, and no claim is left of those who did: the garbage collector ends claims after their pods."""
    scene.clear()
    paths = [f"{RESOURCE}/namespaces/{space.name}/resourceclaims" for space in scene.made.plan.namespaces]
    scene.wait(lambda: not any(map(scene.cluster.client.list, paths)), "no claim is left")


def said(scene: Scene, unit: str, words: str) -> None:
    """Wait until an event says these words. Kueue 0.19 looks twice at work with claims, and the second time it writes
    "Bypassed scheduling evaluation" over what it said the first time."""
    path = f"/api/v1/namespaces/{scene.namespace(unit).name}/events"

    def heard() -> bool:
        return any(words in each.get("message", "") for each in scene.cluster.client.list(path))

    scene.wait(heard, f"{unit} is told: {words}", PATIENCE)


def swapped(scene: Scene, item: Object, count: int) -> None:
    """Put a template that claims so many in the place of one, and end the pod, so that its Job makes another."""
    client = scene.cluster.client
    client.delete(client.path(item))
    client.create(template(scene, VISION, item["metadata"]["name"], WHOLE, count))
    (pod,) = scene.pods(VISION)
    client.delete(f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}")


@KUEUE
def test_classes_are_applied_once(queued: Scene) -> None:
    """A second application of everything, DeviceClasses too, changes nothing."""
    assert again.touched(queued.cluster, queued.made.objects) == []


@KUEUE
def test_claims_are_admitted_by_quota(queued: Scene) -> None:
    """A job that claims two GPUs is admitted, gets past the taint and has two devices of the flavor's node; the next
    one waits, since three GPUs are the team's, and another team has its own."""
    cleared(queued)
    queued.submit(VISION, requests=SMALL, pod=claiming("two"))
    queued.expect({VISION: 2})
    assert queued.running(VISION, 1) == ["h100-0"]
    queued.submit(VISION, requests=SMALL, pod=claiming("two"))
    said(queued, VISION, f"insufficient unused quota for {DOMAIN}/h100-sxm-80gb in flavor h100, 1 more needed")
    queued.submit(NLP, requests=SMALL, pod=claiming("one"))
    queued.expect({VISION: 2, NLP: 1})
    assert queued.running(NLP, 1) == ["h100-0"]
    assert allocated(queued, VISION) == [("h100-0", 2)]


@KUEUE
def test_a_job_above_the_limit_is_told(queued: Scene) -> None:
    """Pods together claim more than the team may ever use."""
    cleared(queued)
    queued.submit(VISION, pods=2, requests=SMALL, pod=claiming("two"))
    said(queued, VISION, f"insufficient quota for {DOMAIN}/h100-sxm-80gb in flavor h100, previously considered podsets")


@KUEUE
def test_profiles_have_classes_of_their_own(queued: Scene) -> None:
    """A claim of a MIG profile gets a device of that profile, also of one with a plus in its name."""
    cleared(queued)
    queued.submit(VISION, requests=SMALL, pod=claiming("media"))
    queued.submit(VISION, requests=SMALL, pod=claiming("large"))
    queued.expect({VISION: 2})
    assert queued.running(VISION, 2) == ["a30-0", "a30-0"]
    claims = queued.cluster.client.list(f"{RESOURCE}/namespaces/{queued.namespace(VISION).name}/resourceclaims")
    devices = [each["device"] for item in claims for each in item["status"]["allocation"]["devices"]["results"]]
    assert sorted(device.partition("-mig-")[2] for device in devices) == ["1g-6gb-me", "2g-12gb"]


@KUEUE
def test_classes_of_others_are_never_admitted(queued: Scene) -> None:
    """A claim of the class of NVIDIA's chart, which holds the same GPUs, is not let past the quotas."""
    cleared(queued)
    queued.submit(VISION, requests=SMALL, pod=claiming("foreign"))
    queued.told(VISION, "DeviceClass gpu.nvidia.com is not mapped in DRA configuration")


@KUEUE
def test_a_changed_template_stays_within_the_limit(queued: Scene) -> None:
    """Kueue counts a template once: another of the same name gets more GPUs, but none above the limit of the team."""
    cleared(queued)
    client, small = queued.cluster.client, template(queued, VISION, "swapped", WHOLE)
    client.create(small)
    queued.submit(VISION, requests=SMALL, pod=claiming("swapped"))
    queued.running(VISION, 1)
    swapped(queued, small, 3)
    queued.wait(lambda: allocated(queued, VISION) == [("h100-0", 3)], "a pod with three GPUs", PATIENCE)
    assert queued.holders() == {VISION: 1}
    swapped(queued, small, 4)
    key = f"{WHOLE}.deviceclass.resource.k8s.io/devices"
    said(queued, VISION, f"exceeded quota: tenancy-claims, requested: {key}=4")
    queued.wait(lambda: allocated(queued, VISION) == [], "the claim of three GPUs is gone", PATIENCE)
    client.delete(client.path(small))


@KUEUE
def test_a_fence_opens_to_claims_alone(queued: Scene) -> None:
    """The toleration of claimed GPUs is for pods with claims, whatever they claim."""
    cleared(queued)
    with pytest.raises(Refused, match=f"Only pods that ask for {WHOLE} may tolerate .* ask for a claim in resource"):
        queued.submit(NLP, requests=SMALL, pod={"tolerations": [TAINT]})
    queued.submit(NLP, requests=SMALL, pod=claiming("one"))
    queued.expect({NLP: 1})


@KUEUE
def test_pods_with_claims_are_given_the_toleration(queued: Scene) -> None:
    """A job that only names its template gets past the taint."""
    if number(queued.cluster.kubernetes) < MUTATING_SINCE:
        pytest.skip("this Kubernetes does not mutate by policy")
    cleared(queued)
    queued.submit(NLP, requests=SMALL, pod=wanting("one"))
    queued.expect({NLP: 1})
    assert queued.running(NLP, 1) == ["h100-0"]


# Kubernetes alone.


@pytest.fixture(scope="module")
def alone(cluster: Cluster) -> Iterator[native_jobs.Scene]:
    """The same without a batch scheduler."""
    made = deploy.compiled_for(cluster, org("claims"))
    scene = native_jobs.opened(cluster, made)
    published(cluster, made)
    for unit in (VISION, NLP):
        cluster.client.create(template(scene, unit, "two", WHOLE, 2))
        cluster.client.create(template(scene, unit, "one", WHOLE))
    yield scene
    withdrawn(cluster)


def claim(scene: native_jobs.Scene, unit: str, device_class: str, **exactly: Any) -> None:
    """Ask whether a claim would be let in. Raises Refused."""
    spec = template(scene, unit, "asked", device_class)["spec"]["spec"]
    spec["devices"]["requests"][0]["exactly"] |= exactly
    metadata: Mapping[str, str] = {"name": "asked", "namespace": scene.namespace(unit).name}
    item = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": dict(metadata), "spec": spec}
    scene.cluster.client.create(item, dry_run=True)


@pytest.mark.native
def test_quotas_of_claims_are_applied_once(alone: native_jobs.Scene) -> None:
    """A second application changes nothing, and the quotas are stored as they were written."""
    assert again.touched(alone.cluster, alone.made.objects) == []
    quota = next(item for item in alone.made.objects if item["metadata"]["name"] == "tenancy-compute")
    assert alone.cluster.client.get(alone.cluster.client.path(quota))["spec"] == quota["spec"]


@pytest.mark.native
def test_claims_are_refused_above_the_quota(alone: native_jobs.Scene) -> None:
    """A pod that claims two GPUs runs on the flavor's node; the claim of a second one is refused, with the numbers."""
    alone.clear()
    alone.pod(VISION, SMALL, **claiming("two"))
    assert alone.running(VISION, 1) == ["h100-0"]
    assert allocated(alone, VISION) == [("h100-0", 2)]
    key = f"{WHOLE}.deviceclass.resource.k8s.io/devices"
    second = alone.pod(VISION, SMALL, **claiming("two"))
    alone.told(VISION, second, f"exceeded quota: tenancy-compute, requested: {key}=2")
    assert alone.running(VISION, 1) == ["h100-0"]


@pytest.mark.native
@pytest.mark.parametrize("name", ["gpu.nvidia.com", "mig.nvidia.com", LARGE])
def test_classes_without_quota_are_closed(alone: native_jobs.Scene, name: str) -> None:
    """Nobody claims by the classes of NVIDIA's chart, or by one of which the team owns nothing."""
    with pytest.raises(Refused, match=rf"exceeded quota: tenancy-compute, requested: {name}\S+=1"):
        claim(alone, NLP, name)


@pytest.mark.native
def test_all_devices_are_not_a_way_around(alone: native_jobs.Scene) -> None:
    """A claim of all devices counts as the most that a claim can have, not as none."""
    with pytest.raises(Refused, match=r"exceeded quota: tenancy-compute, requested: .*devices=32"):
        claim(alone, VISION, WHOLE, allocationMode="All", count=None)


@pytest.mark.native
def test_devices_without_a_claim_count_alike(alone: native_jobs.Scene) -> None:
    """Kubernetes 1.36 gives pods devices of a class by a resource of that name: the pod is refused above the quota, and
    below it what it has counts for claims as well."""
    if number(alone.cluster.kubernetes) < (1, 36):
        pytest.skip("this Kubernetes has no such resource")
    alone.clear()
    implicit = f"deviceclass.resource.kubernetes.io/{WHOLE}"
    with pytest.raises(Refused, match=f"exceeded quota: tenancy-compute, requested: requests.{implicit}=4"):
        alone.pod(VISION, {**SMALL, implicit: "4"})
    alone.pod(VISION, {**SMALL, implicit: "2"}, tolerations=[TAINT])
    alone.running(VISION, 1)

    def counted() -> bool:
        """By a controller, of which the API server hears a moment later."""
        try:
            claim(alone, VISION, WHOLE, count=2)
        except Refused as refused:
            return "exceeded quota: tenancy-compute" in refused.message
        return False

    alone.wait(counted, "the devices are counted", PATIENCE)
    assert _used(alone, VISION) == "2"


def _used(scene: native_jobs.Scene, unit: str) -> str:
    used: dict[str, str] = scene.quota(unit)["status"]["used"]
    return used[f"{WHOLE}.deviceclass.resource.k8s.io/devices"]
