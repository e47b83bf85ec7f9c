"""Nodes that Kueue asks for: which flavors have a check, what is asked, and which queues wait for it."""

from __future__ import annotations

from typing import Any

from tenancy.backend import kueue
from tenancy.backend.manifest import Manifest, Object
from tests.backend.nodes.support import CPU, H100, planned

ASKED = {**H100, "autoscaling": "provisioning-request"}


def objects(kind: str, flavors: dict[str, Any]) -> dict[str, Object]:
    """The emitted objects of a kind by name."""
    files = [file for file in kueue.compile(planned(flavors)) if isinstance(file, Manifest)]
    return {item["metadata"]["name"]: item for file in files for item in file.objects if item["kind"] == kind}


def test_a_flavor_whose_nodes_are_asked_for_has_a_check() -> None:
    """The check names a configuration of the flavor's own, with every default stated."""
    flavors = {"asked": ASKED, "there": {**H100, "gpu": "L4"}}
    checks, configurations = (objects(kind, flavors) for kind in ("AdmissionCheck", "ProvisioningRequestConfig"))
    assert {name: item["spec"] for name, item in checks.items()} == {
        "asked": {
            "controllerName": "kueue.x-k8s.io/provisioning-request",
            "parameters": {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "asked"},
        }
    }
    assert {name: item["spec"] for name, item in configurations.items()} == {
        "asked": {
            "provisioningClassName": "best-effort-atomic-scale-up.autoscaling.x-k8s.io",
            "managedResources": ["nvidia.com/gpu"],
            "retryStrategy": {"backoffLimitCount": 3, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800},
        }
    }


def test_jobs_find_the_nodes_that_were_made_for_them() -> None:
    """Nodes of GKE's queued provisioning belong to their request: pods select them by what its status says."""
    queued = {"provisioningRequest": {"provisioningClass": "queued-provisioning.gke.io"}}
    spec = objects("ProvisioningRequestConfig", {"a3": {**H100, "autoscaling": queued}})["a3"]["spec"]
    (selected,) = spec["podSetUpdates"]["nodeSelector"]
    assert selected["key"] == "autoscaling.gke.io/provisioning-request"
    assert selected["valueFromProvisioningClassDetail"] == "ResizeRequestName"


def test_slices_and_cores_are_asked_for_as_well() -> None:
    """A request is made for jobs that ask for what budgets of the flavor count."""
    mig = {**ASKED, "gpu": "A100-SXM4-80GB", "mig": {"3g.40gb": 1, "1g.10gb": 4}}
    found = objects("ProvisioningRequestConfig", {"mig": mig, "cpu": {**CPU, "autoscaling": "provisioning-request"}})
    assert found["mig"]["spec"]["managedResources"] == ["nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"]
    assert found["cpu"]["spec"]["managedResources"] == ["cpu", "memory"]


def test_queues_wait_only_for_nodes_of_that_flavor() -> None:
    """Every queue that lists the flavor has its check, on that flavor alone; others say nothing of checks."""
    flavors = {"asked": ASKED, "there": {**H100, "gpu": "L4"}}
    for queue in objects("ClusterQueue", flavors).values():
        listed = [flavor["name"] for flavor in queue["spec"]["resourceGroups"][0]["flavors"]]
        assert listed == ["asked", "there"]
        checks = [{"name": "asked", "onFlavors": ["asked"]}]
        assert queue["spec"]["admissionChecksStrategy"] == {"admissionChecks": checks}
    assert all("admissionChecksStrategy" not in each["spec"] for each in objects("ClusterQueue", {"h": H100}).values())


def test_a_cluster_without_such_flavors_has_no_checks() -> None:
    """No file is written, and no Karpenter flavor is asked for."""
    flavors = {"made": {**H100, "autoscaling": "karpenter"}}
    assert objects("AdmissionCheck", flavors) == objects("ProvisioningRequestConfig", flavors) == {}
