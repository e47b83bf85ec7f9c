"""Namespaces and the bounds inside them."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.backend.kueue.work import WORK
from tenancy.backend.native.work import WORK as NATIVE
from tenancy.backend.shared import tenant
from tenancy.backend.shared.work import Work
from tenancy.backend.volcano.work import WORK as VOLCANO

from .support import objects, one, planned

each_work = pytest.mark.parametrize("work", [WORK, VOLCANO, NATIVE], ids=["kueue", "volcano", "native"])


def test_pod_security_is_pinned_to_the_clusters_version() -> None:
    """`latest` would change with an upgrade of the cluster."""
    labels = one(planned(), "Namespace")["metadata"]["labels"]
    security = {key.split("/")[1]: value for key, value in labels.items() if key.startswith("pod-security")}
    assert security == {
        "enforce": "baseline",
        "enforce-version": "v1.36",
        "audit": "restricted",
        "audit-version": "v1.36",
        "warn": "baseline",
        "warn-version": "v1.36",
    }


def test_a_backend_adds_annotations_of_its_own() -> None:
    """Sorted in among those of the unit and of Argo CD: their order in a file says nothing of who wrote them."""
    cluster = planned({"annotations": {"x.example/y": "z"}})
    found, *_ = tenant(cluster, cluster.namespaces[0], WORK, {"tenancy.internal/queues": "a,b", "a.example/b": "c"})
    annotations = found["metadata"]["annotations"]
    assert [*annotations] == sorted(annotations)
    assert annotations["tenancy.internal/queues"] == "a,b"
    assert {"x.example/y", "a.example/b", "argocd.argoproj.io/sync-wave"} <= annotations.keys()


def test_labels_and_annotations_of_units_reach_their_namespaces() -> None:
    """The nearest unit wins, and the tool's own keys always do."""
    team = {
        "labels": {"stage": "dev"},
        "annotations": {"x.example/y": "z"},
        "displayName": "Vision",
        "owner": "ada",
        "projects": {"a": {"labels": {"stage": "prod"}, "expires": "2027-03-31"}},
    }
    metadata = one(planned(team), "Namespace")["metadata"]
    assert metadata["labels"]["stage"] == "prod"
    assert metadata["labels"]["tenancy.internal/team"] == "vision"
    assert metadata["labels"]["tenancy.internal/project"] == "a"
    annotations = {key: value for key, value in metadata["annotations"].items() if "argocd" not in key}
    assert annotations == {
        "tenancy.internal/expires": "2027-03-31",
        "tenancy.internal/flavors": "h100",
        "tenancy.internal/owner": "ada",
        "tenancy.internal/unit": "research/vision/a",
        "x.example/y": "z",
    }


def test_quotas_count_objects_and_never_compute() -> None:
    """A compute number would refuse the pods of a workload that the queue admitted."""
    hard = one(planned(), "ResourceQuota")["spec"]["hard"]
    assert not [key for key in hard if key.startswith(("requests.", "limits.")) or key in ("cpu", "memory")]
    assert (hard["pods"], hard["services.loadbalancers"]) == ("2k", "0")


def test_the_pods_quota_grows_with_the_queue() -> None:
    """There is room for two pods of each GPU that the queue can admit."""
    flavor = {"gpu": "L4", "nodes": 500, "node": {"gpus": 8, "cpu": 96, "memory": "400Gi"}}
    cluster = planned(
        {}, flavors={"l4": flavor}, departments={"research": {"budget": {"l4": 4000}, "teams": {"vision": {}}}}
    )
    assert one(cluster, "ResourceQuota")["spec"]["hard"]["pods"] == "8k"


def test_storage_of_a_team_is_divided_among_its_namespaces() -> None:
    """A quota counts one namespace: a project with its own number gets it, the others share the rest."""
    team = {"storage": {"fast": "10Ti"}, "projects": {"a": {"storage": {"fast": "4Ti"}}, "b": {}, "c": {}}}
    key = "fast.storageclass.storage.k8s.io/requests.storage"
    quotas = {obj["metadata"]["namespace"]: obj["spec"]["hard"][key] for obj in objects(planned(team), "ResourceQuota")}
    assert quotas == {"research-vision-a": "4Ti", "research-vision-b": "3Ti", "research-vision-c": "3Ti"}


def test_a_little_storage_is_divided_too() -> None:
    """Less than a GiB for each namespace is not nothing for all of them."""
    team = {"storage": {"fast": "2Gi"}, "projects": {"a": {}, "b": {}, "c": {}}}
    key = "fast.storageclass.storage.k8s.io/requests.storage"
    assert {obj["spec"]["hard"][key] for obj in objects(planned(team), "ResourceQuota")} == {"682Mi"}


