"""The list of files that tenancy wrote: `tenancy.lock`, and the journal `tenancy.lock.next` in the same format.

    # tenancy.lock format 1
    <64 hex digits>  <path below the output folder>

The lines are sorted by path and `sha256sum -c tenancy.lock`, run inside the output folder, verifies them (GNU coreutils
skips lines that start with `#`). Nothing in the file depends on a clock or on the version of the tool: it changes only
when a listed file does, one line a file, so that git merges two branches line by line.

Where git could not, its conflict markers stay in the lock. Every line between them was written by tenancy on one of the
branches, so `parse` accepts the markers and a path then has the digests of both sides (and of the base, in git's diff3
style). Anything else that tenancy would not write is a fault: a lock with faults must not decide what is deleted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

LOCK = "tenancy.lock"
JOURNAL = "tenancy.lock.next"

_HEADER = "# tenancy.lock format 1"
_ENTRY = re.compile(r"([0-9a-f]{64})  (.+)")
_MARKER = re.compile(r"([<|=>])\1{6}(?: .*)?")
_CONFLICTS = re.compile(r"(<\|?=>)*")
# sha256sum escapes backslash, line feed and carriage return; half a surrogate pair has no UTF-8.
_UNLISTABLE = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")
# Nearly every path; nothing below can object to it, and one match is all that 10,000 files cost.
_ORDINARY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)+")
_TEMPORARY = re.compile(r"\.tenancy-.*\.tmp")


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a lock cannot be trusted, at a line that counts from 1."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What a lock lists: for each path the digests under which its content is tenancy's own, and its faults."""

    digests: Mapping[str, tuple[str, ...]]
    faults: tuple[Fault, ...] = ()


def render(digests: Mapping[str, Collection[str]]) -> bytes:
    """The lock that lists `digests` (hex SHA-256 by path): sorted, a line for each digest."""
    lines = [f"{digest}  {path}" for path in sorted(digests) for digest in sorted(digests[path])]
    return ("\n".join([_HEADER, *lines]) + "\n").encode()


def parse(data: bytes, *, repeats: bool = False) -> Listing:
    """Read a lock. A path may have several lines if `repeats` (the journal) or if git left its conflict markers."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        return Listing({}, (Fault(data.count(b"\n", 0, error.start) + 1, "is not UTF-8"),))
    if lines.pop():
        return Listing({}, (Fault(len(lines) + 1, "ends in the middle of a line"),))
    numbered = list(enumerate(lines, start=1))
    markers = {
        number: match[1] for number, line in numbered if line[:1] in "<|=>" and (match := _MARKER.fullmatch(line))
    }
    entries = [entry for entry in numbered if entry[0] not in markers] if markers else numbered
    if not entries or entries[0][1] != _HEADER:
        return Listing({}, (Fault(1, f"does not start with {_HEADER!r}: not a lock, or one of another version"),))
    if not _CONFLICTS.fullmatch("".join(markers.values())):
        return Listing({}, (Fault(min(markers), "has git conflict markers that do not belong together"),))
    return _list(entries, repeats=repeats or bool(markers))


def _list(entries: Iterable[tuple[int, str]], *, repeats: bool) -> Listing:
    digests: dict[str, tuple[str, ...]] = {}
    faults: list[Fault] = []
    for number, line in entries:
        if line.startswith("#"):
            continue
        entry = _ENTRY.fullmatch(line)
        if entry is None:
            faults.append(Fault(number, f"has a line that is not a digest, two spaces and a path: {line[:100]!r}"))
            continue
        digest, path = entry.groups()
        if fault := path_fault(path):
            faults.append(Fault(number, f"lists the path {path!r}, which {fault}"))
        elif path in digests and not repeats:
            faults.append(Fault(number, f"lists `{path}` twice"))
        elif digest not in (known := digests.get(path, ())):
            digests[path] = (*known, digest)
    return Listing(digests, tuple(faults))


def path_fault(path: str) -> str | None:
    """Why tenancy neither writes nor deletes at `path`, or None if it is a plain relative path that a lock can list."""
    if _ORDINARY.fullmatch(path):
        return None
    parts = path.split("/")
    if "" in parts or "." in parts or ".." in parts:
        return "is absolute or has an empty, '.' or '..' part"
    if _UNLISTABLE.search(path):
        return "has a backslash, a control character or half a surrogate pair"
    if path.casefold() in (LOCK, JOURNAL) or (".tenancy-" in path and any(map(_TEMPORARY.fullmatch, parts))):
        return "is a name that tenancy keeps for itself"
    return None


def temporary(path: str) -> str:
    """The name beside `path` under which its new content is prepared; everything of such a name is tenancy's own."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.tenancy-{name}.tmp"


def folders(paths: Iterable[str]) -> list[str]:
    """Every folder above the paths, without the root, each after the folder that holds it."""
    found: set[str] = set()
    for parent in {path.rpartition("/")[0] for path in paths}:
        folder = parent
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(found)


def clashes(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of paths, or of folders above them, that some file system cannot hold side by side; each pair in order.

    Two names that differ only in case, and a name that is both a file and a folder.
    """
    files = sorted(paths)
    first: dict[str, str] = {}
    found: list[tuple[str, str]] = []
    for name in [*folders(files), *files]:
        if (folded := name.casefold()) in first:
            found.append((first[folded], name))
        else:
            first[folded] = name
    return found
