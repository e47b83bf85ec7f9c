"""The format of the lock: what it lists, what it forgives, what it refuses."""

from __future__ import annotations

import pytest

from tenancy.output.lock import clashes, folders, parse, path_fault, render

A, B, C = "a" * 64, "b" * 64, "c" * 64
HEADER = "# tenancy.lock format 1\n"


def test_the_lock_is_sorted_lines_of_sha256sum_below_a_header() -> None:
    """A lock is its header and one line a file, sorted by path."""
    assert render({"b": (B,), "a/x": (A,)}).decode() == f"{HEADER}{A}  a/x\n{B}  b\n"


def test_what_is_rendered_is_parsed_back() -> None:
    """Parsing gives back the digests that were rendered, spaces and non-ASCII letters in paths included."""
    digests = {"a b/ü.yaml": (A,), "c": (B,)}
    assert parse(render(digests)).digests == digests


@pytest.mark.parametrize(
    "markers",
    [
        ("<<<<<<< HEAD", "=======", ">>>>>>> feature"),
        ("<<<<<<< ours", "||||||| 1234567", "=======", ">>>>>>> theirs"),
    ],
)
def test_a_conflicted_lock_trusts_both_sides(markers: tuple[str, ...]) -> None:
    """Between git's conflict markers the digests of all sides count as tenancy's own."""
    sides = [A, B] if len(markers) == 3 else [A, C, B]
    blocks = [f"{marker}\n{digest}  x\n" for marker, digest in zip(markers, sides, strict=False)]
    listing = parse(f"{HEADER}{''.join(blocks)}{markers[-1]}\n{C}  y\n".encode())
    assert listing.digests == {"x": tuple(sides), "y": (C,)}
    assert listing.faults == ()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "does not start with"),
        ("# tenancy.lock format 2\n", 1, "another version"),
        (f"{HEADER}{A}  a", 2, "middle of a line"),
        (f"{HEADER}{A} a\n", 2, "not a digest"),
        (f"{HEADER}{A[:-1]}  a\n", 2, "not a digest"),
        (f"{HEADER}\n", 2, "not a digest"),
        (f"{HEADER}{A}  /etc/passwd\n", 2, "absolute"),
        (f"{HEADER}{A}  ok\n{A}  a/../../b\n", 3, "'..'"),
        (f"{HEADER}{A}  a\r\n", 2, "control character"),
        (f"{HEADER}{A}  tenancy.lock\n", 2, "keeps for itself"),
        (f"{HEADER}{A}  a\n{A}  a\n", 3, "twice"),
        (f"{HEADER}{A}  a\n{B}  a\n", 3, "twice"),
        (f"{HEADER}<<<<<<< HEAD\n{A}  a\n", 2, "conflict markers"),
        (f"{HEADER}=======\n<<<<<<< HEAD\n>>>>>>> b\n", 2, "conflict markers"),
    ],
)
def test_what_tenancy_would_not_write_is_a_fault_at_its_line(text: str, line: int, words: str) -> None:
    """A lock that no run wrote has a fault that names the line and the reason."""
    (fault,) = parse(text.encode()).faults
    assert fault.line == line
    assert words in fault.message


def test_bytes_that_are_not_utf8_are_a_fault() -> None:
    """A lock that is not UTF-8 is a fault at the line of the first bad byte."""
    assert parse(HEADER.encode() + b"\xff\n").faults[0].line == 2


def test_the_journal_may_list_a_path_under_several_digests() -> None:
    """With `repeats` a path has all its digests, each once."""
    assert parse(f"{HEADER}{A}  a\n{B}  a\n{A}  a\n".encode(), repeats=True).digests == {"a": (A, B)}


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a",
        "a/",
        "a//b",
        ".",
        "./a",
        "..",
        "a/../b",
        "a\\b",
        "a\nb",
        "\ud800",
        "Tenancy.lock",
        "tenancy.lock.next",
        ".tenancy-a.tmp",
        "a/.tenancy-b.tmp/c",
    ],
)
def test_a_path_that_could_do_harm_is_refused(path: str) -> None:
    """Paths that leave the root, cannot be listed or are reserved have a fault."""
    assert path_fault(path)


@pytest.mark.parametrize("path", ["a", "a/b.yaml", "a/tenancy.lock", "a b", "..a", ".tenancy", "ü"])
def test_a_plain_relative_path_has_no_fault(path: str) -> None:
    """An ordinary relative path is accepted."""
    assert path_fault(path) is None


def test_folders_are_listed_after_the_folder_that_holds_them() -> None:
    """Every folder above the paths is listed once, parents first, the root not."""
    assert folders(["a/b/c", "a/d", "e", "a/b/f"]) == ["a", "a/b"]


def test_names_that_differ_in_case_or_kind_clash() -> None:
    """Files, folders, and a file against a folder clash where case does not count."""
    assert clashes(["A.yaml", "a.yaml"]) == [("A.yaml", "a.yaml")]
    assert clashes(["A/x", "a/y"]) == [("A", "a")]
    assert clashes(["x", "x/y"]) == [("x", "x")]
    assert clashes(["a/x", "a/y", "b"]) == []
