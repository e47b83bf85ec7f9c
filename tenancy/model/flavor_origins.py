"""Where the numbers of a flavor come from: what all its nodes have, and what cpu and memory come with one GPU
(`tenancy.model.hardware`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tenancy.diagnostics import KeyPath
from tenancy.load.source import Sources
from tenancy.model.document import Flavor
from tenancy.model.hardware import CPU, GPUS, MEMORY, Hardware, amount
from tenancy.model.organization import Org
from tenancy.model.origins import Origin, derived
from tenancy.model.quantity import human


def capacity(org: Org, sources: Sources, flavor: Hardware, resource: str) -> Origin:
    """Of what the organization has of a resource: that of its nodes without the spare ones."""
    document = org.document.flavors[flavor.name]
    paths: list[KeyPath] = [(*flavor.path, "nodes"), (*flavor.path, "spareNodes")]
    if resource in (CPU, MEMORY):
        each, more = _node(document, flavor, resource)
        words = f"{_nodes(document, document.nodes)}, each {each}"
        return derived(sources, "capacity", words, [*paths, *more])
    device = next(device for device in flavor.devices if device.resource == resource)
    terms = []
    for index, count in device.per_gpu.items():
        layout = flavor.layouts[index]
        term = f"{_nodes(document, layout.nodes)}, each {_plural(layout.gpus, 'GPU')}"
        if device.key != GPUS or flavor.shares > 1:
            term += f", each {_plural(count, 'share' if flavor.shares > 1 else 'slice')}"
        terms.append(term)
        paths.append(layout.path)
    paths += [(*flavor.path, "node", "gpus"), (*flavor.path, "sharing")]
    return derived(sources, "capacity", " + ".join(terms), paths)


def _nodes(document: Flavor, nodes: int) -> str:
    return _plural(nodes, "node") + (f", less {document.spare_nodes} spare" if document.spare_nodes else "")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def brings(org: Org, sources: Sources, flavor: Hardware, resource: str, counts: Mapping[str, int]) -> Origin:
    """Of cpu or memory that follows `counts` of what budgets count of the flavor."""
    document = org.document.flavors[flavor.name]
    asked = {main: count for main, count in counts.items() if count}
    shown = [f"{count} {main} of {human(flavor.follows[main][resource], resource)}" for main, count in asked.items()]
    written = getattr(document.per_gpu, resource)
    paths: list[KeyPath] = [(*flavor.path, "perGpu", resource)]
    if written is not None and (read := amount(written, resource)) is not None:
        base = f"{human(read, resource)} a GPU"
    else:
        each, paths = _node(document, flavor, resource)
        paths.insert(0, (*flavor.path, "node", "gpus"))
        base = f"({each}) ÷ {flavor.node[GPUS]} GPUs"
    return derived(sources, "follows", f"{' + '.join(shown)}; {''.join([base, *_slices(flavor)])}", paths)


def _slices(flavor: Hardware) -> Iterator[str]:
    if flavor.divided:
        yield ", a slice by its share of the memory"
    if flavor.shares > 1:
        yield f", ÷ {flavor.shares} shares"


def _node(document: Flavor, flavor: Hardware, resource: str) -> tuple[str, list[KeyPath]]:
    """What a node leaves to jobs, in words, with what was written of it."""
    size, left = amount(getattr(document.node, resource), resource) or 0, flavor.node[resource]
    words = f"{human(size, resource)} less {human(size - left, resource)} of DaemonSets"
    return words, [(*flavor.path, "node", resource), (*flavor.path, "daemons", resource)]
