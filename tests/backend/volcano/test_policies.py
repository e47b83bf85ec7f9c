"""Admission policies for Volcano: which ones a cluster gets, and what they say.

What they do is in policy_requests.py, for a real API server.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from tenancy.backend.shared.admission import templates
from tenancy.backend.volcano.pod_templates import KINDS, whole_templates
from tenancy.backend.volcano.policies import policies
from tenancy.backend.volcano.work import WORK
from tenancy.plan import plan
from tests.backend.volcano.attacks import ATTACKS
from tests.backend.volcano.everyday import ORDINARY
from tests.backend.volcano.policy_requests import BEFORE_136, DRAINING, HELD, ORGANIZATION, PLANS, REQUESTS, Request
from tests.orgs import organized

Object: TypeAlias = dict[str, Any]

ALWAYS = (
    *("tenancy-commands", "tenancy-foreign-queues", "tenancy-placement", "tenancy-pod-groups"),
    *("tenancy-pod-priorities", "tenancy-priorities", "tenancy-queue-binding", "tenancy-template-security"),
    "tenancy-external-addresses",
)
EVERYWHERE = ("tenancy-commands", "tenancy-foreign-queues")
"""Those that act outside of the organization's namespaces too."""
TAINT = "gpu.example/reserved=training:NoSchedule"


def _policies(tree: Object, kubernetes: str = "1.36") -> dict[tuple[str, str], Object]:
    """The policies of an organization by kind and name."""
    (cluster,) = plan(organized(tree))
    found = policies(replace(cluster, kubernetes=kubernetes))
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


def _tree(flavor: Object | None = None, **team: Any) -> Object:
    """An organization of one team, with this in its flavor."""
    h100 = {"gpu": "H100-SXM-80GB", "nodes": 4, "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"}, **(flavor or {})}
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"main": {"scheduler": "volcano"}},
        "flavors": {"h100": h100},
        "departments": {"lab": {"budget": {"h100": 32}, "teams": {"dev": team}}},
    }


def _validations(found: dict[tuple[str, str], Object], name: str) -> list[Object]:
    validations: list[Object] = found["ValidatingAdmissionPolicy", name]["spec"]["validations"]
    return validations


def _variables(policy: Object) -> dict[str, str]:
    return {each["name"]: each["expression"] for each in policy["spec"]["variables"]}


@pytest.mark.parametrize(
    ("flavor", "state", "kubernetes", "names"),
    [
        ({}, "active", "1.35", []),
        ({}, "active", "1.36", ["tenancy-queue-defaults"]),
        ({}, "held", "1.35", ["tenancy-held"]),
        ({}, "draining", "1.35", ["tenancy-draining"]),
        ({"taint": TAINT}, "active", "1.35", ["tenancy-fenced-flavors"]),
        ({"taint": TAINT, "cpuJobs": "lend"}, "active", "1.35", []),
        ({"taint": TAINT, "cpuJobs": "lend"}, "active", "1.36", ["tenancy-gpu-tolerations", "tenancy-queue-defaults"]),
        ({"taint": "a/b:PreferNoSchedule"}, "active", "1.36", ["tenancy-queue-defaults"]),
        ({"wholeNodes": True}, "active", "1.35", ["tenancy-whole-nodes-nvidia.com-gpu-8"]),
    ],
)
def test_a_cluster_gets_the_policies_that_it_needs(
    flavor: Object, state: str, kubernetes: str, names: list[str]
) -> None:
    """Queues, priorities, hosts and the cluster are guarded always; states, fences and whole nodes where there are
    some; what is written is written from Kubernetes 1.36 on."""
    found = _policies(_tree(flavor, state=state), kubernetes)
    assert sorted({name for _, name in found}) == sorted([*ALWAYS, *names])
    for kind, name in found:
        assert (kind if kind.endswith("Binding") else f"{kind}Binding", name) in found


def test_every_default_is_stated() -> None:
    """What the API server would fill in is written, and no list is empty, so that applying again writes nothing; what
    refuses fails closed."""
    for (kind, name), policy in _policies(ORGANIZATION).items():
        if kind.endswith("Policy"):
            constraints = policy["spec"]["matchConstraints"]
            assert policy["spec"]["failurePolicy"] == ("Fail" if kind.startswith("Validating") else "Ignore")
            assert policy["spec"]["variables"]
            assert constraints["matchPolicy"] == "Equivalent"
            assert constraints["objectSelector"] == {}
            ours = {"gpu.acme.example/organization": "acme"}
            assert name in EVERYWHERE or constraints["namespaceSelector"]["matchLabels"] == ours
            assert all(rule["scope"] == "*" and all(rule.values()) for rule in constraints["resourceRules"])


