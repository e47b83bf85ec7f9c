"""Every dashboard is what Grafana's types say, and the types refuse one that is not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tenancy.backend import LOSSES
from tenancy.pipeline import Options, examine
from tenancy.plan import plan
from tests.cases.test_cases import CASES, EXAMPLE, NAMES
from tests.telemetry import grafana
from tests.telemetry.boards import Board, boards
from tests.telemetry.scenes import TREE, planned

SCHEDULERS: Final = ("kueue", "volcano", "native")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def packages() -> Path:
    """Grafana's types and TypeScript, where they can be had."""
    return grafana.needed(grafana.TYPES)


def _of(org: Path, scheduler: str) -> list[Board]:
    found = examine(org, Options(scheduler=scheduler, accepted=[rule.code for rule in LOSSES]))
    assert found.org is not None
    return [board for made in plan(found.org) for board in boards(made)]


def test_dashboards_have_grafanas_types(packages: Path, tmp_path: Path) -> None:
    """Those of the example and of every case, and one of a large department, under each scheduler."""
    teams: dict[str, Any] = {f"team-{index}": {} for index in range(40)}
    orgs = {"example": EXAMPLE, **{name: CASES / name / "org" for name in NAMES}}
    every: dict[str, Board] = {}
    for scheduler in SCHEDULERS:  # one run for all: the compiler reads Grafana's types each time
        large = boards(planned(scheduler, {**TREE, "departments": {"research": {"teams": teams}}}))
        for name, found in {"large": large, **{name: _of(org, scheduler) for name, org in orgs.items()}}.items():
            every |= {f"{scheduler}-{name}-{index}": board for index, board in enumerate(found)}
    assert grafana.mistakes(packages, every, tmp_path) == {}


def _panel(board: Board, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in board["panels"] if each["type"] == kind)
    return found


def _misspelt(kind: str, old: str, new: str) -> Callable[[Board], None]:
    """A change that gives a key of a panel another name."""

    def change(board: Board) -> None:
        panel = _panel(board, kind)
        panel[new] = panel.pop(old)

    return change


WRONG: Final[dict[str, Callable[[Board], Any]]] = {
    "misspelt-place": _misspelt("timeseries", "gridPos", "grdPos"),
    "misspelt-place-of-a-row": _misspelt("row", "gridPos", "gridpos"),
    "misspelt-key-of-the-board": lambda board: board.update(refesh=board.pop("refresh")),
    "unknown-kind-of-panel": lambda board: _panel(board, "table").update(type="tabel"),
    "unknown-option": lambda board: _panel(board, "timeseries")["options"].update(legnd={}),
    "option-of-another-panel": lambda board: _panel(board, "stat")["options"].update(cellHeight="sm"),
    "wrong-word": lambda board: _panel(board, "timeseries")["options"]["legend"].update(placement="below"),
    "unknown-default": lambda board: _panel(board, "timeseries")["fieldConfig"]["defaults"].update(units="s"),
    "unknown-look": lambda board: _panel(board, "timeseries")["fieldConfig"]["defaults"]["custom"].update(fill=1),
    "unknown-override": lambda board: _panel(board, "timeseries")["fieldConfig"]["overrides"][0]["properties"].append(
        {"id": "custom.fillOpacty", "value": 3}
    ),
    "unknown-colour-mode": lambda board: _panel(board, "stat")["fieldConfig"]["defaults"]["color"].update(mode="red"),
    "unknown-key-of-a-query": lambda board: _panel(board, "stat")["targets"][0].update(query="up"),
    "text-for-a-number": lambda board: _panel(board, "stat").update(id="1"),
    "unknown-transformation": lambda board: _panel(board, "table")["transformations"].append(
        {"id": "mrge", "options": {}}
    ),
    "unknown-kind-of-variable": lambda board: board["templating"]["list"][1].update(type="choice"),
    "without-a-uid": lambda board: board.pop("uid"),
}
"""Changes by which a dashboard is none any more."""


def test_a_dashboard_that_is_wrong_is_refused(packages: Path, tmp_path: Path) -> None:
    """Each of these changes is found, and nothing in the dashboard without them."""
    right = boards(planned("kueue"))[0]
    every = {"right": right}
    for name, change in WRONG.items():
        every[name] = copy.deepcopy(right)
        change(every[name])
    assert set(grafana.mistakes(packages, every, tmp_path)) == set(WRONG)
