"""Taints of flavors and who gets past them."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from tenancy.check import mending
from tenancy.check.finding import Finding
from tenancy.check.flavors import FLAVOR_LIMIT, MOST
from tenancy.check.wording import listed, under_kueue
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Flavor
from tenancy.model.hardware import EFFECTS, Hardware, Taint, parse_taint, taints_of, tolerated
from tenancy.model.organization import Org
from tenancy.model.syntax import is_label_key, is_label_value

TAINT_SYNTAX: Final = Rule(
    "taint-syntax",
    Severity.ERROR,
    "A taint that cannot be read",
    "Kubernetes knows taints as key, value and one of three effects; anything else is refused, and the nodes "
    "would stand open.",
)
TAINT_TWICE: Final = Rule(
    "taint-twice",
    Severity.ERROR,
    "Two taints with the same key and effect",
    "A node has one taint for each key and effect: Kueue's webhook refuses a flavor with two.",
)
TAINT_AND_TAINTS: Final = Rule(
    "taint-and-taints",
    Severity.ERROR,
    "Both `taint` and `taints`",
    "They say the same thing. A later reader sees one of them and takes it for all.",
)
TAINT_SOFT: Final = Rule(
    "taint-soft",
    Severity.WARNING,
    "A taint that keeps nobody out",
    "`PreferNoSchedule` keeps no pod off a node: Kueue ignores it, and other schedulers only look elsewhere first.",
)
TAINT_OF_NODE_STATE: Final = Rule(
    "taint-of-node-state",
    Severity.ERROR,
    "A taint that the cluster itself sets and removes",
    "The node controllers and the autoscalers put these taints on nodes that are not fit for pods, and remove "
    "them again. A tenant with the toleration would run on broken nodes.",
)
FENCE_WITHOUT_TAINT: Final = Rule(
    "fence-without-taint",
    Severity.ERROR,
    "A fence without a taint",
    "`fence` keeps jobs without GPUs out by the flavor's taint. Without one they are admitted, take the nodes' "
    "cpu and memory, and GPUs stay idle.",
)
FENCE_ON_CPU_FLAVOR: Final = Rule(
    "fence-on-cpu-flavor",
    Severity.ERROR,
    "A fence around a flavor without GPUs",
    "Past the fence come the jobs that request the flavor's GPUs, and a CPU flavor has none: its owners' jobs would be "
    "kept out, and those of whoever writes the toleration let in.",
)
FENCE_OPEN: Final = Rule(
    "fence-open",
    Severity.WARNING,
    "A fence whose taint jobs of another flavor tolerate",
    "The jobs of the other flavor are given a toleration of this taint, so no policy can refuse it to jobs without "
    "GPUs: one that writes the toleration itself gets onto the GPU nodes, takes their cpu and memory, and GPUs stay "
    "idle.",
)
FLAVOR_UNUSED: Final = Rule(
    "flavor-unused",
    Severity.WARNING,
    "A flavor that nobody may use",
    "No unit has a quota on it and none may borrow it, so its nodes stay idle.",
)

NODE_STATE: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "node.cilium.io/", "karpenter.sh/")
_FORM = "write `key[=value]:Effect`, such as `gpu.acme.example/reserved=training:NoSchedule`"


def taints(org: Org) -> Iterator[Finding]:
    """Taints are ones that nodes can have and schedulers take."""
    for name, flavor in org.document.flavors.items():
        if flavor.taint is not None and flavor.taints is not None:
            path: KeyPath = ("flavors", name, "taint")
            message = f"flavor `{name}` has both `taint` and `taints`"
            related = (("the list", ("flavors", name, "taints")),)
            yield Finding(TAINT_AND_TAINTS, path, message, f"move `{flavor.taint}` into `taints`", related)
        written = list(taints_of(name, flavor))
        if len(written) > MOST and under_kueue(org, org.flavors[name].cluster):
            message = f"flavor `{name}` has {len(written)} taints"
            yield Finding(FLAVOR_LIMIT, ("flavors", name, "taints"), message, f"keep at most {MOST}", at_key=True)
        seen: dict[tuple[str, str], KeyPath] = {}
        for path, text in written:
            yield from _taint(name, text, path, seen)


def fences(org: Org) -> Iterator[Finding]:
    """A fence needs a taint that keeps jobs out, and GPUs whose jobs come in."""
    for name, flavor in org.document.flavors.items():
        path: KeyPath = ("flavors", name, "cpuJobs")
        if flavor.cpu_jobs != "fence" or (org.left_out and org.hides(path[:2])):
            continue
        if flavor.gpu is None:
            message = f"flavor `{name}` has no GPU, so `cpuJobs: fence` would keep every job out"
            help_ = "remove `cpuJobs`: tenants of the flavor then get the toleration of its taint"
            yield Finding(FENCE_ON_CPU_FLAVOR, path, message, help_)
        elif not _hard(name, flavor):
            message = f"flavor `{name}` has `cpuJobs: fence`, but no taint that keeps jobs out"
            help_ = f"taint the nodes: `taint: {org.document.domain}/reserved={name}:NoSchedule`, or remove `cpuJobs`"
            yield Finding(FENCE_WITHOUT_TAINT, path, message, help_)


def open_fences(org: Org) -> Iterator[Finding]:
    """A fenced flavor has a taint for which no other flavor of the cluster gives its jobs a toleration."""
    given: dict[str, list[tuple[Hardware, Taint]]] = {}
    for flavor in org.flavors.values():
        if not flavor.fenced:
            given.setdefault(flavor.cluster, []).extend((flavor, taint) for taint in flavor.taints)
    for flavor in org.flavors.values():
        others = given.get(flavor.cluster)
        if others and flavor.fenced and flavor.gpu is not None:
            yield from _open(org, flavor, others)


def _open(org: Org, flavor: Hardware, given: list[tuple[Hardware, Taint]]) -> Iterator[Finding]:
    """The finding at the first taint, if every taint that keeps jobs out is tolerated by jobs of another flavor."""
    written = list(taints_of(flavor.name, org.document.flavors[flavor.name]))
    parsed = [(path, parse_taint(text)) for path, text in written]
    hard = [(path, taint) for path, taint in parsed if taint is None or taint.keeps_out]
    found = [
        next(((path, taint, *each) for each in given if taint and tolerated(taint, each[1])), None)
        for path, taint in hard
    ]
    if not found or found[0] is None or None in found or (org.left_out and org.hides(flavor.path)):
        return
    path, taint, other, its = found[0]
    message = f"flavor `{flavor.name}` is fenced by `{taint.text}`, which jobs of `{other.name}` are made to tolerate"
    help_ = (
        f"give `{flavor.name}` a taint of its own, such as `{org.document.domain}/reserved={flavor.name}:NoSchedule`"
    )
    if other.gpu is not None:
        help_ += f", or fence `{other.name}` too: `cpuJobs: fence`"
    places = taints_of(other.name, org.document.flavors[other.name])
    related = tuple((f"the taint of `{other.name}`", place) for place, text in places if parse_taint(text) == its)
    yield Finding(FENCE_OPEN, path, message, help_, related[:1])


def reach(org: Org) -> Iterator[Finding]:
    """Every flavor with nodes can be used by somebody."""
    if not org.units or org.left_out:
        return
    for name in org.document.flavors:
        flavor = org.flavors[name]
        if flavor.cluster not in org.document.clusters:
            continue
        if any(flavor.capacity[main] for main in flavor.mains) and not any(_may_use(org, flavor)):
            what = f"with the taint {listed([taint.text for taint in flavor.taints])} " if flavor.taints else ""
            message = f"flavor `{name}` {what}has {flavor.nodes} nodes, but no unit may use them"
            help_ = f"give a unit a budget on `{name}`, or let one borrow: `policy: {{borrowing: organization}}`"
            yield Finding(FLAVOR_UNUSED, flavor.path, message, help_, at_key=True)


def _may_use(org: Org, flavor: Hardware) -> Iterator[bool]:
    """For each unit that runs work whether it may use the flavor; an entry that could not be read counts as a yes."""
    for unit in org.units:
        if unit.kind != "department":
            yield unit.entries[flavor.name].broken or unit.reaches(flavor)


def _hard(name: str, flavor: Flavor) -> bool:
    """Whether a taint keeps jobs out; one that cannot be read counts, it has a finding of its own."""
    parsed = [parse_taint(text) for _, text in taints_of(name, flavor)]
    return any(taint is None or taint.keeps_out for taint in parsed)


def _taint(name: str, text: str, path: KeyPath, seen: dict[tuple[str, str], KeyPath]) -> Iterator[Finding]:
    taint = parse_taint(text)
    if taint is None or not is_label_key(taint.key) or not is_label_value(taint.value):
        message = f"flavor `{name}`: `{text}` is not a taint"
        yield Finding(TAINT_SYNTAX, path, message, _syntax_help(text, taint))
        return
    first = seen.setdefault((taint.key, taint.effect), path)
    if first != path:
        message = f"flavor `{name}` has two taints `{taint.key}` with the effect `{taint.effect}`"
        help_ = "keep one of them; budgets and access tell tenants apart, not values of one taint"
        yield Finding(TAINT_TWICE, path, message, help_, (("the first", first),))
    if taint.key.startswith(NODE_STATE):
        prefix = taint.key.partition("/")[0]
        message = f"flavor `{name}`: taints in `{prefix}` belong to the node's state"
        yield Finding(
            TAINT_OF_NODE_STATE,
            path,
            message,
            "write a key in a domain of your own, such as `gpu.acme.example/reserved`",
        )
    elif not taint.keeps_out:
        message = f"flavor `{name}`: `{text}` keeps nobody out"
        hard = f"{text.rpartition(':')[0]}:NoSchedule"
        yield Finding(TAINT_SOFT, path, message, f"write `{hard}`", edits=mending.write(path, hard))


def _syntax_help(text: str, taint: Taint | None) -> str:
    """The effect in its right spelling where that is all that is wrong."""
    head, colon, effect = text.rpartition(":")
    if taint is None and colon and effect not in EFFECTS and parse_taint(f"{head}:NoSchedule"):
        near = {known.lower(): known for known in EFFECTS}
        found = get_close_matches(effect.lower(), near, 1, 0.6)
        hint = f"did you mean `{head}:{near[found[0]]}`? " if found else ""
        return f"{hint}the effects are {listed(EFFECTS)}"
    if taint is None and not colon and is_label_key(text.partition("=")[0]):
        return f"add the effect: `{text}:NoSchedule`"
    return f"{_FORM}; keys and values are written like those of labels"


CHECKS: Final = (taints, fences, open_fences, reach)
RULES: Final = (
    TAINT_SYNTAX,
    TAINT_TWICE,
    TAINT_AND_TAINTS,
    TAINT_SOFT,
    TAINT_OF_NODE_STATE,
    FENCE_WITHOUT_TAINT,
    FENCE_ON_CPU_FLAVOR,
    FENCE_OPEN,
    FLAVOR_UNUSED,
)
