"""Where the organization and its output are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click

_READ: Final = ("", "departments", "templates", "schemas")
"""Folders of an organization whose files are input."""


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
    """The output folder: as given, or out/ beside the organization's folder.

    Raises a usage error where the output would lie among the files of the organization.
    """
    folder = org.parent if org.is_file() else org
    if given is not None:
        target, read = given.resolve(), [(folder / name).resolve() for name in _READ]
        if target == read[0] or any(target.is_relative_to(each) for each in read[1:]):
            raise click.UsageError(f"the output cannot go to {str(given)!r}, where the organization is")
        return given
    return Path(os.path.relpath(folder.absolute().parent / "out"))
