"""Everything that can be wrong before an organization has a meaning: its files and their YAML, and the words for it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

import yaml

from tenancy.diagnostics import Diagnostic, Place, Rule, Severity

_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


def _error(code: str, title: str, why: str) -> Rule:
    return Rule(code, Severity.ERROR, title, why)


SYNTAX = _error(
    "yaml-syntax",
    "A YAML syntax error",
    "Nothing after the error can be read, so nothing in this file was checked further.",
)
TAB = _error(
    "yaml-tab",
    "A tab used for indentation",
    "YAML indents with spaces only: a tab has no width, so the nesting would be a guess.",
)
DUPLICATE_KEY = _error(
    "yaml-duplicate-key",
    "A key written twice in one mapping",
    "Most YAML readers silently keep the last one: a budget would vanish without a word.",
)
MERGE_KEY = _error(
    "yaml-merge-key",
    "A merge key `<<`",
    "YAML 1.2 has no merge key; what it would merge depends on the reader, so a reviewer cannot see the result.",
)
ALIAS_UNDEFINED = _error(
    "yaml-alias-undefined",
    "An alias without an anchor",
    "The alias stands for a value that was never written, so there is nothing to read in its place.",
)
ALIAS_RECURSIVE = _error(
    "yaml-alias-recursive",
    "An alias inside its own anchor",
    "The value would contain itself and never end.",
)
BOMB = _error(
    "yaml-bomb",
    "Too many values once aliases are expanded",
    "A few lines of nested aliases can stand for billions of values and exhaust the memory of whoever reads them.",
)
TAG = _error(
    "yaml-tag",
    "An explicit YAML tag",
    "A tag changes the type of a value behind the reader's back, and some name program objects to construct.",
)
DOCUMENTS = _error(
    "yaml-documents",
    "More than one document in a file",
    "Only the first document would be read; everything after the separator would be lost in silence.",
)
NOT_UTF8 = _error(
    "yaml-not-utf8",
    "A file that is not UTF-8",
    "Names and labels end up in Kubernetes objects, which are UTF-8; guessing another encoding would change them.",
)
UTF16 = _error(
    "yaml-utf16",
    "A file in UTF-16",
    "Reviews, diffs and most tools treat a UTF-16 file as binary, so nobody could review a change to it.",
)
UNPRINTABLE = _error(
    "yaml-unprintable",
    "A character that YAML does not allow",
    "The character is invisible in a review, and YAML readers reject the whole file for it.",
)
EMPTY = _error(
    "yaml-empty",
    "A file without content",
    "An empty file is more often a failed write or a bad merge than what somebody meant.",
)
ROOT = _error(
    "yaml-root",
    "A top level that is not a mapping",
    "The organization is read by its keys; a list or a single value has none.",
)
COMPLEX_KEY = _error(
    "yaml-complex-key",
    "A key that is not plain text",
    "Keys are names; a list, a mapping or an alias has no text that could name a department or a team.",
)
NULL_KEY = _error(
    "yaml-null-key",
    "An empty or null key",
    "YAML readers disagree whether such a key is the word or no value at all; most often the name was forgotten.",
)
DEPTH = _error(
    "yaml-depth",
    "Too deep a nesting",
    "No organization nests this deep; such a file is a mistake or an attack on whoever reads it.",
)
SIZE = _error(
    "yaml-size",
    "Too large a file",
    "An organization of ten thousand teams takes 5 MiB; a larger file is the wrong one, or should be several.",
)
VERSION = _error(
    "yaml-version",
    "A YAML version other than 1.2",
    "Under another version `no`, `on` and `010` mean something else than this tool reads.",
)
NUMBER = _error(
    "yaml-number",
    "A number out of range",
    "No system downstream can hold the number; it would be rounded, or become infinity.",
)

ORG_MISSING = _error(
    "org-missing",
    "A folder without org.yaml",
    "Without the root of the organization nothing can be checked, and an unchecked organization is not a clean one.",
)
ORG_AMBIGUOUS = _error(
    "org-ambiguous",
    "Both org.yaml and org.yml",
    "Only one of the two is the root; edits to the other would have no effect.",
)
UNREADABLE = _error(
    "file-unreadable",
    "A file that cannot be read",
    "What the file says is unknown, so the organization cannot be called checked.",
)
API_VERSION = _error(
    "departments-api-version",
    "A departments file with another apiVersion",
    "The apiVersion fixes what the keys mean; under another one the same words may mean something else.",
)
KIND = _error(
    "departments-kind",
    "A file of another kind under departments/",
    "Only `kind: Departments` is merged into the organization; any other document there would be ignored in silence.",
)
KEY = _error(
    "departments-key",
    "An unknown key in a departments file",
    "A misspelt key would be ignored, and with it everything below it.",
)
SHAPE = _error(
    "departments-shape",
    "A departments file of the wrong shape",
    "Departments are merged by name; without a mapping of names there is nothing to merge.",
)
FILE_MISSING = _error(
    "department-file-missing",
    "A reference to a department file that does not exist",
    "The department would have no teams and no budget, and its namespaces would be deleted.",
)
FILE_OUTSIDE = _error(
    "department-file-outside",
    "A reference or a link to a file outside the organization's folder",
    "Files outside the folder are not covered by its review rules and are absent from a checkout of it alone.",
)
FILE_TWICE = _error(
    "department-file-twice",
    "A department file referenced twice",
    "One department cannot be in two places: its budget would be counted twice.",
)
FILE_KEYS = _error(
    "department-file-keys",
    "Keys beside `file`",
    "The definition comes from the file alone; keys beside the reference would be lost.",
)
FILE_CONTENT = _error(
    "department-file-content",
    "A referenced file that defines other departments",
    "A reference stands for one department; others in the file would have no place in the organization.",
)
PARENT_MISSING = _error(
    "department-parent-missing",
    "A parent department that does not exist",
    "The departments of the file would belong nowhere, with no quota above them to divide.",
)
PARENT_CONFLICT = _error(
    "department-parent-conflict",
    "A parent that contradicts the reference",
    "The file says one place and the reference another; the department can only be in one.",
)
CYCLE = _error(
    "department-cycle",
    "Departments that contain each other",
    "A department inside itself has no root above it, so no capacity can be handed down to it. In Kueue the queues "
    "below never admit a job, and one that is created there ends the manager at the next change of any namespace (run "
    "on 0.17.0 and 0.19.2).",
)
DUPLICATE = _error(
    "department-duplicate",
    "A department defined twice",
    "Both would be one queue; which budget it gets would depend on the order of the files.",
)

RULES: tuple[Rule, ...] = (
    SYNTAX,
    TAB,
    DUPLICATE_KEY,
    MERGE_KEY,
    ALIAS_UNDEFINED,
    ALIAS_RECURSIVE,
    BOMB,
    TAG,
    DOCUMENTS,
    NOT_UTF8,
    UTF16,
    UNPRINTABLE,
    EMPTY,
    ROOT,
    COMPLEX_KEY,
    NULL_KEY,
    DEPTH,
    SIZE,
    VERSION,
    NUMBER,
    ORG_MISSING,
    ORG_AMBIGUOUS,
    UNREADABLE,
    API_VERSION,
    KIND,
    KEY,
    SHAPE,
    FILE_MISSING,
    FILE_OUTSIDE,
    FILE_TWICE,
    FILE_KEYS,
    FILE_CONTENT,
    PARENT_MISSING,
    PARENT_CONFLICT,
    CYCLE,
    DUPLICATE,
)

COULD_NOT_CHECK: frozenset[str] = frozenset({ORG_MISSING.code, UNREADABLE.code})
"""Codes after which the organization counts as not checked at all: exit status 3."""

_FITS_NOWHERE: Final = "the line fits none of the mappings and lists around it"
_INDENT: Final = "indent it exactly like the lines it belongs to; look for a stray bracket or `-`"
SYNTAX_EXPLAINED: Final[tuple[tuple[Rule, str, str, str], ...]] = (
    (
        SYNTAX,
        "mapping values are not allowed",
        "there is a second `: ` where only one value fits",
        "quote a value that contains `: `, and indent a key like the keys beside it",
    ),
    (SYNTAX, "could not find expected ':'", "a key has no colon", "write `key: value`, with a space after the colon"),
    (
        SYNTAX,
        "expected ',' or",
        "a bracket is not closed, or a comma is missing",
        "close the bracket, or write the comma",
    ),
    (SYNTAX, "unexpected end of stream", "a quote is not closed", "write the closing quote"),
    (SYNTAX, "unexpected document separator", "a quote is not closed", "write the closing quote"),
    (SYNTAX, "cannot start any token", "a value begins with a character that YAML reserves", "quote the value"),
    (SYNTAX, "expected alphabetic or numeric", "plain text cannot begin with `*` or `&`", "quote the value"),
    (
        SYNTAX,
        "unknown escape character",
        "a backslash in double quotes escapes nothing",
        "use single quotes, or write the backslash twice",
    ),
    (
        SYNTAX,
        "block sequence entries are not allowed",
        "a list item stands where no list can begin",
        "begin the list on a line of its own below its key",
    ),
    (SYNTAX, "expected '-' indicator", "the line does not belong to the list around it", "begin the line with `- `"),
    (
        SYNTAX,
        "expected <document start>",
        "the line is indented less than the first one",
        "begin all keys of the top level in the same column",
    ),
    (SYNTAX, "expected key", _FITS_NOWHERE, _INDENT),
    (SYNTAX, "expected <block end>", _FITS_NOWHERE, _INDENT),
    (DEPTH, "maximum nesting", "the value is nested too deep", "look for brackets that were never closed"),
    (VERSION, "incompatible YAML", "the file declares a YAML version other than 1.2", "delete the `%YAML` line"),
    (TAB, "tab character", "a tab is used for indentation", "indent with spaces"),
    (TAG, "undefined tag handle", "a tag is not allowed", "remove the tag"),
)
"""The rule that part of the parser's words stands for, what it means, and what to do; the first that fits counts."""


