"""The default topology of units: an admission policy writes it into Volcano jobs of several pods that ask for none.

A job names a queue, and with it a flavor; so the namespace says the tier of the level for each of its queues, and jobs
in the queue of a flavor without the level get nothing. `required` is a hard topology up to that tier. `preferred` is a
soft one, which has no tier: Volcano then takes the narrowest place that it finds.

Other work is left alone: Volcano makes one PodGroup for all pods of a Deployment, or of whatever owns them, and these
are not placed together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import mutating
from tenancy.backend.shared.cel import texts
from tenancy.backend.shared.pod_templates import PodTemplates
from tenancy.backend.shared.topology_defaults import DEFAULT, NAME, gives, read, said
from tenancy.backend.volcano.names import leaf
from tenancy.backend.volcano.topology import tier
from tenancy.backend.volcano.work import BATCH
from tenancy.plan.values import ClusterPlan, Namespace, Queue, Topology

TIERS: Final = f"{DEFAULT}-tiers"
"""The annotation of a namespace with its queues of flavors that have the level, as `QUEUE=TIER`."""

_JOBS: Final = (PodTemplates(BATCH, "v1alpha1", "jobs", "Job", ("spec.tasks[].template.spec",)),)


def asking(plan: ClusterPlan, topology: Topology, flavor: str) -> str:
    """What a job in the queue of a flavor writes to ask for the same."""
    if topology.mode == "preferred":
        return "networkTopology: {mode: soft}"
    allowed = tier(plan.flavors[flavor], topology.level)
    return f"networkTopology: {{mode: hard, highestTierAllowed: {allowed}}}"


def marks(plan: ClusterPlan, namespace: Namespace, queue: Queue) -> dict[str, str]:
    """What a namespace says of its default."""
    topology = namespace.topology
    if topology is None:
        return {}
    tiers = sorted((leaf(queue, name), tier(plan.flavors[name], topology.level)) for name in topology.flavors)
    return {
        **said(plan, topology),
        f"{plan.domain}/{TIERS}": ",".join(f"{name}={allowed}" for name, allowed in tiers),
    }


def topology_defaults(plan: ClusterPlan) -> Iterator[Object]:
    """The policy with its binding, where a unit has a default and the API server can give it."""
    if not gives(plan):
        return
    resources = sorted({main for flavor in plan.flavors.values() if flavor.gpu for main in flavor.mains})
    variables = {
        "job": "dyn(object)",
        "resources": texts(resources),
        "wanted": read(plan, DEFAULT, " "),
        "tiers": read(plan, TIERS),
        "open": _OPEN,
        "own": f'variables.open ? variables.tiers.filter(it, it.startsWith({_QUEUE} + "=")) : []',
    }
    yield from mutating(plan, NAME, variables, _PATCHES, kinds=_JOBS)


_QUEUE: Final = 'variables.job.?spec.?queue.orValue("")'

_OPEN: Final = """\
variables.wanted.size() == 2 && !variables.job.?spec.?networkTopology.hasValue() &&
  !variables.job.?spec.?tasks.orValue([]).exists(it, it.?partitionPolicy.?networkTopology.hasValue()) &&
  variables.job.?spec.?tasks.orValue([]).map(it, int(it.?replicas.orValue(1))).sum() > 1 &&
  variables.job.?spec.?tasks.orValue([]).map(it, it.?template.?spec.?containers.orValue([])).flatten()
    .exists(container, variables.resources.exists(resource,
      quantity(string(dyn(container.?resources.?limits[?resource].orValue("0")))).isGreaterThan(quantity("0"))))"""
"""Whether the job is one that the default is for: several pods, GPUs, and no request of its own."""

_PATCHES: Final = """\
variables.own.map(it, JSONPatch{op: "add", path: "/spec/networkTopology",
  value: variables.wanted[0] == "required" ?
    {"mode": dyn("hard"), "highestTierAllowed": dyn(int(it.split("=")[1]))} : {"mode": dyn("soft")}})"""
