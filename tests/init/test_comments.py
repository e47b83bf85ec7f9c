"""One comment with the plan, on either forge: which one it is, and what happens where it cannot be written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tenancy.compare.views.markdown import MARKER
from tests.init.conftest import Repository, StandIn
from tests.init.forges import TOKEN, Discussion, GitHub, GitLab, served
from tests.init.runner import Done, steps

PLAN = f"{MARKER} acme -->\n<!-- tenancy-ci: org -->\n"


@dataclass
class Review:
    """A pull request, and the step that writes its comment."""

    discussion: Discussion
    folder: Path
    settings: dict[str, str]
    fork: bool
    right: str
    """What a message says that the token lacks."""

    def comment(self, plan: str, **more: str) -> Done:
        """Run the step with this plan."""
        (self.folder / "plan.md").write_text(plan)
        return steps(
            self.folder, "comment", {**self.settings, "TENANCY_PLAN": "plan.md", "TENANCY_TOKEN": TOKEN, **more}
        )


@pytest.fixture(params=["github", "github of a fork", "gitlab", "gitlab of a fork"])
def review(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Review]:
    """A pull request of each forge, from the repository itself and from a fork."""
    fork = request.param.endswith("fork")
    forge = GitHub if request.param.startswith("github") else GitLab
    with served(forge) as discussion:
        if forge is GitHub:
            home = {"full_name": "acme/gpus"}
            head = {"sha": "0", "ref": "x", "repo": None if fork else home}
            event = {"pull_request": {"number": 7, "head": head, "base": {"sha": "0", "repo": home}}}
            (tmp_path / "event.json").write_text(json.dumps(event))
            settings = {
                "GITHUB_ACTIONS": "true",
                "GITHUB_EVENT_PATH": "event.json",
                "GITHUB_REPOSITORY": "acme/gpus",
                "GITHUB_GRAPHQL_URL": f"{discussion.url}/graphql",
            }
        else:
            settings = {
                "GITLAB_CI": "true",
                "CI_MERGE_REQUEST_IID": "7",
                "CI_PROJECT_ID": "42",
                "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "43" if fork else "42",
                "CI_API_V4_URL": f"{discussion.url}/api/v4",
            }
        yield Review(discussion, tmp_path, settings, fork, "pull-requests: write" if forge is GitHub else "`api`")


def test_ours_is_found_on_the_last_page(review: Review) -> None:
    """Below more comments of others than fit on a page, one of which begins like ours: that one is not touched."""
    forged = f"{PLAN}forged"
    for body in ("first!", forged, "looks good", "why?"):
        review.discussion.add(body, "eve")
    review.discussion.add("about something else")
    review.discussion.add(f"{PLAN}old".replace("\n", "\r\n"))
    assert review.comment(f"{PLAN}new\n").passed
    assert review.discussion.asked == ["update"]
    assert review.discussion.of("us") == ["about something else", f"{PLAN}new\n"]
    assert forged in review.discussion.of("eve")


def test_two_become_one(review: Review) -> None:
    """Two runs at once may both have found none."""
    review.discussion.add(f"{PLAN}one")
    review.discussion.add(f"{PLAN}two")
    assert review.comment(f"{PLAN}new\n").passed
    assert review.discussion.of("us") == [f"{PLAN}new\n"]


def test_what_says_the_same_is_left_alone(review: Review) -> None:
    """No edit without a change."""
    review.discussion.add(f"{PLAN}same")
    assert review.comment(f"{PLAN}same\n").passed
    assert review.discussion.asked == []


def test_another_organization_has_another_comment(review: Review) -> None:
    """Two organizations of one repository do not overwrite each other's plans."""
    review.discussion.add(f"{MARKER} acme -->\n<!-- tenancy-ci: staging/org -->\nits plan")
    assert review.comment(f"{PLAN}new\n").passed
    assert review.comment("").passed
    assert review.discussion.asked == ["create", "delete"]
    assert len(review.discussion.of("us")) == 1


def test_nothing_to_say_leaves_no_comment(review: Review) -> None:
    """None is made for it."""
    assert review.comment("").passed
    assert review.discussion.asked == []


def test_a_token_that_may_only_read_is_an_error_but_for_forks(review: Review) -> None:
    """A fork's run has no other token, and its plan is in the summary; elsewhere somebody has to grant a right."""
    review.discussion.readonly = True
    done = review.comment(f"{PLAN}new\n")
    assert done.statuses == {"comment": 0 if review.fork else 3}
    assert ("a fork" if review.fork else review.right) in done.printed
    assert TOKEN not in done.printed


def test_a_forge_out_of_order_is_an_error(review: Review) -> None:
    """A plan that is not posted must not look as if there were none."""
    review.discussion.broken = True
    done = review.comment(f"{PLAN}new\n")
    assert done.statuses == {"comment": 3}
    assert "502" in done.printed


def test_no_token_is_said(review: Review) -> None:
    """Nothing fails: the plan is elsewhere."""
    done = review.comment(f"{PLAN}new\n", TENANCY_TOKEN="")
    assert done.passed
    assert "TENANCY_TOKEN is empty" in done.printed


def test_a_branch_without_a_pull_request_has_no_comment(tmp_path: Path) -> None:
    """A push to the default branch, or a run somewhere else."""
    done = steps(tmp_path, "comment", {})
    assert done.passed
    assert "no pull request" in done.printed


def test_findings_cannot_break_out_of_their_fence(repository: Repository, stand_in: StandIn) -> None:
    """Nor make the comment longer than GitHub takes."""
    stand_in.says(
        "", findings="````\n# <b>not a heading</b>\n" + "x" * 70 + "\n" * 3 + ("y" * 70 + "\n") * 1000, status=1
    )
    settings = {"TENANCY_COMMAND": stand_in.command, "CI_COMMIT_BEFORE_SHA": repository.head, "TENANCY_PLAN": "plan.md"}
    repository.edit("quota: 16, limit: 32", "quota: 16, limit: 28", compiled=False)
    assert steps(repository.folder, "plan", settings).statuses == {"plan": 1}
    plan = (repository.folder / "plan.md").read_text()
    assert plan.startswith(f"{MARKER} -->\n<!-- tenancy-ci: org -->\n### No plan")
    assert plan.count("\n`````") == 2
    assert len(plan) < 65_536
    assert "the log of the run has the rest" in plan


def test_a_plan_that_says_nothing_is_left_out(repository: Repository, stand_in: StandIn) -> None:
    """But one that says so and fails is shown."""
    plan = f"{MARKER} acme -->\n## ⚪ Plan for acme: no changes\n\nMerging this changes nothing.\n"
    settings = {"TENANCY_COMMAND": stand_in.command, "CI_COMMIT_BEFORE_SHA": repository.head, "TENANCY_PLAN": "plan.md"}
    for status, shown in ((0, False), (1, True)):
        stand_in.says(plan, status=status)
        assert steps(repository.folder, "plan", settings).statuses == {"plan": status}
        assert bool((repository.folder / "plan.md").read_text()) == shown


def test_a_step_that_is_none_is_a_usage_error(tmp_path: Path) -> None:
    """It says which there are."""
    done = steps(tmp_path, "deploy", {})
    assert done.statuses == {"deploy": 2}
    assert "validate, compile, plan, comment" in done.printed


def test_a_missing_tenancy_is_never_clean(tmp_path: Path) -> None:
    """Could not check is status 3."""
    done = steps(tmp_path, "validate compile", {"TENANCY_COMMAND": "/nowhere/tenancy"})
    assert list(done.statuses.values()) == [3]
