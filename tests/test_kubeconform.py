"""The second witness: the real kubeconform accepts every object that we write, with our schemas and no network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tenancy.pipeline import Options, examine
from tenancy.plan import plan

ROOT = Path(__file__).parent.parent
FOLDERS = sorted([*(ROOT / "out").glob("*/"), *(ROOT / "tests" / "cases").glob("*/expected/*/*/")])


def versions(folder: Path) -> list[str]:
    """The options of tools/kubeconform.py for the output of one cluster, from the organization that it is made of."""
    example = folder.parent == ROOT / "out"
    org, scheduler = (ROOT / "org", "") if example else (folder.parents[2] / "org", folder.parent.name)
    found = examine(org, Options(scheduler=scheduler)).org
    assert found is not None
    [cluster] = [each for each in plan(found) if each.name == folder.name]
    said = {"--kueue": cluster.kueue, "--volcano": cluster.volcano}
    schedulers = [part for option, minor in said.items() if minor for part in (option, minor)]
    return ["--kubernetes", cluster.kubernetes, *(schedulers or ["--native"])]


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_kubeconform_accepts_every_object(folder: Path) -> None:
    """-strict: 0 invalid, 0 errors, 0 skipped, and something was looked at."""
    command = [sys.executable, "tools/kubeconform.py", str(folder), *versions(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    summary = re.search(r"Valid: (\d+), Invalid: (\d+), Errors: (\d+), Skipped: (\d+)", done.stdout + done.stderr)
    assert summary is not None, done.stdout + done.stderr
    assert int(summary[1]) > 0
    assert summary.groups()[1:] == ("0", "0", "0"), done.stdout
    assert done.returncode == 0
