"""The decision tree classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import Between, ScanScoreMixin
from ceiba.data.schema import Schema
from ceiba.data.target import Task
from ceiba.engine import Engine
from ceiba.stats import TargetSummary, ToLabeledRows
from ceiba.tree.base import DecisionTree
from ceiba.tree.class_weight import class_weight_factors
from ceiba.tree.config import TreeConfig
from ceiba.tree.grow.grower import GrowthResult, TreeGrower
from ceiba.tree.grow.targets import FixedPointScale, WeightTotals
from ceiba.tree.model.multi_output import MultiOutputTree, split_outputs
from ceiba.tree.model.tree import Tree
from ceiba.tree.multi_output import check_class_lists, check_one_output, predicted_classes
from ceiba.tree.partition import DepthScores, depth_scores
from ceiba.tree.prune.reduced_error import NodeErrors


class DecisionTreeClassifier(ScanScoreMixin, ClassifierMixin, DecisionTree):
    """Decision tree classifier for tables with missing values and nominal columns.

    ``algorithm`` names a preset: CART, C4.5, ID3 or Hunt's; a parameter that is None takes the
    preset's value. Numeric and ordinal columns are split at a threshold, nominal columns by groups
    of categories (or a branch for each); a category not seen in training is missing. Missing
    values follow ``missing``. Infinity is a value like any other, larger than all. Columns are
    compared in their own types, so integers above 2^53 and floats of any scale are distinguished
    as long as they differ. Among splits of equal gain the one of the first column, and of its
    lowest threshold, is taken; ``tree_.ties`` counts the others. Weights are summed in 64-bit
    fixed point, so the tree does not depend on threads or partitions.

    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The tree; ``tree_.to_text()`` shows it.
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        The classes; with several outputs a list with an array for each.
    n_classes_ : int, or list of int
        Number of classes; with several outputs a list with a number for each.
    n_outputs_ : int
        Number of outputs: the columns of ``y``.
    pruning_ : Pruning
        If the tree was pruned: the method, the tree before, and a trace of the pruned nodes.
    grown_tree_ : Tree
        The tree before any pruning.
    class_weight_ : ndarray of shape (n_classes,), or list of ndarray
        Factors of the class weights, if ``class_weight`` is given; with several outputs a list with
        an array for each.
    feature_importances_ : ndarray of shape (n_features,)
    trace_ : Trace
        With ``trace=True``: a frame for each split, in the order in which they were made, with the
        best candidate of every column and the runner-up; at most 1000 frames and 64 MB.
    n_features_in_, feature_names_in_, schema_
        Number, names and schema of the columns.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> vote = datasets.load("vote")
    >>> model = DecisionTreeClassifier(max_depth=3).fit(vote.table, vote.y)
    >>> model.score(vote.table, vote.y) > 0.95
    True

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees".
    Quinlan (1986), "Induction of decision trees", Machine Learning 1.
    Fisher (1958), "On grouping for maximum homogeneity", JASA 53.
    Coppersmith, Hong & Hosking (1999), "Partitioning nominal attributes in decision trees", Data
    Mining and Knowledge Discovery 3.
    """

    _task: ClassVar[Task] = "classification"

    algorithm: Annotated[
        Literal["cart", "c45", "id3", "hunt"],
        "Preset with the value of every parameter that is None: Breiman's CART, Quinlan's C4.5 or "
        "ID3, or Hunt's concept learning system.",
    ] = "cart"
    criterion: Annotated[
        Literal["gini", "entropy", "log_loss", "gain_ratio", "error"] | None,
        "Impurity that a split lowers: Gini impurity, entropy in bits (log_loss is another name of "
        "it), or the fraction of rows outside the majority; gain_ratio divides the gain of entropy "
        "by the entropy of the split itself.",
    ] = None
    above_average_gain: Annotated[
        bool | None,
        "With gain_ratio: whether only columns of at least average gain are compared, and a "
        "numeric column is split at the threshold of maximum gain.",
    ] = None
    mdl_correction: Annotated[
        bool | None,
        "With entropy or gain_ratio: whether the gain of a numeric split is lowered by the bits "
        "that name its threshold among the allowed ones (Quinlan 1996).",
    ] = None
    min_split_fraction: Annotated[
        float | None,
        Between(0.0, 1.0),
        "Each side of a numeric split needs this fraction of the known weight divided by the "
        "number of classes, but not more than 25.",
    ] = None
    min_leaf_branches: Annotated[
        Literal["all", "two"] | None,
        "Branches of a multiway split that need min_samples_leaf rows: all that have any, or two "
        "of them.",
    ] = None
    class_weight: Annotated[
        Literal["balanced"] | Mapping[Any, float] | list[Any] | None,
        "Factor of each class's weights: a mapping (1 for classes that it leaves out), or "
        "'balanced' to give all classes the same number of rows. With several outputs the factors "
        "of a row's classes are multiplied; a list has a mapping for each.",
    ] = None
    cost_matrix: Annotated[
        np.ndarray | None,
        "Cost of predicting class j (column) for a row of class i, in the order of ``classes_``, 0 "
        "on the diagonal. Splits weight classes by the costs of their errors (Breiman's altered "
        "priors), leaves predict the class of minimum expected cost, pruning counts costs.",
    ] = None
    leaf_probability: Annotated[
        Literal["plain", "laplace", "m_estimate"],
        "Class probabilities of a leaf: fractions of its weight; with one row of each class added; "
        "or with m_prior rows added in the class proportions of the training rows.",
    ] = "plain"
    m_prior: Annotated[
        float, Between(0.0, inf, closed="left"), "Number of rows that m_estimate adds to a leaf."
    ] = 2.0
    collapse: Annotated[
        bool | None,
        "Whether subtrees that make no fewer training errors than their root alone become leaves "
        "before any pruning (C4.5).",
    ] = None
    pruning: Annotated[
        Literal["none", "reduced_error", "pessimistic", "cost_complexity"] | None,
        "Method by which ``fit`` prunes the grown tree; see ``pruned``.",
    ] = None
    subtree_raising: Annotated[
        bool | None,
        "Pessimistic pruning: whether a node may be replaced by its heaviest branch, too.",
    ] = None
    prune_confidence: Annotated[
        float,
        Between(0.0, 0.5, closed="right"),
        "Pessimistic pruning: probability that a leaf's errors exceed their estimate; less prunes "
        "more. Weights count as numbers of rows.",
    ] = 0.25
    prune_risk: Annotated[
        Literal["impurity", "error"],
        "Cost-complexity pruning: whether a leaf costs its impurity (scikit-learn) or its errors "
        "(rpart, MATLAB).",
    ] = "impurity"

    def predict(self, X: Any) -> Array:
        """Predict the most probable class of each row, or the one of minimum expected cost.

        Ties go to the first class.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
        """
        if self.n_outputs_ > 1:
            return predicted_classes(self.classes_, self._output_probabilities(X))
        class_indices = self._predict_rows(X, Tree.predict_class)
        return np.asarray(self.classes_[class_indices])

    def predict_proba(self, X: Any) -> Any:
        """Predict the class probabilities of each row.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``. With several outputs a list with an array for each.
        """
        if self.n_outputs_ > 1:
            return self._output_probabilities(X)
        return self._predict_rows(X, Tree.predict)

    def _output_probabilities(self, X: Any) -> list[Array]:
        values = self._predict_rows(X, Tree.predict)
        assert isinstance(self.tree_, MultiOutputTree)
        return split_outputs(values, self.tree_.output_classes)

    def depth_scores(self, X: Any, y: Any = None, sample_weight: Any = None) -> DepthScores:
        """Compute entropy and gain of the partition of rows at each depth of the tree.

        The partition at a depth consists of the nodes there and the leaves above.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``: the training rows, or others.

        Returns
        -------
        DepthScores
            A row for each depth, from the root on: number of nodes with rows, mean entropy (bits)
            and Gini impurity, and their decrease since the root.

        Examples
        --------
        >>> from ceiba import DecisionTreeClassifier, datasets
        >>> weather = datasets.load("weather_nominal")
        >>> model = DecisionTreeClassifier(algorithm="id3").fit(weather.table, weather.y)
        >>> print(model.depth_scores(weather.table, weather.y))
        depth  nodes  entropy    gini    gain  gini decrease
        0          1   0.9403  0.4592  0.0000         0.0000
        1          3   0.6935  0.3429  0.2467         0.1163
        2          5   0.0000  0.0000  0.9403         0.4592
        """
        check_is_fitted(self)
        check_one_output(self, "depth_scores()")
        engine, source = self._open_source(X, sample_weight, y=y, reset=False, task=self._task)
        rows = engine.rows(source.partitions, ToLabeledRows(self._task))
        sums = engine.reduce(rows, NodeErrors.of, self.tree_, self.classes_).node_sums
        return depth_scores(self.tree_, sums)

    def predict_log_proba(self, X: Any) -> Any:
        """Predict the logarithms of the class probabilities of each row."""
        probabilities = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            if self.n_outputs_ > 1:
                return [np.log(of_output) for of_output in probabilities]
            return np.log(probabilities)

    def _class_weights(self, summary: TargetSummary) -> Array | None:
        return class_weight_factors(self.class_weight, summary)

    def _class_factors(
        self, engine: Engine, rows: Any, summary: TargetSummary, config: TreeConfig
    ) -> tuple[Array | None, Array | None]:
        class_weight = self._class_weights(summary)
        if self.cost_matrix is None:
            return class_weight, None
        costs = _check_cost_matrix(self.cost_matrix, summary.classes).sum(axis=1)
        # Altered priors (Breiman et al. 1984, section 4.4); a single class has no errors.
        factors = costs / costs.min() if costs.any() else np.ones(len(costs))
        if config.compares_weight:
            # Weights that are compared with numbers of rows must keep their total.
            scale = FixedPointScale.of(summary, class_weight, squares=False)
            totals = engine.reduce(rows, WeightTotals.of, scale).totals.astype(np.float64)
            factors = factors * (totals.sum() / (totals @ factors))
        return factors if class_weight is None else class_weight * factors, factors

    def _grow(self, grower: TreeGrower, summary: TargetSummary) -> GrowthResult:
        result = super()._grow(grower, summary)
        tree, factors = result.tree, grower.inputs.cost_factors
        if factors is None:
            return result
        value, leaves = tree.node_values / factors, tree.leaves / factors
        has_fractions = tree.missing == "fractional" or grower.config.bounds_probabilities
        if summary.integer_weights and self.class_weight is None and not has_fractions:
            value, leaves = np.rint(value), np.rint(leaves)
        costs = np.array(self.cost_matrix, dtype=np.float64)
        weight = value.sum(axis=1)
        tree = replace(tree, node_values=value, leaves=leaves, weight=weight, costs=costs)
        return replace(result, tree=tree)

    def _with_predictions(self, tree: Tree) -> Tree:
        return tree.with_leaves(self._leaf_probabilities(tree.leaves, tree.node_values[0]))

    def _leaf_probabilities(self, weights: Array, root: Array) -> Array:
        """Return the probabilities of leaves with some class weights, given those of the root."""
        total: Array = weights.sum(axis=1, keepdims=True)
        added = np.zeros(len(root))
        if self.leaf_probability == "laplace":
            added = np.ones(len(root))
        elif self.leaf_probability == "m_estimate":
            added = self.m_prior * root / root.sum()
        return np.asarray((weights + added) / (total + added.sum()))

    def _class_names(self, what: str) -> dict[str, Any]:
        return {**super()._class_names(what), "classes": self.classes_}

    def _fitted_attributes(
        self, schema: Schema, summary: TargetSummary, tree: Tree
    ) -> dict[str, Any]:
        assert summary.classes is not None
        attributes = super()._fitted_attributes(schema, summary, tree)
        attributes |= {"classes_": summary.classes, "n_classes_": len(summary.classes)}
        factors = self._class_weights(summary)
        return attributes if factors is None else attributes | {"class_weight_": factors}

    def _check_state(self) -> None:
        super()._check_state()
        if isinstance(self.tree_, MultiOutputTree):
            return check_class_lists(self, self.tree_.output_classes)
        n = len(self.classes_)
        if self.tree_.leaves.shape[1] != n or self.n_classes_ != n:
            raise ValueError(
                f"tree_.leaves and n_classes_ must have {n} classes, as classes_, got "
                f"{self.tree_.leaves.shape[1]} and {self.n_classes_}."
            )


def _check_cost_matrix(costs: Any, classes: Array | None) -> Array:
    """Return a cost matrix as floats; ValueError if it is none of these classes."""
    assert classes is not None
    matrix, n = np.asarray(costs, dtype=np.float64), len(classes)
    if matrix.shape != (n, n):
        raise ValueError(
            f"cost_matrix must have shape {(n, n)}, got {matrix.shape}: give it a row and a column "
            f"for each of the classes {classes.tolist()!r}."
        )
    if not (np.isfinite(matrix) & (matrix >= 0)).all() or np.diag(matrix).any():
        raise ValueError(
            "cost_matrix must hold finite costs >= 0 with 0 on the diagonal, got "
            f"{matrix.tolist()!r}."
        )
    if n > 1 and not matrix.sum(axis=1).all():
        raise ValueError(
            "cost_matrix must not have a row of zeros, got one: a class whose errors cost nothing "
            "is never predicted; leave its rows out."
        )
    return matrix
