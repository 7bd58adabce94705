"""Extreme targets: many classes, unusual labels, weights and numbers."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, RandomForestClassifier, RandomForestRegressor
from tests.ensemble.forest.parts import assert_valid_predictions
from tests.oracles.forest_leaf import encode

KINDS = pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
# Every tree uses every row.
WHOLE: dict[str, Any] = {"bootstrap": False, "n_jobs": 1}
STEPS = np.arange(40)
CLASSES = STEPS % 2


# Classes


@pytest.mark.parametrize("n_classes", [2, 3, 33, 64, 65, 70, 300])
def test_many_classes_match_decision_tree(n_classes: int) -> None:
    """Class weights are stored in 64 bits of a leaf, or in bytes beside it."""
    rng = np.random.default_rng(n_classes)
    n = 3 * n_classes + 200
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, 3))
    options = {"max_depth": 3, "bootstrap": False, "max_features": None}
    model = RandomForestClassifier(2, **options).fit(X, y)
    alone = DecisionTreeClassifier(max_depth=3).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=1e-12)
    listed = len(model.forest_.leaves)
    assert listed > 0 if n_classes > 30 else listed == 0
    for deep in (
        RandomForestClassifier(20, oob_score=True, leaf_probability="laplace"),
        RandomForestClassifier(4, class_weight="balanced_subsample", min_samples_leaf=5),
    ):
        assert_valid_predictions(deep.set_params(random_state=1).fit(X, y), X)
    full = RandomForestClassifier(4, **WHOLE).fit(X, y)
    assert full.score(X, y) == 1.0
    assert len(full.forest_.leaves) == 0


def test_too_many_classes_are_rejected() -> None:
    X = np.ones((65_536, 1))
    with pytest.raises(ValueError, match="65,535"):
        RandomForestClassifier(1).fit(X, np.arange(65_536))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_class_weights_at_the_size_limit_of_a_leaf(n_classes: int) -> None:
    """Equal weights that double: 64 bits hold them, or more bytes."""
    X, y = np.zeros((n_classes, 1)), np.arange(n_classes)
    listed = []
    for power in range(49):
        weight = np.full(n_classes, 2.0**power - (power > 0))
        model = RandomForestClassifier(1, bootstrap=False).fit(X, y, weight)
        code = encode([int(w) for w in weight])
        assert len(model.forest_.leaves) == (len(code[64:]) + 7) // 8
        np.testing.assert_array_equal(model.predict_proba(X[:1])[0], weight / weight.sum())
        np.testing.assert_array_equal(model.tree(0).node_values[0], weight)
        listed.append(len(code) > 64)
    assert listed == sorted(listed)
    assert set(listed) == {False, True}


NAMES: dict[str, Any] = {
    "text": np.array(["ä", "b", "zebra"]),
    "objects": np.array(["a", "bb", "c"], dtype=object),
    "truth": np.array([False, True]),
    "negative": np.array([-5, 0, 7]),
    "large": np.array([2**62, 2**62 + 1, 2**62 + 2]),
    "bytes": np.array([200, 3, 255], dtype=np.uint8),
    "whole floats": np.array([0.0, 1.0, -2.0]),
}


@pytest.mark.parametrize("name", NAMES)
def test_class_labels_are_kept(name: str) -> None:
    labels = NAMES[name]
    rng = np.random.default_rng(7)
    code = rng.integers(len(labels), size=120)
    X = code[:, None] + rng.normal(size=(120, 2)) / 9
    y = labels[code]
    model = RandomForestClassifier(20, oob_score=True).fit(X, y)
    assert model.classes_.tolist() == sorted(labels.tolist())
    assert model.classes_.dtype == y.dtype
    predicted = model.predict(X)
    assert predicted.dtype == y.dtype
    np.testing.assert_array_equal(predicted, y)
    assert model.oob_score_ > 0.9
    weights = dict.fromkeys(labels.tolist(), 2.0)
    again = RandomForestClassifier(20, class_weight=weights).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


# Weights and targets


@KINDS
@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("weight", [2.0**-150, 2.0**-40, 0.25, 2.0**40])
def test_scaled_weights_give_the_same_forest(kind: Any, bootstrap: bool, weight: float) -> None:
    """Integer weights with bootstrap are an exception: they count as repeated rows."""
    rng = np.random.default_rng(8)
    X, own = rng.normal(size=(80, 3)), rng.random(80) + 0.1
    score = X[:, 0] + X[:, 1] ** 2
    y = score > 1 if kind is RandomForestClassifier else score
    plain = kind(4, max_depth=3, bootstrap=bootstrap).fit(X, y, own)
    model = kind(4, max_depth=3, bootstrap=bootstrap).fit(X, y, own * weight)
    np.testing.assert_array_equal(model.apply(X), plain.apply(X))
    np.testing.assert_allclose(model._predict(X), plain._predict(X), rtol=1e-9)


@KINDS
def test_weights_above_integer_precision(kind: Any) -> None:
    """Such weights are not counts of rows; without draws they are used as weights."""
    rng = np.random.default_rng(8)
    X, own = rng.normal(size=(80, 3)), rng.random(80) + 0.1
    score = X[:, 0] + X[:, 1] ** 2
    y = score > 1 if kind is RandomForestClassifier else score
    plain = kind(2, max_depth=3, bootstrap=False).fit(X, y, own)
    model = kind(2, max_depth=3, bootstrap=False).fit(X, y, own * 2.0**150)
    np.testing.assert_allclose(model._predict(X), plain._predict(X), rtol=1e-9)


@KINDS
@pytest.mark.parametrize("bootstrap", [True, False])
def test_weights_of_very_different_sizes(kind: Any, bootstrap: bool) -> None:
    weight = 10.0 ** np.linspace(-50, 50, 40)
    model = kind(5, bootstrap=bootstrap).fit(STEPS[:, None], CLASSES, weight)
    assert_valid_predictions(model, STEPS[:, None])
    if bootstrap:
        # Only the heaviest rows are drawn.
        assert model.predict([[39]]) == [1]
    elif kind is RandomForestClassifier:
        assert model.score(STEPS[:, None], CLASSES) == 1.0


@KINDS
def test_large_integer_weights(kind: Any) -> None:
    """More than 32 bits hold, without draws."""
    weight = np.where(CLASSES, 2.0**40, 3.0)
    model = kind(2, bootstrap=False, max_depth=1).fit(STEPS[:, None], CLASSES, weight)
    assert_valid_predictions(model, STEPS[:, None])
    assert (model._predict(STEPS[:, None]).reshape(40, -1)[:, -1] > 0.99).any()
    drawn = kind(2, max_samples=100).fit(STEPS[:, None], CLASSES, weight)
    assert (drawn.predict(STEPS[:, None]) == 1).all()


@KINDS
@pytest.mark.parametrize("bins", [None, 16])
def test_equal_large_weights_give_the_same_forest(kind: Any, bins: int | None) -> None:
    """Their sum exceeds 32 bits, which selects other paths for large and small nodes."""
    X = np.random.default_rng(10).normal(size=(2_000, 4))
    y = X[:, 0] + X[:, 1] ** 2
    y = np.rint(y) if kind is RandomForestClassifier else y
    options = {"bootstrap": False, "max_features": 2, "max_bins": bins}
    plain = kind(3, **options).fit(X, y, np.ones(2_000))
    heavy = kind(3, **options).fit(X, y, np.full(2_000, 2.0**24))
    np.testing.assert_allclose(heavy._predict(X), plain._predict(X), atol=1e-6)
    np.testing.assert_array_equal(heavy.forest_.tree_offsets, plain.forest_.tree_offsets)


@KINDS
def test_row_with_very_many_draws(kind: Any) -> None:
    """More draws of a row than 16 bits hold."""
    weight = np.ones(40)
    weight[7] = 200_000
    model = kind(2, max_depth=2, max_samples=1.0).fit(STEPS[:, None], CLASSES, weight)
    assert model.tree(0).weight[0] == 200_039
    assert model.predict([[7]]) == pytest.approx(1, abs=1e-3)
    for columns in (1, None):
        many = kind(1, max_samples=300_000, max_features=columns).fit(STEPS[:, None], CLASSES)
        np.testing.assert_array_equal(many.predict(STEPS[:, None]), CLASSES)
        assert many.tree(0).weight[0] == 300_000


MANY_DRAWS = """
import numpy as np
from ceiba import RandomForestClassifier
for max_samples, weight in ((1.0, 1e12), (0.5, 1e49), (2**31, 1.0)):
    try:
        model = RandomForestClassifier(1, max_samples=max_samples)
        model.fit(np.eye(100), np.arange(100), np.full(100, weight))
    except ValueError as error:
        print(error)
