"""Growing of classification and regression trees with MATLAB's options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.fitted_tree import ClassificationTree, FittedTree, RegressionTree
from ceiba.compat.matlab.inputs import (
    Response,
    for_classes,
    read_costs,
    read_prior,
    read_rows,
)
from ceiba.compat.matlab.losses import Training
from ceiba.compat.matlab.name_value import NameValue
from ceiba.data.schema import Kind
from ceiba.data.table import Table
from ceiba.tree import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import node_risks
from ceiba.tree.prune.reduced_error import node_class_weights

_OPTIONS = (
    "CategoricalPredictors", "MaxNumSplits", "MergeLeaves", "MinLeafSize", "MinParentSize",
    "PredictorNames", "PredictorSelection", "Prune", "PruneCriterion", "ResponseName",
    "SplitCriterion", "Surrogate", "Weights",
)  # fmt: skip
_CLASSIFICATION_OPTIONS = (
    *_OPTIONS, "AlgorithmForCategorical", "ClassNames", "Cost", "MaxNumCategories", "Prior",
)  # fmt: skip
_REGRESSION_OPTIONS = (*_OPTIONS, "QuadraticErrorTolerance")
CRITERIA = {"gdi": "gini", "deviance": "entropy"}
_ALL_SURROGATES = 10**6
_DEFAULT_SURROGATES = 10
# Up to this many categories every grouping is tried.
_EXHAUSTIVE_CATEGORIES = 10
# Risks that differ by less than this fraction of the root's are equal.
_RELATIVE_TOLERANCE = 1e-12
_Fitted = TypeVar("_Fitted", bound=FittedTree)


def fitctree(X: Any, Y: Any, *pairs: Any, **named: Any) -> ClassificationTree:
    """Grow a classification tree with MATLAB's options and defaults.

    Parameters
    ----------
    X : array, frame or Table
        A matrix of numbers, NaN for a missing value, or a frame. Text, booleans and categories are
        categorical. Integers count as floats, so that thresholds are halfway between them.
    Y : array, or str
        The classes, or the name of the column of ``X`` that holds them. Rows without one are left
        out.
    *pairs, **named
        Options, as ``"MinLeafSize", 5`` or ``MinLeafSize=5``, in any case.

    Returns
    -------
    ClassificationTree

    Other Parameters
    ----------------
    SplitCriterion : {"gdi", "deviance"}
    MaxNumSplits : int
        By default the number of rows minus 1. In the first layer that is too wide the best splits
        are made.
    MinLeafSize, MinParentSize : int
        By default 1 and 10; a parent has at least the rows of two leaves.
    MergeLeaves : {"on", "off"}
        Whether leaves of one parent are merged if the sum of their risks is not below its own.
    Prune : {"on", "off"}
        Whether ``PruneList`` and ``PruneAlpha`` are shown; nothing is pruned.
    PruneCriterion : {"error", "impurity"}
        Risk that pruning and merging use.
    CategoricalPredictors
        Categorical columns: numbers from 1, booleans, names or "all".
    PredictorNames, ResponseName : list of str and str
        For a matrix by default x1, x2, ...; for a frame the columns to learn from.
    ClassNames : array
        Classes to learn, and their order; by default sorted.
    Weights : array
    Prior : {"empirical", "uniform"}, array or mapping of ClassNames and ClassProbs
    Cost : array or mapping of ClassNames and ClassificationCosts
        Cost of predicting class j (column) where i (row) is true.
    Surrogate : {"off", "on", "all"} or int
        Maximum number of surrogate splits of a node; "on" is 10.
    AlgorithmForCategorical, MaxNumCategories, PredictorSelection
        Accepted with the value that Ceiba uses in any case; other values raise an error.

    Notes
    -----
    *Thresholds.* MATLAB sends ``x < c`` to the first branch and Ceiba ``x <= c``. The threshold is
    halfway between two neighboring values, so that both are the same rows, and ``CutPoint`` is the
    same number. *Ties* go to the first column, and there to the lowest threshold. *Missing values.*
    A split is scored on the rows that have a value. Without surrogates a row for prediction stays
    at the node whose value it does not have, as in MATLAB; in training Ceiba sends it to the
    heavier branch, where MATLAB keeps it at the parent. A category that a node did not see in
    training goes to the heavier branch. *Costs* enter growing as altered priors;
    ``ClassProbability`` and ``NodeProbability`` are those of ``Prior``.

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.compat.matlab import fitctree, predict, view
    >>> meas, species = datasets.load("iris", as_frame=True)
    >>> tree = fitctree(meas.to_numpy(), species, "MaxNumSplits", 2)
    >>> view(tree)
    Decision tree for classification
    1  if x3<2.45 then node 2 elseif x3>=2.45 then node 3 else setosa
    2  class = setosa
    3  if x4<1.75 then node 4 elseif x4>=1.75 then node 5 else versicolor
    4  class = versicolor
    5  class = virginica
    >>> predict(tree, [[5.0, 3.0, 4.5, 1.4]]).tolist()
    ['versicolor']

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees".
    """
    options = NameValue.read("fitctree", _CLASSIFICATION_OPTIONS, pairs, named)
    columns, response, response_name = read_rows(X, Y, options, classification=True)
    _check_categories(options, columns, two_classes=len(response.classes) <= 2)
    return _grow_classification(options, response_name, columns, response)


def _grow_classification(
    options: NameValue, response_name: str, columns: Table, response: Response
) -> ClassificationTree:
    classes = response.classes
    prior, factors = read_prior(options.of("Prior", "empirical"), response)
    costs = read_costs(options.of("Cost"), classes)
    criterion: Any = CRITERIA[options.word("SplitCriterion", list(CRITERIA), "gdi")]
    model = DecisionTreeClassifier(
        criterion=criterion,
        class_weight=None if factors is None else dict(enumerate(factors.tolist())),
        cost_matrix=None if options.of("Cost") is None else costs,
        **_tree_parameters(options),
    )
    model.fit(columns, response.values, sample_weight=response.weights)
    tree, leaf = model.tree_, model.apply(columns)
    risk: Any = options.word("PruneCriterion", ["error", "impurity"], "error")
    fitted = ClassificationTree(
        tree=tree,
        risk=risk,
        training=Training(
            columns, response, partial(_grow_fold, _grow_classification, options, response_name)
        ),
        **_tree_fields(options, response_name),
        ClassNames=classes,
        ClassCount=node_class_weights(tree, leaf, response.values).astype(np.int64),
        Prior=prior,
        Cost=costs,
    )
    return _limit_and_merge(fitted, options)


def fitrtree(X: Any, Y: Any, *pairs: Any, **named: Any) -> RegressionTree:
    """Grow a regression tree with MATLAB's options and defaults.

    Parameters
    ----------
    X, Y, *pairs, **named
        As in `fitctree`, but ``Y`` holds numbers.

    Returns
    -------
    RegressionTree

    Other Parameters
    ----------------
    SplitCriterion, PruneCriterion : {"mse"}
    QuadraticErrorTolerance : float
        A node whose mean squared error is at most this fraction of that of all rows is a leaf; by
        default 1e-6.
    MaxNumSplits, MinLeafSize, MinParentSize, MergeLeaves, Prune, Surrogate, PredictorSelection
        As in `fitctree`, and so are thresholds, ties and missing values.
    CategoricalPredictors, PredictorNames, ResponseName, Weights
        As in `fitctree`.

    Examples
    --------
    >>> from ceiba.compat.matlab import fitrtree, view
    >>> x = [[float(k)] for k in range(20)]
    >>> tree = fitrtree(x, [1.0] * 10 + [3.0] * 10)
    >>> view(tree)
    Decision tree for regression
    1  if x1<9.5 then node 2 elseif x1>=9.5 then node 3 else 2
    2  fit = 1
    3  fit = 3

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees".
    """
    options = NameValue.read("fitrtree", _REGRESSION_OPTIONS, pairs, named)
    for name in ("SplitCriterion", "PruneCriterion"):
        options.word(name, ["mse"], "mse")
    columns, response, response_name = read_rows(X, Y, options, classification=False)
    return _grow_regression(options, response_name, columns, response)


def _grow_regression(
    options: NameValue, response_name: str, columns: Table, response: Response
) -> RegressionTree:
    mean = np.average(response.values, weights=response.weights)
    error = float(np.average((response.values - mean) ** 2, weights=response.weights))
    tolerance = options.number("QuadraticErrorTolerance", 1e-6)
    model = DecisionTreeRegressor(min_impurity_split=tolerance * error, **_tree_parameters(options))
    model.fit(columns, response.values, sample_weight=response.weights)
    grow = partial(_grow_fold, _grow_regression, options, response_name)
    fitted = RegressionTree(
        tree=model.tree_,
        risk="impurity",
        training=Training(columns, response, grow),
        **_tree_fields(options, response_name),
    )
    return _limit_and_merge(fitted, options)


def _grow_fold(
    grow: Callable[..., Any],
    options: NameValue,
    response_name: str,
    training: Training,
    rows: Array,
) -> Any:
    """Grow a tree from some of the training rows; a class without rows is left out."""
    full = training.response
    response = full.take(rows)
    if len(response.classes) < len(full.classes):
        options = for_classes(options, full.classes, np.isin(full.classes, response.classes))
    return grow(options, response_name, training.columns.take(rows), response)


def _tree_parameters(options: NameValue) -> dict[str, Any]:
    """Return the parameters of Ceiba's estimator that the options stand for."""
    options.word("PredictorSelection", ["allsplits"], "allsplits")
    min_leaf = options.count("MinLeafSize", 1)
    return {
        "min_samples_leaf": min_leaf,
        "min_samples_split": max(options.count("MinParentSize", 10), 2 * min_leaf),
        "missing": "surrogate",
        "max_surrogates": read_surrogates(options),
        "growth": "breadth_first",
    }


