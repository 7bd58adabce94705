"""Permutation importance on out-of-bag rows, with a null band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from scipy.stats import norm

from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, Between, Record

# The importance of a noise column is a sum over pairs of rows, one predicted and one in the sample
# of the tree, and every pair occurs both ways round. If both gave the same value, the variance
# would be twice that of independent rows; permutations, which differ for each tree, reduce that.
# Measured on noise, importances spread by 1.1 (50 trees) to 1.4 (500 trees, or large leaves) times
# their standard error.
_VARIANCE_FACTOR = 2.0

Measure = Literal["error rate", "mean squared error"]


@dataclass(frozen=True, eq=False)
class PermutationImportance(Record):
    """Permutation importance of the columns on out-of-bag rows, with a null band.

    The importance of a column is the mean over rows of the increase of a row's loss, averaged over
    the trees whose sample lacks the row, when the column is permuted among such rows. For a column
    without information beyond the others the two losses differ by chance alone: its importance is
    within ``null_band`` of zero, and ``above_noise`` is zero. Rows are not independent: each is
    predicted by trees that were grown from the others, so that what two rows have in common by
    chance counts twice. That at most doubles the variance, which the band allows for.

    Parameters
    ----------
    feature_names : list of str
    importances : ndarray of shape (n_columns,)
    standard_errors : ndarray of shape (n_columns,)
        Standard errors over the rows, as if these were independent.
    null_band : ndarray of shape (n_columns,)
        Half-width of the interval around zero that noise columns stay in, all together with
        probability ``confidence_level`` (Bonferroni).
    confidence_level : float
    measure : "error rate" or "mean squared error"
    n_repeats : int
        Permutations per tree and column.

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import RandomForestClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> forest = RandomForestClassifier(30, importance=True).fit(X, X[:, 0] > 0)
    >>> (forest.oob_importance_.above_noise > 0).tolist()
    [True, False]
    """

    feature_names: list[str]
    importances: Annotated[Array, ArrayOf("float64", "n_columns")]
    standard_errors: Annotated[Array, ArrayOf("float64", "n_columns")]
    null_band: Annotated[Array, ArrayOf("float64", "n_columns")]
    confidence_level: Annotated[float, Between(0.0, 1.0, closed="neither")]
    measure: Measure
    n_repeats: Annotated[int, AtLeast(1)]

    @classmethod
    def of(
        cls, names: list[str], sums: Array, n_trees: Array, *, measure: Measure, n_repeats: int,
        confidence_level: float, scale: float = 1.0,
    ) -> PermutationImportance:  # fmt: skip
        """Compute importances from sums of loss differences over trees.

        Parameters
        ----------
        names : list of str
        sums : ndarray of shape (n_rows, n_columns)
            Squared errors are in units of ``scale`` squared.
        n_trees : ndarray of shape (n_rows,)
            Trees in each row's sum.
        """
        has_trees = n_trees > 0
        if not has_trees.any():
            raise ValueError(
                "permutation importance requires out-of-bag rows, and there are none: set "
                "bootstrap=True, or max_samples below the number of rows."
            )
        mean = sums[has_trees] / (n_trees[has_trees, None] * float(n_repeats))
        n_rows = len(mean)
        importances = mean.mean(axis=0) * scale**2
        errors = np.full(len(names), np.inf)
        if n_rows > 1:
            errors = mean.std(axis=0, ddof=1) / np.sqrt(n_rows) * scale**2
        quantile = norm.ppf(1 - (1 - confidence_level) / (2 * len(names)))
        band = errors * np.sqrt(_VARIANCE_FACTOR) * quantile
        return cls(list(names), importances, errors, band, confidence_level, measure, n_repeats)

    @property
    def above_noise(self) -> Array:
        """The importances above the null band, and zero for the other columns."""
        return np.where(self.importances > self.null_band, self.importances, 0.0)

    def to_table(self) -> str:
        """Return the columns as a text table, by decreasing importance."""
        width = max(len(name) for name in ("column", *self.feature_names))
        lines = [f"{'column':<{width}}  importance  std. error  null band  above noise"]
        lines += [
            f"{self.feature_names[j]:<{width}}  {self.importances[j]:>10.4g}  "
            f"{self.standard_errors[j]:>10.3g}  {self.null_band[j]:>10.4g}  "
            f"{self.above_noise[j]:.4g}"
            for j in np.argsort(-self.importances, kind="stable")
        ]
        return "\n".join(lines)

    def check(self) -> None:
        """Raise if the number of names differs from the number of columns."""
        if len(self.feature_names) != len(self.importances):
            raise ValueError("feature_names must have a name for each column.")
