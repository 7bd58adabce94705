"""Forests that grow on, lose trees, are joined, and fits that fail."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import ceiba
from ceiba import RandomForestClassifier, RandomForestRegressor
from tests.ensemble.forest.parts import (
    CLASSES,
    NEW,
    NEW_CLASSES,
    NEW_NUMBERS,
    NUMBERS,
    X,
    classes,
    everything,
    forest_bits,
    numbers,
)

KINDS = [RandomForestClassifier, RandomForestRegressor]
EACH = pytest.mark.parametrize("kind", KINDS)
# Few trees leave rows in every bag, which is said in a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*no out-of-bag prediction")


def target(kind: Any) -> Any:
    return CLASSES if kind is RandomForestClassifier else NUMBERS


def new_target(kind: Any) -> Any:
    return NEW_CLASSES if kind is RandomForestClassifier else NEW_NUMBERS


# Warm start

GROWN: list[dict[str, Any]] = [
    {},
    {"max_bins": 9, "missing": "branch"},
    {"thresholds": "random"},
    {"features_per": "tree"},
    {"bootstrap": False, "max_samples": 0.6},
    {"random_state": 11, "max_samples": 90},
]


@EACH
@pytest.mark.parametrize("options", GROWN, ids=str)
@pytest.mark.parametrize("weight", [None, np.arange(len(X)) % 3, np.arange(len(X)) % 3 * 0.7])
def test_trees_added_are_trees_grown_at_once(
    kind: Any, options: dict[str, Any], weight: Any
) -> None:
    options = {"oob_score": True, "importance": True, **options}
    if kind is RandomForestRegressor:
        options["quantiles"] = True
    once = kind(9, **options).fit(X, target(kind), weight)
    grown = kind(1, warm_start=True, **{**options, "oob_score": False})
    for size in (1, 4, 9):
        grown.set_params(n_estimators=size, oob_score=size == 9).fit(X, target(kind), weight)
        assert grown.forest_.n_trees == size
    assert everything(grown) == everything(once)


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", {0: 0.3, 2: 7.1}])
def test_weighted_classes_in_added_trees(class_weight: Any) -> None:
    grown = classes(2, class_weight=class_weight, warm_start=True)
    grown.set_params(n_estimators=5).fit(X, CLASSES)
    assert everything(grown) == everything(classes(5, class_weight=class_weight))


@EACH
def test_new_data_in_new_trees(kind: Any) -> None:
    model = kind(4, warm_start=True).fit(X, target(kind))
    before = forest_bits(model)
    model.set_params(n_estimators=7).fit(NEW, new_target(kind))
    assert model.forest_.n_trees == model.forest_.grown == 7
    assert model.forest_.keys[:, 1].tolist() == [len(X)] * 4 + [len(NEW)] * 3
    assert forest_bits(model.without([4, 5, 6]))["nodes"] == before["nodes"]
    # The new trees are numbers 4 to 6 of a forest of the new rows alone.
    alone = kind(7).fit(NEW, new_target(kind)).without(range(4))
    np.testing.assert_array_equal(model.apply(NEW)[:, 4:], alone.apply(NEW))


@pytest.mark.parametrize(
    ("options", "weight"),
    [
        ({"class_weight": "balanced"}, None),
        ({"class_weight": "balanced_subsample"}, None),
        ({"class_weight": {0: 0.3}}, None),
        ({"leaf_probability": "laplace"}, None),
        ({"leaf_probability": "laplace", "class_weight": {0: 0.3}}, None),
        ({"bootstrap": False}, np.linspace(0.1, 1, len(X))),
    ],
)
def test_new_data_in_new_trees_of_weighted_classes(options: dict[str, Any], weight: Any) -> None:
    model = RandomForestClassifier(4, warm_start=True, **options).fit(X, CLASSES, weight)
    before = model.predict_proba(NEW)
    model.set_params(n_estimators=7).fit(NEW, NEW_CLASSES)
    after = model.predict_proba(NEW)
    np.testing.assert_allclose(after.sum(axis=1), 1)
    told = model.without(range(4)).predict_proba(NEW)
    np.testing.assert_allclose(after, (4 * before + 3 * told) / 7, rtol=1e-12)
    np.testing.assert_allclose(model.without([4, 5, 6]).predict_proba(NEW), before, rtol=1e-12)


def test_new_rows_may_lack_a_class_but_bring_none() -> None:
    model = classes(3, warm_start=True)
    few = NEW_CLASSES < 2
    model.set_params(n_estimators=5).fit(NEW[few], NEW_CLASSES[few])
    assert model.classes_.tolist() == [0, 1, 2]
    newer = model.without([0, 1, 2])
    assert (newer.predict_proba(NEW)[:, 2] == 0).all()
    with pytest.raises(ValueError, match="y holds the class 7, which is not among the classes"):
        model.set_params(n_estimators=6).fit(NEW, np.where(few, NEW_CLASSES, 7))


def test_new_rows_are_read_under_the_schema_there_is() -> None:
    model = classes(3, warm_start=True).set_params(n_estimators=5)
    before = everything(model)
    for wrong, message in [
        (X.rename(columns={"a": "q"}), "feature names"),
        (X.drop(columns="f"), "feature names|missing"),
        (X.assign(a=[*"uv"] * 120), "'a' is numeric"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(wrong, CLASSES)
    assert everything(model) == before
    # A level that the schema does not have is a gap, as everywhere.
    odd, gap = X.assign(word="never"), X.assign(word=pd.Series([None] * len(X), dtype=object))
    one, other = copy.deepcopy(model).fit(odd, CLASSES), model.fit(gap, CLASSES)
    np.testing.assert_array_equal(one.forest_.nodes, other.forest_.nodes)


@EACH
def test_a_warm_start_that_cannot_be(kind: Any) -> None:
    model = kind(4, warm_start=True).fit(X, target(kind))
    before = everything(model)
    with pytest.raises(ValueError, match="n_estimators=3 must not be less than the 4 trees"):
        model.set_params(n_estimators=3).fit(X, target(kind))
    assert everything(model) == before
    # Without warm_start it is a new fit.
    model.set_params(warm_start=False).fit(X, target(kind))
    assert model.forest_.n_trees == 3


@EACH
def test_nothing_to_add_warns_and_measures(kind: Any) -> None:
    model = kind(30, warm_start=True).fit(X, target(kind))
    before = forest_bits(model)
    with pytest.warns(UserWarning, match="warm_start adds none"):
        model.set_params(oob_score=True).fit(X, target(kind))
    assert forest_bits(model) == before
    assert everything(model) == everything(kind(30, oob_score=True).fit(X, target(kind)))


@EACH
def test_out_of_bag_numbers_are_those_of_trees_of_these_rows(kind: Any) -> None:
    model = kind(20, warm_start=True).fit(X, target(kind))
    model.set_params(n_estimators=50, oob_score=True).fit(NEW, new_target(kind))
    alone = kind(50).fit(NEW, new_target(kind)).without(range(20))
    assert model.oob_curve_.trees[-1] == 30
    again = kind(50, oob_score=True).fit(NEW, new_target(kind))
    assert model.oob_score_ == pytest.approx(again.oob_score_, abs=0.2)
    found = model.oob_importance(NEW, new_target(kind))
    np.testing.assert_array_equal(found.value, alone.oob_importance(NEW, new_target(kind)).value)
    np.testing.assert_array_equal(
        model.corrected_importances(X, target(kind)),
        kind(20).fit(X, target(kind)).corrected_importances(X, target(kind)),
    )


def test_trees_of_other_classes_on_the_same_rows_are_not_theirs() -> None:
    """The same rows, and classes that are numbered alike among those that occur."""
    low, high = np.minimum(CLASSES, 1), np.minimum(CLASSES, 1) + 1
    model = classes(20, warm_start=True)
    model.set_params(n_estimators=40).fit(X, low)
    model.set_params(n_estimators=60, oob_score=True).fit(X, high)
    assert model.oob_curve_.trees[-1] == 20


def test_quantiles_of_trees_of_other_rows_are_refused() -> None:
    model = numbers(4, warm_start=True)
    before = everything(model)
    with pytest.raises(ValueError, match="quantiles"):
        model.set_params(n_estimators=6, quantiles=True).fit(NEW, NEW_NUMBERS)
    assert everything(model) == before
    model.fit(X, NUMBERS)
    assert everything(model) == everything(numbers(6, quantiles=True))


def test_numbers_of_new_trees_go_on_after_some_were_dropped() -> None:
    model = classes(6).without([1, 4]).set_params(warm_start=True, n_estimators=6)
    model.fit(X, CLASSES)
    assert model.forest_.grown == 8
    expected = classes(8).forest_
    kept = [0, 2, 3, 5, 6, 7]
    np.testing.assert_array_equal(model.forest_.keys, expected.keys[kept])
    np.testing.assert_array_equal(model.apply(NEW), classes(8).apply(NEW)[:, kept])


# Dropping and joining


@pytest.mark.parametrize("fit", [classes, numbers])
def test_dropped_trees(fit: Any) -> None:
    model = fit(8, oob_score=True, importance=True)
    before = everything(model)
    fewer = model.without([0, -1, 3, 3])
    assert everything(model) == before
    assert fewer.n_estimators == fewer.forest_.n_trees == 5
    kept = [1, 2, 4, 5, 6]
    np.testing.assert_array_equal(fewer.apply(NEW), model.apply(NEW)[:, kept])
    np.testing.assert_array_equal(fewer.forest_.importances, model.forest_.importances[kept])
    gone = ("oob_score_", "oob_curve_", "oob_importance_", "oob_prediction_", "oob_errors_")
    assert not any(hasattr(fewer, name) for name in gone)
    assert forest_bits(model.without([])) == forest_bits(model)
    for t in kept:
        one = model.without([u for u in range(8) if u != t])
        np.testing.assert_array_equal(one.tree(0).value, model.tree(t).value)


@pytest.mark.parametrize("fit", [classes, numbers])
def test_trees_that_cannot_be_dropped(fit: Any) -> None:
    model = fit(3)
    with pytest.raises(ValueError, match="leave at least one"):
        model.without(range(3))
    for wrong in (3, -4):
        with pytest.raises((IndexError, ValueError), match=f"tree {wrong}"):
            model.without([0, wrong])
        with pytest.raises(IndexError, match=f"tree {wrong}"):
            model.tree(wrong)
    for numbered in ([True, False, True], [0.5], ["0"], [[0, 1]]):
        with pytest.raises(ValueError, match="trees are dropped by their numbers, 0 to 2"):
            model.without(numbered)


@EACH
@pytest.mark.parametrize("options", [{}, {"max_bins": 7}, {"missing": "branch"}], ids=str)
def test_joined_forests(kind: Any, options: dict[str, Any]) -> None:
    parts = [kind(n, random_state=n, **options).fit(X, target(kind)) for n in (2, 3, 4)]
    joined = parts[0].merged(*parts[1:])
    assert joined.n_estimators == joined.forest_.n_trees == 9
    assert [part.forest_.n_trees for part in parts] == [2, 3, 4]
    leaves = np.hstack([part.apply(NEW) for part in parts])
    np.testing.assert_array_equal(joined.apply(NEW), leaves)
    told = joined._told(NEW)
    mean = sum(part.forest_.n_trees * part._told(NEW) for part in parts) / 9
    np.testing.assert_allclose(told, mean, rtol=1e-12)
    one, two = joined.without(range(2, 9)), joined.without([0, 1, 5, 6, 7, 8])
    np.testing.assert_array_equal(one._told(NEW), parts[0]._told(NEW))
    np.testing.assert_array_equal(two._told(NEW), parts[1]._told(NEW))


def test_joined_forests_of_many_levels_and_classes() -> None:
    """Levels in words and weights in bytes of leaves are found again behind those of others."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"c": rng.choice([None, *(f"v{k:03}" for k in range(200))], size=900)})
    rows["n"] = rng.normal(size=900)
    y = rng.integers(70, size=900)
    parts = [
        RandomForestClassifier(3, random_state=s, max_depth=4, missing=gap).fit(rows, y)
        for s, gap in enumerate(("learned", "branch", "learned"))
    ]
    assert all(len(part.forest_.leaves) > 0 for part in parts)
    assert any(len(part.forest_.words) > 0 for part in parts)
    assert any(len(part.forest_.tables) > 0 for part in parts)
    joined = parts[0].merged(*parts[1:])
    mean = np.mean([part.predict_proba(rows) for part in parts], axis=0)
    np.testing.assert_allclose(joined.predict_proba(rows), mean, rtol=1e-12)
    back = pickle.loads(pickle.dumps(joined))
    np.testing.assert_array_equal(back.predict_proba(rows), joined.predict_proba(rows))
    fewer = joined.without([0, 3, 4, 7])  # of each part some
    each = [joined.without([u for u in range(9) if u != t]) for t in (1, 2, 5, 6, 8)]
    mean = np.mean([one.predict_proba(rows) for one in each], axis=0)
    np.testing.assert_allclose(fewer.predict_proba(rows), mean, rtol=1e-12)
    for name in ("words", "tables", "leaves"):
        own = np.concatenate([getattr(one.forest_, name) for one in each])
        np.testing.assert_array_equal(getattr(fewer.forest_, name), own)


