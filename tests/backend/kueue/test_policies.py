"""Admission policies: which ones a cluster gets, what they say, and that no value of the plan can break out of its CEL.

What they do is in policy_requests.py, for a real API server.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenancy.backend.kueue.policies import policies
from tenancy.backend.kueue.work import WORK
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, pod_templates
from tenancy.backend.shared.whole_nodes import whole_nodes
from tenancy.pipeline import examine
from tenancy.plan import plan
from tests.backend.kueue.policy_requests import BEFORE_136, REQUESTS

Object: TypeAlias = dict[str, Any]

ALWAYS = (
    *("tenancy-cluster-safety", "tenancy-orphans", "tenancy-placement", "tenancy-pod-priorities"),
    *("tenancy-priorities", "tenancy-queueing", "tenancy-template-requests", "tenancy-template-security"),
    "tenancy-external-addresses",
)
"""The policies that every cluster needs."""
TAINT = "gpu.example/reserved=training:NoSchedule"
ORGANIZATION = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
clusters: {main: {versions: {kubernetes: "KUBERNETES"}}}
flavors:
  h100:
    gpu: H100-SXM-80GB
    nodes: 4
    node: {gpus: 8, cpu: 192, memory: 2000Gi}
    daemons: {cpu: 2, memory: 8Gi}
H100
  cpu:
    nodes: 2
    node: {cpu: 64, memory: 256Gi}
    daemons: {cpu: 1, memory: 4Gi}
CPU
departments:
  lab:
    budget: {h100: 32, cpu: {cpu: 100, memory: 400Gi}}
    teams:
      dev: {}
"""


def _policies(folder: Path, *h100: str, cpu: str = "", kubernetes: str = "1.36") -> dict[tuple[str, str], Object]:
    """The policies of a small organization by kind and name, with these lines in its flavors."""
    lines = ORGANIZATION.replace("H100\n", "".join(f"    {line}\n" for line in h100))
    lines = lines.replace("CPU\n", f"    {cpu}\n" if cpu else "").replace("KUBERNETES", kubernetes)
    folder.joinpath("org.yaml").write_text(lines, encoding="utf-8")
    org = examine(folder).org
    assert org is not None
    return {(each["kind"], each["metadata"]["name"]): each for cluster in plan(org) for each in policies(cluster)}


def _expressions(policy: Object) -> str:
    return "\n".join(each["expression"] for each in (*policy["spec"]["variables"], *policy["spec"]["validations"]))


@pytest.mark.parametrize(
    ("flavor", "kubernetes", "names"),
    [
        ((), "1.35", []),
        ((), "1.36", []),
        ((f"taint: {TAINT}", "cpuJobs: lend"), "1.36", []),
        (("taint: a/b:PreferNoSchedule",), "1.36", []),
        ((f"taint: {TAINT}",), "1.35", ["tenancy-fenced-flavors"]),
        ((f"taint: {TAINT}",), "1.36", ["tenancy-fenced-flavors", "tenancy-gpu-tolerations"]),
        (("wholeNodes: true",), "1.35", ["tenancy-whole-nodes-nvidia.com-gpu-8"]),
    ],
)
def test_a_cluster_gets_the_policies_that_it_needs(
    flavor: tuple[str, ...], kubernetes: str, names: list[str], tmp_path: Path
) -> None:
    """No fence, no fence policy; no whole nodes, no policy on them; mutating policies from Kubernetes 1.36 on."""
    found = _policies(tmp_path, *flavor, kubernetes=kubernetes)
    roles = ["tenancy-pod-roles"] if kubernetes == "1.36" else []
    assert sorted({name for _, name in found}) == sorted([*names, *ALWAYS, *roles])
    for kind, name in found:
        assert (kind if kind.endswith("Binding") else f"{kind}Binding", name) in found


