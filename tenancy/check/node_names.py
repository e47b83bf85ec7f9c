"""Names of nodes: patterns that nodes can match, each for one flavor, and as many as there are nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tenancy.check import mending
from tenancy.check.finding import Finding
from tenancy.check.wording import node_count
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Flavor
from tenancy.model.organization import Org
from tenancy.model.syntax import pattern_expression

NODE_NAMES: Final = Rule(
    "node-names",
    Severity.ERROR,
    "Names that do not say which nodes a flavor has",
    "By these names labels, taints and MIG layouts are put on nodes: a name that no node has leaves a node without "
    "them, and a name of two flavors makes a node the one or the other by chance.",
)

_PATTERN: Final = re.compile(r"[a-z0-9.*]([-a-z0-9.*]*[a-z0-9*])?")
_LONGEST: Final = 253


def patterns(org: Org) -> Iterator[Finding]:
    """Every pattern is one that names of nodes can match, and stands once."""
    for name, flavor in org.document.flavors.items():
        path: KeyPath = ("flavors", name, "nodeNames")
        names = flavor.node_names
        if names is None or (org.left_out and org.hides(path)):
            continue
        if not names:
            message = f"flavor `{name}`: `nodeNames` is empty"
            yield Finding(NODE_NAMES, path, message, 'write names, such as `["gpu-*"]`, or remove it', at_key=True)
        for index, pattern in enumerate(names):
            if not _is_pattern(pattern):
                message = f"flavor `{name}`: no node can have the name `{pattern}`"
                help_ = "write lower-case letters, digits, `-` and `.`, and `*` for any text"
                yield Finding(NODE_NAMES, (*path, index), message, help_)
            elif pattern in names[:index]:
                message = f"flavor `{name}`: the name `{pattern}` is there twice"
                related = (("the first", (*path, names.index(pattern))),)
                at = (*path, index)
                yield Finding(NODE_NAMES, at, message, "remove one", related, edits=mending.leave_out(at))


def counts(org: Org) -> Iterator[Finding]:
    """Names without `*` are one node each."""
    for name, flavor in org.document.flavors.items():
        path: KeyPath = ("flavors", name, "nodeNames")
        if not flavor.node_names or (org.left_out and org.hides(path[:2])):
            continue
        if not all(map(_is_pattern, flavor.node_names)):
            continue
        fixed = len({pattern for pattern in flavor.node_names if "*" not in pattern})
        every = all("*" not in pattern for pattern in flavor.node_names)
        few = every and fixed < flavor.nodes and not flavor.autoscaling
        if fixed > flavor.nodes or few:
            message = f"flavor `{name}` names {node_count(fixed)}, but has {node_count(flavor.nodes)}"
            help_ = f"write `nodes: {fixed}`, or " + ("name the others" if few else "remove names")
            related = (("the nodes", (*path[:2], "nodes")),)
            yield Finding(NODE_NAMES, path, message, help_, related, at_key=True)


def overlaps(org: Org) -> Iterator[Finding]:
    """No name of one flavor is among the names of another of the same cluster."""
    flavors = [
        (name, flavor)
        for name, flavor in org.document.flavors.items()
        if flavor.node_names and not (org.left_out and org.hides(("flavors", name, "nodeNames")))
    ]
    for position, (name, flavor) in enumerate(flavors):
        for other, theirs in flavors[:position]:
            if org.flavors[name].cluster == org.flavors[other].cluster and (found := _shared(flavor, theirs)):
                yield _overlap(name, other, *found)
                break


def _is_pattern(text: str) -> bool:
    return len(text) <= _LONGEST and _PATTERN.fullmatch(text) is not None


def _shared(flavor: Flavor, other: Flavor) -> tuple[int, int] | None:
    """The first pattern of a flavor and that of another where every name of the one is a name of the other."""
    for mine, pattern in enumerate(flavor.node_names or ()):
        for theirs, their in enumerate(other.node_names or ()):
            if _within(pattern, their) or _within(their, pattern):
                return mine, theirs
    return None


def _within(pattern: str, wider: str) -> bool:
    """Whether `wider` matches all that `pattern` does: it then matches the pattern itself, taken for a name."""
    return re.fullmatch(pattern_expression(wider), pattern) is not None


def _overlap(name: str, other: str, mine: int, theirs: int) -> Finding:
    path: KeyPath = ("flavors", name, "nodeNames", mine)
    message = f"flavors `{other}` and `{name}` name the same nodes"
    related = ((f"a name of `{other}`", ("flavors", other, "nodeNames", theirs)),)
    return Finding(NODE_NAMES, path, message, "give each node to one flavor", related)


CHECKS: Final = (patterns, counts, overlaps)
RULES: Final = (NODE_NAMES,)
