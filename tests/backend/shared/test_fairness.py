"""Levels of the API server: who is in which, and that nobody else is."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.backend import BACKENDS, items
from tenancy.backend.gitops.applications import applications
from tenancy.backend.gitops.kinds import WHOLE, kind_of
from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.shared.fairness import HAND, LENT, MOST, PEOPLE, QUEUES, STAFF, VIEWERS, manifests
from tenancy.plan.values import ClusterPlan

from .support import planned


def _departments(**access: dict[str, Any]) -> dict[str, Any]:
    """Departments of one team each, which says this of access."""
    return {
        name.replace("_", "-"): {"budget": {"h100": 8}, "teams": {"t": {"access": said}}}
        for name, said in access.items()
    }


def _objects(plan: ClusterPlan) -> list[Object]:
    return [obj for manifest in manifests(plan) for obj in manifest.objects]


def _levels(plan: ClusterPlan) -> dict[str, dict[str, Any]]:
    return {
        obj["metadata"]["name"]: obj["spec"]["limited"]
        for obj in _objects(plan)
        if obj["kind"] == "PriorityLevelConfiguration"
    }


def _schemas(plan: ClusterPlan) -> dict[str, Object]:
    return {obj["metadata"]["name"]: obj["spec"] for obj in _objects(plan) if obj["kind"] == "FlowSchema"}


def _subjects(plan: ClusterPlan) -> dict[str, list[str]]:
    """By FlowSchema, its subjects as people write them."""
    return {
        name: [_text(each) for rule in spec["rules"] for each in rule["subjects"]]
        for name, spec in _schemas(plan).items()
    }


def _text(subject: dict[str, Any]) -> str:
    if subject["kind"] == "ServiceAccount":
        return f"{subject['serviceAccount']['namespace']}/{subject['serviceAccount']['name']}"
    kind = subject["kind"].lower()
    return f"{kind}:{subject[kind]['name']}"


@pytest.mark.parametrize("scheduler", BACKENDS)
def test_every_backend_writes_them_and_its_application_may_hold_them(scheduler: str) -> None:
    """Into the Application of the cluster as a whole, since a level of one department takes from all others."""
    gitops = {"engine": "argocd", "repo": "https://git.example.com/acme/gpu.git"}
    plan = planned(clusters={"train": {"scheduler": scheduler}}, gitops=gitops)
    (found,) = [item for item in items(plan) if isinstance(item, Manifest) and "fairness" in item.path]
    assert found.path == "platform/api-fairness.yaml"
    assert {kind_of(obj) for obj in found.objects} <= WHOLE[scheduler].cluster
    (whole,) = applications(plan, [found])
    assert whole.department == ""


def test_no_share_is_no_object() -> None:
    """`apiShares: 0` leaves the API server as it is."""
    assert _objects(planned(clusters={"train": {"apiShares": 0}})) == []


def test_a_level_has_its_part_by_weight_and_may_borrow_what_all_departments_have() -> None:
    """Every default is written, or a second apply would find a difference."""
    departments = {
        "a": {"weight": 50, "budget": {"h100": 8}, "teams": {"t": {}}},
        "b": {"weight": 10, "budget": {"h100": 8}, "teams": {"t": {}}},
        "without-a-team": {"weight": 900},
    }
    queuing = {"queues": QUEUES, "handSize": HAND, "queueLengthLimit": 50}
    response = {"type": "Queue", "queuing": queuing}
    assert _levels(planned(departments=departments)) == {
        f"tenancy-{name}": {
            "nominalConcurrencyShares": shares,
            "lendablePercent": LENT,
            "borrowingLimitPercent": percent,
            "limitResponse": response,
        }
        for name, shares, percent in (("a", 50, 20), ("b", 10, 500))
    }


def test_one_department_borrows_nothing_and_lends() -> None:
    """It has what all departments have."""
    (level,) = _levels(planned()).values()
    assert (level["nominalConcurrencyShares"], level["borrowingLimitPercent"]) == (60, 0)


def test_precedences_are_between_kubernetes_components_and_everybody() -> None:
    """Kubernetes' own are 900 at most, what catches all service accounts is 9000."""
    access = {"members": ["group:m"], "viewers": ["group:v"]}
    plan = planned(departments=_departments(lab=access), access={"admins": ["group:platform"]})
    found = {name: spec["matchingPrecedence"] for name, spec in _schemas(plan).items()}
    assert found == {"tenancy.staff": STAFF, "tenancy-lab": PEOPLE, "tenancy-lab.viewers": VIEWERS}
    assert all(1000 <= number < 9000 for number in found.values())


