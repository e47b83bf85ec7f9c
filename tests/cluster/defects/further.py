"""More mistakes about which our checks make a claim: each claim is put to the real thing as well."""

from __future__ import annotations

from typing import Any, Final

from tests.cluster.defects import more_probes as probes
from tests.cluster.defects.edits import (
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
    twin,
    with_resource,
)
from tests.cluster.defects.forced import API_SERVER, WEBHOOK, Edit, Forced, renamed
from tests.cluster.defects.stage import Probe

RBAC: Final = "rbac.authorization.k8s.io"
HOSTNAME: Final = "kubernetes.io/hostname"
LONG: Final = "x" * 64


def _refused(by: str, name: str, code: str, written: str, *edits: Edit) -> Forced:
    return Forced(name=name, code=code, written=written, refused=by, base="trial", edits=edits)


def _passes(name: str, code: str, written: str, probe: Probe, *edits: Edit) -> Forced:
    return Forced(name=name, code=code, written=written, base="trial", edits=edits, probe=probe)


def _flavor(path: str, value: Any) -> Edit:
    return put("ResourceFlavor", "h100", path, value)


def _levels(*labels: str) -> Edit:
    return put("Topology", "h100", "levels", [{"nodeLabel": each} for each in labels])


def _class(version: str, kind: str, name: str, value: int) -> Edit:
    return add(version, kind, name, value=value, description="A mistake.")


def _egress(**rule: Any) -> Edit:
    policy = {"podSelector": {}, "policyTypes": ["Egress"], "egress": [rule]}
    return add("networking.k8s.io/v1", "NetworkPolicy", "allow-service", VISION, spec=policy)


_RANGE: Final = {"ipBlock": {"cidr": "10.1.0.0/16"}}

REFUSED: Final[tuple[Forced, ...]] = (
    _refused(
        WEBHOOK,
        "quota above the limit",
        "quota-above-limit",
        "`borrowingLimit: -4`: a limit of 12 less the quota of 16",
        quota(SPEECH, borrowingLimit="-4"),
    ),
    _refused(
        API_SERVER,
        "limit of a queue without a department",
        "limit-above-borrowing",
        "`borrowingLimit` without `cohortName`",
        drop("ClusterQueue", VISION, "cohortName"),
    ),
    _refused(
        API_SERVER,
        "nine labels of a flavor",
        "flavor-limit",
        "nine `nodeLabels`",
        _flavor("nodeLabels", {f"acme.example/{number}": "yes" for number in range(9)}),
    ),
    _refused(
        WEBHOOK,
        "node label with a blank",
        "flavor-label-syntax",
        "`nodeLabels: {acme pool: gpu}`",
        _flavor("nodeLabels", {"acme pool": "gpu"}),
    ),
    _refused(
        API_SERVER,
        "taint with an unknown effect",
        "taint-syntax",
        "`effect: NoRun`",
        _flavor("nodeTaints.0.effect", "NoRun"),
    ),
    _refused(
        API_SERVER,
        "topology level given twice",
        "topology-levels",
        "one label twice in `levels`",
        _levels("acme.example/rack", "acme.example/rack"),
    ),
    _refused(
        API_SERVER,
        "seventeen topology levels",
        "topology-levels",
        "17 `levels`",
        _levels(*(f"acme.example/{number}" for number in range(17))),
    ),
    _refused(
        API_SERVER,
        "host name that is not the last level",
        "topology-hostname",
        "a level below `kubernetes.io/hostname`",
        _levels(HOSTNAME, "acme.example/rack"),
    ),
    _refused(
        API_SERVER,
        "priority above int32",
        "priority-range",
        "a WorkloadPriorityClass with `value: 3000000000`",
        _class(KUEUE, "WorkloadPriorityClass", "urgent", 3000000000),
    ),
    _refused(
        API_SERVER,
        "PriorityClass above 1000000000",
        "priority-range",
        "a PriorityClass with `value: 1000000001`",
        _class("scheduling.k8s.io/v1", "PriorityClass", "urgent", 1000000001),
    ),
    _refused(
        API_SERVER,
        "PriorityClass of the system",
        "priority-name",
        "a PriorityClass `system-urgent`",
        _class("scheduling.k8s.io/v1", "PriorityClass", "system-urgent", 30),
    ),
    _refused(
        WEBHOOK,
        "weight too small",
        "weight-ratio",
        "`fairSharing: {weight: 1n}`",
        put("ClusterQueue", VISION, "fairSharing", {"weight": "1n"}),
    ),
    _refused(
        API_SERVER,
        "label with a blank",
        "label-syntax",
        "a label `cost center` of a namespace",
        label("Namespace", VISION, "cost center", "1"),
    ),
    _refused(
        API_SERVER,
        "domain that is none",
        "domain-syntax",
        "a label `acme_gpu/team`",
        label("Namespace", VISION, "acme_gpu/team", "vision"),
    ),
    _refused(
        API_SERVER,
        "name in capitals",
        "name-syntax",
        "a ClusterQueue `Research-Vision`",
        again("ClusterQueue", VISION, "Research-Vision"),
    ),
    _refused(
        API_SERVER,
        "object count that is not known",
        "object-key",
        "`hard: {gpus: 8}` in a ResourceQuota",
        hard(VISION, "gpus", "8"),
    ),
    _refused(
        API_SERVER,
        "storage class that is none",
        "storage-class-name",
        "`hard` for the storage class `Fast_SSD`",
        hard(VISION, "Fast_SSD.storageclass.storage.k8s.io/requests.storage", "1Ti"),
    ),
    _refused(
        API_SERVER,
        "service account in capitals",
        "service-account-name",
        "a ServiceAccount `CI_Robot`",
        add("v1", "ServiceAccount", "CI_Robot", VISION),
    ),
    _refused(
        API_SERVER,
        "port out of range",
        "service-port",
        "`port: 70000` in a NetworkPolicy",
        _egress(to=[_RANGE], ports=[{"port": 70000}]),
    ),
    _refused(
        API_SERVER,
        "range that is none",
        "network-range",
        "`cidr: 10.1.0.0/33` in a NetworkPolicy",
        _egress(to=[{"ipBlock": {"cidr": "10.1.0.0/33"}}]),
    ),
    _refused(
        API_SERVER,
        "service with two targets",
        "service-target",
        "pods and a range in one peer of a NetworkPolicy",
        _egress(to=[{"podSelector": {}, **_RANGE}]),
    ),
    _refused(
        API_SERVER,
        "subject without a kind",
        "subject-syntax",
        "a subject of a RoleBinding without `kind`",
        subject(VISION, name="vision", apiGroup=RBAC),
    ),
    _refused(
        API_SERVER,
        "65 flavors",
        "kueue-flavors",
        "65 flavors in a ClusterQueue",
        many_flavors(VISION, 65),
    ),
    _refused(
        API_SERVER,
        "65 resources",
        "kueue-resources",
        "65 resources in a ClusterQueue",
        many_resources(VISION, 65),
    ),
    _refused(
        WEBHOOK,
        "resource with a blank",
        "gpu-resource",
        "a quota of `acme.example/my gpu`",
        with_resource(VISION, "acme.example/my gpu", "h100", "8"),
    ),
    _refused(
        WEBHOOK,
        "quantity with a blank",
        "quantity-syntax",
        "`nominalQuota: 10 Gi`",
        quota(SPEECH, "cpu", "memory", nominalQuota="10 Gi"),
    ),
)

