"""Scores of trees from partitions equal those of scikit-learn on the whole table."""

from __future__ import annotations

import math
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, r2_score

import ceiba
from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.engine import choose_engine
from ceiba.engine.contract import Batch
from ceiba.stats import Accuracy, ToLabeledRows
from ceiba.tree.scoring import R2Score, score
from tests.budget import examples
from tests.tree.parts import in_parts

WORDS = np.array(["ash", "birch", "cedar"])


def columns(n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def words(X: Any, seed: int) -> Any:
    noise = np.random.default_rng(seed).normal(size=len(X))
    return WORDS[np.digitize(np.nan_to_num(X[:, 0]) + 0.5 * noise, [-0.5, 0.5])]


def heights(X: Any, seed: int) -> Any:
    noise = np.random.default_rng(seed).normal(size=len(X))
    return 1e6 + np.nan_to_num(X[:, 0]) * 3 + noise


def weights(n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return rng.exponential(size=n) * (rng.random(n) > 0.2)


X_TRAIN = columns(200, 0)
CLASSIFIER = DecisionTreeClassifier(max_depth=3, n_jobs=1).fit(X_TRAIN, words(X_TRAIN, 1))
REGRESSOR = DecisionTreeRegressor(max_depth=3, n_jobs=1).fit(X_TRAIN, heights(X_TRAIN, 1))


def statistic(model: Any, X: Any, y: Any, weight: Any = None) -> Any:
    batch = Batch(ToLabeledRows(model._task)(Chunk(Table.of(X), y, weight)))
    if model._task == "regression":
        return R2Score.of(batch, model.tree_)
    return Accuracy.of(batch, model.classes_, model.tree_.predict_class)


def merge_parts(model: Any, X: Any, y: Any, weight: Any, bounds: list[int]) -> Any:
    """Merge the statistics of the parts between some bounds."""
    ends = [0, *sorted(bounds), len(X)]
    parts = [slice(begin, end) for begin, end in pairwise(ends) if begin < end]
    found = [statistic(model, X[p], y[p], None if weight is None else weight[p]) for p in parts]
    return reduce(lambda one, other: one.merge(other), found)


def numbers(found: Any) -> list[float]:
    return [float(getattr(found, name)) for name in found.__dataclass_fields__]


@examples(40)
@given(
    seed=st.integers(0, 10**6),
    bounds=st.lists(st.integers(0, 60), max_size=5),
    weighted=st.booleans(),
)
def test_merged_score_equals_sklearn(seed: int, bounds: list[int], weighted: bool) -> None:
    X = columns(60, seed)
    weight = weights(60, seed) if weighted else None
    for model, y in ((CLASSIFIER, words(X, seed)), (REGRESSOR, heights(X, seed))):
        whole = statistic(model, X, y, weight)
        found = merge_parts(model, X, y, weight, bounds)
        np.testing.assert_allclose(numbers(found), numbers(whole), rtol=1e-9)
        given_weight = np.ones(60) if weight is None else weight
        measure = r2_score if model is REGRESSOR else accuracy_score
        expected = measure(y, model.predict(X), sample_weight=given_weight)
        assert found.score == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_merge_is_associative() -> None:
    X = columns(90, 3)
    for model, y in ((CLASSIFIER, words(X, 3)), (REGRESSOR, heights(X, 3))):
        a, b, c = (statistic(model, X[k::3], y[k::3], weights(30, k)) for k in range(3))
        left, right = a.merge(b).merge(c), a.merge(b.merge(c))
        np.testing.assert_allclose(numbers(left), numbers(right), rtol=1e-9)


def test_part_of_zero_weight_is_neutral() -> None:
    X = columns(20, 4)
    for model, y in ((CLASSIFIER, words(X, 4)), (REGRESSOR, heights(X, 4))):
        empty, some = statistic(model, X, y, np.zeros(20)), statistic(model, X, y)
        assert empty.merge(some) == some == some.merge(empty)
        with pytest.raises(ValueError, match="sample_weight must have at least one positive entry"):
            _ = empty.score


# Accuracy


def test_row_counts_are_exact() -> None:
    X = columns(77, 5)
    y = words(X, 5)
    found = merge_parts(CLASSIFIER, X, y, None, [10, 11, 50])
    assert found == Accuracy(77.0, float((CLASSIFIER.predict(X) == y).sum()))
    assert found.score == accuracy_score(y, CLASSIFIER.predict(X))


def test_perfect_predictions_score_one() -> None:
    X = columns(50, 6)
    y = CLASSIFIER.predict(X)
    assert merge_parts(CLASSIFIER, X, y, weights(50, 6), [7, 20]).score == 1.0


def test_unknown_class_counts_as_wrong() -> None:
    X = columns(40, 7)
    y = CLASSIFIER.predict(X).astype(object)
    y[:10] = "aspen"  # sorts between two known classes
    assert statistic(CLASSIFIER, X, y).score == 0.75
    assert statistic(CLASSIFIER, X[:10], y[:10]).score == 0.0


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, np.float64])
def test_classes_are_compared_by_label(dtype: Any) -> None:
    X = np.arange(6.0)[:, None]
    model = DecisionTreeClassifier().fit(X, [2, 2, 5, 5, 9, 9])
    assert statistic(model, X, np.array([5, 2, 5, 5, 9, 3], dtype)).score == pytest.approx(4 / 6)


