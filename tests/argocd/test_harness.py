"""The means of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.argocd.repository import OUT, Repository
from tests.cluster import build


@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("", 0)])
def test_a_machine_without_redis_and_apt_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, ci: str, status: int
) -> None:
    """It is a failure where CI insists, and never a silent pass."""
    monkeypatch.setattr(build, "TOOLS", {})
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", ci)
    assert build.main(["--argocd"]) == status
    assert "there is no `redis-server`, and apt-get does not bring it" in capsys.readouterr().err


def test_a_commit_is_the_whole_output(tmp_path: Path) -> None:
    """What was there before and is not in it is gone, and the same output again is a commit too."""
    repository = Repository(tmp_path / "org")
    first = repository.commit({"a/old.yaml": "1", "a/kept.yaml": "1"})
    second = repository.commit({"a/kept.yaml": "2"})
    assert [path.name for path in (tmp_path / "org" / OUT / "a").iterdir()] == ["kept.yaml"]
    assert len({first, second, repository.commit({"a/kept.yaml": "2"})}) == 3