PASSES: Final[tuple[Forced, ...]] = (
    _passes(
        "topology without host names",
        "topology-hostname",
        "`levels` with the rack alone",
        probes.no_host_name,
        _levels("acme.example/rack"),
        renamed("h100"),
    ),
    _passes(
        "two flavors of the same GPUs",
        "flavors-overlap",
        "two ResourceFlavors with the same `nodeLabels`, each with quotas of all GPUs",
        probes.same_gpus_twice,
        twin(SPEECH),
    ),
    _passes(
        "resource without a domain",
        "gpu-resource",
        "a quota of `gpu`",
        probes.no_such_resource,
        with_resource(VISION, "gpu", "h100", "8"),
    ),
    _passes(
        "GPUs without cpu",
        "nothing-per-gpu",
        "16 GPUs with `nominalQuota: 0` of cpu, nothing borrowed",
        probes.told(
            "research/speech",
            "every job of the team waits for ever",
            r"insufficient quota for cpu in flavor h100, .*? > maximum capacity \(0\)",
        ),
        quota(SPEECH, "h100", "cpu", nominalQuota="0", borrowingLimit="0", lendingLimit="0"),
    ),
    _passes(
        "default request of an uncounted resource",
        "container-resource",
        "`defaultRequest: {ephemeral-storage: 1Gi}` in a LimitRange",
        probes.told(
            "research/vision",
            "every job of the namespace waits for ever",
            "resource ephemeral-storage unavailable in ClusterQueue",
        ),
        put("LimitRange", "tenancy", "limits.0.defaultRequest.ephemeral-storage", "1Gi", VISION),
    ),
    _passes(
        "limit above the parent's",
        "limit-above-parent",
        "a limit of 120 GPUs below a Cohort with `borrowingLimit: 0` over a quota of 64",
        probes.parent_stops,
        quota("research", kind="Cohort", borrowingLimit="0"),
    ),
    _passes(
        "quantity above 64 bits",
        "quantity-overflow",
        "`nominalQuota: 10E` of memory",
        probes.like_any_other,
        quota(SPEECH, "cpu", "memory", nominalQuota="10E", lendingLimit="10E"),
    ),
    _passes(
        "sum above 64 bits",
        "sum-overflow",
        "`nominalQuota: 5E` of memory in each of two teams",
        probes.like_any_other,
        quota(SPEECH, "cpu", "memory", nominalQuota="5E", lendingLimit="5E"),
        quota(VISION, "cpu", "memory", nominalQuota="5E", lendingLimit="5E"),
    ),
    Forced(
        name="two siblings with a weight of 0",
        code="zero-weights",
        written="`fairSharing: {weight: 0}` in two ClusterQueues of a Cohort, under weighted sharing",
        of="weighted",
        edits=(
            put("ClusterQueue", VISION, "fairSharing", {"weight": "0"}),
            put("ClusterQueue", SPEECH, "fairSharing", {"weight": "0"}),
            quota(VISION, borrowingLimit="96"),
            quota(VISION, "h100", "cpu", borrowingLimit="2280"),
            quota(VISION, "h100", "memory", borrowingLimit="23952Gi"),
        ),
        probe=probes.in_turns,
    ),
    _passes(
        "priority of the system",
        "priority-name",
        "a WorkloadPriorityClass `system-urgent`",
        probes.named_by_jobs("system-urgent"),
        _class(KUEUE, "WorkloadPriorityClass", "system-urgent", 30),
    ),
    _passes(
        "priority with a long name",
        "priority-name",
        "a WorkloadPriorityClass with a name of 64 characters",
        probes.named_by_jobs(LONG),
        _class(KUEUE, "WorkloadPriorityClass", LONG, 30),
    ),
    _passes(
        "stopped LocalQueue",
        "project-without-queue",
        "`stopPolicy: Hold` of a LocalQueue `default`",
        probes.without_a_label,
        put("LocalQueue", "default", "stopPolicy", "Hold", VISION),
    ),
    _passes(
        "queue in kube-system",
        "namespace-reserved",
        "a LocalQueue in `kube-system`",
        probes.in_kube_system,
        add(KUEUE, "LocalQueue", "default", "kube-system", spec={"clusterQueue": VISION}),
    ),
    _passes(
        "count of a kind that does not exist",
        "object-key",
        "`hard: {count/job: 8}` in a ResourceQuota",
        probes.counts_nothing,
        hard(VISION, "count/job", "8"),
    ),
    _passes(
        "GPUs in a ResourceQuota",
        "object-compute",
        "`hard: {requests.nvidia.com/gpu: 8}` below a quota of 24 GPUs",
        probes.pods_refused,
        hard(VISION, "requests.nvidia.com/gpu", "8"),
    ),
    _passes(
        "no Workloads allowed",
        "object-zero",
        "`hard: {count/workloads.kueue.x-k8s.io: 0}` in a ResourceQuota",
        probes.no_workload,
        hard(VISION, "count/workloads.kueue.x-k8s.io", "0"),
    ),
    _passes(
        "security level of one's own",
        "label-reserved",
        "a label `pod-security.kubernetes.io/enforce: privileged` of a namespace",
        probes.privileged,
        label("Namespace", VISION, "pod-security.kubernetes.io/enforce", "privileged"),
    ),
    _passes(
        "subject with a wildcard",
        "subject-wildcard",
        "a RoleBinding for the group `vision-*`",
        probes.may("ann", "vision-a", told={False: "someone in `vision-a` may do nothing", True: "it is obeyed"}),
        subject(VISION, kind="Group", name="vision-*", apiGroup=RBAC),
    ),
    _passes(
        "everybody as a member",
        "subject-system",
        "a RoleBinding for the group `system:authenticated`",
        probes.may(
            "stranger",
            "system:authenticated",
            told={True: "whoever can log in may submit jobs with the team's quota", False: "it is not obeyed"},
        ),
        subject(VISION, kind="Group", name="system:authenticated", apiGroup=RBAC),
    ),
    _passes(
        "rights for the default account",
        "service-account-default",
        "a RoleBinding for the ServiceAccount `default`",
        probes.may(
            "system:serviceaccount:research-vision:default",
            told={True: "every pod that names no account may submit and delete the team's jobs", False: "it may not"},
        ),
        subject(VISION, kind="ServiceAccount", name="default", namespace=VISION),
    ),
)

FURTHER: Final = (*REFUSED, *PASSES)
