"""The command line as a user meets it: whole processes, their exit status and what they print."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SMALLEST = ROOT / "tests" / "cases" / "smallest" / "org"


def _tenancy(*arguments: str, cwd: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tenancy", *arguments],
        cwd=cwd,
        env={**os.environ, **extra},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with an organization in org/."""
    shutil.copytree(SMALLEST, tmp_path / "org")
    return tmp_path


def test_a_clean_organization_is_status_0(project: Path) -> None:
    """validate says so and exits 0."""
    done = _tenancy("validate", cwd=project)
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
    done = _tenancy("compile", cwd=project)
    assert done.returncode == 1
    assert "org/org.yaml:" in done.stderr
    assert done.stdout == ""
    assert not (project / "out").exists()


def test_usage_is_status_2(project: Path) -> None:
    """A misspelt command or option is neither clean nor a finding."""
    assert _tenancy("compil", cwd=project).returncode == 2
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
    done = _tenancy(cwd=project, **words)
    assert [line.removeprefix("plain,") for line in done.stdout.splitlines()] == [
        "H20-96GB",
        "H200-SXM-141GB",
        "H200-NVL-141GB",
    ]


def test_could_not_check_is_status_3(tmp_path: Path) -> None:
    """A missing organization is never clean."""
    done = _tenancy("validate", "nowhere", cwd=tmp_path)
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
    edited = project / "out" / "only" / "queues" / "flavors.yaml"
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
    assert "\x1b" not in _tenancy("validate", cwd=project, FORCE_COLOR="").stdout


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
