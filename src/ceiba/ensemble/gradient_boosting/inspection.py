"""Inspect a fitted model of gradient boosting: trees, written-out splits and importances."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import Estimator, fitted
from ceiba.base.value_types import format_value
from ceiba.ensemble.gradient_boosting.arithmetic import SplitArithmetic, split_arithmetic
from ceiba.ensemble.gradient_boosting.model import BoostedTrees
from ceiba.ensemble.gradient_boosting.parameters import BoostingParameters
from ceiba.tree.explain.shap import TreeSum
from ceiba.tree.explain.shap_mixin import TreeShapMixin
from ceiba.tree.model.tree import Tree


class InspectionMixin(BoostingParameters, TreeShapMixin, Estimator):
    """The part of gradient boosting that describes a fitted model."""

    _score_name = "raw score"
    boosted_trees_: BoostedTrees = fitted()

    @property
    def n_estimators_(self) -> int:
        """Number of rounds."""
        check_is_fitted(self)
        return self.boosted_trees_.n_rounds

    @property
    def n_trees_per_round_(self) -> int:
        """Number of trees that the model stores for each round: one per raw score.

        With ``multi_strategy="multi_output_tree"`` one tree is grown in each round. It is stored
        once per class, with the same splits and the values of that class.
        """
        check_is_fitted(self)
        return self.boosted_trees_.n_outputs

    def tree(self, number: int, output: int = 0) -> Tree:
        """Return the tree of a round and raw score, as a regression tree.

        Parameters
        ----------
        number : int
            Round, from 0 on.
        output : int
            Raw score: 0, or the index of a class.

        Returns
        -------
        Tree
        """
        check_is_fitted(self)
        trees = self.boosted_trees_
        if not 0 <= number < trees.n_rounds or not 0 <= output < trees.n_outputs:
            raise ValueError(
                f"number must be in [0, {trees.n_rounds - 1}] and output in "
                f"[0, {trees.n_outputs - 1}], got {number} and {output}."
            )
        return trees.tree(number * trees.n_outputs + output)

    def split_arithmetic(self, number: int, output: int = 0, *, node: int = 0) -> SplitArithmetic:
        """Write out the arithmetic of a split: gradient sums, scores, gain and leaf values.

        Requires ``trace=True``. The sums are those from which the split was chosen, quantized to
        ``gradient_bits``; leaf values have sums of gradients that are rounded to 2^-50 of the
        largest one (2^-42 with a million rows).

        Parameters
        ----------
        number, output : int
            Round and raw score, as in `tree`.
        node : int
            Node of that tree; not a leaf.

        Returns
        -------
        SplitArithmetic
            Prints the arithmetic line by line.

        Examples
        --------
        >>> import numpy as np
        >>> from ceiba import GradientBoostingRegressor
        >>> X, y = np.arange(6.0)[:, None], np.array([1.0, 1.0, 2.0, 5.0, 6.0, 6.0])
        >>> model = GradientBoostingRegressor(
        ...     1, max_leaf_nodes=2, min_samples_leaf=1, trace=True
        ... ).fit(X, y)
        >>> model.split_arithmetic(0)
        round 0, output 0, node 0: left if x0 <= 2.5 or missing, right if x0 > 2.5
        score = G^2 / (H + 1)
        node: 6 rows, G = 0, H = 6, score = 0
        left: 3 rows, G = 6.5, H = 3, score = 10.5625
        right: 3 rows, G = -6.5, H = 3, score = 10.5625
        gain = 10.5625 + 10.5625 - 0 = 21.125
        left: leaf 1, G = 6.5, H = 3, step = -1.625, value = 0.1 * -1.625 = -0.1625
        right: leaf 2, G = -6.5, H = 3, step = 1.625, value = 0.1 * 1.625 = 0.1625
        """
        tree = self.tree(number, output)
        frames = [frame for frame in getattr(self, "trace_", []) if frame["round"] == number]
        if not frames:
            raise ValueError(
                f"split_arithmetic requires the trace of round {number}: fit with trace=True, and "
                "choose a round that trace_ has not left out."
            )
        if not 0 <= node < tree.n_nodes or tree.is_leaf[node]:
            raise ValueError(
                f"node must be one of the split nodes {format_value(tree.inner_nodes.tolist())}, "
                f"got {node}."
            )
        trees = self.boosted_trees_
        first = trees.tree_offsets[number * trees.n_outputs + output]
        gain = float(trees.node_gains[first + node])
        return split_arithmetic(frames[0], tree, gain, self, output, node)

    @property
    def feature_importances_(self) -> Array:
        """Total gain of the splits of each column, relative to all."""
        return self.importances("gain")

    def importances(self, kind: str = "gain") -> Array:
        """Return the importance of each column: they sum to 1, or are 0 without any split.

        Parameters
        ----------
        kind : {'gain', 'split'}
            Total gain of the splits of each column, or their number. For permutation importances
            use `sklearn.inspection.permutation_importance`.

        Returns
        -------
        ndarray of shape (n_features,)
        """
        check_is_fitted(self)
        if kind not in ("gain", "split"):
            raise ValueError(f"kind must be 'gain' or 'split', got {kind!r}.")
        totals = self.boosted_trees_.importances(kind)
        return totals / totals.sum() if totals.any() else totals

    def _tree_sum(self) -> TreeSum:
        if getattr(self, "init_", None) is not None:
            raise ValueError(
                "Shapley values require raw scores that are a sum of trees, got "
                f"init={type(self.init_).__name__}: fit with init=None or init='zero'."
            )
        return self.boosted_trees_.tree_sum()
