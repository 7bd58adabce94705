"""Forests: warm start, dropped and merged trees, and fits that fail."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import ceiba
from ceiba import RandomForestClassifier, RandomForestRegressor, load, save
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
# With few trees some rows are never out of bag, which is a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*no out-of-bag prediction")


def target(kind: Any) -> Any:
    return CLASSES if kind is RandomForestClassifier else NUMBERS


def new_target(kind: Any) -> Any:
    return NEW_CLASSES if kind is RandomForestClassifier else NEW_NUMBERS


# Warm start

WARM_STARTS: list[dict[str, Any]] = [
    {},
    {"max_bins": 9, "missing": "branch"},
    {"thresholds": "random"},
    {"max_features_per": "tree"},
    {"bootstrap": False, "max_samples": 0.6},
    {"random_state": 11, "max_samples": 90},
]


@EACH
@pytest.mark.parametrize("options", WARM_STARTS, ids=str)
@pytest.mark.parametrize("weight", [None, np.arange(len(X)) % 3, np.arange(len(X)) % 3 * 0.7])
def test_warm_start_equals_single_fit(kind: Any, options: dict[str, Any], weight: Any) -> None:
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
def test_warm_start_with_class_weights_equals_single_fit(class_weight: Any) -> None:
    grown = classes(2, class_weight=class_weight, warm_start=True)
    grown.set_params(n_estimators=5).fit(X, CLASSES)
    assert everything(grown) == everything(classes(5, class_weight=class_weight))


@EACH
def test_warm_start_on_new_data(kind: Any) -> None:
    model = kind(4, warm_start=True).fit(X, target(kind))
    before = forest_bits(model)
    model.set_params(n_estimators=7).fit(NEW, new_target(kind))
    assert model.forest_.n_trees == model.forest_.n_grown == 7
    assert model.forest_.training_keys[:, 0].tolist() == [len(X)] * 4 + [len(NEW)] * 3
    assert forest_bits(model.drop_trees([4, 5, 6]))["nodes"] == before["nodes"]
    # The new trees are numbers 4 to 6 of a forest of the new rows.
    alone = kind(7).fit(NEW, new_target(kind)).drop_trees(range(4))
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
def test_warm_start_on_new_data_with_weights(options: dict[str, Any], weight: Any) -> None:
    model = RandomForestClassifier(4, warm_start=True, **options).fit(X, CLASSES, weight)
    before = model.predict_proba(NEW)
    model.set_params(n_estimators=7).fit(NEW, NEW_CLASSES)
    after = model.predict_proba(NEW)
    np.testing.assert_allclose(after.sum(axis=1), 1)
    new = model.drop_trees(range(4)).predict_proba(NEW)
    np.testing.assert_allclose(after, (4 * before + 3 * new) / 7, rtol=1e-12)
    np.testing.assert_allclose(model.drop_trees([4, 5, 6]).predict_proba(NEW), before, rtol=1e-12)


def test_warm_start_accepts_known_classes_only() -> None:
    model = classes(3, warm_start=True)
    few = NEW_CLASSES < 2
    model.set_params(n_estimators=5).fit(NEW[few], NEW_CLASSES[few])
    assert model.classes_.tolist() == [0, 1, 2]
    newer = model.drop_trees([0, 1, 2])
    assert (newer.predict_proba(NEW)[:, 2] == 0).all()
    with pytest.raises(ValueError, match="y contains the unknown class 7"):
        model.set_params(n_estimators=6).fit(NEW, np.where(few, NEW_CLASSES, 7))


def test_warm_start_uses_the_existing_schema() -> None:
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
    # A category that the schema lacks is missing, as everywhere.
    unseen, missing = (
        X.assign(word="never"),
        X.assign(word=pd.Series([None] * len(X), dtype=object)),
    )
    one, other = copy.deepcopy(model).fit(unseen, CLASSES), model.fit(missing, CLASSES)
    np.testing.assert_array_equal(one.forest_.nodes, other.forest_.nodes)


@EACH
def test_invalid_warm_starts_are_errors(kind: Any) -> None:
    model = kind(4, warm_start=True).fit(X, target(kind))
    before = everything(model)
    with pytest.raises(ValueError, match="n_estimators=3 must be larger or equal to"):
        model.set_params(n_estimators=3).fit(X, target(kind))
    assert everything(model) == before
    # Without warm_start the forest is fitted anew.
    model.set_params(warm_start=False).fit(X, target(kind))
    assert model.forest_.n_trees == 3


@EACH
def test_warm_starts_keep_monotonic_constraints(kind: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 2))
    y = rows[:, 0] > 0 if kind is RandomForestClassifier else rows[:, 0]
    model = kind(4, warm_start=True, monotonic_cst=[1, 0]).fit(rows, y)
    save(model, tmp_path / "model")
    for known in (model, load(tmp_path / "model")):
        known.set_params(n_estimators=6).fit(rows, y)
        assert known.forest_.n_trees == 6
        for changed in (None, [0, 1]):
            known.set_params(n_estimators=8, monotonic_cst=changed)
            with pytest.raises(ValueError, match="requires the same monotonic_cst"):
                known.fit(rows, y)
        # A sequence of another type, with the same signs, is no change.
        known.set_params(monotonic_cst=np.array([1, 0])).fit(rows, y)
        assert known.forest_.n_trees == 8
    free = kind(4, warm_start=True).fit(rows, y)
    with pytest.raises(ValueError, match="requires the same monotonic_cst"):
        free.set_params(n_estimators=6, monotonic_cst=[1, 0]).fit(rows, y)


@EACH
def test_warm_start_without_new_trees_warns(kind: Any) -> None:
    model = kind(30, warm_start=True).fit(X, target(kind))
    before = forest_bits(model)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.set_params(oob_score=True).fit(X, target(kind))
    assert forest_bits(model) == before
    assert everything(model) == everything(kind(30, oob_score=True).fit(X, target(kind)))


@EACH
def test_oob_results_use_the_trees_of_the_same_rows(kind: Any) -> None:
    model = kind(20, warm_start=True).fit(X, target(kind))
    model.set_params(n_estimators=50, oob_score=True).fit(NEW, new_target(kind))
    alone = kind(50).fit(NEW, new_target(kind)).drop_trees(range(20))
    assert model.oob_curve_.n_trees[-1] == 30
    again = kind(50, oob_score=True).fit(NEW, new_target(kind))
    assert model.oob_score_ == pytest.approx(again.oob_score_, abs=0.2)
    found = model.oob_importance(NEW, new_target(kind))
    np.testing.assert_array_equal(
        found.importances, alone.oob_importance(NEW, new_target(kind)).importances
    )
    np.testing.assert_array_equal(
        model.corrected_importances(X, target(kind)),
        kind(20).fit(X, target(kind)).corrected_importances(X, target(kind)),
    )


def test_oob_results_distinguish_targets_of_the_same_rows() -> None:
    low, high = np.minimum(CLASSES, 1), np.minimum(CLASSES, 1) + 1
    model = classes(20, warm_start=True)
    model.set_params(n_estimators=40).fit(X, low)
    model.set_params(n_estimators=60, oob_score=True).fit(X, high)
    assert model.oob_curve_.n_trees[-1] == 20


def test_quantiles_require_trees_of_the_same_rows() -> None:
    model = numbers(4, warm_start=True)
    before = everything(model)
    with pytest.raises(ValueError, match="quantiles"):
        model.set_params(n_estimators=6, quantiles=True).fit(NEW, NEW_NUMBERS)
    assert everything(model) == before
    model.fit(X, NUMBERS)
    assert everything(model) == everything(numbers(6, quantiles=True))


def test_tree_numbers_continue_after_dropped_trees() -> None:
    model = classes(6).drop_trees([1, 4]).set_params(warm_start=True, n_estimators=6)
    model.fit(X, CLASSES)
    assert model.forest_.n_grown == 8
    expected = classes(8).forest_
    kept = [0, 2, 3, 5, 6, 7]
    np.testing.assert_array_equal(model.forest_.tree_seeds, expected.tree_seeds[kept])
    np.testing.assert_array_equal(model.apply(NEW), classes(8).apply(NEW)[:, kept])


# Dropping and merging


@pytest.mark.parametrize("fit", [classes, numbers])
def test_dropped_trees(fit: Any) -> None:
    model = fit(8, oob_score=True, importance=True)
    before = everything(model)
    fewer = model.drop_trees([0, -1, 3, 3])
    assert everything(model) == before
    assert fewer.n_estimators == fewer.forest_.n_trees == 5
    kept = [1, 2, 4, 5, 6]
    np.testing.assert_array_equal(fewer.apply(NEW), model.apply(NEW)[:, kept])
    np.testing.assert_array_equal(fewer.forest_.importances, model.forest_.importances[kept])
    gone = ("oob_score_", "oob_curve_", "oob_importance_", "oob_prediction_", "oob_errors_")
    assert not any(hasattr(fewer, name) for name in gone)
    assert forest_bits(model.drop_trees([])) == forest_bits(model)
    for t in kept:
        one = model.drop_trees([u for u in range(8) if u != t])
        np.testing.assert_array_equal(one.tree(0).node_values, model.tree(t).node_values)


@pytest.mark.parametrize("fit", [classes, numbers])
def test_invalid_tree_numbers_are_rejected(fit: Any) -> None:
    model = fit(3)
    with pytest.raises(ValueError, match=r"must not contain all .* trees"):
        model.drop_trees(range(3))
    for wrong in (3, -4):
        with pytest.raises((IndexError, ValueError), match=f"got {wrong}"):
            model.drop_trees([0, wrong])
        with pytest.raises(IndexError, match=f"got {wrong}"):
            model.tree(wrong)
    for numbered in ([True, False, True], [0.5], ["0"], [[0, 1]]):
        with pytest.raises(ValueError, match="trees must be a sequence of integers in"):
            model.drop_trees(numbered)


@EACH
@pytest.mark.parametrize("options", [{}, {"max_bins": 7}, {"missing": "branch"}], ids=str)
def test_merged_forests(kind: Any, options: dict[str, Any]) -> None:
    parts = [kind(n, random_state=n, **options).fit(X, target(kind)) for n in (2, 3, 4)]
    merged = parts[0].merge_forests(*parts[1:])
    assert merged.n_estimators == merged.forest_.n_trees == 9
    assert [part.forest_.n_trees for part in parts] == [2, 3, 4]
    leaves = np.hstack([part.apply(NEW) for part in parts])
    np.testing.assert_array_equal(merged.apply(NEW), leaves)
    predicted = merged._predict(NEW)
    mean = sum(part.forest_.n_trees * part._predict(NEW) for part in parts) / 9
    np.testing.assert_allclose(predicted, mean, rtol=1e-12)
    one, two = merged.drop_trees(range(2, 9)), merged.drop_trees([0, 1, 5, 6, 7, 8])
    np.testing.assert_array_equal(one._predict(NEW), parts[0]._predict(NEW))
    np.testing.assert_array_equal(two._predict(NEW), parts[1]._predict(NEW))


def test_merged_forests_with_many_categories_and_classes() -> None:
    """References into the arrays beside the nodes are shifted."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"c": rng.choice([None, *(f"v{k:03}" for k in range(200))], size=900)})
    rows["n"] = rng.normal(size=900)
    y = rng.integers(70, size=900)
    parts = [
        RandomForestClassifier(
            3, random_state=s, max_depth=4, missing=missing, category_correction=False
        ).fit(rows, y)
        for s, missing in enumerate(("learned", "branch", "learned"))
    ]
    assert all(len(part.forest_.leaves) > 0 for part in parts)
    assert any(len(part.forest_.words) > 0 for part in parts)
    assert any(len(part.forest_.tables) > 0 for part in parts)
    merged = parts[0].merge_forests(*parts[1:])
    mean = np.mean([part.predict_proba(rows) for part in parts], axis=0)
    np.testing.assert_allclose(merged.predict_proba(rows), mean, rtol=1e-12)
    back = pickle.loads(pickle.dumps(merged))
    np.testing.assert_array_equal(back.predict_proba(rows), merged.predict_proba(rows))
    fewer = merged.drop_trees([0, 3, 4, 7])  # some of each part
    each = [merged.drop_trees([u for u in range(9) if u != t]) for t in (1, 2, 5, 6, 8)]
    mean = np.mean([one.predict_proba(rows) for one in each], axis=0)
    np.testing.assert_allclose(fewer.predict_proba(rows), mean, rtol=1e-12)
    for name in ("words", "tables", "leaves"):
        own = np.concatenate([getattr(one.forest_, name) for one in each])
        np.testing.assert_array_equal(getattr(fewer.forest_, name), own)