def syntax(error: yaml.MarkedYAMLError, text: str, file: str) -> Diagnostic:
    """The parser's problem in our words, placed where the parser stopped, or at the bracket or quote that is open."""
    problem, mark = str(error.problem), error.problem_mark or error.context_mark
    number = mark.line if mark else 0
    line = next(iter(text.splitlines()[number : number + 1]), "")
    indentation = line[: len(line) - len(line.lstrip(" \t"))]
    if "\t" in indentation:
        place = Place(file, number + 1, indentation.index("\t") + 1, number + 1, len(indentation) + 1)
        message, help_ = "a tab is used for indentation", "indent with spaces"
        return Diagnostic(rule=TAB, message=message, place=place, help=help_)
    if mark and line[mark.column : mark.column + 1] == ":" and line[: mark.column].rstrip()[-1:] in ("", "{", ","):
        place, help_ = _point(file, mark), "write a name before the colon"
        return Diagnostic(rule=NULL_KEY, message="a value has no key", place=place, help=help_)
    for rule, words, message, help_ in SYNTAX_EXPLAINED:
        if words in problem:
            opened = error.context_mark if "not closed" in message else None
            return Diagnostic(rule=rule, message=message, place=_point(file, opened or mark), help=help_)
    message = f"this is not YAML: {' '.join(filter(None, (problem, error.context)))}"
    return Diagnostic(rule=SYNTAX, message=message, place=_point(file, mark))


