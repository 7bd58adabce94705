"""Trees of all presets equal the naive ones: thresholds, intervals, missing values, costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceiba import DecisionTreeClassifier
from tests.budget import examples, scaled
from tests.oracles.preset_fits import assert_predictions, fit, problem_of
from tests.oracles.preset_options import C45, CART, HUNT, ID3, PRESETS
from tests.oracles.preset_tables import NUMERIC, cost_matrices, counts, preset_tables
from tests.oracles.preset_walk import assert_preset_tree
from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import Target
from tests.oracles.tree_tables import Table, fresh_rows

ROUTED = ["learned", "branch", "majority"]
ALL_MISSING = [*ROUTED, "fractional", "surrogate"]
GRIDS = ["quantile", "equal_width"]
METHODS = [*GRIDS, "mean", "median"]
OF_CLASSES = ["gini", "entropy", "gain_ratio", "error"]
MULTIWAY = replace(CART, splits="multiway")


def check(table, options, algorithm="cart", more=None, **given_options):
    """Check the whole tree, and its predictions of its own rows and of others."""
    model = fit(table, options, algorithm, **given_options)
    problem = problem_of(table, options)
    nodes = assert_preset_tree(model, problem)
    assert_predictions(model, problem, nodes, table)
    if more is not None:
        assert_predictions(model, problem, nodes, more)
    return nodes


# Presets


@pytest.mark.parametrize("with_missing", [False, True])
@pytest.mark.parametrize("algorithm", ["hunt", "id3", "c45", "cart"])
@examples(12)
@given(data=st.data())
def test_presets_equal_the_naive_tree(algorithm, with_missing, data):
    table = data.draw(preset_tables(with_missing=with_missing, wild=data.draw(st.booleans())))
    check(table, PRESETS[algorithm], algorithm, data.draw(fresh_rows(table)))


TOGGLES = [
    {"above_average_gain": False},
    {"mdl_correction": False},
    {"min_split_fraction": 0.0},
    {"min_split_fraction": 0.7},
    {"min_samples_leaf": 1, "min_samples_split": 2},
    {"min_samples_leaf": 3},
    {"min_leaf_branches": "all"},
    {"empty_branches": False},
    {"splits": "binary"},
    {"thresholds": "midpoint"},
    {"missing": "majority"},
    {"missing": "branch"},
    {"criterion": "entropy", "above_average_gain": False},
    {"above_average_gain": False, "mdl_correction": False, "min_split_fraction": 0.0},
    {"feature_reuse": "none"},
]


@pytest.mark.parametrize("change", TOGGLES, ids=str)
@examples(6)
@given(data=st.data())
def test_each_option_of_c45_can_be_changed(change, data):
    table = data.draw(preset_tables(with_missing=data.draw(st.booleans())))
    check(table, replace(C45, **change), "c45", data.draw(fresh_rows(table)))


@pytest.mark.parametrize("feature_reuse", ["all", "numeric", "none"])
@examples(8)
@given(data=st.data())
def test_feature_reuse(feature_reuse, data):
    splits = data.draw(st.sampled_from(["binary", "multiway"]))
    missing = data.draw(st.sampled_from(ALL_MISSING if splits == "binary" else ROUTED))
    options = replace(CART, splits=splits, feature_reuse=feature_reuse, missing=missing)
    check(data.draw(preset_tables(with_missing=True, rows=20)), options)


@pytest.mark.parametrize("missing", [*ROUTED, "fractional"])
@examples(6)
@given(data=st.data())
def test_empty_branches(missing, data):
    classes = data.draw(st.sampled_from([3, None]))
    criterion = "squared_error" if classes is None else "gini"
    options = replace(MULTIWAY, criterion=criterion, empty_branches=True, missing=missing)
    table = data.draw(preset_tables(classes, with_missing=missing != "learned", rows=14))
    check(table, options, more=data.draw(fresh_rows(table)))


# Thresholds


@pytest.mark.parametrize("scope", ["node", "root"])
@pytest.mark.parametrize("method", METHODS)
@examples(9)
@given(data=st.data())
def test_threshold_methods(method, scope, data):
    number = data.draw(st.sampled_from([1, 2, 3, 4, 9])) if method in GRIDS else 9
    # Fractional rows would make the median depend on rounding.
    missing = data.draw(st.sampled_from([*ROUTED, "surrogate"]))
    options = replace(
        CART, thresholds=method, threshold_scope=scope, n_thresholds=number, missing=missing
    )
    table = data.draw(
        preset_tables(kinds=(*NUMERIC, "float"), with_missing=data.draw(st.booleans()))
    )
    check(table, options, more=data.draw(fresh_rows(table)))


@pytest.mark.parametrize("method", ["value", *METHODS])
@examples(6)
@given(data=st.data())
def test_threshold_methods_of_regression(method, data):
    number = 3 if method in GRIDS else 9
    options = replace(CART, criterion="squared_error", thresholds=method, n_thresholds=number)
    check(data.draw(preset_tables(None, rows=20)), options)


@pytest.mark.parametrize(
    ("method", "n", "values", "threshold"),
    [
        ("mean", 9, [3, 4, 5], 4),  # a value equal to the mean goes left
        ("mean", 9, [6, 8, 10], 8),
        ("median", 9, [3, 4, 9], 4),
        ("median", 9, [1, 2, 4, 9], 3),
        ("median", 9, [0, 1, 1, 1], 0),
        ("equal_width", 2, [-5, -4, -2], -4),
        ("equal_width", 9, [1, 4, 11], 4),
        ("quantile", 1, [1, 2, 3, 4], 2.5),
        ("value", 9, [0, 0, 1, 1], 0),
    ],
)
@pytest.mark.parametrize("scope", ["node", "root"])
def test_thresholds_by_hand(method, n, values, threshold, scope):
    if method == "value":
        scope = "node"
    X = np.array(values, dtype=float)[:, np.newaxis]
    y = (X[:, 0] > threshold).astype(int)
    table = Table([Column("float", X[:, 0].tolist())], Target(y.tolist(), [1] * len(y), 2), False)
    options = replace(CART, thresholds=method, n_thresholds=n, threshold_scope=scope)
    model = fit(table, options)
    assert_preset_tree(model, problem_of(table, options))
    assert model.tree_.n_nodes == 3
    assert model.tree_.threshold[0] == threshold


@pytest.mark.parametrize("max_bins", [None, 255])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize(("method", "weighted"), [("median", 2), ("mean", 3.5), ("quantile", 2.5)])
def test_root_thresholds_ignore_class_weights(method, weighted, n_outputs, max_bins):
    """They are computed by sample_weight alone, of ranks as of bins."""
    X = np.arange(10.0)[:, np.newaxis]
    y = np.column_stack([X[:, 0] > 2] * n_outputs).astype(int)
    factors = {0: 1.0, 1: 9.0}
    model = DecisionTreeClassifier(
        thresholds=method, threshold_scope="root", max_bins=max_bins, max_depth=1,
        class_weight=factors if n_outputs == 1 else [factors] * n_outputs,
    )  # fmt: skip
    if method == "quantile":
        model.set_params(n_thresholds=1)
    target = y[:, 0] if n_outputs == 1 else y
    for weight, threshold in ((None, 4.5), ([1, 2, 6] + [1] * 7, weighted)):
        is_left = model.fit(X, target, weight).apply(X) == model.apply(X[:1])
        np.testing.assert_array_equal(is_left, X[:, 0] <= threshold)


@examples(15)
@given(data=st.data())
def test_random_thresholds_lie_between_values(data):
    table = data.draw(preset_tables(kinds=("float", "int"), rows=20))
    options = replace(CART, thresholds="random", n_thresholds=data.draw(st.integers(1, 3)))
    check(table, options, random_state=data.draw(st.integers(0, 9)))


def test_many_random_thresholds_find_the_best_split():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 12, size=60).astype(float)
    y = ((values > 4) ^ (rng.random(60) < 0.2)).astype(int)
    table = Table([Column("float", values.tolist())], Target(y.tolist(), [1] * 60, 2), False)
    exact = fit(table, replace(CART, max_depth=2))
    drawn = fit(table, replace(CART, thresholds="random", n_thresholds=3000, max_depth=2))
    for name in ("n_rows", "gain", "column"):
        np.testing.assert_array_equal(getattr(drawn.tree_, name), getattr(exact.tree_, name))
    assert drawn.tree_.threshold[0] != exact.tree_.threshold[0]


@pytest.mark.parametrize("scope", ["node", "root"])
def test_random_threshold_is_uniform_between_the_extremes(scope):
    X = np.array([[0.0], [1.0]])
    options = {"thresholds": "random", "n_thresholds": 1, "threshold_scope": scope}
    models = [
        DecisionTreeClassifier(**options, random_state=seed, n_jobs=1).fit(X, [0, 1])
        for seed in range(200)
    ]
    thresholds = np.sort([model.tree_.threshold[0] for model in models])
    # Kolmogorov-Smirnov: a distance above 1.95 / sqrt(200) has a probability below 0.1%.
    steps = np.arange(1, 201) / 200
    assert np.abs(thresholds - steps).max() < 1.95 / np.sqrt(200)


# Intervals


@pytest.mark.parametrize("number", [None, 2, 3, 5])
@examples(10)
@given(data=st.data())
def test_intervals_of_classification(number, data):
    options = replace(
        CART,
        criterion=data.draw(st.sampled_from(OF_CLASSES)),
        splits="intervals",
        n_intervals=number,
        min_samples_leaf=data.draw(st.sampled_from([1, 2])),
        missing=data.draw(st.sampled_from([*ROUTED, "fractional"])),
    )
    table = data.draw(preset_tables(2, with_missing=data.draw(st.booleans()), rows=26))
    check(table, options, more=data.draw(fresh_rows(table)))


@pytest.mark.parametrize("number", [2, 4])
@examples(8)
@given(data=st.data())
def test_intervals_of_regression(number, data):
    options = replace(CART, criterion="squared_error", splits="intervals", n_intervals=number)
    table = data.draw(preset_tables(None, kinds=("float", "int", "nominal"), rows=18))
    check(table, options, more=data.draw(fresh_rows(table)))


def test_intervals_with_the_other_presets():
    rng = np.random.default_rng(2)
    values = rng.normal(size=60).round(2)
    y = np.digitize(values, [-0.6, 0.7]).tolist()
    nominal = rng.integers(3, size=60).tolist()
    columns = [Column("float", values.tolist()), Column("nominal", nominal, ("a", "b", "c"))]
    table = Table(columns, Target(y, [1] * 60, 3), False)
    c45 = replace(C45, thresholds="midpoint")
    for algorithm, start in (("hunt", HUNT), ("id3", ID3), ("c45", c45)):
        nodes = check(table, replace(start, splits="intervals"), algorithm)
        assert len(nodes[0].children) == 3
        assert len(nodes) == 4


# Missing values


# Always the same tables: fractional rows are rounded, and rounding may order two groups of
# categories with equal means either way, unlike the naive tree.
@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("criterion", [*OF_CLASSES, "squared_error"])
@settings(max_examples=scaled(6), deadline=None, derandomize=True)
@given(data=st.data())
def test_fractional_rows(criterion, splits, data):
    classes = None if criterion == "squared_error" else 3
    table = data.draw(preset_tables(classes, with_missing=True, rows=18))
    options = replace(CART, criterion=criterion, splits=splits, missing="fractional")
    options = replace(options, min_samples_leaf=data.draw(st.sampled_from([1, 2])))
    check(table, options, more=data.draw(fresh_rows(table)))


@pytest.mark.parametrize("criterion", [*OF_CLASSES, "squared_error"])
@pytest.mark.parametrize("maximum", [0, 1, 5])
@examples(6)
@given(data=st.data())
def test_surrogates(maximum, criterion, data):
    classes = None if criterion == "squared_error" else 3
    table = data.draw(preset_tables(classes, with_missing=True, columns=5, rows=20))
    options = replace(CART, criterion=criterion, missing="surrogate", max_surrogates=maximum)
    check(table, options, more=data.draw(fresh_rows(table)))


# Counts and costs


@pytest.mark.parametrize("missing", ALL_MISSING)
@examples(7)
@given(data=st.data())
def test_poisson(missing, data):
    table = counts(data.draw(preset_tables(None, with_missing=True, rows=18)))
    options = replace(CART, criterion="poisson", missing=missing)
    if missing != "surrogate":
        options = replace(options, splits=data.draw(st.sampled_from(["binary", "multiway"])))
    check(table, options, more=data.draw(fresh_rows(table)))


@pytest.mark.parametrize("algorithm", ["hunt", "id3", "c45", "cart"])
@examples(7)
@given(data=st.data())
def test_costs(algorithm, data):
    table = data.draw(preset_tables(with_missing=False, rows=20))
    if table.target.n_classes < 2:
        return
    costs = data.draw(cost_matrices(table.target.n_classes))
    check(table, replace(PRESETS[algorithm], costs=costs), algorithm)


# Bins


BINNED = [
    ("hunt", HUNT),
    ("id3", ID3),
    ("c45", replace(C45, thresholds="midpoint")),
    ("cart", replace(CART, missing="fractional")),
    ("cart", replace(CART, missing="surrogate")),
    ("cart", replace(CART, splits="intervals")),
    ("cart", replace(CART, splits="intervals", n_intervals=3)),
    ("cart", replace(CART, min_split_fraction=0.5)),
]


@pytest.mark.parametrize(("algorithm", "options"), BINNED)
@examples(5)
@given(data=st.data())
def test_one_bin_per_value_gives_the_exact_tree(algorithm, options, data):
    table = data.draw(preset_tables(with_missing=data.draw(st.booleans()), rows=20))
    exact = fit(table, options, algorithm).tree_
    binned = fit(table, options, algorithm, max_bins=255).tree_
    for name in ("n_rows", "weight", "gain", "impurity", "node_values", "column", "reason"):
        np.testing.assert_array_equal(getattr(binned, name), getattr(exact, name))
