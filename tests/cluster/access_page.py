"""The page about access: a table of what an API server answered, with what each level is for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Final

from tenancy.plan.access import CONCERNS, READ, WRITE
from tests.cluster.access import SELF, Question

SHOWN: Final = ("viewers", "members", "service accounts", "admins", "auditors", "platform admins")
REFUSED: Final = (
    *("endpoints", "pods/binding", "pods/ephemeralcontainers", "pods/eviction", "pods/proxy", "pods/resize"),
    *("services/proxy", "nodes/proxy", "replicasets.apps", "daemonsets.apps", "horizontalpodautoscalers.autoscaling"),
    *("ingresses.networking.k8s.io", "poddisruptionbudgets.policy", "resourceclaims.resource.k8s.io"),
    *("resourceclaimtemplates.resource.k8s.io", "workloads.kueue.x-k8s.io/status", "localqueues.kueue.x-k8s.io/status"),
    *("certificatesigningrequests.certificates.k8s.io/approval", "leases.coordination.k8s.io"),
)
"""Worth a mention among the kinds that nobody reaches."""

HEAD: Final = """\
# Who may do what

This page is written by the test run against a real control plane: it deploys the example organization and asks the API
server, by SubjectAccessReviews, every verb on every kind for somebody of each level. Nothing here is copied from the
roles that `tenancy` writes. [Concepts](concepts.md#access) says how people get a level.

## The levels

- **Viewers** follow the work of a team: its jobs, their logs, why they wait.
- **Members** submit work. Their pods may run with any secret and any service account of the namespace, so a member can
  use a secret that the API does not show, and act as an account that lives where its pods run.
- **Service accounts** are the robots of a team, such as its CI. They have the rights of members in the namespace that
  they are in.
- **Admins** lead a department or a team: members who also keep its secrets, its service accounts and their tokens.
- **Auditors** see how the whole cluster is governed and used, but neither secrets nor terminals.
- **Platform admins** are auditors who also change what governs. They run no work. Whoever writes admission policies
  decides what others may apply, so name only people who are trusted with the whole cluster.

Auditors and platform admins have their rights in the whole cluster; all others in the namespaces of the unit that names
them and of the units below it. Rights add up: somebody with two levels has both.

## The rights

*read* is get, list and watch; *write* is read with create, update, patch, delete and deletecollection; an empty cell is
nothing at all.

"""
FOOT: Final = """
Every other kind that the API server serves was asked for too. Nobody has a right to any of them, but that everybody
with a login may ask what they may do. Among them are
{}.

Nobody may impersonate, bind, escalate, approve or sign, and no rule has a wildcard: roles and bindings come from the
organization's repository alone. Kinds of other operators are in no role: bind roles of their own to the same groups.
"""


def page(answers: Mapping[str, Mapping[Question, bool]], others: tuple[str, ...]) -> str:
    """The whole page. Raises AssertionError where it would say that nobody has a right that somebody has."""
    given = {question[:2] for level in answers.values() for question, answer in level.items() if answer}
    assert [right for right in given - SELF if right[1] in others] == []
    assert set(REFUSED) <= set(others)
    return HEAD + "\n".join(_table(answers)) + "\n" + FOOT.format(", ".join(f"`{kind}`" for kind in REFUSED))


def _table(answers: Mapping[str, Mapping[Question, bool]]) -> Iterator[str]:
    """Kinds of one concern and with the same answers share a row."""
    yield f"| about | kinds | {' | '.join(SHOWN)} |"
    yield "|---" * (len(SHOWN) + 2) + "|"
    verbs = {level: _verbs(answers[level]) for level in SHOWN}
    for concern, kinds in CONCERNS["kueue"].items():
        for cells, alike in groupby(kinds, lambda kind: tuple(_cell(verbs[level].get(kind, set())) for level in SHOWN)):
            yield f"| {concern} | {', '.join(f'`{kind}`' for kind in alike)} | {' | '.join(cells)} |"


def _verbs(answers: Mapping[Question, bool]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for question, answer in answers.items():
        if answer:
            found.setdefault(question.kind, set()).add(question.verb)
    return found


def _cell(verbs: set[str]) -> str:
    words = {READ: "read", WRITE: "write", frozenset(): ""}
    return words.get(frozenset(verbs), ", ".join(sorted(verbs)))
