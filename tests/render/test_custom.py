"""Users' templates: what they make of each unit, and the words for everything that is wrong with them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenancy.diagnostics import Diagnostic
from tenancy.pipeline import Examined, examine, generate
from tenancy.render.context import NAMES
from tenancy.render.rules import RULES
from tenancy.render.sandbox import WORK, Sandbox
from tenancy.report import Report
from tenancy.report.text import text as as_text

ORG = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
displayName: Acme AI
domain: gpu.acme.example
clusters: {train: {}}
flavors:
  l4: {gpu: L4, nodes: 2, node: {gpus: 4, cpu: 64, memory: 256Gi}, daemons: {cpu: 2, memory: 4Gi}}
departments:
  research:
    costCenter: CC-1
    owner: head@acme.example
    budget: {l4: 8}
    teams:
      vision:
        displayName: Computer Vision
        budget: {l4: {reserved: 1, quota: 4, limit: 6}}
        projects: {train: {}, demo: {budget: {l4: 1}}}
      audio: {owner: audio@acme.example, budget: {l4: 2}}
"""
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ team.queue }}\n  namespace: {{ team.namespaces[0] }}\n"
HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
MONITOR = "apiVersion: monitoring.example/v1\nkind: PodMonitor\nmetadata: {name: a}\nspec: {port: %s}\n"
SCHEMA = {
    "type": "object",
    "required": ["spec"],
    "properties": {"spec": {"type": "object", "properties": {"port": {"type": "integer"}}}},
}

Organization = Callable[..., Examined]


@pytest.fixture
def organization(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Organization:
    """Examine an organization with these files in `org/`; the current folder is the one that holds it."""
    monkeypatch.chdir(tmp_path)

    def made(files: dict[str, str | bytes], org: str = ORG) -> Examined:
        for name, text in {"org.yaml": org, **files}.items():
            path = tmp_path / "org" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        return examine(Path("org"))

    return made


def codes(found: Examined) -> list[str]:
    return [diagnostic.code for diagnostic in found.diagnostics if diagnostic.severity == "error"]


def the_error(found: Examined) -> Diagnostic:
    errors = [diagnostic for diagnostic in found.diagnostics if diagnostic.severity == "error"]
    assert len(errors) == 1, [f"{error.code}: {error.message}" for error in errors]
    return errors[0]


def objects(found: Examined) -> dict[str, list[Any]]:
    """The objects of each custom file, by its path below the cluster's folder."""
    assert found.org is not None
    assert codes(found) == []
    files = generate(found.org, found.custom)
    return {
        path.removeprefix("train/custom/"): list(yaml.safe_load_all(text))
        for path, text in files.items()
        if path.startswith("train/custom/") and not path.endswith("kustomization.yaml")
    }


def test_each_level_is_rendered_once_per_unit(organization: Organization) -> None:
    """A template makes one file for each unit of its level, in a folder that the kustomizations list."""
    levels = ("organization", "cluster", "department", "team", "project")
    body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}, namespace: kube-public}}\n"
    names = {
        "organization": '{{ organization.name ~ "-o" }}',
        "cluster": "{{ cluster.name }}",
        "department": "{{ department.queue }}",
        "team": "{{ team.queue }}",
        "project": "{{ project.namespace }}",
    }
    found = organization({f"templates/{level}/x.yaml.j2": body.format(names[level]) for level in levels})
    assert sorted(objects(found)) == [
        "cluster/x.yaml",
        "departments/research/x.yaml",
        "organization/x.yaml",
        "projects/research-vision-demo/x.yaml",
        "projects/research-vision-train/x.yaml",
        "teams/research-audio/x.yaml",
        "teams/research-vision/x.yaml",
    ]
    assert found.org is not None
    files = generate(found.org, found.custom)
    listed = {path: yaml.safe_load(text)["resources"] for path, text in files.items() if "kustomization" in path}
    assert "custom" in listed["train/kustomization.yaml"]
    assert listed["train/custom/teams/research-audio/kustomization.yaml"] == ["x.yaml"]