def test_forests_of_other_rows_are_joined() -> None:
    """Grown elsewhere: other rows under one schema."""
    half = len(X) // 2
    table = ceiba.data.table.Table.of(X)
    parts = [
        RandomForestClassifier(5, random_state=9).fit(table.take(rows), CLASSES[rows])
        for rows in (np.arange(half), np.arange(half, len(X)))
    ]
    joined = parts[0].merged(parts[1])
    assert joined.score(X, CLASSES) > 0.8
    assert joined.forest_.keys[:, 1].tolist() == [half] * 10


@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.3}, "balanced_subsample"])
def test_forests_of_other_rows_with_class_weights_are_joined(class_weight: Any) -> None:
    table = ceiba.data.table.Table.of(X)
    parts = [
        RandomForestClassifier(5, random_state=n, class_weight=class_weight).fit(
            table.take(np.arange(n)), CLASSES[:n]
        )
        for n in (60, 200)
    ]
    joined = parts[0].merged(parts[1])
    mean = (parts[0].predict_proba(NEW) + parts[1].predict_proba(NEW)) / 2
    np.testing.assert_allclose(joined.predict_proba(NEW), mean, rtol=1e-9)


@EACH
def test_forests_that_cannot_be_joined(kind: Any) -> None:
    model, y = kind(3).fit(X, target(kind)), target(kind)
    before = everything(model)
    with pytest.raises(ValueError, match="a tree would be there twice"):
        model.merged(model)
    with pytest.raises(ValueError, match="a tree would be there twice"):
        model.merged(kind(1, random_state=1).fit(X, y), kind(2).fit(X, y))
    with pytest.raises(ValueError, match="their schemas differ"):
        model.merged(kind(2, random_state=1).fit(X.rename(columns={"a": "q"}), y))
    with pytest.raises(ValueError, match="their schemas differ"):
        model.merged(kind(2, random_state=1).fit(X[["a", "b"]], y))
    other = KINDS[1 - KINDS.index(kind)]
    with pytest.raises(TypeError, match="merged with others of its kind"):
        model.merged(other(2).fit(X, target(other)))
    with pytest.raises(NotFittedError):
        model.merged(kind(2))
    assert everything(model) == before


