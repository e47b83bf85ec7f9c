"""The real kustomize builds every folder that an engine applies, and gives what the tests read by themselves."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.cluster.build import binary
from tests.cluster.versions import KUSTOMIZE
from tests.kustomize import NAME, build, identity

ROOT = Path(__file__).parent.parent.parent
OUTPUTS = (ROOT / "out", *(ROOT / "tests/cases/two-clusters/expected" / each for each in ("kueue", "volcano")))
FOLDERS = [
    path.parent
    for output in OUTPUTS
    for inside in ("apps/*", "argocd")
    for path in sorted(output.glob(f"*/{inside}/{NAME}"))
]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_kustomize_builds_what_an_application_applies(folder: Path) -> None:
    """The same objects, each once: it takes folders from outside of the one that it builds, and the files in these."""
    done = subprocess.run([str(binary(KUSTOMIZE)), "build", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = Counter(identity(obj) for obj in yaml.load_all(done.stdout, yaml.CSafeLoader))
    files = {path.as_posix(): path.read_text(encoding="utf-8") for path in folder.parents[1].rglob("*.yaml")}
    assert built == Counter(map(identity, build(files, folder.as_posix())))
