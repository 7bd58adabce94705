"""The out-of-bag error of a forest as its trees grow in number, and how many are enough."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.stats import norm

from ceiba.inference import wilson
from ceiba.stats.points import Array


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
