"""Convert models to ONNX graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

import ceiba
from ceiba.export.checks import check_learner
from ceiba.export.errors import NotExpressibleError
from ceiba.export.onnx.clusters import add_kmeans, add_mixture, add_mixture_classifier
from ceiba.export.onnx.ensembles import (
    add_adaboost_classifier,
    add_adaboost_regressor,
    add_bagging,
    add_forest,
    add_gradient_boosting,
    add_tree,
)
from ceiba.export.onnx.graph import Graph
from ceiba.export.onnx.networks import add_latent_classes, add_network


def to_onnx(model: Any, *, dtype: Literal["float64", "float32"] = "float64") -> Any:
    """Convert a fitted model to ONNX.

    Trees, random forests, bagging and AdaBoost of trees, gradient boosting, k-means, Gaussian
    mixtures, classifiers of one mixture per class, Bayesian network classifiers and latent classes
    are converted.

    A model of numeric columns has one input ``X`` of shape (n_rows, n_features). A model of a mixed
    table has an input of shape (n_rows, 1) for each column, by its name: numbers in ``dtype``,
    text categories as strings, integers and bools as int64. A missing number is NaN; a value that
    is no category counts as missing, as in ``predict``. Comparisons and predictions are computed in
    float64, so that they are equal to those of ``predict``, up to the rounding of sums. Mixtures of
    full covariances, and networks of columns with several parents, are an exception: their outputs
    for a row with missing values are NaN.

    The outputs are ``label`` and ``probabilities`` of classifiers and mixtures (which also have
    ``log_density``), ``prediction`` of regressors, ``label`` and ``distances`` of k-means. Where a
    column has the name of an output, an underscore is added to that of the output.

    Parameters
    ----------
    model : estimator
        A fitted estimator of Ceiba; ensembles must consist of Ceiba's trees.
    dtype : {"float64", "float32"}
        Type of the numeric inputs.

    Returns
    -------
    onnx.ModelProto
        Save it by ``onnx.save`` and run it, for example, by onnxruntime 1.20 or later.

    Raises
    ------
    ImportError
        If the package onnx is not installed (``pip install 'ceiba[onnx]'``).
    NotExpressibleError
        If ONNX has no such model: fractional or surrogate routing of missing values, majority votes
        with drawn ties, an ``init`` predictor of gradient boosting, columns of times, integers
        beyond 2^53, members that are no trees, naive Bayes with kernels, mixtures or Poisson
        distributions. The message names the part.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime  # doctest: +SKIP
    >>> from ceiba import DecisionTreeClassifier
    >>> from ceiba.export import to_onnx
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), ["no", "no", "yes"]
    >>> graph = to_onnx(DecisionTreeClassifier().fit(X, y))  # doctest: +SKIP
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())  # doctest: +SKIP
    >>> session.run(["label"], {"X": X})[0]  # doctest: +SKIP
    array(['no', 'no', 'yes'], dtype=object)
    """
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32', got {dtype!r}.")
    check_learner(model, _BUILDERS)
    name = type(model).__name__
    if not hasattr(model, "schema_"):
        raise NotExpressibleError(
            "to_onnx requires members that are decision trees of Ceiba, got "
            f"{type(model.estimators_[0]).__name__}."
        )
    graph = Graph()
    _BUILDERS[name](graph, model, np.dtype(dtype))
    return graph.model(f"{name} of Ceiba {ceiba.__version__}")


_BUILDERS: dict[str, Callable[[Graph, Any, Any], None]] = {
    "AdaBoostClassifier": add_adaboost_classifier,
    "AdaBoostRegressor": add_adaboost_regressor,
    "BaggingClassifier": add_bagging,
    "BaggingRegressor": add_bagging,
    "DecisionTreeClassifier": add_tree,
    "DecisionTreeRegressor": add_tree,
    "ExtraTreesClassifier": add_forest,
    "ExtraTreesRegressor": add_forest,
    "GaussianMixture": add_mixture,
    "GaussianMixtureClassifier": add_mixture_classifier,
    "GradientBoostingClassifier": add_gradient_boosting,
    "GradientBoostingRegressor": add_gradient_boosting,
    "KMeans": add_kmeans,
    "LatentClassMixture": add_latent_classes,
    "NaiveBayesClassifier": add_network,
    "RandomForestClassifier": add_forest,
    "RandomForestRegressor": add_forest,
    "StructuralTMClassifier": add_network,
    "TANClassifier": add_network,
}
