"""Where the organization and its output are."""

from __future__ import annotations

import os
from pathlib import Path


def organization(given: Path | None) -> Path:
    """The organization's folder: as given, or the nearest org/ that holds org.yaml, from here upwards."""
    if given is not None:
        return given
    here = Path.cwd()
    for folder in (here, *here.parents):
        for candidate in (folder / "org", folder):
            if (candidate / "org.yaml").is_file() or (candidate / "org.yml").is_file():
                return Path(os.path.relpath(candidate))
    return Path("org")


def output(given: Path | None, org: Path) -> Path:
    """The output folder: as given, or out/ beside the organization's folder."""
    if given is not None:
        return given
    folder = org.parent if org.is_file() else org
    return Path(os.path.relpath(folder.absolute().parent / "out"))
