"""Hazards of forests: extreme values, unusual shapes, categories and dates.

Those of trees and forests alike are in tests/contracts/test_tree_hazards.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ceiba import RandomForestClassifier, RandomForestRegressor
from tests.ensemble.forest.parts import array_bits, assert_valid_predictions

KINDS = pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
BINS = pytest.mark.parametrize("max_bins", [None, 64])
MISSING = pytest.mark.parametrize("missing", ["learned", "branch", "majority"])
# Every tree uses every row, so that a column that separates the classes must do so.
WHOLE: dict[str, Any] = {"bootstrap": False, "n_jobs": 1}
STEPS = np.arange(40)
CLASSES = STEPS % 2


# Values

EXTREMES = {
    "scaled by 1e200": STEPS * 1e200,
    "both ends": np.where(CLASSES, 1.7e308, -1.7e308),
    "int64 at both ends": np.where(CLASSES, 2**63 - 1, -(2**63)),
}


@BINS
@pytest.mark.parametrize("factor", [2.0**-100, 2.0**660])
def test_scaled_and_shifted_columns_give_the_same_trees(
    factor: float, max_bins: int | None
) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(-500, 500, size=(80, 3)).astype(float)
    y = X[:, 0] + X[:, 1] > 0
    plain = RandomForestClassifier(5, max_bins=max_bins).fit(X, y)
    for other in (X * factor, X + 2.0**40):
        model = RandomForestClassifier(5, max_bins=max_bins).fit(other, y)
        np.testing.assert_array_equal(model.apply(other), plain.apply(X))


@pytest.mark.parametrize("name", EXTREMES)
def test_random_thresholds_of_extreme_values(name: str) -> None:
    X = EXTREMES[name][:, None]
    model = RandomForestClassifier(9, thresholds="random", n_thresholds=5, **WHOLE).fit(X, CLASSES)
    assert model.score(X, CLASSES) == 1.0


# Shapes


@BINS
@KINDS
def test_one_row(kind: Any, max_bins: int | None) -> None:
    model = kind(4, max_bins=max_bins).fit([[1.0, 2.0]], [7])
    assert model.predict([[5.0, np.nan]]).tolist() == [7]
    assert model.apply([[0.0, 0.0]]).tolist() == [[0] * 4]
    assert (model.feature_importances_ == 0).all()
    assert model.forest_.n_nodes == 4
    assert model.tree(0).n_nodes == 1


def test_one_class() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    for y in (["only"] * 30, np.ones(30, int), np.zeros(30, bool)):
        for weighting in (None, "balanced", "balanced_subsample"):
            model = RandomForestClassifier(
                20, class_weight=weighting, oob_score=True, importance=True
            ).fit(X, y)
            assert (model.predict_proba(X) == 1).all()
            assert set(model.predict(X)) == set(y)
            assert model.oob_score_ == 1.0
            assert (model.oob_importance_.importances == 0).all()
            assert (model.oob_importance_.above_noise == 0).all()
            assert model.forest_.n_nodes == 20
            assert model.tree(3).node_values.shape == (1, 1)
            np.testing.assert_array_equal(model.corrected_importances(X, y), [0, 0])


@KINDS
def test_equal_rows(kind: Any) -> None:
    y = np.array([0, 1, 1, 1, 0, 2])
    model = kind(5, bootstrap=False).fit(np.ones((6, 3)), y)
    predicted = model._predict([[1.0, 1, 1], [9.0, np.nan, 0]])
    expected = [2 / 6, 3 / 6, 1 / 6] if kind is RandomForestClassifier else 5 / 6
    np.testing.assert_allclose(predicted, [expected] * 2)
    drawn = kind(50, oob_score=True, importance=True).fit(np.ones((6, 3)), y)
    assert drawn.forest_.n_nodes == 50
    assert (drawn.oob_importance_.importances == 0).all()
    assert "stays within" in drawn.oob_curve_.summary() or "settled" in drawn.oob_curve_.summary()


@BINS
@KINDS
def test_constant_columns_are_never_tested(kind: Any, max_bins: int | None) -> None:
    rng = np.random.default_rng(3)
    X = np.zeros((60, 30))
    X[:, 17], X[:, 4] = rng.normal(size=60), np.nan
    y = X[:, 17] > 0
    for columns in (1, "sqrt", None):
        model = kind(5, max_features=columns, max_bins=max_bins, importance=True).fit(X, y)
        assert np.flatnonzero(model.forest_.importances.sum(axis=0)).tolist() == [17]
        assert np.flatnonzero(model.oob_importance_.importances).tolist() == [17]
        # More columns are drawn if none of those drawn can be split.
        assert (np.diff(model.forest_.tree_offsets) > 1).all()


@KINDS
def test_fewer_rows_than_columns(kind: Any) -> None:
    X, y = np.random.default_rng(2).normal(size=(5, 300)), np.arange(5)
    assert_valid_predictions(kind(20, oob_score=True).fit(X, y), X)


# Predictions of new rows


def test_single_precision_is_compared_exactly() -> None:
    """Also by a forest of doubles."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 3))
    model = RandomForestClassifier(5).fit(X, X[:, 0] > X[:, 1])
    single = rng.normal(size=(300, 3)).astype(np.float32)
    np.testing.assert_array_equal(model.apply(single), model.apply(single.astype(np.float64)))
    other = RandomForestClassifier(5).fit(X.astype(np.float32), X[:, 0] > X[:, 1])
    np.testing.assert_array_equal(other.apply(single), other.apply(single.astype(np.float64)))


