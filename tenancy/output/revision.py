"""Files as a git revision has them, without a checkout: only git's objects are read.

Not `git archive`, which leaves out what `.gitattributes` marks as `export-ignore` and rewrites what it marks as
`export-subst`.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

_LINK: Final = "120000"
_SUBMODULE: Final = "160000"

_LOCAL: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""What git sets for its hooks: relative to another folder, or for another repository than that of the organization."""

_QUIET: Final = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


class NotRead(Exception):
    """Why a revision, or a folder of it, cannot be read; the message is for people.

    `mistaken` says that the revision is none, which is an error of whoever named it.
    """

    def __init__(self, message: str, *, mistaken: bool = False) -> None:
        super().__init__(message)
        self.mistaken = mistaken


class File(NamedTuple):
    """A file of a revision; the content of a link is where it leads."""

    data: bytes
    link: bool


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository, by a folder in its working tree."""

    root: Path
    """Absolute, without links."""

    def inside(self, path: Path) -> str | None:
        """The path as the repository names it, empty for its root; None where it lies elsewhere."""
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(self.root):
            return None
        name = real.relative_to(self.root).as_posix()
        return "" if name == "." else name


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of a repository, by the name that a person gave it."""

    repository: Repository
    name: str
    tree: str
    """The id of its tree."""

    def files(self, folder: str) -> dict[str, File]:
        """Every file below a folder, by its path inside; none where the revision has no such folder.

        Raises `NotRead` where a part of the folder is in another repository.
        """
        found = {path.removeprefix(f"{folder}/" if folder else ""): rest for path, *rest in self._entries(folder)}
        contents = _contents(self.repository.root, [oid for _, oid in found.values()])
        return {path: File(contents[oid], mode == _LINK) for path, (mode, oid) in found.items()}

    def _entries(self, folder: str) -> Iterator[tuple[str, str, str]]:
        """Path, mode and id of every file."""
        listed = _git(
            self.repository.root, "ls-tree", "-r", "-z", "--full-tree", self.tree, *(["--", folder] if folder else [])
        )
        for entry in listed.split(b"\0")[:-1]:
            head, _, name = entry.partition(b"\t")
            mode, _, oid = head.decode().split(" ")
            path = os.fsdecode(name)
            if mode == _SUBMODULE:
                message = f"`{path}` is a submodule there: its files are in another repository"
                raise NotRead(f"`{self.name}`: {message}, where the revision is not this one")
            if path == folder:
                raise NotRead(f"`{self.name}`: `{path}` is no folder there")
            yield path, mode, oid


def revision(folder: Path, name: str) -> Revision:
    """A revision of the repository that a folder is in: whatever `git rev-parse` takes. Raises `NotRead`."""
    repository = Repository(_root(folder))
    if name.startswith("-") or not name or "\0" in name:
        raise NotRead(f"`{name}` is no revision", mistaken=True)
    found = _ask(repository.root, "rev-parse", "--verify", "--quiet", name)
    tree = _ask(repository.root, "rev-parse", "--verify", "--quiet", f"{found}^{{tree}}") if found else ""
    if tree:
        return Revision(repository, name, tree)
    if _ask(repository.root, "rev-parse", "--is-shallow-repository") == "true":
        hint = "fetch it (`git fetch --unshallow`, or `fetch-depth: 0` of actions/checkout)"
        raise NotRead(f"`{name}` is not in this clone, which is a shallow one: {hint}")
    hint = (
        f": of two sides, `git merge-base {name.replace('...', ' ').replace('..', ' ')}` names one"
        if ".." in name
        else ""
    )
    kind = "no commit or tree" if found else "no revision of this repository"
    raise NotRead(f"`{name}` is {kind}{hint}", mistaken=True)


def write(files: Mapping[str, File], folder: Path) -> None:
    """Write files below a folder. Raises `NotRead` where one would come to lie, or leads, outside."""
    for name, file in sorted(files.items()):
        path = folder / name
        if not _stays(name) or any(parent.as_posix() in files for parent in Path(name).parents):
            raise NotRead(f"`{name}` is no path that a file can have")
        path.parent.mkdir(parents=True, exist_ok=True)
        if not file.link:
            path.write_bytes(file.data)
            continue
        target = os.fsdecode(file.data)
        if not _stays(os.path.normpath(os.path.join(os.path.dirname(name), target))):
            raise NotRead(f"`{name}` is a link to something outside the folder")
        path.symlink_to(target)


def _stays(name: str) -> bool:
    """Whether a path leads nowhere but below the folder that it starts from."""
    return not os.path.isabs(name) and ".." not in name.split("/")


def _root(folder: Path) -> Path:
    try:
        return Path(os.fsdecode(_git(Path(os.path.realpath(folder)), "rev-parse", "--show-toplevel").rstrip(b"\n")))
    except NotRead as error:
        if "not a git repository" in str(error):
            raise NotRead(f"`{folder}` is in no git repository, so that it has no revisions") from error
        raise


def _contents(root: Path, oids: list[str]) -> dict[str, bytes]:
    """What objects hold, all in one run of git."""
    wanted = list(dict.fromkeys(oids))
    answer = _git(root, "cat-file", "--batch", given="".join(f"{oid}\n" for oid in wanted).encode())
    found: dict[str, bytes] = {}
    start = 0
    for oid in wanted:
        head = answer[start : answer.index(b"\n", start)]
        start += len(head) + 1
        parts = head.split(b" ")
        if len(parts) != 3:
            raise NotRead(f"git has lost the object {oid}; `git fsck` says more")
        size = int(parts[2])
        found[oid] = answer[start : start + size]
        start += size + 1
    return found


def _ask(root: Path, *arguments: str) -> str:
    """The answer of git to a question that may have none; empty then."""
    done = _run(root, arguments, b"")
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else ""


def _git(root: Path, *arguments: str, given: bytes = b"") -> bytes:
    """What git prints. Raises `NotRead` with what it complains about."""
    done = _run(root, arguments, given)
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split()).removeprefix("fatal: ")
        raise NotRead(f"git {arguments[0]}: {said or f'status {done.returncode}'}")
    return done.stdout


def _run(root: Path, arguments: tuple[str, ...], given: bytes) -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in _LOCAL} | _QUIET
    try:
        return subprocess.run(
            ["git", *arguments], cwd=root, env=environment, input=given, capture_output=True, check=False
        )
    except FileNotFoundError as error:
        raise NotRead("git is not installed" if root.is_dir() else f"`{root}` is no folder") from error
    except OSError as error:
        raise NotRead(f"git cannot be run: {error.strerror or error}") from error
