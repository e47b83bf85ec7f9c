"""The thirty seeded defects, forced past our checks."""

from __future__ import annotations

from typing import Final

from tests.cluster.defects import probes
from tests.cluster.defects.edits import (
    SPEECH,
    VISION,
    again,
    flavor_misspelt,
    flavor_twice,
    kept,
    put,
    quota,
    with_flavors,
    with_resource,
)
from tests.cluster.defects.forced import API_SERVER, WEBHOOK, Forced, renamed

SPELLING: Final = "quantity in another spelling"
"""The thirtieth, which is no defect: we accept it and emit the canonical spelling."""

FORCED: Final[tuple[Forced, ...]] = (
    Forced(
        name="field misspelt",
        code="unknown-key",
        written="`fairSharing: {wieght: 30}`",
        refused=API_SERVER,
        base="trial",
        edits=(put("ClusterQueue", VISION, "fairSharing", {"wieght": "30"}),),
    ),
    Forced(
        name="unknown enum value",
        code="unknown-value",
        written="`reclaimWithinCohort: All`",
        refused=API_SERVER,
        base="trial",
        edits=(put("ClusterQueue", VISION, "preemption.reclaimWithinCohort", "All"),),
    ),
    Forced(
        name="more resources than a queue can hold",
        code="kueue-pairs",
        written="17 flavors and 39 resources in one ClusterQueue",
        refused=WEBHOOK,
    ),
    Forced(
        name="negative quota",
        code="quantity-negative",
        written="`nominalQuota: -16`",
        refused=WEBHOOK,
        base="trial",
        edits=(quota(SPEECH, nominalQuota="-16"),),
    ),
    Forced(
        name="limit where nothing can be borrowed",
        code="limit-above-borrowing",
        written="`borrowingLimit: 16` for GPUs, and 0 for the cpu and memory that go with them",
        probe=probes.limit_not_lent,
    ),
    Forced(
        name="reserved above quota",
        code="reserved-above-quota",
        written="`lendingLimit: -1`: a quota of 24 less the 25 reserved",
        refused=WEBHOOK,
        base="trial",
        edits=(quota(VISION, lendingLimit="-1"),),
    ),
    Forced(
        name="flavor given twice",
        code="yaml-duplicate-key",
        written="`h100` twice in the flavors of a resource group",
        refused=API_SERVER,
        base="trial",
        edits=(with_flavors(SPEECH, flavor_twice),),
    ),
    Forced(
        name="a GPU count of 2.5",
        code="quantity-fraction",
        written="`nominalQuota: 2500m` of GPUs, nothing borrowed",
        base="trial",
        edits=(quota(SPEECH, nominalQuota="2500m", borrowingLimit="0", lendingLimit="0"),),
        probe=probes.half_a_gpu,
    ),
    Forced(
        name="reclaim never with borrowing preemption",
        code="reclaim-never-with-borrowing-preemption",
        written="`reclaimWithinCohort: Never` with `borrowWithinCohort: {policy: LowerPriority}`",
        refused=API_SERVER,
    ),
    Forced(
        name="duplicate taint",
        code="taint-twice",
        written="two `nodeTaints` with one key and effect",
        refused=WEBHOOK,
    ),
    Forced(
        name="budget for a resource the flavor lacks",
        code="unknown-resource",
        written="a quota of one `nvidia.com/mig-7g.80gb` on `a100-mig`",
        base="trial",
        edits=(with_resource(SPEECH, "nvidia.com/mig-7g.80gb", "a100-mig", "1"),),
        probe=probes.absent_profile,
    ),
    Forced(
        name="name too long for the queue label",
        code="name-too-long",
        written="names and label values of 71 characters",
        refused=API_SERVER,
    ),
    Forced(
        name="missing flavor",
        code="unknown-flavor",
        written="a quota on the flavor `h10`",
        base="trial",
        edits=(with_flavors(SPEECH, flavor_misspelt),),
        probe=probes.absent_flavor,
    ),
    Forced(
        name="missing department file",
        code="department-file-missing",
        written="the department's Cohort, and nothing below it any more",
        before=probes.robotics_works,
        probe=probes.pruned,
    ),
    Forced(
        name="department cycle through files",
        code="department-cycle",
        written="two Cohorts, each the parent of the other",
        base="near",
        edits=(put("Cohort", "product-sound", "parentName", "product-sound-light"),),
        before=probes.no_cycle_yet,
        probe=probes.cycle,
    ),
    Forced(
        name="missing parent",
        code="department-parent-missing",
        written="`parentName: reserch`",
        base="near",
        edits=(put("Cohort", "research-light", "parentName", "reserch"),),
        probe=probes.orphan,
    ),
    Forced(
        name="namespace in two teams",
        code="namespace-twice",
        written="a namespace and what is in it twice, with two owners",
        edits=(kept("research-speech", "product-ads"),),
        probe=probes.two_owners,
    ),
    Forced(
        name="topology without labels that select nodes",
        code="flavor-labels-empty",
        written="`topologyName` without `nodeLabels`",
        refused=API_SERVER,
    ),
    Forced(
        name="two teams whose queue names collide",
        code="name-ambiguous",
        written="two ClusterQueues of one name, each in its own Cohort",
        probe=probes.overwritten,
    ),
    Forced(
        name="borrowable flavor not reachable",
        code="limit-of-nothing",
        written="`borrowingLimit: 4` for slices that nobody may lend",
        probe=probes.unreachable,
    ),
    Forced(
        name="object quota below what the queue admits",
        code="pods-below-queue",
        written="a ResourceQuota of 39 pods below a limit of 40 GPUs",
        probe=probes.too_few_pods,
    ),
    Forced(
        name="taint without a way to tolerate it",
        code="fence-on-cpu-flavor",
        written="`nodeTaints` and no `tolerations` on the flavor of the CPU nodes",
        probe=probes.fenced_cpu,
    ),
    Forced(
        name="cpu without memory",
        code="cpu-memory-uncovered",
        written="100 cpu with `nominalQuota: 0` of memory",
        probe=probes.no_memory,
    ),
    Forced(
        name="access for a namespace that nobody makes",
        code="unknown-namespace",
        written="a RoleBinding for `ci` in `product-serch`",
        probe=probes.granted_to_nobody,
    ),
    Forced(
        name="quota above the physical GPUs",
        code="quota-above-capacity",
        written="quotas of 121 GPUs in all, on 16 nodes of 8 with one to spare",
        probe=probes.above_capacity,
    ),
    Forced(
        name="label that matches no declared node",
        code="flavor-label-without-node",
        written="`nodeLabels` of another GPU",
        edits=(renamed("h100"),),
        probe=probes.no_such_node,
    ),
    Forced(
        name="two flavors on the same nodes",
        code="flavors-overlap",
        written="`nodeLabels` of `h100` that also match the nodes of `a100-mig`",
        edits=(renamed("h100"), renamed("a100-mig")),
        probe=probes.two_names,
    ),
    Forced(
        name="MIG above the layout",
        code="quota-above-capacity",
        written="a quota of 65 slices where the layout makes 64",
        probe=probes.above_layout,
    ),
    Forced(
        name="teams above their department",
        code="quota-above-parent",
        written="quotas of 24 and 9 GPUs below a department of 32",
        probe=probes.above_department,
    ),
    Forced(
        name=SPELLING,
        code="",
        written="`nominalQuota: 0.5` and `nominalQuota: 1024Gi`",
        base="trial",
        edits=(
            again(
                "ClusterQueue",
                SPEECH,
                "research-spelling",
                quota("research-spelling", "cpu", "cpu", nominalQuota="0.5", lendingLimit="0"),
                quota("research-spelling", "cpu", "memory", nominalQuota="1024Gi"),
            ),
        ),
        probe=probes.spelled,
    ),
)
