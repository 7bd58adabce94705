"""Nominal and ordinal columns, missing values, and categories that fit did not see."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from ceiba._typing import Array
from tests.ensemble.gradient_boosting.parts import KINDS, raw_scores

N = 1500


def near_identifier(seed: int = 0) -> tuple[Any, Array]:
    """Return a weak numeric column, and a random category for every two rows."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"id": pd.Categorical(rng.integers(0, N // 2, N)), "x": rng.normal(size=N)}
    )
    return frame, 0.5 * frame["x"].to_numpy() + rng.normal(size=N)


IDENTIFIED, NOISY = near_identifier()
WEIGHT = np.random.default_rng(1).uniform(0.2, 5.0, N)


@pytest.mark.parametrize("factor", [None, 1.0, 1e4, 1e-4])
@pytest.mark.parametrize(
    "options",
    [{}, {"method": "gradient"}, {"sampling": "goss"}, {"loss": "poisson"}, {"subsample": 0.5}],
    ids=str,
)
def test_a_near_identifier_does_not_win(options: dict[str, Any], factor: float | None) -> None:
    weight = None if factor is None else factor * WEIGHT
    y = np.exp(NOISY / 3) if options.get("loss") == "poisson" else NOISY
    if "method" not in options:
        options = {"reg_lambda": 0.0, "min_child_weight": 0.0, **options}
    model = GradientBoostingRegressor(10, **options).fit(IDENTIFIED, y, sample_weight=weight)
    assert model.feature_importances_[1] > 0.98


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_a_near_identifier_does_not_win_between_classes(strategy: str, n_classes: int) -> None:
    y = np.digitize(NOISY, np.quantile(NOISY, np.arange(1, n_classes) / n_classes))
    model = GradientBoostingClassifier(10, multi_strategy=strategy).fit(IDENTIFIED, y)
    assert model.feature_importances_[1] > 0.98


@pytest.mark.parametrize("has_effect", [True, False])
def test_categories_are_compared_within_nodes_of_other_means(has_effect: bool) -> None:
    """The mean of a node, far from zero below the root, is no effect of categories."""
    rng = np.random.default_rng(0)
    side, code = rng.choice([-10.0, 10.0], N), rng.integers(0, 20, N)
    effect = np.where(code % 2 == 0, 1.0, -1.0) * has_effect
    frame = pd.DataFrame({"side": side, "c": pd.Categorical(code)})
    model = GradientBoostingRegressor(1, learning_rate=1.0, max_leaf_nodes=4, reg_lambda=0.0)
    model.fit(frame, side + effect + rng.normal(size=N))
    assert (model.importances("split")[1] > 0) == has_effect


def test_many_informative_categories_are_used() -> None:
    rng = np.random.default_rng(0)
    code = rng.integers(0, 60, N)
    effect = rng.normal(size=60)[code]
    frame = pd.DataFrame({"c": pd.Categorical(code), "x": rng.normal(size=N)})
    for weight in (None, 1e4 * WEIGHT, 1e-4 * WEIGHT):
        model = GradientBoostingRegressor(50, reg_lambda=0.0, min_child_weight=0.0)
        model.fit(frame, effect + 0.3 * rng.normal(size=N), sample_weight=weight)
        assert np.corrcoef(model.predict(frame), effect)[0, 1] > 0.97


def test_names_and_order_of_categories_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    code, names = rng.integers(0, 7, N), np.array(list("gbfacde"))
    y = np.array([0.0, 3.0, 1.0, 5.0, 2.0, 4.0, 1.5])[code] + 0.1 * rng.normal(size=N)
    frames = [
        pd.DataFrame({"c": names[code]}),
        pd.DataFrame({"c": pd.Categorical(names[code], categories=sorted(names))}),
        pd.DataFrame({"c": pd.Categorical(names[code], categories=list(names))}),
        pd.DataFrame({"c": pd.Categorical(names[code], categories=[*names[::-1], "unused"])}),
    ]
    found = [GradientBoostingRegressor(10).fit(frame, y).predict(frame) for frame in frames]
    for other in found[1:]:
        np.testing.assert_allclose(found[0], other, rtol=1e-12)


