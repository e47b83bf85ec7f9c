"""The old side of a comparison. Each way to get one returns files as text by path, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tenancy.diagnostics import Diagnostic
from tenancy.output import rules
from tenancy.output.write import survey


@dataclass(frozen=True, slots=True)
class Against:
    """The files of the old side; of no use where there are refusals."""

    files: Mapping[str, str]
    refusals: tuple[Diagnostic, ...] = ()


def out(root: Path, generated: Mapping[str, str]) -> Against:
    """The files of tenancy's own in the output folder, guarded as in `compile`: what one refuses, so does the other.

    Files that equal the generated ones are not read again. A folder that does not exist holds nothing.
    """
    surveyed = survey(root, generated)
    if surveyed.refusals:
        return Against({}, surveyed.refusals)
    files = {path: generated[path] for path in surveyed.unchanged}
    for path in (*surveyed.changed, *surveyed.removed):
        try:
            files[path] = (root / path).read_text(encoding="utf-8")
        except FileNotFoundError:
            continue  # listed and lost: compile writes it again
        except (OSError, UnicodeDecodeError) as error:
            return Against({}, (_unreadable(root, path, error),))
    return Against(files)


def _unreadable(root: Path, path: str, error: OSError | UnicodeDecodeError) -> Diagnostic:
    if isinstance(error, OSError):
        return rules.unreadable(root, path, error)
    return rules.refusal(rules.UNREADABLE, root, path, f"`{path}` is not UTF-8")