def _storage(team: dict[str, Any], **others: Any) -> dict[str, dict[str, str]]:
    """By namespace, the bounds of storage where another team of the department has `bulk`."""
    teams = {"vision": team, "nlp": {"storage": {"bulk": "8Ti"}}}
    cluster = planned(departments={"research": {"budget": {"h100": 32}, "teams": teams, **others}})
    return {
        obj["metadata"]["namespace"]: {
            key.partition(".storageclass")[0]: amount for key, amount in obj["spec"]["hard"].items() if "storage" in key
        }
        for obj in objects(cluster, "ResourceQuota")
    }


def test_who_has_storage_has_none_of_other_classes_and_no_more_in_total() -> None:
    """A class that only others have is 0; the sum bounds classes that nobody listed, which no key can name."""
    assert _storage({"storage": {"fast": "2Ti", "slow": "1Ti"}}) == {
        "research-vision": {"fast": "2Ti", "slow": "1Ti", "bulk": "0", "requests.storage": "3Ti"},
        "research-nlp": {"fast": "0", "slow": "0", "bulk": "8Ti", "requests.storage": "8Ti"},
    }


def test_a_team_below_a_department_with_storage_has_what_it_says() -> None:
    """Silence is none: together teams never have more than the department."""
    found = _storage({"projects": {"a": {}, "b": {"storage": {"fast": "1Ti"}}}}, storage={"fast": "2Ti"})
    assert found["research-vision-a"] == {"fast": "0", "bulk": "0", "requests.storage": "0"}
    assert found["research-vision-b"] == {"fast": "1Ti", "bulk": "0", "requests.storage": "1Ti"}


def test_who_says_nothing_of_storage_and_has_nobody_above_who_does_is_not_bounded() -> None:
    """Storage is rationed from where it is first said."""
    assert _storage({"projects": {"a": {}, "b": {"storage": {"fast": "1Ti"}}}})["research-vision-a"] == {}


def test_storage_adds_up_to_no_more_than_kubernetes_can_count() -> None:
    """A larger sum would be cut by the API server, and differ from what is written for ever."""
    assert _storage({"storage": {"a": "7Ei", "b": "7Ei"}})["research-vision"]["requests.storage"] == str(2**63 - 1)


@each_work
def test_every_bound_can_be_another_number(work: Work) -> None:
    """What a unit says of a count is what its namespaces get, whatever the kind."""
    hard = one(planned(), "ResourceQuota", work=work)["spec"]["hard"]
    team = {"limits": {"objects": dict.fromkeys(hard, 7)}}
    assert set(one(planned(team), "ResourceQuota", work=work)["spec"]["hard"].values()) == {"7"}


def test_claims_of_pods_are_bounded_where_gpus_are_claimed() -> None:
    """Kubernetes bounds neither the claims of a pod nor the revisions that a Deployment keeps."""
    flavor = {"gpu": "H100-SXM-80GB", "nodes": 4, "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"}}
    hard = one(planned(flavors={"h100": {**flavor, "allocation": "dra"}}), "ResourceQuota")["spec"]["hard"]
    claims = ("count/resourceclaims.resource.k8s.io", "count/resourceclaimtemplates.resource.k8s.io")
    assert [hard[key] for key in claims] == ["8k", "1k"]
    plain = one(planned(), "ResourceQuota")["spec"]["hard"]
    assert not plain.keys() & set(claims)
    assert plain["count/replicasets.apps"] == plain["count/controllerrevisions.apps"] == "5k"


def test_containers_get_default_requests_and_no_default_limits() -> None:
    """Default limits would refuse every container that asks for more and sets none."""
    (limit,) = one(planned(), "LimitRange")["spec"]["limits"]
    assert limit == {"type": "Container", "defaultRequest": {"cpu": "1", "memory": "4Gi"}}


def test_default_requests_stay_below_the_smallest_slice() -> None:
    """Else every node would lose its last GPU to the defaults."""
    flavor = {
        "gpu": "L4",
        "nodes": 2,
        "node": {"gpus": 8, "cpu": 8, "memory": "32Gi"},
        "daemons": {"cpu": 2, "memory": "4Gi"},
    }
    cluster = planned(
        {}, flavors={"l4": flavor}, departments={"research": {"budget": {"l4": 16}, "teams": {"vision": {}}}}
    )
    (limit,) = one(cluster, "LimitRange")["spec"]["limits"]
    assert limit["defaultRequest"] == {"cpu": "750m", "memory": "3584Mi"}
