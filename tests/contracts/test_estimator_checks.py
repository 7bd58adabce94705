"""scikit-learn's own checks, for every estimator of Ceiba."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, GaussianMixture, KMeans

# A learner that draws its start by row cannot give the same draw to a repeated row: the plan's one
# exception. tests/cluster/test_cluster_kmeans.py has the statistical test in its place.
RANDOM_START = {
    "check_sample_weight_equivalence_on_dense_data": "random starts are keyed by row",
}


# A number that a criterion chooses is for whole tables: there is no step of online EM from it.
CHOSEN = dict.fromkeys(
    (
        "check_fit_score_takes_y",
        "check_n_features_in_after_fitting",
        "check_estimators_partial_fit_n_features",
    ),
    "partial_fit needs a number of components",
)
MIXTURES = [
    GaussianMixture(n_components=2, covariance_type="diag"),
    GaussianMixture(n_components=2, covariance_type="tied", init_params="random"),
    GaussianMixture(n_components=2, covariance_type="ppca", prior="default"),
    GaussianMixture(n_components=3, covariance_type="VEV", n_init=2, short_iter=3),
    GaussianMixture(n_components="bic", max_components=2, covariance_type="EVI"),
]


def excused(estimator):
    chosen = isinstance(getattr(estimator, "n_components", None), str)
    return RANDOM_START | CHOSEN if chosen else RANDOM_START


@parametrize_with_checks([KMeans(n_clusters=3), *MIXTURES], expected_failed_checks=excused)
def test_scikit_learn_checks(estimator, check):
    reason = excused(estimator).get(getattr(check, "func", check).__name__)
    if reason is not None:
        pytest.skip(reason)
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


# One component has no start to draw.
@parametrize_with_checks(
    [GaussianMixture(covariance_type=form) for form in ("full", "spherical", "EEI")]
)
def test_scikit_learn_checks_of_one_component(estimator, check):
    check(estimator)
