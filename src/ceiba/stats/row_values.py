"""Something of every row, as a statistic: its merge puts the rows of the parts in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from ceiba._typing import Array


@dataclass(frozen=True, slots=True)
class RowValues:
    """Values of every row, part by part; joined when they are asked for.

    Joining them at every merge would copy the first part as often as there are parts.
    """

    parts: tuple[Array, ...]

    def merge(self, other: Self) -> Self:
        """Both parts, in order."""
        return type(self)(self.parts + other.parts)

    @property
    def values(self) -> Array:
        """Values of all rows, in order."""
        return joined(self.parts)


def joined(parts: tuple[Array, ...]) -> Array:
    """The rows of all parts, one after the other."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
