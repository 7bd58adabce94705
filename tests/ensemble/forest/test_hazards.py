"""Hazards: extreme values, unusual shapes, missing values, categories and weights."""

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


def assert_separated(X: Any, y: Any, **options: Any) -> None:
    """Check that every row gets its own class, with all and with drawn columns."""
    for columns in (None, 1):
        model = RandomForestClassifier(3, max_features=columns, **WHOLE, **options).fit(X, y)
        assert model.score(X, y) == 1.0
        number = RandomForestRegressor(3, max_features=columns, **WHOLE, **options)
        np.testing.assert_allclose(number.fit(X, y).predict(X), y, rtol=1e-12)


# Values

COLUMNS = {
    "scaled by 1e-30": STEPS * 1e-30,
    "scaled by 1e-300": STEPS * 1e-300,
    "subnormal": STEPS * 5e-324,
    "scaled by 1e200": STEPS * 1e200,
    "up to the largest": 1.7976931348623157e308 * (1 - STEPS * 2.0**-52),
    "both ends": np.where(CLASSES, 1.7e308, -1.7e308),
    "shifted by 1e9": 1e9 + STEPS * 1e-3,
    "next floats": 1.0 + STEPS * 2.0**-52,
    "int64 above 2^53": 2**53 + STEPS,
    "int64 at its top": 2**63 - 1 - STEPS,
    "int64 at its bottom": -(2**63) + STEPS,
    "int64 at both ends": np.where(CLASSES, 2**63 - 1, -(2**63)),
    "uint64 above 2^63": np.uint64(2**63) + STEPS.astype(np.uint64),
    "float32": (1 + STEPS * 2.0**-23).astype(np.float32),
    "float32 at its top": (3.4028235e38 * (1 - STEPS * 2.0**-22)).astype(np.float32),
    "int8": (STEPS - 20).astype(np.int8),
    "nanoseconds": np.datetime64("2024-01-01", "ns") + STEPS,
    "days": np.datetime64("1969-12-20", "D") + STEPS,
    "durations": (STEPS - 20).astype("timedelta64[us]"),
    "infinite": np.where(CLASSES, np.inf, -np.inf),
    "truth": CLASSES.astype(bool),
}


@BINS
@pytest.mark.parametrize("name", COLUMNS)
def test_separating_column_is_found(name: str, max_bins: int | None) -> None:
    column = COLUMNS[name]
    assert_separated(column[:, None], CLASSES, max_bins=max_bins)
    mixed = pd.DataFrame({"x": column, "word": np.where(STEPS < 20, "a", "b")})
    assert_separated(mixed, CLASSES, max_bins=max_bins)


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


@pytest.mark.parametrize("name", ["scaled by 1e200", "both ends", "int64 at both ends"])
def test_random_thresholds_of_extreme_values(name: str) -> None:
    X = COLUMNS[name][:, None]
    model = RandomForestClassifier(9, thresholds="random", n_thresholds=5, **WHOLE).fit(X, CLASSES)
    assert model.score(X, CLASSES) == 1.0


@BINS
@MISSING
def test_infinity_is_the_largest_value_and_not_missing(missing: str, max_bins: int | None) -> None:
    X = np.array([-np.inf, -np.inf, 0.0, 1.0, np.inf, np.inf])[:, None]
    for y in ([0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]):
        assert_separated(X, np.array(y), missing=missing, max_bins=max_bins)
    if missing != "majority":
        with_missing = np.vstack([X, [[np.nan]], [[np.nan]]])
        assert_separated(
            with_missing, np.array([0, 0, 1, 1, 0, 0, 2, 2]), missing=missing, max_bins=max_bins
        )


