"""Every option of gradient boosting changes the model, or raises where it has no effect."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from ceiba.base import declared
from tests.ensemble.gradient_boosting.parts import CLASSES, KINDS, NUMBERS, X, bits, raw_scores
from tests.ensemble.gradient_boosting.test_use import Squared

TWO = (CLASSES > 0).astype(int)
POSITIVE = np.exp(NUMBERS / 3)
BASE: dict[str, Any] = {"n_estimators": 6, "min_samples_leaf": 5, "max_leaf_nodes": 8}

CHANGES: list[dict[str, Any]] = [
    {"n_estimators": 7},
    {"learning_rate": 0.2},
    {"method": "gradient"},
    {"growth": "breadth_first"},
    {"max_leaf_nodes": 9},
    {"max_leaf_nodes": None, "max_depth": 3},
    {"max_depth": 2},
    {"min_samples_leaf": 30},
    {"min_child_weight": 40.0},
    {"min_split_gain": 20.0},
    {"reg_lambda": 5.0},
    {"reg_alpha": 5.0},
    {"max_features": 1},
    {"max_features": 0.5},
    {"max_features": "sqrt"},
    {"max_features": "log2"},
    {"tree_features": 2},
    {"tree_features": 0.7},
    {"subsample": 0.5},
    {"sampling": "goss"},
    {"sampling": "goss", "top_rate": 0.4},
    {"sampling": "goss", "other_rate": 0.3},
    {"max_bins": 8},
    {"gradient_bits": 4},
    {"monotonic_cst": {"a": -1}},
    {"interaction_cst": "no_interactions"},
    {"interaction_cst": "pairwise", "max_leaf_nodes": 20},
    {"interaction_cst": [["a", "few"], ["c", "many"]]},
    {"dropout": 0.5},
    {"init": "zero"},
    {"early_stopping": True},
    {"early_stopping": True, "validation_fraction": 0.4},
    {"early_stopping": True, "n_iter_no_change": 1, "tol": 1.0},
    {"early_stopping": True, "tol": 1.0},
    {"random_state": 1, "subsample": 0.5},
]
OF_TWO_CLASSES: list[dict[str, Any]] = [
    {"loss": "exponential"},
    {"class_weight": "balanced"},
    {"class_weight": {0: 3.0}},
]
OF_NUMBERS: list[dict[str, Any]] = [
    {"loss": "absolute_error"},
    {"loss": "huber"},
    {"loss": "huber", "alpha": 0.5},
    {"loss": "quantile"},
    {"loss": "quantile", "alpha": 0.3},
    {"loss": "poisson"},
    {"loss": "gamma"},
    {"loss": "tweedie"},
    {"loss": "tweedie", "power": 1.2},
]
# Options whose effect another table shows; test_category_smoothing_changes_the_trees.
OF_RARE_CATEGORIES: list[dict[str, Any]] = [{"category_smoothing": 1e4}]
# Options that do not change the trees; test_options_that_do_not_change_the_trees.
SAME: list[dict[str, Any]] = [
    {"n_jobs": 1},
    {"n_jobs": 2},
    {"verbose": 1},
    {"trace": True},
    {"warm_start": True},
]


def fit(kind: Any, change: dict[str, Any]) -> Any:
    """Fit a learner with some changed options; monotonic constraints require two classes."""
    y = TWO if kind is GradientBoostingClassifier else POSITIVE
    return kind(**{**BASE, **change}).fit(X, y)


PLAIN = {kind: bits(fit(kind, {})) for kind in KINDS}


@pytest.mark.parametrize("change", CHANGES + OF_TWO_CLASSES, ids=str)
def test_every_option_changes_the_classifier(change: dict[str, Any]) -> None:
    assert bits(fit(GradientBoostingClassifier, change)) != PLAIN[GradientBoostingClassifier]


@pytest.mark.parametrize("change", CHANGES + OF_NUMBERS, ids=str)
def test_every_option_changes_the_regressor(change: dict[str, Any]) -> None:
    assert bits(fit(GradientBoostingRegressor, change)) != PLAIN[GradientBoostingRegressor]


def test_all_changes_give_different_models() -> None:
    for kind, changes in (
        (GradientBoostingClassifier, CHANGES + OF_TWO_CLASSES),
        (GradientBoostingRegressor, CHANGES + OF_NUMBERS),
    ):
        found: dict[Any, Any] = {}
        for change in changes:
            if change in ({"early_stopping": True, "tol": 1.0}, {"max_features": "log2"}):
                continue  # as n_iter_no_change=1 and as "sqrt", with so few rounds and columns
            model = bits(fit(kind, change))
            assert model not in found, (change, found[model])
            found[model] = change


def test_one_tree_for_all_classes() -> None:
    models = [
        GradientBoostingClassifier(4, multi_strategy=strategy).fit(X, CLASSES)
        for strategy in ("one_output_per_tree", "multi_output_tree")
    ]
    assert bits(models[0]) != bits(models[1])
    leaf = models[1].apply(X)
    np.testing.assert_array_equal(leaf[..., 0], leaf[..., 1])
    np.testing.assert_array_equal(leaf[..., 0], leaf[..., 2])


def test_a_trace_counts_one_tree_for_all_classes_once() -> None:
    model = GradientBoostingClassifier(2, multi_strategy="multi_output_tree", trace=True)
    model.fit(X, CLASSES)
    for frame in model.trace_:
        trees, first = model.boosted_trees_, 3 * frame["round"]
        nodes = slice(*trees.tree_offsets[first : first + 2])
        assert frame["n_leaves"] == model.tree(frame["round"]).n_leaves
        assert frame["gain"] == trees.node_gains[nodes].sum()


@pytest.mark.parametrize("change", SAME, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_options_that_do_not_change_the_trees(
    kind: Any, change: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    model = fit(kind, change)
    assert bits(model) == PLAIN[kind]
    assert hasattr(model, "trace_") == ("trace" in change)
    assert ("training" in model.losses_) == bool(change.keys() & {"trace", "verbose"})
    assert bool("".join(capsys.readouterr())) == ("verbose" in change)


@pytest.mark.parametrize("kind", KINDS)
def test_every_declared_parameter_and_choice_is_covered(kind: Any) -> None:
    own = OF_TWO_CLASSES if kind is GradientBoostingClassifier else OF_NUMBERS
    tried: dict[str, list[Any]] = {}
    for change in CHANGES + own + SAME + OF_RARE_CATEGORIES:
        for name, value in change.items():
            tried.setdefault(name, []).append(value)
    if kind is GradientBoostingClassifier:
        tried["multi_strategy"] = ["multi_output_tree"]  # test_one_tree_for_all_classes
    parameters = {parameter.name: parameter for parameter in declared(kind)}
    assert set(tried) == set(parameters) == set(kind().get_params())
    for name, values in tried.items():
        assert any(value != parameters[name].default for value in values), name
        choices = set(parameters[name].choices) - {parameters[name].default}
        assert choices <= {value for value in values if isinstance(value, str)}, name


# Limits hold


@pytest.mark.parametrize("growth", ["best_first", "breadth_first"])
@pytest.mark.parametrize("kind", KINDS)
def test_limits_hold(kind: Any, growth: str) -> None:
    model = fit(kind, {"max_depth": 3, "max_leaf_nodes": None, "growth": growth})
    assert {int(model.tree(t).depth.max()) for t in range(6)} == {3}
    for limit in (2, 3, 9):
        model = fit(kind, {"max_leaf_nodes": limit, "growth": growth})
        assert {model.tree(t).n_leaves for t in range(6)} == {limit}
    model = fit(kind, {"min_samples_leaf": 17, "growth": growth})
    assert model.boosted_trees_.node_rows.min() >= 17
    model = fit(kind, {"min_split_gain": 1.5, "growth": growth})
    gains = model.boosted_trees_.node_gains
    assert gains[gains > 0].min() > 1.5


@pytest.mark.parametrize("options", [{}, {"max_features": 2}], ids=str)
def test_without_a_limit_of_leaves_the_order_only_numbers_the_nodes(options: Any) -> None:
    models = [
        fit(
            GradientBoostingRegressor,
            {"growth": growth, "max_leaf_nodes": None, "max_depth": 4, **options},
        )
        for growth in ("best_first", "breadth_first")
    ]
    np.testing.assert_array_equal(raw_scores(models[0]), raw_scores(models[1]))
    assert (models[0].apply(X) != models[1].apply(X)).any()


@pytest.mark.parametrize("rows_on_the_right", [False, True])
@pytest.mark.parametrize("n", [61, 97, 134, 201, 251])
def test_branches_of_exactly_the_minimum_are_allowed(n: int, rows_on_the_right: bool) -> None:
    """Sums of quantized Hessians are rounded when they become floats."""
    x = np.arange(n)[:, None]
    y = (x[:, 0] >= n - 20) if rows_on_the_right else (x[:, 0] < 20)
    for options in ({}, {"method": "gradient"}, {"min_samples_leaf": 1, "min_child_weight": 20.0}):
        options = {"min_samples_leaf": 20, **options}
        model = GradientBoostingRegressor(1, max_leaf_nodes=2, **options).fit(x, y.astype(float))
        assert sorted(model.boosted_trees_.node_rows.tolist()) == [20, n - 20, n], options


def test_columns_are_drawn_per_tree_and_per_node() -> None:
    per_tree = fit(GradientBoostingRegressor, {"n_estimators": 30, "tree_features": 1})
    trees = [per_tree.tree(t) for t in range(30)]
    assert all(len(set(tree.column[~tree.is_leaf].tolist())) <= 1 for tree in trees)
    used = np.concatenate([tree.column[~tree.is_leaf] for tree in trees])
    assert len(set(used.tolist())) >= 5  # one has no gain above chance
    per_node = fit(GradientBoostingRegressor, {"n_estimators": 30, "max_features": 1})
    tree = per_node.tree(0)
    assert len(set(tree.column[~tree.is_leaf].tolist())) > 2


@pytest.mark.parametrize(
    ("max_features", "n_drawn"), [(0.5, 1), (0.7, 2), ("sqrt", 1), ("log2", 1)]
)
def test_fractions_of_columns_are_of_those_of_the_tree(max_features: Any, n_drawn: int) -> None:
    one, other, all_of_tree = (
        fit(GradientBoostingRegressor, {"tree_features": 3, "max_features": value})
        for value in (max_features, n_drawn, None)
    )
    assert bits(one) == bits(other) != bits(all_of_tree)


def test_a_node_whose_drawn_columns_have_no_split_is_a_leaf() -> None:
    rows = np.column_stack([np.zeros((300, 30)), np.arange(300.0)])
    model = GradientBoostingRegressor(20, max_features=1, max_leaf_nodes=None, max_depth=3)
    model.fit(rows, rows[:, -1])
    n_leaves = [model.tree(number).n_leaves for number in range(20)]
    assert n_leaves.count(1) > 10
    # Equal splits: the first column is taken.
    twice = np.column_stack([rows[:, -1], rows[:, -1]])
    model = GradientBoostingRegressor(5, max_features=2).fit(twice, rows[:, -1])
    assert model.feature_importances_.tolist() == [1.0, 0.0]


def test_interactions_on_a_path() -> None:
    model = fit(GradientBoostingRegressor, {"interaction_cst": [["a", "few"], ["c", "many"]]})
    allowed = [{0, 4}, {2, 5}, {1, 3}]
    for t in range(6):
        tree = model.tree(t)
        for leaf in np.flatnonzero(tree.is_leaf):
            path, at = set(), tree.parent[leaf]
            while at >= 0:
                path.add(int(tree.column[at]))
                at = tree.parent[at]
            assert any(path <= columns for columns in allowed)


def test_fraction_of_rows() -> None:
    model = fit(GradientBoostingRegressor, {"subsample": 0.3, "n_estimators": 50})
    trees = model.boosted_trees_
    rows = trees.node_rows[trees.tree_offsets[:-1]]
    assert len(set(rows.tolist())) > 10
    assert rows.mean() == pytest.approx(0.3 * len(X), rel=0.1)
    model = fit(
        GradientBoostingRegressor,
        {"sampling": "goss", "top_rate": 0.25, "other_rate": 0.15, "n_estimators": 50},
    )
    trees = model.boosted_trees_
    rows = trees.node_rows[trees.tree_offsets[:-1]]
    assert rows.min() >= 0.25 * len(X)
    assert rows.mean() == pytest.approx(0.4 * len(X), rel=0.1)


def test_random_states() -> None:
    for make in (np.random.RandomState, np.random.default_rng, int):
        models = [
            fit(GradientBoostingRegressor, {"subsample": 0.5, "random_state": make(seed)})
            for seed in (2, 2, 3)
        ]
        assert bits(models[0]) == bits(models[1]) != bits(models[2])


# Options without effect

WITHOUT_EFFECT: list[tuple[dict[str, Any], str]] = [
    *(
        ({"method": "gradient", name: 3.0}, f"'{name}' has no effect with method='gradient'")
        for name in ("reg_lambda", "reg_alpha", "min_child_weight")
    ),
    ({"sampling": "goss", "subsample": 0.5}, "'subsample' has no effect with sampling='goss'"),
    ({"top_rate": 0.3}, "'top_rate' has no effect with sampling='uniform'"),
    ({"other_rate": 0.3}, "'other_rate' has no effect with sampling='uniform'"),
    ({"validation_fraction": 0.3}, "'validation_fraction' has no effect with early_stopping=False"),
    ({"tol": 0.3}, "'tol' has no effect with early_stopping=False"),
    (
        {"sampling": "goss", "top_rate": 0.9, "other_rate": 0.2},
        "at most 1, got 0.9 [+] 0.2",
    ),
    ({"early_stopping": True, "dropout": 0.1}, "early_stopping requires dropout=0"),
    ({"method": "gradient", "monotonic_cst": {"a": 1}}, "monotonic_cst requires method='newton'"),
    ({"max_leaf_nodes": None}, "max_leaf_nodes=None requires max_depth"),
]


@pytest.mark.parametrize(("options", "message"), WITHOUT_EFFECT, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_options_without_effect_raise(kind: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(2, **options).fit(X, TWO)


@pytest.mark.parametrize("kind", KINDS)
def test_category_smoothing_changes_the_trees(kind: Any) -> None:
    """Five rows of the first category are far from the others, which hardly differ."""
    code = np.repeat([0, 1, 2], [5, 200, 200])
    y = np.repeat([1, 0, 1, 0, 1], [5, 104, 96, 96, 104])
    frame = pd.DataFrame({"c": pd.Categorical.from_codes(code, list("abc"))})
    models = [kind(**{**BASE, **change}) for change in ({}, *OF_RARE_CATEGORIES)]
    assert len({bits(model.fit(frame, y)) for model in models}) == 2


def test_an_alpha_without_effect_warns() -> None:
    message = "'alpha' has no effect with loss='poisson': .* reg_alpha"
    with pytest.warns(UserWarning, match=message):
        GradientBoostingRegressor(1, loss="poisson", alpha=0.5).fit(X, POSITIVE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GradientBoostingRegressor(1, loss="huber", alpha=0.5).fit(X, POSITIVE)


def test_zero_gradients_of_huber_are_the_reason_of_a_constant_model() -> None:
    y = np.zeros(len(X))
    y[:5] = 100.0
    with pytest.warns(UserWarning, match="increase alpha"):
        GradientBoostingRegressor(3, loss="huber").fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_a_patience_without_early_stopping_warns(kind: Any) -> None:
    message = "'n_iter_no_change' has no effect with early_stopping=False: .* 10, got 3"
    with pytest.warns(UserWarning, match=message):
        kind(1, n_iter_no_change=3).fit(X, TWO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(1, n_iter_no_change=3, early_stopping=True).fit(X, TWO)


def test_options_of_single_learners_without_effect_raise() -> None:
    with pytest.raises(ValueError, match="'power' has no effect with loss='poisson'"):
        GradientBoostingRegressor(2, loss="poisson", power=1.2).fit(X, POSITIVE)
    with pytest.raises(ValueError, match="'power' has no effect with loss='Squared'"):
        GradientBoostingRegressor(2, loss=Squared(), power=1.2).fit(X, POSITIVE)
    with pytest.raises(ValueError, match="loss='exponential' requires two classes, got 3"):
        GradientBoostingClassifier(2, loss="exponential").fit(X, CLASSES)
    with pytest.raises(ValueError, match="monotonic_cst requires two classes, got 3"):
        GradientBoostingClassifier(2, monotonic_cst={"a": 1}).fit(X, CLASSES)


OUT_OF_RANGE: list[dict[str, Any]] = [
    {"n_estimators": 0},
    {"learning_rate": 0.0},
    {"learning_rate": np.nan},
    {"max_leaf_nodes": 1},
    {"max_depth": 0},
    {"min_samples_leaf": 0},
    {"min_child_weight": -1.0},
    {"min_split_gain": -1.0},
    {"reg_lambda": -1.0},
    {"reg_alpha": np.inf},
    {"tree_features": 1.5},
    {"subsample": 0.0},
    {"sampling": "mvs"},
    {"top_rate": 1.0},
    {"other_rate": 0.0},
    {"max_bins": 1},
    {"max_bins": 65_536},
    {"gradient_bits": 1},
    {"gradient_bits": 42},
    {"category_smoothing": -1.0},
    {"dropout": 1.0},
    {"validation_fraction": 1.0},
    {"n_iter_no_change": 0},
    {"tol": -1.0},
    {"growth": "depth_first"},
    {"method": "xgboost"},
]


@pytest.mark.parametrize("options", OUT_OF_RANGE, ids=str)
def test_values_out_of_range_raise(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(ValueError, match=name):
        GradientBoostingRegressor(**options).fit(X, NUMBERS)


def test_scores_depend_on_the_learning_rate() -> None:
    one, other = (
        GradientBoostingRegressor(1, learning_rate=rate).fit(X, NUMBERS) for rate in (0.1, 0.5)
    )
    first = one.boosted_trees_.first_scores[0]
    np.testing.assert_allclose(raw_scores(other) - first, 5 * (raw_scores(one) - first), rtol=1e-9)
