"""Every parameter changes the result as documented; bad values raise."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba._typing import Array

pd = pytest.importorskip("pandas")

GROWTH = ["depth_first", "breadth_first", "best_first"]


def table(n: int = 300) -> tuple[Any, Array, Array]:
    """Return numeric, nominal and ordinal columns with missing values, and two targets."""
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
    """Return a hash of a tree."""
    return sha256(model.tree_.nodes.tobytes() + model.tree_.node_values.tobytes()).hexdigest()


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
    {"growth": "breadth_first"},
    {"growth": "best_first"},
    {"max_features": 2},
    {"max_features": "sqrt"},
    {"max_features": 0.5},
    {"splitter": "random"},
    {"interaction_cst": "no_interactions"},
    {"interaction_cst": "pairwise"},
    {"interaction_cst": [["a", "b"], ["word", "size"]]},
]
OF_CLASSES: list[dict[str, Any]] = [
    {"criterion": "entropy"},
    {"criterion": "gain_ratio"},
    {"criterion": "error"},
    {"class_weight": "balanced"},
    {"class_weight": {0: 5.0}},
]


@pytest.mark.parametrize("change", CHANGES + OF_CLASSES, ids=str)
def test_every_option_changes_the_classifier(change: dict[str, Any]) -> None:
    assert shape(classes(**change)) != shape(classes())


@pytest.mark.parametrize("change", [*CHANGES, {"criterion": "absolute_error"}], ids=str)
def test_every_option_changes_the_regressor(change: dict[str, Any]) -> None:
    assert shape(numbers(**change)) != shape(numbers())


def test_all_options_are_tested() -> None:
    # Options of presets and pruning: test_presets_options and prune/test_estimator.
    numbers_too = {
        "category_correction", "n_intervals", "thresholds", "threshold_scope", "n_thresholds",
        "max_surrogates",
        "feature_reuse", "empty_branches", "pruning", "ccp_alpha", "prune_folds", "prune_rule",
        "pruning_step", "validation_fraction",
    }  # fmt: skip
    of_classes = {
        "algorithm", "above_average_gain", "mdl_correction", "min_split_fraction",
        "min_leaf_branches", "cost_matrix", "collapse", "subtree_raising", "prune_confidence",
        "prune_risk",
    }  # fmt: skip
    other = {
        "growth",
        "leaf_probability",
        "m_prior",
        "random_state",
        "n_jobs",
        "trace",
        "criterion",
        "monotonic_cst",  # test_constraints
    }
    named = {name for change in CHANGES + OF_CLASSES for name in change}
    every = named | other | numbers_too
    assert set(DecisionTreeClassifier().get_params()) == every | of_classes
    assert set(DecisionTreeRegressor().get_params()) == every - {
        "class_weight", "leaf_probability", "m_prior",
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


# Meaning of the options


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


def test_fractions_refer_to_rows_of_positive_weight() -> None:
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
def test_numpy_integers_are_accepted(make: Any, name: str, value: int) -> None:
    """`GridSearchCV` over `numpy.arange` passes them."""
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
        ("min_weight_fraction_leaf", 0.125), ("m_prior", 4.0),
    ],
)  # fmt: skip
def test_numpy_floats_are_accepted(name: str, value: float) -> None:
    more = {"leaf_probability": "m_estimate"} if name == "m_prior" else {}
    for dtype in (np.float64, np.float32):
        given = classes(**{name: dtype(value)}, **more)
        assert shape(given) == shape(classes(**{name: value}, **more))


def test_numpy_bools_are_accepted() -> None:
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
    ("class_weight", "even"), ("leaf_probability", "none"), ("m_prior", -1.0), ("m_prior", np.inf),
    ("random_state", "x"), ("n_jobs", 0), ("trace", "yes"), ("splitter", "worst"),
    ("min_samples_leaf", True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_values_raise_and_name_the_parameter(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        classes(**{name: value})


def test_class_weights_are_checked() -> None:
    for given, message in [
        ({7: 1.0}, "The keys of class_weight must be classes"),
        ({0: -1.0}, "positive"),
        ({0: np.nan}, "positive"),
        ({0: np.inf}, "positive"),
    ]:
        with pytest.raises(ValueError, match=message):
            classes(class_weight=given)


# Weights of classes, probabilities of leaves


def test_class_weights_equal_row_weights() -> None:
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
    value = named.fit(X, words).tree_.node_values[0]
    np.testing.assert_array_equal(value, np.bincount(CLASSES) * [1, 2, 1])


def test_balanced_classes_have_equal_weight() -> None:
    value = classes(class_weight="balanced").tree_.node_values[0]
    np.testing.assert_allclose(value, len(X) / 3)


def test_leaf_probabilities_by_hand() -> None:
    options = {"max_depth": 2, "class_weight": {1: 2.5}}
    plain = classes(**options)
    weights = plain.tree_.node_values[plain.apply(X)]
    total = weights.sum(axis=1, keepdims=True)
    prior = plain.tree_.node_values[0] / plain.tree_.node_values[0].sum()
    laplace = classes(leaf_probability="laplace", **options)
    estimate = classes(leaf_probability="m_estimate", m_prior=7.5, **options)
    for model, expected in [
        (plain, weights / total),
        (laplace, (weights + 1) / (total + 3)),
        (estimate, (weights + 7.5 * prior) / (total + 7.5)),
        (classes(leaf_probability="m_estimate", m_prior=0.0, **options), weights / total),
    ]:
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
        np.testing.assert_array_equal(model.apply(X), plain.apply(X))
        predicted = model.classes_[model.predict_proba(X).argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(X), predicted)
    other = classes(leaf_probability="m_estimate", **options).predict_proba(X)
    assert not np.array_equal(other, estimate.predict_proba(X))


# Order of growth


def canonical(tree: Any, node: int = 0) -> Any:
    """Return the subtree of a node without node numbers."""
    inside = (int(tree.n_rows[node]), tree.reasons[node], tree.node_values[node].tobytes())
    if tree.is_leaf[node]:
        return inside
    split = (
        int(tree.column[node]),
        int(tree.nodes[node, 0]),
        int(tree.missing_child(node)) - tree.child[node],
    )
    if tree.tables.size:
        split = (split[0], tree.split(node).branches, split[2])
    return (*inside, split, tuple(canonical(tree, child) for child in tree.children(node)))


@pytest.mark.parametrize("options", [{}, {"max_bins": 12}, {"missing": "branch"}], ids=str)
def test_growth_order_changes_node_numbers_only(options: dict[str, Any]) -> None:
    trees = [classes(growth=growth, **options).tree_ for growth in GROWTH]
    assert canonical(trees[0]) == canonical(trees[1]) == canonical(trees[2])
    assert list(trees[0].walk()) != list(trees[1].walk())
    assert (np.diff(trees[1].depth) >= 0).all()
    assert shape(classes(**options)) == shape(classes(growth="depth_first", **options))


@pytest.mark.parametrize("growth", [*GROWTH, "auto"])
@pytest.mark.parametrize("missing", ["learned", "branch"])
@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_max_leaf_nodes_is_respected(growth: str, missing: str, splits: str) -> None:
    for max_leaves in (2, 3, 4, 5, 11, 10_000):
        options = {"max_leaf_nodes": max_leaves, "missing": missing, "splits": splits}
        tree = classes(growth=growth, **options).tree_
        assert tree.n_leaves <= max_leaves
        if (missing, splits) == ("learned", "binary"):
            assert tree.n_leaves == min(max_leaves, classes().get_n_leaves())
        if growth == "auto":
            assert shape(classes(**options)) == shape(classes(growth="best_first", **options))


def test_best_first_splits_the_largest_weighted_gain() -> None:
    sizes = [classes(max_leaf_nodes=n).tree_ for n in range(2, 12)]
    for small, large in pairwise(sizes):
        inner = large.weight * large.gain
        found = np.sort(inner[~large.is_leaf])
        before = np.sort((small.weight * small.gain)[~small.is_leaf])
        assert len(found) == len(before) + 1
        # The splits of the smaller tree are all in the larger one.
        assert set(before) <= set(found)
        limited = large.weight[large.is_leaf & (large.reason == 8)]
        assert len(limited) + (large.impurity[large.is_leaf] == 0).sum() <= large.n_leaves


# Reasons, ties, columns


def test_all_reasons_occur() -> None:
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


def test_reasons_are_tested_in_order() -> None:
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


def test_ties_go_to_the_first_column_and_lowest_threshold() -> None:
    # Thresholds after the first and before the last row gain the same, in both columns.
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
    ("max_features", "n_searched"), [(1, 1), (0.4, 2), ("sqrt", 3), ("log2", 3), (99, 9)]
)
def test_number_of_searched_columns(max_features: Any, n_searched: int) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 9))
    if max_features == 0.4:
        rows = rows[:, :5]
    model = DecisionTreeClassifier(max_features=max_features, trace=True, max_depth=3)
    model.fit(rows, rng.integers(2, size=200))
    n_candidates = [(frame["candidate_gain"] >= 0).sum() for frame in model.trace_]
    assert set(n_candidates) == {n_searched}
    columns = {frame["column"] for frame in model.trace_}
    assert n_searched == 9 or len(columns) > 1


def test_more_columns_are_searched_if_none_can_be_split() -> None:
    rows = np.zeros((50, 30))
    rows[:, 17] = np.arange(50)
    for seed in range(6):
        model = DecisionTreeClassifier(max_features=1, random_state=seed)
        y = np.arange(50) // 5 % 2
        assert model.fit(rows, y).score(rows, y) == 1.0


def test_methods_of_splits_are_recorded() -> None:
    vote = datasets.load("vote")
    assert "ordered" in DecisionTreeClassifier().fit(vote.table, vote.y).tree_.methods
    methods = set(classes().tree_.methods)
    assert {"none", "threshold", "exhaustive"} <= methods
    assert "multiway" in classes(splits="multiway").tree_.methods
    assert "ordered" in numbers().tree_.methods
    assert "median" in numbers(criterion="absolute_error").tree_.methods
    many = pd.DataFrame({"c": np.random.default_rng(0).choice([*"abcdefghijklmnop"], 300)})
    model = DecisionTreeClassifier(category_correction=False).fit(many, CLASSES)
    assert "principal" in model.tree_.methods