@MISSING
@pytest.mark.parametrize("dtype", ["Int64", "UInt64", "datetime64[ns]", "float64", "str", "size"])
def test_missing_values_of_every_type(dtype: str, missing: str) -> None:
    values: Any = pd.Series(np.arange(12) % 4 + (2**60 if "Int" in dtype else 0))
    if dtype == "size":
        values = pd.Series(pd.Categorical.from_codes(values, [*"SMLX"], ordered=True))
    else:
        values = values.astype(dtype)
    y = np.array([0, 1, 0, 1] * 3)
    y[[2, 6]] = 5
    X = pd.DataFrame({"x": values.mask(y == 5)})
    model = RandomForestClassifier(3, missing=missing, **WHOLE).fit(X, y)
    known = y != 5
    assert (model.predict(X[known]) == y[known]).all()
    if missing != "majority":
        assert model.score(X, y) == 1.0


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
            assert model.tree(3).value.shape == (1, 1)
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


@BINS
@MISSING
@KINDS
def test_columns_with_missing_values_only(kind: Any, missing: str, max_bins: int | None) -> None:
    empty = np.full((6, 1), np.nan)
    y = np.array([0, 0, 1, 1, 1, 0])
    model = kind(3, missing=missing, max_bins=max_bins).fit(empty, y)
    assert model.forest_.n_nodes == 3
    assert_valid_predictions(model, [[3.0], [np.nan]])
    assert_separated(np.column_stack([empty, STEPS[:6]]), y, missing=missing, max_bins=max_bins)
    nothing = pd.DataFrame({"x": pd.Series([None] * 6, dtype="str"), "n": STEPS[:6]})
    assert_separated(nothing, y, missing=missing, max_bins=max_bins)


@KINDS
def test_fewer_rows_than_columns(kind: Any) -> None:
    X, y = np.random.default_rng(2).normal(size=(5, 300)), np.arange(5)
    assert_separated(X, y)
    assert_valid_predictions(kind(20, oob_score=True).fit(X, y), X)


