"""Why a change is not made."""

from __future__ import annotations


class Refused(Exception):
    """The change cannot be made as it was asked for; the text says why and what to do instead."""


class Unwritable(Exception):
    """The files do not let themselves be changed: nothing was written."""


class Unlawful(Refused):
    """The change is clear, but the numbers of the organization do not allow it."""
