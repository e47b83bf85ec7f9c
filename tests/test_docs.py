"""What the documentation names exists: links, headings, commands, options, targets of make, whole organizations."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tenancy.cli import main
from tenancy.pipeline import examine

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("schemas/*.md")])
NAMED = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES]
PLACEHOLDERS = {
    "ORG": "org",
    "MODEL": "A30",
    "LAYOUT": "1g.6gb=4",
    "NAME": "organization",
    "SHELL": "bash",
    "SCHEDULER": "volcano",
    "CODE": "no-gangs",
}
"""What stands for each word in capitals when a command line is parsed."""


def _prose(page: Path) -> str:
    """The text without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def _anchors(page: Path) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _code(page: Path) -> Iterator[str]:
    """Every code span, and every command of the blocks for a shell."""
    text = page.read_text(encoding="utf-8")
    yield from (span.replace("\\|", "|") for span in re.findall(r"`([^`\n]+)`", _prose(page)))
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if language in ("sh", "console"):
            typed = [line for line in block.splitlines() if language == "sh" or line.startswith("$ ")]
            yield from (line.removeprefix("$ ").partition("#")[0] for line in typed)


def _commands(text: str) -> Iterator[list[str]]:
    """The words of each `tenancy …` of a line, with words for the placeholders and the first of several choices."""
    for command in re.findall(r"(?<![\w./])tenancy [^>;&)]+", text):
        words = [word.strip("[]").partition("|")[0] for word in shlex.split(command)]
        yield [PLACEHOLDERS.get(word, word) for word in words[1:]]


@pytest.mark.parametrize("page", NAMED)
def test_links_lead_somewhere(page: Path) -> None:
    """The file of every relative link exists, and so does its heading."""
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", _prose(page)):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if "://" not in target and not (file.exists() and (not anchor or anchor in _anchors(file))):
            wrong.append(target)
    assert wrong == []


def test_pages_are_read_in_full() -> None:
    """The measures see what they look for, so the tests of this module can fail."""
    assert len(PAGES) > 8
    assert "your-own-organization" in _anchors(ROOT / "README.md")
    lines = list(_code(ROOT / "README.md"))
    assert "tenancy validate" in lines
    assert [found for line in lines for found in _commands(line) if found[0] == "compile"]
    assert list(_commands("tenancy schema [NAME] > x")) == [["schema", "organization"]]


@pytest.mark.parametrize("page", NAMED)
def test_commands_parse(page: Path) -> None:
    """Every command line of `tenancy` that a page shows has a command, options and values that exist.

    A command alone may stand for its name.
    """
    for words in (words for line in _code(page) for words in _commands(line)):
        assert words[0] in main.commands, words
        if words[1:]:
            main.commands[words[0]].make_context(words[0], words[1:]).close()


@pytest.mark.parametrize("name", main.commands)
def test_the_example_of_a_command_parses(name: str) -> None:
    """The example at the end of each help is a command line of that command."""
    example = (main.commands[name].epilog or "").removeprefix("Example: ")
    (words,) = _commands(example)
    assert words[0] == name
    main.commands[name].make_context(name, words[1:]).close()


@pytest.mark.parametrize("page", NAMED)
def test_options_exist(page: Path) -> None:
    """Every option in a code span of its own is one of a command, or of a tool of this repository."""
    known = {
        option
        for command in main.commands.values()
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    spans = re.findall(r"`(--[a-z-]+)[^`]*`", _prose(page))
    assert [span for span in spans if span not in known] == []


@pytest.mark.parametrize("page", [*NAMED, pytest.param(ROOT / ".ci" / "run", id=".ci/run")])
def test_targets_of_make_exist(page: Path) -> None:
    """Every `make …` names targets of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    lines = page.read_text(encoding="utf-8").splitlines() if page.suffix != ".md" else _code(page)
    named = [word for line in lines if line.startswith("make ") for word in line.split()[1:]]
    assert [word for word in named if word not in targets] == []


def test_pages_that_the_code_names_exist() -> None:
    """A comment or a message that sends a reader to a page names one of this repository."""
    texts = [source.read_text(encoding="utf-8") for source in ROOT.glob("tenancy/**/*.py")]
    named = {name for text in texts for name in re.findall(r"(?<![\w/])[\w.-]+(?:/[\w.-]+)*\.md\b", text)}
    assert "docs/checks.md" in named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_first_organization_has_no_finding(tmp_path: Path) -> None:
    """The organization that the README offers as a start is complete and clean."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    (page,) = [block for block in blocks if "kind: Organization" in block]
    (tmp_path / "org.yaml").write_text(page)
    found = examine(tmp_path)
    assert found.org is not None
    assert found.diagnostics == ()
