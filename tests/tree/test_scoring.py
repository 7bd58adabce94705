"""Scores of trees by parts: the merge law, scikit-learn's functions, and files."""

from __future__ import annotations

import math
from functools import partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, r2_score

import ceiba
from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.engine import choose_engine
from ceiba.engine.contract import Batch
from ceiba.stats import ToLabelled
from ceiba.stats.scores import Accuracy
from ceiba.tree.scoring import Determination, likeliest, score_of
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
    batch = Batch(ToLabelled(model._task)(Chunk(Table.of(X), y, weight)))
    if model._task == "regression":
        return Determination.of(batch, model.tree_)
    return Accuracy.of(batch, model.classes_, partial(likeliest, model.tree_))


def in_order(model: Any, X: Any, y: Any, weight: Any, cuts: list[int]) -> Any:
    """Statistics of the parts between the cuts, merged."""
    ends = [0, *sorted(cuts), len(X)]
    parts = [slice(begin, end) for begin, end in pairwise(ends) if begin < end]
    found = [statistic(model, X[p], y[p], None if weight is None else weight[p]) for p in parts]
    return reduce(lambda one, other: one.merge(other), found)


def numbers(found: Any) -> list[float]:
    return [float(getattr(found, name)) for name in found.__dataclass_fields__]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    cuts=st.lists(st.integers(0, 60), max_size=5),
    weighted=st.booleans(),
)
def test_the_parts_give_the_whole(seed: int, cuts: list[int], weighted: bool) -> None:
    X = columns(60, seed)
    weight = weights(60, seed) if weighted else None
    for model, y in ((CLASSIFIER, words(X, seed)), (REGRESSOR, heights(X, seed))):
        whole = statistic(model, X, y, weight)
        found = in_order(model, X, y, weight, cuts)
        np.testing.assert_allclose(numbers(found), numbers(whole), rtol=1e-9)
        given_weight = np.ones(60) if weight is None else weight
        measure = r2_score if model is REGRESSOR else accuracy_score
        expected = measure(y, model.predict(X), sample_weight=given_weight)
        assert found.score == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_merge_from_the_right_is_the_same() -> None:
    X = columns(90, 3)
    for model, y in ((CLASSIFIER, words(X, 3)), (REGRESSOR, heights(X, 3))):
        a, b, c = (statistic(model, X[k::3], y[k::3], weights(30, k)) for k in range(3))
        left, right = a.merge(b).merge(c), a.merge(b.merge(c))
        np.testing.assert_allclose(numbers(left), numbers(right), rtol=1e-9)


def test_a_part_whose_rows_all_weigh_nothing_changes_nothing() -> None:
    X = columns(20, 4)
    for model, y in ((CLASSIFIER, words(X, 4)), (REGRESSOR, heights(X, 4))):
        nothing, some = statistic(model, X, y, np.zeros(20)), statistic(model, X, y)
        assert nothing.merge(some) == some == some.merge(nothing)
        with pytest.raises(ValueError, match="every row has weight zero"):
            _ = nothing.score


# Classes


def test_counts_of_rows_are_exact() -> None:
    X = columns(77, 5)
    y = words(X, 5)
    found = in_order(CLASSIFIER, X, y, None, [10, 11, 50])
    assert found == Accuracy(77.0, float((CLASSIFIER.predict(X) == y).sum()))
    assert found.score == accuracy_score(y, CLASSIFIER.predict(X))


def test_the_predictions_themselves_score_one() -> None:
    X = columns(50, 6)
    y = CLASSIFIER.predict(X)
    assert in_order(CLASSIFIER, X, y, weights(50, 6), [7, 20]).score == 1.0


def test_a_class_that_the_model_does_not_know_is_wrong() -> None:
    X = columns(40, 7)
    y = CLASSIFIER.predict(X).astype(object)
    y[:10] = "aspen"  # between two classes that it knows
    assert statistic(CLASSIFIER, X, y).score == 0.75
    assert statistic(CLASSIFIER, X[:10], y[:10]).score == 0.0


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, np.float64])
def test_classes_are_compared_by_label(dtype: Any) -> None:
    X = np.arange(6.0)[:, None]
    model = DecisionTreeClassifier().fit(X, [2, 2, 5, 5, 9, 9])
    assert statistic(model, X, np.array([5, 2, 5, 5, 9, 3], dtype)).score == pytest.approx(4 / 6)


def test_large_whole_numbers_are_not_rounded_to_a_class() -> None:
    X = np.arange(2.0)[:, None]
    model = DecisionTreeClassifier().fit(X, np.array([2**53, 2**53 + 1]))
    assert statistic(model, X, np.array([2.0**53, 2.0**53])).score == 0.5


def test_text_for_numbers_is_refused() -> None:
    X = np.arange(4.0)[:, None]
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"the target holds '0', and the model's classes are like"):
        statistic(model, X, np.array(["0", "0", "1", "1"]))


# Numbers


@pytest.mark.parametrize("cuts", [[], [1], [2, 5]])
def test_equal_targets(cuts: list[int]) -> None:
    """Their mean is rounded, for 0.1 for example; it must not pass for a spread."""
    X, y = np.arange(7.0)[:, None], np.full(7, 0.1)
    same, other = (DecisionTreeRegressor().fit(X, value) for value in (y, np.arange(7.0)))
    weight = weights(7, 1) + 0.1
    assert in_order(same, X, y, weight, cuts).score == 1.0
    assert in_order(other, X, y, weight, cuts).score == 0.0


def test_a_far_off_mean_costs_no_digits() -> None:
    X = columns(300, 8)
    y = heights(X, 8)
    model = DecisionTreeRegressor(max_depth=4).fit(X, y)
    far = DecisionTreeRegressor(max_depth=4).fit(X, y + 2**32)
    near = in_order(model, X, y, None, [100, 200]).score
    assert in_order(far, X, y + 2**32, None, [100, 200]).score == pytest.approx(near, abs=1e-5)


def test_one_row_has_no_determination() -> None:
    single = statistic(REGRESSOR, X_TRAIN[:1], np.array([1e6]))
    with pytest.warns(UndefinedMetricWarning, match="less than two rows"):
        assert math.isnan(single.score)
    assert not math.isnan(single.merge(single).score)


def test_squares_that_overflow_are_refused() -> None:
    X, y = np.arange(4.0)[:, None], np.array([-1e200, 0.0, 1.0, 1e200])
    with pytest.raises(ValueError, match="too large"):
        _ = in_order(REGRESSOR, np.tile(X, 3), y, None, [2]).score


# Engines


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", [CLASSIFIER, REGRESSOR], ids=["classes", "numbers"])
def test_parts_score_like_the_whole(model: Any, weighted: bool) -> None:
    X = columns(120, 9)
    y = (words if model is CLASSIFIER else heights)(X, 9)
    weight = weights(120, 9) if weighted else None
    source = in_parts(X, y, weight, [1, 40, 41, 90])
    engine, parts = choose_engine(source, supervised=True, schema=model.schema_)
    assert engine.name == "chunks"
    assert score_of(model, engine, parts) == pytest.approx(model.score(X, y, weight), rel=1e-9)


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("model", [CLASSIFIER, REGRESSOR], ids=["classes", "numbers"])
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


def test_files_without_a_target_are_refused(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X_TRAIN, columns=list("abc"))
    table.to_csv(tmp_path / "rows.csv", index=False)
    model = DecisionTreeClassifier(max_depth=1).fit(table, words(X_TRAIN, 1))
    with pytest.raises(ValueError, match="target"):
        model.score(ceiba.scan(tmp_path / "rows.csv"))
