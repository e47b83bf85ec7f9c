"""The second witness: the real kubeconform accepts every object that we write, with our schemas and no network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CASES = sorted((ROOT / "tests" / "cases").glob("*/expected/kueue/*"))
FOLDERS = {
    ROOT / "out" / "train-eu": ("1.36", "0.19"),
    **{path: ("1.36", "0.19") for path in CASES if path.is_dir()},
    ROOT / "tests/cases/three-levels/expected/kueue/train": ("1.35", "0.17"),
    ROOT / "tests/cases/two-clusters/expected/kueue/train": ("1.35", "0.18"),
}


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_kubeconform_accepts_every_object(folder: Path) -> None:
    """-strict: 0 invalid, 0 errors, 0 skipped, and something was looked at."""
    kubernetes, kueue = FOLDERS[folder]
    command = [sys.executable, "tools/kubeconform.py", str(folder), "--kubernetes", kubernetes, "--kueue", kueue]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    summary = re.search(r"Valid: (\d+), Invalid: (\d+), Errors: (\d+), Skipped: (\d+)", done.stdout + done.stderr)
    assert summary is not None, done.stdout + done.stderr
    assert int(summary[1]) > 0
    assert summary.groups()[1:] == ("0", "0", "0"), done.stdout
    assert done.returncode == 0
