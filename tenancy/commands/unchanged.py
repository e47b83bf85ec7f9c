"""Whether a compilation would have anything to do. Kept apart from it, so that a run that has not imports little."""

from __future__ import annotations

from pathlib import Path

from tenancy.commands.where import organization, output
from tenancy.output import stamp


def unchanged(org: Path | None, out: Path | None) -> Path | None:
    """The output folder, where an earlier run already settled that it is up to date; else None."""
    path = organization(org)
    root = output(out, path)
    stamp_key = stamp.key(path) if stamp.exists(root) else None
    return root if stamp_key is not None and stamp.unchanged(root, stamp_key) else None
