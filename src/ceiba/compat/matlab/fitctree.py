"""Classification trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.class_odds import cost_of, prior_of
from ceiba.compat.matlab.classification_tree import ClassificationTree
from ceiba.compat.matlab.fit import (
    SHARED_OPTIONS,
    check_levels,
    finished,
    growth,
    opened,
    surrogates,
)
from ceiba.compat.matlab.name_value import NameValue
from ceiba.compat.matlab.predictors import predictors
from ceiba.compat.matlab.response import Response
from ceiba.tree import DecisionTreeClassifier
from ceiba.tree.prune.held_out import held_classes

_CRITERIA = {"gdi": "gini", "deviance": "entropy"}
_OPTIONS = (
    *SHARED_OPTIONS, "AlgorithmForCategorical", "ClassNames", "Cost", "MaxNumCategories", "Prior",
)  # fmt: skip


def fitctree(X: Any, Y: Any, *pairs: Any, **named: Any) -> ClassificationTree:
    """Grow a tree that predicts classes, with MATLAB's options and defaults.

    Parameters
    ----------
    X : array, frame or Table
        A matrix of numbers, NaN for a gap, or a frame. Text, truth values and categories are
        categorical. Whole numbers count as floats, so that cuts lie halfway between them.
    Y : array, or str
        The classes, or the name of the column of ``X`` that holds them. Rows without one are left
        out.
    *pairs, **named
        Options, as ``"MinLeafSize", 5`` or ``MinLeafSize=5``; case does not matter.

    Returns
    -------
    ClassificationTree

    Other Parameters
    ----------------
    SplitCriterion : {"gdi", "deviance"}
    MaxNumSplits : int
        Rows minus 1 unless given. Of the first layer that is too wide the best splits are made.
    MinLeafSize, MinParentSize : int
        1 and 10; a parent has at least two leaves' rows.
    MergeLeaves : {"on", "off"}
        Whether leaves of one parent are merged if their risks sum up to no less than its own.
    Prune : {"on", "off"}
        Whether ``PruneList`` and ``PruneAlpha`` are shown; nothing is pruned.
    PruneCriterion : {"error", "impurity"}
        The risk that pruning and merging count.
    CategoricalPredictors
        Columns that hold levels: numbers from 1, truth values, names or "all".
    PredictorNames, ResponseName : list of str and str
        Of a matrix x1, x2, ... unless given; of a frame the columns to learn from.
    ClassNames : array
        Classes to learn, and their order; sorted unless given.
    Weights : array
    Prior : {"empirical", "uniform"}, array or mapping of ClassNames and ClassProbs
    Cost : array or mapping of ClassNames and ClassificationCosts
        Cost of predicting class j (column) where i (row) is true.
    Surrogate : {"off", "on", "all"} or int
        Most surrogate splits of a node; "on" stands for 10.
    AlgorithmForCategorical, MaxNumCategories, PredictorSelection
        Taken where they say what is done anyway, else refused.

    Notes
    -----
    *Cuts.* MATLAB sends ``x < c`` to the first branch and Ceiba ``x <= c``. The cut lies halfway
    between two neighbouring values, so that both mean the same rows, and ``CutPoint`` is the same
    number. *Ties.* Of equal splits that of the first column is taken, and in it the lowest.
    *Gaps.* A split is judged by the rows that have a value. Without surrogates a row for prediction
    stays at the node whose value it lacks, as in MATLAB; in training Ceiba sends it on with the
    heavier branch, where MATLAB leaves it behind. A level that a node did not see in training goes
    with the heavier branch. *Costs* enter growing as altered priors; ``ClassProbability`` and
    ``NodeProbability`` are those of ``Prior``.

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
    options = NameValue.read("fitctree", _OPTIONS, pairs, named)
    table, Y, name = opened(X, Y)
    columns = predictors(table, options)
    given = Response.classes_of(Y, options.of("Weights"), options.of("ClassNames"), len(columns))
    columns = columns.take(given.rows)
    classes = given.classes
    check_levels(options, columns, len(classes) <= 2)
    totals = np.bincount(given.values, given.weights, len(classes)).astype(np.float64)
    prior = prior_of(options.of("Prior", "empirical"), totals, classes)
    costs = cost_of(options.of("Cost"), classes)
    model = _model(options, prior, totals, costs)
    model.fit(columns, given.values, sample_weight=given.weights)
    tree = model.tree_
    view = ClassificationTree(
        tree=tree,
        ResponseName=str(options.of("ResponseName", name)),
        Prune=options.switch("Prune", True),
        risk="error" if _prunes_by_error(options) else "impurity",
        surrogates=surrogates(options) > 0,
        ClassNames=classes,
        ClassCount=held_classes(tree, model.apply(columns), given.values).astype(np.int64),
        Prior=prior,
        Cost=costs,
    )
    return finished(view, options)


def _prunes_by_error(options: NameValue) -> bool:
    return options.word("PruneCriterion", ["error", "impurity"], "error") == "error"


def _model(options: NameValue, prior: Array, totals: Array, costs: Array) -> DecisionTreeClassifier:
    """Ceiba's estimator; classes are their numbers."""
    criterion: Any = _CRITERIA[options.word("SplitCriterion", list(_CRITERIA), "gdi")]
    weights = None
    if not np.array_equal(prior, totals / totals.sum()):
        weights = dict(enumerate((prior * totals.sum() / totals).tolist()))
    matrix = None if options.of("Cost") is None else costs
    return DecisionTreeClassifier(
        criterion=criterion, class_weight=weights, cost_matrix=matrix, **growth(options)
    )