def test_the_context_of_a_team(organization: Organization) -> None:
    """Names, inherited facts and canonical amounts stand in the context as docs/templates.md says."""
    template = (
        MAP + "data:\n  all: {{ [organization, cluster, department, team, projects, labels, budget] | tojson }}\n"
    )
    made = objects(organization({"templates/team/x.yaml.j2": template}))["teams/research-vision/x.yaml"][0]
    org, cluster, department, team, projects, labels, budget = json.loads(made["data"]["all"])
    assert org == {"name": "acme", "displayName": "Acme AI", "domain": "gpu.acme.example"}
    assert (cluster["name"], cluster["scheduler"]) == ("train", "kueue")
    assert (department["path"], department["displayName"]) == ("research", "research")
    assert team == {
        "name": "vision",
        "path": "research/vision",
        "queue": "research-vision",
        "displayName": "Computer Vision",
        "costCenter": "CC-1",
        "owner": "head@acme.example",
        "namespaces": ["research-vision-demo", "research-vision-train"],
        "department": {key: value for key, value in department.items() if key != "namespaces"},
    }
    assert [(each["name"], each["queue"]) for each in projects] == [
        ("demo", "research-vision-demo"),
        ("train", "research-vision"),
    ]
    assert labels["gpu.acme.example/team"] == "vision"
    assert budget["l4"]["nvidia.com/gpu"] == {"reserved": "1", "quota": "4", "limit": "6"}


def test_a_project_sees_the_budget_of_its_queue(organization: Organization) -> None:
    """A project without a budget shares what its team's other projects leave, so that is what it is shown."""
    template = HEAD + 'data: {quota: {{ budget.l4["nvidia.com/gpu"].quota }}}\n'
    made = objects(organization({"templates/project/x.yaml.j2": template}))
    assert made["projects/research-vision-demo/x.yaml"][0]["data"] == {"quota": "1"}
    assert made["projects/research-vision-train/x.yaml"][0]["data"] == {"quota": "3"}


def test_what_is_added(organization: Organization) -> None:
    """Labels of the unit, the only namespace and a sync wave are filled in; what the template says of its own stays."""
    template = (
        "apiVersion: v1\nkind: ConfigMap\n"
        "metadata:\n  name: a\n  labels: {mine: yes-it-is}\n  annotations: {argocd.argoproj.io/sync-wave: '7'}\n---\n"
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n"
    )
    first, second = objects(organization({"templates/project/x.yaml.j2": template}))[
        "projects/research-vision-demo/x.yaml"
    ]
    assert first["metadata"] == {
        "name": "a",
        "namespace": "research-vision-demo",
        "labels": {
            "app.kubernetes.io/managed-by": "tenancy",
            "gpu.acme.example/department": "research",
            "gpu.acme.example/organization": "acme",
            "gpu.acme.example/project": "demo",
            "gpu.acme.example/team": "vision",
            "mine": "yes-it-is",
        },
        "annotations": {"argocd.argoproj.io/sync-wave": "7"},
    }
    assert second["metadata"]["annotations"] == {"argocd.argoproj.io/sync-wave": "-3"}


def test_a_kind_of_the_users_own(organization: Organization) -> None:
    """A schema beside org.yaml makes a kind known, and is held against every object of it."""
    files = {"schemas/podmonitor-monitoring-v1.json": json.dumps(SCHEMA)}
    good = organization({**files, "templates/project/x.yaml.j2": MONITOR % "{{ 8000 + 80 }}"})
    assert objects(good)["projects/research-vision-demo/x.yaml"][0]["spec"] == {"port": 8080}
    error = the_error(organization({**files, "templates/project/x.yaml.j2": MONITOR % "{{ project.name }}"}))
    assert (error.code, error.place.line) == ("template-schema", 4)
    assert error.message.startswith('spec.port: "demo" is not of type "integer".')


def test_a_kind_without_a_namespace(organization: Organization) -> None:
    """`"x-scope": "Cluster"` in a schema keeps the tool from giving its objects a namespace."""
    files = {
        "schemas/podmonitor-monitoring-v1.json": json.dumps({**SCHEMA, "x-scope": "Cluster"}),
        "templates/cluster/x.yaml.j2": MONITOR % 1,
    }
    assert "namespace" not in objects(organization(files))["cluster/x.yaml"][0]["metadata"]


def test_templates_that_make_nothing_for_a_unit(organization: Organization) -> None:
    """A condition may leave a unit out: no object, no file, no finding."""
    template = "{% if team.name == 'audio' %}\n# only here\n---\n" + MAP + "{% endif %}\n"
    assert list(objects(organization({"templates/team/x.yaml.j2": template}))) == ["teams/research-audio/x.yaml"]


def test_values_in_comments_and_literal_blocks(organization: Organization) -> None:
    """A value may stand in a comment, and in a literal block, where its quotes belong to the text."""
    template = MAP + "# {{ team.displayName }}\ndata:\n  ini: |\n    owner = {{ team.owner }}\n"
    made = objects(organization({"templates/team/x.yaml.j2": template}))["teams/research-audio/x.yaml"][0]
    assert made["data"] == {"ini": 'owner = "audio@acme.example"\n'}


