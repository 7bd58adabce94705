"""scikit-learn's own checks for bagging, around Ceiba's trees and around others."""

from __future__ import annotations

import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ceiba import BaggingClassifier, BaggingRegressor

# Draws are keyed by row, so that a repeated row is drawn otherwise than a heavy one: the plan's one
# exception. test_ensemble_bagging.py has the statistical test in its place.
DRAWN = {"check_sample_weight_equivalence_on_dense_data": "rows are drawn by number"}
BAGS = [
    BaggingClassifier(n_estimators=5),
    BaggingClassifier(n_estimators=9, voting="majority"),
    BaggingClassifier(make_pipeline(StandardScaler(), KNeighborsClassifier()), 3),
    BaggingRegressor(n_estimators=5, max_features=0.7, bootstrap_features=True),
    BaggingRegressor(Ridge(), 3, bootstrap=False, max_samples=0.8),
]


@parametrize_with_checks(BAGS, expected_failed_checks=lambda estimator: DRAWN)
def test_scikit_learn_checks(estimator, check):
    reason = DRAWN.get(getattr(check, "func", check).__name__)
    if reason is not None:
        pytest.skip(reason)
    check(estimator)
