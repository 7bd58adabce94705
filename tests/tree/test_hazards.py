"""Hazards of trees: unusual shapes, many categories, extreme weights and targets.

Those of trees and forests alike are in tests/contracts/test_tree_hazards.py.
"""

from __future__ import annotations

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


def test_too_many_classes_raise() -> None:
    with pytest.raises(ValueError, match="65,535"):
        DecisionTreeClassifier().fit(np.ones((65_536, 1)), np.arange(65_536))


# Many categories, values, classes


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_70_000_categories(splits: str) -> None:
    code = RNG.permutation(70_000)
    y = RNG.integers(2, size=70_000)[code]
    categories = [f"v{k:05}" for k in range(70_000)]
    X = pd.DataFrame({"c": pd.Categorical.from_codes(code, categories), "n": np.zeros(70_000)})
    # The kind is declared, so that the column is used although it is an identifier.
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
        assert model.tree_.node_values[leaf, 0] == pytest.approx(mean, rel=1e-6)
