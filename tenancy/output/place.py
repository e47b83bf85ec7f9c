"""New files into a folder where others may be: none is ever replaced, and either all of them are written or none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path


def in_the_way(root: Path, names: Iterable[str]) -> tuple[str, ...]:
    """What is there already of these paths below `root`, or stands where a folder of theirs would be."""
    return tuple(sorted({found for name in names if (found := _obstacle(root, name))}))


def place(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their path below `root`, which is made if need be.

    Raises OSError, FileExistsError among others, once what was written until then is removed again. A process that is
    killed in between leaves files behind, each of them whole or empty.
    """
    made: list[Path] = []
    try:
        for name, content in files.items():
            target = root / name
            for folder in _missing(target.parent):
                folder.mkdir()
                made.append(folder)
            with target.open("xb") as file:
                made.append(target)
                file.write(content)
    except BaseException:  # an interrupt by the user, too
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()
        raise


def _obstacle(root: Path, name: str) -> str:
    path = root
    *folders, last = name.split("/")
    for folder in folders:
        path /= folder
        if not os.path.lexists(path):
            return ""
        if not path.is_dir():
            return path.relative_to(root).as_posix()
    return name if os.path.lexists(path / last) else ""


def _missing(folder: Path) -> Iterator[Path]:
    """Folders that are not there, the outermost first."""
    if not folder.exists():
        yield from _missing(folder.parent)
        yield folder
