"""What a bag of trees shows under MATLAB's names."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.bagger_options import METHODS
from ceiba.compat.matlab.bagger_rows import BaggerRows
from ceiba.compat.matlab.bagger_tally import alone
from ceiba.compat.matlab.bagger_trees import BaggedTrees
from ceiba.compat.matlab.predictors import categorical
from ceiba.data.table import Table


class Bag:
    """The state of a `ceiba.compat.matlab.TreeBagger`, which grows it.

    Attributes
    ----------
    model : RandomForestClassifier or RandomForestRegressor
        Ceiba's own forest, which does more: ``plots.oob_curve(bag.model)``.
    NumTrees : int
    Trees : sequence of ClassificationTree or RegressionTree
        Each is made when it is asked for; ``view(bag.Trees[0])`` prints the first. Its rows are
        those of its bag.
    Method : {"classification", "regression"}
    ClassNames, Prior : ndarray
        Empty for numbers.
    PredictorNames : list of str
    CategoricalPredictors : ndarray of int
        Numbers, from 1, of columns of levels.
    NumPredictorsToSample, MinLeafSize, InBagFraction, SampleWithReplacement
        As they were given, or their defaults.
    X, Y, W : Table, ndarray, ndarray
        The rows with a response, and their shares of the weight.
    OOBIndices : ndarray of bool of shape (n_rows, NumTrees)
        Which of these rows each tree did not draw.
    OOBPermutedPredictorDeltaError : ndarray
        By how much a tree's out-of-bag error grows when a column is permuted: the mean over the
        trees, divided by their standard deviation. ``bag.model.oob_importance`` tells it with a
        band of noise.
    DefaultYfit
        What is predicted where no tree may speak; see `setDefaultYfit`.
    """

    model: Any
    DefaultYfit: Any
    _rows: BaggerRows
    _least: int
    _share: float
    _outside: bool
    _importance: bool

    def __repr__(self) -> str:
        shown = {
            "Method": self.Method,
            "NumPredictors": len(self.PredictorNames),
            "NumPredictorsToSample": self.NumPredictorsToSample,
            "MinLeafSize": self.MinLeafSize,
            "InBagFraction": self.InBagFraction,
            "SampleWithReplacement": self.SampleWithReplacement,
            "OOBPrediction": self._outside,
            "OOBPredictorImportance": self._importance,
        }
        if self._rows.of_classes:
            shown["ClassNames"] = self.ClassNames.tolist()
        lines = [f"{name:>24}: {value}" for name, value in shown.items()]
        return "\n".join([f"TreeBagger with {self.NumTrees} trees", *lines])

    @property
    def NumTrees(self) -> int:
        """Number of trees."""
        return int(self.model.forest_.n_trees)

    @property
    def Trees(self) -> BaggedTrees:
        """The trees."""
        return BaggedTrees(self.model, self._rows)

    @property
    def Method(self) -> str:
        """ "classification" or "regression"."""
        return METHODS[0] if self._rows.of_classes else METHODS[1]

    @property
    def ClassNames(self) -> Array:
        """The classes."""
        return self._rows.classes

    @property
    def Prior(self) -> Array:
        """Probabilities of the classes."""
        return self._rows.prior

    @property
    def PredictorNames(self) -> list[str]:
        """Names of the columns."""
        return self._rows.table.schema.names

    @property
    def CategoricalPredictors(self) -> Array:
        """Numbers, from 1, of columns of levels."""
        return categorical(self._rows.table.schema)

    @property
    def NumPredictorsToSample(self) -> int:
        """Columns that are drawn for each split."""
        return int(self.model.max_features)

    @property
    def MinLeafSize(self) -> int:
        """Rows that a leaf has at least."""
        return self._least

    @property
    def InBagFraction(self) -> float:
        """Share of the rows that each tree draws."""
        return self._share

    @property
    def SampleWithReplacement(self) -> bool:
        """Whether a row can be drawn again."""
        return bool(self.model.bootstrap)

    @property
    def X(self) -> Table:
        """The rows with a response."""
        return self._rows.table

    @property
    def Y(self) -> Array:
        """Their responses."""
        rows = self._rows
        responses: Array = rows.classes[rows.values] if rows.of_classes else rows.values
        return responses

    @property
    def W(self) -> Array:
        """Their shares of the weight."""
        return self._rows.row_weights

    @cached_property
    def OOBIndices(self) -> Array:
        """Which rows each tree did not draw."""
        self._check_outside()
        trees = self.Trees
        return np.stack([trees.drawn(t) == 0 for t in range(len(trees))], axis=1)

    @cached_property
    def OOBPermutedPredictorDeltaError(self) -> Array:
        """By how much permuting a column harms: mean over the trees by standard deviation."""
        if not self._importance:
            raise ValueError("there are no importances: grow with OOBPredictorImportance='on'")
        some = np.flatnonzero(self.OOBIndices.any(axis=0)).tolist()
        if len(some) < 2:
            raise ValueError("importances vary over trees: grow at least two with rows out of bag")
        rows = self._rows
        by_tree = [
            alone(self.model, t).oob_importance(rows.table, rows.values, rows.weights).value
            for t in some
        ]
        mean, deviation = np.mean(by_tree, axis=0), np.std(by_tree, axis=0, ddof=1)
        scaled = np.zeros(len(mean))
        with np.errstate(divide="ignore"):
            # A column that no tree needs has no deviation either.
            np.divide(mean, deviation, out=scaled, where=mean != 0)
        return scaled

    def _check_outside(self) -> None:
        if not self._outside:
            raise ValueError("there is nothing out of bag: grow with OOBPrediction='on'")