T = "templates/team/x.yaml.j2"
P = "templates/project/x.yaml.j2"
G = "templates/organization/x.yaml.j2"
CASES: tuple[tuple[str, str, str | bytes, int, str], ...] = (
    ("template-level", "templates/teams/x.yaml.j2", HEAD, 1, "Did you mean `team`?"),
    ("template-level", "templates/x.yaml.j2", HEAD, 1, "Move it into one of"),
    ("template-name", "templates/team/x.yml.j2", HEAD, 1, "Call it `x.yaml.j2`"),
    ("template-name", "templates/team/x.yaml", HEAD, 1, "Call it `x.yaml.j2`"),
    ("template-name", "templates/team/kustomization.yaml.j2", HEAD, 1, "is taken"),
    ("template-name", "templates/team/Upper.yaml.j2", HEAD, 1, "lower-case"),
    ("template-name", "templates/team/deeper/x.yaml.j2", HEAD, 1, "right into the folder"),
    ("template-name", "schemas/PodMonitor.json", "{}", 1, "KIND-GROUP-VERSION.json"),
    ("template-size", T, "#" * 300_000, 1, "Divide"),
    ("yaml-not-utf8", T, b"# a\n# \xff\n", 2, "UTF-8"),
    ("yaml-unprintable", T, "# a\n# \u2028\n", 2, "Delete it"),
    ("yaml-unprintable", T, "\x01{{ team.name }}", 1, "Delete it"),
    ("template-schema-file", "schemas/a-b-v1.json", '{\n"a": }', 2, "JSON"),
    ("template-schema-file", "schemas/a-b-v1.json", "[]", 1, "Begin with"),
    ("template-schema-file", "schemas/a-b-v1.json", '{"type": 5}', 1, "JSON Schema"),
    ("template-schema-file", "schemas/a-b-v1.json", '{"$ref": "file:///etc/passwd"}', 1, "nothing outside"),
    ("template-syntax", T, "a: b\nc: {{ a b }}\n", 2, ""),
    ("template-statement", T, "\n{% include 'x' %}\n", 2, "one file"),
    ("template-statement", T, "{% macro m() %}{% endmacro %}\n", 1, "Repeat the lines"),
    ("template-statement", T, "{% filter upper %}a{% endfilter %}\n", 1, "one file"),
    ("template-statement", T, "{% set a %}b{% endset %}\n", 1, "expression"),
    ("template-statement", T, "{% autoescape true %}{% endautoescape %}\n", 1, "one file"),
    ("template-statement", T, "{% for a in [] recursive %}{% endfor %}\n", 1, "Nest"),
    ("template-statement", T, "{{ team.name | uper }}\n", 1, "Did you mean `upper`?"),
    ("template-statement", T, "{{ [1, 2] | random }}\n", 1, "docs/templates.md"),
    ("template-statement", T, "{{ 1 is zzz }}\n", 1, "docs/templates.md"),
    ("template-undefined", T, HEAD + "data: {a: {{ teem.name }}}\n", 4, "Did you mean `team`?"),
    ("template-undefined", T, HEAD + "data: {a: {{ project.name }}}\n", 4, "level `project`"),
    ("template-undefined", T, "{{ lipsum() }}", 1, "There are"),
    ("template-undefined", G, HEAD + "data: {a: {{ organization.naem }}}\n", 4, "docs/templates.md"),
    ("template-failed", G, "a: {{ 1 // 0 }}\n", 1, "docs/templates.md"),
    ("template-failed", G, "a: {{ organization.name.__class__ }}\n", 1, "docs/templates.md"),
    ("template-failed", G, "a: {{ '{}'.format(1) }}\n", 1, "docs/templates.md"),
    ("template-failed", G, "a: {{ labels.clear() }}\n", 1, "docs/templates.md"),
    ("template-too-much", G, "{% for a in range(100001) %}{% endfor %}", 1, "Loop over"),
    ("template-too-much", G, "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", 1, ""),
    ("template-too-much", G, "a: {{ 'x' * 999999999 }}\n", 1, ""),
    ("template-too-much", G, "a: {{ 9 ** 9 ** 9 }}\n", 1, ""),
    ("template-too-much", G, "{% for a in range(9999) %}{{ 'x' * 200 }}{% endfor %}", 1, ""),
    ("template-too-much", G, "{% set a = 'x' * 999999 %}\n{% set b = a ~ a ~ a ~ a %}\n", 2, ""),
    ("template-too-much", G, "{{ ('x' * 9999) | replace('x', 'y' * 9999) }}", 1, ""),
    ("template-value", G, "a: {{ 3 / 2 }}\n", 1, "whole number"),
    ("template-value", G, "a: {{ labels.items }}\n", 1, "whole number"),
    ("template-value", G, "a: {{ labels ~ 'x' }}\n", 1, "whole number"),
    ("template-value", P, HEAD + "data: {a: 1.5}\n", 4, "quantity as text"),
    ("template-quotes", G, HEAD + 'data: {a: "{{ organization.name }}"}\n', 4, "Leave out the quotes"),
    ("template-quotes", G, HEAD + "data: {a: '{{ organization.name }}'}\n", 4, "Leave out the quotes"),
    ("template-quotes", G, HEAD + "data: {a: {{ organization.name }}-b}\n", 4, "inside the expression"),
    ("template-quotes", G, HEAD + "data: {a: b-{{ organization.name }}}\n", 4, "inside the expression"),
    ("template-quotes", G, HEAD + "data: {a: b {{ 5 }}}\n", 4, "inside the expression"),
    ("template-quotes", G, HEAD + "data: {a: {{ 5 }}00}\n", 4, "inside the expression"),
    ("template-quotes", G, HEAD + "data:\n  a: >-\n    b\n  c: d{{ labels }}\n", 7, "inside the expression"),
    ("yaml-syntax", G, HEAD + "data: {a: b\n---\n" + HEAD, 4, ""),
    ("yaml-duplicate-key", P, HEAD + "data:\n  a: b\n  a: c\n", 6, "Keep one"),
    ("yaml-tag", P, HEAD + "data: {a: !!str 5}\n", 4, ""),
    ("template-object", P, HEAD + "---\n- list\n", 5, "Begin with keys"),
    ("template-object", P, "kind: ConfigMap\nmetadata: {name: a}\n", 1, "Write `apiVersion:`"),
    ("template-object", P, "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n", 3, "Write `metadata"),
    ("template-object", P, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a_b}\n", 3, "lower-case"),
    ("template-object", P, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {a: 5}\n", 5, "quotes"),
    (
        "template-object",
        P,
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {a: b c}\n",
        5,
        "annotations",
    ),
    ("template-kind", P, MONITOR % 1, 2, "schemas/podmonitor-monitoring-v1.json"),
    ("template-schema", P, HEAD + "data: {a: 5}\n", 4, ""),
    ("template-schema", P, HEAD + "dta: {}\n", 1, ""),
    (
        "template-label",
        P,
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {app.kubernetes.io/managed-by: helm}\n",
        5,
        "Leave the label out.",
    ),
    ("template-namespace", G, HEAD, 3, "Write `metadata.namespace`."),
    ("template-namespace", T, HEAD, 3, "{{ team.namespaces[0] }}"),
    (
        "template-namespace",
        G,
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: b}\n",
        3,
        "Leave `namespace` out.",
    ),
    (
        "template-foreign-namespace",
        P,
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ "x-" ~ project.name }}\n  namespace: research-audio\n',
        5,
        "of the project",
    ),
    (
        "template-collision",
        G,
        HEAD.replace("name: a", "name: a, namespace: b") + "---\n" + HEAD.replace("name: a", "name: a, namespace: b"),
        7,
        "part of the name",
    ),
    (
        "template-collision",
        P,
        "apiVersion: v1\nkind: LimitRange\nmetadata: {name: tenancy}\nspec: {limits: [{type: Pod}]}\n",
        3,
        "Give it another name.",
    ),
)


