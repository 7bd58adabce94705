"""Every parameter changes the result, in the way that it says; bad values are refused."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba._typing import Array

pd = pytest.importorskip("pandas")

GROWTH = ["depth_first", "level_wise", "best_first"]


def table(n: int = 300) -> tuple[Any, Array, Array]:
    """Numbers with gaps, nominal and ordinal columns; three classes and a number."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=[*"abc"])
    X["a"] = X["a"].mask(rng.random(n) < 0.15)
    X["word"] = np.where(rng.random(n) < 0.1, None, rng.choice([*"pqrstuv"], size=n))
    X["size"] = pd.Categorical(rng.choice([*"SML"], size=n), [*"SML"], ordered=True)
    score = X["a"].fillna(2) + X["b"] ** 2 + 2 * (X["word"] > "s").to_numpy(bool, na_value=True)
    score = (score + rng.normal(size=n) / 2).to_numpy()
    return X, np.digitize(score, [0.5, 2.5]), score


X, CLASSES, NUMBERS = table()


def classes(**options: Any) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(**options).fit(X, CLASSES)


def numbers(**options: Any) -> DecisionTreeRegressor:
    return DecisionTreeRegressor(**options).fit(X, NUMBERS)


def shape(model: Any) -> str:
    """What tells one tree from another."""
    return sha256(model.tree_.nodes.tobytes() + model.tree_.value.tobytes()).hexdigest()


CHANGES: list[dict[str, Any]] = [
    {"splits": "multiway"},
    {"max_bins": 5},
    {"missing": "branch"},
    {"missing": "majority"},
    {"max_depth": 3},
    {"min_samples_split": 30},
    {"min_samples_split": 0.1},
    {"min_samples_leaf": 9},
    {"min_samples_leaf": 0.04},
    {"min_weight_fraction_leaf": 0.05},
    {"min_impurity_decrease": 0.01},
    {"min_impurity_split": 0.2},
    {"max_leaf_nodes": 6},
    {"growth": "level_wise"},
    {"growth": "best_first"},
    {"max_features": 2},
    {"max_features": "sqrt"},
    {"max_features": 0.5},
]
OF_CLASSES: list[dict[str, Any]] = [
    {"criterion": "entropy"},
    {"criterion": "gain_ratio"},
    {"criterion": "error"},
    {"class_weight": "balanced"},
    {"class_weight": {0: 5.0}},
]


@pytest.mark.parametrize("change", CHANGES + OF_CLASSES, ids=str)
def test_every_option_changes_the_tree_of_classes(change: dict[str, Any]) -> None:
    assert shape(classes(**change)) != shape(classes())


@pytest.mark.parametrize("change", [*CHANGES, {"criterion": "absolute_error"}], ids=str)
def test_every_option_changes_the_tree_of_numbers(change: dict[str, Any]) -> None:
    assert shape(numbers(**change)) != shape(numbers())


def test_options_that_change_something_else_than_the_tree() -> None:
    # The options of the presets and of pruning: test_tree_lecture_options and _pruning_estimator.
    numbers_too = {
        "n_intervals", "thresholds", "at", "n_thresholds", "max_surrogates", "reuse",
        "empty_branches", "pruning", "ccp_alpha", "prune_folds", "prune_rule", "validation_share",
    }  # fmt: skip
    of_classes = {
        "algorithm", "gain_guard", "mdl_correction", "cut_share", "leaf_rule", "cost_matrix",
        "collapse", "raising", "confidence", "prune_risk",
    }  # fmt: skip
    other = {"growth", "leaf_probability", "m", "random_state", "n_jobs", "trace", "criterion"}
    named = {name for change in CHANGES + OF_CLASSES for name in change}
    every = named | other | numbers_too
    assert set(DecisionTreeClassifier().get_params()) == every | of_classes
    assert set(DecisionTreeRegressor().get_params()) == every - {
        "class_weight", "leaf_probability", "m",
    }  # fmt: skip
    assert shape(classes(max_features=1, random_state=1)) != shape(classes(max_features=1))
    assert shape(classes(max_features=1, random_state=1)) == shape(
        classes(max_features=1, random_state=1)
    )
    fresh = {shape(classes(max_features=1, random_state=None)) for _ in range(4)}
    assert len(fresh) > 1
    assert hasattr(classes(trace=True), "trace_")
    assert not hasattr(classes(), "trace_")
    assert shape(classes(n_jobs=1)) == shape(classes(n_jobs=2)) == shape(classes())


def test_log_loss_is_entropy() -> None:
    assert shape(classes(criterion="log_loss")) == shape(classes(criterion="entropy"))


# What each one says


