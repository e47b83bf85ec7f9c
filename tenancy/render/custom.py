"""Users' templates: from their text to checked objects in files of out/, for each unit of their level in each cluster.

A finding points at the template's line and is told once, with the first unit that it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import jinja2

from tenancy.backend.manifest import Manifest, Object, Page
from tenancy.diagnostics import Diagnostic, KeyPath, Place, Related, Rule
from tenancy.load import rules as load_rules
from tenancy.load.source import Marks
from tenancy.load.templates import Template
from tenancy.load.yaml import parse
from tenancy.model.organization import Org
from tenancy.plan.values import ClusterPlan
from tenancy.render import rules
from tenancy.render.compiled import Compiled, line_place
from tenancy.render.conform import checker, schema_folders
from tenancy.render.context import Target, targets
from tenancy.render.custom_objects import Identity, Scope, completed, identity, schema_faults, shape_faults
from tenancy.render.rendered import Rendered, Span, documents, misplaced, rendered
from tenancy.render.sandbox import FAILURES, WORK, Meter, TooMuch, Unwritable

MAX_BYTES: Final = 1024 * 1024
"""Of what one template makes for one unit."""

_Taken: TypeAlias = dict[Identity, str | tuple[Place, str]]
"""Who has a name: the file of out/ that the backend writes, or the template's line and the unit that it is for."""

_SHOWN: Final = 80
_NO_OBJECT: Final = frozenset({load_rules.ROOT.code, load_rules.EMPTY.code})


@dataclass(slots=True)
class _Findings:
    """What is wrong, each with the number of units that it is about."""

    found: dict[tuple[str, str, int, int], tuple[Diagnostic, int]] = field(default_factory=dict)
    here: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """How many of a rule and a line there are for the unit at hand."""

    def add(
        self, rule: Rule, template: Template, line: int, message: str, help_: str, related: Sequence[Related] = ()
    ) -> None:
        at = (rule.code, template.file, line)
        number = self.here[at] = self.here.get(at, 0) + 1
        first, count = self.found.get((*at, number), (None, 0))
        if first is None:
            place = line_place(template, line)
            first = Diagnostic(rule=rule, message=message, place=place, help=help_, related=tuple(related))
        self.found[(*at, number)] = (first, count + 1)

    def has(self, rule: Rule, template: Template) -> bool:
        return any(code == rule.code and file == template.file for code, file, _, _ in self.found)

    def diagnostics(self) -> list[Diagnostic]:
        return [_counted(diagnostic, count) for diagnostic, count in self.found.values()]


def customize(
    org: Org, clusters: Iterable[tuple[ClusterPlan, Iterable[Manifest | Page]]], ready: Compiled
) -> tuple[dict[str, tuple[Manifest, ...]], list[Diagnostic]]:
    """The files that the templates make in each cluster, beside what its backend makes, and what is wrong with them."""
    findings = _Findings()
    files = {plan.name: _cluster(org, plan, items, ready, findings) for plan, items in clusters}
    return files, findings.diagnostics()


def _counted(diagnostic: Diagnostic, count: int) -> Diagnostic:
    if count == 1:
        return diagnostic
    others = "another unit" if count == 2 else f"{count - 1} other units"
    message = f"{diagnostic.message} (and {others})"
    place, related, help_ = diagnostic.place, diagnostic.related, diagnostic.help
    return Diagnostic(rule=diagnostic.rule, message=message, place=place, related=related, help=help_)


def _cluster(
    org: Org, plan: ClusterPlan, items: Iterable[Manifest | Page], ready: Compiled, findings: _Findings
) -> tuple[Manifest, ...]:
    folders = schema_folders(plan.kubernetes, plan.kueue, plan.volcano)
    scope = Scope(
        namespaces={namespace.name: namespace.title for namespace in plan.namespaces},
        built_in=frozenset(file.name for folder in folders for file in folder.glob("*.json")),
        own=ready.schemas,
        check=checker(kubernetes=plan.kubernetes, kueue=plan.kueue, volcano=plan.volcano),
    )
    taken: _Taken = {
        identity(obj): f"{plan.name}/{item.path}"
        for item in items
        if isinstance(item, Manifest)
        for obj in item.objects
    }
    files: dict[str, tuple[Object, ...]] = {}
    levels = {template.level for template, _ in ready.templates}
    units = {level: list(targets(org, plan, level)) for level in levels}
    for template, runnable in ready.templates:
        for target in units[template.level]:
            findings.here.clear()
            text = _rendered(ready.sandbox.meter, template, runnable, target, findings)
            objects = _objects(template, text, target, scope, taken, findings) if text is not None else ()
            if objects:
                files[f"{target.folder}/{template.name}.yaml"] = tuple(objects)
            if findings.has(rules.TOO_MUCH, template):
                break  # It took seconds, and would for each of the other units.
    return tuple(Manifest(path, objects) for path, objects in sorted(files.items()))


