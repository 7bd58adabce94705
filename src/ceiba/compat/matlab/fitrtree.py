"""Regression trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.compat.matlab.fit import SHARED_OPTIONS, finished, growth, opened, surrogates
from ceiba.compat.matlab.name_value import NameValue
from ceiba.compat.matlab.predictors import predictors
from ceiba.compat.matlab.regression_tree import RegressionTree
from ceiba.compat.matlab.response import Response
from ceiba.tree import DecisionTreeRegressor

_OPTIONS = (*SHARED_OPTIONS, "QuadraticErrorTolerance")


def fitrtree(X: Any, Y: Any, *pairs: Any, **named: Any) -> RegressionTree:
    """Grow a tree that predicts numbers, with MATLAB's options and defaults.

    Parameters
    ----------
    X : array, frame or Table
        A matrix of numbers, NaN for a gap, or a frame.
    Y : array, or str
        The numbers, or the name of the column of ``X`` that holds them. Rows without one are left
        out.
    *pairs, **named
        Options, as ``"MinLeafSize", 5`` or ``MinLeafSize=5``; case does not matter.

    Returns
    -------
    RegressionTree

    Other Parameters
    ----------------
    SplitCriterion, PruneCriterion : {"mse"}
    QuadraticErrorTolerance : float
        A node whose mean squared error is not above this share of that of all rows is a leaf;
        1e-6 unless given.
    MaxNumSplits, MinLeafSize, MinParentSize, MergeLeaves, Prune
        As in `fitctree`, and so are cuts, ties and gaps.
    CategoricalPredictors, PredictorNames, ResponseName, Weights
        As in `fitctree`.
    Surrogate, PredictorSelection
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
    options = NameValue.read("fitrtree", _OPTIONS, pairs, named)
    for name in ("SplitCriterion", "PruneCriterion"):
        options.word(name, ["mse"], "mse")
    table, Y, response_name = opened(X, Y)
    columns = predictors(table, options)
    given = Response.numbers_of(Y, options.of("Weights"), len(columns))
    mean = np.average(given.values, weights=given.weights)
    error = float(np.average((given.values - mean) ** 2, weights=given.weights))
    tolerance = options.number("QuadraticErrorTolerance", 1e-6)
    model = DecisionTreeRegressor(min_impurity_split=tolerance * error, **growth(options))
    model.fit(columns.take(given.rows), given.values, sample_weight=given.weights)
    view = RegressionTree(
        tree=model.tree_,
        ResponseName=str(options.of("ResponseName", response_name)),
        Prune=options.switch("Prune", True),
        risk="impurity",
        surrogates=surrogates(options) > 0,
    )
    return finished(view, options)
