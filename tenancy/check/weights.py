"""Weights of siblings, which Kueue divides by under weighted sharing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import units_in_words
from tenancy.diagnostics import Rule, Severity
from tenancy.model.organization import Node, Org

LARGEST_RATIO: Final = 1_000_000
"""Between the weights of siblings: beyond it Kueue's shares lose their meaning (kueue#6774)."""


ZERO_WEIGHT: Final = Rule(
    "zero-weight",
    Severity.WARNING,
    "A weight of 0 under weighted sharing",
    "Kueue divides by the weight: with anything borrowed the share is infinite, so the unit borrows only while "
    "nobody else asks and is evicted first.",
)
ZERO_WEIGHTS: Final = Rule(
    "zero-weights",
    Severity.ERROR,
    "Two siblings with a weight of 0",
    "Both have an infinite share once they borrow, and Kueue evicts them in turns without end (kueue#6774).",
)
WEIGHT_RATIO: Final = Rule(
    "weight-ratio",
    Severity.ERROR,
    "Weights of siblings that are too far apart",
    "Kueue refuses weights of 1e-9 and less, and with extreme ratios its rounding lets siblings evict each other in "
    "turns (kueue#6774).",
)


def weights(org: Org) -> Iterator[Finding]:
    """Weights of siblings can be divided by, and are of one order of magnitude."""
    if not any(cluster.sharing == "weighted" for cluster in org.document.clusters.values()):
        return
    for parent in (org.root, *org.units):
        if parent.inner and len(parent.children) > 1:
            yield from _weights_of(parent)


def _weights_of(parent: Node) -> Iterator[Finding]:
    zeros, least, most = [], None, None
    for child in parent.children:
        if child.document is None or (child.kind == "project" and not child.document.budget):
            continue
        weight = child.document.weight
        if weight == 0:
            zeros.append(child)
            continue
        least = child if least is None or weight < _weight(least) else least
        most = child if most is None or weight > _weight(most) else most
    zeros = [
        child for child in zeros if child.rules.borrowing != "none" and not any(e.share for e in child.entries.values())
    ]
    if len(zeros) > 1:
        yield Finding(
            ZERO_WEIGHTS,
            (*zeros[1].path, "weight"),
            f"{units_in_words(zeros)} have the weight 0 and may borrow",
            "give all but one of them a small weight such as 0.01, or `policy: {borrowing: none}`",
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


def _weight(unit: Node) -> float:
    return unit.document.weight if unit.document is not None else 1


RULES: Final = (ZERO_WEIGHT, ZERO_WEIGHTS, WEIGHT_RATIO)
CHECKS: Final[tuple[Check, ...]] = (weights,)
