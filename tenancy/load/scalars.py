"""Plain scalars by the core schema of YAML 1.2.2 (section 10.3): `no`, `on`, dates, `12:30:45` and `1_000` are text,
`010` is ten.
"""

from __future__ import annotations

import math
import re
from typing import Final

from tenancy.load.source import Raw

MAX_DIGITS: Final = 100

WORDS: Final[dict[str, Raw]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
"""The plain scalars that stand for something else than a number or their own text."""
ODD_KEYS: Final = frozenset({"<<", *(word for word, value in WORDS.items() if value is None)})
"""The plain scalars that are no key: null, and the merge key of YAML 1.1."""
_NUMBER_START: Final = frozenset("+-.0123456789")
_INT: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def resolve(text: str) -> tuple[Raw, bool]:
    """The value of a plain scalar by the core schema, and whether it is within range; the text where it is not."""
    if text in WORDS or text[0] not in _NUMBER_START:
        return WORDS.get(text, text), True
    if _INT.fullmatch(text):
        return (int(text, 0 if text[1:2] in {"o", "x"} else 10), True) if len(text) <= MAX_DIGITS else (text, False)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return (number, True) if math.isfinite(number) else (text, False)
    return text, True
