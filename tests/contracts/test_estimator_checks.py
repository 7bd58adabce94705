"""scikit-learn's own checks, for every estimator of Ceiba."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, KMeans

# A learner that draws its start by row cannot give the same draw to a repeated row: the plan's one
# exception. tests/cluster/test_cluster_kmeans.py has the statistical test in its place.
RANDOM_START = {
    "check_sample_weight_equivalence_on_dense_data": "random starts are keyed by row",
}


@parametrize_with_checks(
    [KMeans(n_clusters=3)], expected_failed_checks=lambda estimator: RANDOM_START
)
def test_scikit_learn_checks(estimator, check):
    if getattr(check, "func", check).__name__ in RANDOM_START:
        pytest.skip(RANDOM_START[getattr(check, "func", check).__name__])
    check(estimator)


TREES = [
    tree(**options)
    for tree in (DecisionTreeClassifier, DecisionTreeRegressor)
    for options in (
        {},
        {"max_bins": 16},
        {"splits": "multiway"},
        {"missing": "branch"},
        {"missing": "majority", "max_leaf_nodes": 10},
    )
]


@parametrize_with_checks(
    [
        *TREES,
        DecisionTreeClassifier(criterion="gain_ratio"),
        DecisionTreeClassifier(criterion="entropy", leaf_probability="laplace"),
        DecisionTreeRegressor(criterion="absolute_error"),
    ]
)
def test_scikit_learn_checks_of_trees(estimator, check):
    check(estimator)
