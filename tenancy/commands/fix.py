"""Make the changes that findings propose."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import click

from tenancy.commands.changing import Asked, Made, change
from tenancy.commands.findings import status
from tenancy.commands.status import Status
from tenancy.commands.where import organization
from tenancy.diagnostics import Diagnostic, Edit, KeyPath
from tenancy.edit.compared import new_findings
from tenancy.edit.editing import Texts, edited
from tenancy.edit.errors import Refused
from tenancy.edit.words import sentence
from tenancy.pipeline import Examined, Options, examine

_LINE: Final = re.compile(r"(.+):([0-9]+)")
_MOST: Final = 20
"""Findings that are mended together because one hides the others."""

Wanted: TypeAlias = Callable[[Diagnostic], bool]


def fix(asked: Asked, selected: Sequence[str], *, all_: bool) -> Status:
    """List what could be mended, or mend what was selected."""
    if selected and all_:
        raise click.UsageError("--all mends everything: say it without a selection")
    if not selected and not all_:
        return _list(asked)
    return change(asked, lambda path, before: _mended(asked, path, before, selected, all_=all_))


def _list(asked: Asked) -> Status:
    found = examine(organization(asked.org), Options(today=asked.today))
    proposed = [each for each in found.diagnostics if each.edits]
    for each in proposed:
        click.echo(f"{each.place.file}:{each.place.line}: {each.severity}[{each.code}]: {each.message}")
        for edit in each.edits:
            click.echo(f"    {sentence(edit)}")
    others = len(found.diagnostics) - len(proposed)
    rest = f"; {others} more need a decision (`tenancy validate`)" if others else ""
    if proposed:
        click.echo(
            f"`tenancy fix --all` makes these changes, `tenancy fix CODE` or FILE:LINE some of them{rest}", err=True
        )
        return Status.FINDINGS
    click.echo(f"no finding has a change that is certain{rest}", err=True)
    return status(found.diagnostics)


@dataclass(slots=True)
class _Mending:
    """What was mended so far."""

    asked: Asked
    texts: Texts
    found: Examined
    edits: list[Edit] = field(default_factory=list)
    left: set[tuple[str, KeyPath]] = field(default_factory=set)
    said: list[str] = field(default_factory=list)

    def mend(self, finding: Diagnostic, wanted: Wanted) -> None:
        """Make the change of one finding, unless it stays or another one comes that is not mended with it."""
        try:
            texts, found, steps = self._mended(finding, wanted)
        except Refused as error:
            self.left.add(_key(finding))
            self.said.append(f"{_where(finding)} stays: {error}")
            return
        self.texts, self.found = texts, found
        for step in steps:
            self.edits += step.edits
            self.said.append(f"{_where(step)}: {'; '.join(map(sentence, step.edits))}")

    def _mended(self, finding: Diagnostic, wanted: Wanted) -> tuple[Texts, Examined, list[Diagnostic]]:
        """The texts without the finding, and without what it hid: a misspelt key keeps the laws silent."""
        texts, steps, waiting = self.texts, list[Diagnostic](), [finding]
        while waiting:
            texts = edited(texts, waiting[0].edits)
            steps.append(waiting[0])
            found = examine(texts.path, Options(today=self.asked.today, texts=texts.texts))
            if _key(waiting[0]) in map(_key, found.diagnostics):
                raise Refused("its change does not end it")
            every = [edit for step in steps for edit in step.edits]
            waiting = list(new_findings(self.found.diagnostics, found.diagnostics, every))
            other = next((each for each in waiting if not (each.edits and wanted(each))), None)
            if other is not None or len(steps) > _MOST:
                other = other or waiting[0]
                raise Refused(f"its change would bring {other.code}: {other.message}")
        return texts, found, steps


def _mended(asked: Asked, path: Path, before: Examined, selected: Sequence[str], *, all_: bool) -> Made:
    """Mend one finding after another, since each may end or move others, until nothing is proposed."""
    wanted = _wanted(before, selected, all_=all_)
    mending = _Mending(asked, Texts(path, sources=before.sources), before)
    while (finding := next((d for d in mending.found.diagnostics if _open(d, mending, wanted)), None)) is not None:
        mending.mend(finding, wanted)
    return Made(mending.texts, tuple(mending.edits), tuple(mending.said), left=bool(mending.left))


def _where(finding: Diagnostic) -> str:
    return f"{finding.place.file}:{finding.place.line}: {finding.code}"


def _open(finding: Diagnostic, mending: _Mending, wanted: Wanted) -> bool:
    return bool(finding.edits) and _key(finding) not in mending.left and wanted(finding)


def _key(finding: Diagnostic) -> tuple[str, KeyPath]:
    return finding.code, finding.place.path


def _wanted(before: Examined, selected: Sequence[str], *, all_: bool) -> Wanted:
    """Whether a finding is selected; one that was selected by its line is so wherever it moves. Raises Refused."""
    if all_:
        return lambda finding: bool(finding.edits)
    codes: set[str] = set()
    keys: set[tuple[str, KeyPath]] = set()
    for each in selected:
        place = _LINE.fullmatch(each)
        found = [finding for finding in before.diagnostics if _matches(finding, each, place)]
        if not found:
            raise Refused(f"there is no finding `{each}`; `tenancy fix` lists what can be mended")
        if not any(finding.edits for finding in found):
            raise Refused(f"no change is certain for `{each}`: {found[0].help or found[0].message}")
        codes |= set() if place else {each}
        keys |= {_key(finding) for finding in found} if place else set()
    return lambda finding: finding.code in codes or _key(finding) in keys


def _matches(finding: Diagnostic, selected: str, place: re.Match[str] | None) -> bool:
    if place is None:
        return finding.code == selected
    return finding.place.line == int(place[2]) and os.path.normpath(place[1]) == os.path.normpath(finding.place.file)
