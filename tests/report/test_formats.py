"""What holds for every format."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tenancy.report import FORMATS, Counts

from .build import IDLE, SPARE, finding, place, report

PROGRAM = """
from tenancy.diagnostics import Diagnostic, Place, Rule, Severity
from tenancy.load.source import SourceFile, Sources
from tenancy.report import FORMATS, Report

names = [f"file{number}.yaml" for number in range(9)]
sources = Sources(tuple(SourceFile(name, "a: 1") for name in names), {}, {})
found = [
    Diagnostic(rule=Rule(f"rule.{name}", severity, "t", "w"), message=name, place=Place(name, 1, 1, 1, 2, (name,)))
    for name in names
    for severity in Severity
]
for view in FORMATS.values():
    print(view(Report(tuple(found), sources, 1, "1.0")))
"""


def test_names() -> None:
    """The formats are those of the command line, in the order in which help lists them."""
    assert list(FORMATS) == ["text", "json", "sarif", "github", "gitlab"]


def test_counts() -> None:
    """A report counts its diagnostics by severity and takes over what was silenced."""
    at = place(1, 1, 2)
    found = report(finding(at), finding(at, rule=IDLE), finding(at), finding(at, rule=SPARE), silenced=4)
    assert found.counts == Counts(errors=2, warnings=1, notes=1, silenced=4)


@pytest.mark.parametrize("name", ["\ud800.yaml", "\x1b[2J.yaml"])
@pytest.mark.parametrize("format_name", FORMATS)
def test_hostile_file_name(format_name: str, name: str) -> None:
    """A file name that is no Unicode text or drives a terminal fails no view and is never written raw."""
    written = FORMATS[format_name](report(finding(place(1, 1, 2, file=name))))
    assert "\x1b" not in written
    assert written.encode("utf-8").endswith(b"\n")


def test_determinism() -> None:
    """Two processes with different hash seeds write the same bytes in every format."""
    runs = [
        subprocess.run([sys.executable, "-c", PROGRAM], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.count(b"rule.file8.yaml") > 10
