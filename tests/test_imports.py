"""What start-up may import: a person who asks for help waits for Python and click, for nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = frozenset({"pydantic", "yaml", "jinja2", "jsonschema", "jsonschema_rs", "kubernetes", "ruamel", "rich"})
"""Packages that take tens of milliseconds to import."""

_PROGRAM = """
import sys
from tenancy.cli import run
status = run(sys.argv[1:])
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(status)
"""


def _imported(*arguments: str) -> set[str]:
    """The packages that a fresh process has imported once it has run `tenancy` with the arguments."""
    command = [sys.executable, "-c", _PROGRAM, *arguments]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stderr.split())


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_import_nothing_heavy(argument: str) -> None:
    """`--help` and `--version` import none of the heavy packages."""
    imported = _imported(argument)
    assert "click" in imported
    assert not imported & HEAVY


def test_the_measure_sees_heavy_packages() -> None:
    """A command that reads the language does import pydantic, so the test above can fail."""
    assert "pydantic" in _imported("schema")
