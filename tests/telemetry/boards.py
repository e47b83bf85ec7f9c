"""The dashboards of a cluster as Grafana reads them, and their queries as it sends them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias

import promql_parser

from tenancy.backend import telemetry
from tenancy.backend.manifest import Object
from tenancy.plan.values import ClusterPlan

Board: TypeAlias = dict[str, Any]

_OPTION: Final = re.compile(r"(?:\\,|[^,])+")
"""As CustomVariable of @grafana/scenes 6.57 takes options apart."""
_SHOWN: Final = re.compile(r"^\s*(.+)\s:\s(.+)$")


class Query(NamedTuple):
    """A query as Prometheus gets it, and where it is."""

    board: str
    panel: str
    text: str


def config_maps(made: ClusterPlan) -> list[Object]:
    """The objects with the dashboards of a cluster."""
    return [each for item in telemetry.compile(made) for each in item.objects if each["kind"] == "ConfigMap"]


def boards(made: ClusterPlan) -> list[Board]:
    """The dashboards of a cluster, the overview first."""
    return [json.loads(text) for each in config_maps(made) for text in each["data"].values()]


def panels(board: Board) -> Iterator[dict[str, Any]]:
    """All panels, those in rows as well, without the rows."""
    for each in board["panels"]:
        yield from each["panels"] if each["type"] == "row" else (each,)


def rows(board: Board) -> list[dict[str, Any]]:
    """The rows."""
    return [each for each in board["panels"] if each["type"] == "row"]


def variable(board: Board, name: str) -> dict[str, Any] | None:
    """A variable of the dashboard, if it has it."""
    return next((each for each in board["templating"]["list"] if each["name"] == name), None)


def options(board: Board, name: str = "kind") -> dict[str, str]:
    """What a variable offers, by the text that is shown."""
    chosen = variable(board, name)
    assert chosen is not None
    found = {}
    for option in _OPTION.findall(chosen["query"]):
        shown = _SHOWN.match(option.replace("\\,", ","))
        assert shown is not None
        found[shown[1].strip()] = shown[2].strip()
    return found


def queries(board: Board, kind: str, unit: str = "research/vision") -> Iterator[Query]:
    """Every query of the dashboard where this kind and this unit are chosen."""
    values = {"${kind:raw}": kind, "$unit": unit, "$__rate_interval": "5m"}
    for panel in panels(board):
        for target in panel["targets"]:
            text = target["expr"]
            for name, value in values.items():
                text = text.replace(name, value)
            yield Query(board["title"], panel["title"], text)


def named(query: str) -> set[str]:
    """The series that a query names."""
    return set(_names(promql_parser.parse(query)))


def _names(node: Any) -> Iterator[str]:
    if isinstance(node, promql_parser.VectorSelector):
        yield str(node.name)
    elif isinstance(node, promql_parser.MatrixSelector):
        yield str(node.vector_selector.name)
    elif isinstance(node, promql_parser.BinaryExpr):
        yield from _names(node.lhs)
        yield from _names(node.rhs)
    elif isinstance(node, promql_parser.Call):
        for argument in node.args:
            yield from _names(argument)
    elif isinstance(node, promql_parser.AggregateExpr | promql_parser.ParenExpr | promql_parser.UnaryExpr):
        yield from _names(node.expr)
    else:
        assert isinstance(node, promql_parser.NumberLiteral | promql_parser.StringLiteral)
