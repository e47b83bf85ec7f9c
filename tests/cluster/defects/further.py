"""Further mistakes about which our checks make a claim: each claim is put to the real thing as well."""

from __future__ import annotations

from typing import Final

from tests.cluster.defects import more_probes as probes
from tests.cluster.defects.edits import (
    KUEUE,
    SPEECH,
    VISION,
    add,
    hard,
    label,
    new_class,
    put,
    quota,
    subject,
    twin,
    with_resource,
)
from tests.cluster.defects.forced import Edit, Forced, renamed
from tests.cluster.defects.refused import REFUSED
from tests.cluster.defects.stage import Probe

RBAC: Final = "rbac.authorization.k8s.io"
LONG: Final = "x" * 64


def _passes(name: str, code: str, written: str, probe: Probe, *edits: Edit) -> Forced:
    return Forced(name=name, code=code, written=written, base="trial", edits=edits, probe=probe)


PASSES: Final[tuple[Forced, ...]] = (
    _passes(
        "topology without host names",
        "topology-hostname",
        "`levels` with the rack alone",
        probes.no_host_name,
        put("Topology", "h100", "levels", [{"nodeLabel": "acme.example/rack"}]),
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
        new_class(KUEUE, "WorkloadPriorityClass", "system-urgent", 30),
    ),
    _passes(
        "priority with a long name",
        "priority-name",
        "a WorkloadPriorityClass with a name of 64 characters",
        probes.named_by_jobs(LONG),
        new_class(KUEUE, "WorkloadPriorityClass", LONG, 30),
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
            told={True: "every pod that names no account may submit jobs", False: "it may not"},
        ),
        subject(VISION, kind="ServiceAccount", name="default", namespace=VISION),
    ),
)

FURTHER: Final = (*REFUSED, *PASSES)
