"""The first stage: files -> one raw tree, with the place of every value in it."""

from tenancy.load.files import Loaded, load
from tenancy.load.rules import COULD_NOT_CHECK, RULES

__all__ = ["COULD_NOT_CHECK", "RULES", "Loaded", "load"]
