"""The form of Grafana's dashboards: plain data, as its library @grafana/schema types it (checked in tests/telemetry).

Colours are those of Okabe and Ito, which people tell apart who do not see all colours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

Panel: TypeAlias = dict[str, Any]
"""A panel before it has a place."""

SCHEMA: Final = 39
"""Of Grafana 11.0; later ones bring it up to date as they load it."""
SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}

BLUE, SKY, GREEN, ORANGE, RED, PURPLE, YELLOW, GREY = (
    *("#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#F0E442", "#999999"),
)
_CYCLE: Final = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, YELLOW, GREY)
MOST_COLOURS: Final = 2 * len(_CYCLE)
"""Names that get colours of their own, each colour twice; more nobody tells apart."""


class Link(NamedTuple):
    """A way to other dashboards: to one, or to all with the tags."""

    title: str
    tooltip: str
    tags: tuple[str, ...] = ()
    url: str = ""


class Look(NamedTuple):
    """How a line of a chart is drawn."""

    colour: str
    fill: int = 0
    dashes: tuple[int, ...] = ()


AREA, SHADE = 15, 50
DASHED, DOTTED = (8, 6), (2, 4)


class Line(NamedTuple):
    """A query of a chart; `legend` is its name, or the label in double braces that names each of its series."""

    legend: str
    query: str
    look: Look | None = None


class Column(NamedTuple):
    """A query of a table, with one value for each row."""

    title: str
    query: str
    unit: str = "none"
    steps: tuple[tuple[float, str], ...] = ()
    """From which value on a cell has which colour."""


def dashboard(
    uid: str,
    title: str,
    description: str,
    *,
    tags: Sequence[str],
    links: Iterable[Link],
    variables: Iterable[dict[str, Any]],
    panels: list[Panel],
) -> dict[str, Any]:
    """A dashboard that people look at and nobody edits: the next sync would take it back."""
    return {
        "annotations": {"list": []},
        "description": description,
        "editable": False,
        "graphTooltip": 1,
        "links": [_link(link) for link in links],
        "panels": panels,
        "refresh": "1m",
        "schemaVersion": SCHEMA,
        "tags": [*tags],
        "templating": {"list": [_source(), *variables]},
        "time": {"from": "now-24h", "to": "now"},
        "timepicker": {},
        "timezone": "browser",
        "title": title,
        "uid": uid,
    }


def text(board: Mapping[str, Any]) -> str:
    """A dashboard as JSON, keys sorted, each panel on a line of its own, so that a change shows as one."""
    lines = [f"{json.dumps(key)}: {_value(key, board[key])}" for key in sorted(board)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def chosen(name: str, label: str, description: str, options: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """A variable with one of these values, each with the text that is shown for it; the first one to begin with."""
    listed = [*options]
    options_text = ", ".join(f"{shown} : {value}".replace(",", "\\,") for shown, value in listed)
    shown, value = listed[0]
    return {
        "current": {"selected": True, "text": shown, "value": value},
        "description": description,
        "hide": 0,
        "includeAll": False,
        "label": label,
        "multi": False,
        "name": name,
        "query": options_text,
        "type": "custom",
    }


def found(name: str, label: str, description: str, query: str, first: str) -> dict[str, Any]:
    """A variable with several of the values that Prometheus has, sorted; `first` to begin with."""
    return {
        "current": {"selected": True, "text": [first], "value": [first]},
        "datasource": SOURCE,
        "description": description,
        "hide": 0,
        "includeAll": False,
        "label": label,
        "multi": True,
        "name": name,
        "query": query,
        "refresh": 2,
        "sort": 1,
        "type": "query",
    }


def chart(
    title: str,
    description: str,
    lines: Sequence[Line],
    unit: str = "none",
    *,
    names: Sequence[str] = (),
    stacked: bool = False,
    empty: str = "no data",
) -> Panel:
    """A chart over time. `names`: the series that a label names, each in a colour of its own unless they are too many;
    `empty`: what is written where there is nothing to draw."""
    custom = {
        "drawStyle": "line",
        "fillOpacity": AREA if stacked else 0,
        "lineWidth": 1,
        "showPoints": "never",
        "spanNulls": False,
        "stacking": {"group": "A", "mode": "normal" if stacked else "none"},
    }
    looks = [(line.legend, line.look) for line in lines if line.look is not None]
    if len(names) <= MOST_COLOURS:
        looks += [(name, Look(_CYCLE[index % len(_CYCLE)])) for index, name in enumerate(names)]
    return {
        **_panel("timeseries", title, description),
        "fieldConfig": {
            "defaults": {"custom": custom, "min": 0, "noValue": empty, "unit": unit},
            "overrides": [_override(name, _drawn(look)) for name, look in looks],
        },
        "interval": "1m",
        "options": {
            "legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc" if names else "none"},
        },
        "targets": [
            {**_target(index, line.query), "legendFormat": line.legend, "range": True}
            for index, line in enumerate(lines)
        ],
    }


def number(
    title: str, description: str, query: str, unit: str = "none", steps: Sequence[tuple[float, str]] = ()
) -> Panel:
    """One number, as it is now, with its course behind it."""
    return {
        **_panel("stat", title, description),
        "fieldConfig": {
            "defaults": {"color": {"mode": "thresholds"}, "thresholds": _thresholds(steps, BLUE), "unit": unit},
            "overrides": [],
        },
        "interval": "1m",
        "options": {
            "colorMode": "value",
            "graphMode": "area",
            "justifyMode": "auto",
            "orientation": "auto",
            "percentChangeColorMode": "standard",
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "showPercentChange": False,
            "textMode": "auto",
            "wideLayout": True,
        },
        "targets": [{**_target(0, query), "legendFormat": title, "range": True}],
    }


def table(
    title: str, description: str, label: str, shown: str, columns: Sequence[Column], *, worst: Sequence[str], link: str
) -> Panel:
    """A row for each value of a label, which is called `shown`, with the highest of the columns `worst` first."""
    values = [f"Value #{_letter(index)}" for index in range(len(columns))]
    order = {name: index for index, name in enumerate((label, *values))}
    titles = {label: shown, **{value: column.title for value, column in zip(values, columns, strict=True)}}
    links = [{"title": "Open", "url": link, "targetBlank": False}]
    overrides = [_override(column.title, _cell(column)) for column in columns]
    return {
        **_panel("table", title, description),
        "fieldConfig": {
            "defaults": {"custom": {"align": "auto", "cellOptions": {"type": "auto"}, "inspect": False}},
            "overrides": [*([_override(shown, {"links": links})] if link else []), *overrides],
        },
        "options": {
            "cellHeight": "sm",
            "frameIndex": 0,
            "showHeader": True,
            "sortBy": [{"desc": True, "displayName": name} for name in worst],
        },
        "targets": [
            {**_target(index, column.query), "format": "table", "instant": True, "range": False}
            for index, column in enumerate(columns)
        ],
        "transformations": [
            {"id": "merge", "options": {}},
            {
                "id": "organize",
                "options": {"excludeByName": {"Time": True}, "indexByName": order, "renameByName": titles},
            },
        ],
    }


def row(title: str, *, collapsed: bool = False, repeat: str = "") -> Panel:
    """A row that opens and closes; `repeat`: once for each value of a variable."""
    repeated = {"repeat": repeat} if repeat else {}
    return {"collapsed": collapsed, "panels": [], "title": title, "type": "row", **repeated}


def _panel(kind: str, title: str, description: str) -> Panel:
    return {"datasource": SOURCE, "description": description, "title": title, "type": kind}


def _target(index: int, query: str) -> dict[str, Any]:
    return {"datasource": SOURCE, "editorMode": "code", "expr": query, "refId": _letter(index)}


def _letter(index: int) -> str:
    return chr(ord("A") + index)


def _override(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    listed = [{"id": key, "value": value} for key, value in properties.items()]
    return {"matcher": {"id": "byName", "options": name}, "properties": listed}


def _drawn(look: Look) -> dict[str, Any]:
    dashes = {"custom.lineStyle": {"fill": "dash", "dash": [*look.dashes]}} if look.dashes else {}
    fill = {"custom.fillOpacity": look.fill} if look.fill else {}
    return {"color": {"mode": "fixed", "fixedColor": look.colour}, **fill, **dashes}


def _cell(column: Column) -> dict[str, Any]:
    properties: dict[str, Any] = {"unit": column.unit}
    if column.steps:
        properties["thresholds"] = _thresholds(column.steps, "text")
        properties["custom.cellOptions"] = {"type": "color-text"}
    return properties


def _thresholds(steps: Sequence[tuple[float, str]], base: str) -> dict[str, Any]:
    first = {"color": base, "value": None}
    return {"mode": "absolute", "steps": [first, *({"color": colour, "value": value} for value, colour in steps)]}


def _source() -> dict[str, Any]:
    """The Prometheus that is asked; the one that Grafana asks by default, to begin with."""
    return {
        "current": {"selected": True, "text": "default", "value": "default"},
        "description": "The Prometheus that has the rules of this cluster.",
        "hide": 0,
        "includeAll": False,
        "label": "Prometheus",
        "multi": False,
        "name": "datasource",
        "query": "prometheus",
        "refresh": 1,
        "regex": "",
        "type": "datasource",
    }


def _link(link: Link) -> dict[str, Any]:
    return {
        "asDropdown": bool(link.tags),
        "icon": "dashboard",
        "includeVars": True,
        "keepTime": True,
        "tags": [*link.tags],
        "targetBlank": False,
        "title": link.title,
        "tooltip": link.tooltip,
        "type": "link" if link.url else "dashboards",
        "url": link.url,
    }


def _value(key: str, value: Any) -> str:
    if key != "panels":
        return _json(value)
    return "[\n" + ",\n".join(map(_json, value)) + "\n]"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
