"""What the trees of a bag say of rows, one after the other or together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.name_value import NameValue
from ceiba.data.table import Table

MODES = ("cumulative", "individual", "ensemble")


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """Means over trees: class shares or numbers (n, k), NaN for rows that no tree speaks of."""

    told: Array
    known: Array

    def filled(self, default: Array | None) -> Said:
        """With a default for rows that no tree speaks of; None leaves them."""
        if default is None or self.known.all():
            return self
        told = np.where(self.known[:, None], self.told, default)
        return Said(told, np.ones(len(told), bool))


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Some trees of a forest, each with a weight, about some rows.

    Parameters
    ----------
    model : RandomForestClassifier or RandomForestRegressor
    table : Table
    trees : ndarray of int
        Numbers of the trees, from 0.
    weights : ndarray
        Of these trees.
    use : ndarray of bool of shape (n_rows, n_trees) or None
        Which trees of the forest may speak of which rows; None for all.
    """

    model: Any
    table: Table
    trees: Array
    weights: Array
    use: Array | None = None

    @classmethod
    def of(cls, model: Any, table: Table, options: NameValue, use: Array | None = None) -> Tally:
        """By the options Trees and TreeWeights."""
        trees = _numbers(options.of("Trees", "all"), model.forest_.n_trees)
        weights = np.asarray(options.of("TreeWeights", np.ones(len(trees))), np.float64)
        good = weights.shape == trees.shape and (np.isfinite(weights) & (weights >= 0)).all()
        if not good or not weights.any():
            raise ValueError(
                f"TreeWeights must be {len(trees)} finite numbers, one for each tree, none below "
                "zero and some above"
            )
        return cls(model, table, trees, weights, use)

    def said(self) -> Said:
        """What the trees say together."""
        whole = len(self.trees) == self.model.forest_.n_trees
        if self.use is None and whole and (self.weights == self.weights[0]).all():
            return Said(_told(self.model, self.table), np.ones(len(self.table), bool))
        (together,) = self.stages("ensemble")
        return together

    def stages(self, mode: str) -> Iterator[Said]:
        """What the first 1, 2, ... trees say together, or each alone, or only all together."""
        total, weight = np.zeros((len(self.table), 1)), np.zeros(len(self.table))
        for number, (told, own) in enumerate(self._each(), 1):
            if mode == "individual":
                yield _mean(told * own[:, None], own)
                continue
            total, weight = total + told * own[:, None], weight + own
            if mode == "cumulative" or number == len(self.trees):
                yield _mean(total, weight)

    def spread(self, mean: Array) -> Array:
        """Standard deviation over the trees about their mean; NaN where none speaks."""
        total, weight = np.zeros(mean.shape), np.zeros(len(mean))
        for told, own in self._each():
            total += np.where(own[:, None] > 0, own[:, None] * (told - mean) ** 2, 0.0)
            weight += own
        return np.sqrt(_mean(total, weight).told)

    def _each(self) -> Iterator[tuple[Array, Array]]:
        """What every tree says of the rows, and its weight for each of them."""
        for tree, weight in zip(self.trees.tolist(), self.weights.tolist(), strict=True):
            own = np.full(len(self.table), weight)
            if self.use is not None:
                own *= self.use[:, tree]
            yield _told(alone(self.model, tree), self.table), own


def alone(model: Any, tree: int) -> Any:
    """The forest of one tree."""
    return model.without([other for other in range(model.forest_.n_trees) if other != tree])


def _told(model: Any, table: Table) -> Array:
    if model.forest_.n_classes:
        shares: Array = model.predict_proba(table)
        return shares
    numbers: Array = model.predict(table)[:, None]
    return numbers


def _mean(total: Array, weight: Array) -> Said:
    known = weight > 0
    told = np.full(total.shape, np.nan)
    np.divide(total, weight[:, None], out=told, where=known[:, None])
    return Said(told, known)


def _numbers(given: Any, n: int) -> Array:
    """Numbers, from 0, of listed trees: 'all' or numbers from 1."""
    if isinstance(given, str) and given.lower() == "all":
        return np.arange(n)
    listed = np.atleast_1d(np.asarray(given)).tolist()
    for item in listed:
        whole = isinstance(item, Integral) or (isinstance(item, float) and item.is_integer())
        if isinstance(item, bool) or not whole or not 1 <= item <= n:
            raise ValueError(f"Trees lists {item!r}: give 'all', or numbers from 1 to {n}")
    if not listed or len(set(listed)) < len(listed):
        raise ValueError("Trees must list at least one tree, and none twice")
    return np.array(listed, np.int64) - 1
