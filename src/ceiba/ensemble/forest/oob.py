"""What the trees of a forest say of rows that they did not draw: score, curve and importances."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.stats import norm

from ceiba import _native
from ceiba._typing import Array
from ceiba.ensemble.forest.grower import Bags
from ceiba.ensemble.forest.importance import PermutationImportance
from ceiba.ensemble.forest.model import Forest
from ceiba.inference import wilson


@dataclass(frozen=True, slots=True, eq=False)
class OobCurve:
    """Error on rows out of the bag, by the first 1, 2, ... trees, with a band.

    A row is predicted by those trees that did not draw it. The band tells how sure the error of
    these trees is, given so many rows: Wilson's interval of an error rate, or a normal one of a
    mean squared error.

    Parameters
    ----------
    trees : ndarray of int
        1 to the number of trees.
    error : ndarray
        Error rate or mean squared error; NaN as long as no row was out of a bag.
    low, high : ndarray
        The band.
    rows : ndarray of int
        Rows that had been out of some bag by then.
    level : float
        Confidence of the band.
    measure : "error rate" or "mean squared error"

    Examples
    --------
    >>> from ceiba import RandomForestClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> forest = RandomForestClassifier(50, oob_score=True).fit(iris.table, iris.y)
    >>> bool(forest.oob_curve_.error[-1] < 0.1)
    True
    >>> forest.oob_curve_.answer().startswith("The error of 50 trees")
    True
    """

    trees: Array
    error: Array
    low: Array
    high: Array
    rows: Array
    level: float
    measure: str

    @classmethod
    def of(
        cls, rows: Array, loss: Array, squares: Array, classes: bool, level: float = 0.95, *,
        scale: float = 1.0,
    ) -> OobCurve:  # fmt: skip
        """From sums of losses, and of their squares, over the rows known by each tree.

        Errors of numbers are in units of ``scale``.
        """
        known = np.maximum(rows, 1)
        error = np.where(rows > 0, loss / known, np.nan)
        if classes:
            # The same counts give the same interval, and most trees change few.
            bounds = {
                (wrong, n): wilson(wrong, n, level)
                for wrong, n in set(zip(loss.tolist(), rows.tolist(), strict=True))
                if n > 0
            }
            pairs = [
                (bounds[key].lower, bounds[key].upper) if key[1] else (np.nan, np.nan)
                for key in zip(loss.tolist(), rows.tolist(), strict=True)
            ]
            low, high = np.array(pairs).reshape(-1, 2).T
        else:
            half = norm.ppf(0.5 + level / 2) * _standard_error(rows, loss, squares)
            low, high = np.maximum(error - half, 0.0), error + half
            error, low, high = (part * scale**2 for part in (error, low, high))
        measure = "error rate" if classes else "mean squared error"
        trees = np.arange(1, len(rows) + 1)
        return cls(trees, error, np.array(low), np.array(high), rows, level, measure)

    @property
    def tolerance(self) -> float:
        """One standard error of the last value: differences below it say little."""
        half = float(self.high[-1] - self.low[-1]) / 2
        return half / float(norm.ppf(0.5 + self.level / 2))

    @property
    def enough(self) -> int | None:
        """The fewest trees from which on the curve stays within one standard error of its end.

        None where that is not before half of the trees: the curve may be falling still.
        """
        last = self.error[-1]
        if np.isnan(last):
            return None
        off = np.flatnonzero(~(np.abs(self.error - last) <= self.tolerance))
        first = int(self.trees[off[-1]]) + 1 if len(off) else 1
        return first if first <= max(1, len(self.trees) // 2) else None

    def answer(self) -> str:
        """Whether there are enough trees, in a sentence or two."""
        last, n = self.error[-1], len(self.trees)
        if np.isnan(last):
            return "No row is out of any bag: there is no error to go by. Draw with bootstrap=True."
        told = (
            f"The error of {n} trees is {last:.4g} ({self.level:.0%}: {self.low[-1]:.4g} to "
            f"{self.high[-1]:.4g})."
        )
        if self.enough is None:
            return f"{told} It has not settled: add trees, {2 * n} say, with warm_start=True."
        return f"{told} From {self.enough} trees on it stays within {self.tolerance:.2g} of that."

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file; its arrays stay arrays."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> OobCurve:
        """The curve that `to_json` wrote; ValueError where it contradicts itself."""
        names = [entry.name for entry in fields(cls)]
        if set(record) != set(names):
            raise ValueError("these are not the parts of a curve")
        arrays = [record[name] for name in names[:5]]
        lengths = {len(a) if isinstance(a, np.ndarray) and a.ndim == 1 else -1 for a in arrays}
        if len(lengths) != 1 or lengths <= {-1, 0}:
            raise ValueError("a curve has a value for each number of trees")
        _check_curve(record)
        if type(record["level"]) is not float or not 0 < record["level"] < 1:
            raise ValueError("level must be between 0 and 1")
        if record["measure"] not in ("error rate", "mean squared error"):
            raise ValueError("the measure is not known")
        return cls(**record)


def _check_curve(record: dict[str, Any]) -> None:
    kinds = "".join(record[name].dtype.kind for name in ("trees", "error", "low", "high", "rows"))
    if kinds != "ifffi":
        raise ValueError("a curve has counts and numbers")
    if (np.diff(record["trees"], prepend=0) != 1).any() or (np.diff(record["rows"]) < 0).any():
        raise ValueError("trees are counted from 1, and rows do not become fewer")


def _standard_error(rows: Array, loss: Array, squares: Array) -> Array:
    n = np.maximum(rows, 2)
    variance = np.maximum(squares - loss**2 / n, 0.0) / (n - 1)
    return np.where(rows > 1, np.sqrt(variance / n), np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class OutOfBag:
    """The trees of a forest that were grown from some bags, and these."""

    forest: Forest
    bags: Bags
    added: float
    threads: int

    @classmethod
    def of(cls, forest: Forest, bags: Bags, added: float, threads: int) -> OutOfBag:
        """The trees that were grown from the rows, targets and draws of these bags.

        Others were grown from other rows, and nobody knows which they have seen.
        """
        own = (forest.keys[:, 1] == len(bags.rows)) & (forest.keys[:, 2] == bags.mark)
        if not own.any():
            raise ValueError(
                "no tree was grown from these rows: out-of-bag numbers need X, y and sample_weight "
                "as they were given to fit"
            )
        other = np.flatnonzero(~own)
        return cls(forest.without(other.tolist()) if len(other) else forest, bags, added, threads)

    def told(self) -> tuple[Array, Array, OobCurve]:
        """Mean of what trees say of each row (NaN where none does), how many do, and the curve."""
        forest, n = self.forest, len(self.bags.rows)
        sums = np.zeros((n, max(1, forest.n_classes)))
        count = np.zeros(n, np.int32)
        rows = np.zeros(forest.n_trees, np.int64)
        loss, squares = np.zeros(forest.n_trees), np.zeros(forest.n_trees)
        units = self.added / forest.weight_unit
        _native.forest_out_of_bag(
            *self._natives(), units, sums, count, rows, loss, squares, self.threads
        )
        mean = np.full(sums.shape, np.nan)
        np.divide(sums, count[:, None], out=mean, where=count[:, None] > 0)
        curve = OobCurve.of(rows, loss, squares, forest.n_classes > 0, scale=self._scale)
        return mean if forest.n_classes else mean[:, 0], count, curve

    def permutation_importance(self, repeats: int, level: float) -> PermutationImportance:
        """See `PermutationImportance`."""
        n, names = len(self.bags.rows), self.forest.schema.names
        sums = np.zeros((n, len(names)))
        count = np.zeros(n, np.int32)
        _native.forest_permuted(*self._natives(), repeats, sums, count, self.threads)
        return PermutationImportance.of(
            names,
            sums,
            count,
            classes=self.forest.n_classes > 0,
            repeats=repeats,
            level=level,
            scale=self._scale,
        )

    def corrected_importances(self) -> Array:
        """Decrease of impurity by each column, told by rows out of the bag.

        Trees without such rows do not count.
        """
        forest, sampling = self.forest, self.bags.sampling
        out = np.zeros((forest.n_trees, len(forest.schema)))
        _native.forest_corrected(*self._natives(), out, self.threads)
        # The kernel draws each bag again, which takes 5 % of its time (20,000 rows of 28 columns;
        # 17 % of 300 rows of 5): bags that are kept would take trees x rows. A tree that was told
        # anything has rows out of its bag; only where it was not, as without a split, we look.
        some: Array = np.asarray(out.any(axis=1))
        for t in np.flatnonzero(~some):
            some[t] = (sampling.counts(int(forest.keys[t, 0])) == 0).any()
        if not some.any():
            raise ValueError("no row is out of any bag: draw with bootstrap=True")
        return np.asarray(out[some].mean(axis=0))

    @property
    def _scale(self) -> float:
        """The range of the targets: squares of errors relative to it can be squared again."""
        if self.forest.n_classes:
            return 1.0
        values = self.bags.rows.target.values
        return float(values.max() - values.min()) or 1.0

    def _natives(self) -> tuple[Any, Any, Any, Any, Any]:
        forest, bags = self.forest, self.bags
        table = forest.rows(bags.rows.table)
        numbers = None if forest.n_classes else bags.rows.target.values
        targets = _native.ForestTargets(
            label=bags.targets.label,
            target=numbers,
            weight=bags.row_weight,
            balanced=bags.balanced > 0,
            scale=self._scale,
        )
        seeds = np.ascontiguousarray(forest.keys[:, 0])
        return forest.native, table, bags.sampling.native(), seeds, targets
