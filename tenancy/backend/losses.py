"""Losses as diagnostics: what a scheduler cannot keep is said, once for each kind of loss and cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tenancy.backend.parity import Promise
from tenancy.check.finding import Finding
from tenancy.check.wording import listed
from tenancy.diagnostics import Rule

_SHOWN = 3
"""Units that a message names."""


def losses(promises: Iterable[Promise], accepted: Collection[str]) -> Iterator[Finding]:
    """A finding for each loss that is not accepted, at the first place that it concerns."""
    found: dict[tuple[str, str], list[Promise]] = {}
    for promise in promises:
        if promise.rule is not None and promise.rule.code not in accepted:
            found.setdefault((promise.cluster, promise.rule.code), []).append(promise)
    for (cluster, _), lost in found.items():
        if (rule := lost[0].rule) is not None:
            yield _finding(cluster, rule, lost)


def _finding(cluster: str, rule: Rule, lost: list[Promise]) -> Finding:
    first, units = lost[0], list(dict.fromkeys(promise.unit for promise in lost if promise.unit))
    whose = f" of {listed([f'`{unit}`' for unit in units[:_SHOWN]])}" if units else ""
    more = f" and {len(units) - _SHOWN} more" if len(units) > _SHOWN else ""
    return Finding(
        rule,
        first.path,
        f"cluster `{cluster}`: {first.promise}{whose}{more}: {first.said}, {first.becomes}",
        f"accept it with `accept: [{rule.code}]` in cluster `{cluster}` or `--allow-loss {rule.code}`, choose "
        "`scheduler: kueue`, or do not promise it",
        (("the scheduler", ("clusters", cluster, "scheduler")),),
        at_key=True,
    )
