"""Types of values, and the options that several commands have."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import click
from click.shell_completion import CompletionItem

FORMATS = ("text", "json", "sarif", "github", "gitlab")
SCHEDULERS = ("kueue", "volcano", "native")
JOBS = (
    *("plain", "jobset", "pytorch", "tensorflow", "jax", "mpi", "ray", "trainjob", "leaderworkerset"),
    "vcjob",
    *("batch", "rayjob"),
)
"""The kinds of jobs that some scheduler has; the last two are what `plain` and `ray` were called before."""


class Day(click.ParamType[date]):
    """A day written as 2027-03-31."""

    name = "date"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """The day, or a usage error."""
        try:
            return value if isinstance(value, date) else date.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a date such as 2027-03-31", param, ctx)


class Layout(click.ParamType[dict[str, int]]):
    """A MIG layout written as 3g.40gb=1,1g.10gb=2."""

    name = "layout"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, int]:
        """The count of each profile, or a usage error."""
        if isinstance(value, dict):
            return value
        layout: dict[str, int] = {}
        for part in str(value).split(","):
            profile, _, count = part.strip().partition("=")
            if not profile or profile in layout or not (count.isascii() and count.isdecimal()):
                self.fail(f"{part!r} is not PROFILE=N, each profile once", param, ctx)
            layout[profile] = int(count)
        return layout


class Share(click.ParamType[str]):
    """A number of objects, or a part of all of them in percent."""

    name = "N|N%"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text as it is, or a usage error."""
        text = str(value)
        if text and not re.fullmatch(r"[0-9]+|[0-9]+(\.[0-9]+)?%", text):
            self.fail(f"{text!r} is neither a number such as 20 nor a part such as 10%", param, ctx)
        return text


class Amount(click.ParamType[tuple[str, str]]):
    """A part of a budget written as 1g.10gb=8 or memory=400Gi."""

    name = "amount"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """The key and the quantity, or a usage error."""
        if isinstance(value, tuple):
            return value
        key, _, quantity = str(value).partition("=")
        if not key.strip() or not quantity.strip():
            self.fail(f"{value!r} is not KEY=N, such as 1g.10gb=8", param, ctx)
        return key.strip(), quantity.strip()


class LossCode(click.ParamType[str]):
    """The code of a loss that some scheduler has."""

    name = "code"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The code, or a usage error that names the nearest."""
        from tenancy.backend import CODES
        from tenancy.check.wording import nearest

        if value not in CODES:
            hint = nearest(str(value), CODES).strip() or "`tenancy parity` shows those of your organization"
            self.fail(f"{value!r} is no loss of any scheduler; {hint}", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The codes that begin so."""
        from tenancy.backend import CODES

        del ctx, param
        return [CompletionItem(code) for code in CODES if code.startswith(incomplete)]


JOB = click.Choice(JOBS)
ORG = click.argument("org", required=False, type=click.Path(path_type=Path))
OUT = click.option("-o", "--out", type=click.Path(path_type=Path), help="The output folder (default: out/ beside ORG).")
FORMAT = click.option("--format", "format_", type=click.Choice(FORMATS), default="text", help="How findings are shown.")
CLUSTER = click.option("--cluster", help="The cluster of the organization (default: the only one).")
NODES = click.option(
    "--nodes", "file", type=click.Path(path_type=Path), help="Read `kubectl get nodes -o yaml`; - for stdin."
)
KUBECONFIG = click.option(
    "--kubeconfig", type=click.Path(path_type=Path), help="The kubeconfig (default: the one of kubectl)."
)
CONTEXT = click.option("--context", help="Its context (default: the current one).")
STRICT = click.option("--strict", is_flag=True, help="Count warnings as errors.")
TODAY = click.option(
    "--today", type=Day(), default=date.today, help="The day that `expires` dates are compared with (default: today)."
)
TO = click.option("--to", type=click.Choice(SCHEDULERS), help="Another scheduler for every cluster, to try it.")
ALLOW = click.option(
    "--allow-loss",
    "allowed",
    type=LossCode(),
    multiple=True,
    metavar="CODE",
    help="Accept what the scheduler does not keep, by the code of the finding; may be repeated.",
)
