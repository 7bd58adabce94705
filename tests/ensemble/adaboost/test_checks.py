"""scikit-learn's own checks of the boosted committees: no failure is expected."""

from __future__ import annotations

from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from ceiba import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier


@parametrize_with_checks(
    [
        AdaBoostClassifier(n_estimators=5),
        AdaBoostClassifier(n_estimators=5, algorithm="m1", max_depth=6),
        AdaBoostClassifier(n_estimators=5, algorithm="real", max_bins=16),
        AdaBoostClassifier(GaussianNB(), n_estimators=3),
        AdaBoostClassifier(DecisionTreeClassifier(max_leaf_nodes=4), n_estimators=3, trace=True),
        AdaBoostRegressor(n_estimators=5),
        AdaBoostRegressor(n_estimators=5, loss="square", max_bins=16, trace=True),
        AdaBoostRegressor(LinearRegression(), n_estimators=3, loss="exponential"),
    ]
)
def test_scikit_learn_checks_of_boosting(estimator, check):
    check(estimator)


# Draws are keyed by the number of the row, and a repeated row has two. In its place,
# test_ensemble_boost_trees.py has a statistical test.
DRAWN = {"check_sample_weight_equivalence_on_dense_data": "rows are drawn by number"}


@parametrize_with_checks(
    [
        AdaBoostClassifier(n_estimators=5, max_depth=3, by="draws"),
        AdaBoostRegressor(n_estimators=5, by="draws"),
    ],
    expected_failed_checks=lambda _: DRAWN,
)
def test_scikit_learn_checks_of_drawn_boosting(estimator, check):
    check(estimator)
