"""A compilation whose input and output are settled does nothing, and anything that could matter unsettles it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tenancy import cli
from tenancy.output import stamp
from tenancy.resources import data_path

SMALLEST = Path(__file__).parent.parent / "cases" / "smallest" / "org"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An organization that has been compiled."""
    shutil.copytree(SMALLEST, tmp_path / "org")
    monkeypatch.chdir(tmp_path)
    assert cli.run(["compile"]) == 0
    return tmp_path


def _settled(project: Path) -> bool:
    key = stamp.key(project / "org")
    return key is not None and stamp.unchanged(project / "out", key)


def test_a_compiled_organization_is_settled(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The next run, and the next check, say so."""
    capsys.readouterr()
    assert _settled(project)
    assert (cli.run(["compile"]), cli.run(["compile", "--check"])) == (0, 0)
    assert capsys.readouterr().err == "out: up to date\nout: up to date\n"


def test_without_the_cache_everything_runs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--no-cache compiles and comes to the same."""
    capsys.readouterr()
    assert project.is_dir()
    assert cli.run(["compile", "--no-cache"]) == 0
    assert "out: 0 files written, 0 removed, " in capsys.readouterr().err


def _append(path: str) -> Callable[[Path], None]:
    def append(project: Path) -> None:
        with (project / path).open("a") as file:
            file.write("\n# touched\n")

    return append


def _write(path: str, text: str) -> Callable[[Path], None]:
    def write(project: Path) -> None:
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text)

    return write


@pytest.mark.parametrize(
    "change",
    [
        _append("org/org.yaml"),
        _write("org/departments/new.yaml", "x: 1\n"),
        _write("org/templates/team/new.yaml.j2", "x: 1\n"),
        _write("org/schemas/new.json", "{}"),
        _append("out/tenancy.lock"),
        _append("out/only/queues/organization/flavors.yaml"),
        lambda project: (project / "out/only/queues/organization/flavors.yaml").unlink(),
        _write("out/tenancy.lock.next", "anything"),
        lambda project: (project / "org/departments").symlink_to(project / "elsewhere"),
    ],
    ids=["input", "department", "template", "schema", "lock", "hand edit", "deleted", "journal", "link"],
)
def test_whatever_could_matter_unsettles_it(project: Path, change: Callable[[Path], None]) -> None:
    """The next run looks at everything again."""
    (project / "elsewhere").mkdir()
    change(project)
    assert not _settled(project)


def test_a_department_anywhere_in_the_folder_is_never_settled(project: Path) -> None:
    """A reference may lead to a file that no stamp looks at, so a change of it is always seen."""
    root = project / "org" / "org.yaml"
    (project / "org/teams").mkdir()
    head, department = root.read_text().split("departments:\n")
    kind = "apiVersion: tenancy/v1alpha1\nkind: Departments\ndepartments:\n"
    (project / "org/teams/a.yaml").write_text(kind + department)
    name = department.split(":")[0]
    root.write_text(f"{head}departments:\n{name}: {{file: teams/a.yaml}}\n")
    assert cli.run(["compile"]) == 0
    assert not _settled(project)


def test_a_root_of_another_name_unsettles_it(project: Path) -> None:
    """Where the organization is given as a file, a change of that file is seen."""
    root = project / "org" / "org.yaml"
    root = root.rename(root.with_name("acme.yaml"))
    assert cli.run(["compile", str(root)]) == 0
    before = stamp.key(root)
    root.write_text(root.read_text() + "\n# touched\n")
    assert before is not None
    assert stamp.key(root) != before


def test_another_tool_unsettles_it(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A change of the tool's own code, templates or schemas is a change of the input."""
    other = tmp_path / "templates"
    other.mkdir()
    (other / "new.j2").write_text("x")
    monkeypatch.setattr(
        "tenancy.output.stamp.data_path", lambda name: other if name == "templates" else data_path(name)
    )
    assert not _settled(project)


def test_an_organization_with_findings_is_never_settled(project: Path) -> None:
    """Its findings are shown every time."""
    path = project / "org" / "org.yaml"
    path.write_text(path.read_text().replace("    daemons: {cpu: 1, memory: 2Gi}\n", ""))
    assert cli.run(["compile"]) == 0
    assert not _settled(project)


def test_a_cache_that_cannot_be_written_costs_nothing_else(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The compilation itself is not affected."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cli.run(["compile"]) == 0
    assert not _settled(project)
