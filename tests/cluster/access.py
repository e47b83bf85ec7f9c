"""The words of the access tests: people, questions, and the answers of the API server's own authorizer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from tenancy.model.access import parse_subject
from tenancy.plan.access import allowed, levels, may, scaled
from tenancy.plan.values import ClusterPlan
from tests.cluster.client import Client, Refused

REVIEWS: Final = "/apis/authorization.k8s.io/v1"
EVERYBODY: Final = "system:authenticated"
"""The group of whoever has a login; the API server adds it, a review must name it."""


SELF: Final = {
    *(("create", f"{kind}.authorization.k8s.io") for kind in ("selfsubjectaccessreviews", "selfsubjectrulesreviews")),
    ("create", "selfsubjectreviews.authentication.k8s.io"),
}
"""What Kubernetes lets whoever has a login ask about themselves."""
METHODS: Final = {
    "get": "GET",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "list": "GET",
    "deletecollection": "DELETE",
}
"""How each verb is asked for; a watch would wait."""
COLLECTION: Final = ("list", "deletecollection")
"""Verbs that no subresource has."""


class Person(NamedTuple):
    """Somebody as the organization writes them, and as a login carries them."""

    subjects: tuple[str, ...]
    user: str
    groups: tuple[str, ...]

    @property
    def title(self) -> str:
        """For messages."""
        return " and ".join(self.subjects) or self.user


class Question(NamedTuple):
    """May somebody do this? A kind is `resource[.group][/subresource]`; no namespace is outside of all of them."""

    verb: str
    kind: str
    namespace: str


ANONYMOUS: Final = Person((), "system:anonymous", ("system:unauthenticated",))
STRANGER: Final = Person(("group:strangers",), "mallory", ("strangers", EVERYBODY))


def person(*subjects: str) -> Person:
    """Somebody who is all of these: one user or service account, in any number of groups."""
    user, groups = "somebody", []
    for text in subjects:
        subject = parse_subject(text)
        assert subject is not None
        if subject.kind == "group":
            groups.append(subject.name)
        elif subject.kind == "user":
            user = subject.name
        else:
            user = f"system:serviceaccount:{subject.namespace}:{subject.name}"
            groups += ["system:serviceaccounts", f"system:serviceaccounts:{subject.namespace}"]
    return Person(subjects, user, (*groups, EVERYBODY))


HOME: Final = "research-vision-train"
LEVELS: Final = {
    "viewers": (person("group:vision"), "research-language-evaluation"),
    "members": (person("group:vision"), HOME),
    "service accounts": (person(f"serviceaccount:{HOME}/ci"), HOME),
    "admins": (person("group:research-leads"), HOME),
    "auditors": (person("group:internal-audit"), HOME),
    "platform admins": (person("group:platform-engineering"), HOME),
    "strangers": (STRANGER, HOME),
    "nobody": (ANONYMOUS, HOME),
}
"""Somebody of each level, and a namespace where they have it and no other."""
SPECIAL: Final = (
    *(("impersonate", kind) for kind in ("users", "groups", "serviceaccounts")),
    ("impersonate", "userextras.authentication.k8s.io/scopes"),
    ("impersonate:user-info", "users.authentication.k8s.io"),
    *(
        (verb, f"{kind}.rbac.authorization.k8s.io")
        for verb in ("bind", "escalate")
        for kind in ("clusterroles", "roles")
    ),
    *(("use", kind) for kind in ("podsecuritypolicies.policy", "securitycontextconstraints.security.openshift.io")),
    *((verb, "signers.certificates.k8s.io") for verb in ("approve", "attest", "sign")),
    *(("*", "*.*"), ("get", "*.*"), ("*", "pods")),
)
"""Verbs that are about other rights, and wildcards."""


def everybody(plan: ClusterPlan) -> list[Person]:
    """Each subject that the plan names, each service account of its namespaces, and who should have no rights."""
    granted = {subject for space in plan.namespaces for grant in space.grants for subject in grant.subjects}
    accounts = {f"serviceaccount:{space.name}/{name}" for space in plan.namespaces for name in space.service_accounts}
    named = sorted({*plan.admins, *plan.auditors, *granted, *accounts})
    default = [f"serviceaccount:{name}/default" for name in (plan.namespaces[0].name, "kube-system")]
    return [*map(person, [*named, *default]), STRANGER, ANONYMOUS]


def predicted(plan: ClusterPlan, who: Person, question: Question) -> bool:
    """What the organization means; rights add up."""
    return any(may(plan, subject, *question) for subject in who.subjects)


def meant(plan: ClusterPlan, who: Person, namespace: str) -> set[tuple[str, str]]:
    """Every verb and kind that the organization means somebody to have in a namespace."""
    return {
        right
        for subject in who.subjects
        for level in levels(plan, subject, namespace)
        for right in allowed(level, plan.cluster.scheduler, keda=scaled(plan, level, namespace))
    }


def asked(client: Client, who: Person, question: Question) -> bool:
    """What the API server says, by a SubjectAccessReview."""
    resource, group, part = parts(question.kind)
    attributes = {"verb": question.verb, "group": group, "resource": resource, "subresource": part}
    attributes["namespace"] = question.namespace
    review = _review("SubjectAccessReview", user=who.user, groups=who.groups, resourceAttributes=attributes)
    answer: bool = client.request("POST", f"{REVIEWS}/subjectaccessreviews", review)["status"]["allowed"]
    return answer


def rights(client: Client, who: Person, namespace: str) -> set[tuple[str, str]]:
    """Every verb and kind that somebody has in a namespace, as the API server lists it to them: nothing is left out."""
    review = _review("SelfSubjectRulesReview", namespace=namespace)
    status = client.acting_as(who.user, who.groups).request("POST", f"{REVIEWS}/selfsubjectrulesreviews", review)[
        "status"
    ]
    assert not status["incomplete"]
    return set(_listed(status["resourceRules"]))


def allows(client: Client, who: Person, question: Question, versions: Mapping[str, str]) -> bool:
    """Whether the API server lets somebody do it: the request itself is sent, in a form that changes nothing.

    Authorization comes before a body is read and before an object is looked for: the one is empty, the other not there.
    """
    body: dict[str, Any] | None = {} if question.verb in ("create", "update", "patch") else None
    kind = "application/merge-patch+json" if question.verb == "patch" else "application/json"
    dry = {} if METHODS[question.verb] == "GET" else {"dryRun": "All"}
    somebody = client.acting_as(who.user, who.groups)
    try:
        somebody.request(METHODS[question.verb], _path(question, versions), body, kind, **dry)
    except Refused as refused:
        return not (refused.code == 403 and f'cannot {question.verb} resource "' in refused.message)
    return True


def served(client: Client) -> Iterator[tuple[str, bool, frozenset[str]]]:
    """Every kind that the API server serves, in the version it prefers: name, whether it is in namespaces, verbs."""
    for group, version in served_versions(client).items():
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        for each in client.get(root)["resources"]:
            resource, slash, part = each["name"].partition("/")
            kind = f"{resource}.{group}".removesuffix(".") + slash + part
            yield kind, each["namespaced"], frozenset(each["verbs"])


def served_versions(client: Client) -> dict[str, str]:
    """The preferred version of each API group; the core group has no name."""
    return {"": "v1"} | {each["name"]: each["preferredVersion"]["version"] for each in client.get("/apis")["groups"]}


def parts(kind: str) -> tuple[str, str, str]:
    """Resource, API group and subresource."""
    whole, _, part = kind.partition("/")
    resource, _, group = whole.partition(".")
    return resource, group, part


def _review(kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}


def _listed(rules: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for rule in rules:
        for group in rule["apiGroups"]:
            for text in rule["resources"]:
                resource, slash, part = text.partition("/")
                kind = f"{resource}.{group}".removesuffix(".") + slash + part
                # A rule for some names only is shown, so that it equals no prediction.
                kind += "".join(f"[{name}]" for name in rule.get("resourceNames", ()))
                yield from ((verb, kind) for verb in rule["verbs"])


def _path(question: Question, versions: Mapping[str, str]) -> str:
    resource, group, part = parts(question.kind)
    root = f"/apis/{group}/{versions[group]}" if group else f"/api/{versions[group]}"
    place = f"/namespaces/{question.namespace}" if question.namespace else ""
    name = "/not-there" if part or question.verb not in (*COLLECTION, "create") else ""
    return f"{root}{place}/{resource}{name}" + (f"/{part}" if part else "")
