"""Trees of several targets: brute force, scikit-learn, options, files and messages."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier as PeerClassifier
from sklearn.tree import DecisionTreeRegressor as PeerRegressor

import ceiba
from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier, plots
from ceiba.base import ParameterError
from ceiba.export.errors import NotExpressibleError
from ceiba.tree.explain.dictionary import tree_dict, tree_nodes
from ceiba.tree.explain.rule_list import rule_list
from ceiba.tree.explain.text import tree_text
from tests.budget import examples
from tests.oracles.multi_output_naive import Problem, one_hot

NEAR = 1e-9
MONOTONIC_ERROR = "Monotonicity constraints are not supported with multiple outputs."


def numbers(n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of float32 values, in which scikit-learn compares, and three targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).astype(np.float32).astype(np.float64)
    noise = rng.normal(size=(n, 3))
    return X, np.column_stack([X[:, 0], 3 * np.sin(X[:, 1]), X[:, 2] * X[:, 3]]) + noise


def classes(n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and three columns of four, two and two classes."""
    X, Y = numbers(n, seed)
    four = np.digitize(Y[:, 0], [-1, 0, 1])
    return X, np.column_stack([four, 5 + (Y[:, 1] > 0), np.digitize(Y[:, 2], [0])])


def mixed_table(targets: Any, n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows with missing values, a column of sixteen categories, and three targets."""
    X, y = targets(n)
    X[::7, 0] = np.nan
    frame = pd.DataFrame(X, columns=list("abcde"))
    codes = np.random.default_rng(0).integers(0, 16, n)
    frame["f"] = pd.Categorical(np.array(list("ABCDEFGHIJKLMNOP"))[codes])
    return frame, y


# Brute force


@st.composite
def tables(draw: Any) -> tuple[pd.DataFrame, Problem, np.ndarray, bool]:
    """Draw two numeric columns and a nominal one, with missing values, and two or three targets."""
    seed = draw(st.integers(0, 2**32 - 1))
    n, k = draw(st.integers(2, 24)), draw(st.integers(2, 3))
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, draw(st.integers(2, 8)), n).astype(float) for _ in range(3)]
    for column in columns:
        column[rng.random(n) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    is_classes = draw(st.booleans())
    y = rng.integers(0, 3, (n, k)) if is_classes else rng.normal(size=(n, k)) * [1, 5, 0.1][:k]
    weights = draw(st.sampled_from([np.ones(n), rng.integers(1, 4, n), rng.exponential(size=n)]))
    outputs = [one_hot(y[:, j]) if is_classes else y[:, [j]] for j in range(k)]
    min_leaf = draw(st.integers(1, 3))
    problem = Problem(columns, [False, False, True], outputs, weights, min_leaf)
    labels = [None if np.isnan(v) else "abcdefgh"[int(v)] for v in columns[2]]
    frame = pd.DataFrame(
        {"a": columns[0], "b": columns[1], "c": pd.Categorical(labels, list("abcdefgh"))}
    )
    return frame, problem, y, is_classes


@given(tables(), st.sampled_from([None, 255]))
@examples(120)
def test_every_split_has_the_largest_gain(table: Any, max_bins: int | None) -> None:
    frame, problem, y, is_classes = table
    learner = DecisionTreeClassifier if is_classes else DecisionTreeRegressor
    model = learner(min_samples_leaf=problem.min_samples_leaf, max_bins=max_bins)
    tree = model.fit(frame, y, sample_weight=problem.weights).tree_
    nodes = model.decision_path(frame).toarray().astype(bool)
    scale = problem.error(np.arange(len(y)))
    for node in range(tree.n_nodes):
        rows = np.flatnonzero(nodes[:, node])
        assert tree.n_rows[node] == len(rows)
        assert tree.impurity[node] == pytest.approx(problem.error(rows), abs=NEAR * scale)
        for k, mean in enumerate(problem.means(rows)):
            assert tree.value[node, k, : len(mean)] == pytest.approx(mean, abs=NEAR * 5)
        best = None if problem.is_pure(rows) else problem.best_gain(rows)
        if best is None:
            assert tree.is_leaf[node]
        else:
            assert tree.gain[node] == pytest.approx(best, abs=NEAR * scale)
            assert not tree.is_leaf[node]


# scikit-learn


@pytest.mark.parametrize("limit", [
    {}, {"max_depth": 4}, {"max_leaf_nodes": 9}, {"min_impurity_decrease": 0.02},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_equals_scikit_learn_node_for_node(task: str, limit: dict[str, Any]) -> None:
    X, y = numbers() if task == "numbers" else classes()
    w = np.random.default_rng(1).integers(1, 5, len(X)).astype(float)
    limit = {"min_samples_leaf": 8, **limit}  # small nodes have ties
    own, peer = (
        (DecisionTreeRegressor, PeerRegressor)
        if task == "numbers"
        else (DecisionTreeClassifier, PeerClassifier)
    )
    model = own(**limit).fit(X, y, sample_weight=w)
    other = peer(random_state=0, **limit).fit(X, y, sample_weight=w)
    tree, expected = model.tree_, other.tree_
    assert tree.node_count == expected.node_count
    if "max_leaf_nodes" not in limit:  # scikit-learn numbers in preorder, then
        order = list(tree.walk())
        assert tree.feature[order].tolist() == expected.feature.tolist()
        assert tree.threshold[order] == pytest.approx(expected.threshold, rel=1e-6)
        assert tree.impurity[order] == pytest.approx(expected.impurity, abs=1e-9)
        assert tree.value[order] == pytest.approx(expected.value, abs=1e-9)
    assert (
        model.score(X[:, :], y) == pytest.approx(other.score(X, y)) if task == "numbers" else True
    )
    assert model.feature_importances_ == pytest.approx(other.feature_importances_, abs=1e-9)
    assert np.array_equal(model.n_outputs_, other.n_outputs_)
    if task == "classes":
        found, wanted = model.predict_proba(X), other.predict_proba(X)
        assert isinstance(found, list)
        for one, two in zip(found, wanted, strict=True):
            assert one == pytest.approx(two, abs=1e-9)
        assert [own.tolist() for own in model.classes_] == [c.tolist() for c in other.classes_]
        assert model.predict(X).tolist() == other.predict(X).tolist()
        logs = model.predict_log_proba(X)
        assert np.array_equal(np.exp(logs[1]) > 0, found[1] > 0)


@pytest.mark.parametrize("weight", ["balanced", [{0: 3.0}, {5: 2.0}, {1: 0.5}]], ids=str)
def test_class_weights_are_multiplied_as_in_scikit_learn(weight: Any) -> None:
    X, y = classes()
    model = DecisionTreeClassifier(class_weight=weight, max_depth=3).fit(X, y)
    full = weight
    if isinstance(weight, list):
        full = [{c: own.get(c, 1.0) for c in set(y[:, k].tolist())} for k, own in enumerate(weight)]
    other = PeerClassifier(class_weight=full, max_depth=3, random_state=0).fit(X, y)
    for one, two in zip(model.predict_proba(X), other.predict_proba(X), strict=True):
        assert one == pytest.approx(two, abs=1e-9)
    assert len(model.class_weight_) == 3


def test_a_list_of_class_weights_may_mix_its_kinds() -> None:
    X, y = classes()
    fit = {"max_depth": 2}
    model = DecisionTreeClassifier(class_weight=["balanced", None, {1: 2.0}], **fit).fit(X, y)
    other = DecisionTreeClassifier(class_weight="balanced", **fit).fit(X, y)
    assert model.class_weight_[0].tolist() == other.class_weight_[0].tolist()
    assert [own.tolist() for own in model.class_weight_[1:]] == [[1.0, 1.0], [1.0, 2.0]]


@pytest.mark.parametrize("wrong", ["balance", "balanced_subsample", 2.0, np.ones(2)], ids=str)
def test_class_weights_of_an_output_are_checked(wrong: Any) -> None:
    X, y = classes(20)
    with pytest.raises(ValueError, match="'balanced', a mapping or None for each target, got"):
        DecisionTreeClassifier(class_weight=[None, wrong, None]).fit(X, y)


@pytest.mark.parametrize("learner", [DecisionTreeClassifier, RandomForestClassifier])
@pytest.mark.parametrize("factor", [1e50, 1e-50])
def test_products_of_class_weights_must_be_representable(learner: Any, factor: float) -> None:
    X, y = classes(20)
    y = np.column_stack([y[:, 1] == 5] * 7).astype(int)
    model = learner(class_weight=[{1: factor}] + [{1: 1.0}] * 6).fit(X, y)
    assert np.isfinite(model.predict_proba(X)[0]).all()
    message = r"products over the outputs.*\[1e-50, 1e\+50\].*use weights closer to 1"
    with pytest.raises(ValueError, match=message):
        learner(class_weight=[{1: factor}] * 7).fit(X, y)


def test_one_column_is_one_target() -> None:
    X, y = numbers()
    with pytest.warns(DataConversionWarning):
        model = DecisionTreeRegressor(max_depth=2).fit(X, y[:, :1])
    assert model.n_outputs_ == 1
    assert model.predict(X).shape == (len(X),)


# Input and options


def test_frames_lists_and_text_are_targets() -> None:
    X, y = classes()
    frame = pd.DataFrame({"size": y[:, 0], "color": np.where(y[:, 1] == 5, "red", "blue")})
    model = DecisionTreeClassifier(max_depth=3).fit(X, frame)
    assert model.classes_[1].tolist() == ["blue", "red"]
    predicted = model.predict(X)
    assert predicted.dtype == object
    assert set(predicted[:, 1]) <= {"blue", "red"}
    as_array = DecisionTreeClassifier(max_depth=3).fit(X, y[:, :2].tolist())
    assert as_array.predict(X)[:, 0].tolist() == predicted[:, 0].tolist()


@pytest.mark.parametrize("options", [
    {"max_bins": 8}, {"thresholds": "random", "n_thresholds": 2}, {"thresholds": "quantile"},
    {"thresholds": "value"}, {"missing": "majority"}, {"missing": "branch"},
    {"max_features": 1}, {"min_samples_split": 40}, {"min_weight_fraction_leaf": 0.2},
    {"min_impurity_split": 1.2}, {"max_depth": 2},
], ids=str)  # fmt: skip
def test_options_change_the_tree_and_threads_do_not(options: dict[str, Any]) -> None:
    X, y = numbers(400)
    X[::7, 0] = np.nan
    plain = DecisionTreeRegressor(min_samples_leaf=5).fit(X, y)
    models = [
        DecisionTreeRegressor(min_samples_leaf=5, n_jobs=n, **options).fit(X, y) for n in (1, 2, 3)
    ]
    assert models[0].tree_.nodes.tobytes() != plain.tree_.nodes.tobytes()
    for model in models[1:]:
        assert np.array_equal(model.tree_.nodes, models[0].tree_.nodes)
        assert model.tree_.leaves.tobytes() == models[0].tree_.leaves.tobytes()
    assert models[0].tree_.n_rows[models[0].tree_.is_leaf].min() >= 5


def test_rows_of_weight_zero_are_absent_and_weights_are_repetitions() -> None:
    X, y = numbers(80)
    w = np.random.default_rng(3).integers(0, 3, 80)
    weighted = DecisionTreeRegressor(min_weight_fraction_leaf=0.1).fit(X, y, sample_weight=w)
    repeated = np.repeat(np.arange(80), w)
    same = DecisionTreeRegressor(min_weight_fraction_leaf=0.1).fit(X[repeated], y[repeated])
    assert weighted.predict(X) == pytest.approx(same.predict(X), rel=1e-12)


def test_many_categories_are_ordered_by_a_principal_component() -> None:
    rng = np.random.default_rng(0)
    code = rng.integers(0, 40, 2000)
    y = np.column_stack([code % 2, code % 2 * 3.0]) + rng.normal(size=(2000, 2)) * 0.1
    frame = pd.DataFrame({"c": pd.Categorical(code), "noise": rng.normal(size=2000)})
    model = DecisionTreeRegressor(max_depth=1).fit(frame, y)
    assert model.tree_.methods[0] == "principal"
    assert model.score(frame, y) > 0.9


def test_a_branch_for_each_category_predicts_its_means() -> None:
    _, y = numbers(60)
    labels = np.array(["a", "b", None], object)[np.arange(60) % 3]
    frame = pd.DataFrame({"c": labels})
    model = DecisionTreeRegressor(splits="multiway", missing="branch").fit(frame, y)
    assert model.tree_.n_branches[0] == 3
    for k in range(3):
        assert model.predict(frame)[k] == pytest.approx(y[k::3].mean(axis=0))


def test_trace_apply_and_paths() -> None:
    X, y = classes()
    model = DecisionTreeClassifier(max_depth=3, trace=True).fit(X, y)
    assert len(model.trace_) == model.get_n_leaves() - 1
    assert model.decision_path(X).sum(axis=1).max() == model.get_depth() + 1
    assert model.tree_.is_leaf[model.apply(X)].all()


# Files and copies


def test_pickles_files_and_clones_predict_the_same(tmp_path: Any) -> None:
    X, y = classes()
    model = DecisionTreeClassifier(max_depth=4).fit(X, y)
    ceiba.save(model, tmp_path / "model.ceiba")
    for other in (
        pickle.loads(pickle.dumps(model)),
        ceiba.load(tmp_path / "model.ceiba"),
        clone(model).fit(X, y),
    ):
        assert np.array_equal(other.predict(X), model.predict(X))
        assert "3 outputs" in repr(other.tree_)


def test_refitting_with_one_target_leaves_nothing_behind() -> None:
    X, y = classes()
    model = DecisionTreeClassifier(class_weight="balanced").fit(X, y).fit(X, y[:, 0])
    assert model.n_outputs_ == 1
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.predict(X).tolist() == y[:, 0].tolist()


def test_damaged_trees_are_refused() -> None:
    X, y = classes()
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y).tree_
    values = tree.to_json()
    for change, message in (
        ({"output_classes": np.array([4, 2, 3])}, "output_classes must belong"),
        ({"output_classes": np.array([8])}, "two or more outputs"),
        ({"leaves": tree.leaves * 2}, "probabilities that sum to 1"),
    ):
        with pytest.raises(ValueError, match=message):
            type(tree).from_json({**values, **change})


# Hazards


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e30, 1e100])
def test_scales_do_not_change_the_structure(scale: float) -> None:
    X, y = numbers()
    plain, scaled = (DecisionTreeRegressor(max_depth=4).fit(X, y * s) for s in (1.0, scale))
    assert scaled.apply(X).tolist() == plain.apply(X).tolist()
    assert scaled.predict(X) == pytest.approx(plain.predict(X) * scale, rel=1e-9)


def test_a_large_constant_output_does_not_hide_a_small_one() -> None:
    X, y = numbers()
    plain = DecisionTreeRegressor(max_depth=3).fit(X, y[:, :2])
    shifted = DecisionTreeRegressor(max_depth=3).fit(
        X, np.column_stack([y[:, :2], y[:, :1] * 0 + 1e150])
    )
    assert shifted.apply(X).tolist() == plain.apply(X).tolist()
    assert (shifted.predict(X)[:, 2] == 1e150).all()


def test_constant_outputs_and_one_row_are_one_leaf() -> None:
    X, y = numbers()
    constant = DecisionTreeRegressor().fit(X, np.ones_like(y))
    assert constant.tree_.reasons == ["pure"]
    one = DecisionTreeClassifier().fit(X[:1], [["a", "b"]])
    assert one.predict(X).tolist() == [["a", "b"]] * len(X)


@pytest.mark.parametrize(("change", "message"), [
    (lambda y: np.where(y > 1, np.nan, y), "Input y contains NaN"),
    (lambda y: np.where(y > 1, np.inf, y), "Input y contains infinity"),
    (lambda y: y[:-1], "inconsistent numbers of samples"),
    (lambda y: y * 1e200, "column 0 of y .* rescale y"),
    (lambda y: y[:, :, None], "1d array"),
    (lambda y: [[1.0, 2.0], [3.0], *y[2:].tolist()], "same for every row, got rows of 1, 2, 3"),
])  # fmt: skip
def test_bad_targets_are_named(change: Any, message: str) -> None:
    X, y = numbers()
    with pytest.raises(ValueError, match=message):
        DecisionTreeRegressor().fit(X, change(y))


@pytest.mark.parametrize("options", [
    {"criterion": "entropy"}, {"missing": "fractional"}, {"missing": "surrogate"},
    {"splits": "intervals", "n_intervals": 2}, {"pruning": "pessimistic"}, {"algorithm": "c45"},
    {"collapse": True}, {"cost_matrix": 1 - np.eye(2)}, {"leaf_probability": "laplace"},
    {"class_weight": {0: 1.0}}, {"class_weight": [{0: 1.0}]},
], ids=lambda options: str(next(iter(options))))  # fmt: skip
def test_options_of_one_target_raise(options: dict[str, Any]) -> None:
    X, y = classes()
    with pytest.raises(ParameterError, match=r"one target|multi-output"):
        DecisionTreeClassifier(**options).fit(X, y)


@pytest.mark.parametrize("signs", [[1, 0, 0, 0, 0], np.array([0, 0, -1, 0, 0]), {0: 1}], ids=str)
@pytest.mark.parametrize("learner", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_monotonic_constraints_raise(learner: Any, signs: Any) -> None:
    X, y = classes()
    with pytest.raises(ParameterError, match=f"^{MONOTONIC_ERROR}"):
        learner(monotonic_cst=signs).fit(X, y)


def test_paths_keep_interaction_constraints() -> None:
    X, y = numbers(400)
    model = DecisionTreeRegressor(interaction_cst=[[0, 1], [2, 3, 4]], min_samples_leaf=5).fit(X, y)
    tree, nodes = model.tree_, model.decision_path(X).toarray().astype(bool)
    together = {frozenset(tree.feature[on_path & ~tree.is_leaf].tolist()) for on_path in nodes}
    assert max(map(len, together)) > 1
    assert all(columns <= {0, 1} or columns <= {2, 3, 4} for columns in together)


# Each parameter of the trees, with settings that it needs and a value that differs from the
# default; these change the tree, and all others raise or concern other results.
CHANGES: dict[str, dict[str, Any]] = {
    "category_correction": {"category_correction": False}, "class_weight": {
        "class_weight": "balanced"}, "growth": {"growth": "breadth_first"},
    "interaction_cst": {"interaction_cst": "no_interactions"}, "max_bins": {"max_bins": 4},
    "max_depth": {"max_depth": 2}, "max_features": {"max_features": 2},
    "max_leaf_nodes": {"max_leaf_nodes": 4}, "min_impurity_decrease": {
        "min_impurity_decrease": 0.05}, "min_impurity_split": {"min_impurity_split": 1.2},
    "min_samples_leaf": {"min_samples_leaf": 20}, "min_samples_split": {"min_samples_split": 60},
    "min_weight_fraction_leaf": {"min_weight_fraction_leaf": 0.1}, "missing": {
        "missing": "majority"}, "n_thresholds": {"thresholds": "quantile", "n_thresholds": 3},
    "random_state": {"splitter": "random", "random_state": 7},
    "splits": {"splits": "multiway", "category_correction": False},
    "splitter": {"splitter": "random"}, "threshold_scope": {
        "thresholds": "quantile", "threshold_scope": "root"}, "thresholds": {
        "thresholds": "mean"},
}  # fmt: skip
RAISE: dict[str, dict[str, Any]] = {
    "above_average_gain": {"criterion": "gain_ratio", "above_average_gain": True},
    "algorithm": {"algorithm": "c45"}, "ccp_alpha": {"ccp_alpha": 0.01},
    "collapse": {"collapse": True}, "cost_matrix": {"cost_matrix": 1 - np.eye(2)},
    "criterion": {"criterion": "entropy"},
    "empty_branches": {"splits": "multiway", "empty_branches": True},
    "feature_reuse": {"feature_reuse": "none"}, "leaf_probability": {
        "leaf_probability": "laplace"}, "m_prior": {
        "leaf_probability": "m_estimate", "m_prior": 3.0},
    "max_surrogates": {"missing": "surrogate", "max_surrogates": 2},
    "mdl_correction": {"criterion": "entropy", "mdl_correction": True},
    "min_leaf_branches": {"splits": "multiway", "min_leaf_branches": "two"},
    "min_split_fraction": {"min_split_fraction": 0.1},
    "monotonic_cst": {"monotonic_cst": [1, 0, 0, 0, 0, 0]},
    "n_intervals": {"splits": "intervals", "n_intervals": 3},
    "prune_confidence": {"prune_confidence": 0.1}, "prune_folds": {"prune_folds": 5},
    "prune_risk": {"prune_risk": "error"}, "prune_rule": {"prune_rule": "min"},
    "pruning": {"pruning": "cost_complexity"}, "pruning_step": {"pruning_step": 1},
    "subtree_raising": {"subtree_raising": True},
    "validation_fraction": {"validation_fraction": 0.3},
}  # fmt: skip


@pytest.mark.parametrize("learner", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_every_parameter_is_obeyed_or_raises(learner: Any) -> None:
    is_classes = learner is DecisionTreeClassifier
    X, y = mixed_table(classes if is_classes else numbers)
    fit = {"min_samples_leaf": 5}
    for name in learner().get_params():
        if name in CHANGES:
            options = fit | CHANGES[name]
            without = {k: v for k, v in options.items() if k != name} | fit
            changed, other = (learner(**own).fit(X, y).tree_ for own in (options, without))
            assert changed.nodes.tobytes() != other.nodes.tobytes(), name
        elif name in RAISE:
            options = RAISE[name]
            if name == "criterion" and not is_classes:
                options = {"criterion": "absolute_error"}
            with pytest.raises(ParameterError, match=r"one target|y with several columns"):
                learner(**options).fit(X, y)
        else:
            assert name in {"n_jobs", "trace"}


def test_a_list_of_class_weights_needs_several_targets() -> None:
    X, y = classes()
    with pytest.raises(ValueError, match="class_weight must be a mapping or 'balanced'"):
        DecisionTreeClassifier(class_weight=[{0: 1.0}]).fit(X, y[:, 0])


def test_tools_of_one_target_raise() -> None:
    X, y = classes()
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    for use in (
        model.to_text, model.to_rules, model.to_dict, model.to_json, model.tree_.to_text,
        lambda: model.explain(X[:1]), lambda: model.shap_values(X),
        lambda: model.pruned("none"), lambda: model.depth_scores(X, y),
        lambda: model.cost_complexity_pruning_path(X, y), lambda: plots.tree(model),
        lambda: plots.tree(model.tree_), lambda: plots.regions(model, X[:, :2], y[:, 0]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="one target"):
            use()
    with pytest.raises(NotExpressibleError, match="one target"):
        ceiba.export.to_sklearn(model)


def test_errors_name_what_needs_one_target() -> None:
    X, y = classes(60)
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    tree, labels = model.tree_, list(range(8))
    for use, what in (
        (model.to_text, "to_text()"), (model.to_dict, "to_dict()"),
        (model.to_json, "to_json()"), (model.to_rules, "to_rules()"),
        (lambda: rule_list(tree, classes=labels), "A list of rules"),
        (lambda: tree_nodes(tree, classes=labels), "A dictionary of a tree"),
        (lambda: tree_dict(tree, classes=[0]), "A dictionary of a tree"),
        (lambda: tree_text(tree, classes=labels), "A text of a tree"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"^{re.escape(what)} requires a model of one target"):
            use()


def test_files_raise(tmp_path: Any) -> None:
    pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]}).to_csv(tmp_path / "t.csv", index=False)
    scan = ceiba.scan(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="with several targets requires rows in memory"):
        DecisionTreeRegressor(max_bins=8).fit(scan, np.zeros((2, 2)))


# Scores


def test_score_is_the_fraction_of_rows_with_all_classes_right() -> None:
    X, y = classes()
    names = np.column_stack([y[:, 0].astype(object), np.where(y[:, 1] > 5, "a", "b")])
    weight = np.arange(1.0, len(X) + 1)
    for target in (y, names, pd.DataFrame(names), names.tolist()):
        model = DecisionTreeClassifier(max_depth=3).fit(X, target)
        right = (model.predict(X) == np.asarray(target)).all(axis=1)
        assert 0 < right.mean() < 1
        assert model.score(X, target) == pytest.approx(right.mean())
        assert model.score(X, target, weight) == pytest.approx(np.average(right, weights=weight))
    assert len(cross_val_score(DecisionTreeClassifier(max_depth=3), X, y, cv=3)) == 3
    with pytest.raises(ValueError, match="y must have 2 columns, one for each target, got 1"):
        model.score(X, y[:, 0])


@pytest.mark.parametrize("n_targets", [1, 3])
def test_a_regressor_with_a_tree_of_classes_is_invalid(tmp_path: Any, n_targets: int) -> None:
    X, y = numbers()
    _, labels = classes()
    columns = 0 if n_targets == 1 else slice(None)
    model = DecisionTreeRegressor().fit(X, y[:, columns])
    model.tree_ = DecisionTreeClassifier().fit(X, labels[:, columns]).tree_
    with pytest.raises(ValueError, match="must be a regression tree"):
        ceiba.save(model, tmp_path / "model.ceiba")
