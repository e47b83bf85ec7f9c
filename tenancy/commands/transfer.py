"""Hand quota from one unit to another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from tenancy.check.wording import nearest
from tenancy.commands.changing import Asked, Made, change
from tenancy.commands.status import Status
from tenancy.edit.editing import Texts, edited
from tenancy.edit.errors import Refused
from tenancy.edit.targets import target
from tenancy.edit.transfer import transfer as planned
from tenancy.load.source import Raw
from tenancy.model.hardware import GPUS, Hardware
from tenancy.model.organization import Node, Org
from tenancy.model.quantity import QuantityError, parse
from tenancy.pipeline import Examined


def transfer(asked: Asked, source: str, goal: str, flavor: str, amounts: Mapping[str, str]) -> Status:
    """Take amounts of a flavor, by the key of a budget, from one unit and give them to another."""
    if not amounts:
        raise click.UsageError("nothing to hand over: write --gpus N, or --amount KEY=N")

    def make(path: Path, before: Examined) -> Made:
        if before.org is None:
            raise Refused("the organization has errors that leave nothing to count; `tenancy validate` shows them")
        texts = Texts(path, sources=before.sources)
        tree = texts.places().sources.tree
        units = [_unit(tree, before.org, name) for name in (source, goal)]
        if units[0] is units[1]:
            raise Refused(f"`{source}` and `{goal}` are the same unit")
        hardware = _flavor(before.org, flavor)
        counts = {key: _amount(hardware, key, text) for key, text in amounts.items()}
        made = planned(tree, units[0], units[1], hardware, counts)
        return Made(edited(texts, made.edits), tuple(made.edits), tuple(made.said))

    return change(asked, make)


def _unit(tree: Raw, org: Org, name: str) -> Node:
    path = target(tree, name)
    if not path:
        return org.root
    found = next((unit for unit in org.units if unit.path == path), None)
    if found is None:
        raise Refused(f"`{name}` is no unit with a budget")
    return found


def _flavor(org: Org, name: str) -> Hardware:
    if name not in org.flavors:
        hint = nearest(name, sorted(org.flavors)).strip()
        raise Refused(f"there is no flavor `{name}`{f'; {hint}' if hint else ''}")
    return org.flavors[name]


def _amount(flavor: Hardware, key: str, text: str) -> int:
    if key not in flavor.names:
        known = ", ".join(f"`{name}`" for name in flavor.names)
        what = "no whole GPUs" if key == GPUS else f"no `{key}`"
        raise Refused(f"`{flavor.name}` has {what}; it has {known}: write --amount KEY=N")
    try:
        count = parse(text, flavor.names[key])
    except QuantityError as error:
        raise Refused(f"the amount of {key}: {error}") from error
    if count == 0:
        raise Refused(f"the amount of {key} is 0")
    return count
