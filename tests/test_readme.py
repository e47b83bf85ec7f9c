"""The tour of the README is real: its commands are run, in order, and print what it shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ELLIPSIS = "…"


def _steps(text: str) -> list[tuple[str, list[str]]]:
    """Each command of the console blocks with the lines that are shown below it."""
    steps: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], []))
            else:
                steps[-1][1].append(line)
    return steps


def test_the_tour_prints_what_the_readme_shows(tmp_path: Path) -> None:
    """A line of `…` stands for any lines."""
    for folder in ("org", "out"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    steps = _steps((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(steps) > 4
    for command, shown in steps:
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        printed = done.stdout.decode()
        parts = "\n".join(shown).rstrip("\n").split(f"\n{ELLIPSIS}\n")
        pattern = r"\n(?:.*\n)*?".join(re.escape(part) for part in parts)
        assert re.fullmatch(pattern, printed.rstrip("\n")), f"$ {command}\n{printed}"
