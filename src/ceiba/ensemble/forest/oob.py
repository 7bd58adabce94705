"""Out-of-bag predictions of a forest: score, error curve and importances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from scipy.stats import norm

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, Between, Record
from ceiba.ensemble.forest.grower import ForestSample, TrainingSample
from ceiba.ensemble.forest.model import Forest
from ceiba.inference import wilson

# The importance of a noise column is a sum over pairs of rows, one predicted and one in the sample
# of the tree, and every pair occurs both ways round. If both gave the same value, the variance
# would be twice that of independent rows; permutations, which differ for each tree, reduce that.
# Measured on noise, importances spread by 1.1 (50 trees) to 1.4 (500 trees, or large leaves) times
# their standard error.
_VARIANCE_FACTOR = 2.0

Measure = Literal["error rate", "mean squared error"]


@dataclass(frozen=True, eq=False)
class OobCurve(Record):
    """Out-of-bag error of the first 1, 2, ... trees, with a confidence band.

    A row is predicted by the trees grown without it. The band is Wilson's interval of an error
    rate, or a normal interval of a mean squared error.

    Parameters
    ----------
    n_trees : ndarray of int64 of shape (n,)
        1 to the number of trees.
    error : ndarray of shape (n,)
        Error rate or mean squared error; NaN until a row is out of bag.
    lower, upper : ndarray of shape (n,)
        The confidence band.
    n_rows : ndarray of int64 of shape (n,)
        Number of rows that are out of bag for at least one of these trees.
    confidence_level : float
    measure : "error rate" or "mean squared error"

    Examples
    --------
    >>> from ceiba import RandomForestClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> forest = RandomForestClassifier(50, oob_score=True).fit(iris.table, iris.y)
    >>> bool(forest.oob_curve_.error[-1] < 0.1)
    True
    >>> forest.oob_curve_.summary().startswith("The error of 50 trees")
    True
    """

    n_trees: Annotated[Array, ArrayOf("int64", "n")]
    error: Annotated[Array, ArrayOf("float64", "n")]
    lower: Annotated[Array, ArrayOf("float64", "n")]
    upper: Annotated[Array, ArrayOf("float64", "n")]
    n_rows: Annotated[Array, ArrayOf("int64", "n")]
    confidence_level: Annotated[float, Between(0.0, 1.0, closed="neither")]
    measure: Measure

    @classmethod
    def of(
        cls, n_rows: Array, loss: Array, squares: Array, measure: Measure,
        confidence_level: float = 0.95, *, scale: float = 1.0,
    ) -> OobCurve:  # fmt: skip
        """Compute the curve from sums of losses and squared losses over rows.

        Squared errors are in units of ``scale`` squared.
        """
        error = np.where(n_rows > 0, loss / np.maximum(n_rows, 1), np.nan)
        if measure == "error rate":
            lower, upper = _wilson_bands(loss, n_rows, confidence_level)
        else:
            half = norm.ppf(0.5 + confidence_level / 2) * _standard_error(n_rows, loss, squares)
            lower, upper = np.maximum(error - half, 0.0), error + half
            error, lower, upper = (part * scale**2 for part in (error, lower, upper))
        n_trees = np.arange(1, len(n_rows) + 1)
        return cls(n_trees, error, lower, upper, n_rows, confidence_level, measure)

    @property
    def standard_error(self) -> float:
        """Standard error of the last value."""
        half = float(self.upper[-1] - self.lower[-1]) / 2
        return half / float(norm.ppf(0.5 + self.confidence_level / 2))

    @property
    def n_trees_sufficient(self) -> int | None:
        """Number of trees from which on the error stays close to its last value.

        Close means within one standard error. None if that number is more than half of the trees,
        because the error may then still decrease.
        """
        last = self.error[-1]
        if np.isnan(last):
            return None
        outside = np.flatnonzero(~(np.abs(self.error - last) <= self.standard_error))
        first = int(self.n_trees[outside[-1]]) + 1 if len(outside) else 1
        return first if first <= max(1, len(self.n_trees) // 2) else None

    def summary(self) -> str:
        """Describe the last error and whether there are enough trees."""
        last, n = self.error[-1], len(self.n_trees)
        if np.isnan(last):
            return "No row is out of bag, so there is no error. Set bootstrap=True."
        error = (
            f"The error of {n} trees is {last:.4g} ({self.confidence_level:.0%}: "
            f"{self.lower[-1]:.4g} to {self.upper[-1]:.4g})."
        )
        sufficient = self.n_trees_sufficient
        if sufficient is None:
            return (
                f"{error} It has not settled: add trees, for example {2 * n}, by warm_start=True."
            )
        return (
            f"{error} From {sufficient} trees on it stays within {self.standard_error:.2g} of that."
        )

    def check(self) -> None:
        """Raise ValueError if the counts are inconsistent."""
        if not len(self.n_trees) or (np.diff(self.n_trees, prepend=0) != 1).any():
            raise ValueError(f"n_trees must be 1, 2, ..., got {self.n_trees!r}.")
        if (np.diff(self.n_rows) < 0).any():
            raise ValueError(f"n_rows must not decrease, got {self.n_rows!r}.")


def _wilson_bands(n_wrong: Array, n_rows: Array, confidence_level: float) -> tuple[Array, Array]:
    # Equal counts have equal intervals, and a tree often changes no count.
    pairs = list(zip(n_wrong.tolist(), n_rows.tolist(), strict=True))
    found = {pair: wilson(*pair, confidence_level) for pair in set(pairs) if pair[1] > 0}
    bands = [
        (found[pair].lower, found[pair].upper) if pair[1] else (np.nan, np.nan) for pair in pairs
    ]
    lower, upper = np.array(bands).reshape(-1, 2).T
    return np.array(lower), np.array(upper)


def _standard_error(n_rows: Array, loss: Array, squares: Array) -> Array:
    n = np.maximum(n_rows, 2)
    variance = np.maximum(squares - loss**2 / n, 0.0) / (n - 1)
    return np.where(n_rows > 1, np.sqrt(variance / n), np.nan)


@dataclass(frozen=True, eq=False)
class PermutationImportance(Record):
    """Permutation importance of the columns on out-of-bag rows, with a null band.

    The importance of a column is the mean over rows of the increase of a row's loss, averaged over
    the trees grown without the row, when the column is permuted among such rows. For a column
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
        """Compute importances from the rows' sums of loss differences over ``n_trees`` trees.

        Squared errors are in units of ``scale`` squared.
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
            raise ValueError(
                f"feature_names must have {len(self.importances)} names, one per column, got "
                f"{len(self.feature_names)}."
            )


def trees_of_sample(forest: Forest, sample: ForestSample) -> Array:
    """Return a mask of the trees that were grown from a sample; raise if there are none."""
    key = np.array([len(sample.rows), sample.fingerprint], np.uint64)
    is_match: Array = (forest.training_keys == key).all(axis=1)
    if not is_match.any():
        raise ValueError(
            "no tree was grown from these rows: out-of-bag results require X, y and "
            "sample_weight as passed to fit."
        )
    return is_match


@dataclass(frozen=True, slots=True, eq=False)
class OutOfBag:
    """Compute out-of-bag results of the trees that were grown from one sample."""

    forest: Forest
    sample: TrainingSample
    leaf_smoothing: float  # weight that is added to each class in each leaf
    threads: int

    @classmethod
    def of(
        cls, forest: Forest, sample: TrainingSample, leaf_smoothing: float, threads: int
    ) -> OutOfBag:
        """Select the trees that were grown from this sample; other samples are unknown."""
        is_match = trees_of_sample(forest, sample)
        trees = forest if is_match.all() else forest.select_trees(is_match)
        return cls(trees, sample, leaf_smoothing, threads)

    def predict(self) -> tuple[Array, Array, OobCurve]:
        """Return mean predictions (NaN for none), trees per row, and the curve."""
        forest, n_rows = self.forest, len(self.sample.rows)
        sums = np.zeros((n_rows, max(1, forest.n_classes)))
        n_trees = np.zeros(n_rows, np.int32)
        curve_rows = np.zeros(forest.n_trees, np.int64)
        loss, squares = np.zeros(forest.n_trees), np.zeros(forest.n_trees)
        smoothing = self.leaf_smoothing / forest.weight_unit
        totals = _native.OobTotals(sums, n_trees, curve_rows, loss, squares)
        _native.forest_out_of_bag(self._trained(), smoothing, totals, self.threads)
        mean = np.full(sums.shape, np.nan)
        np.divide(sums, n_trees[:, None], out=mean, where=n_trees[:, None] > 0)
        curve = OobCurve.of(curve_rows, loss, squares, self._measure, scale=self._scale)
        return mean if forest.n_classes else mean[:, 0], n_trees, curve

    def permutation_importance(
        self, n_repeats: int, confidence_level: float
    ) -> PermutationImportance:
        """Compute the permutation importance of the columns."""
        n_rows, names = len(self.sample.rows), self.forest.schema.names
        sums = np.zeros((n_rows, len(names)))
        n_trees = np.zeros(n_rows, np.int32)
        _native.forest_permutation_importance(
            self._trained(), n_repeats, sums, n_trees, self.threads
        )
        return PermutationImportance.of(
            names,
            sums,
            n_trees,
            measure=self._measure,
            n_repeats=n_repeats,
            confidence_level=confidence_level,
            scale=self._scale,
        )

    def corrected_importances(self) -> Array:
        """Compute the debiased decrease of impurity, by trees that have out-of-bag rows."""
        forest, sampler = self.forest, self.sample.sampler
        out = np.zeros((forest.n_trees, len(forest.schema)))
        _native.forest_debiased_importance(self._trained(), out, self.threads)
        # The kernel draws each sample again, which takes 5 % of its time (20,000 rows of 28
        # columns; 17 % of 300 rows of 5); storing the samples would take trees x rows. A tree with
        # a nonzero result has out-of-bag rows; the others, such as single leaves, are checked.
        has_rows: Array = np.asarray(out.any(axis=1))
        for t in np.flatnonzero(~has_rows):
            has_rows[t] = (sampler.counts(int(forest.tree_seeds[t])) == 0).any()
        if not has_rows.any():
            raise ValueError(
                "corrected importances require out-of-bag rows, and there are none: set "
                "bootstrap=True."
            )
        return np.asarray(out[has_rows].mean(axis=0))

    @property
    def _measure(self) -> Measure:
        return "error rate" if self.forest.n_classes else "mean squared error"

    @property
    def _scale(self) -> float:
        """Range of the targets: squared errors relative to it can be squared again."""
        if self.forest.n_classes:
            return 1.0
        values = self.sample.rows.target.values
        return float(values.max() - values.min()) or 1.0

    def _trained(self) -> _native.TrainedForest:
        forest, sample = self.forest, self.sample
        targets = _native.OobTargets(
            label=sample.targets.label,
            target=None if forest.n_classes else sample.rows.target.values,
            weight=sample.row_weight,
            balanced=sample.balanced_unit > 0,
            scale=self._scale,
        )
        rows = forest.native_rows(sample.rows.table)
        seeds = np.ascontiguousarray(forest.tree_seeds)
        return _native.TrainedForest(forest.native, rows, sample.sampler.native(), seeds, targets)
