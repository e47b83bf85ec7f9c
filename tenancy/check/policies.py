"""Policies that the scheduler would refuse, ignore, or follow to what nobody meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import (
    comparable,
    in_kueue,
    listed,
    off_text,
    policy_path,
    runs_jobs,
    under_kueue,
    units_in_words,
)
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.duration import parse_duration
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node, Org
from tenancy.model.reach import Borrowers, lends

MINUTE: Final = timedelta(minutes=1)

RECLAIM_NEVER_WITH_BORROWING_PREEMPTION: Final = Rule(
    "reclaim-never-with-borrowing-preemption",
    Severity.ERROR,
    "Borrowing preemption without reclaim",
    "Kueue's ClusterQueue refuses reclaimWithinCohort Never together with borrowWithinCohort (HTTP 422), so the "
    "queue would not be created.",
)
BORROWING_PREEMPTION_IGNORED: Final = Rule(
    "borrowing-preemption-ignored",
    Severity.ERROR,
    "Borrowing preemption under weighted sharing",
    "Kueue ignores borrowWithinCohort while fair sharing is on (kueue#4165): the policy would have no effect at all.",
)
STRICT_ACROSS_FLAVORS: Final = Rule(
    "strict-across-flavors",
    Severity.WARNING,
    "Strict queueing over several GPU flavors",
    "The first job of a strict queue blocks all behind it, also those for another flavor that stands idle; on Kueue "
    "0.17 these wait without any message.",
)
STRICT_WITHOUT_RECLAIM: Final = Rule(
    "strict-without-reclaim",
    Severity.ERROR,
    "Strict queueing that stops everybody's reclaim",
    "While the first job of a strict queue waits for quota that it may not take back, Kueue keeps that place for it "
    "in every cycle: others, in other departments too, neither get their own quota back nor the GPUs that are free, "
    "until that job goes (run on 0.17.0 and 0.19.2).",
)
RECLAIM_NEVER_LENDS: Final = Rule(
    "reclaim-never-lends",
    Severity.WARNING,
    "Lent quota that cannot be taken back",
    "Under `reclaim: never` a borrower keeps what it got until its job ends by itself: the quota is then no promise, "
    "only a share of what happens to be free.",
)
GANG_NOT_AT_ORGANIZATION: Final = Rule(
    "gang-not-at-organization",
    Severity.ERROR,
    "A gang policy of one unit",
    "Kueue has one waitForPodsReady for the whole cluster, and other schedulers have none: a unit's own could not be "
    "set and would be ignored.",
)
GANG_TIMEOUT_SHORT: Final = Rule(
    "gang-timeout-short",
    Severity.WARNING,
    "A start timeout below a minute",
    "Pods must be scheduled, pull their image and become ready within it. A job that is only slow is evicted like one "
    "that hangs, and after its retries it is given up.",
)
GANG_TIMEOUT: Final = Rule(
    "gang-timeout",
    Severity.ERROR,
    "A start timeout that is no duration",
    "Kueue's manager does not start with a timeout that it cannot read; 0.17 refuses 0 as well, and 0.19 reads it as "
    "30 minutes.",
)


def reclaim_never_with_borrowing_preemption(org: Org) -> Iterator[Finding]:
    """Found where the combination arises, not again in every unit that inherits it."""
    for unit in (org.root, *org.units):
        if not _contradicts(unit) or (unit.parent is not None and _contradicts(unit.parent)):
            continue
        if not in_kueue(org, unit):
            continue
        places = (policy_path(unit, "borrowing_preemption"), policy_path(unit, "reclaim"))
        path, other = sorted(places, key=len, reverse=True)
        yield Finding(
            RECLAIM_NEVER_WITH_BORROWING_PREEMPTION,
            path,
            f"{_title(unit)} has `reclaim: never` and `borrowingPreemption: lower-priority`",
            "write `reclaim: lower-priority`, or remove `borrowingPreemption`",
            (("beside this", other),),
        )


def _contradicts(unit: Node) -> bool:
    return unit.rules.reclaim == "never" and unit.rules.borrowing_preemption == "lower-priority"


def borrowing_preemption_ignored(org: Org) -> Iterator[Finding]:
    """Some cluster of the unit shares first come, first served."""
    weighted = {name for name, cluster in org.document.clusters.items() if cluster.sharing == "weighted"}
    for unit in (org.root, *org.units):
        policy = unit.document.policy if unit.document is not None else org.document.policy
        clusters = sorted(cluster for cluster in unit.clusters if under_kueue(org, cluster))
        if policy.borrowing_preemption != "lower-priority" or not clusters or not weighted.issuperset(clusters):
            continue
        yield Finding(
            BORROWING_PREEMPTION_IGNORED,
            (*unit.path, "policy", "borrowingPreemption"),
            f"{_title(unit)} has `borrowingPreemption: lower-priority`, but cluster `{clusters[0]}` shares by weight",
            f"write `sharing: first-come` in cluster `{clusters[0]}`, or remove `borrowingPreemption`",
            (("the cluster", ("clusters", clusters[0])),),
        )


def strict_across_flavors(org: Org) -> Iterator[Finding]:
    """A strict queue serves one GPU flavor. One finding for each place that says `strict`."""
    flavors = [flavor for flavor in _of_kueue(org) if flavor.gpu is not None]
    found: dict[KeyPath, list[Node]] = {}
    for unit in org.units if len(flavors) > 1 else ():
        if unit.rules.queueing == "strict" and runs_jobs(unit) and len(_several(unit, flavors)) > 1:
            found.setdefault(policy_path(unit, "queueing"), []).append(unit)
    for path, units in found.items():
        yield Finding(
            STRICT_ACROSS_FLAVORS,
            path,
            f"{units_in_words(units)} {'queues' if len(units) == 1 else 'queue'} strictly and may use "
            f"{listed([flavor.name for flavor in _several(units[0], flavors)[:3]])}",
            f"write `queueing: best-effort`, or keep {'the unit' if len(units) == 1 else 'each of them'} to one "
            f"flavor: {_one_flavor(units[0], _several(units[0], flavors))}",
        )


def strict_without_reclaim(org: Org) -> Iterator[Finding]:
    """A strict queue takes its quota back, or never lends any. One finding for each place that says `strict`."""
    flavors = _of_kueue(org)
    found: dict[KeyPath, list[Node]] = {}
    for unit in org.units:
        rules = unit.rules
        if rules.queueing == "strict" and rules.reclaim != "any" and runs_jobs(unit) and _lendable(unit, flavors):
            found.setdefault(policy_path(unit, "queueing"), []).append(unit)
    for path, units in found.items():
        yield Finding(
            STRICT_WITHOUT_RECLAIM,
            path,
            f"{units_in_words(units)} {'queues' if len(units) == 1 else 'queue'} strictly under "
            f"`reclaim: {units[0].rules.reclaim}`",
            "write `queueing: best-effort` or `reclaim: any`, or reserve the whole quota",
            ((f"`reclaim: {units[0].rules.reclaim}`", policy_path(units[0], "reclaim")),),
        )


def _of_kueue(org: Org) -> list[Hardware]:
    """The flavors of clusters with Kueue: what other schedulers make of a policy is in their parity."""
    return [flavor for flavor in comparable(org).values() if under_kueue(org, flavor.cluster)]


def _lendable(unit: Node, flavors: Iterable[Hardware]) -> bool:
    """Whether others may borrow a part of what the unit owns, so that it may have to wait for it."""
    return any(
        amounts.quota > amounts.reserved for flavor in flavors for amounts in unit.entries[flavor.name].amounts.values()
    )


def _one_flavor(unit: Node, flavors: list[Hardware]) -> str:
    """Budget entries that leave the unit the first flavor that it owns a part of, or the first of all."""
    flavors = sorted(flavors, key=lambda flavor: not unit.owns(flavor))
    owned = [f"`{flavor.name}`" for flavor in flavors[1:] if unit.owns(flavor)]
    instead = f" in place of what it has on {', '.join(owned)}" if owned else ""
    return f"{', '.join(off_text(flavor) for flavor in flavors[1:])}{instead}"


def _several(unit: Node, flavors: list[Hardware]) -> list[Hardware]:
    """The GPU flavors that one queue of the unit reaches, in the cluster where these are the most."""
    reached = [flavor for flavor in flavors if unit.reaches(flavor)]
    groups = [[f for f in reached if f.cluster == cluster] for cluster in sorted({f.cluster for f in reached})]
    return max(groups, key=len, default=[])


def reclaim_never_lends(org: Org) -> Iterator[Finding]:
    """Where nothing is taken back, nothing is lent. One finding for each place that says `never`."""
    flavors = _of_kueue(org)
    found: dict[KeyPath, list[Node]] = {}
    known: Borrowers = {}
    # Where borrowing preemption contradicts `never`, that error says enough.
    never = [u for u in org.units if u.rules.reclaim == "never" and runs_jobs(u) and not _contradicts(u)]
    for unit in never:
        if any(lends(unit, flavor, known) for flavor in flavors):
            found.setdefault(policy_path(unit, "reclaim"), []).append(unit)
    for path, units in found.items():
        yield Finding(
            RECLAIM_NEVER_LENDS,
            path,
            f"{units_in_words(units)} {'lends' if len(units) == 1 else 'lend'} idle quota and cannot take it back",
            "write `reclaim: any` (`lower-priority` takes nothing back from jobs of the same priority), or reserve all "
            "that must be free at once: `{reserved: 8, quota: 8}`",
        )


def gang_not_at_organization(org: Org) -> Iterator[Finding]:
    """The gang policy is written at the organization only."""
    for unit in org.units:
        if unit.document is not None and unit.document.policy.gang is not None:
            yield Finding(
                GANG_NOT_AT_ORGANIZATION,
                (*unit.path, "policy", "gang"),
                f"`{unit.title}` has a gang policy of its own",
                "write `gang` under the `policy` of the organization, where it holds for all",
                at_key=True,
            )


def gang_timeout(org: Org) -> Iterator[Finding]:
    """The start timeout is a duration that pods can keep."""
    gang = org.document.policy.gang
    if gang is None:
        return
    timeout = parse_duration(gang.start_timeout)
    if not timeout:
        what = "is not a duration" if timeout is None else "is no time at all"
        yield Finding(
            GANG_TIMEOUT,
            ("policy", "gang", "startTimeout"),
            f"the start timeout `{gang.start_timeout}` {what}",
            "write hours, minutes and seconds, such as `10m`, `90s` or `1h30m`",
        )
    elif timeout < MINUTE and any(under_kueue(org, cluster) for cluster in org.document.clusters):
        yield Finding(
            GANG_TIMEOUT_SHORT,
            ("policy", "gang", "startTimeout"),
            f"jobs whose pods are not all ready after `{gang.start_timeout}` are evicted",
            "write a minute or more: the time that the largest image takes, and a margin (the default is `10m`)",
        )


def _title(unit: Node) -> str:
    return f"`{unit.title}`" if unit.title else "the organization"


RULES: Final = (
    RECLAIM_NEVER_WITH_BORROWING_PREEMPTION,
    BORROWING_PREEMPTION_IGNORED,
    STRICT_ACROSS_FLAVORS,
    STRICT_WITHOUT_RECLAIM,
    RECLAIM_NEVER_LENDS,
    GANG_NOT_AT_ORGANIZATION,
    GANG_TIMEOUT,
    GANG_TIMEOUT_SHORT,
)
CHECKS: Final[tuple[Check, ...]] = (
    reclaim_never_with_borrowing_preemption,
    borrowing_preemption_ignored,
    strict_across_flavors,
    strict_without_reclaim,
    reclaim_never_lends,
    gang_not_at_organization,
    gang_timeout,
)
