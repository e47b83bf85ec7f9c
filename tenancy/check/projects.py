"""Projects without a budget share a queue: what they say of a queue of their own could not be kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import listed
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.organization import Node, Org

PROJECT_WITHOUT_QUEUE: Final = Rule(
    "project-without-queue",
    Severity.ERROR,
    "A setting of a queue that the project does not have",
    "A project without a budget shares its team's queue, on which weight, state and policy act: its own would have no "
    "effect.",
)


def without_queue(org: Org) -> Iterator[Finding]:
    """A project without a budget says nothing that only a queue can keep."""
    for unit in org.units:
        if unit.kind != "project" or unit.document is None or unit.budget or unit.parent is None:
            continue
        if org.left_out and org.hides((*unit.path, "budget")):
            continue
        if keys := list(_settings(unit, unit.parent)):
            yield Finding(
                PROJECT_WITHOUT_QUEUE,
                (*unit.path, *keys[0]),
                f"`{unit.title}` has a {listed([str(key[-1]) for key in keys])} of its own, but no budget and so no "
                "queue",
                f"give it a budget, or write this at `{unit.parent.title}`, whose queue it uses",
                (("the team", unit.parent.path),),
            )


def _settings(project: Node, team: Node) -> Iterator[KeyPath]:
    """What the project says differently from the queue that it uses."""
    document = project.document
    if document is None:
        return
    if document.weight != 1:
        yield ("weight",)
    if project.state != team.state:
        yield ("state",)
    if project.rules != team.rules:
        policy = document.policy
        for name, field in type(policy).model_fields.items():
            said = getattr(policy, name)
            if name != "gang" and said is not None and said != getattr(team.rules, name):
                yield ("policy", field.alias or name)


RULES: Final = (PROJECT_WITHOUT_QUEUE,)
CHECKS: Final[tuple[Check, ...]] = (without_queue,)
