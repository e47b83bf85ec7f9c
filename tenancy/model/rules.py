"""What the model stage may find: shapes that the language does not have."""

from __future__ import annotations

from typing import Final

from tenancy.diagnostics import Rule, Severity

UNKNOWN_KEY: Final = Rule(
    "unknown-key",
    Severity.ERROR,
    "A key that the language does not have",
    "A misspelt key would be ignored, and the unit would get the default instead of what was meant.",
)
MISSING_KEY: Final = Rule(
    "missing-key",
    Severity.ERROR,
    "A required key that is missing",
    "There is no sensible default for it, so nothing could be compiled.",
)
WRONG_TYPE: Final = Rule(
    "wrong-type",
    Severity.ERROR,
    "A value of the wrong type",
    "Guessing what was meant would put a number or a name into the cluster that nobody wrote.",
)
EMPTY_VALUE: Final = Rule(
    "empty-value",
    Severity.ERROR,
    "A key without a value",
    "The value was forgotten, or lost in a merge; the default in its place would decide what somebody meant to say.",
)
UNKNOWN_VALUE: Final = Rule(
    "unknown-value",
    Severity.ERROR,
    "A value that is not one of the allowed ones",
    "Nothing else has a meaning here; a default in its place would decide what somebody meant to say.",
)
OUT_OF_RANGE: Final = Rule(
    "out-of-range",
    Severity.ERROR,
    "A number or a list outside its bounds",
    "Nothing real has such a value, so every number that follows from it would be wrong as well.",
)

RULES: Final = (UNKNOWN_KEY, MISSING_KEY, WRONG_TYPE, EMPTY_VALUE, UNKNOWN_VALUE, OUT_OF_RANGE)
