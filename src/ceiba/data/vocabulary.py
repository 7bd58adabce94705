"""The different labels of a column, gathered part by part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Beyond this a column names its rows rather than describes them, and its levels would not be small.
MAX_LEVELS = 100_000


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A set of labels that merges with others, or the finding that they are too many.

    Once ``overfull`` it holds no labels and swallows whatever is merged into it, so that the result
    does not depend on the order of merging.
    """

    words: frozenset[Any] = frozenset()
    overfull: bool = False

    @classmethod
    def of(cls, words: Iterable[Any]) -> Vocabulary:
        """The vocabulary of some labels, equal or not."""
        found = frozenset(words)
        return cls(overfull=True) if len(found) > MAX_LEVELS else cls(found)

    def merge(self, other: Vocabulary) -> Vocabulary:
        """The labels of both."""
        if self.overfull or other.overfull:
            return Vocabulary(overfull=True)
        if other.words <= self.words:
            return self
        return Vocabulary.of(self.words | other.words)
