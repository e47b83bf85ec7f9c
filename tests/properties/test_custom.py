"""Whatever a name or a text is, a template's object holds exactly that text, and nothing else appears in it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tenancy.load.templates import Extensions, Template
from tenancy.load.yaml import parse
from tenancy.pipeline import examine
from tenancy.render.compiled import compiled
from tenancy.render.rendered import misplaced, rendered
from tenancy.render.yaml import document
from tests.examples import often

risky = st.text(alphabet="ae01._-+:#?!&*|>%@`'\"\\/,[]{}=<~ \t\n\r\x00\x01\x02\x7f\x85\xa0\u2028\ufeff🚀", max_size=12)
words = st.sampled_from(
    ["yes", "null", "~", "1e3", "<<", "---", "...", "{{ x }}", "{% raw %}", "a: b", "x\n---\n", "\0" + "1\0"]
)
texts = risky | words | st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
# Text around an expression as an author may write it, wise or not; it never closes or opens an expression.
around = st.text(alphabet="ab:#-?!&*|>'\"\\,[]{} \n", max_size=6).filter(
    lambda text: not any(mark in f"{text}{{" for mark in ("{{", "{#", "}}")) and not text.startswith("}")
)

SOUND = """\
# {{ team }}
block:
  plain: {{ team }}
  flow: {a: {{ team }}, b: [{{ team }}, {{ team }}]}
  joined: {{ "before " ~ labels ~ " after" }}
  {{ "key " ~ labels }}: 1
list:
  - {{ team }}
  - end: {{ team }} # {{ team }}
"""
ORG: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "flavors": {"cpu": {"nodes": 1, "node": {"cpu": 64, "memory": "256Gi"}}},
}
TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: facts
  annotations: {example.com/owner: {{ team.owner }}}
data: {name: {{ team.displayName }}, {{ team.name }}: {{ team.costCenter }}}
"""


def render(template: str, **context: Any) -> Any:
    """What the template makes with this context, before it is read as YAML."""
    ready, diagnostics = compiled(Extensions((Template("team", "x", template, "x.yaml.j2"),)))
    assert diagnostics == []
    runnable = ready.templates[0][1]
    return rendered("".join(runnable.root_render_func(runnable.new_context(context))))


@settings(deadline=None)
@given(values, texts)
def test_an_object_holds_exactly_the_text(value: Any, text: str) -> None:
    """In every place where a value may stand, readers of YAML find that value and no key that the template lacks."""
    made = render(SOUND, team=value, labels=text)
    assert misplaced(made) == ([], True)
    expected = {
        "block": {
            "plain": value,
            "flow": {"a": value, "b": [value, value]},
            "joined": f"before {text} after",
            f"key {text}": 1,
        },
        "list": [value, {"end": value}],
    }
    parsed = parse(made.text, 0, "x")
    assert parsed.diagnostics == ()
    assert repr(parsed.tree) == repr(expected)
    assert repr(yaml.load(made.text, yaml.CSafeLoader)) == repr(expected)


@settings(deadline=None, max_examples=often(150))
@given(around, texts, texts, around)
def test_no_text_changes_the_structure(before: str, one: str, other: str, after: str) -> None:
    """Whatever stands around an expression: if it is accepted for one text, every other text gives the same events."""
    template = f"a: {before}{{{{ team }}}}{after}\n"
    kinds = []
    for text in (one, other):
        made = render(template, team=text)
        if misplaced(made) != ([], True):
            return
        kinds.append([type(event).__name__ for event in yaml.parse(made.text, yaml.CSafeLoader)])
    assert kinds[0] == kinds[1]


@settings(deadline=None)
@given(texts)
def test_lines_are_those_of_the_template(text: str) -> None:
    """Every line of the output knows the template's line that it comes from, whatever the values are."""
    template = "a: 1\n{% for i in [1, 2] %}\nb{# note\n #}: {{ team }}\n{% endfor %}\nc: {{ team }}\n"
    made = render(template, team=text)
    assert [line[:1] for line in made.lines] == ["a", "b", "b", "c", ""]
    assert made.origins[:4] == (1, 3, 3, 6)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.lists(texts.filter(bool), min_size=3, max_size=3))
def test_a_unit_called_anything(facts: list[str]) -> None:
    """From org.yaml to the object: whatever a unit says of itself arrives unchanged, and only where it was put."""
    name, owner, center = facts
    unit = {"displayName": name, "owner": owner, "costCenter": center, "budget": {"cpu": {"cpu": 1, "memory": "4Gi"}}}
    with tempfile.TemporaryDirectory() as folder:
        write = Path(folder, "org.yaml").write_text
        write(document({**ORG, "departments": {"d": {"budget": unit["budget"], "teams": {"t": unit}}}}), "utf-8")
        Path(folder, "templates", "team").mkdir(parents=True)
        Path(folder, "templates", "team", "x.yaml.j2").write_text(TEMPLATE, encoding="utf-8")
        found = examine(Path(folder))
    errors = [each for each in found.diagnostics if each.severity == "error"]
    assume(not errors or any(each.code != "control-characters" for each in errors))
    assert errors == []
    (made,) = (obj for manifest in found.custom["train"] for obj in manifest.objects)
    assert made.keys() == {"apiVersion", "kind", "metadata", "data"}
    assert made["data"] == {"name": name, "t": center}
    assert made["metadata"]["annotations"]["example.com/owner"] == owner
