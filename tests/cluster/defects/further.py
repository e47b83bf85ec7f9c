"""More mistakes that our checks make a claim about, beyond the thirty seeded ones."""

from __future__ import annotations

from typing import Any, Final

from tests.cluster.defects import probes
from tests.cluster.defects.edits import (
    ADS,
    KUEUE,
    SPEECH,
    VISION,
    add,
    again,
    drop,
    hard,
    label,
    many_flavors,
    many_resources,
    put,
    quota,
    subject,
    with_resource,
)
from tests.cluster.defects.forced import Forced, renamed

GROUP: Final = "rbac.authorization.k8s.io"


def _egress(name: str, **rule: Any) -> Any:
    policy = {"podSelector": {}, "policyTypes": ["Egress"], "egress": [rule]}
    return add("networking.k8s.io/v1", "NetworkPolicy", name, VISION, spec=policy)


def _further(name: str, code: str, written: str, *edits: Any, **more: Any) -> Forced:
    return Forced(name=name, code=code, written=written, base="trial", edits=edits, **more)


FURTHER: Final[tuple[Forced, ...]] = (
    _further("quota above the limit", "quota-above-limit", "`borrowingLimit: -4`", quota(SPEECH, borrowingLimit="-4")),
    _further("nine node labels", "flavor-limit", "nine `nodeLabels`", put("ResourceFlavor", "h100", "nodeLabels", {f"acme.example/{n}": "x" for n in range(9)})),
    _further("taint with an unknown effect", "taint-syntax", "`effect: NoRun`", put("ResourceFlavor", "h100", "nodeTaints.0.effect", "NoRun")),
    _further("a topology level twice", "topology-levels", "`levels` with one label twice", put("Topology", "h100", "levels", [{"nodeLabel": "acme.example/rack"}] * 2)),
    _further("seventeen topology levels", "topology-levels", "17 `levels`", put("Topology", "h100", "levels", [{"nodeLabel": f"acme.example/{n}"} for n in range(17)])),
    _further("host name not last", "topology-hostname", "x", put("Topology", "h100", "levels", [{"nodeLabel": "kubernetes.io/hostname"}, {"nodeLabel": "acme.example/rack"}])),
    _further("no host name", "topology-hostname", "x", put("Topology", "h100", "levels", [{"nodeLabel": "acme.example/rack"}]), renamed("h100"), probe=probes.no_host_name),
    _further("a node label that is none", "flavor-label-syntax", "x", put("ResourceFlavor", "h100", "nodeLabels", {"acme example": "x"})),
    _further("priority above int32", "priority-range", "x", add(KUEUE, "WorkloadPriorityClass", "urgent", value=3000000000, description="x")),
    _further("PriorityClass above", "priority-range", "x", add("scheduling.k8s.io/v1", "PriorityClass", "urgent", value=1000000001)),
    _further("priority system-", "priority-name", "x", add(KUEUE, "WorkloadPriorityClass", "system-urgent", value=30, description="x"), probe=probes.priority("system-urgent")),
    _further("PriorityClass system-", "priority-name", "x", add("scheduling.k8s.io/v1", "PriorityClass", "system-urgent", value=30)),
    _further("priority name 64", "priority-name", "x", add(KUEUE, "WorkloadPriorityClass", "x"*64, value=30, description="x"), probe=probes.priority("x"*64)),
    _further("weight of 1e-9", "weight-ratio", "x", put("ClusterQueue", VISION, "fairSharing", {"weight": "1n"})),
    _further("label with blank", "label-syntax", "x", label("Namespace", VISION, "cost center", "1")),
    _further("label value long", "label-syntax", "x", label("Namespace", VISION, "cost", "1"*64)),
    _further("kube-system", "namespace-reserved", "x", add(KUEUE, "LocalQueue", "default", "kube-system", spec={"clusterQueue": VISION}), probe=probes.unmanaged("kube-system",{"kueue.x-k8s.io/queue-name":"default"})),
    _further("quota key unknown", "object-key", "x", hard(VISION, "gpus", "8")),
    _further("quota count unknown", "object-key", "x", hard(VISION, "count/job", "8"), probe=probes.counted),
    _further("quota gpu", "object-compute", "x", hard(VISION, "requests.nvidia.com/gpu", "8"), probe=probes.gpu_quota),
    _further("quota zero", "object-zero", "x", hard(VISION, "count/workloads.kueue.x-k8s.io", "0"), probe=probes.no_workload),
    _further("port", "service-port", "x", _egress("service", to=[{"ipBlock": {"cidr": "10.1.0.0/16"}}], ports=[{"port": 70000}])),
    _further("range", "network-range", "x", _egress("service", to=[{"ipBlock": {"cidr": "10.1.0.0/33"}}])),
    _further("range hostbits", "network-range", "x", _egress("service", to=[{"ipBlock": {"cidr": "10.1.0.1/16"}}])),
    _further("both targets", "service-target", "x", _egress("service", to=[{"podSelector": {}, "ipBlock": {"cidr": "10.1.0.0/16"}}])),
    _further("no target", "service-target", "x", _egress("service", to=[{}])),
    _further("no target at all", "service-target", "x", _egress("service", ports=[{"port": 80}])),
    _further("subject without kind", "subject-syntax", "x", subject(VISION, name="vision", apiGroup=GROUP)),
    _further("subject with a wildcard", "subject-wildcard", "x", subject(VISION, kind="Group", name="vision-*", apiGroup=GROUP), probe=probes.sar("ann",["vision-a"])),
    _further("everybody", "subject-system", "x", subject(VISION, kind="Group", name="system:authenticated", apiGroup=GROUP), probe=probes.sar("stranger",["system:authenticated"])),
    _further("default account", "service-account-default", "x", subject(VISION, kind="ServiceAccount", name="default", namespace=VISION), probe=probes.sar("system:serviceaccount:research-vision:default",[])),
    _further("class name", "storage-class-name", "x", hard(VISION, "Fast_SSD.storageclass.storage.k8s.io/requests.storage", "1Ti")),
    _further("account name", "service-account-name", "x", add("v1", "ServiceAccount", "CI_Robot", VISION)),
    _further("default of uncovered", "container-resource", "x", put("LimitRange", "tenancy", "limits.0.defaultRequest.ephemeral-storage", "1Gi", VISION), probe=probes.uncovered),
    _further("65 flavors", "kueue-flavors", "x", many_flavors(VISION, 65)),
    _further("65 resources", "kueue-resources", "x", many_resources(VISION, 65)),
    _further("limit above the parent's", "limit-above-parent", "x", quota("research", kind="Cohort", borrowingLimit="0"), probe=probes.parent_stops),
    _further("gpu without domain", "gpu-resource", "x", with_resource(VISION, "gpu", "h100", "8"), probe=probes.no_domain),
    _further("gpu with a blank", "gpu-resource", "x", with_resource(VISION, "acme.example/my gpu", "h100", "8")),
    _further("upper case", "name-syntax", "x", again("ClusterQueue", VISION, "Research-Vision")),
    _further("quantity 10 Gi", "quantity-syntax", "x", quota(SPEECH, "cpu", "memory", nominalQuota="10 Gi")),
    _further("quantity 10E", "quantity-overflow", "x", quota(SPEECH, "cpu", "memory", nominalQuota="10E"), probe=probes.memory_jobs),
    _further("sum over", "sum-overflow", "x", quota(SPEECH, "cpu", "memory", nominalQuota="5E"), quota(VISION, "cpu", "memory", nominalQuota="5E"), probe=probes.memory_jobs),
    _further("nothing per gpu", "nothing-per-gpu", "x", quota(SPEECH, "h100", "cpu", nominalQuota="0", borrowingLimit="0", lendingLimit="0"), probe=probes.speech_waits),
    _further("LQ hold", "project-without-queue", "x", put("LocalQueue", "default", "stopPolicy", "Hold", VISION), probe=probes.unmanaged("research-vision",{})),
    _further("pod security", "label-reserved", "x", label("Namespace", VISION, "pod-security.kubernetes.io/enforce", "privileged"), probe=probes.privileged),
    _further("domain", "domain-syntax", "x", label("Namespace", VISION, "acme_example!/team", "vision")),
    _further("two flavors of the same GPUs", "flavors-overlap", "x", again("ResourceFlavor", "h100", "h100-twin"), probe=probes.twin),

)
