"""Ranges of numbers: the marks that a declared hyper-parameter carries."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers between ``low`` and ``high``; made by `AtLeast`, `Above` and `Between`."""

    low: float = -inf
    high: float = inf
    low_open: bool = False
    high_open: bool = False

    def tester(self) -> Callable[[Any], bool]:
        """A quick function that says whether a number lies inside. NaN never does."""
        low, high = self.low, self.high
        after: Callable[..., bool] = operator.lt if self.low_open else operator.le
        before: Callable[..., bool] = operator.lt if self.high_open else operator.le

        def inside(value: Any) -> bool:
            return bool(after(low, value) and before(value, high))

        return inside

    def words(self) -> str:
        """How a sentence says it: ``at least 1``, ``between 0 and 1``, ``in [0, 1)``."""
        if self.high == inf:
            return f"{'above' if self.low_open else 'at least'} {plain(self.low)}"
        if not (self.low_open or self.high_open):
            return f"between {plain(self.low)} and {plain(self.high)}"
        left, right = "(" if self.low_open else "[", ")" if self.high_open else "]"
        return f"in {left}{plain(self.low)}, {plain(self.high)}{right}"


def AtLeast(low: float) -> Range:
    """The numbers from ``low`` on."""
    return Range(low)


def Above(low: float) -> Range:
    """The numbers greater than ``low``."""
    return Range(low, low_open=True)


def Between(
    low: float, high: float, *, closed: Literal["both", "left", "right", "neither"] = "both"
) -> Range:
    """The numbers from ``low`` to ``high``; ``closed`` says which of the two ends belong."""
    if not low < high:
        raise ValueError(f"Between({low}, {high}): the first number must be the smaller one.")
    return Range(low, high, closed not in ("both", "left"), closed not in ("both", "right"))


def plain(number: float) -> str:
    """The number as people write it: ``1`` rather than ``1.0``."""
    return repr(number).removesuffix(".0")
