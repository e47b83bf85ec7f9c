"""The organization of these tests, on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.edit.organizations import FILES


@pytest.fixture
def org(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the organization, in a current folder of its own: file names are short."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    monkeypatch.chdir(tmp_path)
    return Path("org")
