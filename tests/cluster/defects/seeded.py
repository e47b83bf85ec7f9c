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
    put,
    quota,
    with_flavors,
    with_resource,
)
from tests.cluster.defects.forced import Forced, kept, renamed

SPELLING: Final = "quantity in another spelling"
"""The thirtieth, which is no defect: we accept it and emit the canonical spelling."""

FORCED: Final[tuple[Forced, ...]] = (
    Forced(
        name="field misspelt",
        code="unknown-key",
        written="`fairSharing: {wieght: 30}`",
        base="trial",
        edits=(put("ClusterQueue", VISION, "fairSharing", {"wieght": "30"}),),
    ),
    Forced(
        name="unknown enum value",
        code="unknown-value",
        written="`reclaimWithinCohort: All`",
        base="trial",
        edits=(put("ClusterQueue", VISION, "preemption.reclaimWithinCohort", "All"),),
    ),
    Forced(
        name="more resources than a queue can hold",
        code="kueue-pairs",
        written="17 flavors with 37 resources in one ClusterQueue",
    ),
    Forced(
        name="negative quota",
        code="quantity-negative",
        written="`nominalQuota: -16`",
        base="trial",
        edits=(quota(SPEECH, nominalQuota="-16"),),
    ),
    Forced(
        name="limit where nothing can be borrowed", probe=probes.limit_not_lent,
        code="limit-above-borrowing",
        written="x",
    ),
    Forced(
        name="reserved above quota",
        code="reserved-above-quota",
        written="`lendingLimit: -1`, which is a quota of 24 less 25 reserved",
        base="trial",
        edits=(quota(VISION, lendingLimit="-1"),),
    ),
    Forced(
        name="flavor given twice",
        code="yaml-duplicate-key",
        written="the flavor `h100` twice in one resource group",
        base="trial",
        edits=(with_flavors(SPEECH, flavor_twice),),
    ),
    Forced(
        name="a GPU count of 2.5", probe=probes.half_a_gpu,
        code="quantity-fraction",
        written="`nominalQuota: 2500m` GPUs",
        base="trial",
        edits=(quota(SPEECH, nominalQuota="2500m", borrowingLimit="0", lendingLimit="0"),),
    ),
    Forced(
        name="reclaim never with borrowing preemption",
        code="reclaim-never-with-borrowing-preemption",
        written="`reclaimWithinCohort: Never` and `borrowWithinCohort: {policy: LowerPriority}`",
    ),
    Forced(name="duplicate taint", code="taint-twice", written="two taints of one key and effect"),
    Forced(
        name="budget for a resource the flavor lacks", probe=probes.absent_profile,
        code="unknown-resource",
        written="a quota of `nvidia.com/mig-7g.80gb` on `a100-mig`",
        base="trial",
        edits=(with_resource(SPEECH, "nvidia.com/mig-7g.80gb", "a100-mig", "1"),),
    ),
    Forced(name="name too long for the queue label", code="name-too-long", written="names of 72 characters"),
    Forced(
        name="missing flavor", probe=probes.absent_flavor,
        code="unknown-flavor",
        written="a quota on the flavor `h10`",
        base="trial",
        edits=(with_flavors(SPEECH, flavor_misspelt),),
    ),
    Forced(
        name="missing department file", probe=probes.pruned, before=probes.robotics_works,
        code="department-file-missing",
        written="a department without anything in it",
    ),
    Forced(
        name="department cycle through files", probe=probes.cycle,
        code="department-cycle",
        written="two Cohorts, each the parent of the other",
        base="near",
        edits=(put("Cohort", "product-sound", "parentName", "product-sound-light"),),
    ),
    Forced(
        name="missing parent", probe=probes.orphan,
        code="department-parent-missing",
        written="`parentName: reserch`",
        base="near",
        edits=(put("Cohort", "research-light", "parentName", "reserch"),),
    ),
    Forced(name="namespace in two teams", probe=probes.two_owners, code="namespace-twice", edits=(kept("research-speech"),), written="two LocalQueues of one name in one namespace"),
    Forced(
        name="topology without labels that select nodes",
        code="flavor-labels-empty",
        written="`topologyName` without `nodeLabels`",
    ),
    Forced(name="two teams whose queue names collide", probe=probes.overwritten, code="name-ambiguous", written="two ClusterQueues of one name"),
    Forced(name="borrowable flavor not reachable", probe=probes.unreachable, code="limit-of-nothing", written="x"),
    Forced(name="object quota below what the queue admits", probe=probes.too_few_pods, code="pods-below-queue", written="x"),
    Forced(name="taint without a way to tolerate it", probe=probes.fenced_cpu, code="fence-on-cpu-flavor", written="x"),
    Forced(name="cpu without memory", probe=probes.no_memory, code="cpu-memory-uncovered", written="x"),
    Forced(name="access for a namespace that nobody makes", probe=probes.granted_to_nobody, code="unknown-namespace", written="x"),
    Forced(name="quota above the physical GPUs", probe=probes.above_capacity, code="quota-above-capacity", written="x"),
    Forced(name="label that matches no declared node", probe=probes.no_such_node, code="flavor-label-without-node", written="x", edits=(renamed("h100"),)),
    Forced(
        name="two flavors on the same nodes", probe=probes.two_names,
        code="flavors-overlap",
        written="x",
        edits=(renamed("h100"), renamed("a100-mig")),
    ),
    Forced(name="MIG above the layout", probe=probes.above_layout, code="quota-above-capacity", written="x"),
    Forced(name="teams above their department", probe=probes.above_department, code="quota-above-parent", written="x"),
    Forced(
        name=SPELLING, probe=probes.spelled,
        code="",
        written="`memory: 1024Gi` and `cpu: 0.5`",
        base="trial",
        edits=(
            again(
                "ClusterQueue",
                SPEECH,
                "research-spelling",
                quota("research-spelling", "cpu", "memory", nominalQuota="1024Gi"),
                quota("research-spelling", "cpu", "cpu", nominalQuota="0.5", lendingLimit="0"),
            ),
        ),
    ),
)