def test_forests_of_different_rows_can_be_merged() -> None:
    half = len(X) // 2
    table = ceiba.data.table.Table.of(X)
    parts = [
        RandomForestClassifier(5, random_state=9).fit(table.take(rows), CLASSES[rows])
        for rows in (np.arange(half), np.arange(half, len(X)))
    ]
    merged = parts[0].merge_forests(parts[1])
    assert merged.score(X, CLASSES) > 0.8
    assert merged.forest_.training_keys[:, 0].tolist() == [half] * 10


@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.3}, "balanced_subsample"])
def test_forests_of_different_rows_with_class_weights_can_be_merged(class_weight: Any) -> None:
    table = ceiba.data.table.Table.of(X)
    parts = [
        RandomForestClassifier(5, random_state=n, class_weight=class_weight).fit(
            table.take(np.arange(n)), CLASSES[:n]
        )
        for n in (60, 200)
    ]
    merged = parts[0].merge_forests(parts[1])
    mean = (parts[0].predict_proba(NEW) + parts[1].predict_proba(NEW)) / 2
    np.testing.assert_allclose(merged.predict_proba(NEW), mean, rtol=1e-9)


@EACH
def test_incompatible_forests_are_not_merged(kind: Any) -> None:
    model, y = kind(3).fit(X, target(kind)), target(kind)
    before = everything(model)
    with pytest.raises(ValueError, match="would contain duplicate trees"):
        model.merge_forests(model)
    with pytest.raises(ValueError, match="would contain duplicate trees"):
        model.merge_forests(kind(1, random_state=1).fit(X, y), kind(2).fit(X, y))
    with pytest.raises(ValueError, match="got different schemas"):
        model.merge_forests(kind(2, random_state=1).fit(X.rename(columns={"a": "q"}), y))
    with pytest.raises(ValueError, match="got different schemas"):
        model.merge_forests(kind(2, random_state=1).fit(X[["a", "b"]], y))
    other = KINDS[1 - KINDS.index(kind)]
    with pytest.raises(TypeError, match="others must be instances of"):
        model.merge_forests(other(2).fit(X, target(other)))
    with pytest.raises(NotFittedError):
        model.merge_forests(kind(2))
    assert everything(model) == before


