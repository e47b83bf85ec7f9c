"""Everything that can be wrong with what users add to the output: their templates, and the objects that these make."""

from __future__ import annotations

import re
from typing import Final

from tenancy.diagnostics import Rule, Severity
from tenancy.load import templates

_SENTENCE: Final = re.compile(r"(?<=[\w)`'])\.\s+(?=[A-Z])")
_QUOTED: Final = re.compile(r"(?<!\w)'([^'`]+)'(?!\w)")


def phrase(text: str) -> str:
    """What a library says, as part of a message: sentences joined, lower case at the start, names in backticks."""
    sentences = _SENTENCE.split(_QUOTED.sub(r"`\1`", text))
    return "; ".join(lowered(sentence) for sentence in sentences)


def lowered(text: str) -> str:
    """The text without a capital at its start (unless all of the first word is in capitals) and a final period."""
    first = text[:1] if text[1:2].isupper() else text[:1].lower()
    return (first + text[1:]).rstrip(".")


def _error(code: str, title: str, why: str) -> Rule:
    return Rule(code, Severity.ERROR, title, why)


SYNTAX: Final = _error(
    "template-syntax",
    "A template that cannot be parsed",
    "Nothing of it can be rendered, so none of its objects would exist.",
)
STATEMENT: Final = _error(
    "template-statement",
    "A statement, filter or function that templates do not have",
    "It would reach other files, repeat without bound, differ from run to run, or write text past the quoting that "
    "keeps names from becoming YAML.",
)
UNDEFINED: Final = _error(
    "template-undefined",
    "A name that is not in the template's context",
    "It would come out empty, and an object with a hole where a name or a number belongs would be deployed.",
)
FAILED: Final = _error(
    "template-failed",
    "An expression that cannot be computed",
    "There is no value to write, so the objects of this unit would be missing.",
)
TOO_MUCH: Final = _error(
    "template-too-much",
    "A template that does or writes too much",
    "Every pull request renders the templates for every unit: one that does not end stops them all.",
)
VALUE: Final = _error(
    "template-value",
    "A value that has no place in an object",
    "Fractions and functions have no canonical text, so the object would differ from what the API server stores.",
)
QUOTES: Final = _error(
    "template-quotes",
    "An expression inside a longer text",
    "A value is written with its own quotes, so that no name can break out of it; inside another text these quotes "
    "become part of it, or end it.",
)
OBJECT: Final = _error(
    "template-object",
    "A document that is not a Kubernetes object",
    "The API server takes objects with an apiVersion, a kind and a legal name, and Argo CD stops at anything else.",
)
KIND: Final = _error(
    "template-kind",
    "A kind without a schema",
    "An object that nothing checks fails when it is applied, after the merge.",
)
CONFORM: Final = _error(
    "template-schema",
    "An object that its schema refuses",
    "The API server would refuse it, or drop the field that it does not know.",
)
LABEL: Final = _error(
    "template-label",
    "A label that says something else than the tool's own",
    "Policies, reports and pruning go by these labels: the object would be counted to somebody else.",
)
NAMESPACE: Final = _error(
    "template-namespace",
    "A namespace that is missing, or given to an object that has none",
    "The object would land in whatever namespace the sync is pointed at.",
)
FOREIGN: Final = _error(
    "template-foreign-namespace",
    "An object in the namespace of another unit",
    "A template of one unit would change what another one runs, past its quotas and its reviewers.",
)
COLLISION: Final = _error(
    "template-collision",
    "Two objects with the same name",
    "They would be one object in the cluster: the one applied last wins, and Argo CD never comes to rest.",
)

RULES: Final = (
    *templates.RULES,
    SYNTAX,
    STATEMENT,
    UNDEFINED,
    FAILED,
    TOO_MUCH,
    VALUE,
    QUOTES,
    OBJECT,
    KIND,
    CONFORM,
    LABEL,
    NAMESPACE,
    FOREIGN,
    COLLISION,
)