def _rendered(
    meter: Meter, template: Template, runnable: jinja2.Template, target: Target, findings: _Findings
) -> Rendered | None:
    """The text for one unit, or None where it cannot be had or is not safe to read."""
    meter.left = WORK
    parts, size, story = list[str](), 0, f"; for {_unit(target)}"
    try:
        for part in runnable.root_render_func(runnable.new_context(dict(target.context))):
            size += len(part.encode())
            if size > MAX_BYTES:
                raise TooMuch(f"the template writes more than {MAX_BYTES // 1024 // 1024} MiB")
            parts.append(part)
    except (TooMuch, OverflowError, MemoryError) as error:
        message = rules.phrase(str(error)) or "the template takes too much memory"
        help_ = "loop over the units and namespaces of the context only"
        findings.add(rules.TOO_MUCH, template, _line(error, runnable), f"{message}{story}", help_)
    except Unwritable as error:
        findings.add(rules.VALUE, template, _line(error, runnable), f"{error}{story}", "write a text or a whole number")
    except FAILURES as error:
        rule = rules.UNDEFINED if isinstance(error, jinja2.UndefinedError) else rules.FAILED
        message, _, known = str(error).partition("\n")
        help_ = (rule is rules.UNDEFINED and known) or "see docs/templates.md for all there is"
        findings.add(rule, template, _line(error, runnable), f"{rules.phrase(message)}{story}", help_)
    else:
        text = rendered("".join(parts))
        values, sound = misplaced(text)
        for value in values:
            findings.add(rules.QUOTES, template, text.origins[value.start[0]], *_quotes(text, value, story))
        if not sound and not values:
            for problem in parse(text.text, 0, template.file).diagnostics:
                if problem.code != load_rules.DOCUMENTS.code:
                    _report_yaml(problem, 0, template, text, target, findings)
        return text if sound and not values else None
    return None


def _unit(target: Target) -> str:
    """The unit and its cluster, for messages."""
    cluster, unit = target.context["cluster"]["name"], target.context[target.level]
    return f"cluster `{cluster}`" if target.level == "cluster" else f"`{unit.get('path', unit['name'])}` in `{cluster}`"


def _line(error: BaseException, runnable: jinja2.Template) -> int:
    """The template's line where an error was raised: the innermost frame of the template itself."""
    line, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals.get("__jinja_template__") is runnable:
            line = runnable.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line


def _quotes(text: Rendered, value: Span, story: str) -> tuple[str, str]:
    line = text.lines[value.start[0]]
    before, after = line[: value.start[1]], line[value.end[1] :]
    message = f"the value `{_cut(line[value.start[1] : value.end[1]])}` stands inside other text: `{_cut(line)}`{story}"
    if before[-1:] in ("'", '"') and after[:1] == before[-1]:
        return message, "leave out the quotes around the expression: a value brings its own"
    return message, 'put the text together inside the expression: `{{ "cache-" ~ team.name }}`'


def _cut(line: str) -> str:
    shown = line.strip()
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _objects(
    template: Template,
    text: Rendered,
    target: Target,
    scope: Scope,
    taken: _Taken,
    findings: _Findings,
) -> list[Object]:
    """The sound objects of a text; everything else becomes findings."""
    objects: list[Object] = []
    for first, document in documents(text):
        parsed = parse(document, 0, template.file)
        for problem in parsed.diagnostics:
            _report_yaml(problem, first, template, text, target, findings)
        if parsed.tree is None or parsed.diagnostics:
            continue
        found = list(shape_faults(parsed.tree))
        if not found:
            obj, found = completed(parsed.tree, target, scope)
            found += schema_faults(obj, scope)
        for fault in found:
            line = text.origins[_row(parsed.tree, parsed.marks, fault.path)]
            findings.add(fault.rule, template, line, f"{fault.message}; for {_unit(target)}", fault.help)
        if not found:
            line = text.origins[_row(parsed.tree, parsed.marks, ("metadata", "name"))]
            if _is_first(obj, template, line, target, taken, findings):
                objects.append(obj)
    return objects


def _report_yaml(
    problem: Diagnostic, first: int, template: Template, text: Rendered, target: Target, findings: _Findings
) -> None:
    """What the YAML reader says of a document that begins in the row `first`, at the template's lines."""

    def origin(place: Place) -> int:
        return text.origins[min(max(place.line, 1), len(text.origins)) - 1]

    row = min(max(problem.place.line, 1), len(text.lines)) - 1
    rule, message, help_ = problem.rule, problem.message, problem.help
    if problem.code in _NO_OBJECT:
        rule, message, row = rules.OBJECT, message.replace("the file", "the document"), first
    related = [Related(each.label, line_place(template, origin(each.place))) for each in problem.related]
    message = f"{message}; the text for {_unit(target)} is `{_cut(text.lines[row])}`"
    findings.add(rule, template, text.origins[row], message, help_, related)


def _row(tree: Any, marks: Marks, path: KeyPath) -> int:
    """The line (from 0) of the value at a path, or of what is nearest around it."""
    row = min((mark.key_line for mark in marks.get(id(tree), {}).values()), default=0)
    for step in path:
        mark = marks.get(id(tree), {}).get(step)
        if mark is None:
            break
        row, tree = mark.key_line, tree[step]
    return row


def _is_first(obj: Object, template: Template, line: int, target: Target, taken: _Taken, findings: _Findings) -> bool:
    """Whether nothing of this name is there so far; the object has the name from now on."""
    key = identity(obj)
    if (other := taken.get(key)) is None:
        taken[key] = (line_place(template, line), _unit(target))
        return True
    _, kind, namespace, name = key
    what, unit = f"the {kind} `{namespace}/{name}`" if namespace else f"the {kind} `{name}`", _unit(target)
    help_, related = "give it another name", list[Related]()
    if isinstance(other, str):
        message = f"{what} is one of the tool's own objects, in `{other}`; for {unit}"
    else:
        message, related = f"{what} is made twice for {unit}", [Related("first made here", other[0])]
        if other[1] != unit:
            message = f"{what} is made twice: for {other[1]} and for {unit}"
            own = f"{target.level}.{'namespace' if target.level == 'project' else 'queue'}"
            help_ = f'make the unit part of the name: `{{{{ {own} ~ "-name" }}}}`'
    findings.add(rules.COLLISION, template, line, message, help_, related)
    return False
