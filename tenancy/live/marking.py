"""What each matched node lacks of what its flavor says: labels and taints to set, and what stands in the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tenancy.live.nodes import MANAGER, LiveNode
from tenancy.live.pods import LivePod
from tenancy.model.hardware import Taint
from tenancy.plan.nodes import MIG_CONFIG, PLUGIN_CONFIG, FlavorNodes, MigConfig

MIG_OFF: Final = "all-disabled"
"""What the GPU operator writes into an empty `nvidia.com/mig.config` (its controllers/state_manager.go). It is nobody's
wish, so it gives way to a layout without a conflict."""

_DIVISION: Final = (MIG_CONFIG, PLUGIN_CONFIG)
"""Labels that say how the GPUs of a node are handed out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """What one node should carry."""

    flavor: str
    device: str
    """The resource of whole GPUs; empty for a CPU flavor."""
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    record: str
    """The annotation that lists the taints that `tenancy nodes` has set, and may therefore remove."""
    open: frozenset[str] = frozenset()
    """Label keys of which nothing is known for this node, so that they stay as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Something that another hand has set to another value."""

    what: str
    """`label KEY` or `taint KEY:EFFECT`."""
    live: str
    wanted: str
    owners: tuple[str, ...]
    """Field managers; empty where they are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What makes one node as it should be."""

    node: str
    want: Want
    labels: Mapping[str, str]
    """To set."""
    before: Mapping[str, str]
    """What the labels to set and to remove have now; without those that are not there."""
    unlabel: tuple[str, ...]
    """Labels that `tenancy nodes` has set and nobody wants any more."""
    taints: tuple[Taint, ...]
    untaint: tuple[Taint, ...]
    """Likewise; with the former values of `taints`."""
    conflicts: tuple[Conflict, ...]
    apply: Mapping[str, str]
    """All labels that the field manager is to have after it: what it leaves out it removes."""
    record: str
    """The value of the annotation afterwards."""

    @property
    def takes_over(self) -> bool:
        """Whether a label of another field manager gives way."""
        return self.labels.get(MIG_CONFIG, MIG_OFF) != MIG_OFF and self.before.get(MIG_CONFIG) == MIG_OFF

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.labels or self.unlabel or self.taints or self.untaint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Parts of a change that would end or break pods that run."""

    node: str
    parts: tuple[str, ...]
    """Label keys, and taints as people write them."""
    pods: tuple[str, ...]


def wants(wanted: FlavorNodes, nodes: Iterable[LiveNode], *, device: str, record: str) -> dict[str, Want]:
    """What each node of a flavor should carry, by node."""
    nodes = list(nodes)
    layouts = _layouts(wanted.mig, nodes)
    plugin = {PLUGIN_CONFIG: wanted.plugin.name} if wanted.plugin else {}
    return {
        node.name: Want(
            flavor=wanted.flavor,
            device=device,
            labels={**wanted.labels, **plugin, **({MIG_CONFIG: layouts[node.name]} if node.name in layouts else {})},
            taints=wanted.taints,
            record=record,
            open=frozenset({MIG_CONFIG} if wanted.mig and node.name not in layouts else ()),
        )
        for node in nodes
    }


def change(node: LiveNode, want: Want, held: Collection[str] = ()) -> Change:
    """From what a node carries to what it should; parts that are held back stay as they are."""
    still = {*held, *want.open}
    labels = {key: value for key, value in want.labels.items() if key not in still and node.labels.get(key) != value}
    kept = {key: node.labels[key] for key in still & node.labels.keys() if MANAGER in node.owners.get(key, ())}
    apply = {**{key: value for key, value in want.labels.items() if key not in still}, **kept}
    unlabel = tuple(
        key for key in sorted(node.labels) if node.owners.get(key, frozenset()) == {MANAGER} and key not in apply
    )
    ours = _recorded(node, want)
    taints = tuple(taint for taint in want.taints if taint not in node.taints and taint.text not in held)
    untaint = tuple(
        taint
        for taint in node.taints
        if taint in ours and taint not in want.taints and not any(_same(taint, each, held) for each in want.taints)
    )
    return Change(
        node=node.name,
        want=want,
        labels=labels,
        before={key: node.labels[key] for key in (*labels, *unlabel) if key in node.labels},
        unlabel=unlabel,
        taints=taints,
        untaint=untaint,
        conflicts=(*_label_conflicts(node, labels), *_taint_conflicts(node, taints, untaint)),
        apply=apply,
        record=",".join(sorted(taint.text for taint in {*(ours - {*untaint}), *taints})),
    )


def held(found: Change, pods: Iterable[LivePod]) -> Held | None:
    """What of a change would end or break pods that run on the node; None where nothing would.

    Another layout or another sharing takes devices away from under their pods, and another flavor their quota. A
    NoExecute taint ends the pods that do not tolerate it.
    """
    pods = list(pods)
    touched = disruptive(found)
    hit: dict[str, None] = {}
    parts = []
    for part in touched:
        taint = next((taint for taint in found.taints if taint.text == part), None)
        using = [pod.name for pod in pods if (not pod.tolerates(taint) if taint else pod.uses(found.want.device))]
        if using:
            parts.append(part)
            hit |= dict.fromkeys(using)
    return Held(node=found.node, parts=tuple(parts), pods=tuple(sorted(hit))) if parts else None


def disruptive(found: Change) -> tuple[str, ...]:
    """The parts of a change that need a look at the pods of the node."""
    labels = [key for key in found.labels if key in found.before or key in _DIVISION]
    labels += [key for key in found.unlabel if key in _DIVISION]
    taints = [taint.text for taint in found.taints if taint.effect == "NoExecute"]
    return (*(labels if found.want.device else ()), *taints)


def _layouts(configs: tuple[MigConfig, ...], nodes: list[LiveNode]) -> dict[str, str]:
    """A layout for each node. A node keeps what it has while that is wanted; of the rest, the first by name get what is
    missing, and nodes beyond those that the organization counts get none."""
    left: Counter[str] = Counter()
    for config in configs:
        left[config.name] += config.nodes
    if len(left) == 1:
        return dict.fromkeys((node.name for node in nodes), next(iter(left)))
    found: dict[str, str] = {}
    ordered = sorted(nodes, key=lambda node: node.name)
    for node in ordered:
        carried = node.labels.get(MIG_CONFIG, "")
        if left[carried] > 0:
            found[node.name] = carried
            left[carried] -= 1
    missing = list(left.elements())
    rest = [node.name for node in ordered if node.name not in found]
    return found | dict(zip(rest, missing, strict=False))


def _recorded(node: LiveNode, want: Want) -> set[Taint]:
    """The taints of a node that `tenancy nodes` has set. The list is one field for the API server, so that its owners
    do not tell whose an entry is; NFD keeps such an annotation for the same reason."""
    texts = node.annotations.get(want.record, "").split(",")
    return {taint for taint in node.taints if taint.text in texts}


def _same(taint: Taint, wanted: Taint, held: Collection[str]) -> bool:
    """Whether a taint is the former value of one that is held back."""
    return wanted.text in held and (taint.key, taint.effect) == (wanted.key, wanted.effect)


def _label_conflicts(node: LiveNode, labels: Mapping[str, str]) -> Iterator[Conflict]:
    for key, value in labels.items():
        others = node.owners.get(key, frozenset()) - {MANAGER}
        live = node.labels.get(key, "")
        if others and not (key == MIG_CONFIG and live == MIG_OFF):
            yield Conflict(what=f"label {key}", live=live, wanted=value, owners=tuple(sorted(others)))


def _taint_conflicts(node: LiveNode, taints: Iterable[Taint], untaint: Collection[Taint]) -> Iterator[Conflict]:
    """A node has one taint of a key and an effect: another value has to go first."""
    for taint in taints:
        for other in node.taints:
            if (other.key, other.effect) == (taint.key, taint.effect) and other not in untaint:
                owners = tuple(sorted(node.tainters - {MANAGER}))
                yield Conflict(
                    what=f"taint {taint.key}:{taint.effect}", live=other.value, wanted=taint.value, owners=owners
                )
