"""Teams that use KEDA: their rights, their number, the way of its operator into their namespaces, and the policies.

What the policies do is in tests/cluster/test_keda.py, for a real API server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tenancy import backend
from tenancy.backend.kueue.work import WORK as KUEUE
from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.native.work import WORK as NATIVE
from tenancy.backend.shared import keda
from tenancy.backend.shared.rbac import role_name
from tenancy.backend.shared.work import Work
from tenancy.backend.volcano.work import WORK as VOLCANO
from tenancy.plan.access import KEDA, KEDA_RIGHTS, allowed, may, scaled
from tenancy.plan.values import ClusterPlan

from .support import objects, one, planned

HERE = "research-vision"
CPU = {"nodes": 2, "node": {"cpu": 18, "memory": "68Gi"}}
"""Two nodes of 16 cpu and 64Gi for jobs."""
each_work = pytest.mark.parametrize("work", [KUEUE, VOLCANO, NATIVE], ids=["kueue", "volcano", "native"])


def using(team: dict[str, Any] | None = None, **organization: Any) -> ClusterPlan:
    return planned({"autoscaling": "keda", **(team or {})}, **organization)


def with_cpu(team: dict[str, Any] | None = None, **flavors: Any) -> ClusterPlan:
    """The same with nodes that have no GPUs, all of which the team may use."""
    h100 = {"gpu": "H100-SXM-80GB", "nodes": 1, "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"}}
    return using(
        team,
        flavors={"h100": h100, "cpu": CPU, **flavors},
        departments={
            "research": {
                "budget": {"h100": 8, "cpu": {"cpu": 32, "memory": "128Gi"}},
                "teams": {"vision": {"autoscaling": "keda", **(team or {})}},
            }
        },
    )


def everything(plan: ClusterPlan) -> list[Object]:
    return [item for each in backend.items(plan) if isinstance(each, Manifest) for item in each.objects]


# The number.


def most(plan: ClusterPlan) -> int:
    """What the namespace says."""
    space = one(plan, "Namespace", HERE)
    return int(space["metadata"]["annotations"][f"{plan.domain}/{keda.MOST_PODS}"])


def test_the_number_is_what_the_limit_has_gpus() -> None:
    """A pod of each GPU that the queue may ever use, borrowed ones included."""
    assert most(using()) == 32
    assert most(using({"budget": {"h100": {"quota": 4, "limit": 6}}})) == 6


def test_slices_and_shares_count_each() -> None:
    """Of a flavor that is cut, each MIG slice; of GPUs that are shared, each share."""
    sizes = {"gpu": "A100-SXM4-80GB", "nodes": 1, "node": {"gpus": 8, "cpu": 128, "memory": "1000Gi"}}
    mig = {"mig": {**sizes, "mig": {"3g.40gb": 1, "1g.10gb": 4}}}
    departments = {
        "research": {
            "budget": {"mig": {"3g.40gb": 8, "1g.10gb": 32}},
            "teams": {
                "vision": {
                    "autoscaling": "keda",
                    "budget": {"mig": {"quota": {"1g.10gb": 4}, "limit": {"1g.10gb": 5, "3g.40gb": 2}}},
                }
            },
        }
    }
    assert most(using(flavors=mig, departments=departments)) == 7


def test_pods_without_gpus_are_counted_by_their_default_requests() -> None:
    """One cpu and 4Gi each unless `limits.container` says otherwise: what runs out first decides."""
    assert most(with_cpu()) == 8 + 32
    assert most(with_cpu({"limits": {"container": {"cpu": "500m", "memory": "1Gi"}}})) == 8 + 64
    assert most(with_cpu({"limits": {"container": {"cpu": "500m", "memory": "8Gi"}}})) == 8 + 16
    assert most(with_cpu({"limits": {"container": {"cpu": "0", "memory": "8Gi"}}})) == 8 + 16


@pytest.mark.parametrize("key", ["pods", "count/pods"])
def test_the_number_is_never_above_the_pods_of_the_namespace(key: str) -> None:
    """No more pods than that can be made, however small they are."""
    assert most(with_cpu({"limits": {"objects": {key: 33}}})) == 33
    assert most(with_cpu({"limits": {"container": {"cpu": "0", "memory": "0"}}})) == 2000


# Rights and bounds.


@each_work
def test_roles_are_what_the_levels_mean(work: Work) -> None:
    """Right by right, for each level of a team, and for platform staff beside its other rights."""
    plan = using()
    for level in ("admin", "member", "viewer"):
        given = set(_given(one(plan, "ClusterRole", role_name(f"keda-{level}"), work)))
        assert given == allowed(level, plan.cluster.scheduler, keda=True) - allowed(level, plan.cluster.scheduler)
    for level, name in (("auditor", "platform-auditor"), ("platform admin", "platform-admin")):
        of_keda = {right for right in _given(one(plan, "ClusterRole", role_name(name), work)) if right[1] in _kinds()}
        assert of_keda == {right for right in allowed(level, "kueue", keda=True) if right[1] in _kinds()}
        assert {verb for verb, _ in of_keda} == {"get", "list", "watch"}


def _kinds() -> set[str]:
    return {kind for kinds in KEDA.values() for kind in kinds}


def _given(role: Object) -> Iterator[tuple[str, str]]:
    for rule in role["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                yield from ((verb, f"{resource}.{group}") for verb in rule["verbs"])


def test_every_concern_of_keda_is_of_somebody() -> None:
    """A concern that no level has a right to would be a slip of the pen."""
    assert {concern for right in KEDA_RIGHTS for concern in right.concerns} == set(KEDA)


def test_rights_hold_in_the_namespaces_of_the_team_alone() -> None:
    """In all of its projects, bound to the people of each level and its service accounts; another team has none."""
    access = {"admins": ["user:ada"], "members": ["user:bo"], "viewers": ["user:eve"], "serviceAccounts": ["ci"]}
    teams = {
        "vision": {"autoscaling": "keda", "access": access, "projects": {"a": {}, "b": {}}},
        "speech": {"access": access},
    }
    plan = using(departments={"research": {"budget": {"h100": 8}, "teams": teams}})
    found = {
        (each["metadata"]["namespace"], each["roleRef"]["name"]): [subject["name"] for subject in each["subjects"]]
        for each in objects(plan, "RoleBinding")
        if "keda" in each["metadata"]["name"]
    }
    people = {"admin": ["ada"], "member": ["bo", "ci"], "viewer": ["eve"]}
    assert found == {
        (f"{HERE}-{project}", f"tenancy-keda-{level}"): names for project in "ab" for level, names in people.items()
    }
    for place, may_scale in ((f"{HERE}-a", True), ("research-speech", False)):
        assert may(plan, "user:bo", "create", "scaledobjects.keda.sh", place) is may_scale
        assert scaled(plan, "member", place) is may_scale
    assert not may(plan, "user:bo", "create", "triggerauthentications.keda.sh", f"{HERE}-a")
    assert may(plan, "user:ada", "create", "triggerauthentications.keda.sh", f"{HERE}-a")


def test_its_objects_are_counted_and_limits_may_change_the_bounds() -> None:
    """Four kinds, the autoscalers that KEDA makes among them; in other namespaces nobody can make one."""
    bounds = one(using({"limits": {"objects": {"count/scaledjobs.keda.sh": 7}}}), "ResourceQuota")["spec"]["hard"]
    found = {key: count for key, count in bounds.items() if "keda" in key or "autoscaler" in key}
    assert found == {
        "count/horizontalpodautoscalers.autoscaling": "100",
        "count/scaledjobs.keda.sh": "7",
        "count/scaledobjects.keda.sh": "100",
        "count/triggerauthentications.keda.sh": "100",
    }


# The network.


def test_the_operator_is_let_in_and_nobody_with_it() -> None:
    """From its namespace, by the label that nobody can forge, and its own pods there; to every port, since a trigger
    asks whatever the team serves."""
    plan = using(network={"keda": {"namespace": "scaling"}})
    (policy,) = [each for each in objects(plan, "NetworkPolicy") if each["metadata"]["name"] == "allow-keda"]
    assert policy["spec"] == {
        "podSelector": {},
        "policyTypes": ["Ingress"],
        "ingress": [
            {
                "from": [
                    {
                        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "scaling"}},
                        "podSelector": {"matchLabels": {"app": "keda-operator"}},
                    }
                ]
            }
        ],
    }


# The policies.


def policies(plan: ClusterPlan) -> dict[str, Object]:
    """By name; bindings by their name with `/binding`."""
    found = [each for each in everything(plan) if each["metadata"]["name"].startswith("tenancy-scaling")]
    return {each["metadata"]["name"] + ("/binding" if each["kind"].endswith("Binding") else ""): each for each in found}


@pytest.mark.parametrize(
    ("scheduler", "targets"),
    [
        ("kueue", "Deployment, LeaderWorkerSet"),
        ("volcano", "Deployment, StatefulSet, LeaderWorkerSet"),
        ("native", "Deployment, StatefulSet"),
    ],
)
def test_what_is_scaled_is_what_the_scheduler_counts(scheduler: str, targets: str) -> None:
    """Kinds that the cluster's tenants may not make are no targets either."""
    rules = policies(using(clusters={"train": {"scheduler": scheduler}}))["tenancy-scaling"]["spec"]["validations"]
    assert str(rules[-1]["message"]).endswith(f": {targets}")


