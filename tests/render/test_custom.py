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
from tests.render.custom_cases import CASES, HEAD, MONITOR, G, P, T

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
        path.removeprefix("train/custom/"): list(yaml.load_all(text, yaml.CSafeLoader))
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
    assert error.message.startswith('`spec.port`: "demo" is not of type "integer"; for `research/vision/demo` in')


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
    for words in (error.message, error.help):
        assert not words[:1].isupper()
        assert not words.endswith(".")
    assert not any(found.custom.values())
    shown = as_text(Report(found.diagnostics, found.sources, 0, "0"), width=100)
    assert f"error[{code}]" in shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{% if 1 %}{% endfor %}",
            "encountered unknown tag `endfor`; jinja was looking for the following tags: `elif`",
        ),
        ("a: {{ [1] + 'a' }}", 'can only concatenate list (not "str") to list; for `acme` in `train`'),
        ("a: {{ organization.name.__class__ }}", "access to attribute `__class__` of `str` object is unsafe; for"),
        (HEAD + "dta: {}\n", "the object: additional properties are not allowed ('dta' was unexpected); for"),
        ("- a\n", "the document holds a list; the text for `acme` in `train` is `- a`"),
        ("apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: {b: true}}", "`b` must be text, not `true`; for"),
        ("apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: {b: [1.5]}}", "`b` must be text, not a list; for"),
    ],
)
def test_the_words_of_libraries(organization: Organization, text: str, message: str) -> None:
    """What jinja2, the YAML reader and the schemas say is told in one sentence, with values as YAML has them."""
    messages = [diagnostic.message for diagnostic in organization({G: text}).diagnostics]
    assert any(each.startswith(message) for each in messages), messages


@pytest.mark.parametrize("name", ["kustomization", "Kustomization", "KUSTOMIZATION"])
def test_no_template_replaces_a_kustomization(organization: Organization, name: str) -> None:
    """A template whose file would be the folder's kustomization.yaml is refused, whatever the case of its name."""
    error = the_error(organization({f"templates/project/{name}.yaml.j2": HEAD, P: "{# nothing #}"}))
    assert (error.code, error.place.file) == ("template-name", f"org/templates/project/{name}.yaml.j2")
    assert error.message == f"`{name}` cannot be the name of an output file"


def test_names_near_a_kustomization(organization: Organization) -> None:
    """Names that only look like the kustomization are listed in it like any other file."""
    names = ("kustomization.yaml", "kustomizations")
    bodies = {f"templates/project/{name}.yaml.j2": HEAD.replace("name: a", f"name: {name}") for name in names}
    found = organization(bodies)
    assert found.org is not None
    text = generate(found.org, found.custom)["train/custom/projects/research-vision-demo/kustomization.yaml"]
    assert yaml.safe_load(text)["resources"] == [f"{name}.yaml" for name in names]


def test_templates_may_widen_rights(organization: Organization) -> None:
    """Templates are the platform's own: objects that give a unit more than org.yaml does are not refused."""
    binding = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: all}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: everybody}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: {{ project.namespace ~ "-extra" }}}
spec: {namespaceSelector: {}}
"""
    made = objects(organization({P: binding}))["projects/research-vision-demo/x.yaml"]
    assert [(each["kind"], each["metadata"].get("namespace")) for each in made] == [
        ("RoleBinding", "research-vision-demo"),
        ("ClusterQueue", None),
    ]


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
        '`data.a`: 5 is not of type "string"; for `research/vision/demo` in `train` (and another unit)',
        "there is no `nam` here; for `research/audio` in `train` (and another unit)",
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