def test_forests_of_different_classes_are_not_merged() -> None:
    model = classes(2)
    for y in (CLASSES + 1, CLASSES.clip(0, 1), np.array(["x", "y", "z"])[CLASSES]):
        with pytest.raises(ValueError, match="must have the same classes"):
            model.merge_forests(RandomForestClassifier(2, random_state=1).fit(X, y))


@EACH
def test_forests_of_different_constraints_are_not_merged(kind: Any) -> None:
    rows = np.arange(20.0).reshape(10, 2)
    y = rows[:, 0] > 8 if kind is RandomForestClassifier else rows[:, 0]
    model = kind(2, monotonic_cst=[1, 0]).fit(rows, y)
    for other in (None, [-1, 0]):
        changed = kind(2, monotonic_cst=other, random_state=1).fit(rows, y)
        for one, two in ((model, changed), (changed, model)):
            with pytest.raises(ValueError, match="must have the same monotonic_cst"):
                one.merge_forests(two)
    same = kind(2, monotonic_cst=np.array([1, 0]), random_state=1).fit(rows, y)
    assert model.merge_forests(same).forest_.n_trees == 4


# Failed fits


@EACH
def test_failed_fit_leaves_the_model_unchanged(kind: Any) -> None:
    y = target(kind)
    model = kind(20, oob_score=True, importance=True).fit(X, y)
    before, expected = everything(model), model.predict(NEW)
    bad = np.zeros(len(X))
    for options, args in [
        ({"max_features": "all"}, (X, y)),
        ({"tree_features": 3}, (X, y)),
        ({}, (X, y[:-1])),
        ({}, (X, y, bad)),
        ({}, (X, None)),
        ({}, (X.iloc[:0], y[:0])),
        # That no row is out of bag is known only after the trees are grown.
        ({"bootstrap": False, "max_samples": 1.0}, (X[["b"]], y)),
    ]:
        failing = copy.deepcopy(model).set_params(**options)
        with pytest.raises(ValueError):
            failing.fit(*args)
        assert everything(failing) == before
        np.testing.assert_array_equal(failing.predict(NEW), expected)


