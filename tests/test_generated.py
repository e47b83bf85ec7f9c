"""What is generated from the code is committed and current, and every rule has its place in it."""

from __future__ import annotations

import re

from tenancy import backend, check, load, model
from tenancy.compare import removals
from tenancy.live import inventory_rules
from tenancy.output import rules as output_rules
from tenancy.render import rules as render_rules
from tools.docs import ROOT, generated

RULES = (
    *load.RULES,
    *model.RULES,
    *check.RULES,
    *backend.RULES,
    *render_rules.RULES,
    *removals.RULES,
    *output_rules.RULES,
    *inventory_rules.RULES,
)


def test_generated_files_are_current() -> None:
    """`make docs` would change nothing."""
    stale = [
        str(path.relative_to(ROOT))
        for path, text in generated().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert stale == []


def test_codes_are_unique_in_the_whole_program() -> None:
    """A code names one rule, whatever stage it belongs to."""
    codes = [rule.code for rule in RULES]
    assert len(codes) == len(set(codes))


def test_every_code_has_a_heading() -> None:
    """The docs link of a diagnostic leads somewhere."""
    text = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^### ([a-z0-9-]+)$", text, re.MULTILINE))
    assert headings == {rule.code for rule in RULES}


def test_every_rule_says_what_and_why() -> None:
    """A title without a period, and whole sentences of reason."""
    for rule in RULES:
        assert rule.title, rule.code
        assert not rule.title.endswith("."), rule.code
        assert rule.why.endswith("."), rule.code
        assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", rule.code), rule.code
