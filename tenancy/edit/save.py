"""Edited texts to the disk: all of them or none, as far as a file system can do that.

Every text is written beside its file first, so that a full disk shows before anything has changed. Only files that
still hold what the edit was made from are replaced.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tenancy.edit.errors import Unwritable

_BOM: Final = b"\xef\xbb\xbf"
_WRITABLE: Final = 0o222


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    path: Path
    old: bytes
    new: bytes
    status: os.stat_result

    @property
    def prepared(self) -> Path:
        """Where the new text waits. A leading dot, so that the loader would not read it as a departments file."""
        return self.path.with_name(f".tenancy-{self.path.name}.tmp")


def save(folder: Path, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Write the texts that `after` has in place of those of `before`. Raises Unwritable, with nothing changed.

    `folder` is that of the organization: a link that leads out of it is not followed.
    """
    files = [_file(folder, name, before[name], text) for name, text in after.items()]
    done: list[_File] = []
    try:
        for file in files:
            _write(file.prepared, file.new, file.status)
        for file in files:
            if file.path.read_bytes() != file.old:
                raise Unwritable(f"`{file.name}` was changed meanwhile; run the command again")
            os.replace(file.prepared, file.path)
            done.append(file)
    except (OSError, Unwritable) as error:
        lost = list(_restored(done))
        if lost:
            names = ", ".join(f"`{name}`" for name in lost)
            raise Unwritable(f"{_reason(error)}; {names} could not be put back and has the change") from error
        raise Unwritable(_reason(error)) from error
    finally:
        for file in files:
            with suppress(OSError):
                file.prepared.unlink(missing_ok=True)


def _file(folder: Path, name: str, old: str, new: str) -> _File:
    path = Path(os.path.realpath(name))
    if not path.is_relative_to(os.path.realpath(folder)):
        raise Unwritable(f"`{name}` is a link to something outside `{folder}`, which is not changed")
    try:
        data, status = path.read_bytes(), path.stat()
    except OSError as error:
        raise Unwritable(f"`{name}` cannot be read: {_reason(error)}") from error
    mark = _BOM if data.startswith(_BOM) else b""
    if data != mark + old.encode():
        raise Unwritable(f"`{name}` was changed meanwhile; run the command again")
    if not status.st_mode & _WRITABLE or not os.access(path, os.W_OK):
        raise Unwritable(f"`{name}` is read-only")
    return _File(name, path, data, mark + new.encode(), status)


def _write(path: Path, data: bytes, status: os.stat_result) -> None:
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
    with suppress(OSError):  # only root may give a file away; a group of one's own is kept
        os.chown(path, status.st_uid, status.st_gid)
    path.chmod(stat.S_IMODE(status.st_mode))


def _restored(done: list[_File]) -> Iterator[str]:
    """Put the old texts back; names of files where that failed."""
    for file in done:
        try:
            _write(file.prepared, file.old, file.status)
            os.replace(file.prepared, file.path)
        except OSError:
            yield file.name


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"`{error.filename}`: " if error.filename else ""
        return f"{where}{error.strerror[:1].lower()}{error.strerror[1:]}"
    return str(error)
