"""Writing edited files: all or none, never through a link that leads out, never over somebody else's change."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tenancy.cli import run
from tenancy.edit.errors import Unwritable
from tenancy.edit.save import save

Capture = pytest.CaptureFixture[str]
BOTH = ["set", "acme", "departments.research.weight=3", "departments.product.weight=4"]


def _left(org: Path) -> list[str]:
    """Files that a run must not leave behind."""
    return [path.name for path in org.rglob(".tenancy-*")]


def test_the_mode_of_a_file_stays(org: Path) -> None:
    """A file that only its group may read stays one."""
    path = org / "org.yaml"
    path.chmod(0o640)
    assert run(["set", "flavors/h100", "price=2.90"]) == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert _left(org) == []


def test_a_byte_order_mark_and_line_ends_stay_on_the_disk(org: Path) -> None:
    """The bytes around the change are those of before."""
    path = org / "org.yaml"
    old = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(old)
    assert run(["set", "flavors/h100", "price=2.90"]) == 0
    assert path.read_bytes() == old.replace(b"3.20", b"2.90")


def test_a_link_inside_the_organization_stays_a_link(org: Path) -> None:
    """The file that it leads to is changed."""
    target = org / "root.yaml"
    (org / "org.yaml").rename(target)
    (org / "org.yaml").symlink_to("root.yaml")
    assert run(["set", "flavors/h100", "price=2.90"]) == 0
    assert (org / "org.yaml").is_symlink()
    assert "price: 2.90" in target.read_text()


def test_a_link_that_leads_out_is_not_followed(org: Path, tmp_path: Path, capsys: Capture) -> None:
    """Status 3, and the file outside stays; none of the other files is changed either."""
    outside = tmp_path / "shared.yaml"
    (org / "org.yaml").rename(outside)
    (org / "org.yaml").symlink_to(outside)
    old = outside.read_text()
    assert run(BOTH) == 3
    assert "`org/org.yaml` is a link to something outside `org`" in capsys.readouterr().err
    assert outside.read_text() == old
    assert "weight" not in (org / "departments" / "research.yaml").read_text()


def test_a_read_only_file_is_left_alone(org: Path, capsys: Capture) -> None:
    """Status 3, although a rename over it would work; no other file is changed."""
    path = org / "departments" / "research.yaml"
    path.chmod(0o444)
    assert run(BOTH) == 3
    assert "`org/departments/research.yaml` is read-only" in capsys.readouterr().err
    assert "weight: 4" not in (org / "org.yaml").read_text()
    assert _left(org) == []


def test_a_file_that_changed_meanwhile_is_left_alone(org: Path) -> None:
    """What was compared and shown is what is written, or nothing."""
    path = org / "org.yaml"
    old = path.read_text()
    path.write_text(old + "# somebody else\n")
    with pytest.raises(Unwritable, match="changed meanwhile"):
        save(org, {"org/org.yaml": old}, {"org/org.yaml": old.replace("3.20", "2.90")})
    assert path.read_text() == old + "# somebody else\n"


def test_a_change_at_the_last_moment_undoes_the_files_before(org: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second file changes while the first is being replaced: the first gets its old text back."""
    names = ["org/org.yaml", "org/departments/research.yaml"]
    before = {name: Path(name).read_text() for name in names}
    replace = os.replace

    def meddling(source: Path, target: Path) -> None:
        replace(source, target)
        if target.name == "org.yaml":
            Path(names[1]).write_text(before[names[1]] + "# somebody else\n")

    monkeypatch.setattr("tenancy.edit.save.os.replace", meddling)
    with pytest.raises(Unwritable, match=r"`org/departments/research.yaml` was changed meanwhile"):
        save(org, before, {name: f"{text}# ours\n" for name, text in before.items()})
    assert Path(names[0]).read_text() == before[names[0]]
    assert Path(names[1]).read_text() == before[names[1]] + "# somebody else\n"
    assert _left(org) == []


def test_a_full_disk_changes_nothing(org: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """It shows while the new texts are prepared; what was prepared is removed."""

    def full(descriptor: int) -> None:
        del descriptor
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tenancy.edit.save.os.fsync", full)
    old = (org / "org.yaml").read_text()
    assert run(["set", "flavors/h100", "price=2.90"]) == 3
    assert "nothing was written: no space left on device" in capsys.readouterr().err
    assert (org / "org.yaml").read_text() == old
    assert _left(org) == []


def test_what_an_earlier_run_left_is_no_obstacle(org: Path) -> None:
    """A run that was killed leaves a prepared text, which is ours."""
    (org / ".tenancy-org.yaml.tmp").write_text("half")
    assert run(["set", "flavors/h100", "price=2.90"]) == 0
    assert _left(org) == []


def test_an_organization_that_is_missing_is_status_3(tmp_path: Path) -> None:
    """As for every command that could not check."""
    assert run(["set", "acme", "name=x", "--org", str(tmp_path / "none")]) == 3
