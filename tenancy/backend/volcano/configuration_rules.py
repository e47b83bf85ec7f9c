"""What Volcano's scheduler takes and our queues cannot bear: each rule with where it was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from tenancy.backend.volcano.configuration_scheduler import Plugin, Scheduler

Rule: TypeAlias = Callable[[Scheduler], Iterator[str]]

_ACTIONS: Final = {
    "allocate": "starts jobs",
    "reclaim": "takes lent quota back",
    "backfill": "starts pods without requests",
}
_PLUGINS: Final = {
    "priority": "orders jobs by their priority classes",
    "gang": "starts the pods of a job together or not at all",
    "conformance": "keeps the pods of the system from being evicted",
    "predicates": "looks at selectors, affinities and taints",
    "nodegroup": "keeps a flavor's work on its nodes",
}
_RECLAIM_FILTERS: Final = ("gang", "conformance", "pdb", "cdp", "extender", "drf")
"""Plugins other than the queue plugins that say who may be evicted for lent quota (AddReclaimableFn in plugins/)."""


def _needed(scheduler: Scheduler) -> Iterator[str]:
    """What a promise rests on is there."""
    for action, does in _ACTIONS.items():
        if action not in scheduler.actions:
            yield f"actions: {action} is missing, which {does}."
    for plugin, does in _PLUGINS.items():
        if scheduler.plugin(plugin) is None:
            yield f"tiers: the plugin {plugin} is missing, which {does}."


def _twice(scheduler: Scheduler) -> Iterator[str]:
    """Functions of plugins are kept by name and switches by entry, so a second entry runs the same functions again; of
    enableHierarchy the first one counts (framework/framework.go and session.go)."""
    seen: set[str] = set()
    for plugin in scheduler.plugins:
        if plugin.name in seen:
            yield f"{plugin.path}.name: {plugin.name} is there twice."
        seen.add(plugin.name)


def _queue_plugin(scheduler: Scheduler) -> Iterator[str]:
    """volcano #4576 and #1496; both together and neither were run on 1.15.1: no message."""
    capacity, proportion = scheduler.plugin("capacity"), scheduler.plugin("proportion")
    if capacity and proportion:
        yield f"{proportion.path}.name: proportion and capacity exclude each other; each keeps queues of its own."
    elif proportion:
        yield f"{proportion.path}.name: proportion reads neither parent nor deserved; write capacity."
    elif not capacity:
        yield "tiers: the plugin capacity is missing, without which queues have no limits."


def _hierarchy(scheduler: Scheduler) -> Iterator[str]:
    """Run on 1.15.1: without it capacity reads no parents, and a queue that inherits its node group gets no node."""
    for name, otherwise in (
        ("capacity", "queues would stand beside each other, and a team would not be bound by its department"),
        ("nodegroup", "only queues that name a node group themselves would get a node"),
    ):
        plugin = scheduler.plugin(name)
        if plugin and not plugin.on("enableHierarchy"):
            yield f"{plugin.path}.enableHierarchy: must be true for {name}; {otherwise}."


def _enqueue(scheduler: Scheduler) -> Iterator[str]:
    """Run on 1.15.1, below a queue with a finite capability that is full; all of ours have one."""
    if "enqueue" in scheduler.actions:
        yield "actions: enqueue keeps a job whose quota is lent out from asking for it back; leave it out."
    if overcommit := scheduler.plugin("overcommit"):
        yield f"{overcommit.path}.name: overcommit keeps jobs that would fit out of a cluster that is nearly full."


def _protection(scheduler: Scheduler) -> Iterator[str]:
    """A department at its quota keeps it only so: at 0 one was cut from 12 of 12 to 10 (run on 1.15.1)."""
    capacity = scheduler.plugin("capacity")
    if capacity and scheduler.minor != "1.14" and capacity.arguments.get("ancestorReclaimLevel", 0) < 1:
        path = f"{capacity.path}.arguments.ancestorReclaimLevel"
        yield f"{path}: must be 1 or more, or a department is pushed below its quota."


