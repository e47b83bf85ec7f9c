"""The guarded write: nothing of anybody else's is lost, and an interrupted run is repaired by the next."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tenancy.output import rules
from tenancy.output.lock import JOURNAL, LOCK
from tenancy.output.write import Written, survey, write

FIRST = {"a.yaml": "a: 1\n", "team/old.yaml": "o\n", "team/x.yaml": "x: 1\n", "gone/deep/y.yaml": "y\n"}
SECOND = {
    "a.yaml": "a: 2\n",
    "b.yaml": "",
    "team/x.yaml": "x: 1\n",
    "team/z.yaml": "z\n",
    "new/p.yaml": "p\n",
    "new/deep/q.yaml": "q" * 5000,
}
THIRD = {"a.yaml": "a: 3\n", "new/deep/q.yaml": "r", "gone/w.yaml": "w\n"}


def compiled(root: Path, files: dict[str, str]) -> Written:
    return write(root, files, survey(root, files))


def tree(root: Path) -> dict[str, str | None]:
    """Every path below the root with its text; None for a folder. Without the lock, which `sha256sum` covers."""
    return {
        path.relative_to(root).as_posix(): None if path.is_dir() else path.read_text()
        for path in root.rglob("*")
        if path.name != LOCK
    }


def exactly(files: dict[str, str]) -> dict[str, str | None]:
    parents = {p.as_posix(): None for path in files for p in Path(path).parents if p.name}
    return {**files, **parents}


def codes(root: Path, files: dict[str, str]) -> list[str]:
    """The refusals of a compilation, which must leave everything as it was."""
    before = tree(root)
    written = compiled(root, files)
    assert tree(root) == before
    assert (written.written, written.removed) == ((), ())
    return [diagnostic.code for diagnostic in written.diagnostics]


def test_the_tree_becomes_exactly_what_was_generated(tmp_path: Path) -> None:
    """New files are written, changed ones replaced, old ones deleted with the folders they leave empty."""
    root = tmp_path / "out"
    compiled(root, FIRST)
    assert tree(root) == exactly(FIRST)
    found = survey(root, SECOND)
    assert found.created == ("b.yaml", "new/deep/q.yaml", "new/p.yaml", "team/z.yaml")
    assert (found.changed, found.unchanged) == (("a.yaml",), ("team/x.yaml",))
    assert found.removed == ("gone/deep/y.yaml", "team/old.yaml")
    assert found.stale == tuple(sorted([*found.created, *found.changed, *found.removed, LOCK]))
    written = write(root, SECOND, found)
    assert written == Written(written=tuple(sorted(found.created + found.changed)), removed=found.removed)
    assert tree(root) == exactly(SECOND)


def test_a_second_run_touches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unchanged output is not stale, and writing it makes no system call that writes."""
    compiled(tmp_path, FIRST)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    for name in ("replace", "unlink", "write", "mkdir", "rmdir"):
        monkeypatch.setattr(os, name, lambda *_, **__: pytest.fail("touched"))
    assert survey(tmp_path, FIRST).stale == ()
    assert compiled(tmp_path, FIRST) == Written()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == times


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs coreutils")
def test_sha256sum_verifies_the_lock(tmp_path: Path) -> None:
    """`sha256sum -c --strict` accepts the lock and checks every file."""
    compiled(tmp_path, SECOND)
    done = subprocess.run(
        ["sha256sum", "-c", "--strict", LOCK], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stdout.count(": OK") == len(SECOND)


@pytest.mark.parametrize("files", [SECOND, FIRST, {}])
@pytest.mark.parametrize("path", ["a.yaml", "team/old.yaml"])
def test_a_hand_edit_is_refused(tmp_path: Path, files: dict[str, str], path: str) -> None:
    """An edited file is an error whether it would be replaced or deleted, and nothing else is written either."""
    compiled(tmp_path, FIRST)
    (tmp_path / path).write_text("by hand\n")
    assert codes(tmp_path, files) == ["output-edited"]
    (tmp_path / path).unlink()
    assert not compiled(tmp_path, files).diagnostics
    assert tree(tmp_path) == exactly(files)


def test_a_foreign_file_in_the_way_is_refused_and_one_elsewhere_is_left_alone(tmp_path: Path) -> None:
    """What tenancy did not write stays: in the way it is an error, elsewhere it is not looked at."""
    compiled(tmp_path, FIRST)
    (tmp_path / "gone/deep/README").write_text("mine\n")
    (tmp_path / "b.yaml").write_text("mine\n")
    assert codes(tmp_path, SECOND) == ["output-foreign"]
    (tmp_path / "b.yaml").unlink()
    compiled(tmp_path, SECOND)
    assert tree(tmp_path) == {**exactly(SECOND), "gone": None, "gone/deep": None, "gone/deep/README": "mine\n"}


def test_an_equal_file_is_adopted_untouched(tmp_path: Path) -> None:
    """A file that already holds what would be written keeps its time and is listed from then on, even if edited."""
    compiled(tmp_path, FIRST)
    for path in ("a.yaml", "team/z.yaml"):
        (tmp_path / path).write_text(SECOND[path])
        os.utime(tmp_path / path, ns=(1, 1))
    compiled(tmp_path, SECOND)
    assert [(tmp_path / path).stat().st_mtime_ns for path in ("a.yaml", "team/z.yaml")] == [1, 1]
    compiled(tmp_path, {})
    assert tree(tmp_path) == {}


def test_a_wrong_digest_of_an_equal_file_makes_the_lock_stale(tmp_path: Path) -> None:
    """Equal files do not hide a lock that lists another digest: it is written again."""
    compiled(tmp_path, {"a": "1", "b": "2"})
    good = (tmp_path / LOCK).read_text()
    (tmp_path / LOCK).write_text(good.replace(good.splitlines()[1][:64], "0" * 64))
    assert survey(tmp_path, {"a": "1", "b": "2"}).stale == (LOCK,)
    compiled(tmp_path, {"a": "1", "b": "2"})
    assert (tmp_path / LOCK).read_text() == good


def test_a_deleted_file_is_written_again(tmp_path: Path) -> None:
    """A listed file that is missing counts as changed."""
    compiled(tmp_path, FIRST)
    (tmp_path / "a.yaml").unlink()
    assert survey(tmp_path, FIRST).changed == ("a.yaml",)
    compiled(tmp_path, FIRST)
    assert tree(tmp_path) == exactly(FIRST)


def test_all_refusals_are_found_in_one_run(tmp_path: Path) -> None:
    """Edited, foreign, obstructed, linked and ill-named paths are reported together."""
    compiled(tmp_path, FIRST)
    (tmp_path / "a.yaml").write_text("by hand\n")
    (tmp_path / "b.yaml").write_text("mine\n")
    (tmp_path / "new").write_text("a file\n")
    (tmp_path / "team/z.yaml").mkdir()
    (tmp_path / "gone/deep/y.yaml").unlink()
    (tmp_path / "gone/deep/y.yaml").symlink_to("/etc/hostname")
    found = codes(tmp_path, {**SECOND, "../up": "", "A.yaml": ""})
    assert sorted(found) == [
        "output-edited",
        "output-foreign",
        "output-obstructed",
        "output-obstructed",
        "output-path",
        "output-path-clash",
        "output-symlink",
    ]


@pytest.mark.parametrize("files", [FIRST, {}], ids=["write", "delete"])
def test_nothing_is_written_or_deleted_through_a_link(tmp_path: Path, files: dict[str, str]) -> None:
    """A folder that became a link outside the root is refused once, and the folder it points to stays as it is."""
    root, outside = tmp_path / "out", tmp_path / "outside"
    compiled(root, FIRST)
    (root / "team").rename(outside)
    (root / "team").symlink_to(outside)
    assert codes(root, files) == ["output-symlink"]
    assert sorted(os.listdir(outside)) == ["old.yaml", "x.yaml"]


def test_the_root_may_be_a_link_but_not_a_file(tmp_path: Path) -> None:
    """Whoever made the output folder a link meant it; a file in its place is in the way."""
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    compiled(tmp_path / "out", FIRST)
    assert tree(tmp_path / "real") == exactly(FIRST)
    (tmp_path / "file").write_text("")
    assert {d.code for d in survey(tmp_path / "file", FIRST).refusals} == {"output-obstructed"}


def test_a_named_pipe_in_the_way_does_not_block(tmp_path: Path) -> None:
    """A pipe where a file must go is an obstacle, and opening it does not wait for a writer."""
    os.mkfifo(tmp_path / "a.yaml")
    assert [d.code for d in survey(tmp_path, FIRST).refusals] == ["output-obstructed"]


def test_a_lock_that_cannot_be_trusted_is_refused_alone(tmp_path: Path) -> None:
    """A corrupt lock is one refusal with its line and the way out, not a refusal for every file."""
    compiled(tmp_path, FIRST)
    (tmp_path / LOCK).write_text((tmp_path / LOCK).read_text() + "garbage\n")
    (diagnostic,) = compiled(tmp_path, SECOND).diagnostics
    assert diagnostic.code == "output-lock"
    assert (diagnostic.place.file, diagnostic.place.line) == (f"{tmp_path}/{LOCK}", len(FIRST) + 2)
    assert "git restore" in diagnostic.help


def test_a_missing_permission_is_a_diagnostic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be read or written is reported as could-not-check, without a traceback."""

    def refuse(name: Any, *_: Any, **__: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", name)

    monkeypatch.setattr(os, "open", refuse)
    found = survey(tmp_path, FIRST)
    assert {d.code for d in found.refusals} == {"output-unreadable"} <= rules.COULD_NOT_CHECK
    monkeypatch.undo()
    found = survey(tmp_path, FIRST)
    monkeypatch.setattr(os, "open", refuse)
    assert [d.code for d in write(tmp_path, FIRST, found).diagnostics] == ["output-unwritable"]


def test_a_full_disk_leaves_the_files_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk fills up while contents are prepared, no file has changed and what was prepared is gone."""
    compiled(tmp_path, FIRST)
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) == 5000:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    (diagnostic,) = compiled(tmp_path, SECOND).diagnostics
    assert (diagnostic.code, diagnostic.message) == (
        "output-unwritable",
        f"`{diagnostic.place.file}` cannot be written: no space left on device",
    )
    left = tree(tmp_path)
    assert left.pop(JOURNAL)
    assert left == exactly(FIRST)


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes a few bytes at a time still gets the whole content."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    compiled(tmp_path, SECOND)
    monkeypatch.undo()
    assert tree(tmp_path) == exactly(SECOND)


