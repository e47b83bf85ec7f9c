"""Users' templates and schemas made ready to run, and all that can be said of them without an organization."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jinja2
from jinja2 import meta, nodes

from tenancy.check.wording import listed, nearest
from tenancy.diagnostics import Diagnostic, Place, Rule
from tenancy.load.templates import SCHEMA, Extensions, Template, UserSchema
from tenancy.render import rules
from tenancy.render.context import NAMES
from tenancy.render.instrument import faults, instrumented
from tenancy.render.sandbox import WORK, Sandbox


@dataclass(frozen=True, slots=True)
class Compiled:
    """Templates that can be rendered, and schemas by name: each compiled, and whether its kind has no namespace."""

    sandbox: Sandbox
    templates: tuple[tuple[Template, jinja2.Template], ...]
    schemas: Mapping[str, tuple[Any, bool]]


def compiled(extensions: Extensions) -> tuple[Compiled, list[Diagnostic]]:
    """Parse every template and schema, and say what can be said without an organization."""
    sandbox, diagnostics = Sandbox(), list[Diagnostic]()
    templates: list[tuple[Template, jinja2.Template]] = []
    for template in extensions.templates:
        found = _compiled(sandbox, template)
        if isinstance(found, list):
            diagnostics += found
        else:
            templates.append((template, found))
    schemas: dict[str, tuple[Any, bool]] = {}
    for schema in extensions.schemas:
        validator = _validator(schema)
        if isinstance(validator, Diagnostic):
            diagnostics.append(validator)
        else:
            schemas[schema.name] = (validator, schema.document.get("x-scope") == "Cluster")
    return Compiled(sandbox, tuple(templates), schemas), diagnostics


def line_place(template: Template, line: int) -> Place:
    """A line of a template, from its first to its last visible character."""
    lines = template.text.splitlines()
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    start = len(text) - len(text.lstrip()) + 1
    return Place(template.file, line, start, line, max(len(text.rstrip()) + 1, start))


def _compiled(sandbox: Sandbox, template: Template) -> jinja2.Template | list[Diagnostic]:
    try:
        return _ready(sandbox, template)
    except RecursionError:
        # Parsed or not: a chain of a thousand filters is nested as well.
        return [_static(rules.SYNTAX, template, 1, "the template is nested too deep", "write it flatter")]


def _ready(sandbox: Sandbox, template: Template) -> jinja2.Template | list[Diagnostic]:
    """Raises RecursionError where the template is nested too deep."""
    try:
        tree = sandbox.parse(template.text, template.name, template.file)
    except jinja2.TemplateSyntaxError as error:
        return [_static(rules.SYNTAX, template, error.lineno, rules.phrase(error.message or ""), "")]
    found = [_static(rules.STATEMENT, template, *fault) for fault in faults(tree, sandbox)]
    found += _undeclared(template, tree)
    if found:
        return found
    sandbox.meter.left = WORK
    try:
        code = sandbox.compile(instrumented(tree), template.name, template.file)
    except (jinja2.TemplateSyntaxError, SyntaxError) as error:
        return [_static(rules.SYNTAX, template, getattr(error, "lineno", None) or 1, rules.phrase(str(error)), "")]
    return jinja2.Template.from_code(sandbox, code, sandbox.globals)


def _static(rule: Rule, template: Template, line: int, message: str, help_: str) -> Diagnostic:
    return Diagnostic(rule=rule, message=message, place=line_place(template, line), help=help_)


def _undeclared(template: Template, tree: nodes.Template) -> list[Diagnostic]:
    """Names that the template uses and its level does not have, each at its first use."""
    known = NAMES[template.level]
    lines = {name.name: name.lineno for name in reversed(list(tree.find_all(nodes.Name)))}
    try:
        undeclared = meta.find_undeclared_variables(tree)
    except jinja2.TemplateAssertionError:
        return []  # It has an unknown filter, which is a finding of its own.
    found = []
    for name in sorted(undeclared - {*known, "range"}):
        levels = [level for level, names in NAMES.items() if name in names]
        help_ = f"{nearest(name, known)}there are {listed(known)}"
        if levels:
            help_ = f"use it at the level {listed(levels, 'or')}: `templates/{levels[0]}/`"
        message = f"there is no `{name}` in a template of the level `{template.level}`"
        found.append(_static(rules.UNDEFINED, template, lines.get(name, 1), message, help_))
    return found


def _validator(schema: UserSchema) -> Any:
    # Imported here because loading the library takes tens of milliseconds, and few organizations bring schemas.
    import jsonschema_rs  # noqa: PLC0415

    try:
        return jsonschema_rs.validator_for(dict(schema.document), retriever=_refused)
    except (ValueError, jsonschema_rs.ValidationError) as error:
        message = f"the schema cannot be used: {rules.lowered(str(error).splitlines()[0])}"
        help_ = "write a JSON Schema that refers to nothing outside the file"
        return Diagnostic(rule=SCHEMA, message=message, place=Place(schema.file), help=help_)


def _refused(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the file")
