"""The files of the site: HTML from the documents in templates/site, with every value escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tenancy.compare.comparison import Comparison
from tenancy.compare.views.text import text
from tenancy.resources import data_path
from tenancy.site.values import ClusterPage, UnitPage

_PLAIN: Final = ("style.css", "script.js")
_FOLDED: Final = 60
"""Units in a cluster beyond which the tree starts with its departments closed."""


def site(name: str, clusters: tuple[ClusterPage, ...], comparison: Comparison | None = None) -> dict[str, str]:
    """The text of every file of the site by its path; `name` is what the organization is called."""
    environment = _environment()
    plan = text(comparison, width=100, objects=False) if comparison is not None else ""
    shared: dict[str, Any] = {"organization": name, "plan": plan, "several": len(clusters) > 1}
    files = {file: environment.get_template(file).render() for file in _PLAIN}
    folded = sum(unit.teams for cluster in clusters for unit in cluster.departments) > _FOLDED
    files["index.html"] = _page(environment, "index", {**shared, "clusters": clusters, "folded": folded, "up": ""})
    unit_page = environment.get_template("unit.html.j2")
    for unit in _all(clusters):
        files[f"units/{unit.page}"] = unit_page.render({**shared, "unit": unit, "up": "../"})
    if plan:
        files["plan.html"] = _page(environment, "plan", {**shared, "up": ""})
    return files


def _page(environment: Environment, name: str, values: Mapping[str, Any]) -> str:
    return environment.get_template(f"{name}.html.j2").render(values)


def _all(clusters: tuple[ClusterPage, ...]) -> Iterator[UnitPage]:
    for cluster in clusters:
        for unit in cluster.departments:
            yield from _below(unit)


def _below(unit: UnitPage) -> Iterator[UnitPage]:
    yield unit
    for child in unit.children:
        yield from _below(child)


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(data_path("templates") / "site"),
        undefined=StrictUndefined,
        autoescape=True,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
