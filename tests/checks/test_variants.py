"""Variants of the cases: other ways to break a rule, nearest fine ones, and faults that must give one finding only."""

from __future__ import annotations

import copy
from datetime import date
from typing import Any

import pytest

from tenancy.check import check
from tenancy.diagnostics import Diagnostic
from tenancy.load.source import Sources
from tests.orgs import changed, organized

DAEMONS = {"cpu": 2, "memory": "4Gi"}
BASE: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "flavors": {
        "h100": {
            "gpu": "H100-SXM-80GB",
            "nodes": 4,
            "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"},
            "daemons": DAEMONS,
        },
        "mig": {
            "gpu": "A100-SXM4-80GB",
            "nodes": 2,
            "node": {"gpus": 8, "cpu": 128, "memory": "1000Gi"},
            "daemons": DAEMONS,
            "mig": {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2},
        },
        "cpu": {"nodes": 4, "node": {"cpu": 64, "memory": "256Gi"}, "daemons": DAEMONS},
    },
    "departments": {
        "research": {
            "budget": {"h100": 24, "mig": {"1g.10gb": 16}, "cpu": {"cpu": 100, "memory": "400Gi"}},
            "teams": {"vision": {"budget": {"h100": 8}}, "speech": {"budget": {"h100": {"reserved": 4, "quota": 8}}}},
        }
    },
}
R = "departments.research"
V = f"{R}.teams.vision"
S = f"{R}.teams.speech"


def codes(changes: dict[str, Any], today: date | None = None) -> list[str]:
    """The codes of what the checks say of the base with the values at dotted paths replaced."""
    return [found.code for found in findings(changes, today)]


def findings(changes: dict[str, Any], today: date | None = None) -> list[Diagnostic]:
    """What the checks say of it."""
    tree = changed(BASE, changes)
    return check(organized(tree), Sources((), tree, {}), today)


