"""Documents: files rendered from a template under templates/, where no object is meant."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from tenancy.render.yaml import document
from tenancy.resources import data_path

if TYPE_CHECKING:
    from jinja2 import Environment


@cache  # it keeps the templates that it has compiled, for the next cluster
def pages() -> Environment:
    """The environment of the project's own templates; `yaml` writes a value as the emitter does."""
    # Imported here because loading the library takes tens of milliseconds: `validate` renders no document.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        loader=FileSystemLoader(data_path("templates")),
        undefined=StrictUndefined,
        autoescape=False,  # the documents are not HTML; values go through the emitter
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["yaml"] = _yaml
    return environment


def page(environment: Environment, template: str, values: Mapping[str, Any]) -> str:
    """The document of `template` with `values`."""
    return environment.get_template(template).render(values)


def _yaml(value: Any) -> str:
    return document(value).rstrip("\n")