def test_people_of_a_department_and_all_accounts_of_its_namespaces_are_in_its_level() -> None:
    """Those of every unit in it, once, in one order, whoever names them how often."""
    teams = {
        "one": {"access": {"members": ["group:m", "user:bo"]}, "projects": {"a": {}, "b": {}}},
        "two": {"access": {"members": ["group:m"], "admins": ["group:a"], "viewers": ["group:v", "group:m"]}},
    }
    inner = {"teams": {"three": {"access": {"members": ["group:deep", "serviceaccount:ci/runner"]}}}}
    lab = {"budget": {"h100": 8}, "teams": teams, "departments": {"inner": inner}}
    assert _subjects(planned(departments={"lab": lab})) == {
        "tenancy-lab": [
            *("lab-inner-three/*", "lab-one-a/*", "lab-one-b/*", "lab-two/*"),
            *("group:a", "group:deep", "group:m", "ci/runner", "user:bo"),
        ],
        "tenancy-lab.viewers": ["group:v"],
    }


def test_requests_of_every_sort_are_counted_by_who_asks() -> None:
    """Reading the whole cluster, or what the API server says of itself, is a flood as well."""
    for spec in _schemas(planned()).values():
        assert spec["distinguisherMethod"] == {"type": "ByUser"}
        (rule,) = spec["rules"]
        assert rule["resourceRules"] == [
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
        ]
        assert rule["nonResourceRules"] == [{"verbs": ["*"], "nonResourceURLs": ["*"]}]


def test_platform_staff_and_what_runs_the_cluster_are_in_no_departments_level() -> None:
    """Whatever a department grants them: an admin who ends a flood must not wait in it, nor must Kueue or Argo CD."""
    members = [
        *("group:platform", "user:root", "group:lab", "serviceaccount:argocd/argocd-application-controller"),
        *("serviceaccount:kueue-system/kueue-controller-manager", "serviceaccount:gpus/operator"),
        *("serviceaccount:git/flux", "serviceaccount:ops/bot"),
    ]
    plan = planned(
        clusters={"train": {"gpuOperator": {"namespace": "gpus"}}},
        departments=_departments(lab={"members": members}),
        access={"admins": ["group:platform", "serviceaccount:ops/bot"], "auditors": ["user:root"]},
        gitops={"engine": "flux", "repo": "https://git.example.com/acme/gpu.git", "namespace": "git"},
    )
    assert _subjects(plan) == {
        "tenancy.staff": ["group:platform", "user:root"],
        "tenancy-lab": ["lab-t/*", "group:lab"],
    }
    assert _schemas(plan)["tenancy.staff"]["priorityLevelConfiguration"] == {"name": "global-default"}


def test_an_account_counts_to_the_department_that_it_lives_in() -> None:
    """Also where another one, which comes before by its name, grants it something."""
    plan = planned(departments=_departments(a={"members": ["serviceaccount:b-t/ci"]}, b={"serviceAccounts": ["ci"]}))
    assert _subjects(plan) == {"tenancy-a": ["a-t/*"], "tenancy-b": ["b-t/*"]}


def test_who_works_in_one_department_and_looks_into_another_counts_to_the_first() -> None:
    """The API server takes the lowest precedence, and of equal ones the first by name."""
    departments = _departments(a={"viewers": ["group:everybody"]}, b={"members": ["group:b"]})
    found = _schemas(planned(departments=departments))
    order = sorted(found, key=lambda name: (found[name]["matchingPrecedence"], name))
    assert order == ["tenancy-a", "tenancy-b", "tenancy-a.viewers"]


def test_a_new_department_moves_no_others_flow_schema() -> None:
    """Precedences are the same for all, so that a department more is not a change of every object."""
    before = _schemas(planned(departments=_departments(b={"members": ["group:b"]})))
    after = _schemas(planned(departments=_departments(a={"members": ["group:a"]}, b={"members": ["group:b"]})))
    assert {name: after[name] for name in before} == before


def test_names_of_departments_and_of_parts_cannot_meet() -> None:
    """A department may be called `lab-viewers` or `staff`; parts of a name that we add have a dot before them."""
    access = {"members": ["group:m"], "viewers": ["group:v"]}
    plan = planned(
        departments=_departments(lab=access, lab_viewers=access, staff=access), access={"admins": ["group:p"]}
    )
    names = [(obj["kind"], obj["metadata"]["name"]) for obj in _objects(plan)]
    assert len(names) == len(set(names)) == 10


def test_many_subjects_are_several_flow_schemas_of_one_level() -> None:
    """Longest names and all: an object stays below what etcd takes, 1.5 MiB."""
    members = [f"group:{index:04d}-{'x' * 1000}" for index in range(2 * MOST)]
    plan = planned({"access": {"members": members}})
    parts = _subjects(plan)
    assert [(name, len(found)) for name, found in parts.items()] == [
        *(("tenancy-research", MOST), ("tenancy-research.2", MOST), ("tenancy-research.3", 1)),
    ]
    assert {spec["priorityLevelConfiguration"]["name"] for spec in _schemas(plan).values()} == {"tenancy-research"}
    assert max(len(str(spec)) for spec in _schemas(plan).values()) < 1.5 * 2**20
