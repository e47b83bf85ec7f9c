"""Mistakes in a scheduler's configuration: what we say of each, and what Volcano 1.15.1 does.

`test_configuration_schema.py` asks the validator, tests/cluster/test_volcano_configuration.py the scheduler itself.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

RUN: Final = """\
actions: "allocate, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
    enableReclaimable: false
  - name: conformance
  - name: capacity
    enableHierarchy: true
    arguments:
      ancestorReclaimLevel: 1
- plugins:
  - name: predicates
  - name: nodegroup
    enableHierarchy: true
  - name: nodeorder
  - name: binpack
"""
"""What the promises were run with."""


class Does(Enum):
    """What the scheduler does with a mistake."""

    REFUSES = "it keeps the configuration before, at its start the built-in one"
    TAKES = "it takes the file without a word"
    GRUMBLES = "it takes the file, with a line in its log in each cycle"
    ENDS = "it ends"


class Mistake(NamedTuple):
    """A configuration that differs from RUN."""

    name: str
    text: str
    said: str
    """What one of our findings contains."""
    does: Does
    log: str = ""
    """What the scheduler's log then contains."""


def _with(old: str, new: str) -> str:
    assert RUN.count(old) == 1, old
    return RUN.replace(old, new)


def _plugin(entry: str) -> str:
    """RUN with another plugin at the end of the second tier."""
    return f"{RUN}{entry}"


def _actions(actions: str) -> str:
    return _with('"allocate, reclaim, backfill"', f'"{actions}"')


_GANG = "    enablePreemptable: false\n    enableReclaimable: false\n"
_CAPACITY = "  - name: capacity\n    enableHierarchy: true\n    arguments:\n      ancestorReclaimLevel: 1\n"
_LEVEL = "ancestorReclaimLevel: 1"
_INVALID = "is invalid"

SHAPE: Final = (
    Mistake("empty", "", "holds no configuration", Does.REFUSES, _INVALID),
    Mistake("no YAML", "actions: [", "cannot be read as YAML", Does.REFUSES, _INVALID),
    Mistake("a list", "- allocate\n", "holds no configuration", Does.REFUSES, _INVALID),
    Mistake(
        "actions missing",
        _with('actions: "allocate, reclaim, backfill"\n', ""),
        "actions: must be",
        Does.REFUSES,
        _INVALID,
    ),
    Mistake(
        "action misspelt",
        _actions("allocate, reclame, backfill"),
        "did you mean reclaim",
        Does.REFUSES,
        "failed to find Action  reclame",
    ),
    Mistake(
        "action with capital",
        _actions("Allocate, reclaim, backfill"),
        "did you mean allocate",
        Does.REFUSES,
        "failed to find Action Allocate",
    ),
    Mistake(
        "comma at the end",
        _actions("allocate, reclaim, backfill,"),
        "an empty name",
        Does.REFUSES,
        "failed to find Action",
    ),
    Mistake(
        "actions as a list",
        _actions("x").replace('"x"', "[allocate, reclaim, backfill]"),
        "actions: must be",
        Does.REFUSES,
        "cannot unmarshal",
    ),
    Mistake("actions twice", f'{RUN}actions: "allocate, backfill"\n', "actions: is there twice", Does.TAKES),
    Mistake("key at the top misspelt", f"{RUN}configuration: []\n", "did you mean configurations", Does.TAKES),
    Mistake(
        "key of a tier misspelt", _with("tiers:\n- plugins:", "tiers:\n- plugin:"), "tiers[0]: must be", Does.TAKES
    ),
    Mistake(
        "plugin misspelt",
        _with("- name: binpack", "- name: binpackk"),
        "did you mean binpack",
        Does.GRUMBLES,
        "Failed to get plugin binpackk.",
    ),
    Mistake(
        "switch with a d",
        _with(_CAPACITY, _CAPACITY.replace("enableH", "enabledH")),
        "did you mean enableHierarchy",
        Does.TAKES,
    ),
    Mistake("switch without a d", _plugin("    enableOverused: false\n"), "did you mean enabledOverused", Does.TAKES),
    Mistake(
        "switch without its capital",
        _plugin("    enabledClusterOrder: false\n"),
        "did you mean EnabledClusterOrder",
        Does.TAKES,
    ),
    Mistake(
        "switch as a text",
        _with("enableReclaimable: false", 'enableReclaimable: "false"'),
        "enableReclaimable: must be true or false",
        Does.REFUSES,
        "cannot unmarshal",
    ),
    Mistake(
        "switch beside its plugin",
        _with("- name: nodeorder", "- name: nodeorder\n    enableHierarchy: true"),
        "nodeorder does not look at it",
        Does.TAKES,
    ),
    Mistake(
        "argument misspelt", _with(_LEVEL, "ancestorReclaimLevels: 1"), "did you mean ancestorReclaimLevel", Does.TAKES
    ),
    Mistake(
        "argument beside its plugin",
        _with(f"    arguments:\n      {_LEVEL}", f"    {_LEVEL}"),
        "ancestorReclaimLevel: is not a key",
        Does.TAKES,
    ),
    Mistake(
        "argument as a text",
        _with(_LEVEL, f'{_LEVEL[:-1]}"1"'),
        "must be a whole number",
        Does.GRUMBLES,
        "Could not parse argument",
    ),
    Mistake(
        "argument below zero",
        _with(_LEVEL, "ancestorReclaimLevel: -1"),
        "must be a whole number",
        Does.GRUMBLES,
        "should be non-negative",
    ),
    Mistake(
        "argument that ends it",
        _plugin("  - name: resource-strategy-fit\n    arguments: {resourceStrategyFitWeight: ten}\n"),
        "must be a whole number",
        Does.ENDS,
        "Could not parse argument for key resourceStrategyFitWeight",
    ),
    Mistake(
        "weight that is not read",
        _plugin("    arguments: {binpack.resources.nvidia.com/gpu: 5}\n"),
        "does not name the resource",
        Does.TAKES,
    ),
    Mistake(
        "arguments of no action",
        f"{RUN}configurations: [{{name: enqueue, arguments: {{}}}}]\n",
        "enqueue is not one of the actions",
        Does.TAKES,
    ),
    Mistake(
        "argument of an action misspelt",
        f"{RUN}configurations: [{{name: reclaim, arguments: {{cache: true}}}}]\n",
        "cache: is not an argument of reclaim",
        Does.TAKES,
    ),
)
"""What a scheduler cannot read, and what it does not know."""

