"""How many examples the costly properties try: enough for every day, many times that at night."""

from __future__ import annotations

import os
from typing import Final

TIMES: Final = int(os.environ.get("TENANCY_EXAMPLES", "1"))


def often(number: int) -> int:
    """So many examples, times what `TENANCY_EXAMPLES` says."""
    return number * TIMES
