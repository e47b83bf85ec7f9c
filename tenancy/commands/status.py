"""What the process exits with."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """ "Could not check" is never "clean"."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    UNCHECKED = 3
    INTERNAL = 4
