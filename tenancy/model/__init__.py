"""The organization as typed values: the language, the hardware, the tree of units with its promises."""

from __future__ import annotations

from tenancy.model.rules import RULES

__all__ = ["RULES"]