def _point(file: str, mark: Any) -> Place:
    if mark is None:
        return Place(file)
    return Place(file, mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 2)


def unprintable(error: Exception, text: str, file: str) -> Diagnostic:
    """The first character that YAML does not allow; libyaml itself gives its byte and not its line."""
    found = _UNPRINTABLE.search(text)
    if found is None:
        return Diagnostic(rule=SYNTAX, message=f"this is not YAML: {error}", place=Place(file))
    line, column = line_and_column(text[: found.start()])
    message = f"the character U+{ord(found[0]):04X} is not allowed in YAML"
    help_ = 'delete it, or write it as an escape in double quotes, such as "\\x07"'
    place = Place(file, line, column, line, column + 1)
    return Diagnostic(rule=UNPRINTABLE, message=message, place=place, help=help_)


def decoded(data: bytes, file: str, limit: int) -> tuple[str, Diagnostic | None]:
    """The text of a file, without a byte order mark, or what speaks against it; `limit` is in bytes."""
    if len(data) > limit:
        return "", too_large(file, limit)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or (len(data) > 1 and (data[0] == 0) != (data[1] == 0)):
        message, help_ = "the file is UTF-16", "save the file as UTF-8"
        return "", Diagnostic(rule=UTF16, message=message, place=Place(file), help=help_)
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode(), None
    except UnicodeDecodeError as error:
        line, column = line_and_column(data[: error.start].decode())
        place, message = (
            Place(file, line, column, line, column + 1),
            f"the byte 0x{data[error.start]:02X} is not UTF-8",
        )
        problem = Diagnostic(rule=NOT_UTF8, message=message, place=place, help="save the file as UTF-8")
        return data.decode(errors="replace"), problem


def unreadable(file: str, reason: str) -> Diagnostic:
    """The finding about a file that cannot be read, with the words of the system."""
    return Diagnostic(
        rule=UNREADABLE, message=f"`{file}` cannot be read: {reason[:1].lower()}{reason[1:]}", place=Place(file)
    )


def too_large(file: str, limit: int) -> Diagnostic:
    """`limit` is in bytes."""
    message, help_ = f"the file is larger than {limit // 1024 // 1024} MiB", "write a file for each department"
    return Diagnostic(rule=SIZE, message=message, place=Place(file), help=help_)


def line_and_column(before: str) -> tuple[int, int]:
    """Line and column, from 1, of the character that follows `before`."""
    lines = f"{before}.".splitlines()
    return len(lines), len(lines[-1])


_LONGEST_WORD = 1000
"""The cost of a comparison grows with the square of the length."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A help that offers the nearest of the known words; empty where none is near.

    Only the first thousand words of about the same length are compared, which bounds the cost of a finding.
    """
    if len(word) > _LONGEST_WORD:
        return ""
    similar = islice((each for each in known if abs(len(each) - len(word)) <= 4), 1000)
    near = difflib.get_close_matches(word, similar, n=1)
    return f"did you mean `{near[0]}`?" if near else ""
