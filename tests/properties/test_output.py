"""Laws of the guarded write that hold for any files."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tenancy.output.lock import LOCK, clashes, parse, render
from tenancy.output.write import survey, write

NAMES = st.sampled_from(["a", "b", "c.yaml", "d"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TEXTS = st.sampled_from(["", "1\n", "2\n", "ü\n", "x" * 300])
FILES = st.dictionaries(PATHS, TEXTS, max_size=6).filter(lambda files: not clashes(files))


def on_disk(root: Path) -> dict[str, str]:
    return {p.relative_to(root).as_posix(): p.read_text() for p in root.rglob("*") if p.is_file() and p.name != LOCK}


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(FILES, min_size=1, max_size=4), foreign=FILES)
def test_foreign_files_survive_and_ours_are_exact(steps: list[dict[str, str]], foreign: dict[str, str]) -> None:
    """The tree is the last accepted output and every foreign file as it was; a refusal changes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in foreign.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        ours: dict[str, str] = {}
        adopted: set[str] = set()
        for files in steps:
            before = on_disk(root)
            found = survey(root, files)
            written = write(root, files, found)
            if found.refusals:
                assert on_disk(root) == before
                continue
            assert written.diagnostics == ()
            adopted |= files.keys()
            ours = files
            assert on_disk(root) == {p: t for p, t in foreign.items() if p not in adopted} | ours
            assert survey(root, files).stale == ()


@given(digests=st.dictionaries(PATHS, st.lists(st.text("0123456789abcdef", min_size=64, max_size=64), min_size=1)))
def test_a_rendered_list_is_parsed_back(digests: dict[str, list[str]]) -> None:
    """Rendering and parsing a list lose no digest and invent none."""
    listing = parse(render(digests), repeats=True)
    assert listing.faults == ()
    assert {path: set(found) for path, found in listing.digests.items()} == {p: set(d) for p, d in digests.items()}


@given(data=st.binary(max_size=200))
def test_no_bytes_break_the_parser(data: bytes) -> None:
    """Arbitrary bytes give faults, or a list that renders to a lock again."""
    listing = parse(b"# tenancy.lock format 1\n" + data)
    assert listing.faults or parse(render(listing.digests), repeats=True).digests.keys() == listing.digests.keys()
