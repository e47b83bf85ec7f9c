"""What makes two findings the same from one run to the next."""

from __future__ import annotations

from tenancy.report.fingerprint import fingerprint, fingerprints

from .build import IDLE, finding, place


def test_stable_when_lines_move() -> None:
    """Line, column, file and wording of a finding with a key path do not change its fingerprint."""
    before = finding(place(1, 1, 2, path=("a", "b")), "64 are too many")
    after = finding(place(70, 3, 9, file="b.yaml", path=("a", "b")), "72 are too many")
    assert fingerprint(before) == fingerprint(after)


def test_known_value() -> None:
    """The hash itself is part of the format: a change of it would reopen every finding of every user."""
    assert fingerprint(finding(place(1, 1, 2, path=("a", 0)))) == "35de5c6184b90fd2fa509c1ca0e51f2d"


def test_told_apart() -> None:
    """Another rule, path, kind of step, or file without a path is another finding."""
    found = [
        finding(place(1, 1, 2, path=("a",))),
        finding(place(1, 1, 2, path=("a",)), rule=IDLE),
        finding(place(1, 1, 2, path=("a", 1))),
        finding(place(1, 1, 2, path=("a", "1"))),
        finding(place(1, 1, 2, path=())),
        finding(place(1, 1, 2, path=(), file="b.yaml")),
    ]
    assert len({fingerprint(item) for item in found}) == len(found)


def test_occurrences() -> None:
    """Of findings that are called the same the first keeps its name, and the others get names of their own."""
    one, other = finding(place(1, 1, 2)), finding(place(1, 1, 2), rule=IDLE)
    names = fingerprints([one, other, one, one])
    assert names[:2] == [fingerprint(one), fingerprint(other)]
    assert len(set(names)) == 4
