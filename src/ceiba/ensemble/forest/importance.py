"""How much worse a forest predicts with a column permuted, and what a noise column would show."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.stats import norm

from ceiba._typing import Array

# A noise column's value is a sum over pairs of rows, one judged and one learnt from, and every pair
# is there both ways round. If both ways said the same, the variance would be twice that of
# independent rows; permutations, which differ for each tree, lessen that. Measured on noise, values
# spread by 1.1 (50 trees) to 1.4 (500 trees, or large leaves) times their standard error.
_SIDES = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class PermutationImportance:
    """Permutation importance on rows out of the bag, with a null band.

    ``value`` is the mean over rows of what each loses more, on average over the trees that did not
    draw it, when the column is permuted among such rows. For a column that says nothing beyond the
    others the two losses differ by chance alone: it then lies within ``band`` of zero, and reads as
    zero in ``reads``. Rows are not independent: each is judged by trees that learnt from the
    others, so that what two rows have in common by chance counts from either side. That at most
    doubles the variance, and the band allows for it.

    Parameters
    ----------
    names : list of str
        The columns.
    value, error : ndarray of shape (n_columns,)
        Importance, and its standard error over the rows, as if they were independent.
    band : ndarray of shape (n_columns,)
        Half-width around zero that a noise column keeps to, for all columns together with the
        confidence ``level`` (Bonferroni).
    level : float
    measure : "error rate" or "mean squared error"
    repeats : int
        Permutations of each tree and column.

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import RandomForestClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> forest = RandomForestClassifier(30, importance=True).fit(X, X[:, 0] > 0)
    >>> [bool(seen) for seen in forest.oob_importance_.reads > 0]
    [True, False]
    """

    names: list[str]
    value: Array
    error: Array
    band: Array
    level: float
    measure: str
    repeats: int

    @classmethod
    def of(
        cls, names: list[str], sums: Array, count: Array, *, classes: bool, repeats: int,
        level: float, scale: float = 1.0,
    ) -> PermutationImportance:  # fmt: skip
        """From sums of differences over the trees (rows x columns) and the trees of each row.

        Errors of numbers are in units of ``scale``.
        """
        known = count > 0
        if not known.any():
            raise ValueError(
                "no row is out of any bag, so there is nothing to measure importance on: draw with "
                "bootstrap=True, or max_samples below the number of rows"
            )
        mean = sums[known] / (count[known, None] * float(repeats))
        n = len(mean)
        value = mean.mean(axis=0) * scale**2
        error = np.full(len(names), np.inf)
        if n > 1:
            error = mean.std(axis=0, ddof=1) / np.sqrt(n) * scale**2
        band = error * np.sqrt(_SIDES) * norm.ppf(1 - (1 - level) / (2 * len(names)))
        measure = "error rate" if classes else "mean squared error"
        return cls(list(names), value, error, band, level, measure, repeats)

    @property
    def reads(self) -> Array:
        """The importances; zero where one is within the band of noise."""
        return np.where(self.value > self.band, self.value, 0.0)

    def to_table(self) -> str:
        """The columns, the most important first, as text."""
        width = max(len(name) for name in ("column", *self.names))
        lines = [f"{'column':<{width}}  importance  std. error   null band  reads"]
        lines += [
            f"{self.names[j]:<{width}}  {self.value[j]:>10.4g}  {self.error[j]:>10.3g}  "
            f"{self.band[j]:>10.4g}  {self.reads[j]:.4g}"
            for j in np.argsort(-self.value, kind="stable")
        ]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file; its arrays stay arrays."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> PermutationImportance:
        """The record that `to_json` wrote; ValueError where it contradicts itself."""
        if set(record) != {entry.name for entry in fields(cls)}:
            raise ValueError("these are not the parts of an importance")
        names = record["names"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("names must be a list of text")
        for part in ("value", "error", "band"):
            array = record[part]
            sound = isinstance(array, np.ndarray) and array.dtype == np.float64
            if not sound or array.shape != (len(names),):
                raise ValueError(f"{part} must have an entry for each column")
        if type(record["level"]) is not float or not 0 < record["level"] < 1:
            raise ValueError("level must be between 0 and 1")
        if type(record["repeats"]) is not int or record["repeats"] < 1:
            raise ValueError("repeats must be a count")
        if record["measure"] not in ("error rate", "mean squared error"):
            raise ValueError("the measure is not known")
        return cls(**record)
