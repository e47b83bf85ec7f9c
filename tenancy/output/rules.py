"""What can stop `tenancy compile` from writing its output. Each rule but `STALE` is a refusal."""

from __future__ import annotations

import errno
from pathlib import Path

from tenancy.diagnostics import Diagnostic, Place, Rule, Severity

EDITED = Rule(
    code="output-edited",
    severity=Severity.ERROR,
    title="A generated file that was edited by hand",
    why="Writing it again would throw the edit away; leaving it would deploy something that org/ does not say.",
)
FOREIGN = Rule(
    code="output-foreign",
    severity=Severity.ERROR,
    title="A file in the way that tenancy did not write",
    why="tenancy.lock does not list it, so somebody else owns its content, and it would be lost.",
)
LOCK = Rule(
    code="output-lock",
    severity=Severity.ERROR,
    title="A tenancy.lock that cannot be trusted",
    why="The lock says which files may be replaced and deleted; with a wrong one, somebody's own files would be.",
)
PATH = Rule(
    code="output-path",
    severity=Severity.ERROR,
    title="A generated file whose path is not a plain one below the output folder",
    why="It would be written outside the output folder, over the lock, or under a name that sha256sum cannot list.",
)
CLASH = Rule(
    code="output-path-clash",
    severity=Severity.ERROR,
    title="Two generated files that cannot exist side by side",
    why="Where upper and lower case are the same name (macOS, Windows), one of them would silently replace the other.",
)
SYMLINK = Rule(
    code="output-symlink",
    severity=Severity.ERROR,
    title="A symbolic link in the way",
    why="Writing or deleting through it would change files outside the output folder.",
)
OBSTRUCTED = Rule(
    code="output-obstructed",
    severity=Severity.ERROR,
    title="A folder where a file must go, or the reverse",
    why="It would have to be deleted with all it holds before the output can be written.",
)
STALE = Rule(
    code="output-stale",
    severity=Severity.ERROR,
    title="An output that is not what org/ compiles to",
    why="Argo CD deploys what is committed, so the cluster would differ from what was reviewed.",
)
UNREADABLE = Rule(
    code="output-unreadable",
    severity=Severity.ERROR,
    title="An output that cannot be read",
    why="Whether a file may be replaced is decided by its content, so nothing is decided without it.",
)
UNWRITABLE = Rule(
    code="output-unwritable",
    severity=Severity.ERROR,
    title="An output that cannot be written",
    why="The output may be incomplete. The next run finishes or repairs it; until then it must not be committed.",
)

RULES: tuple[Rule, ...] = (EDITED, FOREIGN, LOCK, PATH, CLASH, SYMLINK, OBSTRUCTED, STALE, UNREADABLE, UNWRITABLE)

COULD_NOT_CHECK: frozenset[str] = frozenset({UNREADABLE.code, UNWRITABLE.code})
"""Codes after which nothing is known about the output: exit status 3, never "clean" and never "findings"."""

_MOVE = "move it out of the way, or delete it if nobody needs it, and compile again"
_GIT = "`git restore --source=HEAD --staged --worktree {root}` takes committed output and lock; then compile again"


def refusal(rule: Rule, root: Path, path: str, message: str, *, line: int = 1, help: str = _MOVE) -> Diagnostic:
    """A diagnostic at `path` below `root`, placed as the user would open it."""
    return Diagnostic(
        rule=rule, message=message, place=Place(file=(root / path).as_posix(), line=line, end_line=line), help=help
    )


def edited(root: Path, path: str, *, generated: bool) -> Diagnostic:
    """A listed file with a content that no run wrote; `generated` if one is still generated at its path."""
    what = "would be overwritten" if generated else "is no longer generated and would be deleted"
    advice = (
        "say it in org/ (or in a template of org/templates), delete the file and compile again; after a git merge, "
    )
    message = f"`{path}` was changed by something else than tenancy and {what}"
    return refusal(EDITED, root, path, message, help=advice + _GIT.format(root=root.as_posix()))


def foreign(root: Path, path: str) -> Diagnostic:
    """A file that is not listed at a path where another content is generated."""
    return refusal(
        FOREIGN, root, path, f"`{path}` is not in tenancy.lock and holds something else than what is generated"
    )


def untrusted(root: Path, path: str, line: int, fault: str) -> Diagnostic:
    """A lock or a journal with a fault at a line."""
    advice = _GIT.format(root=root.as_posix()) + ", or without git delete the list and the generated files first"
    return refusal(LOCK, root, path, f"`{path}` {fault}", line=line, help=advice)


def unreadable(root: Path, path: str, error: OSError) -> Diagnostic:
    """What the system said about opening `path`; a symbolic link that was not followed is a refusal of its own."""
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return refusal(SYMLINK, root, path, f"`{path}` is a symbolic link")
    if error.errno == errno.ENOTDIR:
        return refusal(OBSTRUCTED, root, "", f"`{root}` must be a folder and is not one")
    return refusal(
        UNREADABLE, root, path, f"`{path or root}` cannot be read: {_reason(error)}", help="make it readable"
    )


def unwritable(root: Path, error: OSError) -> Diagnostic:
    """What the system said about a write, at the file it named."""
    name = error.filename2 or error.filename
    place = Place(file=name if isinstance(name, str) else root.as_posix())
    advice = "make room or permit it, then compile again: the next run finishes what this one began"
    return Diagnostic(
        rule=UNWRITABLE, message=f"`{place.file}` cannot be written: {_reason(error)}", place=place, help=advice
    )


def _reason(error: OSError) -> str:
    """What the system said, as a part of a sentence."""
    said = error.strerror or str(error)
    return said[:1].lower() + said[1:]
