"""Grafana's types with the compiler that checks against them, and its library of data, from npm: no server is at hand.

`make test-telemetry` installs both, and CI; other runs use them where they are.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
TOOLS: Final = ROOT / ".cache" / "tools"
TYPES: Final = ("@grafana/schema@13.2.3", "typescript@7.0.2")
DATA: Final = ("@grafana/data@13.2.3", "react@19.3.1", "rxjs@7.8.2")
BOARD: Final = Path(__file__).with_name("board.ts")
ANSWER: Final = Path(__file__).with_name("board.cjs")
FLAGS: Final = ("--noEmit", "--skipLibCheck", "--strict", "--module", "nodenext", "--moduleResolution", "nodenext")


def install(packages: Sequence[str]) -> None:
    """Into a folder of their own. Several workers may do so at once: each for itself, the first to be done is kept."""
    kept = _folder(packages)
    own = kept.with_name(f"{kept.name}.{os.getpid()}")
    own.mkdir(parents=True)
    (own / "package.json").write_text("{}", encoding="utf-8")
    quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps", "--fetch-retries=1")
    if subprocess.run(["npm", "install", *quiet, *packages], cwd=own, check=False).returncode == 0:
        with suppress(OSError):
            own.rename(kept)
    shutil.rmtree(own, ignore_errors=True)


def needed(packages: Sequence[str]) -> Path:
    """The folder with the packages, or a skip where they are not there; a failure where CI cannot have them."""
    kept = _folder(packages)
    if not kept.exists() and os.environ.get("CI") and shutil.which("npm"):
        install(packages)
    if not kept.exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("`make test-telemetry` installs Grafana's packages")
    return kept / "node_modules"


def mistakes(packages: Path, boards: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """What the compiler says against dashboards, by name; nothing of those that are as Grafana wants them."""
    (folder / "node_modules").symlink_to(packages)
    (folder / BOARD.name).symlink_to(BOARD)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    for name, board in boards.items():
        text = json.dumps(board, indent=1)
        source = f'import type {{ Board }} from "./board.js";\nexport const board = {text} satisfies Board;\n'
        (folder / f"{name}.ts").write_text(source, encoding="utf-8")
    names = [BOARD.name, *(f"{name}.ts" for name in boards)]
    command = [str(packages / ".bin" / "tsc"), *FLAGS, "--preserveSymlinks", *names]
    run = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    found: dict[str, str] = {}
    for part in re.split(r"^(?=\S)", run.stdout + run.stderr, flags=re.MULTILINE):
        if part:
            name = part.partition(".ts")[0]
            found[name] = found.get(name, "") + part
    return found


def answers(packages: Path, asked: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What Grafana's library makes of panels with these frames of data: the columns, and what it does not know."""
    environment = {**os.environ, "NODE_PATH": str(packages)}
    run = subprocess.run(
        ["node", str(ANSWER)], input=json.dumps(asked), env=environment, check=True, capture_output=True, text=True
    )
    found: list[dict[str, Any]] = json.loads(run.stdout)
    return found


def _folder(packages: Sequence[str]) -> Path:
    return TOOLS / "-".join(each.rpartition("/")[2].replace("@", "-") for each in packages)


if __name__ == "__main__":
    if not shutil.which("npm"):
        raise SystemExit("npm is not installed: tests of dashboards against Grafana's packages need it")
    for each in (TYPES, DATA):
        if not _folder(each).exists():
            install(each)