def _tree_fields(options: NameValue, response_name: str) -> dict[str, Any]:
    """Return the fields that classification and regression trees share."""
    return {
        "ResponseName": str(options.of("ResponseName", response_name)),
        "Prune": options.switch("Prune", True),
        "surrogates": read_surrogates(options) > 0,
    }


def read_surrogates(options: NameValue) -> int:
    """Return the maximum number of surrogate splits of a node."""
    value = options.of("Surrogate", "off")
    if isinstance(value, str) and value.lower() == "all":
        return _ALL_SURROGATES
    if isinstance(value, str | bool):
        return _DEFAULT_SURROGATES if options.switch("Surrogate", False) else 0
    return options.count("Surrogate", 0)


def _check_categories(options: NameValue, table: Table, two_classes: bool) -> None:
    """Raise ValueError for ways of grouping categories other than Ceiba's."""
    limit = _EXHAUSTIVE_CATEGORIES
    if options.count("MaxNumCategories", limit, 0) != limit:
        raise ValueError(
            f"MaxNumCategories must be {limit}: up to {limit} categories every grouping is tried."
        )
    algorithm = options.of("AlgorithmForCategorical")
    if algorithm is None:
        return
    widths = [len(c.categories) for c in table.schema if c.kind is Kind.NOMINAL]
    word = str(algorithm).lower()
    if word == "exact" and (two_classes or max(widths, default=0) <= limit):
        return
    if word == "pca" and not two_classes and min(widths, default=limit + 1) > limit:
        return
    raise ValueError(
        f"AlgorithmForCategorical must be 'Exact' for two classes or up to {limit} categories, and "
        f"'PCA' for more of both, got {algorithm!r}: leave the option out."
    )


