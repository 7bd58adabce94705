"""Forests of several targets: trees, means, out-of-bag results, warm starts, files, messages."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier as PeerExtraClassifier
from sklearn.ensemble import ExtraTreesRegressor as PeerExtraRegressor
from sklearn.ensemble import RandomForestClassifier as PeerClassifier
from sklearn.ensemble import RandomForestRegressor as PeerRegressor
from sklearn.metrics import accuracy_score, r2_score

import ceiba
from ceiba import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from ceiba.base import ParameterError
from ceiba.export.errors import NotExpressibleError
from tests.tree.test_multi_output import MONOTONIC_ERROR, classes, mixed_table, numbers

REGRESSORS = [(RandomForestRegressor, PeerRegressor), (ExtraTreesRegressor, PeerExtraRegressor)]
CLASSIFIERS = [
    (RandomForestClassifier, PeerClassifier), (ExtraTreesClassifier, PeerExtraClassifier)
]  # fmt: skip


@pytest.mark.parametrize(("own", "peer"), REGRESSORS)
def test_regression_is_as_good_as_scikit_learns(own: Any, peer: Any) -> None:
    X, y = numbers(800)
    scores = [
        model(60, random_state=0).fit(X[:400], y[:400]).score(X[400:], y[400:])
        for model in (own, lambda n, random_state: peer(n, random_state=random_state))
    ]
    assert scores[0] == pytest.approx(scores[1], abs=0.03)


@pytest.mark.parametrize(("own", "peer"), CLASSIFIERS)
def test_classification_is_as_good_as_scikit_learns(own: Any, peer: Any) -> None:
    X, y = classes(800)
    one = own(60).fit(X[:400], y[:400]).predict(X[400:])
    two = peer(n_estimators=60, random_state=0).fit(X[:400], y[:400]).predict(X[400:])
    for k in range(3):
        expected = accuracy_score(y[400:, k], two[:, k])
        assert accuracy_score(y[400:, k], one[:, k]) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("learner", [RandomForestRegressor, ExtraTreesRegressor])
def test_a_forest_is_the_mean_of_its_trees(learner: Any) -> None:
    X, y = numbers()
    X[::9, 1] = np.nan
    model = learner(7, max_bins=16, max_features_per="both", tree_features=4).fit(X, y)
    trees = np.mean([tree.predict(X) for tree in model.estimators_], axis=0)
    assert model.predict(X) == pytest.approx(trees, rel=1e-12)
    assert model.apply(X).T.tolist() == [tree.apply(X).tolist() for tree in model.estimators_]
    indicator, ends = model.decision_path(X)
    assert indicator.shape[1] == ends[-1]
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_probabilities_are_lists_as_scikit_learns() -> None:
    X, y = classes()
    model = RandomForestClassifier(9).fit(X, y)
    found = model.predict_proba(X)
    assert [own.shape[1] for own in found] == model.n_classes_ == [4, 2, 2]
    expected = [tree.predict_proba(X)[1] for tree in model.estimators_]
    assert found[1] == pytest.approx(np.mean(expected, axis=0), abs=1e-12)
    assert np.array_equal(model.predict(X)[:, 1], model.classes_[1][found[1].argmax(axis=1)])
    assert model.n_outputs_ == 3


def test_a_bootstrap_sample_is_a_weighted_tree() -> None:
    X, y = numbers()
    model = RandomForestRegressor(3, max_features=None).fit(X, y)
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=len(X)).astype(float)
        alone = ceiba.DecisionTreeRegressor(category_correction=True)
        alone.fit(X, y, sample_weight=counts)
        assert tree.predict(X) == pytest.approx(alone.predict(X), rel=1e-9)


@pytest.mark.parametrize("learner", [
    RandomForestClassifier(12), ExtraTreesClassifier(12),
    RandomForestClassifier(12, max_leaf_nodes=9, class_weight="balanced", max_bins=8),
], ids=["forest", "extra", "limited"])  # fmt: skip
def test_threads_do_not_change_a_bit(learner: Any) -> None:
    X, y = classes(500)
    forests = [learner.set_params(n_jobs=n).fit(X, y).forest_ for n in (1, 2, 3)]
    for forest in forests[1:]:
        assert np.array_equal(forest.nodes, forests[0].nodes)
        assert forest.leaf_values.tobytes() == forests[0].leaf_values.tobytes()


def test_out_of_bag_predictions_of_numbers() -> None:
    X, y = numbers()
    model = RandomForestRegressor(40, oob_score=True).fit(X, y)
    sums, n_trees = np.zeros_like(y), np.zeros(len(y))
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(X)), rows)
        sums[out] += tree.predict(X[out])
        n_trees[out] += 1
    assert model.oob_prediction_ == pytest.approx(sums / n_trees[:, None], rel=1e-12)
    assert model.oob_score_ == pytest.approx(r2_score(y, model.oob_prediction_))


def test_out_of_bag_predictions_do_not_depend_on_the_trees_read_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = numbers()
    model = RandomForestRegressor(7, oob_score=True, max_samples=0.5)
    expected = model.fit(X, y).oob_prediction_
    monkeypatch.setattr("ceiba.ensemble.forest.oob_learner._OOB_TREES", 3)
    monkeypatch.setattr("ceiba.ensemble.forest.oob_learner._OOB_ROWS", 64)
    assert np.array_equal(model.fit(X, y).oob_prediction_, expected, equal_nan=True)


def test_out_of_bag_probabilities_have_scikit_learns_axes() -> None:
    X, y = classes()
    model = RandomForestClassifier(40, oob_score=True).fit(X, y[:, 1:])
    peer = PeerClassifier(40, oob_score=True, random_state=0).fit(X, y[:, 1:] % 5)
    assert model.oob_decision_function_.shape == peer.oob_decision_function_.shape
    assert model.oob_decision_function_.sum(axis=1) == pytest.approx(1)
    assert model.oob_score_ == pytest.approx(peer.oob_score_, abs=0.1)


def test_out_of_bag_score_of_several_classes_is_the_fraction_of_rows_all_right() -> None:
    X, y = classes()
    y = np.column_stack([y[:, 0], np.digitize(X[:, 1], [-1, 0, 1])])
    model = RandomForestClassifier(30, oob_score=True).fit(X, y)
    predicted = model.oob_decision_function_.argmax(axis=1)
    assert model.oob_decision_function_.shape == (len(X), 4, 2)
    assert 0 < model.oob_score_ == (predicted == y).all(axis=1).mean() < 1


def test_out_of_bag_results_of_unequal_classes_raise_before_growing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = classes()
    model = RandomForestClassifier(5, oob_score=True)
    monkeypatch.setattr(RandomForestClassifier, "_grow", None)
    with pytest.raises(ValueError, match="same number of classes"):
        model.fit(X, y)


@pytest.mark.filterwarnings("ignore:Warm-start")
@pytest.mark.parametrize("n_targets", [1, 3])
def test_out_of_bag_results_of_other_rows_raise(n_targets: int) -> None:
    X, y = numbers(60)
    y = y[:, 0] if n_targets == 1 else y
    model = RandomForestRegressor(15, oob_score=True, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="no tree was grown from these rows"):
        model.fit(X[:50], y[:50])


def test_warm_starts_drops_and_merges() -> None:
    X, y = classes()
    whole = RandomForestClassifier(8).fit(X, y)
    grown = RandomForestClassifier(5, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=8).fit(X, y)
    assert np.array_equal(grown.forest_.leaf_values, whole.forest_.leaf_values)
    parts = whole.drop_trees(number for number in range(5)), whole.drop_trees([5, 6, 7])
    assert np.array_equal(parts[1].merge_forests(parts[0]).predict_proba(X)[0],
                          whole.predict_proba(X)[0])  # fmt: skip
    with pytest.raises(ValueError, match="the targets of the existing trees, 3, got 2"):
        grown.fit(X, y[:, :2])
    with pytest.raises(ValueError, match="the targets of the existing trees, 3, got 1"):
        grown.fit(X, y[:, 0])
    with pytest.raises(ValueError, match="same targets"):
        whole.merge_forests(RandomForestClassifier(2).fit(X, y[:, 0]))
    with pytest.raises(ValueError, match="same classes"):
        whole.merge_forests(RandomForestClassifier(2).fit(X, y + 1))


def test_pickles_and_files_predict_the_same(tmp_path: Any) -> None:
    X, y = classes()
    model = RandomForestClassifier(5).fit(X, y)
    ceiba.save(model, tmp_path / "model.ceiba")
    for other in (pickle.loads(pickle.dumps(model)), ceiba.load(tmp_path / "model.ceiba")):
        assert np.array_equal(other.predict(X), model.predict(X))
        assert "3 outputs" in repr(other.forest_)


def test_damaged_forests_are_refused() -> None:
    X, y = numbers()
    forest = RandomForestRegressor(2).fit(X, y).forest_
    values = forest.to_json()
    for change, message in (
        ({"leaf_values": forest.leaf_values[1:]}, "one row for each"),
        ({"leaf_values": forest.leaf_values * np.inf}, "finite"),
        ({"output_classes": np.zeros(2, np.int64)}, "output_classes must belong"),
    ):
        with pytest.raises(ValueError, match=message):
            type(forest).from_json({**values, **change})


@pytest.mark.parametrize("n_targets", [1, 3])
def test_a_regressor_with_a_forest_of_classes_is_invalid(tmp_path: Any, n_targets: int) -> None:
    X, y = numbers()
    _, labels = classes()
    columns = 0 if n_targets == 1 else slice(None)
    model = RandomForestRegressor(2).fit(X, y[:, columns])
    model.forest_ = RandomForestClassifier(2).fit(X, labels[:, columns]).forest_
    with pytest.raises(ValueError, match="must be a regression forest"):
        ceiba.save(model, tmp_path / "model.ceiba")


def test_fractional_weights_without_bootstrap() -> None:
    X, y = numbers()
    w = np.random.default_rng(0).exponential(size=len(X))
    model = RandomForestRegressor(2, bootstrap=False, max_features=None, max_depth=3)
    tree = ceiba.DecisionTreeRegressor(max_depth=3, category_correction=True)
    found = model.fit(X, y, sample_weight=w).predict(X)
    assert found == pytest.approx(tree.fit(X, y, sample_weight=w).predict(X), rel=1e-9)


@pytest.mark.parametrize("options", [
    {"importance": True}, {"ccp_alpha": 0.1}, {"criterion": "entropy"},
    {"leaf_probability": "laplace"}, {"class_weight": "balanced_subsample"},
], ids=lambda options: str(next(iter(options))))  # fmt: skip
def test_options_of_one_target_raise(options: dict[str, Any]) -> None:
    X, y = classes()
    with pytest.raises(ParameterError, match="one target"):
        RandomForestClassifier(2, **options).fit(X, y)


@pytest.mark.parametrize("learner", [RandomForestClassifier, ExtraTreesRegressor])
@pytest.mark.parametrize("signs", [[1, 0, 0, 0, 0], np.array([0, 0, -1, 0, 0]), {0: 1}], ids=str)
def test_monotonic_constraints_raise(learner: Any, signs: Any) -> None:
    X, y = classes()
    with pytest.raises(ParameterError, match=f"^{MONOTONIC_ERROR}"):
        learner(2, monotonic_cst=signs).fit(X, y)


# Each parameter of the forests, with other settings that it needs and a value that differs from
# the default; these change the trees, and all others raise or concern other results.
CHANGES: dict[str, dict[str, Any]] = {
    "bootstrap": {"bootstrap": False}, "category_correction": {"category_correction": False},
    "class_weight": {"class_weight": "balanced"}, "max_bins": {"max_bins": 4},
    "interaction_cst": {"interaction_cst": "no_interactions"}, "max_depth": {"max_depth": 2},
    "max_features": {"max_features": 1}, "max_features_per": {"max_features_per": "tree"},
    "max_leaf_nodes": {"max_leaf_nodes": 4}, "max_samples": {"max_samples": 0.5},
    "min_impurity_decrease": {"min_impurity_decrease": 0.01}, "missing": {"missing": "branch"},
    "min_samples_leaf": {"min_samples_leaf": 20}, "min_samples_split": {"min_samples_split": 60},
    "min_weight_fraction_leaf": {"min_weight_fraction_leaf": 0.1}, "random_state": {
        "random_state": 7}, "n_estimators": {"n_estimators": 3}, "thresholds": {
        "thresholds": "random"}, "n_thresholds": {"thresholds": "random", "n_thresholds": 5},
    "tree_features": {"max_features_per": "both", "tree_features": 3},
}  # fmt: skip
RAISE = {
    "ccp_alpha": 0.1, "importance": True, "leaf_probability": "laplace", "quantiles": True,
    "monotonic_cst": [1, 0, 0, 0, 0, 0], "criterion": {"gini": "entropy",
    "squared_error": "absolute_error"},
}  # fmt: skip
OTHER_RESULTS = {"n_jobs", "verbose", "warm_start", "oob_score"}


@pytest.mark.parametrize("learner", [RandomForestClassifier, RandomForestRegressor])
def test_every_parameter_is_obeyed_or_raises(learner: Any) -> None:
    X, y = mixed_table(classes if learner is RandomForestClassifier else numbers)
    fit = {"n_estimators": 2, "max_features": 3, "max_samples": 0.9, "max_depth": 5}
    for name, value in learner().get_params().items():
        if name in CHANGES:
            options = fit | CHANGES[name]
            # max_features_per="both" requires tree_features.
            dropped = {name, "max_features_per"} if name == "tree_features" else {name}
            without = {k: v for k, v in options.items() if k not in dropped} | fit
            changed, other = (learner(**own).fit(X, y).forest_ for own in (options, without))
            assert changed.nodes.tobytes() != other.nodes.tobytes(), name
        elif name in RAISE:
            other = RAISE[name][value] if name == "criterion" else RAISE[name]
            with pytest.raises(ParameterError, match="one target"):
                learner(2, **{name: other}).fit(X, y)
        else:
            assert name in OTHER_RESULTS


def test_tools_of_one_target_raise() -> None:
    X, y = numbers()
    with pytest.raises(ParameterError, match="quantiles=True requires one target"):
        RandomForestRegressor(2, quantiles=True).fit(X, y)
    model = RandomForestRegressor(20, oob_score=True).fit(X, y)
    for use in (
        lambda: model.explain(X[:1]), lambda: model.oob_importance(X, y),
        lambda: model.corrected_importances(X, y), lambda: model.predict_interval(X),
        lambda: model.tree(0).to_text(),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="one target"):
            use()
    for export in (ceiba.export.to_sklearn, lambda m: ceiba.export.to_code(m, "python")):
        with pytest.raises(NotExpressibleError, match="one target"):
            export(model)


def test_sums_of_predictions_must_be_representable() -> None:
    X, y = numbers()
    with pytest.raises(ValueError, match="rescale y"):
        RandomForestRegressor(2).fit(X, y * 1e200)


@pytest.mark.parametrize("learner", [RandomForestClassifier, ExtraTreesClassifier])
def test_score_is_the_fraction_of_rows_with_all_classes_right(learner: Any) -> None:
    X, y = classes()
    model = learner(3, max_depth=3, random_state=0).fit(X, y)
    right = (model.predict(X) == y).all(axis=1).mean()
    assert 0 < right < 1
    assert model.score(X, y) == pytest.approx(right)


def test_results_of_one_target_name_the_targets() -> None:
    X, y = numbers(60)
    model = RandomForestRegressor(15, oob_score=True).fit(X, y)
    for method in (
        model.n_trees_sufficient, lambda: model.predict_quantiles(X, 0.5),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="requires a model of one target, got one of 3"):
            method()
