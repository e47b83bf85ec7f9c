"""What Grafana's own code makes of the panels: the columns of the tables, and every name that it looks up."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, Final

import pytest

from tests.telemetry import grafana
from tests.telemetry.boards import boards, panels
from tests.telemetry.scenes import planned

pytestmark = pytest.mark.slow

SCHEDULERS: Final = ("kueue", "volcano", "native")
TITLES: Final = ["Quota", "Used", "Borrowed", "Idle", "Jobs that wait", "Wait of nine in ten", "Evictions an hour"]


@pytest.fixture(scope="module")
def packages() -> Path:
    """Grafana's library, where it can be had."""
    return grafana.needed(grafana.DATA)


def asked(panel: dict[str, Any]) -> dict[str, Any]:
    """A panel with data as the Prometheus data source hands it on: a frame for each query."""
    return {"panel": panel, "frames": (_table if panel["type"] == "table" else _course)(panel)}


def _table(panel: dict[str, Any]) -> list[dict[str, Any]]:
    """Two rows by the label of the table; the last query has one of them alone."""
    order = panel["transformations"][1]["options"]["indexByName"]
    label = min(order, key=lambda name: order[name])
    frames = []
    for index, target in enumerate(panel["targets"]):
        names = ["a", "b"] if index < len(panel["targets"]) - 1 else ["b"]
        values = [index * 10 + "ab".index(name) for name in names]
        fields = [
            {"name": "Time", "type": "time", "values": [1000] * len(names)},
            {"name": label, "type": "string", "values": names},
            {"name": f"Value #{target['refId']}", "type": "number", "values": values},
        ]
        frames.append({"refId": target["refId"], "fields": fields})
    return frames


def _course(panel: dict[str, Any]) -> list[dict[str, Any]]:
    """A series for each query, and one for each name that an override of a series by label has."""
    overridden = [each["matcher"]["options"] for each in panel["fieldConfig"]["overrides"]]
    frames = []
    for target in panel["targets"]:
        legend = target["legendFormat"]
        for name in overridden if legend.startswith("{{") else [legend]:
            fields = [
                {"name": "Time", "type": "time", "values": [1000]},
                {"name": "Value", "type": "number", "values": [1], "config": {"displayNameFromDS": name}},
            ]
            frames.append({"refId": target["refId"], "fields": fields})
    return frames


def test_grafana_knows_every_name(packages: Path) -> None:
    """Units, colour modes, reductions and transformations are there, and each override finds its field."""
    every = [
        panel for scheduler in SCHEDULERS for board in boards(planned(scheduler)) for panel in panels(board)
    ]  # in one run: to load the library takes longer than all the panels
    found = grafana.answers(packages, [asked(panel) for panel in every])
    assert [(each["title"], each["unknown"]) for each in found if each["unknown"]] == []


def test_tables_have_a_row_for_each_department_and_their_columns_in_order(packages: Path) -> None:
    """The queries come together by the label, without the time; what a query does not say stays empty."""
    table = next(panel for panel in panels(boards(planned("kueue"))[0]) if panel["type"] == "table")
    (found,) = grafana.answers(packages, [asked(table)])
    assert found["columns"] == [
        ["Department", ["a", "b"]],
        *([title, [index * 10, index * 10 + 1]] for index, title in enumerate(TITLES)),
        ["Queues that do not work", [None, 71]],
    ]
    assert [each["displayName"] for each in table["options"]["sortBy"]] == [*TITLES[4:6], "Used"]


def test_names_that_grafana_does_not_have_are_found(packages: Path) -> None:
    """Of a panel with wrong names each is reported."""
    right = next(panel for panel in panels(boards(planned("kueue"))[0]) if panel["type"] == "stat")
    wrong = copy.deepcopy(right)
    wrong["fieldConfig"]["defaults"] |= {"unit": "gpus", "color": {"mode": "okabe"}}
    wrong["options"]["reduceOptions"]["calcs"] = ["newest"]
    wrong["fieldConfig"]["overrides"] = [{"matcher": {"id": "byName", "options": "usd"}, "properties": []}]
    good, bad = grafana.answers(packages, [asked(right), asked(right) | {"panel": wrong}])
    assert good["unknown"] == []
    assert bad["unknown"] == ["unit gpus", "colour mode okabe", "reduction newest", "field usd"]
