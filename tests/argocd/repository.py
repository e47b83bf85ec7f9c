"""The repository that Argo CD follows: a folder on this machine, in which `out/` is committed as a pipeline does it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BRANCH: Final = "main"
OUT: Final = "out"
"""The folder of the output, as `gitops.path` has it by default."""
ENVIRONMENT: Final = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "test-bed" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with one branch."""

    folder: Path

    @property
    def url(self) -> str:
        """Where Argo CD finds it."""
        return f"file://{self.folder}"

    def commit(self, files: Mapping[str, str]) -> str:
        """Make exactly these files the content of `out/`; the commit, which may be an empty one."""
        if not self.folder.exists():
            self.folder.mkdir(parents=True)
            self._git("init", "--quiet", "--initial-branch", BRANCH)
        shutil.rmtree(self.folder / OUT, ignore_errors=True)
        for name, text in files.items():
            path = self.folder / OUT / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message", "compile")
        return self._git("rev-parse", "HEAD").strip()

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.folder), *arguments]
        environment = {**os.environ, **ENVIRONMENT}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