def test_every_default_is_stated(tmp_path: Path) -> None:
    """What the API server would fill in is written, and no list is empty, so that applying again writes nothing."""
    found = _policies(tmp_path, f"taint: {TAINT}", "wholeNodes: true")
    policies_ = [each for (kind, _), each in found.items() if kind.endswith("Policy")]
    assert len(policies_) == len(ALWAYS) + 4
    for policy in policies_:
        constraints = policy["spec"]["matchConstraints"]
        convenience = policy["metadata"]["name"] == "tenancy-gpu-tolerations"
        assert policy["spec"]["failurePolicy"] == ("Ignore" if convenience else "Fail")
        assert constraints["matchPolicy"] == "Equivalent"
        assert constraints["objectSelector"] == {}
        assert constraints["namespaceSelector"]["matchLabels"] == {"tenancy.internal/organization": "acme"}
        assert all(rule["scope"] == "*" and all(rule.values()) for rule in constraints["resourceRules"])
        assert policy["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] == "-3"
    assert found["ValidatingAdmissionPolicyBinding", "tenancy-fenced-flavors"]["spec"] == {
        "policyName": "tenancy-fenced-flavors",
        "validationActions": ["Deny"],
    }


def test_a_message_says_what_to_write(tmp_path: Path) -> None:
    """The message of a refusal names the taint, the flavor and the resource, on one line as the API demands."""
    found = _policies(tmp_path, f"taint: {TAINT}", "wholeNodes: true")
    fence = found["ValidatingAdmissionPolicy", "tenancy-fenced-flavors"]["spec"]["validations"]
    whole = found["ValidatingAdmissionPolicy", "tenancy-whole-nodes-nvidia.com-gpu-8"]["spec"]["validations"]
    assert all("\n" not in rule["message"] for rule in (*fence, *whole))
    message = fence[-1]["message"]
    assert message.startswith(f"Only pods that ask for nvidia.com/gpu may tolerate {TAINT}, the taint of h100: ask for")
    assert whole[0]["message"].endswith("let each pod ask for 8 nvidia.com/gpu, or for none")
    assert whole[0]["expression"].endswith("count in [0, 8])")


@pytest.mark.parametrize(
    ("cpu_taint", "guarded"),
    [
        ("gpu.example/reserved:NoSchedule", False),
        ("gpu.example/reserved=training:NoSchedule", False),
        ("gpu.example/reserved=cpu:NoSchedule", True),
        ("gpu.example/reserved:NoExecute", True),
        ("other.example/reserved:NoSchedule", True),
    ],
)
def test_a_taint_that_kueue_tolerates_for_others_is_left_alone(cpu_taint: str, guarded: bool, tmp_path: Path) -> None:
    """Kueue gives jobs of a lent flavor its toleration; a policy that refuses it would keep them from starting."""
    found = _policies(tmp_path, f"taint: {TAINT}", cpu=f"taint: {cpu_taint}")
    assert (("ValidatingAdmissionPolicy", "tenancy-fenced-flavors") in found) is guarded


def test_a_flavor_with_two_taints_needs_both_tolerations(tmp_path: Path) -> None:
    """A pod that tolerates one of two taints is given the other one; each taint is guarded."""
    found = _policies(tmp_path, "taints: [a.example/x:NoSchedule, b.example/y=z:NoExecute]")
    mutating = found["MutatingAdmissionPolicy", "tenancy-gpu-tolerations"]
    helpless = mutating["spec"]["variables"][-1]["expression"]
    assert '"a.example/x:NoSchedule" in pod.tolerates && "b.example/y=z:NoExecute" in pod.tolerates' in helpless
    patches = mutating["spec"]["mutations"][0]["jsonPatch"]["expression"]
    assert '{"key": "a.example/x", "operator": "Exists", "effect": "NoSchedule"}' in patches
    assert '{"key": "b.example/y", "operator": "Equal", "value": "z", "effect": "NoExecute"}' in patches
    assert len(found["ValidatingAdmissionPolicy", "tenancy-fenced-flavors"]["spec"]["validations"]) == 2


def test_whole_nodes_list_namespaces_only_beside_others(tmp_path: Path) -> None:
    """Where every queue has the resource in whole nodes, the policy holds in all namespaces of the organization."""
    found = _policies(tmp_path, "wholeNodes: true")
    policy = found["ValidatingAdmissionPolicy", "tenancy-whole-nodes-nvidia.com-gpu-8"]
    assert "matchExpressions" not in policy["spec"]["matchConstraints"]["namespaceSelector"]


@pytest.mark.parametrize(
    ("kubernetes", "kind"), [("1.35", "ValidatingAdmissionPolicy"), ("1.36", "MutatingAdmissionPolicy")]
)
def test_requests_hold_for_templates_that_kueue_counts(kubernetes: str, kind: str, tmp_path: Path) -> None:
    """Requests are written or demanded in every kind but those that are counted by pods; updates count, but only
    their resources: Kueue adds tolerations when it starts a job, and an image may change."""
    policy = _policies(tmp_path, kubernetes=kubernetes)[kind, "tenancy-template-requests"]
    rules = policy["spec"]["matchConstraints"]["resourceRules"]
    kinds = {each.resource for each in POD_TEMPLATES} - {"pods", "deployments"} | {"trainjobs"}
    assert {name for rule in rules for name in rule["resources"]} == kinds
    assert all(rule["operations"] == ["CREATE", "UPDATE"] for rule in rules)
    assert policy["spec"]["failurePolicy"] == "Fail"
    variables = {each["name"]: each["expression"] for each in policy["spec"]["variables"]}
    assert "variables.resources[0] != variables.resources[1]" in variables["limited"]
    assert "initContainers" in variables["resources"]
    assert "tolerations" not in "".join(variables.values())


def test_a_refusal_of_missing_requests_says_which_one_to_write(tmp_path: Path) -> None:
    """One rule for each resource that has a default, so that the message names the field to write."""
    policy = _policies(tmp_path, kubernetes="1.35")["ValidatingAdmissionPolicy", "tenancy-template-requests"]
    cpu, memory = policy["spec"]["validations"]
    assert "write resources.requests.cpu beside resources.limits.cpu" in cpu["message"]
    assert "write resources.requests.memory beside resources.limits.memory" in memory["message"]
    assert '[?"memory"]' in memory["expression"]
    assert "cpu" not in memory["expression"]


MIXED = """\
  h200:
    gpu: H200-SXM-141GB
    nodes: 2
    wholeNodes: true
    node: {gpus: 8, cpu: 192, memory: 2000Gi}
    daemons: {cpu: 2, memory: 8Gi}
departments:
  large:
    budget: {h200: 16, h100: {limit: 0}}
    teams: {a: {}}
  both:
    budget: {h100: 8}
    teams: {b: {}}
"""


def test_whole_nodes_beside_smaller_parts_hold_where_only_whole_nodes_are_in_reach(tmp_path: Path) -> None:
    """A namespace whose queue also reaches smaller parts of the resource is left alone."""
    text_ = ORGANIZATION.replace("H100\n", "").replace("CPU\n", "").replace("KUBERNETES", "1.36")
    tmp_path.joinpath("org.yaml").write_text(text_[: text_.index("departments:")] + MIXED, encoding="utf-8")
    org = examine(tmp_path).org
    assert org is not None
    policy, _ = (each for cluster in plan(org) for each in whole_nodes(cluster))
    assert policy["metadata"]["name"] == "tenancy-whole-nodes-nvidia.com-gpu-8"
    (names,) = policy["spec"]["matchConstraints"]["namespaceSelector"]["matchExpressions"]
    assert names == {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["large-a"]}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_literal_is_one_token_that_reads_back(value: str) -> None:
    """No quote, backslash or line break of a value ends its literal early; JSON's escapes all exist in CEL."""
    literal = text(value)
    assert re.fullmatch(r'"([^"\\\n\r]|\\(["\\bfnrt]|u[0-9a-f]{4}))*"', literal)
    assert json.loads(literal) == value
    assert texts([value, "x"]) == f'[{literal}, "x"]'


def test_a_hostile_taint_stays_inside_its_literal(tmp_path: Path) -> None:
    """Even a key that no check would pass cannot add to an expression."""
    evil = '"]||true||["'
    found = _policies(tmp_path, f"taint: '{evil}:NoSchedule'")
    fence = _expressions(found["ValidatingAdmissionPolicy", "tenancy-fenced-flavors"])
    assert text(f"{evil}:NoSchedule") in fence
    assert "true" not in re.sub(r'"([^"\\]|\\.)*"', "", fence)


def test_every_kind_of_work_has_its_pod_templates_or_a_reason() -> None:
    """A new framework needs its paths here, or tenants get around the fence with late, confusing refusals."""
    covered = {(kind.group, kind.resource) for kind in POD_TEMPLATES}
    wanted = {(framework.group, framework.resources[0]) for framework in WORK.frameworks} | {("batch", "cronjobs")}
    assert wanted - covered == {("trainer.kubeflow.org", "trainjobs"), ("workload.codeflare.dev", "appwrappers")}
    assert covered <= wanted


def test_paths_go_through_lists_and_maps() -> None:
    """A path through a list or a map gives one entry for each element, with its own JSON pointer."""
    cel = pod_templates("it")
    assert 'it.?spec.?replicatedJobs.orValue([]).transformList(at, each, {"path": dyn("/spec/replicatedJobs/" + ' in cel
    assert 'string(at) + "/template/spec/template/spec"), "spec": each.template.spec.template.spec})' in cel
    assert "it.?spec.?pytorchReplicaSpecs.orValue({}).transformList(at, each, " in cel
    assert cel.endswith(":\n[]")


def test_requests_are_told_apart_and_cover_every_kind() -> None:
    """The requests for a real API server have unique names, and each kind is refused, helped and left alone."""
    assert len({request.name for request in REQUESTS}) == len(REQUESTS)
    assert len({request.name for request in BEFORE_136}) == len(BEFORE_136)
    kinds = {kind.kind for kind in POD_TEMPLATES}
    assert {request.object["kind"] for request in REQUESTS if request.refused} == kinds
    assert {request.object["kind"] for request in REQUESTS if request.tolerations} == kinds
    assert {request.object["kind"] for request in REQUESTS if request.requests} == kinds - {"Deployment"} | {"TrainJob"}
    assert {request.object["kind"] for request in BEFORE_136 if request.refused} == kinds - {"Deployment", "Pod"} | {
        "TrainJob"
    }
    silent = {request.object["kind"] for request in REQUESTS if not request.refused and not request.tolerations}
    assert silent == kinds | {"TrainJob"}


def test_requests_expect_the_messages_of_the_example() -> None:
    """What a request expects to be refused with is in the policies that the example organization really has."""
    org = examine(Path(__file__).parents[3] / "org").org
    assert org is not None
    for requests, kubernetes in ((REQUESTS, "1.36"), (BEFORE_136, "1.35")):
        messages = [
            rule["message"]
            for cluster in plan(org)
            for each in policies(replace(cluster, kubernetes=kubernetes))
            for rule in each["spec"].get("validations", [])
        ]
        for refused in {request.refused for request in requests if request.refused}:
            assert any(refused in message for message in messages)
