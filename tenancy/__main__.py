"""The entry point: run the command line and exit with its status."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line. A compilation makes few cycles and many values, so the collector only costs (a third)."""
    gc.disable()
    from tenancy.cli import run  # after the collector is off: importing makes values too

    status = run(sys.argv[1:])
    gc.freeze()  # else the interpreter looks for cycles once more as it ends, and everything is about to go anyway
    sys.exit(status)


if __name__ == "__main__":
    main()
