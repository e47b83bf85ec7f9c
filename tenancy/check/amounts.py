"""What budget entries count: resources that the flavor has, in amounts that say what they are of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenancy.check import mending
from tenancy.check.finding import Check, Finding
from tenancy.check.wording import (
    comparable,
    entry_text,
    key_of,
    known_board,
    listed,
    nearest,
    number_path,
    off_text,
    readable_layout,
)
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.budgets import SHARE
from tenancy.model.document import TRIPLE, Triple
from tenancy.model.gpus import CATALOGUE
from tenancy.model.hardware import CPU, GPUS, MEMORY, Hardware
from tenancy.model.organization import Entry, Node, Org
from tenancy.model.quantity import LARGEST, canonical

UNKNOWN_RESOURCE: Final = Rule(
    "unknown-resource",
    Severity.ERROR,
    "A budget on a resource that the flavor does not have",
    "No node of the flavor offers it: jobs that ask for it would wait for ever.",
)
AMOUNT_WITHOUT_RESOURCE: Final = Rule(
    "amount-without-resource",
    Severity.ERROR,
    "A bare number on a flavor that has several resources",
    "A bare number means whole GPUs; a MIG flavor has slices and a CPU flavor has cpu and memory, so it could mean "
    "any of them.",
)
EMPTY_BUDGET: Final = Rule(
    "empty-budget",
    Severity.ERROR,
    "A budget entry that says nothing",
    "It could mean nothing at all or everything that can be borrowed; a reader of the file cannot tell.",
)
CPU_MEMORY_UNCOVERED: Final = Rule(
    "cpu-memory-uncovered",
    Severity.ERROR,
    "A budget that lacks cpu or memory",
    "A job starts only if all that it asks for is covered: without a quota of its own for one of them the unit could "
    "run nothing that it can count on. With a limit of 0 Kueue runs nothing at all, and Volcano takes it for no limit.",
)


def resources(org: Org) -> Iterator[Finding]:
    """Budgets name resources that their flavor has, and say something."""
    for unit in org.units:
        for name, said in unit.budget.items():
            entry = unit.entries.get(name)
            if entry is None or _says_all(entry, said):
                continue
            flavor, path = org.flavors[name], (*unit.path, "budget", name)
            if org.left_out and (org.hides(path) or org.hides(flavor.path)):
                continue
            if not known_board(org.document.flavors[name]) or not readable_layout(flavor):
                continue
            yield from _entry(unit, flavor, path, said)


def _says_all(entry: Entry, said: Any) -> bool:
    """Whether every number that stands in an entry was read and is not empty."""
    if entry.broken or not all(entry.written.values()):
        return False
    count = len(entry.written) + entry.share
    return count == len(said.model_fields_set) if isinstance(said, Triple) else count > 0


def _entry(unit: Node, flavor: Hardware, path: KeyPath, said: Any) -> Iterator[Finding]:
    numbers = {key: getattr(said, key) for key in TRIPLE} if isinstance(said, Triple) else {"": said}
    numbers = {key: value for key, value in numbers.items() if value is not None}
    if not numbers:
        yield _empty(unit, flavor, path)
    elif isinstance(said, Triple):
        for number in sorted(said.model_fields_set - numbers.keys()):
            yield _empty(unit, flavor, (*path, number))
    for number, value in numbers.items():
        where = (*path, number) if number else path
        if isinstance(value, Mapping):
            if not value:
                yield _empty(unit, flavor, where)
            for key in value:
                if key not in flavor.names:
                    yield _unknown_resource(unit, flavor, (*where, key), value)
        elif value != SHARE and GPUS not in flavor.names:
            yield _bare(unit, flavor, where, value)


def _empty(unit: Node, flavor: Hardware, path: KeyPath) -> Finding:
    example = (
        entry_text(flavor, flavor.mains[0], 8000 if flavor.is_cpu else 8) if flavor.mains else f"`{flavor.name}: 8`"
    )
    return Finding(
        EMPTY_BUDGET,
        path,
        f"the budget of `{unit.title}` on `{flavor.name}` is empty",
        f"write an amount, such as {example}; remove the line for a quota of 0 that may borrow; write "
        f"{off_text(flavor)} to keep the unit off the flavor",
        at_key=True,
    )


def _unknown_resource(unit: Node, flavor: Hardware, path: KeyPath, there: Mapping[str, Any]) -> Finding:
    key = str(path[-1])
    own = [name for name in flavor.names if name not in (CPU, MEMORY)] or [CPU, MEMORY]
    board = flavor.gpu
    if flavor.is_cpu:
        what = f"`{flavor.name}` is a CPU flavor without `{key}`"
    elif key == GPUS:
        what = f"all GPUs of `{flavor.name}` are divided, so it has no whole `{GPUS}`"
    elif board is not None and key in board.profiles:
        what = f"the MIG layout of `{flavor.name}` has no `{key}`"
    elif board is not None and any(key in other.profiles for other in CATALOGUE.values()):
        what = f"`{key}` is a MIG profile of another board than the `{board.name}` of `{flavor.name}`"
    else:
        what = f"`{flavor.name}` has no resource `{key}`"
    shared = ", in shares" if flavor.shares > 1 else ""
    related = (("the layout", (*flavor.path, "mig")),) if flavor.divided else ()
    return Finding(
        UNKNOWN_RESOURCE,
        path,
        f"the budget of `{unit.title}`: {what}",
        f"{nearest(key, [*own, CPU, MEMORY])}`{flavor.name}` has {listed(own)}{shared}",
        related,
        at_key=True,
        edits=mending.meant_key(path, [*own, CPU, MEMORY], there),
    )


def _bare(unit: Node, flavor: Hardware, path: KeyPath, value: object) -> Finding:
    if flavor.is_cpu:
        why, example = "is a CPU flavor", f"{{cpu: {value}, memory: …}}"
    else:
        own = [name for name in flavor.names if name not in (CPU, MEMORY)]
        why, example = f"is divided into {listed(own)}", f"{{{', '.join(f'{name}: …' for name in own)}}}"
    return Finding(
        AMOUNT_WITHOUT_RESOURCE,
        path,
        f"`{unit.title}` has the bare number `{value}` on `{flavor.name}`, which {why}",
        f"write what it counts: `{flavor.name}: {example}`",
        (("the flavor", flavor.path),),
    )


def uncovered(org: Org) -> Iterator[Finding]:
    """A quota comes with cpu and memory."""
    readable = comparable(org)
    for unit in org.units:
        for name in unit.budget:
            flavor, entry = readable.get(name), unit.entries.get(name)
            if flavor is None or entry is None or entry.broken or not entry.written:
                continue
            yield from _limited_to_none(unit, flavor, entry)
            if entry.amounts[CPU].quota > 0 < entry.amounts[MEMORY].quota:
                continue
            owned = [resource for resource, amounts in entry.amounts.items() if amounts.quota > 0]
            missing = [resource for resource in (CPU, MEMORY) if resource not in owned]
            if owned and missing and flavor.nodes:
                yield _uncovered(unit, flavor, missing[0], owned)


def _limited_to_none(unit: Node, flavor: Hardware, entry: Entry) -> Iterator[Finding]:
    """A written limit of 0 on cpu or memory beside something that the unit may use."""
    used = [main for main in flavor.mains if entry.amounts[main].limit > 0]
    for resource in (CPU, MEMORY):
        amounts = entry.amounts[resource]
        if used and amounts.limit == amounts.quota == 0 and entry.written.get("limit", {}).get(resource) == 0:
            yield Finding(
                CPU_MEMORY_UNCOVERED,
                number_path(unit, flavor, "limit", resource),
                f"`{unit.title}` may use {listed([key_of(flavor, each) for each in used])} on `{flavor.name}`, but no "
                f"`{resource}`",
                f"leave `{resource}` out of the limit, or write {off_text(flavor)} to keep the unit off the flavor",
                at_key=True,
            )


def _uncovered(unit: Node, flavor: Hardware, missing: str, owned: list[str]) -> Finding:
    has = listed([key_of(flavor, resource) for resource in owned])
    if flavor.is_cpu:
        help_text = f"add `{missing}: {_enough(unit, flavor, missing)}`: a node has {_ratio(flavor.node, missing)}"
    elif set(owned) <= {CPU, MEMORY}:
        help_text = f"add `gpus`, from which cpu and memory follow, or `{missing}`"
    else:
        help_text = f"leave `{missing}` out: it then follows from the {'shares' if flavor.shares > 1 else 'GPUs'}"
    return Finding(
        CPU_MEMORY_UNCOVERED,
        unit.entries[flavor.name].path,
        f"`{unit.title}` has a quota of {has} on `{flavor.name}`, but none of `{missing}`",
        help_text,
        at_key=True,
    )


def _enough(unit: Node, flavor: Hardware, missing: str) -> str:
    """As much of what is missing as stands beside the other in a node, in whole cores or GiB."""
    amounts, each = unit.entries[flavor.name].amounts, _gibibytes(flavor.node)
    if missing == MEMORY:
        return canonical(min(max(1, -(-amounts[CPU].quota * each // 1000)) << 30, LARGEST), MEMORY)
    return canonical(min(max(1, -(-amounts[MEMORY].quota // (each << 30))) * 1000, LARGEST), CPU)


def _gibibytes(node: Mapping[str, int]) -> int:
    """GiB of memory beside each core of a node."""
    return max(1, round(node[MEMORY] / (1 << 30) / max(1, node[CPU] / 1000)))


def _ratio(node: Mapping[str, int], missing: str) -> str:
    gibibytes = _gibibytes(node)
    return f"{gibibytes}Gi for each cpu" if missing == MEMORY else f"one cpu for each {gibibytes}Gi"


RULES: Final = (UNKNOWN_RESOURCE, AMOUNT_WITHOUT_RESOURCE, EMPTY_BUDGET, CPU_MEMORY_UNCOVERED)
CHECKS: Final[tuple[Check, ...]] = (resources, uncovered)
