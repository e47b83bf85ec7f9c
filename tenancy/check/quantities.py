"""Every quantity of the organization can be read, and Kubernetes can count what they add up to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from tenancy.check import mending
from tenancy.check.finding import Check, Finding
from tenancy.check.wording import comparable, flavor_quantities, key_of
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.budgets import SHARE
from tenancy.model.devices import SHARED
from tenancy.model.document import TRIPLE, Triple
from tenancy.model.gpus import MIG_RESOURCE_PREFIX
from tenancy.model.hardware import CPU, GPUS, Hardware
from tenancy.model.organization import Node, Org
from tenancy.model.quantity import LARGEST, QuantityError, QuantityProblem, parse

QUANTITY_SYNTAX: Final = Rule(
    "quantity-syntax",
    Severity.ERROR,
    "A value that is not a quantity",
    "The API server refuses it, and the object that carries it with everything else in it.",
)
QUANTITY_NEGATIVE: Final = Rule(
    "quantity-negative",
    Severity.ERROR,
    "A negative quantity",
    "The webhooks of Kueue and of Volcano refuse negative quotas, and no node or price has such a value.",
)
QUANTITY_FRACTION: Final = Rule(
    "quantity-fraction",
    Severity.ERROR,
    "A quantity finer than what can be handed out",
    "Kueue accepts a quota of 2.5 GPUs and rounds it up to 3: somebody else's quota would be short by the difference. "
    "Volcano refuses it.",
)
QUANTITY_OVERFLOW: Final = Rule(
    "quantity-overflow",
    Severity.ERROR,
    "A quantity beyond what Kubernetes can count",
    "Quotas are 64-bit integers: a larger number is cut to another than the one that was meant, without a word.",
)
SHARE_MISPLACED: Final = Rule(
    "share-misplaced",
    Severity.ERROR,
    "`share` where a number must stand",
    "Only a quota as a whole can come from the weights; a reserve or a limit without a number would promise nothing "
    "definite.",
)
SUM_OVERFLOW: Final = Rule(
    "sum-overflow",
    Severity.ERROR,
    "A sum beyond what Kubernetes can count",
    "Kueue adds quotas up the tree in 64-bit integers: a sum beyond them is no limit any more.",
)

_RULES: Final[Mapping[QuantityProblem, Rule]] = {
    QuantityProblem.SYNTAX: QUANTITY_SYNTAX,
    QuantityProblem.NEGATIVE: QUANTITY_NEGATIVE,
    QuantityProblem.FRACTION: QUANTITY_FRACTION,
    QuantityProblem.OVERFLOW: QUANTITY_OVERFLOW,
}
_HELP: Final[Mapping[QuantityProblem, str]] = {
    QuantityProblem.SYNTAX: "write a number, with a suffix such as m, k, M, G or Ki, Mi, Gi, Ti if it needs one",
    QuantityProblem.NEGATIVE: "write 0 or more",
    QuantityProblem.FRACTION: "write a whole number",
    QuantityProblem.OVERFLOW: "write a number that hardware can have",
}


def flavor_sizes(org: Org) -> Iterator[Finding]:
    """Sizes and prices of flavors."""
    for name, document in org.document.flavors.items():
        for below, value, resource in flavor_quantities(document):
            if value is not None:
                yield from _judge(
                    ("flavors", name, *below), value, resource, f"`{'.'.join(map(str, below))}` of flavor `{name}`"
                )
        if document.price is not None:
            yield from _judge(
                ("flavors", name, "price"), document.price, CPU, f"the price of flavor `{name}`", noun="price"
            )


def budgets(org: Org) -> Iterator[Finding]:
    """Amounts of budgets; `share` only as a whole quota."""
    for unit in org.units:
        for name, said in unit.budget.items():
            entry = unit.entries.get(name)
            if entry is None or not entry.broken:
                continue
            path, flavor = (*unit.path, "budget", name), org.flavors[name]
            numbers = {key: getattr(said, key) for key in TRIPLE} if isinstance(said, Triple) else {"": said}
            for number, value in numbers.items():
                where = (*path, number) if number else path
                yield from _amounts(unit, flavor, number or "quota", where, value)


def _amounts(unit: Node, flavor: Hardware, number: str, path: KeyPath, value: Any) -> Iterator[Finding]:
    pairs = value.items() if isinstance(value, Mapping) else ((None, value),)
    for key, each in pairs:
        resource = flavor.names.get(key or GPUS)
        if each is None or (each == SHARE and number == "quota" and key is None):
            continue
        at = path if key is None else (*path, key)
        if each == SHARE:
            yield _misplaced(unit, flavor, number, key, at)
        elif resource is not None:
            what = f"the {number} of `{unit.title}` on `{flavor.name}`"
            yield from _judge(at, each, resource, what, noun=_noun(resource, gpus=key in (None, GPUS)))


def _misplaced(unit: Node, flavor: Hardware, number: str, key: str | None, path: KeyPath) -> Finding:
    where = f"`{number}`" if key is None else f"the `{key}` of a {number}"
    return Finding(
        SHARE_MISPLACED,
        path,
        f"`{unit.title}` has `share` as {where} on `{flavor.name}`",
        f"write a number here; a share of the parent's quota is `{flavor.name}: share`, or `{flavor.name}: {{quota: "
        "share, limit: NUMBER}`",
    )


def unit_quantities(org: Org) -> Iterator[Finding]:
    """Storage, object counts and container defaults of units."""
    for unit in org.units:
        if unit.document is None:
            continue
        for name, value in unit.document.storage.items():
            yield from _judge((*unit.path, "storage", name), value, "storage", f"the storage of `{unit.title}`")
        if "limits" not in unit.document.model_fields_set:
            continue
        for key, pairs in (("objects", unit.document.limits.objects), ("container", unit.document.limits.container)):
            for name, value in pairs.items():
                path = (*unit.path, "limits", key, name)
                yield from _judge(path, value, name, f"`limits.{key}.{name}` of `{unit.title}`")


def _noun(resource: str, *, gpus: bool) -> str:
    """What an amount counts, where that is not its resource."""
    if resource.endswith(SHARED):
        return "shares"
    return "GPUs" if gpus else "slices" if resource.startswith(MIG_RESOURCE_PREFIX) else ""


def _judge(path: KeyPath, value: object, resource: str, what: str, *, noun: str = "") -> Iterator[Finding]:
    try:
        parse(value, resource)
    except QuantityError as error:
        reason, help_text = _words(error, value, resource, noun)
        edits = mending.offered(path, help_text)
        yield Finding(_RULES[error.kind], path, f"{what}: {reason}", help_text, edits=edits)


def _words(error: QuantityError, value: object, resource: str, noun: str) -> tuple[str, str]:
    """What is wrong with a quantity and what to write; `noun` is what it counts, where that is not its resource."""
    reason, suggestion, meant = error.reason.partition("; did you mean ")
    if suggestion:
        return reason, f"did you mean {meant}"
    if error.kind is QuantityProblem.SYNTAX and noun:
        return reason, _number_alone(value, "3.20" if noun == "price" else "8")
    if error.kind is not QuantityProblem.FRACTION:
        return reason, _HELP[error.kind]
    if noun == "price":
        return f"`{value}` has more than three decimals", "round it to a thousandth"
    if noun:
        reason = f"`{value}` is not a whole number of {noun}"
    if resource == CPU:
        return reason, "write whole thousandths of a core, such as `500m`"
    return reason, f"write {int(value)} or {int(value) + 1}" if isinstance(value, float) else _HELP[error.kind]


def _number_alone(value: object, example: str) -> str:
    """The number that was meant, where the text has no other in it; a share is one word too."""
    if isinstance(value, str) and get_close_matches(value.lower(), [SHARE], cutoff=0.8):
        return f"did you mean `{SHARE}`?"
    digits = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s+\D+", value) if isinstance(value, str) else None
    return f"write a number alone, such as `{digits[1] if digits else example}`"


def capacity_sums(org: Org) -> Iterator[Finding]:
    """What the nodes of a flavor have together can be counted; so can sums of quotas, which are compared with it."""
    for flavor in comparable(org).values():
        for resource, count in flavor.capacity.items():
            if count > LARGEST:
                yield Finding(
                    SUM_OVERFLOW,
                    (*flavor.path, "nodes"),
                    f"{flavor.nodes} nodes of `{flavor.name}` have more {key_of(flavor, resource)} together than "
                    "Kubernetes can count (2^63 - 1 base units)",
                    "correct `nodes`, or the size of one under `node`",
                )
                break


RULES: Final = (
    QUANTITY_SYNTAX,
    QUANTITY_NEGATIVE,
    QUANTITY_FRACTION,
    QUANTITY_OVERFLOW,
    SHARE_MISPLACED,
    SUM_OVERFLOW,
)
CHECKS: Final[tuple[Check, ...]] = (flavor_sizes, budgets, unit_quantities, capacity_sums)