class Crash(BaseException):
    """The process dies: no handler of the code under test may catch it."""


OPERATIONS = ("open", "write", "close", "mkdir", "replace", "unlink", "rmdir", "lstat")


def crash_at(monkeypatch: pytest.MonkeyPatch, moment: int, error: Callable[[], BaseException]) -> Callable[[], int]:
    """Let file system operation number `moment` (from 1) fail, a write after half its bytes; returns the count."""
    count = 0

    def failing(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count != moment:
                return real(*args, **kwargs)
            if name == "write":
                real(args[0], args[1][: len(args[1]) // 2])
            if name == "close":
                real(*args)
            raise error()

        return call

    for name in OPERATIONS:
        monkeypatch.setattr(os, name, failing(name, getattr(os, name)))
    return lambda: count


def interrupted(root: Path, files: dict[str, str], moment: int, error: Callable[[], BaseException]) -> bool:
    """Write `files` with a failure at a moment; False if the write ended before it."""
    found = survey(root, files)
    with pytest.MonkeyPatch.context() as monkeypatch:
        count = crash_at(monkeypatch, moment, error)
        try:
            written = write(root, files, found)
        except Crash:
            return True
    failed = count() >= moment
    # A failed operation may have been one whose failure does not matter: then the write is complete and says so.
    assert failed or not written.diagnostics
    return failed


def fail() -> OSError:
    return OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("then", [SECOND, FIRST, THIRD], ids=["same", "back", "other"])
@pytest.mark.parametrize("error", [Crash, fail], ids=["crash", "error"])
@pytest.mark.parametrize("before", [FIRST, {}], ids=["update", "fresh"])
def test_the_next_run_repairs_an_interruption_at_any_point(
    tmp_path: Path, before: dict[str, str], error: Callable[[], BaseException], then: dict[str, str]
) -> None:
    """Whatever operation fails, the next run gets the exact tree, for the same input and for another one."""
    moment = 0
    while True:
        moment += 1
        root = tmp_path / str(moment)
        if before:
            compiled(root, before)
        if not interrupted(root, SECOND, moment, error):
            break
        assert compiled(root, then).diagnostics == (), moment
        assert tree(root) == exactly(then), moment
        assert survey(root, then).stale == (), moment
    assert moment > 40


def test_a_second_interruption_does_not_lose_what_the_first_wrote(tmp_path: Path) -> None:
    """Crashes in two runs with different inputs leave files of three generations, all of them known as ours."""
    for first in range(1, 70, 8):
        for second in range(1, 70, 8):
            root = tmp_path / f"{first}-{second}"
            compiled(root, FIRST)
            interrupted(root, SECOND, first, Crash)
            interrupted(root, THIRD, second, Crash)
            assert compiled(root, {"a.yaml": "a: 4\n"}).diagnostics == (), (first, second)
            assert tree(root) == {"a.yaml": "a: 4\n"}, (first, second)


def test_a_hand_edit_after_an_interruption_is_still_refused(tmp_path: Path) -> None:
    """Between a crash at any point and the next run no edit of any file of either generation becomes a victim."""
    moment = 0
    while True:
        moment += 1
        root = tmp_path / str(moment)
        compiled(root, FIRST)
        if not interrupted(root, SECOND, moment, Crash):
            break
        edited = [path for path in {**FIRST, **SECOND} if (root / path).exists()]
        for path in edited:
            kept = (root / path).read_text()
            (root / path).write_text(kept + "# by hand\n")
            known = path in FIRST or (root / JOURNAL).exists() or path in (root / LOCK).read_text()
            assert codes(root, SECOND) == ["output-edited" if known else "output-foreign"], (moment, path)
            (root / path).write_text(kept)
    assert moment > 40


def git(root: Path, *arguments: str) -> int:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *identity, *arguments], cwd=root, capture_output=True, check=False).returncode


def merged(root: Path, ours: dict[str, str], theirs: dict[str, str]) -> int:
    """Commit a base, two compilations on two branches, and merge them; returns git's exit status."""
    base = {name: "".join(f"{name}{line}\n" for line in range(9)) for name in ("a", "b", "c")}
    assert git(root, "init") == 0
    compiled(root / "out", base)
    git(root, "add", "-A")
    git(root, "commit", "-m", "base")
    git(root, "checkout", "-b", "theirs")
    for files, name in ((theirs, "theirs"), (ours, "ours")):
        if name == "ours":
            git(root, "checkout", "-b", "ours", "main")
        compiled(root / "out", base | files)
        git(root, "add", "-A")
        git(root, "commit", "-m", name)
    return git(root, "merge", "theirs")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_conflicted_lock_after_a_merge_is_repaired_by_compiling(tmp_path: Path) -> None:
    """Two branches changed neighbouring files: git leaves markers in the lock, and the next run just works."""
    assert merged(tmp_path, {"a": "ours\n"}, {"b": "theirs\n"}) == 1
    assert "<<<<<<<" in (tmp_path / "out" / LOCK).read_text()
    final = {"a": "ours\n", "b": "both\n", "d": "d\n"}
    assert compiled(tmp_path / "out", final).diagnostics == ()
    assert tree(tmp_path / "out") == exactly(final)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_files_merged_as_text_are_refused_and_the_help_works(tmp_path: Path) -> None:
    """A file that both branches changed belongs to neither; after the command in the help compiling works."""
    assert merged(tmp_path, {"a": "ours\n", "e": "e"}, {"a": "theirs\n", "f": "f"}) == 1
    final = {"a": "both\n", "b": "b\n"}
    (diagnostic,) = compiled(tmp_path / "out", final).diagnostics
    assert diagnostic.code == "output-edited"
    command = diagnostic.help.split("`")[1].split()
    assert git(tmp_path, *command[1:]) == 0
    assert compiled(tmp_path / "out", final).diagnostics == ()
    assert tree(tmp_path / "out") == exactly(final)
