"""The guarded write of the output folder: `survey` compares and refuses, `write` applies what was surveyed.

What is ours. A file is tenancy's own if the lock or the journal lists its path with the SHA-256 of its content, and for
no other reason. Only such files are replaced or deleted; a file that already holds what would be written is never
touched, whoever wrote it. Everything else in the way is a refusal, all refusals are found in one run, and with one of
them nothing is written. Symbolic links below the root are refused wherever one is on the path of a file of ours, so
that nothing is written or deleted through them; the root itself may be one.

Order of a write. Each step leaves a tree that the next run understands:

1. what an interrupted run left under temporary names is removed;
2. the journal is put in place: the complete new list, and what an older journal listed;
3. every new content is written under a temporary name (`.tenancy-NAME.tmp`): beside its place if the folder exists;
   the files of a new folder go straight into it while the *folder* has a temporary name: one rename for all of them;
4. the temporary names are renamed to the final ones;
5. files no longer generated are deleted, then the folders that this emptied;
6. the lock is replaced, and the journal is deleted.

So no file ever stands half-written under its final name, and each has at any moment a content that the lock or the
journal lists: after an interruption at any point no file need be trusted whatever it holds, and one that was edited by
hand in between is still refused. A full disk shows in step 3, before anything visible has changed. Nothing is synced to
the disk: a power failure may lose the end of a write, and git has the rest. Two runs at once are not guarded against.

After a git merge. A lock with conflict markers works as it is: the digests of both sides are trusted (see `lock`).
Files that git merged as text match neither side and are refused; `git restore --source=HEAD --staged --worktree OUT`
takes one side for lock and files together, and the next run writes what the merged organization compiles to.

Survey and write are one module of more than 300 lines because the proof above spans both.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from tenancy.diagnostics import Diagnostic
from tenancy.output import rules
from tenancy.output.lock import JOURNAL, LOCK, Listing, clashes, folders, parse, path_fault, render, temporary

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
# Without O_NONBLOCK, opening a named pipe that stands in the way would wait for a writer for ever.
_READ = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
_NOTHING_TO_REMOVE = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR)


class _Folder(Enum):
    PRESENT = "present"
    ABSENT = "absent"


class _Verdict(Enum):
    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    GONE = "gone"


_State: TypeAlias = _Folder | Diagnostic
"""A folder that is there, one that is not, or why nothing can be written below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """How the files on disk compare with what was generated. Paths are relative to the root, with `/`, and sorted.

    `created`, `changed` and `unchanged` are generated files: not there and never listed, to be rewritten, and equal.
    `removed` are files of ours to be deleted. A path that a refusal names is in none of the four.
    """

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    refusals: tuple[Diagnostic, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of every generated file, by path."""
    dropped: frozenset[str] = frozenset()
    """Listed paths that are no longer generated, whether still on disk or not."""
    absent: frozenset[str] = frozenset()
    """Folders below the root that are not there."""
    lock_differs: bool = False
    journal: Mapping[str, tuple[str, ...]] | None = None
    """What the journal of an interrupted run lists; None if there is no journal."""
    leftovers: tuple[str, ...] = ()
    """What an interrupted run left under temporary names."""

    @property
    def stale(self) -> tuple[str, ...]:
        """Every path that `write` would touch, lock, journal and leftovers included; empty if all is up to date."""
        lock = [LOCK] if self.lock_differs else []
        journal = [JOURNAL] if self.journal is not None else []
        return tuple(sorted([*self.created, *self.changed, *self.removed, *self.leftovers, *lock, *journal]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What `write` did: files written and deleted, sorted. With `diagnostics` both are empty, as neither is known."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def survey(root: Path, files: Mapping[str, str]) -> Survey:
    """Compare `files` (text by relative path) with the tree at `root` without touching it.

    Never raises OSError: what cannot be read is a refusal under `rules.UNREADABLE`.
    """
    lock, journal = _read(root, LOCK), _read(root, JOURNAL)
    listed, planned = _listing(lock, repeats=False), _listing(journal, repeats=True)
    faults = {path: fault for path in files if (fault := path_fault(path))}
    names = sorted(files.keys() - faults.keys())
    refusals = [*_path_refusals(root, faults, names), *_list_refusals(root, LOCK, lock, listed)]
    refusals += _list_refusals(root, JOURNAL, journal, planned)
    if listed is None or planned is None or listed.faults or planned.faults:
        # Without a list that can be trusted every file would look foreign, which is noise.
        return Survey(refusals=tuple(refusals))
    trusted = _union(listed.digests, planned.digests)
    dropped = trusted.keys() - files.keys()
    states = _folder_states(root, [*names, *trusted])
    digests: dict[str, str] = {}
    verdicts: dict[str, _Verdict | Diagnostic] = {}
    for path in names:
        data = files[path].encode()
        digests[path] = hashlib.sha256(data).hexdigest()
        verdicts[path] = _verdict(root, path, data, _content(root, path, states), trusted.get(path, ()))
    for path in sorted(dropped):
        verdicts[path] = _verdict(root, path, None, _content(root, path, states), trusted[path])
    refusals += [verdict for verdict in verdicts.values() if isinstance(verdict, Diagnostic)]
    return Survey(
        created=_having(verdicts, _Verdict.CREATED),
        changed=_having(verdicts, _Verdict.CHANGED),
        unchanged=_having(verdicts, _Verdict.UNCHANGED),
        removed=_having(verdicts, _Verdict.REMOVED),
        refusals=tuple(dict.fromkeys(refusals)),
        digests=digests,
        dropped=frozenset(dropped),
        absent=frozenset(folder for folder, state in states.items() if folder and state is _Folder.ABSENT),
        lock_differs=lock != render({path: (digest,) for path, digest in digests.items()}),
        journal=None if journal is None else planned.digests,
        leftovers=_leftovers(root, None if journal is None else planned.digests),
    )


def write(root: Path, files: Mapping[str, str], surveyed: Survey) -> Written:
    """Make the tree at `root` hold `files`, as `surveyed` just found it; nothing is touched if there are refusals.

    Never raises OSError: a full disk or a missing permission is a diagnostic under `rules.UNWRITABLE`, and the next run
    repairs what this one left.
    """
    if surveyed.refusals or not surveyed.stale:
        return Written(diagnostics=surveyed.refusals)
    try:
        _apply(f"{root}/", files, surveyed)
    except OSError as error:
        return Written(diagnostics=(rules.unwritable(root, error),))
    return Written(written=tuple(sorted(surveyed.created + surveyed.changed)), removed=surveyed.removed)


def _apply(base: str, files: Mapping[str, str], surveyed: Survey) -> None:
    os.makedirs(base, exist_ok=True)
    for name in surveyed.leftovers:
        _clear(base + name)
    listed = {path: (digest,) for path, digest in surveyed.digests.items()}
    _replace(base, JOURNAL, render(_union(surveyed.journal or {}, listed)))
    for prepared, final in _prepare(base, files, surveyed).items():
        os.replace(base + prepared, base + final)
    for path in surveyed.removed:
        with suppress(FileNotFoundError):
            os.unlink(base + path)
    _remove_empty(base, surveyed.dropped)
    _replace(base, LOCK, render(listed))
    os.unlink(base + JOURNAL)


def _prepare(base: str, files: Mapping[str, str], surveyed: Survey) -> dict[str, str]:
    """Write every new content under a temporary name; returns the final name of each, file or new folder."""
    tops = _topmost(surveyed.absent)
    finals: dict[str, str] = {}
    made: set[str] = set()
    try:
        for path in [*surveyed.created, *surveyed.changed]:
            final = tops.get(path.rpartition("/")[0], path)
            prepared = temporary(final)
            if prepared not in finals:
                _clear(base + prepared)
                finals[prepared] = final
            name = prepared + path[len(final) :]
            folder = name.rpartition("/")[0]
            if final is not path and folder not in made:
                os.makedirs(base + folder, exist_ok=True)
                made.add(folder)
            _create(base + name, files[path].encode())
    except OSError:
        # Nothing visible has changed yet, and what was prepared may be what filled the disk.
        for prepared in finals:
            with suppress(OSError):
                _clear(base + prepared)
        raise
    return finals


def _topmost(absent: Iterable[str]) -> dict[str, str]:
    """For each folder to be made the topmost one on its path that is to be made."""
    tops: dict[str, str] = {}
    for folder in sorted(absent):
        tops[folder] = tops.get(folder.rpartition("/")[0], folder)
    return tops


def _replace(base: str, path: str, data: bytes) -> None:
    prepared = base + temporary(path)
    _clear(prepared)
    _create(prepared, data)
    os.replace(prepared, base + path)


def _create(name: str, data: bytes) -> None:
    # Bare calls: open() costs 10,000 small files about a third more.
    descriptor = os.open(name, _CREATE, 0o666)
    try:
        written = os.write(descriptor, data)
        while written < len(data):
            written += os.write(descriptor, data[written:])
    finally:
        os.close(descriptor)


def _clear(name: str) -> None:
    """Delete what stands under a temporary name, which is ours with all below it; a link, not its target."""
    try:
        mode = os.lstat(name).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        shutil.rmtree(name)
    else:
        os.unlink(name)


def _remove_empty(base: str, dropped: Iterable[str]) -> None:
    for folder in reversed(folders(dropped)):
        try:
            os.rmdir(base + folder)
        except OSError as error:
            if error.errno not in _NOTHING_TO_REMOVE:
                raise


def _having(verdicts: Mapping[str, _Verdict | Diagnostic], wanted: _Verdict) -> tuple[str, ...]:
    return tuple(path for path, verdict in verdicts.items() if verdict is wanted)


def _verdict(
    root: Path, path: str, data: bytes | None, content: bytes | Diagnostic | None, known: tuple[str, ...]
) -> _Verdict | Diagnostic:
    """What to do at `path`, which holds `content` and must hold `data`; contents of a digest in `known` are ours."""
    if isinstance(content, Diagnostic):
        # A folder where a file of ours was is somebody's business once we have nothing to write there.
        return _Verdict.GONE if data is None and content.rule is rules.OBSTRUCTED else content
    if content is None:
        if data is None:
            return _Verdict.GONE
        return _Verdict.CHANGED if known else _Verdict.CREATED
    if content == data:
        return _Verdict.UNCHANGED
    if hashlib.sha256(content).hexdigest() in known:
        return _Verdict.REMOVED if data is None else _Verdict.CHANGED
    return rules.edited(root, path, generated=data is not None) if known else rules.foreign(root, path)


def _content(root: Path, path: str, states: Mapping[str, _State]) -> bytes | Diagnostic | None:
    """The content of a file below known folders; None if there is none, a diagnostic if it cannot be read."""
    state = states[path.rpartition("/")[0]]
    if isinstance(state, Diagnostic):
        return state
    return None if state is _Folder.ABSENT else _read(root, path)


def _read(root: Path, path: str) -> bytes | Diagnostic | None:
    try:
        descriptor = os.open(f"{root}/{path}", _READ)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return rules.refusal(rules.OBSTRUCTED, root, path, f"`{path}` must be a file and is not one")
            return os.read(descriptor, status.st_size)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return None
    except OSError as error:
        return rules.unreadable(root, path, error)


def _folder_states(root: Path, paths: Iterable[str]) -> dict[str, _State]:
    """The state of the root ("") and of every folder above `paths`; below an obstacle its diagnostic holds."""
    states: dict[str, _State] = {"": _folder_state(root, "")}
    for folder in folders(paths):
        above = states[folder.rpartition("/")[0]]
        states[folder] = _folder_state(root, folder) if above is _Folder.PRESENT else above
    return states


def _folder_state(root: Path, folder: str) -> _State:
    try:
        # The root may be a link, if whoever chose it wants so.
        mode = os.stat(root / folder, follow_symlinks=not folder).st_mode
    except FileNotFoundError:
        return _Folder.ABSENT
    except OSError as error:
        return rules.unreadable(root, folder, error)
    if stat.S_ISDIR(mode):
        return _Folder.PRESENT
    rule = rules.SYMLINK if stat.S_ISLNK(mode) else rules.OBSTRUCTED
    return rules.refusal(rule, root, folder, f"`{folder or root}` must be a folder and is not one")


def _listing(content: bytes | Diagnostic | None, *, repeats: bool) -> Listing | None:
    if isinstance(content, Diagnostic):
        return None
    return Listing({}) if content is None else parse(content, repeats=repeats)


def _list_refusals(
    root: Path, name: str, content: bytes | Diagnostic | None, listing: Listing | None
) -> list[Diagnostic]:
    if isinstance(content, Diagnostic):
        return [content]
    faults = listing.faults if listing else ()
    return [rules.untrusted(root, name, fault.line, fault.message) for fault in faults]


def _path_refusals(root: Path, faults: Mapping[str, str], names: Iterable[str]) -> list[Diagnostic]:
    advice = "rename the unit or the template that it comes from"
    found = []
    for path, fault in sorted(faults.items()):
        found.append(rules.refusal(rules.PATH, root, path, f"{path!r} {fault}", help=advice))
    for first, second in clashes(names):
        message = f"`{second}` and `{first}` are one name where case does not count, or file and folder"
        found.append(rules.refusal(rules.CLASH, root, second, message, help=advice))
    return found


def _leftovers(root: Path, journal: Mapping[str, tuple[str, ...]] | None) -> tuple[str, ...]:
    """What stands under the temporary names that a run with this journal used; the journal's own comes before it."""
    names = {temporary(JOURNAL)}
    if journal is not None:
        names |= {temporary(name) for name in [LOCK, *folders(journal), *journal]}
    return tuple(sorted(name for name in names if os.path.lexists(f"{root}/{name}")))


def _union(first: Mapping[str, tuple[str, ...]], second: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """All digests that either lists, each once."""
    return {path: tuple({*first.get(path, ()), *second.get(path, ())}) for path in [*first, *second]}
