"""Units that go while work may run there, and changes that delete too much: the findings of a comparison."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.compare.comparison import Comparison, compare
from tenancy.compare.effects import NamespaceChange
from tenancy.compare.removals import over_budget, removals
from tenancy.diagnostics import Diagnostic, Severity
from tenancy.pipeline import generate
from tenancy.report import Report
from tenancy.report.text import text
from tests.compare import build
from tests.compare.support import LANGUAGE, RESEARCH, VISION, compared, tree
from tests.orgs import organized

PROJECTS = f"{VISION}.projects"


def found(old: dict[str, Any], new: dict[str, Any], *, strict: bool = False) -> list[tuple[str, Severity, str]]:
    return [
        (each.code, each.severity, each.message.partition(":")[0])
        for each in removals(compared(old, new), strict=strict)
    ]


@pytest.mark.parametrize("state", ["active", "held"])
@pytest.mark.parametrize("strict", [False, True])
def test_a_unit_that_goes_undrained_is_a_finding(state: str, strict: bool) -> None:
    """A warning, an error where it is asked for: a held unit ends nothing that runs."""
    severity = Severity.ERROR if strict else Severity.WARNING
    words = f"`research/language` is removed while it is `{state}`"
    old = tree(**{f"{LANGUAGE}.state": state})
    assert found(old, tree(**{LANGUAGE: None}), strict=strict) == [("removed-undrained", severity, words)]


def test_a_unit_that_was_drained_may_go() -> None:
    """Nothing runs there by now, or its owner has had the time."""
    assert found(tree(**{f"{LANGUAGE}.state": "draining"}), tree(**{LANGUAGE: None}), strict=True) == []


def test_a_department_goes_unit_by_unit_and_a_rename_is_a_removal() -> None:
    """Each unit with a namespace has to be drained, the inner one has none; a new name does not keep the old one."""
    assert [each[2].split("`")[1] for each in found(tree(), tree(**{RESEARCH: None}))] == [
        "research/language",
        "research/vision",
    ]
    renamed = tree(**{LANGUAGE: None, f"{RESEARCH}.teams.speech": {"budget": {"h100": 12}}})
    assert [each[2].split("`")[1] for each in found(tree(), renamed)] == ["research/language"]


def test_a_team_that_keeps_its_namespaces_under_another_name_is_not_removed() -> None:
    """Nothing is deleted there."""
    old = tree(**{f"{LANGUAGE}.namespace": "speech"})
    new = tree(**{LANGUAGE: None, f"{RESEARCH}.teams.speech": {"namespace": "speech", "budget": {"h100": 12}}})
    assert found(old, new) == []


def test_a_namespace_of_a_team_that_stays_cannot_be_drained_alone() -> None:
    """It is a warning however strict: the project shares the queue of its team, and so its state."""
    old, new = tree(**{PROJECTS: {"train": {}, "demo": {}}}), tree(**{PROJECTS: {"train": {}}})
    (only,) = removals(compared(old, new), strict=True)
    assert only.severity is Severity.WARNING
    assert only.message.startswith(
        "namespace `research-vision-demo` goes with all that is in it, while `research/vision`"
    )
    drained = tree(**{PROJECTS: {"train": {}, "demo": {}}, f"{VISION}.state": "draining"})
    assert found(drained, new) == []


def test_a_namespace_of_no_unit_has_no_work_of_ours() -> None:
    """Users' templates make namespaces as well; the plan says that they go, and nobody could drain them."""
    alone = NamespaceChange(cluster="main", namespace="dashboards", unit="", added=False)
    found = build.comparison(effects=build.effects(namespaces=(alone,)))
    assert removals(found, strict=True) == ()


def shown(diagnostics: tuple[Diagnostic, ...]) -> str:
    return text(Report(diagnostics, None, 0, "1"))


def test_it_says_which_two_pull_requests_to_make() -> None:
    """And where to look whether the second may follow."""
    assert shown(removals(compared(tree(), tree(**{LANGUAGE: None})), strict=True)) == (
        "error[removed-undrained]: `research/language` is removed while it is `active`: namespace "
        "`research-language` goes with all that is in it\n"
        " --> out/main:1:1\n"
        "  = why: Its namespaces are deleted with all that is in them: jobs are killed in the middle, and\n"
        "         volume claims go.\n"
        "  = help: make two pull requests: first one that keeps `research/language` and writes `state:\n"
        "          draining`, which ends its jobs; then, when `kubectl get pods -n research-language` shows\n"
        "          none, this one\n"
        "  = docs: docs/checks.md#removed-undrained\n"
        "\n"
        "1 error\n"
    )


@pytest.mark.parametrize("scheduler", ["volcano", "native"])
def test_who_ends_no_job_is_not_said_to(scheduler: str) -> None:
    """Draining ends nothing there."""
    (only,) = removals(compared(tree(), tree(**{LANGUAGE: None}), scheduler=scheduler), strict=False)
    assert "and delete its jobs, since nothing ends them under this scheduler" in only.help


def deleted(comparison: Comparison) -> int:
    return sum(type(each).__name__ == "Delete" and bool(each.identity.kind) for each in comparison.changes)


def test_as_many_deletions_as_allowed_are_allowed() -> None:
    """In numbers, and in percent of what was there, changed or not."""
    comparison = compared(tree(), tree(**{LANGUAGE: None}))
    count, every = deleted(comparison), comparison.objects_before
    assert 0 < count < every
    least = -(-100 * count // every)
    assert over_budget(comparison, str(count)) == over_budget(comparison, f"{least}%") == ()
    for most in (str(count - 1), f"{least - 1}%", "0", "0%"):
        (only,) = over_budget(comparison, most)
        assert (only.code, only.severity) == ("too-many-deletions", Severity.ERROR)
        assert f"{count} of {every} objects are deleted" in only.message
        assert f"more than {most}: 1 Namespace, 1 ClusterQueue, " in only.message


def test_where_nothing_is_deleted_nothing_is_too_much() -> None:
    """Neither on a first compile, nor where something comes."""
    assert over_budget(compared(tree(**{LANGUAGE: None}), tree()), "0%") == ()


def test_objects_are_counted_and_documents_are_not() -> None:
    """All that the API server holds of ours: what a first compile creates."""
    org = organized(tree())
    files = generate(org, {})
    made = compare({}, files, org.flavors)
    assert compare(files, files, org.flavors).objects_before == sum(bool(each.identity.kind) for each in made.changes)


@pytest.mark.parametrize("most", ["", "ten", "-1", "1.5", "101%", "% 5", "10 %"])
def test_a_limit_is_a_number_or_a_percentage(most: str) -> None:
    """Anything else is refused, so that no misspelled guard stands open."""
    with pytest.raises(ValueError, match=r".*"):
        over_budget(compared(tree(), tree()), most)
