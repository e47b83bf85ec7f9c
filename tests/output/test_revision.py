"""Files of a git revision: what is read, and why something cannot be."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tenancy.output.revision import File, NotRead, revision, write


class Repo:
    """A git repository made for a test."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        """What git prints."""
        own = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "protocol.file.allow=always")
        done = subprocess.run(["git", *own, *arguments], cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, **files: str | None) -> str:
        """Write or remove files and commit everything; the id of the commit. `__` in a name stands for `/`."""
        for name, text in files.items():
            path = self.root / name.replace("__", "/")
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change things")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty one."""
    return Repo(tmp_path / "repo")


def test_files_are_those_of_the_revision(repo: Repo) -> None:
    """Whatever is in the working tree by now, with every byte, and only of the folder that is asked for."""
    repo.commit(org__a="one\r\n", org__deep__b="two", out__c="three", organs="x")
    repo.commit(org__a="changed", org__deep__b=None)
    (repo.root / "org" / "a").write_text("not committed")
    found = revision(repo.root / "org", "HEAD~1")
    assert found.files("org") == {"a": File(b"one\r\n", link=False), "deep/b": File(b"two", link=False)}
    assert set(found.files("")) == {"org/a", "org/deep/b", "out/c", "organs"}
    assert found.files("nowhere") == {}


def test_attributes_of_archives_do_not_matter(repo: Repo) -> None:
    """`git archive` would leave the first file out and rewrite the second."""
    attributes = "secret export-ignore\nid export-subst\n"
    repo.commit(**{"org__.gitattributes": attributes}, org__secret="kept", org__id="$Format:%H$")
    found = revision(repo.root / "org", "HEAD").files("org")
    assert (found["secret"].data, found["id"].data) == (b"kept", b"$Format:%H$")


@pytest.mark.parametrize("name", ["main", "HEAD", "v1", "@", ":/change", "HEAD^{tree}", "HEAD@{0}"])
def test_anything_that_git_takes_is_a_revision(repo: Repo, name: str) -> None:
    """A branch, a tag with a message of its own, a commit by its subject, even a tree."""
    repo.commit(org__a="one")
    repo.git("tag", "-a", "v1", "-m", "first")
    assert set(revision(repo.root / "org", name).files("org")) == {"a"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nonsense", "`nonsense` is no revision of this repository"),
        ("main..HEAD", "of two sides, `git merge-base main HEAD` names one"),
        ("main...HEAD", "of two sides, `git merge-base main HEAD` names one"),
        ("--all", "`--all` is no revision"),
        ("", "`` is no revision"),
        ("HEAD:org/a", "`HEAD:org/a` is no commit or tree"),
        ("0" * 40, "is no commit or tree"),
    ],
)
def test_what_is_no_revision_is_a_mistake_of_the_user(repo: Repo, name: str, message: str) -> None:
    """The message says what was meant where that can be seen."""
    repo.commit(org__a="one")
    with pytest.raises(NotRead) as error:
        revision(repo.root / "org", name)
    assert message in str(error.value)
    assert error.value.mistaken


def test_a_folder_outside_of_git_has_no_revisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is no mistake in the name of the revision."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(NotRead, match="is in no git repository") as error:
        revision(tmp_path, "HEAD")
    assert not error.value.mistaken


def test_a_shallow_clone_says_how_to_get_the_rest(repo: Repo, tmp_path: Path) -> None:
    """What CI checks out by default."""
    first = repo.commit(org__a="one")
    repo.commit(org__a="two")
    clone = Repo(tmp_path / "clones")
    clone.git("clone", "-q", "--depth", "1", f"file://{repo.root}", "clone")
    folder = clone.root / "clone" / "org"
    assert revision(folder, "HEAD").files("org")["a"].data == b"two"
    for name in (first, "HEAD~1"):
        with pytest.raises(NotRead, match=r"a shallow one: fetch it \(`git fetch --unshallow`") as error:
            revision(folder, name)
        assert not error.value.mistaken


def test_a_submodule_has_revisions_of_its_own(repo: Repo, tmp_path: Path) -> None:
    """Inside one they are those of its repository; from outside nothing can be read there."""
    inner = Repo(tmp_path / "inner")
    inner.commit(org__a="one")
    repo.git("submodule", "add", "-q", str(inner.root), "teams")
    repo.commit(other="x")
    inside = revision(repo.root / "teams" / "org", "HEAD")
    assert set(inside.files("org")) == {"a"}
    assert inside.repository.inside(repo.root / "other") is None
    for folder in ("teams", ""):
        with pytest.raises(NotRead, match="`teams` is a submodule there"):
            revision(repo.root, "HEAD").files(folder)


def test_a_file_is_no_folder(repo: Repo) -> None:
    """What was a file then may be a folder now."""
    repo.commit(org="a file")
    with pytest.raises(NotRead, match="`org` is no folder there"):
        revision(repo.root, "HEAD").files("org")


def test_a_folder_is_found_through_a_link(repo: Repo, tmp_path: Path) -> None:
    """The repository knows it by its own name."""
    repo.commit(org__a="one")
    (tmp_path / "link").symlink_to(repo.root / "org")
    found = revision(tmp_path / "link", "HEAD")
    assert found.repository.inside(tmp_path / "link") == "org"
    assert found.repository.inside(repo.root) == ""


def test_what_git_sets_for_hooks_does_not_mislead(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook runs with GIT_DIR set, relative to a folder that is not ours."""
    repo.commit(org__a="one")
    other = Repo(tmp_path / "other")
    for name, value in (("GIT_DIR", str(other.root / ".git")), ("GIT_INDEX_FILE", "x"), ("GIT_WORK_TREE", "/")):
        monkeypatch.setenv(name, value)
    assert set(revision(repo.root / "org", "HEAD").files("org")) == {"a"}


def test_without_git_nothing_is_read(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, not guessed."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NotRead, match="git is not installed"):
        revision(repo.root, "HEAD")


def test_files_are_written_with_their_links(tmp_path: Path) -> None:
    """A link inside of the folder stays one."""
    write({"a/b": File(b"x", link=False), "a/c": File(b"../d", link=True), "d": File(b"y", link=False)}, tmp_path)
    assert (tmp_path / "a" / "b").read_bytes() == b"x"
    assert (tmp_path / "a" / "c").resolve() == tmp_path / "d"


@pytest.mark.parametrize(
    "files",
    [
        {"a": File(b"/etc/passwd", link=True)},
        {"a/b": File(b"../../x", link=True)},
        {"../a": File(b"", link=False)},
        {"/a": File(b"", link=False)},
        {"a": File(b".", link=True), "a/b": File(b"", link=False)},
    ],
)
def test_nothing_leads_outside(tmp_path: Path, files: dict[str, File]) -> None:
    """A revision may come from anybody."""
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(NotRead):
        write(files, inside)
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]
