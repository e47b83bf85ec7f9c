"""The reverse proof: what we refuse, forced past our checks, and what the real thing makes of it.

Every figure and message of docs/why-checks.md comes from this run: `--golden` writes the page, else it is compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tenancy import check, load, model
from tests.cluster import deploy
from tests.cluster.defects.forced import Forced, compiled, healthy
from tests.cluster.defects.further import FURTHER
from tests.cluster.defects.judge import differing, nonconforming, refusal, refusals
from tests.cluster.defects.page import Row, page
from tests.cluster.defects.seeded import FORCED, SPELLING
from tests.cluster.defects.stage import Stage, staged
from tests.cluster.plane import Cluster
from tests.defects.test_defects import DEFECTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "why-checks.md"
EVERY = (*FORCED, *FURTHER)
RULES = {rule.code for rule in (*load.RULES, *model.RULES, *check.RULES)}


@dataclass(slots=True)
class Run:
    """What was seen of each mistake; each is looked at once."""

    stage: Stage
    malformed: dict[str, str]
    """What kubeconform says."""
    rows: dict[str, Row] = field(default_factory=dict)

    def row(self, forced: Forced) -> Row:
        """Apply a mistake, look, and clear up."""
        if forced.name not in self.rows:
            self.rows[forced.name] = self._looked_at(forced)
        return self.rows[forced.name]

    def _looked_at(self, forced: Forced) -> Row:
        made, outcome = compiled(forced, self.stage.cluster), None
        found = refusals(self.stage.cluster, made, self.stage.healthy)
        if forced.probe is not None:
            assert found == []
            try:
                if forced.before is not None:
                    forced.before(self.stage)
                self.stage.put(made)
                found = [refusal(each) for each in self.stage.refusals]
                outcome = forced.probe(self.stage)
            finally:
                self.stage.restore()
        return Row(forced, forced.name in self.malformed, tuple(found), outcome)


@pytest.fixture(scope="module")
def run(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The trial organization, on which one mistake after the other is put."""
    sound = healthy(cluster)
    cases = {forced.name: differing(compiled(forced, cluster), sound) for forced in EVERY}
    return Run(staged(cluster, sound), nonconforming(cases, tmp_path_factory.mktemp("cases")))


def test_every_seeded_defect_is_forced() -> None:
    """The reverse proof leaves out none of the thirty, and every mistake has a name of its own and one of our codes."""
    assert [forced.name for forced in FORCED] == [*(defect.name for defect in DEFECTS), SPELLING]
    assert [forced.code for forced in FORCED] == [*(defect.code for defect in DEFECTS), ""]
    assert len({forced.name for forced in EVERY}) == len(EVERY)
    assert {forced.code for forced in EVERY} - {""} <= RULES


@pytest.mark.kueue("0.17")
def test_the_older_kueue_refuses_the_same(cluster: Cluster) -> None:
    """Who refuses a mistake at its admission is the same for 0.17 as for 0.19."""
    sound = healthy(cluster)
    deploy.apply(cluster, [item for item in sound.objects if item["kind"] == "Namespace"])
    seen = {each.name: refusals(cluster, compiled(each, cluster), sound) for each in EVERY}
    assert {name: found[0].by if found else "" for name, found in seen.items()} == {
        each.name: each.refused for each in EVERY
    }


@pytest.mark.parametrize("forced", EVERY, ids=lambda forced: forced.name)
def test_a_forced_mistake_does_as_the_page_says(forced: Forced, run: Run, golden: bool) -> None:
    """The real API server and the real Kueue do to a mistake what docs/why-checks.md says, and refuse what is known."""
    row = run.row(forced)
    if forced.probe is None:
        assert row.refused_by[:1] == (forced.refused,)
    if not golden:
        assert row.text() in PAGE.read_text(encoding="utf-8").splitlines()


def test_the_page_is_that_of_the_run(run: Run, golden: bool) -> None:
    """docs/why-checks.md is what this run makes, with honest counts at its top."""
    made = page([run.row(forced) for forced in FORCED], [run.row(forced) for forced in FURTHER])
    if golden:
        PAGE.write_text(made, encoding="utf-8")
    assert made == PAGE.read_text(encoding="utf-8")