ORDER = {
    "a reserve is the quota of an entry that says no more": ({f"{V}.budget": {"h100": {"reserved": 8}}}, []),
    "a share below its reserve": (
        {f"{V}.budget": {"h100": {"reserved": 20, "quota": "share"}}},
        ["reserved-above-quota"],
    ),
    "a reserve above the limit": (
        {f"{V}.budget": {"h100": {"reserved": 8, "limit": 4}}},
        ["quota-above-limit"],
    ),
    "cpu that follows the quota above a written limit of cpu": (
        {f"{V}.budget": {"h100": {"quota": 8, "limit": {"gpus": 8, "cpu": 10}}}},
        ["quota-above-limit"],
    ),
}
SUMS = {
    "a parent without any budget of the flavor": (
        {f"{R}.budget": {}, f"{S}.budget": {}, f"{V}.budget": {"h100": 4}},
        ["quota-above-parent"],
    ),
    "cpu that follows above the parent's own cpu": (
        {f"{R}.budget": {"h100": {"gpus": 24, "cpu": 100}}},
        ["quota-above-parent"],
    ),
    "projects above their team": (
        {f"{V}.projects": {"a": {"budget": {"h100": 6}}, "b": {"budget": {"h100": 6}}}},
        ["quota-above-parent"],
    ),
    "one profile of several above the parent": (
        {f"{V}.budget": {"mig": {"1g.10gb": 16, "3g.40gb": 1}}},
        ["quota-above-parent"],
    ),
    "a department above the hardware is not repeated below": ({f"{R}.budget": {"h100": 40}}, ["quota-above-capacity"]),
    "cpu above the nodes of a CPU flavor": (
        {f"{R}.budget": {"cpu": {"cpu": 300, "memory": "400Gi"}}, f"{S}.budget": {}, f"{V}.budget": {}},
        ["quota-above-capacity"],
    ),
    "all but the spare nodes": ({"flavors.h100.spareNodes": 1}, []),
    "a flavor without nodes is one finding where it has quotas": ({"flavors.h100.nodes": 0}, ["quota-above-capacity"]),
    "a flavor without nodes or quotas": (
        {"flavors.h100.nodes": 0, f"{R}.budget": {}, f"{V}.budget": {}, f"{S}.budget": {}},
        ["flavor-without-nodes"],
    ),
    "a flavor without nodes is not repeated by teams that could have nothing else": (
        {
            "flavors": {"h100": {**BASE["flavors"]["h100"], "nodes": 0}},
            f"{R}.budget": {},
            f"{S}.budget": {},
            f"{V}.budget": {"h100": {"limit": 8}},
        },
        ["flavor-without-nodes", "limit-of-nothing"],
    ),
    "as many spare nodes as a layout has": (
        {
            "flavors.mig.nodes": 4,
            "flavors.mig.spareNodes": 1,
            "flavors.mig.mig": [{"1g.10gb": 7, "nodes": 1}, {"3g.40gb": 2, "nodes": 3}],
        },
        ["spare-nodes"],
    ),
    "one spare node less than a layout has": (
        {
            "flavors.mig.nodes": 5,
            "flavors.mig.spareNodes": 1,
            "flavors.mig.mig": [{"1g.10gb": 7, "nodes": 2}, {"3g.40gb": 2, "nodes": 3}],
        },
        [],
    ),
    "what a team of budgeted projects keeps while none may borrow": (
        {f"{V}.projects": {"a": {"budget": {"h100": 4}}}, f"{V}.policy": {"borrowing": "none"}},
        ["pool-unused"],
    ),
    "what only a department could use whose teams may borrow nothing": (
        {
            f"{V}.budget": {"h100": {"quota": 8, "limit": 8}},
            f"{S}.budget": {"h100": {"quota": 8, "limit": 8}},
            f"{R}.departments.lab": {
                "budget": {"h100": 4},
                "teams": {"robots": {"budget": {"h100": {"quota": 4, "limit": 4}}}},
            },
        },
        ["pool-unused"],
    ),
    "what a team keeps for a project without a budget": (
        {f"{V}.projects": {"a": {"budget": {"h100": 4}}, "b": {}}, f"{V}.policy": {"borrowing": "none"}},
        [],
    ),
    "whole nodes of a divided flavor are one finding": (
        {"flavors.mig.wholeNodes": True, f"{R}.budget": {"h100": 24, "mig": {"1g.10gb": 9}}},
        ["whole-nodes-with-mig"],
    ),
    "a perGpu above the node is not a quota above the hardware": (
        {"flavors.h100.perGpu": {"cpu": 30}, f"{R}.budget": {"h100": 32}},
        ["per-gpu-above-node"],
    ),
}
LIMITS = {
    "a department above the hardware": ({f"{R}.budget": {"h100": {"quota": 24, "limit": 40}}}, ["limit-above-parent"]),
    "a limit above one that is above already is one finding": (
        {f"{R}.budget": {"h100": {"quota": 24, "limit": 40}}, f"{V}.budget": {"h100": {"quota": 8, "limit": 36}}},
        ["limit-above-parent"],
    ),
    "a limit above the quota that cannot borrow": (
        {f"{V}.policy": {"borrowing": "none"}, f"{V}.budget": {"h100": {"quota": 8, "limit": 9}}},
        ["limit-above-borrowing"],
    ),
    "a limit at the quota that cannot borrow": (
        {f"{V}.policy": {"borrowing": "none"}, f"{V}.budget": {"h100": {"quota": 8, "limit": 8}}},
        [],
    ),
    "all but what a sibling reserves": ({f"{V}.budget": {"h100": {"quota": 8, "limit": 28}}}, []),
    "one more than what siblings leave": (
        {f"{V}.budget": {"h100": {"quota": 8, "limit": 29}}},
        ["limit-unreachable"],
    ),
    "what another department reserves is out of reach too": (
        {
            f"{S}.budget": {},
            f"{V}.budget": {"h100": {"quota": 8, "limit": 32}},
            "departments.product": {"budget": {"h100": {"reserved": 4, "quota": 4}}, "teams": {"search": {}}},
        },
        ["limit-unreachable"],
    ),
    "a limit beside a quota that is above the parent's already is one finding": (
        {f"{R}.policy": {"borrowing": "none"}, f"{V}.policy": {"borrowing": "organization"}}
        | {f"{V}.budget": {"h100": {"quota": 30, "limit": 31}}},
        ["quota-above-parent"],
    ),
    "a limit of nothing is no limit to reach": ({f"{V}.budget": {"h100": {"limit": 0}}}, []),
    "a limit on a flavor of which neither the unit nor its lender has any": (
        {f"{R}.policy": {"borrowing": "department"}, f"{V}.budget": {"mig": {"limit": {"3g.40gb": 1}}}},
        ["limit-of-nothing"],
    ),
}
SHARES = {
    "a share under a department without the flavor": (
        {f"{R}.budget": {}, f"{S}.budget": {}, f"{V}.budget": {"h100": "share"}},
        ["share-without-quota"],
    ),
    "a share of the hardware itself": ({f"{R}.budget": {"h100": "share"}}, []),
    "a share beside quotas above the parent's": (
        {f"{S}.budget": {"h100": 30}, f"{V}.budget": {"h100": "share"}},
        ["quota-above-parent"],
    ),
    "share as a resource": ({f"{V}.budget": {"h100": {"gpus": "share"}}}, ["share-misplaced"]),
    "a weight of 0 with a share is one finding": (
        {f"{V}.weight": 0, f"{V}.budget": {"h100": "share"}},
        ["share-without-weight"],
    ),
    "a weight of 0 that may not borrow": ({f"{V}.weight": 0, f"{V}.policy": {"borrowing": "none"}}, []),
    "a weight of 0 where nobody shares by weight": (
        {f"{V}.weight": 0, "clusters.train": {"sharing": "first-come"}},
        [],
    ),
}
AMOUNTS = {
    "an unreadable node hides the laws about its flavor": ({"flavors.h100.node.memory": "2000GB"}, ["quantity-syntax"]),
    "an unknown board hides the laws about its flavor": ({"flavors.mig.gpu": "A100"}, ["unknown-gpu"]),
    "an unreadable amount hides the sums around it": (
        {f"{R}.budget": {"h100": 8}, f"{V}.budget": {"h100": "all"}},
        ["quantity-syntax"],
    ),
    "a price with four decimals": ({"flavors.h100.price": 1.2345}, ["quantity-fraction"]),
    "a negative price": ({"flavors.h100.price": -1}, ["quantity-negative"]),
    "a price that is no number": ({"flavors.h100.price": "3.20 EUR"}, ["quantity-syntax"]),
    "an infinite price": ({"flavors.h100.price": float("inf")}, ["quantity-syntax"]),
    "a price of nothing": ({"flavors.h100.price": 0}, []),
    "a bare number of a CPU flavor": ({f"{V}.budget": {"cpu": 8}}, ["amount-without-resource"]),
    "GPUs of a divided flavor": ({f"{V}.budget": {"mig": {"gpus": 8}}}, ["unknown-resource"]),
    "a profile of the board outside the layout": ({f"{V}.budget": {"mig": {"7g.80gb": 1}}}, ["unknown-resource"]),
    "an empty map as a number": ({f"{V}.budget": {"h100": {"quota": 8, "limit": {}}}}, ["empty-budget"]),
    "GPUs without memory": ({f"{V}.budget": {"h100": {"gpus": 8, "memory": 0}}}, ["cpu-memory-uncovered"]),
    "a forgotten board is not repeated by the budgets of its GPUs": (
        {"flavors.h100": {key: value for key, value in BASE["flavors"]["h100"].items() if key != "gpu"}},
        ["gpus-on-cpu-flavor"],
    ),
    "a resource that is no extended one is not repeated by budgets": (
        {"flavors.h100.gpu": {"name": "MI300X", "memory": "192Gi", "resource": "cpu"}},
        ["gpu-resource"],
    ),
    "cpu that is too little for the GPUs of a node": (
        {"flavors.h100.node": {"gpus": 8, "cpu": "2001m", "memory": "9Gi"}},
        ["nothing-per-gpu"],
    ),
    "GPUs whose limit has no cpu": (
        {f"{V}.budget": {"h100": {"limit": {"gpus": 8, "cpu": 0}}}},
        ["cpu-memory-uncovered"],
    ),
    "memory of a CPU flavor whose limit has no cpu": (
        {f"{V}.budget": {"cpu": {"limit": {"cpu": 0}}}},
        ["cpu-memory-uncovered"],
    ),
    "a limit of no GPUs and no cpu": ({f"{V}.budget": {"h100": {"limit": {"gpus": 0, "cpu": 0}}}}, []),
    "GPUs with cpu of their own": ({f"{V}.budget": {"h100": {"gpus": 8, "cpu": 100}}}, []),
    "cpu of a GPU flavor alone": ({f"{V}.budget": {"h100": {"cpu": 8}}}, ["cpu-memory-uncovered"]),
}
REFERENCES = {
    "an account of a usual tool": ({f"{V}.access": {"members": ["serviceaccount:argocd/argocd-server"]}}, []),
    "an account of a declared service": (
        {
            "network.services.mlflow": {"namespace": "tracking", "pods": {"app": "mlflow"}, "ports": [5000]},
            f"{V}.access": {"members": ["serviceaccount:tracking/mlflow"]},
        },
        [],
    ),
    "an account that an ancestor declares": (
        {
            f"{R}.access": {"serviceAccounts": ["ci"]},
            f"{V}.access": {"viewers": ["serviceaccount:research-speech/ci"]},
        },
        [],
    ),
    "an account in a namespace of two units is one finding": (
        {
            f"{V}.namespace": "shared",
            f"{V}.access": {"serviceAccounts": ["ci"]},
            f"{S}.namespace": "shared",
            f"{R}.access": {"viewers": ["serviceaccount:shared/ci"]},
        },
        ["namespace-twice"],
    ),
    "the internet where the cluster's ranges are the usual ones": (
        {f"{V}.network": {"egress": {"internet": True}}},
        [],
    ),
    "empty ranges of the cluster where nobody reaches the internet": ({"network.clusterRanges": []}, []),
    "an account of a renamed namespace": (
        {f"{S}.namespace": "speech", f"{V}.access": {"viewers": ["serviceaccount:research-speech/default"]}},
        ["unknown-namespace"],
    ),
    "a platform account in a namespace that nobody makes": (
        {"access": {"admins": ["serviceaccount:nobody/robot"]}},
        ["unknown-namespace"],
    ),
}
POLICIES = {
    "borrowing preemption that a team inherits and reclaim that it refuses": (
        {
            "clusters.train": {"sharing": "first-come"},
            "policy": {"borrowingPreemption": "lower-priority"},
            f"{S}.policy": {"reclaim": "never"},
            f"{S}.budget": {"h100": {"reserved": 8, "quota": 8}},
        },
        ["reclaim-never-with-borrowing-preemption"],
    ),
    "borrowing preemption without reclaim where quota is lent is one finding": (
        {
            "clusters.train": {"sharing": "first-come"},
            f"{S}.policy": {"reclaim": "never", "borrowingPreemption": "lower-priority"},
        },
        ["reclaim-never-with-borrowing-preemption"],
    ),
    "borrowing preemption where one cluster shares by weight and the unit is in the other": (
        {
            "clusters": {"train": {}, "serve": {"sharing": "first-come"}},
            "flavors.h100.cluster": "serve",
            "flavors.mig.cluster": "train",
            "flavors.cpu.cluster": "train",
            f"{R}.policy": {"borrowingPreemption": "lower-priority"},
        },
        [],
    ),
    "a strict unit that is kept to one GPU flavor": (
        {
            f"{V}.policy": {"queueing": "strict"},
            f"{V}.budget": {"h100": 8, "mig": {"limit": {"1g.10gb": 0, "2g.20gb": 0, "3g.40gb": 0}}},
        },
        [],
    ),
    "a strict organization is one finding": ({"policy": {"queueing": "strict"}}, ["strict-across-flavors"]),
    "reclaim that is refused where all is reserved": (
        {
            "policy": {"reclaim": "never"},
            f"{V}.budget": {"h100": {"reserved": 8, "quota": 8}},
            f"{S}.budget": {"h100": {"reserved": 8, "quota": 8}},
        },
        [],
    ),
    "reclaim that is refused where nobody may borrow": (
        {
            "policy": {"reclaim": "never", "borrowing": "department"},
            f"{R}.teams": {"vision": {"budget": BASE["departments"]["research"]["budget"]}},
            "departments.product": {"budget": {"h100": 8}, "teams": {"search": {"budget": {"h100": 8}}}},
        },
        [],
    ),
    "reclaim that is refused where a project may borrow from those without a budget": (
        {
            f"{R}.teams": {
                "vision": {
                    "budget": BASE["departments"]["research"]["budget"],
                    "policy": {"reclaim": "never"},
                    "projects": {"a": {"budget": {"h100": {"reserved": 8, "quota": 8}}}, "b": {}},
                }
            },
            f"{R}.policy": {"borrowing": "department"},
        },
        ["reclaim-never-lends"],
    ),
    "weights of 0 where nobody may borrow": (
        {
            "policy": {"borrowing": "department"},
            f"{R}.weight": 0,
            "departments.product": {
                "weight": 0,
                "budget": {"h100": 8},
                "teams": {"search": {"budget": {"h100": 8}}},
            },
        },
        [],
    ),
    "weights of 0 in different clusters": (
        {
            "clusters": {"train": {}, "serve": {}},
            "flavors.h100.cluster": "train",
            "flavors.mig.cluster": "train",
            "flavors.cpu": {**BASE["flavors"]["cpu"], "cluster": "serve"},
            f"{R}.budget": {"h100": 24, "mig": {"1g.10gb": 16}},
            f"{R}.weight": 0,
            "departments.product": {
                "weight": 0,
                "budget": {"cpu": {"cpu": 100, "memory": "400Gi"}},
                "teams": {"search": {}},
            },
        },
        [],
    ),
    "a weight that Kueue would take for 0": ({f"{V}.weight": 1e-7}, ["weight-ratio"]),
    "a weight with many decimals": ({f"{V}.weight": 0.3333333}, []),
    "a team whose siblings reserve all that it may borrow": (
        {
            "flavors": {"h100": BASE["flavors"]["h100"]},
            f"{R}.budget": {"h100": 24},
            f"{R}.policy": {"borrowing": "none"},
            f"{S}.budget": {"h100": {"reserved": 24, "quota": 24}},
            f"{V}": {"policy": {"borrowing": "organization"}},
        },
        ["nothing-to-use"],
    ),
    "pods for the GPUs of each cluster": (
        {
            "clusters": {"train": {}, "serve": {}},
            "flavors.h100.cluster": "train",
            "flavors.mig.cluster": "serve",
            "flavors.cpu.cluster": "serve",
            f"{V}.limits": {"objects": {"pods": 64}},
        },
        [],
    ),
    "fewer pods than the GPUs of one cluster": (
        {
            "clusters": {"train": {}, "serve": {}},
            "flavors.h100.cluster": "train",
            "flavors.mig.cluster": "serve",
            "flavors.cpu.cluster": "serve",
            f"{V}.limits": {"objects": {"pods": 63}},
        },
        ["pods-below-queue"],
    ),
    "a project that shares its team's queue and says the same": (
        {f"{V}.projects": {"a": {"policy": {"reclaim": "any"}, "weight": 1, "state": "active"}}},
        [],
    ),
    "a project below a held team": (
        {f"{V}.state": "held", f"{V}.projects": {"a": {"state": "held"}}},
        [],
    ),
    "a project that is drained without a queue of its own": (
        {f"{V}.projects": {"a": {"state": "draining", "weight": 2}}},
        ["project-without-queue"],
    ),
    "a project with a budget is drained by itself": (
        {f"{V}.projects": {"a": {"state": "draining", "budget": {"h100": 4}}, "b": {}}},
        [],
    ),
    "a start timeout of nothing": ({"policy": {"gang": {"startTimeout": "0s"}}}, ["gang-timeout"]),
}
FENCES = {
    "two fences with one taint": ({"flavors.h100.taint": "a/b:NoSchedule", "flavors.mig.taint": "a/b:NoSchedule"}, []),
    "a lent flavor whose taint has no value tolerates every value": (
        {
            "flavors.h100.taint": "a/b=c:NoSchedule",
            "flavors.mig.taint": "a/b:NoSchedule",
            "flavors.mig.cpuJobs": "lend",
        },
        ["fence-open"],
    ),
    "a lent flavor with a value leaves a taint without one alone": (
        {"flavors.h100.taint": "a/b:NoSchedule", "flavors.cpu.taint": "a/b=c:NoSchedule"},
        [],
    ),
    "another effect": ({"flavors.h100.taint": "a/b:NoSchedule", "flavors.cpu.taint": "a/b:NoExecute"}, []),
    "a second taint of its own keeps jobs out": (
        {"flavors.h100.taints": ["a/b:NoSchedule", "a/c:NoSchedule"], "flavors.cpu.taint": "a/b:NoSchedule"},
        [],
    ),
    "a second taint that keeps nobody out": (
        {"flavors.h100.taints": ["a/b:NoSchedule", "a/c:PreferNoSchedule"], "flavors.cpu.taint": "a/b:NoSchedule"},
        ["taint-soft", "fence-open"],
    ),
    "a second taint that cannot be read": (
        {"flavors.h100.taints": ["a/b:NoSchedule", "a/c"], "flavors.cpu.taint": "a/b:NoSchedule"},
        ["taint-syntax"],
    ),
    "the same taint in another cluster": (
        {
            "clusters": {"train": {}, "serve": {}},
            "flavors.h100": {**BASE["flavors"]["h100"], "cluster": "train", "taint": "a/b:NoSchedule"},
            "flavors.mig": {**BASE["flavors"]["mig"], "cluster": "train"},
            "flavors.cpu": {**BASE["flavors"]["cpu"], "cluster": "serve", "taint": "a/b:NoSchedule"},
        },
        [],
    ),
}
NAMES = {
    "a project whose joined name is too long but not used": (
        {f"{V}.projects": {"p" * 60: {"namespace": "train"}}},
        [],
    ),
    "a name that is too long by itself is one finding": (
        {f"{R}.teams": {"v" * 64: {}}},
        ["name-syntax"],
    ),
    "a department that is too long is not repeated in its teams": (
        {"departments": {"d" * 40: {"departments": {"e" * 40: {"teams": {"a": {}, "b": {}}}}}}},
        ["name-too-long"],
    ),
    "departments that collide are not repeated in their teams": (
        {
            f"{R}.departments": {"core": {"teams": {"a": {}}}},
            "departments.research-core": {"teams": {"a": {}}},
        },
        ["name-ambiguous"],
    ),
    "namespaces that collide by their joined names": (
        {f"{V}.projects": {"a-b": {}}, f"{R}.teams.vision-a": {"projects": {"b": {}}}},
        ["namespace-twice"],
    ),
    "a team with the name of the organization": ({f"{R}.teams": {"acme": {}}}, []),
    "the domain below an own one": ({f"{V}.labels": {"a.tenancy.internal/x": "y"}}, ["label-reserved"]),
    "an annotation with any text": ({f"{V}.annotations": {"acme.example/about": "R & D, 2nd floor"}}, []),
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param(*case, id=title)
        for table in (ORDER, SUMS, LIMITS, SHARES, AMOUNTS, REFERENCES, POLICIES, FENCES, NAMES)
        for title, case in table.items()
    ],
)
def test_a_variant_gives_exactly_these_findings(changes: dict[str, Any], expected: list[str]) -> None:
    """The findings of a variant, and no others."""
    assert codes(changes) == expected


