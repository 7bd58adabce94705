"""Hazards: extreme values and shapes, missing values, categories, weights and targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor

pd = pytest.importorskip("pandas")

BINS = pytest.mark.parametrize("max_bins", [None, 64])
MISSING = pytest.mark.parametrize("missing", ["learned", "branch", "majority"])
RNG = np.random.default_rng(11)

# Small integers of alternating classes, so that all neighbors must be distinguished.
STEPS = np.arange(40)
CLASSES = STEPS % 2


def separated(X: Any, y: Any, **options: Any) -> None:
    """Assert that every row is predicted correctly: no two values may be confused."""
    model = DecisionTreeClassifier(**options).fit(X, y)
    assert model.score(X, y) == 1.0
    assert (model.tree_.n_rows > 0).all()
    number = DecisionTreeRegressor(**options).fit(X, y)
    np.testing.assert_array_equal(number.predict(X), y)


COLUMNS = {
    "scaled by 1e-30": STEPS * 1e-30,
    "scaled by 1e-300": STEPS * 1e-300,
    "subnormal": STEPS * 5e-324,
    "scaled by 1e200": STEPS * 1e200,
    "up to the largest": 1.7976931348623157e308 * (1 - STEPS * 2.0**-52),
    "both ends": np.where(CLASSES, 1.7e308, -1.7e308),
    "shifted by 1e9": 1e9 + STEPS * 1e-3,
    "one apart at 1e9": 1e9 + STEPS,
    "next floats": 1.0 + STEPS * 2.0**-52,
    "next floats below zero": -1.0 - STEPS * 2.0**-52,
    "int64 above 2^53": 2**53 + STEPS,
    "int64 at its top": 2**63 - 1 - STEPS,
    "int64 at its bottom": -(2**63) + STEPS,
    "int64 at both ends": np.where(CLASSES, 2**63 - 1, -(2**63)),
    "uint64 above 2^63": np.uint64(2**63) + STEPS.astype(np.uint64),
    "uint64 at its top": np.uint64(2**64 - 1) - STEPS.astype(np.uint64),
    "float32": (1 + STEPS * 2.0**-23).astype(np.float32),
    "float32 subnormal": (STEPS * 2.0**-149).astype(np.float32),
    "float32 at its top": (3.4028235e38 * (1 - STEPS * 2.0**-22)).astype(np.float32),
    "int8": (STEPS - 20).astype(np.int8),
    "nanoseconds": np.datetime64("2024-01-01", "ns") + STEPS,
    "days": np.datetime64("1969-12-20", "D") + STEPS,
    "durations": (STEPS - 20).astype("timedelta64[us]"),
    "infinities": np.where(CLASSES, np.inf, -np.inf),
}


@BINS
@pytest.mark.parametrize("name", COLUMNS)
def test_distinct_values_of_every_dtype_are_separated(name: str, max_bins: int | None) -> None:
    column = COLUMNS[name]
    assert all(set(CLASSES[column == value]) in ({0}, {1}) for value in np.unique(column))
    separated(column[:, None], CLASSES, max_bins=max_bins)
    mixed = pd.DataFrame({"x": column, "word": np.where(STEPS < 20, "a", "b")})
    separated(mixed, CLASSES, max_bins=max_bins)


@BINS
@MISSING
def test_infinity_is_the_largest_value_and_not_missing(missing: str, max_bins: int | None) -> None:
    X = np.array([-np.inf, -np.inf, 0.0, 1.0, np.inf, np.inf])[:, None]
    for y in ([0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]):
        separated(X, np.array(y), missing=missing, max_bins=max_bins)
    if missing != "majority":
        with_missing = np.vstack([X, [[np.nan]], [[np.nan]]])
        separated(
            with_missing, np.array([0, 0, 1, 1, 0, 0, 2, 2]), missing=missing, max_bins=max_bins
        )


@MISSING
@pytest.mark.parametrize("dtype", ["Int64", "UInt64", "datetime64[ns]", "float64", "str", "size"])
def test_missing_values_of_every_dtype(dtype: str, missing: str) -> None:
    values: Any = pd.Series(np.arange(12) % 4 + (2**60 if "Int" in dtype else 0))
    if dtype == "size":
        values = pd.Series(pd.Categorical.from_codes(values, [*"SMLX"], ordered=True))
    else:
        values = values.astype(dtype)
    y = np.array([0, 1, 0, 1] * 3)
    y[[2, 6]] = 5
    X = pd.DataFrame({"x": values.mask(y == 5)})
    assert X["x"].isna().sum() == 2
    model = DecisionTreeClassifier(missing=missing).fit(X, y)
    known = y != 5
    assert (model.predict(X[known]) == y[known]).all()
    if missing != "majority":
        assert model.score(X, y) == 1.0
    if missing == "branch":
        assert 5 in model.predict(X[~known])


# Shapes


def test_equal_rows_give_a_single_leaf() -> None:
    model = DecisionTreeClassifier().fit(np.ones((6, 3)), [0, 1, 1, 1, 0, 2])
    assert model.tree_.reasons == ["no_split"]
    np.testing.assert_array_equal(model.predict_proba([[1.0, 1, 1]]), [[2 / 6, 3 / 6, 1 / 6]])
    number = DecisionTreeRegressor().fit(np.ones((4, 1)), [1.0, 2.0, 3.0, 6.0])
    assert number.predict([[9.0]]) == [3.0]


@BINS
def test_single_row_of_a_single_class(max_bins: int | None) -> None:
    model = DecisionTreeClassifier(max_bins=max_bins).fit([[1.0, 2.0]], ["only"])
    assert model.predict([[5.0, 5.0]]).tolist() == ["only"]
    assert model.predict_proba([[5.0, 5.0]]).tolist() == [[1.0]]
    assert model.tree_.reasons == ["pure"]
    assert model.decision_path([[0.0, 0.0]]).toarray().tolist() == [[1]]
    assert (model.feature_importances_ == 0).all()
    assert DecisionTreeRegressor(max_bins=max_bins).fit([[1.0]], [7.5]).predict([[0.0]]) == [7.5]


def test_fewer_rows_than_columns() -> None:
    X, y = RNG.normal(size=(5, 300)), np.arange(5)
    separated(X, y)
    separated(X, y, max_bins=3)


@BINS
@MISSING
def test_column_of_missing_values_only(missing: str, max_bins: int | None) -> None:
    empty = np.full((6, 1), np.nan)
    y = np.array([0, 0, 1, 1, 1, 0])
    model = DecisionTreeClassifier(missing=missing, max_bins=max_bins).fit(empty, y)
    assert model.tree_.reasons == ["no_split"]
    assert np.isfinite(model.predict_proba([[3.0], [np.nan]])).all()
    separated(np.column_stack([empty, STEPS[:6]]), y, missing=missing, max_bins=max_bins)
    frame = pd.DataFrame({"x": pd.Series([None] * 6, dtype="str"), "n": STEPS[:6]})
    separated(frame, y, missing=missing, max_bins=max_bins)


def test_memory_layout_does_not_change_the_tree() -> None:
    X = RNG.normal(size=(60, 8))
    y = (X[:, 2] * X[:, 4] > 0).astype(int)
    wide = np.empty((120, 16))
    wide[::2, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    views = [
        np.asfortranarray(X),
        wide[::2, ::2],
        X[::-1][::-1],
        frozen,
        X.astype(">f8"),
        X.tolist(),
    ]
    model = DecisionTreeClassifier().fit(X, y)
    for view in views:
        other = DecisionTreeClassifier().fit(view, y)
        np.testing.assert_array_equal(other.tree_.nodes, model.tree_.nodes)
        np.testing.assert_array_equal(other.apply(view), model.apply(X))
    y.flags.writeable = False
    np.testing.assert_array_equal(DecisionTreeClassifier().fit(X, y).apply(X), model.apply(X))


# Prediction on rows of other types


DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64"]


@pytest.mark.parametrize("fitted", DTYPES)
def test_rows_of_another_dtype_are_predicted_alike(fitted: str) -> None:
    X = RNG.integers(0, 100, size=(80, 2))
    y = (X[:, 0] > 40) ^ (X[:, 1] > 60)
    model = DecisionTreeClassifier().fit(X.astype(fitted), y)
    for dtype in DTYPES:
        assert model.score(X.astype(dtype), y) == 1.0


def test_floats_and_out_of_range_values_after_fit_on_integers() -> None:
    X, y = np.array([[1], [3], [5], [7]]), np.array([0, 0, 1, 1])
    odd = np.array([[3.9], [4.0], [4.1], [np.inf], [-np.inf], [1e300], [-1e300], [-0.5]])
    expected = [0, 0, 1, 1, 0, 1, 0, 0]
    for dtype in (np.int64, np.uint64, np.int8):
        model = DecisionTreeClassifier().fit(X.astype(dtype), y)
        assert model.tree_.threshold[0] == 4
        assert model.predict(odd).tolist() == expected
        assert model.predict(np.array([[-5], [9]])).tolist() == [0, 1]
    unsigned = DecisionTreeClassifier().fit(X.astype(np.uint64) + np.uint64(2**63), y)
    assert unsigned.predict(np.array([[-1], [5], [2**63 - 1]])).tolist() == [0, 0, 0]
    signed = DecisionTreeClassifier().fit(X, y)
    assert signed.predict(np.array([[2**64 - 1]], dtype=np.uint64)).tolist() == [1]


@MISSING
def test_unseen_categories_are_missing(missing: str) -> None:
    X = pd.DataFrame({"c": [*"aaabbc", None, None], "n": np.arange(8.0)})
    y = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    for splits in ("binary", "multiway"):
        model = DecisionTreeClassifier(missing=missing, splits=splits).fit(X, y)
        unseen = X.assign(c="never seen")
        missing_rows = X.assign(c=pd.Series([None] * 8, dtype=object))
        np.testing.assert_array_equal(model.apply(unseen), model.apply(missing_rows))
        order = pd.Categorical(X["c"], categories=["z", *"cba"])
        np.testing.assert_array_equal(model.apply(X.assign(c=order)), model.apply(X))


def test_bad_input_of_predict_raises() -> None:
    X = pd.DataFrame({"a": np.arange(6.0), "b": [*"xyxyxz"]})
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1, 0, 1])
    for wrong, message in [
        (X.iloc[:0], "0 sample"),
        (X.rename(columns={"a": "q"}), "feature names"),
        (X[["b", "a"]], "same order"),
        (X[["a"]], "feature names|missing"),
        (X.assign(a=[*"uvwxyz"]), "'a' is numeric, but 'u' in row 0"),
        (X.assign(b=1.5), "text categories"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.predict(wrong)
    plain = DecisionTreeClassifier().fit(np.eye(3), [0, 1, 2])
    for rows, message in [
        (np.ones((2, 4)), "X has 4 features, but DecisionTreeClassifier is expecting 3"),
        (np.ones(3), "2D"),
        (np.empty((0, 3)), "0 sample"),
    ]:
        with pytest.raises(ValueError, match=message):
            plain.predict_proba(rows)


def test_bad_input_of_fit_raises() -> None:
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    for rows, target, weight, message in [
        (np.empty((0, 2)), [], None, "0 sample"),
        (np.empty((4, 0)), y, None, "0 feature"),
        (X, y[:3], None, "inconsistent"),
        (X, y, np.zeros(4), "at least one positive entry"),
        (X, y, [1, 1, 1, -1], "sample_weight must be zero or in"),
        (X, y, [1, 1, np.nan, 1], "sample_weight must be zero or in"),
        (X, y, np.ones(3), "sample_weight.shape"),
        (X, [0, 1, np.nan, 1], None, "NaN"),
        (X, np.linspace(0, 1, 4), None, "continuous"),
        (X, np.ones((4, 2)), None, "1d array"),
        (X.astype(complex), y, None, "Complex"),
    ]:
        with pytest.raises(ValueError, match=message):
            DecisionTreeClassifier().fit(rows, target, weight)
    with pytest.raises(ValueError, match="infinity"):
        DecisionTreeRegressor().fit(X, [0, 1, np.inf, 2])
    with pytest.raises(ValueError, match="65,535"):
        DecisionTreeClassifier().fit(np.ones((65_536, 1)), np.arange(65_536))


# Many categories, values, classes


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_70_000_categories(splits: str) -> None:
    code = RNG.permutation(70_000)
    y = RNG.integers(2, size=70_000)[code]
    categories = [f"v{k:05}" for k in range(70_000)]
    X = pd.DataFrame({"c": pd.Categorical.from_codes(code, categories), "n": np.zeros(70_000)})
    with pytest.warns(UserWarning, match="identifier"):
        model = DecisionTreeClassifier(splits=splits, max_depth=1).fit(X, y)
    assert model.score(X, y) == 1.0
    assert (model.tree_.n_rows > 0).all()
    assert model.tree_.n_leaves == (2 if splits == "binary" else 70_000)


@MISSING
def test_more_values_than_uint16_holds(missing: str) -> None:
    X = RNG.permutation(80_000).astype(float)[:, None]
    y = (X[:, 0] // 7_000 % 2).astype(int)
    X[::9], y[::9] = np.nan, 2
    for max_bins in (None, 65_535):
        model = DecisionTreeClassifier(missing=missing, max_bins=max_bins).fit(X, y)
        assert model.score(X, y) > 0.999 if missing != "majority" else model.score(X, y) > 0.88


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio", "error"])
def test_300_classes(criterion: str) -> None:
    y = np.repeat(np.arange(300), 3)
    X = np.column_stack([y // 20, y % 20])
    model = DecisionTreeClassifier(criterion=criterion).fit(X, y)
    assert model.score(X, y) == 1.0
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


# Weights and targets


# Powers of two, near 1e-50 to 1e50, so that tied gains stay tied.
@pytest.mark.parametrize("weight", [2.0**-166, 2.0**-40, 2.0**-10, 4.0, 2.0**166])
def test_common_weight_factor_does_not_change_the_tree(weight: float) -> None:
    X = RNG.normal(size=(80, 3))
    score = X[:, 0] + X[:, 1] ** 2
    for model, y in [
        (DecisionTreeClassifier(), (score > 1).astype(int)),
        (DecisionTreeClassifier(criterion="error"), (score > 1).astype(int)),
        (DecisionTreeRegressor(), score),
        (DecisionTreeRegressor(criterion="absolute_error"), score),
    ]:
        model.set_params(max_depth=3)
        plain = model.fit(X, y).apply(X)
        gain, impurity = model.tree_.gain, model.tree_.impurity
        np.testing.assert_array_equal(model.fit(X, y, np.full(80, weight)).apply(X), plain)
        np.testing.assert_allclose(model.tree_.gain, gain, rtol=1e-6)
        np.testing.assert_allclose(model.tree_.impurity, impurity, rtol=1e-6, atol=1e-12)


def test_weights_of_very_different_size() -> None:
    w = 10.0 ** np.linspace(-50, 50, 40)
    X = STEPS[:, None]
    model = DecisionTreeClassifier().fit(X, CLASSES, w)
    assert model.score(X, CLASSES) == 1.0
    assert np.isfinite(model.predict_proba(X)).all()
    number = DecisionTreeRegressor().fit(X, CLASSES * 3.0, w)
    np.testing.assert_array_equal(number.predict(X), CLASSES * 3.0)


@pytest.mark.parametrize("scale", [1e-149, 1e-100, 1e-9, 1e9, 1e100, 1e149])
@pytest.mark.parametrize("weight", [None, 1e-50, 0.1, 1e50])
def test_target_scale_does_not_change_the_tree(scale: float, weight: float | None) -> None:
    X = RNG.normal(size=(60, 2))
    y = X[:, 0] + X[:, 1] ** 2
    w = None if weight is None else np.full(60, weight)
    model = DecisionTreeRegressor(max_depth=3)
    plain = model.fit(X, y).predict(X)
    np.testing.assert_allclose(model.fit(X, y * scale, w).predict(X) / scale, plain, rtol=1e-9)


def test_extreme_targets_are_predicted_exactly() -> None:
    X = STEPS[:, None]
    for value in (0.0, 3.3, 1.7e308, -1.7e308, 5e-324):
        model = DecisionTreeRegressor().fit(X, np.full(40, value))
        assert model.tree_.reasons == ["pure"]
        assert (model.predict(X) == value).all()
    shifted = 1e15 + STEPS
    np.testing.assert_array_equal(DecisionTreeRegressor().fit(X, shifted).predict(X), shifted)
    outlier = np.append(STEPS[:39] * 1e-9, 1e12)
    np.testing.assert_array_equal(DecisionTreeRegressor().fit(X, outlier).predict(X), outlier)


@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e-151, 1e151, 1e300])
def test_targets_with_overflowing_squares_raise(scale: float) -> None:
    X, y = STEPS[:, None], CLASSES * scale
    with pytest.raises(ValueError, match=r"rescale y, or use criterion='absolute_error'"):
        DecisionTreeRegressor().fit(X, y - y[::-1])
    model = DecisionTreeRegressor(criterion="absolute_error").fit(X, y - y[::-1])
    np.testing.assert_array_equal(model.predict(X), y - y[::-1])
    assert np.isfinite(model.tree_.impurity).all()


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_targets_with_overflowing_sums_raise(criterion: str) -> None:
    with pytest.raises(ValueError, match="not representable: rescale y"):
        DecisionTreeRegressor(criterion=criterion).fit(STEPS[:, None], CLASSES * 1.7e308)


@pytest.mark.parametrize("outlier", [1e4, 1e8, 1e12])
def test_outlier_does_not_spoil_other_predictions(outlier: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, 3))
    y = 3 * np.sin(2 * X[:, 0]) + X[:, 1]
    y[0] = outlier
    model = DecisionTreeRegressor(max_depth=8).fit(X, y)
    assert model.score(X[1:], y[1:]) > 0.95


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_target_offset_does_not_change_the_splits(criterion: str) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 3)), rng.integers(50, size=300).astype(float)
    near = DecisionTreeRegressor(criterion=criterion, max_depth=5).fit(X, y)
    far = DecisionTreeRegressor(criterion=criterion, max_depth=5).fit(X, y + 2.0**50)
    np.testing.assert_array_equal(far.tree_.column, near.tree_.column)
    np.testing.assert_allclose(far.tree_.impurity, near.tree_.impurity, rtol=1e-9)


def test_weighted_means_with_weights_of_many_orders() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.integers(8, size=(5_000, 2)).astype(float), rng.normal(size=5_000) + 999
    w = 10.0 ** -rng.integers(12, size=5_000)
    model = DecisionTreeRegressor(max_depth=4).fit(X, y, w)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        mean = np.average(y[rows], weights=w[rows])
        assert model.tree_.value[leaf, 0] == pytest.approx(mean, rel=1e-6)