@pytest.mark.parametrize(("level", "action"), [("deny", "Deny"), ("warn", "Warn"), ("audit", "Audit"), ("off", None)])
def test_the_guard_is_about_numbers_and_not_about_identity(level: str, action: str | None) -> None:
    """Its level says what becomes of too many replicas; that KEDA acts as itself for a tenant is always refused."""
    found = policies(using(clusters={"train": {"guards": {"scaling": level}}}))
    assert found["tenancy-scaling-identity/binding"]["spec"]["validationActions"] == ["Deny"]
    if action is None:
        assert "tenancy-scaling" not in found
    else:
        assert found["tenancy-scaling/binding"]["spec"]["validationActions"] == [action]


@pytest.mark.parametrize("scheduler", ["kueue", "volcano", "native"])
def test_kedas_operator_is_no_controller(scheduler: str) -> None:
    """Some clouds run it in `kube-system`, whose accounts count as controllers; what it makes is as a team wrote it."""
    network = {"keda": {"namespace": "kube-system"}}
    account = "system:serviceaccount:kube-system:keda-operator"

    def trusting(plan: ClusterPlan) -> list[str]:
        found = [item for item in everything(plan) if item["kind"] == "ValidatingAdmissionPolicy"]
        variables = [each for item in found for each in item["spec"].get("variables", ())]
        return [each["expression"] for each in variables if each["name"] == "controller"]

    clusters = {"train": {"scheduler": scheduler}}
    expressions = trusting(using(clusters=clusters, network=network))
    assert expressions
    assert all(account in each for each in expressions)
    assert not any(account in each for each in trusting(planned(clusters=clusters, network=network)))


@pytest.mark.parametrize("scheduler", ["kueue", "volcano", "native"])
def test_a_cluster_without_such_a_team_has_nothing_of_it(scheduler: str) -> None:
    """No role, no right, no bound, no policy and no way through the network names KEDA; with one, all of them do."""
    clusters = {"train": {"scheduler": scheduler}}
    assert [item["metadata"]["name"] for item in everything(planned(clusters=clusters)) if "keda" in str(item)] == []
    kinds = {item["kind"] for item in everything(using(clusters=clusters)) if "keda" in str(item)}
    assert {"ClusterRole", "ResourceQuota", "NetworkPolicy", "ValidatingAdmissionPolicy"} <= kinds
