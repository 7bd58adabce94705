"""Settings of a discretization."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# Smallest and largest number of intervals of a column: codes are uint16, and missing has one.
MIN_BINS, MAX_BINS = 2, 65_534
Method = Literal["mdl", "equal_width", "equal_frequency", "kmeans", "given"]


@dataclass(frozen=True, eq=False)
class DiscretizationConfig:
    """Settings of a discretization.

    Parameters
    ----------
    method : {"mdl", "equal_width", "equal_frequency", "kmeans", "given"}
        How the thresholds of numeric columns are chosen.
    n_bins : int or mapping from column index to int
        Number of intervals of the methods of equal width, of equal frequency and of k-means.
    thresholds : mapping from column index to sequence of numbers
        Given thresholds of some numeric columns, ascending; with ``method="given"`` of all.
    keep_constant : bool
        Whether columns with one category are kept instead of dropped.

    Examples
    --------
    >>> from ceiba.bayes import DiscretizationConfig
    >>> DiscretizationConfig("equal_width", n_bins=3).bins_of(0)
    3
    """

    method: Method = "mdl"
    n_bins: int | Mapping[int, int] = 5
    thresholds: Mapping[int, Any] = field(default_factory=dict)
    keep_constant: bool = False

    def bins_of(self, column: int) -> int:
        """Return the number of intervals of a column."""
        return int(self.n_bins[column] if isinstance(self.n_bins, Mapping) else self.n_bins)
