"""Extremely randomized trees: forests with other defaults."""

from __future__ import annotations

from ceiba.ensemble.common.parameters import Bootstrap
from ceiba.ensemble.forest.classifier import RandomForestClassifier
from ceiba.ensemble.forest.parameters import Thresholds
from ceiba.ensemble.forest.regressor import RandomForestRegressor


class ExtraTreesClassifier(RandomForestClassifier):
    """Extremely randomized trees for classification.

    Every tree is fully grown on all rows. A node draws a few columns and, in each of them, a
    threshold between the smallest and largest value in the node; the best of these is the split.
    Nominal columns are split into the best two groups of categories. It is a
    `RandomForestClassifier` with ``thresholds="random"`` and ``bootstrap=False``: methods,
    attributes, draws and storage are the same.

    {parameters}

    Attributes
    ----------
    forest_ : Forest
        The trees; ``tree(i)`` returns one of them.
    estimators_ : sequence of DecisionTreeClassifier
        The trees as estimators, each made on access; also ``forest[i]``.
    estimators_samples_ : list of ndarray of int32
        Row indices of each tree's sample, repeated as drawn.
    batches_ : list of DrawnBatch
        How the trees' rows were drawn.
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        The classes; with several outputs a list with an array for each.
    n_classes_ : int, or list of int
        Number of classes; with several outputs a list with a number for each.
    n_outputs_ : int
        Number of outputs, the columns of ``y``: one forest predicts all of them.
    oob_score_, oob_decision_function_, oob_curve_, oob_importance_
        With ``oob_score`` and ``importance``, which require ``bootstrap=True`` or ``max_samples``:
        as in `RandomForestClassifier`.
    feature_importances_ : ndarray of shape (n_features,)
    class_weight_ : ndarray of shape (n_classes,), or list of ndarray
        Factors of the class weights, if ``class_weight`` gives all trees the same; with several
        outputs a list with an array for each.
    n_features_in_, feature_names_in_, schema_
        Description of the columns.

    Examples
    --------
    >>> from ceiba import ExtraTreesClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> model = ExtraTreesClassifier(30).fit(iris.table[::2], iris.y[::2])
    >>> model.score(iris.table[1::2], iris.y[1::2]) > 0.9
    True

    References
    ----------
    Geurts, Ernst & Wehenkel (2006), "Extremely randomized trees", Machine Learning 63.
    """

    thresholds: Thresholds = "random"
    bootstrap: Bootstrap = False


class ExtraTreesRegressor(RandomForestRegressor):
    """Extremely randomized trees for regression.

    Every tree is fully grown on all rows, and every node takes the best of one random threshold
    in each column. This is `RandomForestRegressor` with ``thresholds="random"`` and
    ``bootstrap=False``; see `ExtraTreesClassifier`.

    {parameters}

    Attributes
    ----------
    forest_ : Forest
        The trees; ``tree(i)`` returns one of them.
    estimators_ : sequence of DecisionTreeRegressor
        The trees as estimators, each made on access; also ``forest[i]``.
    estimators_samples_ : list of ndarray of int32
        Row indices of each tree's sample, repeated as drawn.
    batches_ : list of DrawnBatch
        How the trees' rows were drawn.
    oob_score_, oob_prediction_, oob_curve_, oob_errors_, oob_importance_
        With ``oob_score`` and ``importance``, which require ``bootstrap=True`` or ``max_samples``:
        as in `RandomForestRegressor`.
    leaf_targets_ : LeafTargets
        With ``quantiles=True``.
    n_outputs_ : int
        Number of outputs, the columns of ``y``: one forest predicts all of them.
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_, schema_
        Description of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import ExtraTreesRegressor
    >>> X = np.arange(100.0)[:, None]
    >>> model = ExtraTreesRegressor().fit(X, 2 * X[:, 0])
    >>> bool(abs(model.predict([[50.5]])[0] - 101) < 1)
    True

    References
    ----------
    Geurts, Ernst & Wehenkel (2006), "Extremely randomized trees", Machine Learning 63.
    """

    thresholds: Thresholds = "random"
    bootstrap: Bootstrap = False
