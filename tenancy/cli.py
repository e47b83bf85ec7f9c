"""The command line. Commands return an exit status; heavy modules are imported by the commands that need them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from datetime import date
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenancy import __version__

if TYPE_CHECKING:
    from tenancy.diagnostics import Diagnostic
    from tenancy.load.source import Sources
    from tenancy.pipeline import Examined

FORMATS = ("text", "json", "sarif", "github", "gitlab")
_FORMAT = click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="text", help="How findings are shown."
)
_ORG = click.argument("org", required=False, type=click.Path(path_type=Path))
_STRICT = click.option("--strict", is_flag=True, help="Count warnings as errors.")


class Status(IntEnum):
    """What the process exits with. "Could not check" is never "clean"."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    UNCHECKED = 3
    INTERNAL = 4


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


@main.command(epilog="Example: tenancy validate org --format sarif > findings.sarif")
@_ORG
@_FORMAT
@_STRICT
@click.option("--today", metavar="DATE", help="The day that `expires` dates are compared with (default: today).")
def validate(org: Path | None, format_: str, strict: bool, today: str | None) -> int:
    """Check the organization and write nothing."""
    from tenancy.pipeline import examine

    found = examine(_org(org), _day(today))
    _show(found, format_, stream=sys.stdout)
    return _status(found, strict)


@main.command(name="compile", epilog="Example: tenancy compile org -o out --check")
@_ORG
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The output folder (default: out/ beside ORG).")
@click.option("--check", is_flag=True, help="Write nothing; fail if the output folder is not up to date.")
@_FORMAT
@_STRICT
def compile_(org: Path | None, out: Path | None, check: bool, format_: str, strict: bool) -> int:
    """Check the organization and write the objects of every cluster.

    Only files that out/tenancy.lock lists are ever replaced or removed; a file edited by hand is an error.
    """
    from tenancy.output.write import survey, write
    from tenancy.pipeline import examine, generate

    path = _org(org)
    found = examine(path)
    _show(found, format_, stream=sys.stderr, quiet=True)
    status = _status(found, strict)
    if status is not Status.CLEAN or found.org is None:
        return status
    root = out or _beside(path)
    files = generate(found.org, found.custom)
    surveyed = survey(root, files)
    if surveyed.refusals:
        return _refused(surveyed.refusals, format_)
    if check:
        return _report_stale(root, surveyed.stale)
    written = write(root, files, surveyed)
    if written.diagnostics:
        return _refused(written.diagnostics, format_)
    unchanged = len(files) - len(written.written)
    click.echo(
        f"{root}: {_count(len(written.written), 'file')} written, {len(written.removed)} removed, {unchanged} unchanged",
        err=True,
    )
    return Status.CLEAN


@main.command(epilog="Example: tenancy diff org --exit-code")
@_ORG
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The output folder (default: out/ beside ORG).")
@click.option(
    "--against", default="out", show_default=True, help="What to compare with: the files of the output folder."
)
@click.option("--format", "format_", default="text", show_default=True, help="How the plan is shown.")
@click.option("--objects/--no-objects", default=True, show_default=True, help="Whether to list the objects, too.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 where anything differs.")
@click.option("--today", metavar="DATE", help="The day that `expires` dates are compared with (default: today).")
def diff(
    org: Path | None, out: Path | None, against: str, format_: str, objects: bool, exit_code: bool, today: str | None
) -> int:
    """Show what `compile` would change: in promises, namespaces, access and cost, then in objects."""
    from tenancy.output.against import out as committed
    from tenancy.output.comparison import compare
    from tenancy.output.plan_text import text
    from tenancy.pipeline import examine, generate

    _only("--against", against, "out")
    _only("--format", format_, "text")
    path = _org(org)
    found = examine(path, _day(today))
    _show(found, "text", stream=sys.stderr, quiet=True)
    status = _status(found, strict=False)
    if status is not Status.CLEAN or found.org is None:
        return status
    files = generate(found.org, found.custom)
    old = committed(out or _beside(path), files)
    if old.refusals:
        return _refused(old.refusals, "text")
    plan = compare(old.files, files, found.org.flavors)
    if plan.diagnostics:
        _print(plan.diagnostics, None, 0, "text", sys.stderr)
        return Status.UNCHECKED
    click.echo(text(plan, colour=_colour(sys.stdout), width=_width(), objects=objects), nl=False)
    return Status.FINDINGS if exit_code and plan.changes else Status.CLEAN


@main.command(epilog="Example: tenancy schema organization > organization.schema.json")
@click.argument("name", type=click.Choice(("organization", "departments")), default="organization")
def schema(name: str) -> int:
    """Print the JSON Schema of org.yaml, or of the files under departments/, for editors."""
    from tenancy.model.schema import text

    click.echo(text(name), nl=False)
    return Status.CLEAN


