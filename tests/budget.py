"""How many examples hypothesis draws: a third in ``make test``, all of them in ``make test-slow``."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

SCALE = float(os.environ.get("CEIBA_EXAMPLES", "0.33"))
# In continuous integration every run draws the same examples: a failure is then the change's.
FIXED = "CI" in os.environ


def scaled(number: int) -> int:
    """Return the number of examples of this run, at least three where there are as many."""
    return max(min(number, 3), round(SCALE * number))


def examples(number: int, **options: Any) -> settings:
    """Return settings for ``number`` examples in a full run, without a deadline."""
    return settings(max_examples=scaled(number), deadline=None, derandomize=FIXED, **options)
