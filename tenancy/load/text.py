"""Files as text, and their names as diagnostics show them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tenancy.diagnostics import Diagnostic
from tenancy.load import rules, yaml


def shown(path: Path) -> str:
    """The path as a user would open it: as given, but relative to the current folder where it lies inside."""
    path = Path(os.path.normpath(path))
    if path.is_absolute():
        with contextlib.suppress(ValueError, OSError):
            path = path.relative_to(Path.cwd())
    return path.as_posix().encode(errors="replace").decode()


def read_text(path: Path, name: str) -> tuple[str, Diagnostic | None]:
    """The text of a file, without a byte order mark, or why there is none."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            return "", rules.unreadable(name, "it is no regular file")
        with open(path, "rb") as file:
            data = file.read(yaml.MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        return "", rules.unreadable(name, getattr(error, "strerror", None) or str(error))
    return rules.decoded(data, name, yaml.MAX_BYTES)
