"""Whether nodes offer what budgets count: whole GPUs, the slices of a MIG layout, shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tenancy.check.finding import Finding
from tenancy.check.wording import node_count
from tenancy.live.boards import offered
from tenancy.live.inventory_rules import MIG_CONFIG_OTHER, MIG_NOT_APPLIED, NODE_DEVICES, SHARING_NOT_APPLIED
from tenancy.live.nodes import LiveNode
from tenancy.live.seen import Seen, doing, grouped, named
from tenancy.plan.nodes import MIG_CONFIG, PLUGIN_CONFIG

MIG_STATE: Final = "nvidia.com/mig.config.state"
"""What the MIG manager says: `success`, `failed`, `pending` or `rebooting`."""

_APPLY: Final = "`tenancy nodes --apply` sets the label; drain the nodes first, a GPU in use cannot be divided"
_PLUGIN: Final = "see the log of the device plugin on the node"


def offers(seen: Seen) -> Iterator[Finding]:
    """Every node offers the devices of its layout. Claims (DRA) are in no node's status."""
    if seen.flavor.is_cpu or seen.flavor.claimed:
        return
    if seen.flavor.divided:
        yield from _mig(seen)
    elif seen.flavor.shares > 1:
        yield from _shares(seen)
    else:
        yield from _whole(seen)


def _whole(seen: Seen) -> Iterator[Finding]:
    (wanted,) = _wanted(seen)
    for found, nodes in grouped(seen.running, lambda node: _differs(seen, node, wanted)).items():
        message = f"flavor `{seen.name}`: {doing(nodes, 'offer')} {_shown(dict(found))} instead of {_shown(wanted)}"
        if not any(count for _, count in found):
            help_ = f"{_PLUGIN}: it is not there, does not tolerate a taint of the node, or finds no driver"
        elif any(name not in wanted for name, count in found if count):
            help_ = "write `mig` or `sharing` for the flavor as the nodes have it, or take it off the nodes"
        else:
            help_ = f"{_PLUGIN}, which leaves out GPUs that are unfit"
        yield Finding(NODE_DEVICES, _path(seen), f"{message}: {named(nodes)}", help_)


def _shares(seen: Seen) -> Iterator[Finding]:
    (wanted,) = _wanted(seen)
    config = seen.wanted.plugin.name if seen.wanted.plugin else ""
    for found, nodes in grouped(seen.running, lambda node: _differs(seen, node, wanted)).items():
        message = f"flavor `{seen.name}`: {doing(nodes, 'offer')} {_shown(dict(found))} instead of {_shown(wanted)}"
        help_ = f"{_PLUGIN}; it reads a changed file only after a restart"
        if config and any(node.labels.get(PLUGIN_CONFIG) != config for node in nodes):
            help_ = f"`tenancy nodes --apply` sets the label `{PLUGIN_CONFIG}: {config}`"
        path = (*seen.flavor.path, "sharing")
        yield Finding(SHARING_NOT_APPLIED, path, f"{message}: {named(nodes)}", help_, at_key=True)


def _mig(seen: Seen) -> Iterator[Finding]:
    layouts = _wanted(seen)
    rest: list[LiveNode] = []
    for (cause, found), nodes in grouped(seen.running, lambda node: _mig_cause(seen, layouts, node)).items():
        yield _mig_finding(seen, layouts, cause, dict(found), nodes)
        rest += nodes
    names = [config.name for config in seen.wanted.mig]
    fine = [node for node in seen.running if node not in rest]
    other = [node for node in fine if names and node.labels.get(MIG_CONFIG) not in names]
    for label, nodes in grouped(other, lambda node: node.labels.get(MIG_CONFIG, "")).items():
        message = f"flavor `{seen.name}`: {doing(nodes, 'have')} the layout, but {_labelled(label)}: {named(nodes)}"
        yield Finding(MIG_CONFIG_OTHER, _path(seen), message, "`tenancy nodes --apply` sets the label", at_key=True)
    for index, config in enumerate(seen.wanted.mig):
        nodes = [node for node in fine if node.labels.get(MIG_CONFIG) == config.name]
        if len(seen.wanted.mig) > 1 and len(nodes) > config.nodes:
            what = f"entry {index + 1} of `mig` is on {node_count(len(nodes))} instead of {config.nodes}"
            help_ = f"write `nodes: {len(nodes)}` in the entry, or label some with another layout"
            yield Finding(MIG_NOT_APPLIED, (*_path(seen), index), f"flavor `{seen.name}`: {what}", help_)


