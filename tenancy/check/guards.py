"""Guards that are turned down although something rests on them, and pods that may do what they like with a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from tenancy.check.finding import Check, Finding
from tenancy.check.mending import write
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Guards
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Org

GUARD_IS_SAFETY: Final = Rule(
    "guard-is-safety",
    Severity.ERROR,
    "A guard that Volcano cannot do without",
    "One pod that names an inner queue or `root` is admitted by Volcano's webhook and stops scheduling for the whole "
    "cluster, and one Command in any namespace closes any queue (run on 1.15.1). Nothing but these admission policies "
    "keeps a member of any team from that, also by mistake.",
)
GUARD_WEAKENED: Final = Rule(
    "guard-weakened",
    Severity.WARNING,
    "A guard that lets through what breaks a promise",
    "At `warn` or `audit` an admission policy refuses nothing, and at `off` it is not there. What it holds then rests "
    "on the good will of everybody who may submit jobs.",
)
POD_SECURITY_REASON: Final = Rule(
    "pod-security-reason",
    Severity.ERROR,
    "Privileged pods without a reason",
    "A privileged pod is root on its node: it reads the memory, files and secrets of other units' pods there, and no "
    "network policy, quota or guard holds it. Whoever reviews that must read why.",
)


class Promise(NamedTuple):
    """What rests on a guard."""

    guard: str
    words: str
    """What is done where it does not refuse."""
    schedulers: tuple[str, ...] = ("kueue", "volcano", "native")
    concerned: Callable[[Hardware], bool] | None = None
    """Whether a flavor gives it something to guard; None where it always has."""


PROMISES: Final = (
    Promise("queueing", "work may run beside every queue, on what others own and beyond every limit", ("kueue",)),
    Promise("cluster", "one priority above int32 stops Kueue for everybody", ("kueue",)),
    Promise(
        "placement", "work may name a node and skip the scheduler, or run on nodes of other units", ("kueue", "native")
    ),
    Promise("placement", "work may run on nodes of other units", ("volcano",)),
    Promise("priorities", "every job may have any priority, and go before everybody else's"),
    Promise("security", "a Service of any team may take what the whole cluster sends to an address"),
    Promise("fences", "jobs without GPUs may run on fenced GPU nodes", concerned=lambda flavor: flavor.fenced),
    Promise(
        "wholeNodes",
        "jobs may take parts of nodes that are given out whole, and owners of whole nodes wait",
        concerned=lambda flavor: flavor.whole_nodes,
    ),
)
SAFETY: Final = ("queueing", "cluster")
"""The guards that Volcano cannot do without."""


def levels(org: Org) -> Iterator[Finding]:
    """No guard is below `deny` where the cluster stops without it, or where a promise rests on it."""
    for name, cluster in org.document.clusters.items():
        path: KeyPath = ("clusters", name, "guards")
        said = _said(cluster.guards)
        for guard in SAFETY if cluster.scheduler == "volcano" else ():
            if said[guard] != "deny":
                message = f"cluster `{name}` has `{guard}: {said[guard]}`, and any job could stop it"
                at = (*path, guard)
                yield Finding(GUARD_IS_SAFETY, at, message, f"write `{guard}: deny`", edits=write(at, "deny"))
        flavors = [flavor for flavor in org.flavors.values() if flavor.cluster == name]
        for guard, words, schedulers, concerned in PROMISES:
            level = said[guard]
            holds = concerned is None or any(concerned(flavor) for flavor in flavors)
            if level != "deny" and cluster.scheduler in schedulers and holds:
                message = f"cluster `{name}` has `{guard}: {level}`: {words}"
                help_ = f"write `{guard}: deny`, or let everybody know that this is up to them"
                at = (*path, guard)
                yield Finding(GUARD_WEAKENED, at, message, help_, edits=write(at, "deny"))


def _said(guards: Guards) -> dict[str, str]:
    found: dict[str, str] = guards.model_dump(by_alias=True)
    return found


def pod_security(org: Org) -> Iterator[Finding]:
    """Privileged pods have a reason."""
    for unit in org.units:
        said = unit.document.pod_security if unit.document is not None else None
        if said is not None and said.level == "privileged" and not (said.reason or "").strip():
            path = (*unit.path, "podSecurity")
            message = f"`{unit.title}` may run privileged pods, and nothing says why"
            help_ = (
                "write `podSecurity: {level: privileged, reason: …}`, or `level: baseline`; RDMA needs no privileged "
                "pods where the container runtime lets them lock memory"
            )
            yield Finding(POD_SECURITY_REASON, path, message, help_, at_key=True)


CHECKS: Final[tuple[Check, ...]] = (levels, pod_security)
RULES: Final = (GUARD_IS_SAFETY, GUARD_WEAKENED, POD_SECURITY_REASON)
"""In the order in which they are checked."""