def test_forests_of_other_classes_are_not_joined() -> None:
    model = classes(2)
    for y in (CLASSES + 1, CLASSES.clip(0, 1), np.array(["x", "y", "z"])[CLASSES]):
        with pytest.raises(ValueError, match="the forests predict other classes"):
            model.merged(RandomForestClassifier(2, random_state=1).fit(X, y))


# A fit that fails


@EACH
def test_a_failed_fit_leaves_the_estimator_as_it_was(kind: Any) -> None:
    y = target(kind)
    model = kind(20, oob_score=True, importance=True).fit(X, y)
    before, said = everything(model), model.predict(NEW)
    bad = np.zeros(len(X))
    for options, args in [
        ({"max_features": "all"}, (X, y)),
        ({"tree_features": 3}, (X, y)),
        ({}, (X, y[:-1])),
        ({}, (X, y, bad)),
        ({}, (X, None)),
        ({}, (X.iloc[:0], y[:0])),
        # Only after the trees are grown is it known that no row is out of a bag.
        ({"bootstrap": False, "max_samples": 1.0}, (X[["b"]], y)),
    ]:
        failing = copy.deepcopy(model).set_params(**options)
        with pytest.raises(ValueError):
            failing.fit(*args)
        assert everything(failing) == before
        np.testing.assert_array_equal(failing.predict(NEW), said)