def _mig_cause(
    seen: Seen, layouts: tuple[dict[str, int], ...], node: LiveNode
) -> tuple[str, tuple[tuple[str, int], ...]] | None:
    """What keeps the layout off a node, and what it offers instead; None where it offers the layout."""
    names = [config.name for config in seen.wanted.mig]
    label, state = node.labels.get(MIG_CONFIG, ""), node.labels.get(MIG_STATE, "")
    expected = (layouts[names.index(label)],) if label in names else layouts
    found = _offered(seen, node)
    if found in expected and (state in ("", "success") or not names):
        return None
    what = tuple(found.items())
    if not names:
        return "resources", what
    if label not in names:
        return f"label {label}", what
    return (f"state {state}" if state not in ("", "success") else "resources"), what


def _mig_finding(
    seen: Seen, layouts: tuple[dict[str, int], ...], cause: str, found: dict[str, int], nodes: list[LiveNode]
) -> Finding:
    kind, _, detail = cause.partition(" ")
    wanted = " or ".join(dict.fromkeys(_shown(layout) for layout in layouts))
    message = f"flavor `{seen.name}`: {doing(nodes, 'offer')} {_shown(found)} instead of {wanted}"
    help_ = f"{_PLUGIN}; it sees a new layout only after a restart"
    if kind == "label":
        message, help_ = f"{message}, and {_labelled(detail)}", _APPLY
    elif kind == "state" and detail == "failed":
        message = f"{message}; the MIG manager failed"
        help_ = "see the log of the MIG manager; drain the nodes, then take the label off and set it again"
    elif kind == "state":
        message = f"{message}; the change is under way (`{detail}`)"
        help_ = "wait for `success`; where it stays so, see the log of the MIG manager"
    elif not seen.wanted.mig:
        help_ = "divide the GPUs as the flavor says, or write what the nodes offer under `mig`"
    return Finding(MIG_NOT_APPLIED, _path(seen), f"{message}: {named(nodes)}", help_, at_key=True)


def _wanted(seen: Seen) -> tuple[dict[str, int], ...]:
    """What a node of each kind offers."""
    return tuple(seen.flavor.offers(kind) for kind in seen.flavor.kinds)


def _offered(seen: Seen, node: LiveNode) -> dict[str, int]:
    """The GPUs, slices and shares that a node offers: those that the flavor counts, whatever they are called, and all
    others that are known to be some."""
    there = {**offered(node), **{name: node.allocatable.get(name, 0) for name in seen.flavor.mains}}
    return {name: count for name, count in sorted(there.items()) if count}


def _differs(seen: Seen, node: LiveNode, wanted: Mapping[str, int]) -> tuple[tuple[str, int], ...] | None:
    found = _offered(seen, node)
    return None if found == wanted else tuple(found.items())


def _shown(counts: Mapping[str, int]) -> str:
    parts = [f"{count} `{name}`" for name, count in counts.items()]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts) or "no GPU"


def _labelled(label: str) -> str:
    return f"`{MIG_CONFIG}` is `{label}`" if label else f"`{MIG_CONFIG}` is absent"


def _path(seen: Seen) -> tuple[str | int, ...]:
    return (*seen.flavor.path, "mig") if seen.document.mig is not None else (*seen.flavor.path, "node", "gpus")
