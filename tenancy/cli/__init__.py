"""The command line: names, options and help. What a command does is in `tenancy.commands`, imported when it runs,
so that `--help` and `--version` stay fast.

A new command goes to the module of its kind; a new module is imported here.
"""

from tenancy.cli import clusters, editing, jobs, organization, reference, starting
from tenancy.cli.base import main, run

__all__ = ["clusters", "editing", "jobs", "main", "organization", "reference", "run", "starting"]