def _gang(scheduler: Scheduler) -> Iterator[str]:
    """Run on 1.15.1: with the switch on, whole gangs that hold lent quota are never evicted, for an owner as for a job
    of higher priority."""
    gang, capacity = scheduler.plugin("gang"), scheduler.plugin("capacity")
    if gang and capacity and gang.tier <= capacity.tier and gang.on("enableReclaimable"):
        yield f"{gang.path}.enableReclaimable: must be false, or quota that is lent to gangs never comes back."
    if gang and "preempt" in scheduler.actions and gang.on("enablePreemptable"):
        yield f"{gang.path}.enablePreemptable: must be false, or preempt never evicts gangs."


def _sla(scheduler: Scheduler) -> Iterator[str]:
    """Run on 1.15.1: seven idle GPUs were kept from whatever came after a gang of eight in its queue, which could not
    start. In the tier of gang, whose vote counts there, sla changed nothing."""
    sla, gang = scheduler.plugin("sla"), scheduler.plugin("gang")
    if sla and gang and sla.tier < gang.tier and sla.on("enableJobPipelined"):
        yield f"{sla.path}: sla in a tier before gang keeps idle GPUs for gangs that cannot start."


def _order_of_filters(scheduler: Scheduler) -> Iterator[str]:
    """The first tier that offers victims decides, and within a tier an empty intersection is filled up again by the
    plugin that comes next (session_plugins.go; volcano #5896 and #5963)."""
    capacity = scheduler.plugin("capacity")
    if capacity is None:
        return
    beside = [plugin for plugin in scheduler.plugins if plugin.tier == capacity.tier]
    if beside[-1] is not capacity:
        yield f"{capacity.path}: capacity must stand last in its tier, or a queue at its quota can be evicted from."
    for plugin in scheduler.plugins:
        if plugin.tier < capacity.tier and _filters(plugin):
            yield f"{plugin.path}: {plugin.name} in a tier before capacity switches the protection of quotas off."


def _filters(plugin: Plugin) -> bool:
    if plugin.name == "drf" and not plugin.on("enableHierarchy"):
        return False
    return plugin.name in _RECLAIM_FILTERS and plugin.on("enableReclaimable")


def _drf(scheduler: Scheduler) -> Iterator[str]:
    """Its tree comes from annotations and has nothing to do with ours; with proportion in one tier the scheduler
    refuses the file (scheduler/util.go)."""
    drf = scheduler.plugin("drf")
    if drf and drf.on("enableHierarchy") and (scheduler.plugin("capacity") or scheduler.plugin("proportion")):
        yield f"{drf.path}.enableHierarchy: must be off next to capacity and proportion; it is a tree of its own."


def _gang_actions(scheduler: Scheduler) -> Iterator[str]:
    """volcano #5964: victims are chosen without ancestorReclaimLevel. Run on 1.15.1: a department at its quota lost one
    of twelve. The design of both says that they do not go together with the actions for single pods."""
    if "gangreclaim" in scheduler.actions:
        yield "actions: gangreclaim takes no notice of ancestorReclaimLevel and pushes departments below their quota."
    for action in ("reclaim", "preempt"):
        if {action, f"gang{action}"} <= {*scheduler.actions}:
            yield f"actions: gang{action} and {action} exclude each other."


def _preempt(scheduler: Scheduler) -> Iterator[str]:
    """Run on 1.15.1: before reclaim it evicted 8 jobs of the owner although 8 of the owner's GPUs were lent."""
    order = [action for action in scheduler.actions if action in ("preempt", "reclaim")]
    if order == ["preempt", "reclaim"]:
        yield "actions: preempt must come after reclaim, or a team's own jobs are evicted while its quota is lent."


def _devices(scheduler: Scheduler) -> Iterator[str]:
    """Each pair ends the scheduler (plugins/deviceshare)."""
    plugin = scheduler.plugin("deviceshare")
    if plugin is None:
        return
    on = [name for name in ("GPUSharing", "GPUNumber", "VGPU") if plugin.arguments.get(f"deviceshare.{name}Enable")]
    if len(on) > 1:
        names = " and ".join(f"deviceshare.{name}Enable" for name in on)
        yield f"{plugin.path}.arguments: {names} exclude each other; the scheduler ends."


RULES: Final[tuple[Rule, ...]] = (
    _needed,
    _twice,
    _queue_plugin,
    _hierarchy,
    _enqueue,
    _protection,
    _gang,
    _sla,
    _order_of_filters,
    _drf,
    _gang_actions,
    _preempt,
    _devices,
)