def test_a_new_team_changes_no_policy() -> None:
    """The queues of a namespace are read from the namespace."""
    tree = deepcopy(ORGANIZATION)
    tree["departments"]["research"]["teams"]["speech"] = {"budget": {"cpu": {"cpu": 10, "memory": "40Gi"}}}
    assert _policies(tree) == _policies(ORGANIZATION)
    queues = _variables(_policies(tree)["ValidatingAdmissionPolicy", "tenancy-queue-binding"])["queues"]
    assert 'annotations[?"gpu.acme.example/queues"]' in queues


def test_nobody_stops_the_cluster_from_elsewhere() -> None:
    """Commands are judged in every namespace; queues in those that are not the organization's, where pods, PodGroups
    and Volcano's own jobs name them."""
    found = _policies(ORGANIZATION)
    commands, foreign = (found["ValidatingAdmissionPolicy", name]["spec"]["matchConstraints"] for name in EVERYWHERE)
    assert commands["namespaceSelector"] == {}
    assert [rule["resources"] for rule in commands["resourceRules"]] == [["commands"]]
    others = {"key": "gpu.acme.example/organization", "operator": "DoesNotExist"}
    assert foreign["namespaceSelector"] == {"matchExpressions": [others]}
    assert [rule["resources"] for rule in foreign["resourceRules"]] == [["pods"], ["jobs", "cronjobs"], ["podgroups"]]


def test_who_holds_the_scheduler_together_is_refused_whatever_the_guards_say() -> None:
    """`placement` and the others may be weaker or off; what keeps the scheduler alive refuses."""
    tree = deepcopy(ORGANIZATION)
    tree["clusters"]["main"]["guards"] = {"placement": "warn", "priorities": "off", "security": "audit"}
    found = _policies(tree)
    actions = {
        name: binding["spec"]["validationActions"]
        for (kind, name), binding in found.items()
        if kind == "ValidatingAdmissionPolicyBinding"
    }
    assert not {"tenancy-priorities", "tenancy-pod-priorities"} & actions.keys()
    assert (actions["tenancy-placement"], actions["tenancy-template-security"]) == (["Warn"], ["Audit"])
    for name in (*EVERYWHERE, "tenancy-queue-binding", "tenancy-pod-groups"):
        assert actions[name] == ["Deny"]


def test_states_hold_in_the_namespaces_of_their_units() -> None:
    """A unit that is held or draining takes nothing new; CronJobs are no work until they make some."""
    found = _policies(ORGANIZATION)
    for state, namespace in (("held", HELD), ("draining", DRAINING)):
        constraints = found["ValidatingAdmissionPolicy", f"tenancy-{state}"]["spec"]["matchConstraints"]
        (names,) = constraints["namespaceSelector"]["matchExpressions"]
        assert names == {"key": "kubernetes.io/metadata.name", "operator": "In", "values": [namespace]}
        matched = {resource for rule in constraints["resourceRules"] for resource in rule["resources"]}
        assert {"pods", "jobs", "jobflows", "trainjobs", "deployments/scale"} <= matched
        assert not {"cronjobs", "jobtemplates", "podgroups"} & matched


def test_a_message_says_what_to_write() -> None:
    """On one line, as the API demands; where the namespace's queues are listed, there is one for when that fails."""
    found = _policies(ORGANIZATION)
    for kind, name in found:
        if kind == "ValidatingAdmissionPolicy":
            assert all(rule["message"] and "\n" not in rule["message"] for rule in _validations(found, name))
    foreign, unbound, *_ = _validations(found, "tenancy-queue-binding")
    assert foreign["messageExpression"].startswith('"queue " + variables.foreign[0].value + " is not a queue of names')
    assert "scheduling.volcano.sh/queue-name" in unbound["message"]


def test_every_kind_of_work_has_its_pod_templates_or_a_reason() -> None:
    """A new kind needs its paths here, or its pods are refused late and confusingly. JobFlows make jobs, TrainJobs
    patch what is elsewhere."""
    covered = {(kind.group, kind.resource) for kind in KINDS}
    named = {(framework.group, framework.resources[0]) for framework in WORK.frameworks} | {("batch", "cronjobs")}
    wanted = {(group, resource) for group, resource in named if "/" not in resource}
    assert wanted - covered == {("trainer.kubeflow.org", "trainjobs"), ("flow.volcano.sh", "jobflows")}
    assert covered <= wanted