"""


def test_excessive_number_of_draws_is_rejected() -> None:
    """A fraction of the total weight may stand for 10^14 draws, which would take weeks."""
    run = subprocess.run(
        [sys.executable, "-c", MANY_DRAWS], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.count("must stand for at most 10,000,000 draws") == 3


@pytest.mark.parametrize("scale", [1e-149, 1e-100, 1e-9, 1e9, 1e100, 1e149])
@pytest.mark.parametrize("columns", [1, 1.0])
def test_scaled_targets_give_the_same_forest(scale: float, columns: Any) -> None:
    X = np.random.default_rng(9).normal(size=(60, 2))
    y = X[:, 0] + X[:, 1] ** 2
    options = {"max_depth": 3, "max_features": columns, "oob_score": True, "importance": True}
    plain = RandomForestRegressor(20, **options).fit(X, y)
    model = RandomForestRegressor(20, **options).fit(X, y * scale)
    np.testing.assert_allclose(model.predict(X) / scale, plain.predict(X), rtol=1e-9)
    assert model.oob_score_ == pytest.approx(plain.oob_score_, rel=1e-6)
    assert model.tree(0).n_nodes == plain.tree(0).n_nodes
    np.testing.assert_allclose(model.feature_importances_, plain.feature_importances_, rtol=1e-6)


def test_extreme_targets() -> None:
    X = STEPS[:, None]
    for value in (1.7e308, -1.7e308):
        with pytest.raises(ValueError, match=r"predictions of 3 trees can be summed.*rescale y"):
            RandomForestRegressor(3).fit(X, np.full(40, value))
    for value in (0.0, 3.3, 1e307, 5e-324):
        model = RandomForestRegressor(3).fit(X, np.full(40, value))
        assert model.forest_.n_nodes == 3
        np.testing.assert_allclose(model.predict(X), value, rtol=1e-15)
    shifted = 1e15 + STEPS
    model = RandomForestRegressor(3, **WHOLE).fit(X, shifted)
    np.testing.assert_allclose(model.predict(X), shifted, rtol=1e-15)
    outlier = np.append(STEPS[:39] * 1e-9, 1e12)
    one = RandomForestRegressor(1, **WHOLE).fit(X, outlier)
    np.testing.assert_array_equal(one.predict(X), outlier)


@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e200])
def test_targets_whose_squares_overflow_or_underflow(scale: float) -> None:
    X, y = STEPS[:, None], CLASSES * scale
    with pytest.raises(ValueError, match=r"rescale y, or use criterion='absolute_error'"):
        RandomForestRegressor(2).fit(X, y - y[::-1])
    model = RandomForestRegressor(3, criterion="absolute_error", **WHOLE).fit(X, y - y[::-1])
    np.testing.assert_allclose(model.predict(X), y - y[::-1], rtol=1e-12)
    np.testing.assert_array_equal(model.tree(0).node_values[model.apply(X)[:, 0], 0], y - y[::-1])


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_targets_whose_sums_overflow(criterion: str) -> None:
    with pytest.raises(ValueError, match="rescale y"):
        RandomForestRegressor(2, criterion=criterion).fit(STEPS[:, None], CLASSES * 1.7e308)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("columns", [1, 1.0])
def test_count_targets(criterion: str, columns: Any) -> None:
    rng = np.random.default_rng(10)
    X = rng.normal(size=(200, 3))
    y = rng.poisson(np.exp(X[:, 0]))
    model = RandomForestRegressor(
        30, criterion=criterion, max_features=columns, min_samples_leaf=5, oob_score=True
    ).fit(X, y)
    assert_valid_predictions(model, X)
    assert (model.predict(X) >= 0).all()
    assert model.oob_score_ > 0.1