def test_limits_are_kept() -> None:
    assert classes(max_depth=3).get_depth() == 3
    tree = classes(min_samples_leaf=9).tree_
    assert tree.n_rows.min() >= 9
    assert classes(min_samples_leaf=0.04).tree_.n_rows.min() >= 12
    tree = classes(min_samples_split=30).tree_
    assert tree.n_rows[~tree.is_leaf].min() >= 30
    tree = classes(min_weight_fraction_leaf=0.05, class_weight="balanced").tree_
    assert tree.weight.min() >= 0.05 * tree.weight[0]
    tree = classes(min_impurity_decrease=0.01).tree_
    decrease = tree.weight / tree.weight[0] * tree.gain
    assert decrease[~tree.is_leaf].min() >= 0.01
    tree = classes(min_impurity_split=0.2).tree_
    assert tree.impurity[~tree.is_leaf].min() > 0.2


def test_fractions_are_of_the_rows_that_count() -> None:
    weight = np.ones(len(X))
    weight[::2] = 0
    kept = DecisionTreeClassifier(min_samples_leaf=0.1, min_samples_split=0.3)
    zero = kept.fit(X, CLASSES, weight).tree_
    assert zero.n_rows.min() >= 15
    np.testing.assert_array_equal(zero.nodes, kept.fit(X[1::2], CLASSES[1::2]).tree_.nodes)


@pytest.mark.parametrize("make", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_samples_leaf", 9), ("min_samples_split", 30), ("max_features", 2), ("max_depth", 2),
        ("max_bins", 5), ("max_leaf_nodes", 7), ("random_state", 3),
    ],
)  # fmt: skip
def test_whole_numbers_of_numpy_mean_the_same(make: Any, name: str, value: int) -> None:
    """As `GridSearchCV` over `numpy.arange` gives them."""
    y = NUMBERS if make is DecisionTreeRegressor else CLASSES
    more = {"max_features": 2} if name == "random_state" else {}
    plain = make(**{name: value}, **more).fit(X, y)
    for dtype in (np.int64, np.int32, np.uint8):
        assert shape(make(**{name: dtype(value)}, **more).fit(X, y)) == shape(plain)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_samples_leaf", 0.25), ("min_samples_split", 0.5), ("max_features", 0.5),
        ("min_impurity_decrease", 0.015625), ("min_impurity_split", 0.25),
        ("min_weight_fraction_leaf", 0.125), ("m", 4.0),
    ],
)  # fmt: skip
def test_floats_of_numpy_mean_the_same(name: str, value: float) -> None:
    for dtype in (np.float64, np.float32):
        assert shape(classes(**{name: dtype(value)})) == shape(classes(**{name: value}))


def test_truth_values_of_numpy_mean_the_same() -> None:
    assert hasattr(classes(trace=np.True_), "trace_")
    assert not hasattr(classes(trace=np.False_), "trace_")


