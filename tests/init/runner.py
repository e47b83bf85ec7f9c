"""Enough of the runners of GitHub and GitLab to execute action.yml, ci/gitlab.yml and the workflows that `init` writes.

Steps that use other actions are left out: the checkout is what the tests prepare, and tenancy is this checkout's.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.init.forges import TOKEN

ROOT = Path(__file__).parent.parent.parent
TENANCY = str(Path(sys.executable).parent / "tenancy")
NOBODY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@acme.example",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@acme.example",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}
PYTHON = f"{sys.base_prefix}/bin"
"""Of a Python that has nothing installed, as the steps find it on a runner."""
_KEPT = ("PATH", "HOME", "XDG_CACHE_HOME", "TMPDIR", "LANG")


@dataclass
class Done:
    """What became of a run."""

    statuses: dict[str, int] = field(default_factory=dict)
    """By the name of the step."""
    printed: str = ""
    summary: str = ""

    @property
    def passed(self) -> bool:
        """Whether the check is green."""
        return not any(self.statuses.values())


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """What a process gets: nothing of this machine but paths."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | {"PATH": f"{PYTHON}{os.pathsep}{os.environ['PATH']}"} | NOBODY | dict(more)


def git(folder: Path, *arguments: str) -> str:
    """Run git, which must succeed; what it printed."""
    command = ["git", "-c", "init.defaultBranch=main", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment({}), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def loaded(path: Path) -> Any:
    """A file as the forges read it: every plain `on` stays a word."""
    return [document for document in yaml.load_all(path.read_text(), Loader=yaml.CBaseLoader) if document][-1]


def github(folder: Path, event: Mapping[str, Any], url: str, inputs: Mapping[str, str] | None = None) -> Done:
    """Run the workflow that `init` wrote into `folder`, with a tenancy that is installed already."""
    workflow = loaded(folder / ".github/workflows/tenancy.yml")
    assert set(event) & set(workflow["on"]) or "before" in event
    (job,) = workflow["jobs"].values()
    (step,) = [step for step in job["steps"] if not step["uses"].startswith("actions/")]
    assert step["uses"].startswith("acme/tenancy@v")
    return action(folder, event, url, {**step["with"], "command": TENANCY, **(inputs or {})})


def action(
    folder: Path, event: Mapping[str, Any], url: str, inputs: Mapping[str, str], *, other_owner: bool = False
) -> Done:
    """Run the steps of action.yml in order, as far as their conditions hold; `other_owner` as if somebody else owned
    the checkout."""
    described = loaded(ROOT / "action.yml")
    given = {name: each.get("default", "") for name, each in described["inputs"].items()}
    given = {**given, "token": TOKEN, **inputs}
    assert set(given) == set(described["inputs"])
    temporary = folder.parent / "runner"
    temporary.mkdir(exist_ok=True)
    files = {name: temporary / name.lower() for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_PATH")}
    for path in files.values():
        path.write_text("")
    (temporary / "event.json").write_text(json.dumps(event))
    always = {
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_EVENT_PATH": str(temporary / "event.json"),
        "GITHUB_GRAPHQL_URL": f"{url}/graphql",
        "GITHUB_REPOSITORY": "acme/gpus",
        "GITHUB_RUN_ID": "99",
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_SHA": git(folder, "rev-parse", "HEAD"),
        "RUNNER_TEMP": str(temporary),
        "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1" if other_owner else "",
        **{name: str(path) for name, path in files.items()},
    }
    done = Done()
    for step in described["runs"]["steps"]:
        if "run" not in step or not _holds(step.get("if", "true"), given):
            continue
        settings = {name: _value(text, given) for name, text in step.get("env", {}).items()}
        body = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        done.statuses[step["name"]] = _run(body, folder, always | settings, done)
    done.summary = files["GITHUB_STEP_SUMMARY"].read_text()
    return done


def gitlab(folder: Path, variables: Mapping[str, str], url: str, inputs: Mapping[str, str] | None = None) -> Done:
    """Run the job that the `.gitlab-ci.yml` in `folder` includes, with a tenancy that is installed already."""
    (include,) = loaded(folder / ".gitlab-ci.yml")["include"]
    assert include["remote"].endswith("/ci/gitlab.yml")
    spec = next(yaml.load_all((ROOT / "ci/gitlab.yml").read_text(), Loader=yaml.CBaseLoader))["spec"]["inputs"]
    given: dict[str, str] = {name: each.get("default") for name, each in spec.items()}
    given |= {**include["inputs"], "package": "", "command": TENANCY, **(inputs or {})}
    assert set(given) == set(spec)
    (job,) = loaded(ROOT / "ci/gitlab.yml").values()
    settings = {name: _input(text, given) for name, text in job["variables"].items()}
    always = {
        "CI": "true",
        "GITLAB_CI": "true",
        "CI_API_V4_URL": f"{url}/api/v4",
        "CI_COMMIT_SHA": git(folder, "rev-parse", "HEAD"),
        "CI_JOB_URL": "https://gitlab.example/job",
        "CI_PROJECT_ID": "42",
        "TENANCY_TOKEN": TOKEN,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",  # where the job's pip installed
    }
    done = Done()
    script = "\n".join(job["script"])
    done.statuses["script"] = _run(["bash", "-e", "-c", script], folder, always | settings | dict(variables), done)
    return done


def steps(folder: Path, names: str, settings: Mapping[str, str]) -> Done:
    """Run steps of ci/check.py by themselves."""
    done = Done()
    command = ["python3", str(ROOT / "ci" / "check.py"), *names.split()]
    done.statuses[names] = _run(command, folder, settings, done)
    return done


def _run(command: list[str], folder: Path, settings: Mapping[str, str], done: Done) -> int:
    ran = subprocess.run(
        command,
        cwd=folder,
        env=environment(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    done.printed += ran.stdout
    return ran.returncode


def _value(text: str, inputs: Mapping[str, str]) -> str:
    """An `env:` value with its expressions filled in."""
    return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda match: inputs[match[1]], text)


def _input(text: str, inputs: Mapping[str, str]) -> str:
    """A variable with GitLab's inputs filled in."""
    return re.sub(r"\$\[\[ inputs\.([a-z-]+) \]\]", lambda match: inputs[match[1]], text)


def _holds(condition: str, inputs: Mapping[str, str]) -> bool:
    """Whether a step runs: every part of the conditions that action.yml uses, and no other."""
    text = re.sub(r"^\$\{\{ (.*) \}\}$", r"\1", condition)
    for part in text.split(" && "):
        if part in ("true", "!cancelled()", "(inputs.command != '' || steps.install.outcome == 'success')"):
            continue
        match = re.fullmatch(r"inputs\.([a-z-]+) == '([a-z]*)'", part)
        assert match, part
        if inputs[match[1]] != match[2]:
            return False
    return True
