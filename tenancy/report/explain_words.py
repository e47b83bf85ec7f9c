"""The sentences of an explanation that differ between schedulers: how quota comes back, and what becomes of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What one scheduler does, in sentences; names in braces are filled in by the view."""

    unit: str = "unit"
    """What others are called that run jobs."""
    shared: str
    """Of a unit whose numbers are those of the one above."""
    alone: str = ""
    """Where nothing is lent."""
    taken_back: Mapping[str, str]
    """By `reclaim` of the owner: how it takes back what is borrowed of it."""
    comes_back: Mapping[str, str]
    """By `reclaim` of the unit itself."""
    fragmentation: str
    outcomes: Mapping[str, str]
    causes: Mapping[str, str]
    """Why a job never runs."""
    gangs: str = ""
    """The work that gets the default topology of its unit."""
    places: Mapping[str, str] = field(default_factory=dict)
    """By the mode of a topology: where it runs."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """By the mode of a topology: what becomes of jobs for flavors without the level."""
    autoscaled: Mapping[str, str]
    """By what adds the nodes of a flavor: what a job waits for."""


_REFUSED: Final = "the API server refuses it; each pod must take all GPUs of a node."
_SHARES: Final = "the API server refuses it; a container gets one share of a GPU, and more would be no more of the GPU."
_FENCED: Final = "{flavor} is fenced, and its pods do not tolerate the taint."
_BORROWS: Final = "it runs on {flavor} by borrowing, while others leave as much idle; their owners may evict it."
_FROM_QUOTA: Final = "it runs on {flavor} from the quota. What others have borrowed of it comes back {back}."
_SCATTERED: Final = (
    "{flavor}: a pod of {gpus} GPUs takes a whole node. {others} may run smaller jobs there, and once these have come "
    "and gone such a pod may wait although its GPUs are free, saying `{message}`. "
)
_WAYS_OUT: Final = "The ways out: a flavor of its own, or `wholeNodes: true` on {flavor}."
_WITHIN: Final = "within about 10 seconds"
_PLACES: Final = {"required": "within one, or waits", "preferred": "within as few as can be"}

_KARPENTER: Final = (
    "{flavor}: nodes are made for pods that find none (Karpenter), so a job may wait as long as a machine takes to "
    "start."
)
_ASKED_FOR: Final = (
    "{flavor}: the nodes of a job are asked for together, once it has its quota (ProvisioningRequest). Until they are "
    "there it holds the quota and has no pods; it gets its place on nodes after they have come."
)

KUEUE: Final = Words(
    unit="queue",
    shared="Its jobs wait in the queue {queue}, which it shares; the numbers are those of the queue.",
    taken_back={
        "any": "they take it back at once, by evicting what runs on it",
        "lower-priority": "they take it back at once from jobs of a lower priority than theirs, else when these end",
        "never": "they take it back when the jobs that run on it end",
    },
    comes_back={
        "any": "on demand, at about a second for each workload that is evicted (`reclaim: any`)",
        "lower-priority": (
            "on demand from jobs of lower priority, from others when they end (`reclaim: lower-priority`)"
        ),
        "never": "when the jobs that run on it end (`reclaim: never`)",
    },
    fragmentation=f"{_SCATTERED}Borrowers are evicted where that empties a node, owners never. {_WAYS_OUT}",
    outcomes={
        "reserved": "it runs on {flavor} from the reserve, which nobody else ever uses.",
        "quota": _FROM_QUOTA,
        "borrows": _BORROWS,
    },
    causes={
        "stopped": "the queue {queue} is {state}.",
        "whole-nodes": _REFUSED,
        "shares": _SHARES,
        "resource": "no flavor that the queue {queue} reaches has what it asks for.",
        "selector": "it selects nodes of a flavor that the queue {queue} does not reach.",
        "taint": _FENCED,
        "capacity": "it asks for more than the queue {queue} can come to on {flavor}.",
        "topology": "the nodes of {flavor} have no place for all its pods, even while they are empty.",
        "nodes": (
            "quotas admit it on {flavor}, whose nodes have no place; its pods never start, and it is tried in vain."
        ),
    },
    gangs="GPU jobs of several pods",
    places=_PLACES,
    lacking={
        "required": "{flavors}: no such level, so only jobs that select it run there, without a topology.",
        "preferred": "{flavors}: no such level, so jobs that may run there get nothing.",
    },
    autoscaled={"karpenter": _KARPENTER, "provisioning-request": _ASKED_FOR},
)

VOLCANO: Final = Words(
    shared="Its jobs wait in the queues of {queue}, which it shares; the numbers are those of the queues.",
    taken_back={
        "any": f"they take it back {_WITHIN}, by evicting pods that run on it",
        "lower-priority": f"they take it back {_WITHIN}, by evicting pods of any priority: Volcano does not keep that",
        "never": f"they take it back {_WITHIN} all the same: Volcano does not keep that",
    },
    comes_back={
        "any": f"{_WITHIN}, by evicting pods; a gang that loses one starts again as a whole (`reclaim: any`)",
        "lower-priority": f"{_WITHIN}, by evicting pods of any priority (`reclaim: lower-priority` is not kept)",
        "never": f"{_WITHIN}, by evicting pods (`reclaim: never` is not kept)",
    },
    fragmentation=f"{_SCATTERED}{_WAYS_OUT}",
    outcomes={
        "reserved": "it runs on {flavor} from the reserve. Where several borrowers use that, it comes back {back}.",
        "quota": _FROM_QUOTA,
        "borrows": _BORROWS,
    },
    causes={
        "stopped": "it is {state}, and the API server refuses new work.",
        "whole-nodes": _REFUSED,
        "shares": _SHARES,
        "resource": "no flavor that it reaches has what the job asks for.",
        "selector": "it selects nodes of {flavor}, for which the unit has no queue.",
        "taint": _FENCED,
        "capacity": "it asks for more than the queue {named} can come to; its pods are made and stay Pending.",
        "nodes": "the nodes of {flavor} have no place for all its pods, even while they are empty; these stay Pending.",
    },
    gangs="Volcano jobs of several pods with GPUs",
    places=_PLACES,
    lacking=dict.fromkeys(("required", "preferred"), "{flavors}: no such level, so jobs in its queue get nothing."),
    autoscaled={"karpenter": _KARPENTER},
)

NATIVE: Final = Words(
    shared="It has a part of what {queue} owns; the numbers are those of the whole.",
    alone="It borrows from nobody, and nobody borrows from it: what stands idle is nobody's.",
    taken_back={},
    comes_back={},
    fragmentation=f"{_SCATTERED}kube-scheduler spreads pods over the nodes, and nobody is evicted. {_WAYS_OUT}",
    outcomes={"quota": "it runs on {flavor} from the quota, which nobody else can use."},
    causes={
        "stopped": "it is {state}, and the API server refuses every new pod.",
        "whole-nodes": _REFUSED,
        "shares": _SHARES,
        "taint": _FENCED,
        "capacity": "a pod asks for more than the namespace owns, and the API server refuses it.",
        "part": (
            "the API server lets in {started} of its {pods} and refuses the others until some of these end. There are "
            "no gangs: pods that wait for each other hold what they have for nothing."
        ),
        "nodes": (
            "the quota lets its pods in, and the nodes of {flavor} have no place for all of them, even while they are "
            "empty; these stay Pending and count."
        ),
    },
    autoscaled={"karpenter": _KARPENTER},
)

WORDS: Final[Mapping[str, Words]] = {"kueue": KUEUE, "volcano": VOLCANO, "native": NATIVE}
"""By the `scheduler` of a cluster."""