def test_large_integers_are_compared_exactly() -> None:
    X = np.arange(2.0)[:, None]
    model = DecisionTreeClassifier().fit(X, np.array([2**53, 2**53 + 1]))
    assert statistic(model, X, np.array([2.0**53, 2.0**53])).score == 0.5


def test_text_labels_for_integer_classes_raise() -> None:
    X = np.arange(4.0)[:, None]
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="y must have the type of the classes"):
        statistic(model, X, np.array(["0", "0", "1", "1"]))


# R²


@pytest.mark.parametrize("bounds", [[], [1], [2, 5]])
def test_constant_target_scores_one_or_zero(bounds: list[int]) -> None:
    """The rounding error of the mean, as of 0.1, must not count as variance."""
    X, y = np.arange(7.0)[:, None], np.full(7, 0.1)
    same, other = (DecisionTreeRegressor().fit(X, value) for value in (y, np.arange(7.0)))
    weight = weights(7, 1) + 0.1
    assert merge_parts(same, X, y, weight, bounds).score == 1.0
    assert merge_parts(other, X, y, weight, bounds).score == 0.0


def test_large_mean_does_not_lose_digits() -> None:
    X = columns(300, 8)
    y = heights(X, 8)
    model = DecisionTreeRegressor(max_depth=4).fit(X, y)
    far = DecisionTreeRegressor(max_depth=4).fit(X, y + 2**32)
    near = merge_parts(model, X, y, None, [100, 200]).score
    assert merge_parts(far, X, y + 2**32, None, [100, 200]).score == pytest.approx(near, abs=1e-5)


def test_single_row_scores_nan_with_warning() -> None:
    single = statistic(REGRESSOR, X_TRAIN[:1], np.array([1e6]))
    with pytest.warns(UndefinedMetricWarning, match="less than two rows"):
        assert math.isnan(single.score)
    assert not math.isnan(single.merge(single).score)


def test_overflowing_squares_raise() -> None:
    X, y = np.arange(4.0)[:, None], np.array([-1e200, 0.0, 1.0, 1e200])
    with pytest.raises(ValueError, match="overflow"):
        _ = merge_parts(REGRESSOR, np.tile(X, 3), y, None, [2]).score


# Engines


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", [CLASSIFIER, REGRESSOR], ids=["classifier", "regressor"])
def test_partitions_score_like_the_whole(model: Any, weighted: bool) -> None:
    X = columns(120, 9)
    y = (words if model is CLASSIFIER else heights)(X, 9)
    weight = weights(120, 9) if weighted else None
    source = in_parts(X, y, weight, [1, 40, 41, 90])
    engine, parts = choose_engine(source, supervised=True, schema=model.schema_)
    assert not engine.in_memory
    assert score(model, model.tree_, engine, parts) == pytest.approx(
        model.score(X, y, weight), rel=1e-9
    )


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("model", [CLASSIFIER, REGRESSOR], ids=["classifier", "regressor"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_score_like_the_whole(
    model: Any, weight: str | None, form: str, tmp_path: Path
) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X = columns(150, 10)
    table = pd.DataFrame(X, columns=list("abc"))
    y = (words if model is CLASSIFIER else heights)(X, 10)
    w = weights(150, 10) if weight else None
    fitted = type(model)(max_depth=3).fit(table, y)
    expected = fitted.score(table, y, w)
    table["y"] = y
    if weight:
        table["w"] = w
    paths = [tmp_path / f"{k}.{form}" for k in range(3)]
    for k, path in enumerate(paths):
        part = table.iloc[50 * k : 50 * (k + 1)]
        getattr(part, f"to_{form}")(path, index=False)
    found = fitted.score(ceiba.scan(paths, target="y", weight=weight))
    assert found == pytest.approx(expected, rel=1e-9)


def test_scan_without_target_raises(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X_TRAIN, columns=list("abc"))
    table.to_csv(tmp_path / "rows.csv", index=False)
    model = DecisionTreeClassifier(max_depth=1).fit(table, words(X_TRAIN, 1))
    with pytest.raises(ValueError, match="target"):
        model.score(ceiba.scan(tmp_path / "rows.csv"))
