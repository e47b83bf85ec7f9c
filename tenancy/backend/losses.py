"""Losses as diagnostics: what a scheduler cannot keep is said, once for each kind of loss and cluster.

One that is accepted, in the cluster or on the command line, is not said; what is accepted without need is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from tenancy.backend.parity import Fate, Found, Loss
from tenancy.backend.promises import Said
from tenancy.check import mending
from tenancy.check.finding import Finding
from tenancy.check.wording import listed, nearest
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.organization import Org
from tenancy.plan.values import ClusterPlan

LOSS_UNKNOWN: Final = Rule(
    "loss-unknown",
    Severity.ERROR,
    "A loss that no scheduler has",
    "A misspelt code accepts nothing, and one that is meant for a later version would accept what nobody has read.",
)
LOSS_NOT_THERE: Final = Rule(
    "loss-not-there",
    Severity.WARNING,
    "A loss that is accepted and does not occur",
    "It would hide the loss from the first person who promises what the scheduler cannot keep.",
)

RULES: Final = (LOSS_UNKNOWN, LOSS_NOT_THERE)

TITLES: Final = {"kueue": "Kueue", "volcano": "Volcano", "native": "Kubernetes alone"}
"""What the schedulers are called, by the `scheduler` of a cluster."""

_SHOWN: Final = 3
"""Places that are shown for one loss."""


def losses(org: Org, plan: ClusterPlan, lost: dict[Loss, list[Found]], accepted: Collection[str]) -> Iterator[Finding]:
    """A finding for each loss of a cluster that is not accepted, at the first promise that it concerns."""
    for loss, found in lost.items():
        if loss.code not in plan.cluster.accept and loss.code not in accepted:
            yield _finding(org, plan, loss, found)


def unknown(org: Org, known: Collection[str]) -> Iterator[Finding]:
    """Codes that clusters accept and no scheduler has."""
    for name, cluster in org.document.clusters.items():
        for index, code in enumerate(cluster.accept):
            if code not in known:
                yield Finding(
                    LOSS_UNKNOWN,
                    ("clusters", name, "accept", index),
                    f"cluster `{name}` accepts `{code}`, which is no loss of any scheduler",
                    f"{nearest(code, sorted(known))}`tenancy parity` shows the losses of each cluster with their codes",
                    edits=mending.meant(("clusters", name, "accept", index), code, sorted(known)),
                )


def not_there(plan: ClusterPlan, codes: Collection[str], known: Collection[str]) -> Iterator[Finding]:
    """Codes that a cluster accepts though nothing is lost so, or twice."""
    for index, code in enumerate(plan.cluster.accept):
        if code not in known or (code in codes and code not in plan.cluster.accept[:index]):
            continue
        if code in codes:
            message = f"cluster `{plan.name}` accepts `{code}` twice"
        elif plan.cluster.scheduler == "kueue":
            message = f"cluster `{plan.name}` accepts `{code}`, but its scheduler is Kueue, which keeps every promise"
        else:
            message = f"cluster `{plan.name}` accepts `{code}`, but promises nothing that {_title(plan)} loses so"
        at = ("clusters", plan.name, "accept", index)
        yield Finding(LOSS_NOT_THERE, at, message, f"remove `{code}`", edits=mending.leave_out(at))


def _finding(org: Org, plan: ClusterPlan, loss: Loss, found: list[Found]) -> Finding:
    """The kind of promise that most of them are goes first, and of it the first."""
    keys: list[str] = [key for key, _ in Counter(said.key for said, _ in found).most_common()]
    shown = [(said, made) for said, made in found if said.key == keys[0]]
    said, made = shown[0]
    what = f"does not keep {listed(keys)}{_whose(shown)}" if made.fate is Fate.LOST else ""
    what = what or f"keeps {listed(keys)}{_whose(shown)} differently"
    scheduler: KeyPath = ("clusters", plan.name, "scheduler")
    place = made.path or _place(org, said) or scheduler
    accept = ", ".join([*plan.cluster.accept, loss.code])
    return Finding(
        loss,
        place,
        f"cluster `{plan.name}` {what}: {said.sentence}; with {_title(plan)} {made.becomes}",
        f"{loss.instead}; or accept it: `accept: [{accept}]` in cluster `{plan.name}`, or `--allow-loss {loss.code}`",
        (
            *_others(org, shown[1:], place),
            *([("the scheduler", scheduler)] if place != scheduler else []),
        ),
    )


def _whose(shown: list[Found]) -> str:
    """Of which unit, of how many, or of which flavor."""
    units = list(dict.fromkeys(said.unit.title for said, _ in shown if said.unit.title))
    first = shown[0][0]
    if len(units) > 1:
        return f" of {len(units)} units, such as `{units[0]}`"
    if units:
        return f" of `{units[0]}`"
    return f" of flavor `{first.flavor.name}`" if first.flavor is not None else ""


def _others(org: Org, others: Iterable[Found], first: KeyPath) -> Iterator[tuple[str, KeyPath]]:
    """A few more places that say so."""
    seen = {first}
    for said, made in others:
        place = made.path or _place(org, said)
        if place and place not in seen:
            seen.add(place)
            yield f"`{said.unit.title}`: {said.sentence}" if said.unit.title else said.sentence, place
        if len(seen) == _SHOWN:
            return


def _place(org: Org, said: Said) -> KeyPath:
    """Where a promise is said; empty for a policy that is the default, which nobody wrote."""
    policy = org.document.policy
    by_default = said.path[:1] == ("policy",) and getattr(policy, _FIELDS.get(said.key, said.key), None) is None
    return () if by_default else said.path


_FIELDS: Final = {"borrowingPreemption": "borrowing_preemption"}


def _title(plan: ClusterPlan) -> str:
    return TITLES[plan.cluster.scheduler]