def test_memory_layout_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 8))
    y = (X[:, 2] * X[:, 4] > 0).astype(int)
    wide = np.empty((120, 16))
    wide[::2, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    views = [np.asfortranarray(X), wide[::2, ::2], X[::-1][::-1], frozen, X.astype(">f8")]
    model = RandomForestClassifier(3).fit(X, y)
    for view in [*views, X.tolist()]:
        other = RandomForestClassifier(3).fit(view, y)
        np.testing.assert_array_equal(other.forest_.nodes, model.forest_.nodes)
        np.testing.assert_array_equal(other.predict_proba(view), model.predict_proba(X))
    y.flags.writeable = False
    again = RandomForestClassifier(3).fit(X, y)
    np.testing.assert_array_equal(again.forest_.nodes, model.forest_.nodes)


# Predictions of new rows

DTYPES = ["int8", "int16", "int64", "uint8", "uint64", "float32", "float64"]


@pytest.mark.parametrize("fitted", DTYPES)
def test_predicted_rows_may_have_another_number_type(fitted: str) -> None:
    X = np.random.default_rng(5).integers(0, 100, size=(80, 2))
    y = (X[:, 0] > 40) ^ (X[:, 1] > 60)
    model = RandomForestClassifier(3, **WHOLE).fit(X.astype(fitted), y)
    for dtype in DTYPES:
        assert model.score(X.astype(dtype), y) == 1.0


def test_single_precision_is_compared_exactly() -> None:
    """Also by a forest of doubles."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 3))
    model = RandomForestClassifier(5).fit(X, X[:, 0] > X[:, 1])
    single = rng.normal(size=(300, 3)).astype(np.float32)
    np.testing.assert_array_equal(model.apply(single), model.apply(single.astype(np.float64)))
    other = RandomForestClassifier(5).fit(X.astype(np.float32), X[:, 0] > X[:, 1])
    np.testing.assert_array_equal(other.apply(single), other.apply(single.astype(np.float64)))


def test_floats_are_predicted_by_a_forest_of_integers() -> None:
    X, y = np.array([[1], [3], [5], [7]]), np.array([0, 0, 1, 1])
    odd = np.array([[3.9], [4.0], [4.1], [np.inf], [-np.inf], [1e300], [-1e300], [-0.5]])
    for dtype in (np.int64, np.uint64, np.int8):
        model = RandomForestClassifier(3, **WHOLE).fit(X.astype(dtype), y)
        assert model.predict(odd).tolist() == [0, 0, 1, 1, 0, 1, 0, 0]
        assert model.predict(np.array([[-5], [9]])).tolist() == [0, 1]
    signed = RandomForestClassifier(3, **WHOLE).fit(X, y)
    assert signed.predict(np.array([[2**64 - 1]], dtype=np.uint64)).tolist() == [1]


@MISSING
@KINDS
def test_unseen_categories_are_missing(kind: Any, missing: str) -> None:
    X = pd.DataFrame({"c": [*"aaabbc", None, None], "n": np.arange(8.0)})
    y = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    model = kind(9, missing=missing, max_features=1).fit(X, y)
    unseen, missing_rows = X.assign(c="never seen"), X.assign(c=pd.Series([None] * 8, dtype=object))
    np.testing.assert_array_equal(model.apply(unseen), model.apply(missing_rows))
    order = pd.Categorical(X["c"], categories=["z", *"cba"])
    np.testing.assert_array_equal(model.apply(X.assign(c=order)), model.apply(X))


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
def test_invalid_input_of_predict_is_rejected(kind: Any) -> None:
    X = pd.DataFrame({"a": np.arange(6.0), "b": [*"xyxyxz"]})
    model = kind(3).fit(X, [0, 0, 1, 1, 0, 1])
    for wrong, message in [
        (X.iloc[:0], "0 sample"),
        (X.rename(columns={"a": "q"}), "feature names"),
        (X[["b", "a"]], "same order"),
        (X[["a"]], "feature names|missing"),
        (X.assign(a=[*"uvwxyz"]), "'a' is numeric, but 'u' in row 0"),
        (X.assign(b=1.5), "text"),
    ]:
        for predict in (model.predict, model.apply):
            with pytest.raises(ValueError, match=message):
                predict(wrong)
    plain = kind(3).fit(np.eye(3), [0, 1, 2])
    for rows, message in [
        (np.ones((2, 4)), f"X has 4 features, but {kind.__name__} is expecting 3"),
        (np.ones((2, 0)), "0 feature"),
        (np.ones(3), "2D"),
        (np.empty((0, 3)), "0 sample"),
    ]:
        with pytest.raises(ValueError, match=message):
            plain.predict(rows)


@KINDS
def test_invalid_input_of_fit_is_rejected(kind: Any) -> None:
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    for rows, target, weight, message in [
        (np.empty((0, 2)), [], None, "0 sample"),
        (np.empty((4, 0)), y, None, "0 feature"),
        (X, y[:3], None, "inconsistent"),
        (X, None, None, "requires y"),
        (X, y, np.zeros(4), "sample_weight must have at least one positive entry"),
        (X, y, [1, 1, 1, -1], "sample_weight must be"),
        (X, y, [1, 1, np.nan, 1], "sample_weight must be"),
        (X, y, [1, 1, np.inf, 1], "sample_weight must be"),
        (X, y, np.ones(3), r"sample_weight\.shape"),
        (X, [0, 1, np.nan, 1], None, "NaN"),
        (X, np.ones((4, 2)), None, "1d array"),
        (X.astype(complex), y, None, "Complex"),
    ]:
        with pytest.raises(ValueError, match=message):
            kind(2).fit(rows, target, weight)
    with pytest.raises(ValueError, match="infinity"):
        RandomForestRegressor(2).fit(X, [0, 1, np.inf, 2])
    with pytest.raises(ValueError, match="continuous"):
        RandomForestClassifier(2).fit(X, np.linspace(0, 1, 4))


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
