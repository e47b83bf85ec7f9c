"""The wheel works outside the checkout: its templates and schemas are inside."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_wheel_compiles_the_example_outside_the_checkout(tmp_path: Path) -> None:
    """Built, unpacked elsewhere and run from there, it writes the committed output."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    script = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import tenancy; from tenancy.__main__ import main; "
        "assert tenancy.__file__.startswith(sys.path[0]), tenancy.__file__; main()"
    )
    run = [sys.executable, "-c", script, str(site), "compile", str(ROOT / "org"), "-o", str(ROOT / "out"), "--check"]
    done = subprocess.run(run, cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
