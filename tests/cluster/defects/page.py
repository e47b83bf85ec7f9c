"""docs/why-checks.md: what we refuse, who else would have noticed, and what would have happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tests.cluster import versions
from tests.cluster.defects.forced import Forced
from tests.cluster.defects.judge import Refusal
from tests.cluster.defects.stage import Comes, Outcome

SHOWN: Final = 240
"""Characters of a refusal."""
HEAD: Final = "| mistake | what was written | our code | who else notices | what happens |\n|---|---|---|---|---|"

PAGE: Final = """\
# Why each check

What Kubernetes and Kueue make of the mistakes that `tenancy` refuses. Each was forced past our checks and applied to a
real control plane, Kubernetes {kubernetes} with Kueue {kueue}, where people then tried to work. The page is written by
that run (`tests/cluster/test_defects.py --golden`), and a test fails when it is no longer what happens.

*Who else notices*: `kubeconform` in strict mode with the schemas of this repository, before anything is applied · the
API server, or a webhook of Kueue behind it, by refusing an object · Kueue's status: a queue that is not active, with
its message · the job that waits, whose Workload says why once somebody has submitted it · nobody: jobs run that must
not, or do not run, and no queue and no Workload has a word about it.

## The thirty seeded mistakes

{seeded_count}

{seeded}

## Further mistakes

Claims of other checks, put to the same test. {further_count}

{further}
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What was seen of one mistake."""

    forced: Forced
    malformed: bool
    """Whether kubeconform refuses it."""
    refusals: tuple[Refusal, ...]
    outcome: Outcome | None

    @property
    def refused_by(self) -> tuple[str, ...]:
        """Who refuses it, each once."""
        return tuple(dict.fromkeys(refusal.by for refusal in self.refusals))

    def text(self) -> str:
        """The row of the table."""
        code = (
            f"[{self.forced.code}](checks.md#{self.forced.code})" if self.forced.code else "none: emitted canonically"
        )
        cells = (self.forced.name, self.forced.written, code, self._noticed(), self._happens())
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    def _noticed(self) -> str:
        named = [*(["kubeconform"] if self.malformed else []), *self.refused_by]
        if not named and self.outcome is not None:
            named = [self.outcome.comes.value]
        return ", ".join(named)

    def _happens(self) -> str:
        refused = [_code(self.refusals[0].message)] if self.refusals else []
        return "; ".join([*refused, *([self.outcome.seen] if self.outcome is not None else [])])


def page(seeded: Sequence[Row], further: Sequence[Row]) -> str:
    """The whole page."""
    return PAGE.format(
        kubernetes=versions.KUBERNETES[versions.DEFAULT_KUBERNETES].removeprefix("v"),
        kueue=versions.KUEUE[versions.DEFAULT_KUEUE].removeprefix("v"),
        seeded_count=counted(seeded),
        seeded=_table(seeded),
        further_count=counted(further),
        further=_table(further),
    )


def counted(rows: Sequence[Row]) -> str:
    """How many of the mistakes come out where, in a sentence."""
    refused = [row for row in rows if row.refusals]
    passed = [row.outcome.comes for row in rows if not row.refusals and row.outcome is not None]
    assert len(refused) + len(passed) == len(rows)
    offline = sum(row.malformed for row in rows)
    shown, waits, silent, harmless = (
        passed.count(each) for each in (Comes.STATUS, Comes.WAITS, Comes.SILENT, Comes.HARMLESS)
    )
    return (
        f"Of {len(rows)}, the API server and Kueue's admission refuse {len(refused)} (kubeconform knows {offline} of "
        f"them before). Of the {len(passed)} that pass, {shown} show in the status of a queue, {waits} only when a job "
        f"waits, {silent} nowhere at all, and {harmless} did no harm in this run."
    )


def _table(rows: Iterable[Row]) -> str:
    return "\n".join([HEAD, *(row.text() for row in rows)])


def _code(message: str) -> str:
    cut = message if len(message) <= SHOWN else message[:SHOWN].rstrip() + " …"
    return f"`{cut.replace('`', chr(39))}`"