@pytest.mark.parametrize(
    ("code", "file", "text", "line", "help_"), CASES, ids=[f"{number}-{case[0]}" for number, case in enumerate(CASES)]
)
def test_what_is_refused(
    organization: Organization, code: str, file: str, text: str | bytes, line: int, help_: str
) -> None:
    """Each fault is found alone, at its line of the user's file, with the way out; nothing is written for it."""
    found = organization({file: text})
    error = the_error(found)
    assert (error.code, error.place.line) == (code, line), error.message
    assert help_ in error.help
    assert not any(found.custom.values())
    shown = as_text(Report(found.diagnostics, found.sources, 0, "0"), width=100)
    assert f"error[{code}]" in shown


def test_every_rule_has_a_case() -> None:
    """A rule that nothing breaks would be dead, and its words untested."""
    elsewhere = {"template-outside"}
    assert {rule.code for rule in RULES} == {case[0] for case in CASES if case[0].startswith("template-")} | elsewhere


def test_a_link_out_of_the_organization_is_not_followed(organization: Organization, tmp_path: Path) -> None:
    """Neither a linked file nor a linked folder brings anything from outside."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.yaml.j2").write_text(HEAD)
    folder = tmp_path / "org" / "templates" / "project"
    folder.mkdir(parents=True)
    (folder / "x.yaml.j2").symlink_to(tmp_path / "outside" / "x.yaml.j2")
    (tmp_path / "org" / "schemas").symlink_to(tmp_path / "outside")
    found = organization({})
    assert codes(found) == ["template-outside", "template-outside"]
    assert found.custom == {}


def test_a_finding_is_told_once_for_all_units(organization: Organization) -> None:
    """The same fault for three units is one finding with the number of the others."""
    found = organization({T: "a: {{ team.nam }}\n", P: HEAD + "data: {a: 5}\n"})
    messages = [diagnostic.message for diagnostic in found.diagnostics]
    assert messages == [
        'data.a: 5 is not of type "string". For research/vision/demo in train. The same for another unit.',
        "There is no `nam` here; did you mean `name`? For research/audio in train. The same for another unit.",
    ]


def test_one_run_finds_everything(organization: Organization) -> None:
    """A fault of one document or template hides none of another."""
    several = HEAD + "dta: {}\n---\n" + MONITOR % 1 + "---\n" + HEAD.replace("name: a", "name: B")
    found = organization({P: several, T: "{{ teem }}{{ 1 | nope }}{% include 'a' %}", G: "{{ x }}\n{{ y }}\n"})
    assert sorted(set(codes(found))) == [
        "template-kind",
        "template-object",
        "template-schema",
        "template-statement",
        "template-undefined",
    ]


def test_two_templates_of_one_name_are_both_shown(organization: Organization) -> None:
    """A collision shows the line of either template."""
    found = organization({P: HEAD, "templates/project/y.yaml.j2": HEAD})
    error = the_error(found)
    assert error.code == "template-collision"
    assert (error.place.file, error.related[0].place.file) == (
        "org/templates/project/y.yaml.j2",
        "org/templates/project/x.yaml.j2",
    )


def test_an_unsound_organization_still_has_its_templates_parsed(organization: Organization) -> None:
    """An error in org.yaml stops the rendering, not the checks that need no organization."""
    found = organization({P: "{{ nothing }}"}, ORG.replace("l4: 8", "l4: 9"))
    assert "template-undefined" in codes(found)
    assert len(codes(found)) == 2


def test_the_same_input_gives_the_same_output(organization: Organization) -> None:
    """Two runs write the same bytes."""
    files = {T: MAP + "data:\n  b: {{ budget | tojson }}\n", G: "{# nothing #}"}
    first, second = organization(files), organization(files)
    assert first.org is not None
    assert second.org is not None
    assert generate(first.org, first.custom) == generate(second.org, second.custom)


def test_no_templates_cost_nothing(organization: Organization) -> None:
    """`validate` of an organization without templates never loads jinja2."""
    organization({})
    code = (
        "import sys; from pathlib import Path; from tenancy.pipeline import examine; examine(Path('org'));"
        "sys.exit('jinja2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_notes_may_lie_beside_templates(organization: Organization) -> None:
    """Markdown and hidden files are left alone."""
    files = {
        f"{folder}/{name}": "x" for folder in ("templates", "templates/team", "schemas") for name in ("a.md", ".b")
    }
    assert codes(organization(files)) == []


def documented() -> dict[str, str]:
    """The files of the example in docs/templates.md, by their path below org/."""
    page = (Path(__file__).parents[2] / "docs" / "templates.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^`org/([^`]+)`:\n\n```\w+\n(.*?)^```", page, re.DOTALL | re.MULTILINE))


def test_the_documented_example(organization: Organization) -> None:
    """What docs/templates.md shows compiles, and makes the objects that it speaks of."""
    made = objects(organization(documented()))
    assert made.keys() == {
        "teams/research-audio/facts.yaml",
        "teams/research-vision/facts.yaml",
        "projects/research-vision-demo/metrics.yaml",
        "projects/research-vision-train/metrics.yaml",
    }
    facts = made["teams/research-vision/facts.yaml"]
    assert [each["metadata"]["namespace"] for each in facts] == ["research-vision-demo", "research-vision-train"]
    assert facts[0]["data"]["title"] == "Computer Vision (research/vision)"


def test_the_documented_vocabulary() -> None:
    """docs/templates.md names every variable and every filter, and no filter that does not exist."""
    page = (Path(__file__).parents[2] / "docs" / "templates.md").read_text(encoding="utf-8")
    listed = page.partition("- filters: ")[2].partition("- tests")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == {name for name in Sandbox().filters if "." not in name}
    assert f"{WORK:,} steps" in page
    for names in NAMES.values():
        assert all(f"\n| `{name}` |" in page for name in names)