def test_kinds_of_one_name_share_their_paths() -> None:
    """A Job and a CronJob may be Kubernetes' own or Volcano's; the paths that an object does not have give nothing."""
    cel = templates(KINDS)["templates"]
    assert cel.count('it.kind in ["Job"] ?') == 1
    job = cel[cel.index('it.kind in ["Job"] ?') : cel.index('it.kind in ["CronJob"] ?')]
    assert "it.?spec.?template.?spec.optMap(spec, " in job
    assert "it.?spec.?tasks.orValue([]).transformList(at, each, " in job


def test_a_template_comes_with_its_metadata() -> None:
    """What a policy on annotations needs; a pod is its own template."""
    cel = whole_templates()["templates"]
    assert '[{"path": dyn(""), "template": it}]' in cel
    assert '[{"path": dyn("/spec/leaderWorkerTemplate/workerTemplate"), "template": spec}]' in cel
    assert '"template": each.template.spec.template}' in cel


def test_pods_are_given_the_tolerations_that_nobody_else_gives() -> None:
    """GPU pods those of every tainted flavor with their GPUs, others those of flavors that are not fenced, each where
    the flavor is within reach; only pods are changed, since Volcano looks at nothing else."""
    policy = _policies(ORGANIZATION)["MutatingAdmissionPolicy", "tenancy-gpu-tolerations"]
    (rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
    assert (rule["resources"], rule["operations"]) == (["pods"], ["CREATE"])
    patches = policy["spec"]["mutations"][0]["jsonPatch"]["expression"]
    gpus = 'pod.gpus.exists(gpu, gpu in ["nvidia.com/gpu"])'
    for value, flavor, who in (
        ("training", "h100", gpus),
        ("inference", "l4", f"({gpus} || pod.gpus.size() == 0)"),
        ("batch", "cpu", "pod.gpus.size() == 0"),
    ):
        taint = f"gpu.acme.example/reserved={value}:NoSchedule"
        reach = f'variables.reach.exists(name, name in ["{flavor}"])'
        assert f'({who} && !("{taint}" in pod.tolerates) && {reach} ?' in patches


def test_requests_are_told_apart_and_cover_every_kind() -> None:
    """Each kind is let in, kept out of inner queues, and refused every way around."""
    for requests in (REQUESTS, BEFORE_136):
        assert len({request.name for request in requests}) == len(requests)
    kinds = {(kind.group, kind.kind) for kind in KINDS}

    def covered(refused: str) -> set[tuple[str, str]]:
        found = (each for each in REQUESTS if each.refused.startswith(refused) and bool(each.refused) == bool(refused))
        return {_kind(each) for each in found}

    assert kinds <= covered("")
    for refused in (
        "queue research-h100",
        "another scheduler",
        "spec.nodeName",
        "Only controllers",
        "Remove",
        "-critical",
    ):
        assert covered(refused) >= kinds, refused
    assert covered("The unit of this namespace is held") >= {each for each in kinds if each[1] not in PLANS}


def _kind(request: Request) -> tuple[str, str]:
    return request.object["apiVersion"].rpartition("/")[0], request.object["kind"]


def test_requests_expect_the_messages_of_the_policies() -> None:
    """What a request expects to be refused with is what some policy says, up to what is read from the request."""
    for requests, kubernetes in ((REQUESTS, "1.36"), (BEFORE_136, "1.35")):
        said = _said(_policies(ORGANIZATION, kubernetes))
        for refused in {request.refused for request in requests if request.refused}:
            words = "; its queues are: " if refused.startswith("queue ") else refused.removeprefix("-critical")
            assert any(words in message for message in said), refused


def _said(found: dict[tuple[str, str], Object]) -> list[str]:
    """What the policies may say."""
    return [
        rule.get("messageExpression", "") + rule["message"]
        for kind, name in found
        if kind == "ValidatingAdmissionPolicy"
        for rule in _validations(found, name)
    ]


def test_attacks_and_everyday_work_are_lists_to_be_read() -> None:
    """At least 25 of each, no name twice, and each attack expects words of a policy, of the API server's authorizer or
    of Pod Security."""
    said = _said(_policies(ORGANIZATION))
    assert len(ATTACKS) >= 25 <= len(ORDINARY)
    assert len({each.name for each in (*ATTACKS, *ORDINARY)}) == len(ATTACKS) + len(ORDINARY)
    assert all(each.refused == "" for each in ORDINARY)
    for refused in {attack.refused for attack in ATTACKS}:
        told = (" is not for ", " is not a queue of namespace ")
        words = next((each for each in told if each in refused), refused)
        by_kubernetes = refused.startswith(("cannot ", "violates PodSecurity"))
        assert by_kubernetes or any(words in message for message in said), refused
