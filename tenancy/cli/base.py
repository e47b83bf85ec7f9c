"""The group of all commands, and how a run ends: no exception of ours reaches the user as a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from tenancy import __version__
from tenancy.commands.status import Status

_EPILOG = """
Exit status: 0 clean; 1 findings, or differences under `compile --check` and `diff --exit-code`; 2 usage; 3 could not
check (a file or folder is missing or unreadable); 4 internal error.
"""


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit status; no exception of ours reaches the user as a traceback."""
    try:
        return int(main.main(args=list(arguments), prog_name="tenancy", standalone_mode=False) or 0)
    except click.exceptions.Abort:
        return Status.USAGE
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return Status.USAGE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left; its end is not our fault
        return Status.CLEAN
    except Exception as error:
        if os.environ.get("TENANCY_DEBUG"):
            raise
        click.echo(f"internal error: {type(error).__name__}: {error}", err=True)
        click.echo("This is a fault of tenancy, not of your organization. TENANCY_DEBUG=1 shows where.", err=True)
        return Status.INTERNAL


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="tenancy")
def main() -> None:
    """Compile an org chart of departments, teams, budgets and GPU flavors to a multi-tenant GPU cluster.

    ORG is the folder that holds org.yaml (or the file itself); by default the nearest org/, here or above.
    """
