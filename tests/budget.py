"""What ``make test`` leaves to ``make test-slow``: two thirds of the examples, most cases."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest
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


def first_of(cases: Iterable[Any]) -> list[Any]:
    """Return the cases of a parametrization, all but the first one marked as slow."""
    first, *rest = cases
    return [first, *(pytest.param(case, marks=pytest.mark.slow) for case in rest)]