@pytest.mark.parametrize(
    ("budget", "meant"), [("shared", "did you mean `share`?"), ("12 GPUs", "such as `12`"), ("half", "such as `8`")]
)
def test_an_amount_that_is_no_number_offers_what_was_meant(budget: str, meant: str) -> None:
    """The word `share`, or the number without its unit; else an example."""
    tree = copy.deepcopy(BASE)
    tree["departments"]["research"]["teams"]["vision"]["budget"] = {"h100": budget}
    (found,) = check(organized(tree), Sources((), tree, {}), None)
    assert meant in found.help


@pytest.mark.parametrize(
    ("changes", "meant"),
    [
        (
            {f"{V}.policy": {"queueing": "strict"}, "flavors.l4": {**BASE["flavors"]["h100"], "gpu": "L4"}},
            "`l4: {limit: 0}`, `mig: {limit: {1g.10gb: 0, 2g.20gb: 0, 3g.40gb: 0}}`",
        ),
        ({f"{R}.budget": {"h100": {"limit": 0}}, f"{S}.budget": {}}, "or raise its quota and its limit to 8 GPUs"),
        (
            {"departments.sales": {"policy": {"borrowing": "none"}, "teams": {"demos": {}}}},
            "or let `sales` borrow: `policy: {borrowing: organization}`",
        ),
        (
            {"departments.sales": {"teams": {"demos": {"policy": {"borrowing": "department"}}}}},
            "or let it borrow: `policy: {borrowing: organization}`",
        ),
        ({f"{R}.storage": {"fast": "10Gi"}, f"{V}.storage": {"fast": "4Gi"}}, "`storage: {fast: 6Gi}`"),
        (
            {f"{R}.policy": {"borrowing": "none"}, f"{V}.policy": {"borrowing": "none"}}
            | {f"{V}.budget": {"h100": {"quota": 8, "limit": 28}}},
            "write a limit of at most 8 GPUs, or leave it out",
        ),
    ],
)
def test_the_help_says_what_ends_the_finding(changes: dict[str, Any], meant: str) -> None:
    """It goes as far as it must: every other flavor, the limit beside the quota, the unit above, no further."""
    assert any(meant in found.help for found in findings(changes)), [found.help for found in findings(changes)]


@pytest.mark.parametrize("unit", [R, V, f"{V}.projects.demo"])
def test_every_kind_of_unit_has_a_last_day(unit: str) -> None:
    """A department, a team and a project are expired on the day after, and not before."""
    changes = {f"{V}.projects": {"demo": {}}, f"{unit}.expires": "2026-06-14"}
    assert codes(changes, date(2026, 6, 15)) == ["expired"]
    assert codes(changes, date(2026, 6, 14)) == []


def test_the_base_of_the_variants_is_fine() -> None:
    """Without a change there is nothing to find."""
    assert codes({}) == []
