"""What a finding is called by tools that compare one run with the next."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence

from tenancy.diagnostics import Diagnostic


def fingerprint(diagnostic: Diagnostic, occurrence: int = 1) -> str:
    """A hash, 32 hexadecimal digits, of the rule's code and the key path; lines, columns and wording do not enter it.

    A finding without a key path (a file that is not YAML) is known by its file instead. `occurrence` counts, from 1,
    the findings that would otherwise be called the same.
    """
    place = diagnostic.place
    parts: list[object] = [diagnostic.code, list(place.path)]
    if not place.path:
        parts.append(place.file)
    if occurrence > 1:
        parts.append({"occurrence": occurrence})
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:32]


def fingerprints(diagnostics: Sequence[Diagnostic]) -> list[str]:
    """One fingerprint for each diagnostic, in the same order, no two alike."""
    seen: Counter[str] = Counter()
    unique = []
    for diagnostic in diagnostics:
        first = fingerprint(diagnostic)
        seen[first] += 1
        unique.append(first if seen[first] == 1 else fingerprint(diagnostic, seen[first]))
    return unique
