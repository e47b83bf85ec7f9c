"""Where the numbers of a unit come from, and what holds for it beside them, as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from tenancy.diagnostics import Place
from tenancy.model.origins import DEFAULT, WRITTEN, Origin
from tenancy.model.quantity import human
from tenancy.report.explain import Explanation, Number
from tenancy.report.terminal import hanging, table, visible


def origins(each: Explanation, width: int) -> Iterator[str]:
    """A line for each number, then one for each other thing that holds. A 0 that nobody says needs none of its own."""
    said = [number for number in each.numbers if number.amount or number.origin.rule != DEFAULT]
    numbers = [
        (flavor, resource, ", ".join(number.number for number in same), human(amount, resource), source(origin))
        for (flavor, resource, amount, origin), same in groupby(said, key=_same)
    ]
    yield from _table(("FLAVOR", "RESOURCE", "PROMISE", "AMOUNT", "COMES FROM"), numbers, width)
    if len(said) < len(each.numbers):
        yield "Every other promise is 0, because nothing says any."
    if each.numbers and each.facts:
        yield ""
    facts = [(fact.name, visible(fact.value), source(fact.origin)) for fact in each.facts]
    yield from _table(("WHAT HOLDS", "", "COMES FROM"), facts, width)


def _same(number: Number) -> tuple[str, str, int, Origin]:
    """What numbers have in common that are told together."""
    return number.flavor, number.resource, number.amount, number.origin


def source(origin: Origin) -> str:
    """The places of a value, after the rule that makes it where it was not written as it is."""
    where = _places(origin.places)
    if origin.detail and where:
        return f"{where}, {origin.detail}" if origin.rule == WRITTEN else f"{origin.detail} ({where})"
    return where or origin.detail


def _places(places: Sequence[Place]) -> str:
    """Each with its file, unless that is the one before."""
    shown, file = [], ""
    for place in places:
        shown.append(f"{'' if place.file == file else visible(place.file)}:{place.line}:{place.column}")
        file = place.file
    return ", ".join(shown)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], width: int) -> Iterator[str]:
    """The last column is wrapped under itself; a cell that repeats the one above, as do all before it, stays empty."""
    if not rows:
        return
    whole = [head, *rows]
    leads = list(table([*(_thinned(before, row) for before, row in zip([(), *whole], whole, strict=False))]))
    indent = max(map(len, leads))
    for lead, row in zip(leads, whole, strict=True):
        yield from hanging(lead.ljust(indent), row[-1], width)


def _thinned(before: Sequence[str], row: tuple[str, ...]) -> tuple[str, ...]:
    cells = list(row[:-1])
    for index, cell in enumerate(cells[:-2]):
        if tuple(before[: index + 1]) != row[: index + 1]:
            break
        cells[index] = "" if cell else cell
    return tuple(cells)
