"""Weights of siblings, which Kueue divides by under weighted sharing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import in_kueue, units_in_words
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.organization import Node, Org

LARGEST_RATIO: Final = 1_000_000
"""Between the weights of siblings: beyond it Kueue's shares lose their meaning (kueue#6774)."""
SMALLEST: Final = 0.000_001
"""Above 0: weights are written in millionths."""

ZERO_WEIGHT: Final = Rule(
    "zero-weight",
    Severity.WARNING,
    "A weight of 0 under weighted sharing",
    "Kueue divides by the weight: with anything borrowed the share is infinite, so the unit borrows only while "
    "nobody else asks and is evicted first.",
)
ZERO_WEIGHTS: Final = Rule(
    "zero-weights",
    Severity.WARNING,
    "Two siblings with a weight of 0",
    "Each has an infinite share once it borrows, so that neither comes before the other: what one gets of the idle "
    "GPUs is chance, and may be taken by the other (kueue#6774; on 0.19.2 it came to rest after five evictions).",
)
WEIGHT_RATIO: Final = Rule(
    "weight-ratio",
    Severity.ERROR,
    "Weights that are too small or too far apart",
    "Kueue refuses weights of 1e-9 and less, and with extreme ratios its rounding lets siblings evict each other in "
    "turns (kueue#6774).",
)


def weights(org: Org) -> Iterator[Finding]:
    """Weights can be written to Kueue; those of siblings can be divided by, and are of one order of magnitude."""
    for unit in org.units:
        if 0 < _weight(unit) < SMALLEST and in_kueue(org, unit):
            yield Finding(
                WEIGHT_RATIO,
                (*unit.path, "weight"),
                f"`{unit.title}` has the weight {_weight(unit):.10g}, which is below {SMALLEST:.6f}",
                "multiply the weights of all siblings: only their ratio counts",
            )
    found: dict[tuple[str, KeyPath], Finding] = {}
    for name, cluster in org.document.clusters.items():
        weighted = cluster.scheduler == "kueue" and cluster.sharing == "weighted"
        for parent in (org.root, *org.units) if weighted else ():
            siblings = [child for child in parent.children if name in child.clusters] if parent.inner else []
            if len(siblings) > 1:
                flavors = [flavor.name for flavor in org.flavors.values() if flavor.cluster == name]
                found |= {(each.rule.code, each.path): each for each in _weights_of(siblings, flavors)}
    yield from found.values()


def _weights_of(siblings: list[Node], flavors: list[str]) -> Iterator[Finding]:
    """Of units that share the flavors of one cluster."""
    zeros, least, most = [], None, None
    for child in siblings:
        if child.document is None or (child.kind == "project" and not child.budget):
            continue
        weight = child.document.weight
        if weight == 0:
            zeros.append(child)
        if weight < SMALLEST:
            continue
        least = child if least is None or weight < _weight(least) else least
        most = child if most is None or weight > _weight(most) else most
    zeros = [child for child in zeros if _borrows(child, flavors) and not any(e.share for e in child.entries.values())]
    if len(zeros) > 1:
        yield Finding(
            ZERO_WEIGHTS,
            (*zeros[1].path, "weight"),
            f"{units_in_words(zeros)} have the weight 0 and may borrow",
            "give each a small weight such as 0.01, or `policy: {borrowing: none}` if it is not to borrow",
            tuple((f"`{child.title}` as well", (*child.path, "weight")) for child in (zeros[0], *zeros[2:4])),
        )
    elif zeros:
        yield Finding(
            ZERO_WEIGHT,
            (*zeros[0].path, "weight"),
            f"`{zeros[0].title}` has the weight 0 and may borrow",
            "give it a small weight such as 0.01, or `policy: {borrowing: none}` if it is not to borrow",
        )
    if least is not None and most is not None and _weight(most) / _weight(least) > LARGEST_RATIO:
        yield Finding(
            WEIGHT_RATIO,
            (*least.path, "weight"),
            f"`{least.title}` has the weight {_weight(least):.10g}, its sibling `{most.title}` {_weight(most):.10g}",
            "keep the weights of siblings within 1 to 1000",
            (("the other weight", (*most.path, "weight")),),
        )


def _borrows(unit: Node, flavors: list[str]) -> bool:
    return any(amount.limit > amount.quota for name in flavors for amount in unit.entries[name].amounts.values())


def _weight(unit: Node) -> float:
    return unit.document.weight if unit.document is not None else 1


RULES: Final = (ZERO_WEIGHT, ZERO_WEIGHTS, WEIGHT_RATIO)
CHECKS: Final[tuple[Check, ...]] = (weights,)