def test_fit_replaces_fitted_attributes() -> None:
    model = numbers(20, oob_score=True, importance=True, quantiles=True)
    model.set_params(oob_score=False, importance=False, quantiles=False)
    model.fit(X[["b", "c"]].to_numpy(), NUMBERS)
    fresh = RandomForestRegressor(20).fit(X[["b", "c"]].to_numpy(), NUMBERS)
    assert set(vars(model)) == set(vars(fresh))
    model_without_weights = (
        classes(class_weight="balanced").set_params(class_weight=None).fit(X, CLASSES)
    )
    assert set(vars(model_without_weights)) == set(vars(classes()))


@EACH
def test_methods_require_fit(kind: Any) -> None:
    model = kind()
    calls: list[Any] = [
        lambda: model.predict(X), lambda: model.apply(X), lambda: model.tree(0),
        lambda: model.drop_trees([0]), lambda: model.merge_forests(),
        lambda: model.feature_importances_,
        lambda: model.oob_importance(X, target(kind)), model.n_trees_sufficient,
        lambda: model.corrected_importances(X, target(kind)), lambda: model.score(X, target(kind)),
    ]  # fmt: skip
    if kind is RandomForestRegressor:
        calls += [lambda: model.predict_quantiles(X, 0.5), lambda: model.predict_interval(X)]
    else:
        calls += [lambda: model.predict_proba(X), lambda: model.predict_log_proba(X)]
    for call in calls:
        with pytest.raises(NotFittedError):
            call()
