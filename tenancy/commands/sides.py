"""The old side of a comparison: the output folder, a revision of git, or a running cluster."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from tenancy.backend import CODES
from tenancy.backend.manifest import Nonconforming
from tenancy.commands.findings import print_all, status
from tenancy.commands.nodes import unread
from tenancy.commands.status import Status
from tenancy.diagnostics import Diagnostic, Related, Severity
from tenancy.live.source import Unreadable
from tenancy.load.text import shown
from tenancy.model.hardware import Hardware
from tenancy.output import against, lock
from tenancy.output.revision import File, NotRead, Revision, revision, write
from tenancy.pipeline import Options, examine, generate
from tenancy.report.terminal import visible

OUT: Final = "out"
LIVE: Final = "live"
"""What `--against` takes beside a revision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """What a compilation is compared with."""

    files: Mapping[str, str]
    flavors: Mapping[str, Hardware] | None = None
    """Those of the old organization, where it is at hand: objects do not say what they cost."""
    notes: tuple[str, ...] = ()
    """What a reader of the plan has to know of this side."""


class NoSide(Exception):
    """There is nothing to compare with: what was found on the way says why."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__()
        self.diagnostics = diagnostics


def missing(error: NoSide | NotRead) -> Status:
    """Say why there is nothing to compare with. Raises a usage error for a revision that is none."""
    if isinstance(error, NoSide):
        print_all(error.diagnostics, None, 0, "text", stream=sys.stderr)
        return status(error.diagnostics)
    if error.mistaken:
        raise click.UsageError(f"--against: {visible(str(error))}") from error
    return unread(Unreadable(str(error)))


def of_output(root: Path, generated: Mapping[str, str]) -> Old:
    """The output folder, guarded as in `compile`. Raises `NoSide`."""
    found = against.out(root, generated)
    if found.refusals:
        raise NoSide(found.refusals)
    return Old(files=found.files)


def of_revision(name: str, org: Path, out: Path) -> Old:
    """The organization as a revision has it, compiled by today's tool; where that cannot read it, the output that was
    committed with it. Raises `NotRead` where there is neither."""
    folder = org.parent if org.is_file() else org
    found = revision(folder, name)
    committed = _committed(found, out)
    try:
        compiled = _compiled(found, folder, org)
    except NotRead as error:
        if committed is None:
            raise
        note = f"{error}; compared with its committed `{shown(out)}` instead, as it was compiled then"
        return Old(files=_verified(found, out, committed), notes=(note,))
    return replace(compiled, notes=tuple(_stale(compiled.files, committed, found, out)))


def _compiled(found: Revision, folder: Path, org: Path) -> Old:
    """Compile what a revision has. What it loses and what has expired was settled when it was merged."""
    inside = found.repository.inside(folder)
    files = found.files(inside) if inside is not None else {}
    if not files:
        raise NotRead(f"`{found.name}` has no `{shown(folder)}`")
    with TemporaryDirectory(prefix="tenancy-") as temporary:
        place = Path(temporary).resolve() / "org"
        place.mkdir()
        write(files, place)
        examined = examine(place / org.name if org != folder else place, Options(accepted=CODES))
        errors = [_placed(each, place, f"{found.name}:{inside}") for each in examined.diagnostics if _is_error(each)]
        if errors or examined.org is None:
            raise NotRead(_unread(found, folder, errors))
        try:
            generated = generate(examined.org, examined.custom, examined.plans)
        except Nonconforming as error:
            raise NotRead(f"`{shown(folder)}` of `{found.name}` cannot be compiled any more: {error}") from error
        return Old(files=generated, flavors=examined.org.flavors)


def _is_error(diagnostic: Diagnostic) -> bool:
    return diagnostic.severity is Severity.ERROR


def _unread(found: Revision, folder: Path, errors: list[Diagnostic]) -> str:
    text = f"`{shown(folder)}` of `{found.name}` is not what this version of tenancy reads"
    if not errors:
        return text
    first = errors[0]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{text}: {first.place.file}:{first.place.line}: {first.message} [{first.code}]{more}"


def _placed(diagnostic: Diagnostic, place: Path, name: str) -> Diagnostic:
    """With the names that git has for the files, which `git show` takes, in place of those of the temporary folder."""
    temporary, git = shown(place), name if name.endswith(":") else f"{name}/"

    def renamed(text: str) -> str:
        return text.replace(f"{temporary}/", git).replace(temporary, name)

    related = tuple(
        Related(renamed(each.label), replace(each.place, file=renamed(each.place.file))) for each in diagnostic.related
    )
    return replace(
        diagnostic,
        message=renamed(diagnostic.message),
        help=renamed(diagnostic.help),
        place=replace(diagnostic.place, file=renamed(diagnostic.place.file)),
        related=related,
    )


def _committed(found: Revision, out: Path) -> dict[str, File] | None:
    """The output folder of a revision; None where it has none, with a lock, in the repository of the organization."""
    inside = found.repository.inside(out)
    files = found.files(inside) if inside else {}
    return files if lock.LOCK in files else None


def _verified(found: Revision, out: Path, committed: Mapping[str, File]) -> dict[str, str]:
    """The files that the lock lists. Raises `NotRead` where they are not as the lock says: nothing is then known."""
    where = f"`{shown(out)}` of `{found.name}`"
    listing = lock.parse(committed[lock.LOCK].data)
    if listing.faults:
        raise NotRead(f"{where}: {lock.LOCK} {listing.faults[0].message}")
    texts: dict[str, str] = {}
    for path, digests in listing.digests.items():
        file = committed.get(path)
        if file is None or file.link or _digest(file.data) not in digests:
            raise NotRead(f"{where}: `{path}` is not what its {lock.LOCK} lists")
        try:
            texts[path] = file.data.decode()
        except UnicodeDecodeError as error:
            raise NotRead(f"{where}: `{path}` is not UTF-8") from error
    return texts


def _stale(compiled: Mapping[str, str], committed: Mapping[str, File] | None, found: Revision, out: Path) -> list[str]:
    """Whether the tool itself makes something else of the revision than was committed with it: no plan shows that."""
    if committed is None:
        return []
    digests = lock.parse(committed[lock.LOCK].data).digests
    paths = {path for path, text in compiled.items() if _digest(text.encode()) not in digests.get(path, ())}
    count = len(paths | (digests.keys() - compiled.keys()))
    if not count:
        return []
    files = "a file" if count == 1 else f"{count} files"
    return [
        f"`{shown(out)}` of `{found.name}` differs in {files} from what this version makes of it: no part of the plan"
    ]


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