def test_a_new_fit_forgets_the_old_one() -> None:
    model = numbers(20, oob_score=True, importance=True, quantiles=True)
    model.set_params(oob_score=False, importance=False, quantiles=False)
    model.fit(X[["b", "c"]].to_numpy(), NUMBERS)
    fresh = RandomForestRegressor(20).fit(X[["b", "c"]].to_numpy(), NUMBERS)
    assert set(vars(model)) == set(vars(fresh))
    weighed = classes(class_weight="balanced").set_params(class_weight=None).fit(X, CLASSES)
    assert set(vars(weighed)) == set(vars(classes()))


@EACH
def test_before_a_fit(kind: Any) -> None:
    model = kind()
    calls: list[Any] = [
        lambda: model.predict(X), lambda: model.apply(X), lambda: model.tree(0),
        lambda: model.without([0]), lambda: model.merged(), lambda: model.feature_importances_,
        lambda: model.oob_importance(X, target(kind)), model.enough_trees,
        lambda: model.corrected_importances(X, target(kind)), lambda: model.score(X, target(kind)),
    ]  # fmt: skip
    if kind is RandomForestRegressor:
        calls += [lambda: model.predict_quantiles(X, 0.5), lambda: model.predict_interval(X)]
    else:
        calls += [lambda: model.predict_proba(X), lambda: model.predict_log_proba(X)]
    for call in calls:
        with pytest.raises(NotFittedError):
            call()