def _limit_and_merge(fitted: _Fitted, options: NameValue) -> _Fitted:
    """Apply MaxNumSplits and MergeLeaves to a grown tree."""
    max_splits = options.count("MaxNumSplits", max(fitted.NumObservations - 1, 1), 0)
    fitted = fitted.collapse(_surplus_nodes(fitted.tree, max_splits))
    if options.switch("MergeLeaves", True):
        risks = node_risks(fitted.tree, fitted.risk)
        fitted = fitted.collapse(_mergeable_nodes(fitted.tree, risks))
    return fitted


def _surplus_nodes(tree: Tree, max_splits: int) -> Array:
    """Return the nodes that ``max_splits`` turns into leaves.

    Layer by layer; in the first layer that is too wide the nodes of lowest gain, weighted by their
    rows, are not split, and nothing below it is.
    """
    inner = ~tree.is_leaf
    splits_per_layer = np.bincount(tree.depth[inner])
    full = int(np.searchsorted(np.cumsum(splits_per_layer), max_splits, side="right"))
    if full == len(splits_per_layer):
        return np.empty(0, np.int64)
    room = max_splits - int(splits_per_layer[:full].sum())
    layer = np.flatnonzero(inner & (tree.depth == full))
    best_first = np.argsort(-(tree.weight * tree.gain)[layer], kind="stable")
    split = layer[best_first[:room]]
    # The children of the nodes that are split are one layer further down.
    below = np.flatnonzero(inner & (tree.depth == full + 1) & np.isin(tree.parent, split))
    return np.union1d(layer[best_first[room:]], below)


def _mergeable_nodes(tree: Tree, risks: Array) -> Array:
    """Return the nodes whose leaves together have no less risk, from the bottom up."""
    tolerance = _RELATIVE_TOLERANCE * float(risks[0])
    is_leaf = tree.is_leaf.copy()
    merged = []
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():  # children come after their parent
        children = tree.children(node)
        if is_leaf[children].all() and risks[children].sum() >= risks[node] - tolerance:
            is_leaf[node] = True
            merged.append(node)
    return np.array(merged, np.int64)
