"""scikit-learn's own checks: one instance of every estimator, and in the slow tier its variants."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier as PeerNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ceiba import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Discretizer,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GaussianMixture,
    GaussianMixtureClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    KMeans,
    KNeighborsClassifier,
    KNeighborsRegressor,
    LatentClassMixture,
    NaiveBayesClassifier,
    NearestNeighbors,
    RandomForestClassifier,
    RandomForestRegressor,
    StructuralTMClassifier,
    TANClassifier,
)

TREE_OPTIONS: list[dict[str, Any]] = [
    {"max_bins": 16},
    {"splits": "multiway"},
    {"missing": "branch"},
    {"missing": "majority", "max_leaf_nodes": 10},
]
FOREST_OPTIONS: list[dict[str, Any]] = [
    {"max_bins": 16, "missing": "branch", "max_leaf_nodes": 20},
    {"thresholds": "random", "n_thresholds": 2},
    {"max_features_per": "tree", "max_features": 0.7, "max_samples": 0.8},
    {"bootstrap": False},
    {"bootstrap": False, "thresholds": "random", "max_bins": 32, "missing": "majority"},
    {"warm_start": True},
]

DEFAULTS = [
    AdaBoostClassifier(n_estimators=5),
    AdaBoostRegressor(n_estimators=5),
    BaggingClassifier(n_estimators=5),
    BaggingRegressor(n_estimators=5),
    DecisionTreeClassifier(),
    DecisionTreeRegressor(),
    Discretizer(),
    ExtraTreesClassifier(5, n_jobs=1),
    ExtraTreesRegressor(5, n_jobs=1),
    GaussianMixture(),
    GaussianMixtureClassifier(),
    GradientBoostingClassifier(5),
    GradientBoostingRegressor(10, learning_rate=0.3),
    KMeans(n_clusters=3),
    KNeighborsClassifier(),
    KNeighborsRegressor(),
    NearestNeighbors(),
    RandomForestClassifier(5, n_jobs=1),
    RandomForestRegressor(5, n_jobs=1),
    LatentClassMixture(n_init=2),
    NaiveBayesClassifier(),
    TANClassifier(),
    StructuralTMClassifier(),
]
TREES = [
    *(DecisionTreeClassifier(**options) for options in TREE_OPTIONS),
    *(DecisionTreeRegressor(**options) for options in TREE_OPTIONS),
    DecisionTreeClassifier(criterion="gain_ratio"),
    DecisionTreeClassifier(criterion="entropy", leaf_probability="laplace"),
    DecisionTreeRegressor(criterion="absolute_error"),
]
FORESTS = [
    *(RandomForestClassifier(5, n_jobs=1, **options) for options in FOREST_OPTIONS),
    *(RandomForestRegressor(5, n_jobs=1, **options) for options in FOREST_OPTIONS),
    RandomForestClassifier(5, n_jobs=1, class_weight="balanced_subsample"),
    RandomForestClassifier(5, criterion="entropy", leaf_probability="laplace", bootstrap=False),
    RandomForestRegressor(5, n_jobs=1, criterion="absolute_error", bootstrap=False),
    RandomForestRegressor(5, n_jobs=1, quantiles=True, max_features=0.5),
]
BAGGING = [
    BaggingClassifier(n_estimators=9, voting="majority"),
    BaggingClassifier(make_pipeline(StandardScaler(), PeerNeighbors()), 3),
    BaggingRegressor(n_estimators=5, max_features=0.7, bootstrap_features=True),
    BaggingRegressor(Ridge(), 3, bootstrap=False, max_samples=0.8),
]
BOOSTING = [
    AdaBoostClassifier(n_estimators=5, algorithm="m1", max_depth=6),
    AdaBoostClassifier(n_estimators=5, algorithm="samme.r", max_bins=16),
    AdaBoostClassifier(GaussianNB(), n_estimators=3),
    AdaBoostClassifier(DecisionTreeClassifier(max_leaf_nodes=4), n_estimators=3, trace=True),
    AdaBoostClassifier(n_estimators=5, max_depth=3, reweighting="resampling"),
    AdaBoostRegressor(n_estimators=5, loss="square", max_bins=16, trace=True),
    AdaBoostRegressor(LinearRegression(), n_estimators=3, loss="exponential"),
    AdaBoostRegressor(n_estimators=5, reweighting="resampling"),
    GradientBoostingClassifier(5, method="gradient", growth="breadth_first", max_depth=3),
    GradientBoostingClassifier(5, multi_strategy="multi_output_tree", min_samples_leaf=1),
    GradientBoostingClassifier(5, warm_start=True, trace=True, max_bins=300),
    GradientBoostingRegressor(10, learning_rate=0.3, loss="absolute_error", max_features=0.5),
    GradientBoostingRegressor(10, learning_rate=0.3, loss="huber", method="gradient"),
]
MIXTURES = [
    GaussianMixture(n_components=2, covariance_type="diag"),
    GaussianMixture(n_components=2, covariance_type="tied", init_params="random"),
    GaussianMixture(n_components=2, covariance_type="ppca", prior="default"),
    GaussianMixture(n_components=3, covariance_type="VEV", n_init=2, short_iter=3),
    GaussianMixture(n_components="bic", covariance_type="EVI"),
    GaussianMixture(covariance_type="spherical"),
    GaussianMixture(covariance_type="EEI"),
    GaussianMixtureClassifier(2, covariance_type="diag"),
    GaussianMixtureClassifier(shared_covariance=True),
]
DISCRETIZERS = [
    Discretizer("equal_width"),
    Discretizer("equal_frequency", n_bins=3, encode="onehot-dense"),
    Discretizer("kmeans", constant="keep"),
]
NETWORKS = [
    NaiveBayesClassifier(training="tm"),
    NaiveBayesClassifier(training="tm", distributions="gaussian"),
    NaiveBayesClassifier(
        training="tm", solver="tm", penalty="generative", distributions="gaussian"
    ),
    TANClassifier(structure="forest", significance=0.5, training="tm"),
    TANClassifier(structure="kdb", missing="category", discretization="equal_frequency"),
    TANClassifier(structure="aode", discretization="equal_width"),
    TANClassifier(training="tm", solver="tm", missing="category"),
    LatentClassMixture(structure="tree", n_init=1),
    LatentClassMixture(3, missing="category", refinement="information", init="random"),
    LatentClassMixture("bic", n_init=1),
    StructuralTMClassifier(moves="pairs", screen=None, penalty=0),
    StructuralTMClassifier(missing="category", discretization="equal_frequency"),
]
NEIGHBORS = [
    KNeighborsClassifier("loo", weights="distance", scale="std"),
    KNeighborsClassifier(3, metric="gower", weights="distance"),
    KNeighborsClassifier(metric="heom", algorithm="brute"),
    KNeighborsClassifier(metric="cosine"),
    KNeighborsRegressor("loo", metric="manhattan", scale="range", max_neighbors=5),
    KNeighborsRegressor(weights="distance", metric="chebyshev"),
    NearestNeighbors(metric="minkowski", p=3, algorithm="kd_tree"),
]

# A learner that draws rows, or its initialization, by row number draws other rows when a row of
# weight two is replaced by two rows: the one exception of the contract. The tests of each family
# have a statistical test instead.
DRAWS = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "draws are keyed by row",
)
# Its predict_proba is of components, not of classes.
DENSITY = dict.fromkeys(
    ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
    "the check looks for tags of a classifier where there is predict_proba",
)
# Its first tree errs on half of these rows, most of which are zero.
M1 = dict.fromkeys(DENSITY, "AdaBoost.M1 requires a weighted error below one half")
# partial_fit requires a fixed number of components.
SELECTS = dict.fromkeys(
    (
        "check_fit_score_takes_y",
        "check_n_features_in_after_fitting",
        "check_estimators_partial_fit_n_features",
    ),
    "partial_fit requires a number of components",
)


def exceptions(estimator: Any) -> dict[str, str]:
    """Return the checks that do not apply to an estimator, with the reason."""
    found = DENSITY if isinstance(estimator, GaussianMixture | LatentClassMixture) else {}
    if getattr(estimator, "algorithm", None) == "m1":
        found = M1
    if isinstance(getattr(estimator, "n_components", None), str):
        return found | DRAWS | (SELECTS if hasattr(estimator, "partial_fit") else {})
    return found | DRAWS if _draws(estimator) else found


def _draws(estimator: Any) -> bool:
    if isinstance(estimator, BaggingClassifier | BaggingRegressor):
        return True
    if isinstance(estimator, AdaBoostClassifier | AdaBoostRegressor):
        return bool(estimator.reweighting == "resampling")
    if isinstance(estimator, GaussianMixture | GaussianMixtureClassifier | LatentClassMixture):
        return bool(estimator.n_components != 1)
    return bool(getattr(estimator, "bootstrap", isinstance(estimator, KMeans)))


def run(estimator: Any, check: Any) -> None:
    reason = exceptions(estimator).get(getattr(check, "func", check).__name__)
    if reason is not None:
        pytest.skip(reason)
    check(estimator)


@parametrize_with_checks(DEFAULTS, expected_failed_checks=exceptions)
def test_default_instances(estimator: Any, check: Any) -> None:
    run(estimator, check)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ceiba.mixture.CollapsedComponentWarning")
@parametrize_with_checks(
    [*TREES, *FORESTS, *BAGGING, *BOOSTING, *DISCRETIZERS, *MIXTURES, *NETWORKS, *NEIGHBORS],
    expected_failed_checks=exceptions,
)
def test_variants(estimator: Any, check: Any) -> None:
    run(estimator, check)