@KINDS
def test_ordinal_columns_are_split_in_their_order(kind: Any) -> None:
    sizes = ["XS", "S", "M", "L", "XL"]
    codes = np.arange(60) % 5
    X = pd.DataFrame({"size": pd.Categorical.from_codes(codes, sizes, ordered=True)})
    model = kind(5, max_depth=1, **WHOLE).fit(X, codes >= 3)
    tree = model.tree(0)
    assert tree.n_nodes == 3
    assert "size <= M" in tree.to_text()
    np.testing.assert_array_equal(model.predict(X), codes >= 3)
    # Unordered groups of codes need several splits of an ordinal column, and one of a nominal one.
    odd = np.isin(codes, [0, 3])
    assert kind(1, max_depth=1, **WHOLE).fit(X, odd).score(X, odd) < 1
    words = X.assign(size=X["size"].astype(object))
    assert kind(1, max_depth=1, **WHOLE).fit(words, odd).score(words, odd) == 1


def test_datetimes_at_prediction() -> None:
    days = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=40)})
    model = RandomForestClassifier(3, **WHOLE).fit(days, STEPS >= 20)
    late = pd.DataFrame({"when": pd.to_datetime(["2024-01-20 11:00", "2024-01-21 01:00", None])})
    assert model.predict(late)[:2].tolist() == [False, True]
    assert_valid_predictions(model, late)


@KINDS
def test_equal_columns_have_similar_importance(kind: Any) -> None:
    """Ties go to the column drawn first, so that no column is favored."""
    rng = np.random.default_rng(11)
    one = rng.normal(size=300)
    X = np.column_stack([one] * 4)
    y = one > 0 if kind is RandomForestClassifier else one
    found = kind(200, max_features=2, max_depth=1).fit(X, y).feature_importances_
    assert found.min() > 0.15
    assert found.max() < 0.35


def test_table_with_all_hazards() -> None:
    n = 60
    rng = np.random.default_rng(12)
    X = pd.DataFrame(
        {
            "tiny": rng.normal(size=n) * 1e-300,
            "huge": rng.normal(size=n) * 1e300,
            "whole": 2**60 + rng.integers(9, size=n),
            "empty": np.full(n, np.nan),
            "same": 1.0,
            "word": rng.choice([None, "", " ", "ß", "a" * 500], size=n),
            "when": pd.Timestamp("1700-01-01") + pd.to_timedelta(rng.integers(9**9, size=n), "s"),
            "yes": rng.random(n) > 0.5,
            "ends": rng.choice([np.inf, -np.inf, np.nan, 0.0, -0.0], size=n),
        }
    )
    y = rng.choice(["x", "y", ""], size=n)
    for options in ({}, {"max_bins": 4}, {"thresholds": "random"}, {"missing": "branch"}):
        model = RandomForestClassifier(20, oob_score=True, importance=True, **options).fit(X, y)
        assert_valid_predictions(model, X)
        assert np.isfinite(model.oob_importance_.importances).all()
        assert np.isfinite(model.corrected_importances(X, y)).all()
        again = RandomForestClassifier(20, **options).fit(X, y)
        assert array_bits(again.forest_.nodes) == array_bits(model.forest_.nodes)
