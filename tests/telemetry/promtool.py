"""Prometheus' own checker and unit tests of rules, out of Debian's package: nothing of it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

ROOT: Final = Path(__file__).resolve().parents[2]
KEPT: Final = ROOT / ".cache" / "tools" / "prometheus"
UNPACKED: Final = KEPT / "usr" / "bin" / "promtool"


@cache
def find() -> str | None:
    """The program: on the path, unpacked before, or fetched now; None where it cannot be had."""
    if found := shutil.which("promtool"):
        return found
    if not UNPACKED.exists() and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        _fetch()
    return str(UNPACKED) if UNPACKED.exists() else None


def _fetch() -> None:
    """Several workers may do so at once: each unpacks for itself, and the first to be done is kept."""
    own = KEPT.with_name(f"{KEPT.name}.{os.getpid()}")
    own.mkdir(parents=True, exist_ok=True)
    if not _apt("download", "prometheus", folder=own):
        _apt("update", folder=own)
        _apt("download", "prometheus", folder=own)
    for package in own.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(own)], check=True)
        package.unlink()
        with suppress(OSError):
            own.rename(KEPT)
    shutil.rmtree(own, ignore_errors=True)


def _apt(*arguments: str, folder: Path) -> bool:
    command = ["apt-get", "-qq", *arguments]
    null = subprocess.DEVNULL
    return subprocess.run(command, cwd=folder, check=False, stdout=null, stderr=null).returncode == 0


def needed(program: str = "promtool") -> str:
    """The program, or another of the package; a skip where it cannot be had, a failure where CI insists."""
    promtool = find()
    found = shutil.which(program, path=str(Path(promtool).parent)) if promtool else None
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no {program}")
        raise AssertionError
    return found


def check(program: str, files: list[Path]) -> str:
    """What `promtool check rules` says against the files; empty where it says nothing."""
    run = subprocess.run([program, "check", "rules", *map(str, files)], capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else run.stdout + run.stderr


def run(program: str, files: list[Path], tests: list[dict[str, Any]], folder: Path) -> str:
    """What `promtool test rules` says against tests over the rules; empty where all is as expected."""
    path = folder / "test.yaml"
    whole = {"rule_files": [str(file) for file in files], "evaluation_interval": "1m", "tests": tests}
    path.write_text(yaml.dump(whole, Dumper=yaml.CSafeDumper, sort_keys=False), encoding="utf-8")
    done = subprocess.run([program, "test", "rules", str(path)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr
