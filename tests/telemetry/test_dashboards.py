"""Laws of the dashboards, on random organizations: what Grafana and those who look at it rely on."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenancy.backend.telemetry.dashboards import LONGEST, department, overview, server, uid
from tenancy.backend.telemetry.dashboards.grid import COLUMNS, Section, Strip, placed
from tenancy.backend.telemetry.names import QUEUE_STOPPED, UNIT
from tenancy.backend.telemetry.units import top_departments
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.examples import often
from tests.orgs import changed, organized, scheduled
from tests.strategies import organizations
from tests.telemetry.boards import Board, boards, config_maps, named, options, panels, queries, rows, variable
from tests.telemetry.scenes import TREE, names, planned, rules

SETTINGS = settings(max_examples=often(8), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SCHEDULERS: Final = ("kueue", "volcano", "native")
MIB: Final = 1 << 20
BLIND_SAFE: Final = {"#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#F0E442", "#999999", "text"}
"""Okabe and Ito's, a grey, and the colour of the text."""

given_clusters = given(st.tuples(organizations(), st.sampled_from(SCHEDULERS)))


def clusters(drawn: tuple[dict[str, Any], str]) -> tuple[ClusterPlan, ...]:
    """The plans of a random organization under a scheduler, for clusters that have nodes."""
    tree, scheduler = drawn
    return tuple(made for made in plan(organized(scheduled(tree, scheduler))) if made.flavors)


def teams(number: int) -> dict[str, Any]:
    """A department of so many teams, every third in a department inside."""
    names = [f"team-{index:04}" for index in range(number)]
    inner, own = names[::3], [name for index, name in enumerate(names) if index % 3]
    inside: dict[str, Any] = {"inner": {"teams": {name: {} for name in inner}}}
    return {"departments": {"research": {"teams": {name: {} for name in own}, "departments": inside}}}


def of_teams(number: int, scheduler: str = "kueue") -> ClusterPlan:
    """A plan with one department of so many teams."""
    return planned(scheduler, {**TREE, **teams(number)})


def covered(board: Board) -> None:
    """What is shown takes every cell once, down to the last line, and so does what each closed row shows below it."""
    blocks = [(0, board["panels"])]
    blocks += [(row["gridPos"]["y"] + 1, row["panels"]) for row in rows(board) if row["collapsed"]]
    for top, block in blocks:
        taken = Counter(cell for each in block for cell in _cells(each["gridPos"]))
        bottom = max((line for _, line in taken), default=top - 1)
        assert set(taken) == {(column, line) for column in range(COLUMNS) for line in range(top, bottom + 1)}
        assert set(taken.values()) <= {1}


def _cells(place: dict[str, int]) -> Iterator[tuple[int, int]]:
    for column in range(place["x"], place["x"] + place["w"]):
        for line in range(place["y"], place["y"] + place["h"]):
            yield column, line


@SETTINGS
@given_clusters
def test_panels_fill_the_width_and_none_covers_another(drawn: tuple[dict[str, Any], str]) -> None:
    """Each line of the grid has all of its 24 columns taken, once."""
    for made in clusters(drawn):
        for board in boards(made):
            covered(board)


@SETTINGS
@given_clusters
def test_numbers_uids_and_keys_are_unique_and_short(drawn: tuple[dict[str, Any], str]) -> None:
    """Panels of a dashboard have different numbers, dashboards different uids that Grafana takes, and files and
    ConfigMaps different names."""
    made = clusters(drawn)
    every = [board for each in made for board in boards(each)]
    for board in every:
        numbers = [each["id"] for each in (*panels(board), *rows(board))]
        assert len(set(numbers)) == len(numbers)
        assert all(0 < number < 1 << 31 for number in numbers)
        assert re.fullmatch(r"[a-zA-Z0-9_-]{8,40}", board["uid"])
    assert len({board["uid"] for board in every}) == len(every)
    for each in made:
        maps = config_maps(each)
        assert len({found["metadata"]["name"] for found in maps}) == len(maps)
        assert [key for found in maps for key in found["data"]] == [f"{board['uid']}.json" for board in boards(each)]


@SETTINGS
@given_clusters
def test_every_unit_is_on_exactly_one_dashboard(drawn: tuple[dict[str, Any], str]) -> None:
    """Each queue has its panels on the dashboard of its department, and each department inside has its row there."""
    for made in clusters(drawn):
        seen = Counter(title for board in boards(made)[1:] for title in _units_of(board))
        assert seen == Counter(queue.title for queue in made.queues)
        inner = Counter(row["title"] for board in boards(made)[1:] for row in rows(board) if "/" in row["title"])
        assert inner == Counter(group.title.replace("/", " / ") for group in made.groups if "/" in group.title)


def _units_of(board: Board) -> set[str]:
    found = (re.match(r'sum\(tenancy:used\{unit="([^"]+)"', each.text) for each in queries(board, 'resource="cpu"'))
    return {match[1] for match in found if match}


@SETTINGS
@given_clusters
def test_queries_name_only_series_that_are_there(drawn: tuple[dict[str, Any], str]) -> None:
    """Each query, whatever is chosen, is PromQL over recorded series of the cluster or named ones of the API server,
    asked of the chosen Prometheus. That a queue is stopped is recorded only where one is, and only ever left out."""
    for made in clusters(drawn):
        known = names(rules(made), "record") | set(server.SERIES) | {QUEUE_STOPPED}
        for board in boards(made):
            for kind in options(board).values():
                for query in queries(board, kind):
                    assert named(query.text) <= known, query
                    assert "${" not in query.text
            for panel in panels(board):
                assert {target["datasource"]["uid"] for target in panel["targets"]} == {"${datasource}"}
                letters = [target["refId"] for target in panel["targets"]]
                assert len(set(letters)) == len(letters)


@SETTINGS
@given_clusters
def test_every_panel_says_what_it_means_in_colours_that_all_can_tell(drawn: tuple[dict[str, Any], str]) -> None:
    """A title, one sentence, a unit, and colours of the palette alone."""
    for made in clusters(drawn):
        for board in boards(made):
            assert board["editable"] is False
            for panel in panels(board):
                assert panel["title"]
                assert re.fullmatch(r"[A-Z][^.]*\.", panel["description"]), panel["description"]
                assert "unit" in json.dumps(panel["fieldConfig"])
                found = re.findall(r'"(?:fixedColor|color)": "([^"]+)"', json.dumps(panel))
                assert set(found) <= BLIND_SAFE


@SETTINGS
@given_clusters
def test_links_lead_to_dashboards_that_are_there(drawn: tuple[dict[str, Any], str]) -> None:
    """The overview's table opens each department, each department opens the overview, and the menu has them all."""
    for made in clusters(drawn):
        first, *others = boards(made)
        titles = [board["title"].rsplit(" / ", 1)[1] for board in others]
        assert titles == [department.title for department in top_departments(made)]
        (link,) = re.findall(r'"url": "(/d/[^"]+)"', json.dumps([*panels(first)]))
        for name, board in zip(titles, others, strict=True):
            assert link.split("?")[0].replace("${__value.raw}", name) == f"/d/{board['uid']}"
            assert board["links"][0]["url"] == f"/d/{first['uid']}"
        for menu in (first["links"][0], *(board["links"][1] for board in others)):
            assert [board["uid"] for board in boards(made) if {*menu["tags"]} <= {*board["tags"]}] == [
                board["uid"] for board in others
            ]


@SETTINGS
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 6), st.booleans(), st.booleans()), max_size=12))
def test_any_strips_fill_the_grid(drawn: list[tuple[int, int, bool, bool]]) -> None:
    """Whatever number of panels stands side by side, under open and closed rows, all columns are taken once."""
    row = {"type": "row", "title": "row", "panels": []}
    sections = [
        Section(
            {**row, "collapsed": closed, "title": str(index)},
            (Strip(str(index), height, ({"type": "chart", "title": "same"},) * count, wider),),
        )
        for index, (height, count, closed, wider) in enumerate(drawn)
    ]
    covered({"panels": placed(sections)})


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_large_department_has_one_set_of_panels_for_the_units_that_are_chosen(scheduler: str) -> None:
    """From a number of units on, the dashboard is as small for three hundred teams as for sixty."""
    few, one_more, some, many = (boards(of_teams(number, scheduler))[1] for number in (16, 17, 60, 300))
    assert variable(one_more, "unit") is not None
    assert variable(few, "unit") is None
    sizes = [len(json.dumps(board)) for board in (few, some, many)]
    assert sizes[1] == sizes[2] < sizes[0]
    choice = variable(many, "unit")
    assert choice is not None
    assert choice["query"] == 'label_values(tenancy:queue_info{department="research"}, unit)'
    assert choice["current"]["value"] == ["research/inner/team-0000"]
    assert [row["repeat"] for row in rows(many)] == ["unit"]


def test_the_units_of_a_large_cluster_are_chosen_in_every_department() -> None:
    """Many small departments do not make the output large."""
    tree: dict[str, Any] = {f"part-{index:02}": {"teams": {name: {} for name in "abc"}} for index in range(70)}
    found = boards(planned("kueue", {**TREE, "departments": tree}))
    assert len(found) == 71
    assert all(variable(board, "unit") for board in found[1:])
    assert sum(len(json.dumps(board)) for board in found) < 2 * MIB


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_no_object_comes_near_what_the_api_server_takes(scheduler: str) -> None:
    """The largest dashboards that there can be are far below 1 MiB: most units each on their own, and a thousand."""
    for number in (department.LARGE, 1000):
        for each in config_maps(of_teams(number, scheduler)):
            assert max(len(text.encode()) for text in each["data"].values()) < MIB // 4


def test_many_kinds_are_chosen_and_not_listed() -> None:
    """With more kinds of GPUs than one looks over, the overview has one chart for the one that is chosen."""
    flavor = {"gpu": "H100-SXM-80GB", "nodes": 1, "node": {"gpus": 8, "cpu": 96, "memory": "1Ti"}}
    for number, charts in ((overview.MOST_KINDS, overview.MOST_KINDS), (overview.MOST_KINDS + 1, 1)):
        flavors = {f"h{index}": flavor for index in range(number)}
        tree = changed(TREE, {"departments": {"research": {"teams": {"vision": {}}}}})
        first = boards(planned("kueue", {**tree, "flavors": flavors}))[0]
        assert len([panel for panel in panels(first) if "capacity" in json.dumps(panel["targets"])]) == charts


def test_there_are_none_where_they_are_not_wanted_or_would_be_empty() -> None:
    """Neither with `grafana: off` nor without the rules that they show."""
    assert config_maps(planned("kueue", grafana="off")) == []
    assert config_maps(planned("kueue", prometheus="off")) == []
    without = boards(planned("kueue", changed(TREE, {"clusters.train.apiShares": 0})))[0]
    assert "API server" in {row["title"] for row in rows(boards(planned("kueue"))[0])}
    assert "API server" not in {row["title"] for row in rows(without)}
    assert len(config_maps(planned("kueue"))) == 3


def test_config_maps_are_where_the_sidecar_looks() -> None:
    """In the namespace of the telemetry, with the label of the sidecar's default and the organization's folder."""
    for each in config_maps(planned("kueue", namespace="observability")):
        assert each["metadata"]["namespace"] == "observability"
        assert each["metadata"]["labels"]["grafana_dashboard"] == "1"
        assert each["metadata"]["annotations"]["grafana_folder"] == "acme"


def test_a_new_team_leaves_the_numbers_of_other_panels_alone() -> None:
    """Links to a panel, and its line in a change, stay as they are when a team comes before it."""
    more = {**TREE["departments"]["research"]["teams"], "audio": {}}
    before, after = (
        {panel["title"]: panel["id"] for panel in panels(boards(planned("kueue", tree))[1 + index])}
        for tree, index in ((TREE, 1), (changed(TREE, {"departments.research.teams": more}), 1))
    )
    assert before.items() < after.items()


def test_each_panel_is_a_line() -> None:
    """A change of one panel is one line of a change in git."""
    (text,) = config_maps(planned("kueue"))[0]["data"].values()
    board = json.loads(text)
    lines = {line.rstrip(",") for line in text.splitlines()}
    assert {json.dumps(panel, ensure_ascii=False, sort_keys=True) for panel in board["panels"]} <= lines


def test_a_long_name_still_has_a_uid_and_its_menu() -> None:
    """Of names that no uid can hold the dashboards have one of their own, and the table does not link to nowhere."""
    long: dict[str, Any] = {f"{'research' * 5}{end}": {"teams": {"a": {}}} for end in "xy"}
    made = planned("kueue", {**TREE, "departments": long})
    first, *others = boards(made)
    assert len({board["uid"] for board in others}) == 2
    assert all(len(board["uid"]) == LONGEST for board in others)
    assert "/d/" not in json.dumps([*panels(first)])
    assert uid(made) == first["uid"]


def test_kinds_of_the_department_come_first() -> None:
    """A department opens on GPUs that it owns; GPUs come before cpu."""
    first, product, research = boards(planned("kueue"))
    assert list(options(first)) == ["h100", "cpu: cores", "cpu: memory"]
    assert list(options(research)) == ["h100", "cpu: cores", "cpu: memory"]
    assert next(iter(options(product))) == "h100"


def test_units_to_choose_from_are_labels_of_the_units() -> None:
    """The query of the variable asks for a label that the series has."""
    choice = variable(boards(of_teams(20))[1], "unit")
    assert choice is not None
    matched = re.fullmatch(r"label_values\((.+), (\w+)\)", choice["query"])
    assert matched is not None
    assert named(matched[1]) == {"tenancy:queue_info"}
    assert matched[2] in UNIT