BAD: list[tuple[str, Any]] = [
    ("criterion", "ginny"), ("criterion", "squared_error"), ("splits", "ternary"),
    ("max_bins", 1), ("max_bins", 65_536), ("max_bins", 16.0), ("missing", "impute"),
    ("max_depth", 0), ("max_depth", 2.5), ("max_depth", "deep"), ("min_samples_split", 1),
    ("min_samples_split", 0.0), ("min_samples_split", 1.5), ("min_samples_split", "2"),
    ("min_samples_leaf", 0), ("min_samples_leaf", 1.0), ("min_samples_leaf", -0.1),
    ("min_weight_fraction_leaf", 0.6),
    ("min_weight_fraction_leaf", -0.1), ("min_impurity_decrease", -1e-9),
    ("min_impurity_decrease", np.nan), ("min_impurity_split", -1.0), ("min_impurity_split", None),
    ("max_leaf_nodes", 1), ("max_leaf_nodes", 2.0), ("growth", "sideways"), ("max_features", 0),
    ("max_features", 0.0), ("max_features", 1.5), ("max_features", "all"),
    ("class_weight", "even"), ("leaf_probability", "none"), ("m", -1.0), ("m", np.inf),
    ("random_state", "x"), ("n_jobs", 0), ("trace", "yes"), ("min_samples_leaf", True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_values_are_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        classes(**{name: value})


def test_class_weights_are_checked() -> None:
    for given, message in [
        ({7: 1.0}, "class_weight names 7"),
        ({0: -1.0}, "positive"),
        ({0: np.nan}, "positive"),
        ({0: np.inf}, "positive"),
    ]:
        with pytest.raises(ValueError, match=message):
            classes(class_weight=given)


# Weights of classes, probabilities of leaves


def test_class_weights_are_weights_of_rows() -> None:
    factors = {0: 3.0, 2: 0.5}
    rows = np.array([factors.get(k, 1.0) for k in CLASSES])
    by_class = classes(class_weight=factors)
    by_row = DecisionTreeClassifier().fit(X, CLASSES, rows)
    assert shape(by_class) == shape(by_row)
    both = DecisionTreeClassifier(class_weight=factors).fit(X, CLASSES, 2 * rows)
    again = DecisionTreeClassifier().fit(X, CLASSES, 2 * rows**2)
    assert shape(both) == shape(again)
    named = DecisionTreeClassifier(class_weight={"low": 2.0})
    words = np.array(["high", "low", "mid"])[CLASSES]
    value = named.fit(X, words).tree_.value[0]
    np.testing.assert_array_equal(value, np.bincount(CLASSES) * [1, 2, 1])


def test_balanced_classes_weigh_the_same() -> None:
    value = classes(class_weight="balanced").tree_.value[0]
    np.testing.assert_allclose(value, len(X) / 3)


def test_probabilities_of_leaves() -> None:
    options = {"max_depth": 2, "class_weight": {1: 2.5}}
    plain = classes(**options)
    weights = plain.tree_.value[plain.apply(X)]
    total = weights.sum(axis=1, keepdims=True)
    prior = plain.tree_.value[0] / plain.tree_.value[0].sum()
    laplace = classes(leaf_probability="laplace", **options)
    estimate = classes(leaf_probability="m_estimate", m=7.5, **options)
    for model, expected in [
        (plain, weights / total),
        (laplace, (weights + 1) / (total + 3)),
        (estimate, (weights + 7.5 * prior) / (total + 7.5)),
        (classes(leaf_probability="m_estimate", m=0.0, **options), weights / total),
    ]:
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
        np.testing.assert_array_equal(model.apply(X), plain.apply(X))
        likeliest = model.classes_[model.predict_proba(X).argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(X), likeliest)
    other = classes(leaf_probability="m_estimate", **options).predict_proba(X)
    assert not np.array_equal(other, estimate.predict_proba(X))


# Order of growth


def canonical(tree: Any, node: int = 0) -> Any:
    """The tree below a node, without its numbers."""
    inside = (int(tree.n_rows[node]), tree.reasons[node], tree.value[node].tobytes())
    if tree.is_leaf[node]:
        return inside
    split = (
        int(tree.column[node]),
        int(tree.nodes[node, 0]),
        int(tree.gap_child(node)) - tree.child[node],
    )
    if tree.tables.size:
        split = (split[0], tree.split(node).branches, split[2])
    return (*inside, split, tuple(canonical(tree, child) for child in tree.children(node)))


@pytest.mark.parametrize("options", [{}, {"max_bins": 12}, {"missing": "branch"}], ids=str)
def test_the_order_of_growth_only_numbers_the_nodes(options: dict[str, Any]) -> None:
    trees = [classes(growth=growth, **options).tree_ for growth in GROWTH]
    assert canonical(trees[0]) == canonical(trees[1]) == canonical(trees[2])
    assert list(trees[0].walk()) != list(trees[1].walk())
    by_level = trees[1].depth
    assert (np.diff(by_level) >= 0).all()
    assert shape(classes(**options)) == shape(classes(growth="depth_first", **options))


@pytest.mark.parametrize("growth", [*GROWTH, "auto"])
@pytest.mark.parametrize("missing", ["learned", "branch"])
@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_the_number_of_leaves_is_kept(growth: str, missing: str, splits: str) -> None:
    for most in (2, 3, 4, 5, 11, 10_000):
        options = {"max_leaf_nodes": most, "missing": missing, "splits": splits}
        tree = classes(growth=growth, **options).tree_
        assert tree.n_leaves <= most
        if (missing, splits) == ("learned", "binary"):
            assert tree.n_leaves == min(most, classes().get_n_leaves())
        if growth == "auto":
            assert shape(classes(**options)) == shape(classes(growth="best_first", **options))


def test_best_first_takes_the_largest_weighted_gain() -> None:
    sizes = [classes(max_leaf_nodes=most).tree_ for most in range(2, 12)]
    for small, large in pairwise(sizes):
        inner = large.weight * large.gain
        found = np.sort(inner[~large.is_leaf])
        before = np.sort((small.weight * small.gain)[~small.is_leaf])
        assert len(found) == len(before) + 1
        # The splits of the smaller tree are all in the larger one.
        assert set(before) <= set(found)
        waiting = large.weight[large.is_leaf & (large.reason == 8)]
        assert len(waiting) + (large.impurity[large.is_leaf] == 0).sum() <= large.n_leaves


# Reasons, ties, columns


def test_every_reason_occurs() -> None:
    pure = classes().tree_
    assert set(pure.reasons) == {"split", "pure"}
    same = DecisionTreeClassifier().fit([[1.0], [1.0]], [0, 1]).tree_
    assert same.reasons == ["no_split"]
    for options, reason in [
        ({"min_impurity_split": 0.3}, "impurity"),
        ({"max_depth": 2}, "max_depth"),
        ({"min_samples_split": 40}, "min_samples_split"),
        ({"min_samples_leaf": 20}, "min_samples_leaf"),
        ({"min_weight_fraction_leaf": 0.2}, "min_samples_leaf"),
        ({"min_impurity_decrease": 0.02}, "min_impurity_decrease"),
        ({"max_leaf_nodes": 5}, "max_leaf_nodes"),
    ]:
        reasons = np.array(classes(**options).tree_.reasons)
        leaf = classes(**options).tree_.is_leaf
        assert set(reasons[leaf]) <= {reason, "pure", "min_samples_split", "min_samples_leaf"}
        assert reason in reasons[leaf]
        assert (reasons[~leaf] == "split").all()


def test_reasons_are_tested_in_their_order() -> None:
    rows, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    options: dict[str, Any] = {"min_impurity_split": 0.5, "max_depth": 1, "min_samples_split": 9}
    assert DecisionTreeClassifier(**options).fit(rows, y).tree_.reasons == ["impurity"]
    del options["min_impurity_split"]
    assert DecisionTreeClassifier(**options).fit(rows, y).tree_.reasons == ["min_samples_split"]
    few = DecisionTreeClassifier(min_samples_leaf=3, min_impurity_decrease=9.0).fit(rows, y).tree_
    assert few.reasons == ["min_samples_leaf"]
    weak = DecisionTreeClassifier(min_impurity_decrease=9.0, max_leaf_nodes=2).fit(rows, y).tree_
    assert weak.reasons == ["min_impurity_decrease"]
    deep = DecisionTreeClassifier(max_depth=1, min_samples_split=4).fit(rows, y).tree_
    assert deep.reasons[1:] == ["pure", "max_depth"]


def test_ties_go_to_the_first_column_and_the_lowest_threshold_and_are_counted() -> None:
    # Cuts after the first and before the last row gain the same, in both columns.
    rows = np.column_stack([np.arange(4.0), np.arange(4.0) * 3, [5.0, 5, 5, 5]])
    tree = DecisionTreeClassifier(max_depth=1).fit(rows, [0, 1, 1, 0]).tree_
    assert tree.column[0] == 0
    assert tree.threshold[0] == 0.5
    assert tree.ties.tolist() == [3, 0, 0]
    assert tree.runner_up_column[0] == 1
    assert tree.runner_up_gain[0] == tree.gain[0] > 0
    alone = DecisionTreeClassifier(max_depth=1).fit(rows, [0, 0, 1, 1]).tree_
    assert alone.ties[0] == 1
    number = DecisionTreeRegressor(max_depth=1).fit(rows[:, :1], [0.0, 1, 1, 0]).tree_
    assert number.ties[0] == 1
    assert number.threshold[0] == 0.5


@pytest.mark.parametrize(
    ("asked", "looked_at"), [(1, 1), (0.4, 2), ("sqrt", 3), ("log2", 3), (99, 9)]
)
def test_the_number_of_columns_a_node_looks_at(asked: Any, looked_at: int) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 9))
    if asked == 0.4:
        rows = rows[:, :5]
    model = DecisionTreeClassifier(max_features=asked, trace=True, max_depth=3)
    model.fit(rows, rng.integers(2, size=200))
    offers = [(frame["candidate_gain"] >= 0).sum() for frame in model.trace_]
    assert set(offers) == {looked_at}
    columns = {frame["column"] for frame in model.trace_}
    assert looked_at == 9 or len(columns) > 1


def test_more_columns_are_looked_at_where_none_can_be_split() -> None:
    rows = np.zeros((50, 30))
    rows[:, 17] = np.arange(50)
    for seed in range(6):
        model = DecisionTreeClassifier(max_features=1, random_state=seed)
        y = np.arange(50) // 5 % 2
        assert model.fit(rows, y).score(rows, y) == 1.0


def test_methods_are_told() -> None:
    vote = datasets.load("vote")
    assert "ordered" in DecisionTreeClassifier().fit(vote.table, vote.y).tree_.methods
    ways = set(classes().tree_.methods)
    assert {"none", "threshold", "exhaustive"} <= ways
    assert "multiway" in classes(splits="multiway").tree_.methods
    assert "ordered" in numbers().tree_.methods
    assert "median" in numbers(criterion="absolute_error").tree_.methods
    many = pd.DataFrame({"c": np.random.default_rng(0).choice([*"abcdefghijklmnop"], 300)})
    assert "principal" in DecisionTreeClassifier().fit(many, CLASSES).tree_.methods
