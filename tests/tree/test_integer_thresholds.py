"""Floats at prediction are compared with the exact midpoints of the integers of the training."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier as SklearnTree

from ceiba import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    scan,
)
from ceiba.data.table import Table
from ceiba.tree.explain.conditions import ConditionEvaluator

LEARNERS = {
    "tree": DecisionTreeClassifier(),
    "binned tree": DecisionTreeClassifier(max_bins=16),
    "surrogates": DecisionTreeClassifier(missing="surrogate"),
    "fractional": DecisionTreeClassifier(missing="fractional"),
    "intervals": DecisionTreeClassifier(criterion="entropy", splits="intervals"),
    "forest": RandomForestClassifier(5, bootstrap=False, random_state=0),
    "binned forest": RandomForestClassifier(5, bootstrap=False, max_bins=16, random_state=0),
    "boosting": AdaBoostClassifier(n_estimators=3),
    "bagging": BaggingClassifier(
        DecisionTreeClassifier(), n_estimators=3, max_samples=1.0, bootstrap=False
    ),
}
PAIRS = [
    (2, 3),
    (2, 4),
    (2, 5),
    (-3, -2),
    (-4, 3),
    (0, 1),
    (2**51, 2**51 + 1),
    (2**52 - 1, 2**52),
    (-(2**52) - 1, -(2**52)),
    (2**53, 2**53 + 1),
    (2**60 + 1, 2**60 + 400),
    (-(2**63), 2**63 - 2),
]
UNSIGNED_PAIRS = [(2, 3), (1, 4), (2**53 + 1, 2**53 + 2), (2**63 - 1, 2**63), (0, 2**64 - 2)]


def near(a: int, b: int) -> np.ndarray:
    """Return floats at and around two integers and their midpoint."""
    at = np.array([float(a), float(b), float(Fraction(a + b, 2)), 0.0, 2.4, 2.6, np.inf, -np.inf])
    steps = [at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf), at + 0.25, at - 0.25]
    return np.concatenate(steps)


def goes_right(x: float, a: int, b: int) -> bool:
    """Compare in exact arithmetic."""
    if np.isinf(x):
        return x > 0
    return Fraction(x) > Fraction(a + b, 2)


def two_values(a: int, b: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat([0, 1], 20)
    return np.where(y == 1, np.array(b, dtype), np.array(a, dtype))[:, None], y


def check(model: Any, a: int, b: int, dtype: str) -> None:
    X, y = two_values(a, b, dtype)
    model.fit(X, y)
    floats = near(a, b)
    floats = floats[np.isfinite(floats)]
    expected = np.array([goes_right(x, a, b) for x in floats], int)
    np.testing.assert_array_equal(model.predict(floats[:, None]), expected)
    single = [int(model.predict(np.array([[x]]))[0]) for x in floats[2:4]]
    assert single == expected[2:4].tolist()
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("name", LEARNERS)
def test_floats_are_compared_with_the_midpoint(name: str) -> None:
    for a, b in PAIRS:
        check(LEARNERS[name], a, b, "int64")
    for a, b in UNSIGNED_PAIRS:
        check(LEARNERS[name], a, b, "uint64")


def test_files_of_whole_numbers_and_of_others_predict_alike(tmp_path: Any) -> None:
    for name, rows in {"a": [2.0, 3.0], "b": [2.4, 2.6]}.items():
        pd.DataFrame({"x": rows}).to_parquet(tmp_path / f"{name}.parquet")
    for learner in (DecisionTreeClassifier(), RandomForestClassifier(3, bootstrap=False)):
        model = learner.fit(pd.DataFrame({"x": [1, 2, 3, 4]}), [0, 0, 1, 1])
        found = model.predict(scan(tmp_path / "*.parquet"))
        assert np.asarray(found).tolist() == [0, 1, 0, 1]


def test_small_integers_predict_as_in_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, (300, 3)) * rng.integers(1, 3, 3)
    y = (X[:, 0] + X[:, 1] > 40).astype(int) + (X[:, 2] > 20)
    rows = rng.uniform(-2, 62, (2000, 3))
    rows[:500] = np.round(rows[:500] * 2) / 2  # at the thresholds
    ours = DecisionTreeClassifier(random_state=0).fit(X, y)
    floats = DecisionTreeClassifier(random_state=0).fit(X.astype(float), y)
    np.testing.assert_array_equal(ours.predict(rows), floats.predict(rows))
    np.testing.assert_array_equal(ours.tree_.threshold, floats.tree_.threshold)
    single = SklearnTree(max_depth=1).fit(X, y)
    stump = DecisionTreeClassifier(max_depth=1).fit(X, y)
    assert stump.tree_.threshold[0] == single.tree_.threshold[0]


def test_nan_is_missing_among_floats() -> None:
    X = pd.DataFrame({"x": pd.array([1, 2, 3, 4, None, None], "Int64")})
    y = [0, 0, 1, 1, 1, 1]
    for model in (DecisionTreeClassifier(), RandomForestClassifier(3, bootstrap=False)):
        model.fit(X, y)
        rows = pd.DataFrame({"x": [2.4, 2.6, np.nan]})
        assert model.predict(rows).tolist() == [0, 1, 1]


def test_a_regression_tree_compares_floats_with_midpoints() -> None:
    model = DecisionTreeRegressor().fit([[1], [2], [3], [4]], [1.0, 1.0, 5.0, 5.0])
    assert model.predict([[2.4], [2.5], [2.6]]).tolist() == [1.0, 1.0, 5.0]


def test_text_rules_and_conditions_show_the_midpoint() -> None:
    model = DecisionTreeClassifier().fit(pd.DataFrame({"x": [1, 2, 3, 4]}), [0, 0, 1, 1])
    assert "x <= 2.5" in model.tree_.to_text()
    assert model.tree_.split(0).threshold == 2.5
    whole = DecisionTreeClassifier().fit(pd.DataFrame({"x": [1, 2, 4, 5]}), [0, 0, 1, 1])
    assert whole.tree_.split(0).threshold == 3
    assert "x <= 3 or" in whole.tree_.to_text()
    large = DecisionTreeClassifier().fit(pd.DataFrame({"x": [1, 300_000]}), [0, 1])
    assert "x <= 150000.5 or" in large.tree_.to_text()
    (first, *_) = model.to_rules().rules
    assert "2.5" in str(first)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_rules_agree_with_the_tree(a: int, b: int) -> None:
    X, y = two_values(a, b, "int64")
    model = DecisionTreeClassifier().fit(X, y)
    rules = model.to_rules()
    floats = near(a, b)
    floats = floats[np.isfinite(floats)][:, None]
    np.testing.assert_array_equal(rules.predict(floats), model.predict(floats))


def test_thresholds_that_occur_stay_where_they_are() -> None:
    model = DecisionTreeClassifier(thresholds="value").fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    assert model.tree_.split(0).threshold == 2
    assert model.predict([[2.0], [2.1], [2.9]]).tolist() == [0, 1, 1]


def test_times_have_whole_thresholds() -> None:
    X = pd.DataFrame({"t": pd.to_timedelta([1, 2, 3, 4], unit="ns")})
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    assert model.tree_.split(0).threshold == 2
    assert model.tree_.threshold[0] == 2
    assert "t <= 2 ns" in model.tree_.to_text()


def test_a_stored_model_keeps_its_midpoints(tmp_path: Any) -> None:
    from ceiba.export import load, save

    rows = [[2.4], [2.5], [2.6]]
    for name in ("tree", "intervals", "forest", "boosting"):
        model = LEARNERS[name].fit([[1], [2], [3], [4]] * 5, [0, 0, 1, 1] * 5)
        save(model, tmp_path / "model.ceiba")
        assert load(tmp_path / "model.ceiba").predict(rows).tolist() == [0, 0, 1]


def test_evaluator_rounds_no_bound() -> None:
    t = 2**60 + 200
    X, y = two_values(t, t + 1, "int64")
    model = DecisionTreeClassifier().fit(X, y)
    (rule, *_) = model.to_rules().rules
    table = Table.of(np.array([[2.0**60 + 256], [2.0**60]]), model.schema_)
    satisfied = ConditionEvaluator(table, model.tree_.columns).satisfied(rule.conditions[0])
    right = rule.conditions[0].low is not None
    assert satisfied.tolist() == ([True, False] if right else [False, True])
