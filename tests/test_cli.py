"""The command line as a user meets it: the exit status and what is printed, each status once of a whole process."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tenancy.cli import run

ROOT = Path(__file__).parent.parent
SMALLEST = ROOT / "tests" / "cases" / "smallest" / "org"


def _process(*arguments: str, cwd: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, which takes many times as long: where how it starts or ends is what is looked at."""
    return subprocess.run(
        [sys.executable, "-m", "tenancy", *arguments],
        cwd=cwd,
        env={**os.environ, **extra},
        capture_output=True,
        text=True,
        check=False,
    )


def _tenancy(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """What such a process does, in this one: it ends with the status that `run` returns."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        status = run(arguments)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with an organization in org/."""
    shutil.copytree(SMALLEST, tmp_path / "org")
    return tmp_path


def test_a_clean_organization_is_status_0(project: Path) -> None:
    """validate says so and exits 0."""
    done = _process("validate", cwd=project)
    assert (done.returncode, done.stdout) == (0, "no findings\n")


def test_the_nearest_org_is_found_from_below(project: Path) -> None:
    """Without an argument the organization is looked for here and above, and out/ lies beside it."""
    below = project / "docs" / "deep"
    below.mkdir(parents=True)
    assert _tenancy("compile", cwd=below).returncode == 0
    assert (project / "out" / "tenancy.lock").is_file()


def test_findings_are_status_1_and_nothing_is_written(project: Path) -> None:
    """An organization with an error is not compiled, not even in part."""
    path = project / "org" / "org.yaml"
    path.write_text(path.read_text().replace("l4: 8", "l4: 9"))
    done = _process("compile", cwd=project)
    assert done.returncode == 1
    assert "org/org.yaml:" in done.stderr
    assert done.stdout == ""
    assert not (project / "out").exists()


def test_usage_is_status_2(project: Path) -> None:
    """A misspelt command or option is neither clean nor a finding."""
    assert _process("compil", cwd=project).returncode == 2
    assert _tenancy("validate", "--fromat", "json", cwd=project).returncode == 2
    assert _tenancy("validate", "--today", "tomorrow", cwd=project).returncode == 2
    assert _tenancy("gpus", "H101", cwd=project).returncode == 2


@pytest.mark.parametrize("out", ["org", "org/templates/x", "org/../org/departments"])
def test_output_among_the_input_is_status_2(out: str, project: Path) -> None:
    """What is written would be read as part of the organization the next time; nothing is."""
    before = sorted(project.rglob("*"))
    assert _tenancy("compile", "-o", out, cwd=project).returncode == 2
    assert sorted(project.rglob("*")) == before


def test_models_are_completed(project: Path) -> None:
    """`tenancy gpus h2` offers the boards that begin so, in whatever case."""
    words = {"_TENANCY_COMPLETE": "bash_complete", "COMP_WORDS": "tenancy gpus h20", "COMP_CWORD": "2"}
    done = _process(cwd=project, **words)
    assert [line.removeprefix("plain,") for line in done.stdout.splitlines()] == [
        "H20-96GB",
        "H20-141GB",
        "H200-SXM-141GB",
        "H200-NVL-141GB",
    ]


def test_could_not_check_is_status_3(tmp_path: Path) -> None:
    """A missing organization is never clean."""
    done = _process("validate", "nowhere", cwd=tmp_path)
    assert done.returncode == 3
    assert "nowhere" in done.stdout


def test_an_internal_error_is_status_4_without_a_traceback(project: Path) -> None:
    """A fault of ours says so in two lines."""
    broken = "import tenancy.pipeline as p\ndef f(*a): raise RuntimeError('boom')\np.examine = f\n"
    script = broken + "import sys\nfrom tenancy.cli import run\nsys.exit(run(['validate']))"
    done = subprocess.run([sys.executable, "-c", script], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert "internal error: RuntimeError: boom" in done.stderr
    assert "Traceback" not in done.stderr


def test_check_fails_on_stale_output_and_writes_nothing(project: Path) -> None:
    """compile --check names what is not up to date."""
    assert _tenancy("compile", "--check", cwd=project).returncode == 1
    assert not (project / "out").exists()
    assert _tenancy("compile", cwd=project).returncode == 0
    assert _tenancy("compile", "--check", cwd=project).returncode == 0
    path = project / "org" / "org.yaml"
    path.write_text(path.read_text().replace("dev: {}", "dev: {}\n      ops: {}"))
    done = _tenancy("compile", "--check", cwd=project)
    assert done.returncode == 1
    assert "tenants/lab/ops.yaml" in done.stderr


def test_a_file_edited_by_hand_is_an_error_not_a_victim(project: Path) -> None:
    """compile refuses to overwrite it and says what to do."""
    assert _tenancy("compile", cwd=project).returncode == 0
    edited = project / "out" / "only" / "queues" / "organization" / "flavors.yaml"
    edited.write_text(edited.read_text() + "# by hand\n")
    path = project / "org" / "org.yaml"
    path.write_text(path.read_text().replace("nodes: 2", "nodes: 3"))
    done = _tenancy("compile", cwd=project)
    assert done.returncode == 1
    assert "output-edited" in done.stderr
    assert edited.read_text().endswith("# by hand\n")


def test_strict_counts_warnings(project: Path) -> None:
    """A warning is status 0, and 1 under --strict."""
    path = project / "org" / "org.yaml"
    path.write_text(path.read_text().replace("dev: {}", "dev: {expires: 2020-01-01}"))
    assert _tenancy("validate", "--today", "2026-06-15", cwd=project).returncode == 0
    assert _tenancy("validate", "--today", "2026-06-15", "--strict", cwd=project).returncode == 1


@pytest.mark.parametrize("format_", ["json", "sarif", "gitlab"])
def test_machine_formats_are_json_on_stdout(project: Path, format_: str) -> None:
    """Also when nothing was found, so that a CI step can always upload the file."""
    done = _tenancy("validate", "--format", format_, cwd=project)
    assert done.returncode == 0
    json.loads(done.stdout)


def test_colour_only_on_a_terminal(project: Path) -> None:
    """A pipe gets plain text."""
    path = project / "org" / "org.yaml"
    path.write_text(path.read_text().replace("nodes: 2", "nodez: 2"))
    assert "\x1b" not in _process("validate", cwd=project, FORCE_COLOR="").stdout


def test_gpus_draws_a_layout_or_says_why_not(tmp_path: Path) -> None:
    """--fit is status 0 for what fits and 1 for what cannot be."""
    good = _tenancy("gpus", "H100-SXM-80GB", "--fit", "3g.40gb=1,2g.20gb=1,1g.10gb=2", cwd=tmp_path)
    bad = _tenancy("gpus", "H100-SXM-80GB", "--fit", "4g.40gb=2", cwd=tmp_path)
    assert (good.returncode, bad.returncode) == (0, 1)
    assert "H100-SXM-80GB" in _tenancy("gpus", cwd=tmp_path).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(tmp_path: Path, shell: str) -> None:
    """Each shell's script calls the command back."""
    done = _tenancy("completion", shell, cwd=tmp_path)
    assert done.returncode == 0
    assert "_TENANCY_COMPLETE" in done.stdout


def test_schema_prints_what_is_committed(tmp_path: Path) -> None:
    """An editor may take the schema from the command or from schemas/."""
    for name in ("organization", "departments"):
        printed = _tenancy("schema", name, cwd=tmp_path).stdout
        assert printed == (ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")


def _with_gang(project: Path) -> None:
    """Let the organization promise what Volcano and Kubernetes alone lose."""
    path = project / "org" / "org.yaml"
    text = path.read_text().replace("dev: {}", "dev: {budget: {l4: 8}}")
    path.write_text(text + "policy: {borrowing: none, gang: {startTimeout: 10m}}\n")


def test_parity_shows_what_is_lost_and_is_status_0(project: Path) -> None:
    """Under the scheduler that is written, or another; as text or as data, all of it or only the losses."""
    _with_gang(project)
    written = _tenancy("parity", cwd=project)
    assert (written.returncode, written.stderr) == (0, "")
    assert written.stdout.startswith("only (kueue): ")
    assert ", 0 lost" in written.stdout
    tried = _tenancy("parity", "--to", "volcano", "--losses", cwd=project)
    assert (tried.returncode, tried.stderr) == (0, "")
    assert "accept: [gang-not-timed]" in tried.stdout
    every, losses = (
        json.loads(_tenancy("parity", "--to", "native", "--format", "json", *more, cwd=project).stdout)
        for more in ((), ("--losses",))
    )
    assert {each["fate"] for each in every} == {"kept", "differently", "lost"}
    assert losses == [each for each in every if each["fate"] != "kept"]


def test_parity_of_a_broken_organization_is_status_1(project: Path) -> None:
    """Its errors are shown instead, also those that only the other scheduler has a reason for."""
    path = project / "org" / "org.yaml"
    path.write_text(path.read_text().replace("l4: 8", "l4: 9"))
    done = _tenancy("parity", "--to", "volcano", cwd=project)
    assert (done.returncode, done.stdout) == (1, "")
    assert "error[" in done.stderr


def test_losses_are_errors_until_they_are_allowed(project: Path) -> None:
    """validate tries another scheduler; --allow-loss accepts for this run; a misspelt code is a usage error."""
    _with_gang(project)
    assert _tenancy("validate", cwd=project).returncode == 0
    refused = _tenancy("validate", "--to", "volcano", cwd=project)
    assert refused.returncode == 1
    assert "error[gang-not-timed]" in refused.stdout
    assert _tenancy("validate", "--to", "volcano", "--allow-loss", "gang-not-timed", cwd=project).returncode == 0
    misspelt = _tenancy("validate", "--to", "volcano", "--allow-loss", "gang-not-time", cwd=project)
    assert misspelt.returncode == 2
    assert "did you mean `gang-not-timed`?" in misspelt.stderr


def test_what_is_allowed_for_once_is_not_remembered(project: Path) -> None:
    """The next compilation and the next diff without it refuse again, though the output is up to date."""
    _with_gang(project)
    path = project / "org" / "org.yaml"
    path.write_text(path.read_text().replace("only: {", "only: {scheduler: volcano, ", 1))
    assert "scheduler: volcano" in path.read_text()
    allowed = ("--allow-loss", "gang-not-timed")
    assert _tenancy("compile", *allowed, cwd=project).returncode == 0
    assert _tenancy("compile", "--check", *allowed, cwd=project).returncode == 0
    assert _tenancy("diff", "--exit-code", *allowed, cwd=project).returncode == 0
    assert _tenancy("compile", cwd=project).returncode == 1
    assert _tenancy("diff", cwd=project).returncode == 1


def test_another_scheduler_is_tried_elsewhere(project: Path) -> None:
    """compile --to writes what it would be, whatever is remembered of what is written; and nothing of it is."""
    assert _tenancy("compile", cwd=project).returncode == 0
    assert "up to date" in _tenancy("compile", cwd=project).stderr
    assert "stale" in _tenancy("compile", "--check", "--to", "volcano", cwd=project).stderr
    assert _tenancy("compile", "--to", "volcano", "-o", "tried", cwd=project).returncode == 0
    assert (project / "tried" / "only" / "queues" / "default.yaml").is_file()
    assert _tenancy("compile", "-o", "tried", "--check", cwd=project).returncode == 1
