"""A proposal as it could stand in org.yaml, with comments for the person who takes it over, or as data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import dumps
from textwrap import wrap
from typing import Any, Final

from tenancy.check.wording import node_count
from tenancy.live.proposal import Proposal, Proposed
from tenancy.live.seen import named
from tenancy.render.yaml import flow

VERSION: Final = 1
"""The version of the JSON: a new key keeps it, a key that goes or changes its meaning raises it."""

_PLAIN: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9_./-]*((=[A-Za-z0-9_./-]*)?:[A-Z][A-Za-z]+)?|[1-9][0-9]*(Gi|Ti|Mi)|[1-9]g\.[0-9]+gb([+.-][a-z]+)*"
)
"""Names, taints, amounts of memory, MIG profiles."""
_RESERVED: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_WIDTH: Final = 96


def text(proposal: Proposal) -> str:
    """YAML: one entry for each flavor, what was guessed above it."""
    return "\n".join(_lines(proposal)) + "\n"


def json(proposal: Proposal) -> str:
    """One object in ASCII."""
    content = {
        "version": VERSION,
        "cluster": proposal.cluster,
        "flavors": {flavor.name: flavor.entry for flavor in proposal.flavors},
        "nodes": {flavor.name: [node.name for node in flavor.nodes] for flavor in proposal.flavors},
        "remarks": {flavor.name: list(flavor.remarks) for flavor in proposal.flavors},
        "leftOut": {reason: [node.name for node in nodes] for reason, nodes in proposal.left.items()},
    }
    return dumps(content, indent=2) + "\n"


def _lines(proposal: Proposal) -> Iterator[str]:
    total = sum(len(flavor.nodes) for flavor in proposal.flavors) + sum(map(len, proposal.left.values()))
    yield from _comment(
        f"Proposed by `tenancy inventory` from {node_count(total)}. Read it before it goes into org.yaml."
    )
    yield from _comment(
        "No node tells `spareNodes`, `price` and `daemons`, of which 2 cpu and 4Gi are assumed: write them."
    )
    for reason, nodes in proposal.left.items():
        yield from _comment(f"Left out: {node_count(len(nodes))} {reason}: {named(nodes)}.")
    if proposal.cluster:
        yield from _comment(f"The cluster of these flavors needs `{_flow(proposal.cluster)[1:-1]}`.")
    if not proposal.flavors:
        yield "flavors: {}"
        return
    yield "flavors:"
    for flavor in proposal.flavors:
        yield from _flavor(flavor)


def _flavor(flavor: Proposed) -> Iterator[str]:
    yield from _comment(f"{node_count(len(flavor.nodes))}: {named(flavor.nodes)}.", "  ")
    for remark in flavor.remarks:
        yield from _comment(f"- {remark}", "  ")
    yield f"  {flavor.name}:"
    for key, value in flavor.entry.items():
        yield f"    {key}: {_flow(value)}"


def _comment(content: str, pad: str = "") -> Iterator[str]:
    """Lines that no name of a node can break out of."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in content)
    hang = "  " if printable.startswith("- ") else ""
    lines = wrap(printable, _WIDTH - len(pad), subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)
    yield from (f"{pad}# {line}" for line in lines)


def _flow(value: Any) -> str:
    """On one line, with as few quotes as YAML allows."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
        return value
    return flow(value)