def test_ordinal_columns_are_split_in_their_order() -> None:
    rng = np.random.default_rng(0)
    code = rng.integers(0, 6, N)
    y = (code % 2) + 0.01 * rng.normal(size=N)
    sizes = ["xs", "s", "m", "l", "xl", "xxl"]
    ordinal, nominal = (
        pd.DataFrame({"c": pd.Categorical.from_codes(code, sizes, ordered=ordered)})
        for ordered in (True, False)
    )
    options: dict[str, Any] = {"max_leaf_nodes": 2, "learning_rate": 1.0, "reg_lambda": 0.0}
    one = GradientBoostingRegressor(1, **options).fit(nominal, y)
    assert one.score(nominal, y) > 0.99
    other = GradientBoostingRegressor(1, **options).fit(ordinal, y)
    values = [other.predict(ordinal)[code == k][0] for k in range(6)]
    assert sum(a != b for a, b in itertools.pairwise(values)) == 1
    numbers = GradientBoostingRegressor(1, **options).fit(code[:, None], y)
    np.testing.assert_allclose(numbers.predict(code[:, None]), other.predict(ordinal), rtol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_smoothing_draws_rare_categories_to_the_middle(offset: float) -> None:
    """The first split of categories ordered b, a, c, or b, c, a without smoothing."""
    code = np.repeat([0, 1, 2], [3, 200, 200])
    y = np.repeat([10.0, 1.0, 2.0], [3, 200, 200]) + offset
    frame = pd.DataFrame({"c": pd.Categorical.from_codes(code, list("abc"))})
    options: dict[str, Any] = {
        "max_leaf_nodes": 2, "min_samples_leaf": 1, "init": "zero", "reg_lambda": 0.0,
    }  # fmt: skip
    groups = []
    for smoothing in (0.0, 100.0):
        model = GradientBoostingRegressor(1, category_smoothing=smoothing, **options)
        groups.append(model.fit(frame, y).predict(frame)[[0, 3, 203]])
    assert groups[0][1] == groups[0][2] != groups[0][0]
    assert groups[1][0] == groups[1][2] != groups[1][1]


# Categories that fit did not see


def test_unseen_categories_are_missing_and_one_warning_names_them() -> None:
    frame = IDENTIFIED.assign(g=pd.Categorical(np.resize(list("abc"), N)))
    y = NOISY + 2 * (frame["g"] == "b")
    model = GradientBoostingRegressor(20).fit(frame, y)
    new = frame.head(6).assign(g=["a", "zebra", "b", "yak", "zebra", "c"])
    with pytest.warns(UserWarning, match=r"not seen in fit.*'g'.*3 rows.*yak.*zebra") as caught:
        predicted = model.predict(new)
    assert len([w for w in caught if "not seen" in str(w.message)]) == 1
    missing = new.assign(g=new["g"].where(new["g"].isin(list("abc"))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict(missing), predicted)


def test_unseen_categories_of_validation_rows_are_missing() -> None:
    frame = pd.DataFrame({"g": np.resize(list("abc"), N), "x": NOISY})
    new = frame.assign(g="z")
    with pytest.warns(UserWarning, match="not seen"):
        model = GradientBoostingRegressor(5).fit(frame, NOISY, X_val=new, y_val=NOISY)
    missing = frame.assign(g=pd.Series([None] * N, dtype=object))
    expected = np.mean((model.predict(missing) - NOISY) ** 2) / 2
    assert model.losses_["validation"][-1] == pytest.approx(expected, rel=1e-12)


# Missing values


@pytest.mark.parametrize("value", [-2.0, 0.5, 3.0])
@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_follow_the_branch_of_larger_gain(kind: Any, value: float) -> None:
    """Rows with missing values behave as rows of some value, and get to their leaf."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 600)
    missing = rng.random(600) < 0.2
    x[missing] = value
    y = np.digitize(x, [-1.0, 1.0]) if kind is GradientBoostingClassifier else np.sin(x)
    rows = np.where(missing, np.nan, x)[:, None]
    model = kind(60, min_samples_leaf=5, learning_rate=0.3).fit(rows, y)
    if kind is GradientBoostingClassifier:
        np.testing.assert_array_equal(model.predict(rows), y)
    else:
        np.testing.assert_allclose(model.predict(rows[missing]), y[missing], atol=0.02)


def test_missing_values_may_form_a_branch() -> None:
    x = np.r_[np.linspace(0, 1, 100), np.full(50, np.nan)][:, None]
    y = np.r_[np.zeros(100), np.ones(50)]
    model = GradientBoostingRegressor(
        1, max_leaf_nodes=2, learning_rate=1.0, reg_lambda=0.0
    ).fit(x, y)  # fmt: skip
    np.testing.assert_allclose(model.predict(x), y, atol=1e-12)
    np.testing.assert_allclose(model.predict([[-1e9], [1e9], [np.nan]]), [0, 0, 1], atol=1e-12)


def test_values_that_are_only_missing_at_prediction_go_with_most_rows() -> None:
    x = np.arange(300.0)[:, None]
    y = (x[:, 0] >= 200).astype(float)
    model = GradientBoostingRegressor(1, max_leaf_nodes=2, learning_rate=1.0).fit(x, y)
    assert model.predict([[np.nan]]) == model.predict([[0.0]])
    model.fit(-x, 1 - y)
    assert model.predict([[np.nan]]) == model.predict([[0.0]])
    frame = pd.DataFrame({"g": np.repeat(list("ab"), [200, 100])})
    model.fit(frame, y)
    new = pd.DataFrame({"g": [None, "a", "b"]}, dtype=object)
    predicted = model.predict(new)
    assert predicted[0] == predicted[1] != predicted[2]


@pytest.mark.parametrize("kind", KINDS)
def test_columns_without_values_do_not_matter(kind: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 2))
    y = (rows[:, 0] > 0).astype(int)
    plain = kind(5).fit(rows, y)
    wide = np.column_stack([np.full(300, np.nan), rows, np.full(300, 7.0)])
    model = kind(5).fit(wide, y)
    np.testing.assert_array_equal(raw_scores(model, wide), raw_scores(plain, rows))
    assert model.feature_importances_[[0, 3]].tolist() == [0, 0]
    with pytest.warns(UserWarning, match="single leaf"):
        nothing = kind(2).fit(wide[:, [0, 3]], y)
    assert np.unique(nothing.predict(wide[:, [0, 3]])).size == 1


def test_infinities_are_values() -> None:
    x = np.r_[np.full(50, -np.inf), np.zeros(50), np.full(50, np.inf)][:, None]
    y = np.repeat([0.0, 1.0, 5.0], 50)
    model = GradientBoostingRegressor(1, learning_rate=1.0, reg_lambda=0.0).fit(x, y)
    np.testing.assert_allclose(model.predict(x), y, atol=1e-12)
