"""What an earlier compilation came to, so that one with the same input and the same output has nothing to do.

A stamp lies in the user's cache folder, never in out/: a committed one would change with every release of the tool and
conflict in every merge. It says that these bytes of input, compiled by this very tool, gave this lock without a finding
to show. It is believed only while every file that the lock lists has its digest, so a hand edit is still found; without
a stamp, or with one that cannot be read, the compilation simply runs.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tenancy.output.lock import JOURNAL, LOCK, parse, temporary
from tenancy.resources import data_path

_PACKAGE = Path(__file__).parent.parent
_LIBRARIES = ("jinja2", "jsonschema-rs", "pydantic", "pydantic-core", "pyyaml")
_ROOTS = ("org.yaml", "org.yml")
_FOLDERS = ("departments", "templates", "schemas")
"""What a key covers of an organization's folder, beside the root file."""


def key(org: Path) -> str | None:
    """A digest of all that the output depends on: the input's bytes and the tool. None where it cannot be told."""
    folder = _folder(org)
    digest = hashlib.sha256(f"{sys.version}\0{org.is_file()}\0{org.name}".encode())
    try:
        digest.update(_tool(_PACKAGE, data_path("templates"), data_path("schemas")))
        for path in _input(org):
            _add(digest, path.relative_to(folder).as_posix(), path)
    except (OSError, ValueError, PackageNotFoundError):
        return None
    return digest.hexdigest()


def covers(org: Path, read: Iterable[str]) -> bool:
    """Whether a key is about every file that was read: a department's `file` may lie anywhere in the folder."""
    try:
        known = {os.path.realpath(path) for path in _input(org)}
    except (OSError, ValueError):
        return False
    return all(os.path.realpath(name) in known for name in read)


def exists(root: Path) -> bool:
    """Whether an earlier run left a stamp for `root`, believable or not."""
    return _stamp(root).is_file()


def unchanged(root: Path, stamp_key: str) -> bool:
    """Whether `root` is known to hold what a compilation would write; where not, it has to run."""
    try:
        stamp = _stamp(root).read_text(encoding="ascii")
        lock = (root / LOCK).read_bytes()
    except (OSError, ValueError):
        return False
    if stamp != _content(stamp_key, lock) or os.path.lexists(root / JOURNAL):
        return False
    listing = parse(lock)
    return not listing.faults and all(_has(root / path, digests) for path, digests in listing.digests.items())


def remember(root: Path, stamp_key: str) -> None:
    """Note that a compilation with this key just wrote, or found, what the lock of `root` lists."""
    path = _stamp(root)
    try:
        content = _content(stamp_key, (root / LOCK).read_bytes())
        path.parent.mkdir(parents=True, exist_ok=True)
        new = Path(temporary(str(path)))
        new.write_text(content, encoding="ascii")
        new.replace(path)
    except OSError:
        return  # without a stamp the next run takes its full time, and nothing else is lost


def _content(stamp_key: str, lock: bytes) -> str:
    return f"{stamp_key} {hashlib.sha256(lock).hexdigest()}\n"


def _stamp(root: Path) -> Path:
    """The stamp of an output folder, by its real path."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "tenancy" / hashlib.sha256(os.path.realpath(root).encode(errors="surrogateescape")).hexdigest()


@cache  # asked several times in a run, which has the code that it started with whatever becomes of the files
def _tool(package: Path, templates: Path, schemas: Path) -> bytes:
    """A digest of the libraries, and of every file of the tool itself that may shape the output."""
    digest = hashlib.sha256()
    for library in _LIBRARIES:
        digest.update(f"{library} {version(library)}\0".encode())
    for folder, pattern in ((package, "*.py"), (templates, "*"), (schemas, "*.json")):
        for path in sorted(path for path in folder.rglob(pattern) if path.is_file()):
            _add(digest, path.name, path)
    return digest.digest()


def _folder(org: Path) -> Path:
    return org.parent if org.is_file() else org


def _input(org: Path) -> Iterator[Path]:
    """The files that the loader looks for itself; a link could lead anywhere, so there is no stamp with one."""
    folder = _folder(org)
    for root in [org] if org.is_file() else [folder / name for name in _ROOTS]:
        if os.path.lexists(root):
            yield root
    for name in _FOLDERS:
        for path in (folder / name, *sorted((folder / name).rglob("*"))):
            if path.is_symlink():
                raise ValueError(f"{path} is a link")
            if path.is_file():
                yield path


def _add(digest: hashlib._Hash, name: str, path: Path) -> None:
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    digest.update(f"{name}\0{content}\0".encode())


def _has(path: Path, digests: tuple[str, ...]) -> bool:
    try:
        return not path.is_symlink() and hashlib.sha256(path.read_bytes()).hexdigest() in digests
    except OSError:
        return False
