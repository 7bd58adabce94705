"""State of a bag of trees under MATLAB's names."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.bagged_trees import BaggedTrees, single_tree
from ceiba.compat.matlab.bagger_inputs import METHODS, BaggerRows
from ceiba.compat.matlab.inputs import categorical_indices
from ceiba.data.table import Table


class Bag:
    """The state of a `ceiba.compat.matlab.TreeBagger`, which grows it.

    Attributes
    ----------
    model : RandomForestClassifier or RandomForestRegressor
        Ceiba's own forest, which does more: ``plots.oob_curve(bag.model)``.
    DefaultYfit
        Prediction of rows without a tree; see `setDefaultYfit`.
    MinLeafSize, InBagFraction : int and float
        Minimum number of rows of a leaf, and fraction of the rows that is drawn for each tree.
    """

    model: Any
    DefaultYfit: Any
    MinLeafSize: int
    InBagFraction: float
    _rows: BaggerRows
    _has_oob: bool
    _has_importance: bool

    def __repr__(self) -> str:
        shown = {
            "Method": self.Method,
            "NumPredictors": len(self.PredictorNames),
            "NumPredictorsToSample": self.NumPredictorsToSample,
            "MinLeafSize": self.MinLeafSize,
            "InBagFraction": self.InBagFraction,
            "SampleWithReplacement": self.SampleWithReplacement,
            "OOBPrediction": self._has_oob,
            "OOBPredictorImportance": self._has_importance,
        }
        if self._rows.is_classification:
            shown["ClassNames"] = self.ClassNames.tolist()
        lines = [f"{name:>24}: {value}" for name, value in shown.items()]
        return "\n".join([f"TreeBagger with {self.NumTrees} trees", *lines])

    @property
    def NumTrees(self) -> int:
        """Number of trees."""
        return int(self.model.forest_.n_trees)

    @property
    def Trees(self) -> BaggedTrees:
        """The trees, each made on access: ``view(bag.Trees[0])`` prints the first.

        The rows of a tree are those drawn for it.
        """
        return BaggedTrees(self.model, self._rows)

    @property
    def Method(self) -> str:
        """ "classification" or "regression"."""
        return METHODS[0] if self._rows.is_classification else METHODS[1]

    @property
    def ClassNames(self) -> Array:
        """The classes; empty for regression."""
        return self._rows.classes

    @property
    def Prior(self) -> Array:
        """Probabilities of the classes; empty for regression."""
        return self._rows.prior

    @property
    def PredictorNames(self) -> list[str]:
        """Names of the columns."""
        return self._rows.table.schema.names

    @property
    def CategoricalPredictors(self) -> Array:
        """Numbers, from 1, of categorical columns."""
        return categorical_indices(self._rows.table.schema)

    @property
    def NumPredictorsToSample(self) -> int:
        """Number of columns that are drawn for each split."""
        return int(self.model.max_features)

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
        return np.asarray(rows.classes[rows.values] if rows.is_classification else rows.values)

    @property
    def W(self) -> Array:
        """Their fractions of the weight."""
        return self._rows.normalized_weights

    @cached_property
    def OOBIndices(self) -> Array:
        """Which rows are out of bag for each tree, of shape (n_rows, NumTrees)."""
        if not self._has_oob:
            raise ValueError("OOBIndices requires OOBPrediction='on'.")
        trees = self.Trees
        return np.stack([trees.draw_counts(t) == 0 for t in range(len(trees))], axis=1)

    @cached_property
    def OOBPermutedPredictorDeltaError(self) -> Array:
        """Increase of the out-of-bag error when a column is permuted.

        The mean over the trees, divided by their standard deviation.
        ``bag.model.oob_importance`` adds a noise band.
        """
        if not self._has_importance:
            raise ValueError("OOBPermutedPredictorDeltaError requires OOBPredictorImportance='on'.")
        trees = np.flatnonzero(self.OOBIndices.any(axis=0)).tolist()
        if len(trees) < 2:
            raise ValueError(
                "OOBPermutedPredictorDeltaError requires at least two trees with out-of-bag rows."
            )
        rows = self._rows
        by_tree = [
            single_tree(self.model, t)
            .oob_importance(rows.table, rows.values, rows.weights)
            .importances
            for t in trees
        ]
        mean, deviation = np.mean(by_tree, axis=0), np.std(by_tree, axis=0, ddof=1)
        scaled = np.zeros(len(mean))
        with np.errstate(divide="ignore"):
            # A column that no tree uses has no deviation either.
            np.divide(mean, deviation, out=scaled, where=mean != 0)
        return scaled
