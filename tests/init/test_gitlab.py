"""The job that `.gitlab-ci.yml` includes, run line by line for a merge request."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tenancy.compare.views.markdown import MARKER
from tests.init.conftest import Repository, StandIn
from tests.init.forges import Discussion
from tests.init.runner import ROOT, git, gitlab, loaded

LIMITS = ("quota: 16, limit: 32", "quota: 16, limit: 28")


@pytest.mark.slow
def test_one_note_follows_the_merge_request(repository: Repository, on_gitlab: Discussion) -> None:
    """Created by the first run, written anew by the next; the code quality report is there, and empty."""
    repository.edit(*LIMITS)
    done = gitlab(repository.folder, repository.variables(), on_gitlab.url)
    assert done.passed, done.printed
    (note,) = on_gitlab.of("us")
    assert note.startswith(MARKER)
    assert "**32 → 28**" in note
    assert "[run](https://gitlab.example/job)" in note
    assert json.loads((repository.folder / "gl-code-quality-report.json").read_text()) == []
    assert (repository.folder / "tenancy-plan.md").read_text() == note
    assert git(repository.folder, "status", "--porcelain") == ""

    repository.edit("limit: 28", "limit: 24")
    assert gitlab(repository.folder, repository.variables(), on_gitlab.url).passed
    assert "**32 → 24**" in on_gitlab.of("us")[0]
    assert on_gitlab.asked == ["create", "update"]


@pytest.mark.slow
def test_findings_are_in_the_code_quality_report(repository: Repository, on_gitlab: Discussion) -> None:
    """And in the log, and in the note that stands in the place of a plan; the job fails."""
    repository.edit("quota: 16, limit: 32", "quota: 90, limit: 32", compiled=False)
    done = gitlab(repository.folder, repository.variables(), on_gitlab.url)
    assert done.statuses == {"script": 1}
    report = json.loads((repository.folder / "gl-code-quality-report.json").read_text())
    assert {each["location"]["path"] for each in report} == {"org/departments/research.yaml"}
    assert "### No plan" in on_gitlab.of("us")[0]


def test_a_stale_output_fails(repository: Repository, on_gitlab: Discussion, stand_in: StandIn) -> None:
    """Every step runs all the same."""
    repository.edit(*LIMITS, compiled=False)
    done = gitlab(repository.folder, repository.variables(), on_gitlab.url, {"command": stand_in.command})
    assert done.statuses == {"script": 1}
    assert "out is not what org compiles to" in done.printed
    assert len(on_gitlab.of("us")) == 1


def test_the_output_is_committed_where_that_is_asked_for(
    repository: Repository, on_gitlab: Discussion, stand_in: StandIn
) -> None:
    """To the branch of the merge request; not from a fork."""
    repository.edit(*LIMITS, compiled=False)
    inputs = {"command": stand_in.command, "commit": "true"}
    fork = gitlab(repository.folder, repository.variables(fork=True), on_gitlab.url, inputs)
    assert fork.statuses == {"script": 1}
    assert "in a fork" in fork.printed
    done = gitlab(repository.folder, repository.variables(), on_gitlab.url, inputs)
    assert done.passed, done.printed
    assert git(repository.origin, "log", "--format=%s", "more-for-vision").splitlines()[0] == "Compile org"


def test_a_pipeline_of_merged_results_commits_nothing(
    repository: Repository, on_gitlab: Discussion, stand_in: StandIn
) -> None:
    """There the commit that is checked out is not the branch's."""
    repository.edit(*LIMITS, compiled=False)
    variables = {
        **repository.variables(),
        "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": git(repository.folder, "rev-parse", "main"),
    }
    inputs = {"command": stand_in.command, "commit": "true"}
    done = gitlab(repository.folder, variables, on_gitlab.url, inputs)
    assert done.statuses == {"script": 1}
    assert "the end of the branch" in done.printed


def test_without_a_token_the_plan_is_in_the_log(
    repository: Repository, on_gitlab: Discussion, stand_in: StandIn
) -> None:
    """A job's own token may not write notes; that none is given is said, and is no failure."""
    repository.edit(*LIMITS, compiled=False)
    variables = {**repository.variables(), "TENANCY_TOKEN": "", "TENANCY_COMMIT": "false"}
    done = gitlab(repository.folder, variables, on_gitlab.url, {"command": stand_in.command})
    assert "TENANCY_TOKEN is empty" in done.printed
    assert "## Plan for acme" in done.printed
    assert on_gitlab.asked == []


def test_no_input_reaches_a_shell() -> None:
    """Inputs stand in variables, and in what GitLab itself reads."""
    (job,) = loaded(ROOT / "ci" / "gitlab.yml").values()
    assert not re.search(r"\$\[\[", "\n".join(job["script"]))


def test_inputs_are_described_used_and_in_the_page() -> None:
    """As those of the action."""
    text = (ROOT / "ci" / "gitlab.yml").read_text()
    page = (ROOT / "docs" / "ci.md").read_text()
    spec = next(yaml.load_all(text, Loader=yaml.BaseLoader))["spec"]["inputs"]
    for name, given in spec.items():
        assert given["description"].endswith(".")
        assert f"$[[ inputs.{name} ]]" in text
        assert f"`{name}`" in page


def test_the_hooks_are_those_that_init_asks_for(written: Path) -> None:
    """Both exist, run on org/ and out/, and call commands that exist."""
    hooks = {hook["id"]: hook for hook in loaded(ROOT / ".pre-commit-hooks.yaml")}
    (source,) = loaded(written / ".pre-commit-config.yaml")["repos"]
    assert [hook["id"] for hook in source["hooks"]] == list(hooks)
    for hook in hooks.values():
        assert hook["language"] == "python"
        assert hook["pass_filenames"] == "false"
        assert re.search(hook["files"], "org/departments/research.yaml")
        assert re.search(hook["files"], "out/tenancy.lock")
        assert not re.search(hook["files"], "docs/org/x")
    assert [hook["entry"] for hook in hooks.values()] == ["tenancy validate", "tenancy compile"]
