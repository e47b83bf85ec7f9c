"""Views of diagnostics. Each is a pure function from a `Report` to the text that is written out, line end included."""

from __future__ import annotations

from collections.abc import Callable

from tenancy.report import github, gitlab, json, sarif, text
from tenancy.report.report import Counts, Report

FORMATS: dict[str, Callable[[Report], str]] = {
    "text": text.text,
    "json": json.json,
    "sarif": sarif.sarif,
    "github": github.github,
    "gitlab": gitlab.gitlab,
}
"""The formats of `--format`, in the order in which help lists them. `text.text` also takes `colour` and `width`."""

__all__ = ["FORMATS", "Counts", "Report"]