@main.command(epilog="Example: tenancy gpus H100-SXM-80GB --fit 3g.40gb=1,2g.20gb=1,1g.10gb=2")
@click.argument("model", required=False)
@click.option("--fit", metavar="PROFILE=N,…", help="Draw this MIG layout of one GPU, or say why it cannot be.")
def gpus(model: str | None, fit: str | None) -> int:
    """Show the GPU catalogue, or the MIG profiles of one MODEL."""
    from tenancy.model.gpus import CATALOGUE
    from tenancy.report.gpus import catalogue_text, fit_text, gpu_text

    if model is None:
        if fit is not None:
            raise click.UsageError("--fit needs a MODEL")
        click.echo(catalogue_text(CATALOGUE.values()), nl=False)
        return Status.CLEAN
    if model not in CATALOGUE:
        raise click.UsageError(f"no GPU {model!r} in the catalogue{_nearest(model, CATALOGUE)}")
    if fit is None:
        click.echo(gpu_text(CATALOGUE[model]), nl=False)
        return Status.CLEAN
    text, fits = fit_text(CATALOGUE[model], _layout(fit))
    click.echo(text, nl=False)
    return Status.CLEAN if fits else Status.FINDINGS


@main.command(epilog='Example: eval "$(tenancy completion bash)"')
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> int:
    """Print the completion script for a shell."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(found(main, {}, "tenancy", "_TENANCY_COMPLETE").source())
    return Status.CLEAN


def _org(given: Path | None) -> Path:
    """The organization's folder: as given, or the nearest org/ that holds org.yaml, from here upwards."""
    if given is not None:
        return given
    here = Path.cwd()
    for folder in (here, *here.parents):
        for candidate in (folder / "org", folder):
            if (candidate / "org.yaml").is_file() or (candidate / "org.yml").is_file():
                return Path(os.path.relpath(candidate))
    return Path("org")


def _beside(org: Path) -> Path:
    """out/ beside the organization's folder."""
    folder = org.parent if org.is_file() else org
    return Path(os.path.relpath((folder.absolute()).parent / "out"))


def _day(text: str | None) -> date:
    if text is None:
        return date.today()
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not a date such as 2027-03-31", param_hint="--today") from error


def _only(option: str, value: str, known: str) -> None:
    if value != known:
        raise click.UsageError(f"{option} {value} is not supported yet; there is {option} {known}")


def _layout(text: str) -> dict[str, int]:
    layout: dict[str, int] = {}
    for part in text.split(","):
        profile, equals, count = part.strip().partition("=")
        if not equals or not count.isascii() or not count.isdigit() or not profile or profile in layout:
            raise click.BadParameter(f"{part!r} is not PROFILE=N, each profile once", param_hint="--fit")
        layout[profile] = int(count)
    return layout


def _nearest(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), 1, 0.5)
    return f"; did you mean {near[0]!r}?" if near else "; `tenancy gpus` lists it"


def _show(found: Examined, format_: str, *, stream: Any, quiet: bool = False) -> None:
    if quiet and not found.diagnostics and format_ == "text":
        return
    _print(found.diagnostics, found.sources, found.silenced, format_, stream)


def _print(
    diagnostics: Sequence[Diagnostic], sources: Sources | None, silenced: int, format_: str, stream: Any
) -> None:
    from tenancy.report import FORMATS as VIEWS
    from tenancy.report import Report
    from tenancy.report.text import text

    report = Report(tuple(diagnostics), sources, silenced, __version__)
    if format_ == "text":
        shown = text(report, colour=_colour(stream), width=_width())
    else:
        shown = VIEWS[format_](report)
    click.echo(shown, file=stream, nl=False)


def _colour(stream: Any) -> bool:
    return bool(stream.isatty()) and not os.environ.get("NO_COLOR")


def _width() -> int:
    from shutil import get_terminal_size

    return min(get_terminal_size((100, 24)).columns, 120)


def _status(found: Examined, strict: bool) -> Status:
    from tenancy.diagnostics import Severity
    from tenancy.load import COULD_NOT_CHECK

    if any(diagnostic.code in COULD_NOT_CHECK for diagnostic in found.diagnostics):
        return Status.UNCHECKED
    weighty = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    return Status.FINDINGS if any(each.severity in weighty for each in found.diagnostics) else Status.CLEAN


def _refused(refusals: Sequence[Diagnostic], format_: str) -> Status:
    from tenancy.output.rules import COULD_NOT_CHECK

    _print(refusals, None, 0, format_, sys.stderr)
    return Status.UNCHECKED if any(each.code in COULD_NOT_CHECK for each in refusals) else Status.FINDINGS


def _report_stale(root: Path, stale: Sequence[str]) -> Status:
    if not stale:
        click.echo(f"{root}: up to date", err=True)
        return Status.CLEAN
    for path in stale:
        click.echo(f"stale: {root / path}", err=True)
    click.echo(f"{_count(len(stale), 'file')} not up to date; run `tenancy compile`", err=True)
    return Status.FINDINGS


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
