"""Trees of the lecture beside the naive ones: presets, thresholds, intervals, gaps, costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceiba import DecisionTreeClassifier
from tests.oracles.lecture_fits import assert_predictions, fit, problem_of
from tests.oracles.lecture_options import C45, CART, HUNT, ID3, PRESETS
from tests.oracles.lecture_tables import NUMERIC, cost_matrices, counts, lecture_tables
from tests.oracles.lecture_walk import assert_lecture_tree
from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import Target
from tests.oracles.tree_tables import Table, fresh_rows

BEFORE = ["learned", "branch", "majority"]
ALL_GAPS = [*BEFORE, "fractional", "surrogate"]
RULES = ["quantile", "equal_width", "mean", "median"]
OF_CLASSES = ["gini", "entropy", "gain_ratio", "error"]
MULTIWAY = replace(CART, splits="multiway")


def check(table, options, algorithm="cart", more=None, **given_options):
    """The whole tree, and what it says of its own rows and of others."""
    model = fit(table, options, algorithm, **given_options)
    problem = problem_of(table, options)
    nodes = assert_lecture_tree(model, problem)
    assert_predictions(model, problem, nodes, table)
    if more is not None:
        assert_predictions(model, problem, nodes, more)
    return nodes


# Presets


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("algorithm", ["hunt", "id3", "c45", "cart"])
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_presets(algorithm, gaps, data):
    table = data.draw(lecture_tables(gaps=gaps, wild=data.draw(st.booleans())))
    check(table, PRESETS[algorithm], algorithm, data.draw(fresh_rows(table)))


TOGGLES = [
    {"gain_guard": False},
    {"mdl_correction": False},
    {"cut_share": 0.0},
    {"cut_share": 0.7},
    {"min_samples_leaf": 1, "min_samples_split": 2},
    {"min_samples_leaf": 3},
    {"leaf_rule": "every"},
    {"empty_branches": False},
    {"splits": "binary"},
    {"thresholds": "midpoint"},
    {"missing": "majority"},
    {"missing": "branch"},
    {"criterion": "entropy", "gain_guard": False},
    {"gain_guard": False, "mdl_correction": False, "cut_share": 0.0},
    {"reuse": "none"},
]


@pytest.mark.parametrize("change", TOGGLES, ids=str)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_parts_of_c45_can_be_changed_one_by_one(change, data):
    table = data.draw(lecture_tables(gaps=data.draw(st.booleans())))
    check(table, replace(C45, **change), "c45", data.draw(fresh_rows(table)))


@pytest.mark.parametrize("reuse", ["all", "numeric", "none"])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_columns_that_are_used_up(reuse, data):
    splits = data.draw(st.sampled_from(["binary", "multiway"]))
    missing = data.draw(st.sampled_from(ALL_GAPS if splits == "binary" else BEFORE))
    options = replace(CART, splits=splits, reuse=reuse, missing=missing)
    check(data.draw(lecture_tables(gaps=True, rows=20)), options)


@pytest.mark.parametrize("missing", [*BEFORE, "fractional"])
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_empty_branches(missing, data):
    classes = data.draw(st.sampled_from([3, None]))
    criterion = "squared_error" if classes is None else "gini"
    options = replace(MULTIWAY, criterion=criterion, empty_branches=True, missing=missing)
    table = data.draw(lecture_tables(classes, gaps=missing != "learned", rows=14))
    check(table, options, more=data.draw(fresh_rows(table)))


# Thresholds


@pytest.mark.parametrize("at", ["node", "root"])
@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=9, deadline=None)
@given(data=st.data())
def test_rules_for_thresholds(rule, at, data):
    number = data.draw(st.sampled_from([1, 2, 3, 4, 9]))
    # Whether parts of rows make up half of the weight would hang on rounding.
    missing = data.draw(st.sampled_from([*BEFORE, "surrogate"]))
    options = replace(CART, thresholds=rule, at=at, n_thresholds=number, missing=missing)
    table = data.draw(lecture_tables(kinds=(*NUMERIC, "float"), gaps=data.draw(st.booleans())))
    check(table, options, more=data.draw(fresh_rows(table)))


@pytest.mark.parametrize("rule", ["value", *RULES])
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_rules_for_thresholds_of_numbers(rule, data):
    options = replace(CART, criterion="squared_error", thresholds=rule, n_thresholds=3)
    check(data.draw(lecture_tables(None, rows=20)), options)


@pytest.mark.parametrize(
    ("rule", "n", "values", "cut"),
    [
        ("mean", 9, [3, 4, 5], 4),  # a mean that is a value keeps it on its left
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
@pytest.mark.parametrize("at", ["node", "root"])
def test_where_a_rule_cuts(rule, n, values, cut, at):
    if rule == "value":
        at = "node"
    X = np.array(values, dtype=float)[:, np.newaxis]
    y = (X[:, 0] > cut).astype(int)
    table = Table([Column("float", X[:, 0].tolist())], Target(y.tolist(), [1] * len(y), 2), False)
    options = replace(CART, thresholds=rule, n_thresholds=n, at=at)
    model = fit(table, options)
    assert_lecture_tree(model, problem_of(table, options))
    assert model.tree_.n_nodes == 3
    assert model.tree_.threshold[0] == cut


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_drawn_thresholds_lie_among_the_values(data):
    table = data.draw(lecture_tables(kinds=("float", "int"), rows=20))
    options = replace(CART, thresholds="random", n_thresholds=data.draw(st.integers(1, 3)))
    check(table, options, random_state=data.draw(st.integers(0, 9)))


def test_very_many_drawn_thresholds_find_the_best_cut():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 12, size=60).astype(float)
    y = ((values > 4) ^ (rng.random(60) < 0.2)).astype(int)
    table = Table([Column("float", values.tolist())], Target(y.tolist(), [1] * 60, 2), False)
    exact = fit(table, replace(CART, max_depth=2))
    drawn = fit(table, replace(CART, thresholds="random", n_thresholds=3000, max_depth=2))
    for name in ("n_rows", "gain", "column"):
        np.testing.assert_array_equal(getattr(drawn.tree_, name), getattr(exact.tree_, name))
    assert drawn.tree_.threshold[0] != exact.tree_.threshold[0]


@pytest.mark.parametrize("at", ["node", "root"])
def test_one_drawn_threshold_is_uniform_between_the_ends(at):
    X = np.array([[0.0], [1.0]])
    options = {"thresholds": "random", "n_thresholds": 1, "at": at}
    models = [
        DecisionTreeClassifier(**options, random_state=seed, n_jobs=1).fit(X, [0, 1])
        for seed in range(200)
    ]
    cuts = np.sort([model.tree_.threshold[0] for model in models])
    # Kolmogorov and Smirnov: a distance above 1.95 / sqrt(200) has a chance below 0.1%.
    steps = np.arange(1, 201) / 200
    assert np.abs(cuts - steps).max() < 1.95 / np.sqrt(200)


# Intervals


@pytest.mark.parametrize("number", [None, 2, 3, 5])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_intervals_of_classes(number, data):
    options = replace(
        CART,
        criterion=data.draw(st.sampled_from(OF_CLASSES)),
        splits="intervals",
        n_intervals=number,
        min_samples_leaf=data.draw(st.sampled_from([1, 2])),
        missing=data.draw(st.sampled_from([*BEFORE, "fractional"])),
    )
    table = data.draw(lecture_tables(2, gaps=data.draw(st.booleans()), rows=26))
    check(table, options, more=data.draw(fresh_rows(table)))


@pytest.mark.parametrize("number", [2, 4])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_intervals_of_numbers(number, data):
    options = replace(CART, criterion="squared_error", splits="intervals", n_intervals=number)
    table = data.draw(lecture_tables(None, kinds=("float", "int", "nominal"), rows=18))
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


# Gaps


# Always the same tables: shares of rows are rounded, and of two groups of levels with equal means
# rounding may put either first, which the naive tree knows nothing of.
@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("criterion", [*OF_CLASSES, "squared_error"])
@settings(max_examples=6, deadline=None, derandomize=True)
@given(data=st.data())
def test_fractional_rows(criterion, splits, data):
    classes = None if criterion == "squared_error" else 3
    table = data.draw(lecture_tables(classes, gaps=True, rows=18))
    options = replace(CART, criterion=criterion, splits=splits, missing="fractional")
    options = replace(options, min_samples_leaf=data.draw(st.sampled_from([1, 2])))
    check(table, options, more=data.draw(fresh_rows(table)))


@pytest.mark.parametrize("criterion", [*OF_CLASSES, "squared_error"])
@pytest.mark.parametrize("most", [0, 1, 5])
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_surrogates(most, criterion, data):
    classes = None if criterion == "squared_error" else 3
    table = data.draw(lecture_tables(classes, gaps=True, columns=5, rows=20))
    options = replace(CART, criterion=criterion, missing="surrogate", max_surrogates=most)
    check(table, options, more=data.draw(fresh_rows(table)))


# Counts and costs


@pytest.mark.parametrize("missing", ALL_GAPS)
@settings(max_examples=7, deadline=None)
@given(data=st.data())
def test_poisson(missing, data):
    table = counts(data.draw(lecture_tables(None, gaps=True, rows=18)))
    options = replace(CART, criterion="poisson", missing=missing)
    if missing != "surrogate":
        options = replace(options, splits=data.draw(st.sampled_from(["binary", "multiway"])))
    check(table, options, more=data.draw(fresh_rows(table)))


@pytest.mark.parametrize("algorithm", ["hunt", "id3", "c45", "cart"])
@settings(max_examples=7, deadline=None)
@given(data=st.data())
def test_costs(algorithm, data):
    table = data.draw(lecture_tables(gaps=False, rows=20))
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
    ("cart", replace(CART, cut_share=0.5)),
]


@pytest.mark.parametrize(("algorithm", "options"), BINNED)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_a_bin_for_every_value_gives_the_exact_tree(algorithm, options, data):
    table = data.draw(lecture_tables(gaps=data.draw(st.booleans()), rows=20))
    exact = fit(table, options, algorithm).tree_
    binned = fit(table, options, algorithm, max_bins=255).tree_
    for name in ("n_rows", "weight", "gain", "impurity", "value", "column", "reason"):
        np.testing.assert_array_equal(getattr(binned, name), getattr(exact, name))
