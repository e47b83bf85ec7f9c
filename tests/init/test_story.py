"""The story of docs/story.md is real: its commands are run, in order, and print what it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.init.runner import ROOT, environment
from tests.test_readme import ELLIPSIS, _steps


@pytest.mark.slow
def test_the_story_prints_what_the_page_shows(tmp_path: Path) -> None:
    """A line of `…` stands for any lines; the commands run in one shell."""
    steps = _steps((ROOT / "docs" / "story.md").read_text(encoding="utf-8"))
    assert len(steps) > 10
    settings = environment({}) | {"PATH": f"{Path(sys.executable).parent}:{environment({})['PATH']}"}
    folder = tmp_path
    for command, shown in steps:
        if command.startswith("cd "):
            folder /= command.removeprefix("cd ")
            continue
        done = subprocess.run(
            command, shell=True, cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        printed = done.stdout.decode().rstrip("\n")
        lines = [r"(?:.*\n)*?" if line == ELLIPSIS else re.escape(line) + r"\n" for line in shown]
        assert re.fullmatch("".join(lines), f"{printed}\n" if printed else ""), f"$ {command}\n{printed}"