MEANING: Final = (
    Mistake("enqueue", _actions("enqueue, allocate, reclaim, backfill"), "enqueue keeps", Does.TAKES),
    Mistake("no reclaim", _actions("allocate, backfill"), "reclaim is missing", Does.TAKES),
    Mistake(
        "preempt before reclaim",
        _actions("allocate, preempt, reclaim, backfill"),
        "must come after reclaim",
        Does.TAKES,
    ),
    Mistake("gangreclaim", _actions("allocate, gangreclaim, backfill"), "pushes departments below", Does.TAKES),
    Mistake(
        "gangreclaim and reclaim",
        _actions("allocate, reclaim, gangreclaim, backfill"),
        "exclude each other",
        Does.TAKES,
    ),
    Mistake("overcommit", _plugin("  - name: overcommit\n"), "overcommit keeps", Does.TAKES),
    Mistake("no queue plugin", _with(_CAPACITY, ""), "queues have no limits", Does.TAKES),
    Mistake("proportion", _with(_CAPACITY, "  - name: proportion\n"), "write capacity", Does.TAKES),
    Mistake("proportion and capacity", _plugin("  - name: proportion\n"), "exclude each other", Does.TAKES),
    Mistake(
        "capacity flat",
        _with(_CAPACITY, _CAPACITY.replace("    enableHierarchy: true\n", "")),
        "must be true for capacity",
        Does.TAKES,
    ),
    Mistake(
        "nodegroup flat",
        _with("- name: nodegroup\n    enableHierarchy: true", "- name: nodegroup"),
        "must be true for nodegroup",
        Does.TAKES,
    ),
    Mistake(
        "departments unprotected", _with(f"    arguments:\n      {_LEVEL}\n", ""), "pushed below its quota", Does.TAKES
    ),
    Mistake(
        "gang protects", _with(_GANG, "    enablePreemptable: false\n"), "lent to gangs never comes back", Does.TAKES
    ),
    Mistake(
        "sla before gang",
        _with("tiers:\n", "tiers:\n- plugins:\n  - name: sla\n    arguments: {sla-waiting-time: 1h}\n"),
        "keeps idle GPUs",
        Does.TAKES,
    ),
    Mistake(
        "capacity not last",
        _with("  - name: conformance\n", "").replace(_CAPACITY, f"{_CAPACITY}  - name: conformance\n"),
        "must stand last",
        Does.TAKES,
    ),
    Mistake(
        "capacity in a tier of its own",
        _with(_CAPACITY, f"- plugins:\n{_CAPACITY}"),
        "switches the protection",
        Does.TAKES,
    ),
    Mistake("tree of drf", _plugin("  - name: drf\n    enableHierarchy: true\n"), "a tree of its own", Does.TAKES),
    Mistake(
        "tree of drf with proportion",
        _plugin("  - name: drf\n    enableHierarchy: true\n  - name: proportion\n"),
        "a tree of its own",
        Does.REFUSES,
        "conflicts",
    ),
    Mistake("no gang", _with(f"  - name: gang\n{_GANG}", ""), "gang is missing", Does.TAKES),
    Mistake(
        "no node groups",
        _with("  - name: nodegroup\n    enableHierarchy: true\n", ""),
        "nodegroup is missing",
        Does.TAKES,
    ),
    Mistake("plugin twice", _plugin("  - name: nodeorder\n"), "nodeorder is there twice", Does.TAKES),
)
"""What the scheduler takes and the promises cannot bear."""

MISTAKES: Final = (*SHAPE, *MEANING)
