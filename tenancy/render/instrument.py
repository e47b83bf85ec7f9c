"""The syntax tree of a user's template: what is refused in it, and what is added to it before it is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from jinja2 import nodes

from tenancy.render.sandbox import COUNTED, JOINED, LINE, READ, Sandbox

_REFUSED: Final[Mapping[type[nodes.Node], str]] = {
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "from",
    nodes.Extends: "extends",
    nodes.Block: "block",
    nodes.Macro: "macro",
    nodes.CallBlock: "call",
    nodes.FilterBlock: "filter",
    nodes.AssignBlock: "set",
    nodes.EvalContextModifier: "autoescape",
    nodes.ScopedEvalContextModifier: "autoescape",
}
_WHY: Final[Mapping[str, str]] = {
    "set": "write `{% set name = expression %}`; a block of text cannot be a value",
    "macro": "repeat the lines, or loop over a list",
}


def faults(tree: nodes.Template, sandbox: Sandbox) -> list[tuple[int, str, str]]:
    """Line, message and help of each statement, filter and test that templates do not have."""
    found = []
    for kind, word in _REFUSED.items():
        for node in tree.find_all(kind):
            help_ = _WHY.get(word, "use only `for`, `if`, `set` and `with`; a template is one file")
            found.append((node.lineno, f"there is no statement `{{% {word} %}}` here", help_))
    found += [
        (node.lineno, "a loop cannot be recursive", "nest two loops")
        for node in tree.find_all(nodes.For)
        if node.recursive
    ]
    for node in tree.find_all((nodes.Filter, nodes.Test)):
        known = sandbox.filters if isinstance(node, nodes.Filter) else sandbox.tests
        if node.name not in known:
            noun = type(node).__name__.lower()
            near = get_close_matches(node.name, known, 1, 0.6)
            help_ = f"did you mean `{near[0]}`?" if near else f"see docs/templates.md for every {noun}"
            found.append((node.lineno, f"there is no {noun} `{node.name}`", help_))
    return sorted(set(found))


def instrumented(tree: nodes.Template) -> nodes.Template:
    """The template with every loop counted, every concatenation, comparison and slice paid for, and every line of its
    output marked."""
    for loop in tree.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, COUNTED, [], [], None, None, lineno=loop.lineno)
    for compare in tree.find_all(nodes.Compare):
        compare.expr = _read(compare.expr)
        for operand in compare.ops:
            operand.expr = _read(operand.expr)
    for item in tree.find_all(nodes.Getitem):
        if isinstance(item.arg, nodes.Slice):
            item.node = _read(item.node)
    for output in tree.find_all(nodes.Output):
        output.nodes = [part for node in output.nodes for part in _marked(node)]
    _concatenations(tree)
    return tree


def _read(node: nodes.Expr) -> nodes.Expr:
    """A value that is gone over; jinja2 has no hook for what does so. Constants of a template are short."""
    return node if isinstance(node, nodes.Const) else nodes.Filter(node, READ, [], [], None, None, lineno=node.lineno)


def _concatenations(node: Any) -> Any:
    """The tree with `a ~ b` as a call that is paid for; jinja2 has no hook for it."""
    for name, value in list(node.iter_fields()):
        if isinstance(value, nodes.Node):
            setattr(node, name, _concatenations(value))
        elif isinstance(value, list):
            setattr(node, name, [_concatenations(each) if isinstance(each, nodes.Node) else each for each in value])
    if isinstance(node, nodes.Concat):
        parts = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(parts, JOINED, [], [], None, None, lineno=node.lineno)
    return node


def _marked(node: nodes.Expr) -> list[nodes.Expr]:
    mark = nodes.TemplateData(f"{LINE}{node.lineno}{LINE}", lineno=node.lineno)
    if not isinstance(node, nodes.TemplateData):
        return [mark, node]
    first, *rest = node.data.split("\n")
    lines = [first, *(f"{LINE}{node.lineno + number}{LINE}{line}" for number, line in enumerate(rest, 1))]
    return [mark, nodes.TemplateData("\n".join(lines), lineno=node.lineno)]
