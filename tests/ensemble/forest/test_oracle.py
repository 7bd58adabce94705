"""Forests compared with the naive forest, tree by tree and node by node."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from tests.budget import examples
from tests.oracles.forest_fits import assert_forest_predictions, estimator, fit
from tests.oracles.forest_naive import ForestOptions, grow_forest, importances, sampled_tree
from tests.oracles.forest_tables import (
    MISSING,
    forest_options,
    forest_problem,
    forest_tables,
    tables_for,
    unit_weight_table,
)
from tests.oracles.forest_walk import assert_forest, assert_member
from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import Target
from tests.oracles.tree_tables import Table, fresh_rows

CRITERIA = ["gini", "entropy", "squared_error", "absolute_error", "poisson"]
# Criteria of sums; absolute error requires midpoint thresholds.
OF_SUMS = [criterion for criterion in CRITERIA if criterion != "absolute_error"]
PER = ["node", "tree", "both"]
WEIGHTS = st.sampled_from(["one", "integer", "fractional"])
MIXED = ["float", "nominal", "int", "ordinal", "float"]
# Limits that no impurity or gain of a small table equals exactly.
LIMITS = {
    "max_depth": [1, 2, 3],
    "min_samples_split": [3, 6, 0.35],
    "min_samples_leaf": [2, 3, 0.15],
    "min_weight_fraction_leaf": [0.0625, 0.125],
    "min_impurity_decrease": [0.0313, 0.1117],
    "max_leaf_nodes": [2, 3, 5],
}


def check(table, options, more=None, **given_options):
    """Compare all trees, and predictions for training rows and other rows."""
    model = fit(table, options, **given_options)
    members = assert_forest(model, forest_problem(table, options))
    assert_forest_predictions(model, members, table)
    if more is not None:
        assert_forest_predictions(model, members, more)
    return model, members


def mixed_table(criterion, seed=0, n=22):
    """Return a table with columns of all kinds and missing values."""
    table = unit_weight_table(seed, n, MIXED, 3 if criterion in ("gini", "entropy") else None, 0.1)
    if criterion != "poisson":
        return table
    return replace(table, target=replace(table.target, values=[seed + i % 4 for i in range(n)]))


# Columns


@pytest.mark.parametrize("per", PER)
@pytest.mark.parametrize("criterion", CRITERIA)
@examples(6)
@given(data=st.data())
def test_every_tree_matches_naive(criterion, per, data):
    table = data.draw(tables_for(criterion, weights=data.draw(WEIGHTS)))
    options = data.draw(forest_options(table, per, criterion=criterion))
    check(table, options, data.draw(fresh_rows(table)))


@pytest.mark.parametrize("per", PER)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_tree_of_a_mixed_table_matches_naive(criterion, per):
    options = ForestOptions(criterion, seed=9, max_features=2, max_features_per=per, max_depth=4)
    if per == "both":
        options = replace(options, tree_features=4)
    model, members = check(mixed_table(criterion), options)
    assert len({node.split.column for m in members for node in m.nodes if node.split}) > 2
    assert max(model.tree(t).max_depth for t in range(3)) > 1


@pytest.mark.parametrize(
    ("max_features", "m"), [("sqrt", 3), ("log2", 3), (0.5, 5), (7, 7), (1.0, 11), (None, None)]
)
def test_number_of_columns_per_node(max_features, m):
    table = unit_weight_table(4, 25, ["float"] * 11, 3)
    options = ForestOptions(seed=3, max_features=m, max_depth=3)
    model = fit(table, options, max_features=max_features)
    assert_forest(model, forest_problem(table, options))


@pytest.mark.parametrize("per", PER)
def test_more_columns_than_random_words_of_a_block(per):
    table = unit_weight_table(6, 25, ["float"] * 30, 3)
    options = ForestOptions(seed=2**64 - 1, max_features=9, max_features_per=per, max_depth=3)
    check(table, options if per != "both" else replace(options, tree_features=18))


def test_default_numbers_of_columns():
    classes, numbers = (
        unit_weight_table(1, 20, ["float"] * 6, 2),
        unit_weight_table(1, 20, ["float"] * 6),
    )
    for table, criterion, m in ((classes, "gini", 2), (numbers, "squared_error", 6)):
        options = ForestOptions(criterion, max_features=m)
        model = type(estimator(options, table.target.n_classes))(n_estimators=3)
        model.fit(table.frame, table.y)
        assert_forest(model, forest_problem(table, options))


# Rows


@pytest.mark.parametrize("fraction", [None, 0.4, 1.0, 3])
@pytest.mark.parametrize("replaced", [True, False])
@examples(7)
@given(data=st.data())
def test_drawn_rows_match_naive(replaced, fraction, data):
    table = data.draw(forest_tables(weights=data.draw(WEIGHTS)))
    if isinstance(fraction, int):
        fraction = min(fraction, sum(w > 0 for w in table.target.weights))
    options = data.draw(forest_options(table, bootstrap=replaced, max_samples=fraction))
    check(table, options)


@pytest.mark.parametrize("how", ["integer", "fractional"])
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@examples(8)
@given(data=st.data())
def test_sample_weights_match_naive(criterion, how, data):
    table = data.draw(tables_for(criterion, weights=how, rows=18))
    options = data.draw(forest_options(table, criterion=criterion))
    check(table, options)


def test_more_draws_than_rows_match_naive():
    table = unit_weight_table(2, 12, ["float", "float"], 2)
    check(table, ForestOptions(max_samples=40, max_features=1))


# Missing values and categories


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("criterion", CRITERIA)
@examples(5)
@given(data=st.data())
def test_missing_values_match_naive(criterion, missing, data):
    table = data.draw(tables_for(criterion, wild=data.draw(st.booleans()), rows=16))
    options = data.draw(forest_options(table, criterion=criterion, missing=missing))
    check(table, options, data.draw(fresh_rows(table)))


def many_categories(classes):
    """Return more categories than bits of a node, beside a numeric column."""
    rng = np.random.default_rng(7)
    labels = tuple(f"category {i:02d}" for i in range(90))
    n = 80
    codes = [None if rng.random() < 0.05 else int(c) for c in rng.integers(90, size=n)]
    columns = [Column("nominal", codes, labels), Column("float", rng.normal(size=n).tolist())]
    values = rng.integers(classes or 9, size=n).tolist()
    return Table(columns, Target(values, [1] * n, classes), False)


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("classes", [2, None])
def test_many_categories_match_naive(classes, missing):
    table = many_categories(classes)
    criterion = "gini" if classes else "squared_error"
    options = ForestOptions(criterion, missing=missing, max_features=1, max_depth=3, seed=1)
    _, members = check(table, options)
    assert 0 in {n.split.column for m in members for n in m.nodes if n.split}


# Limits


@pytest.mark.parametrize("limit", LIMITS)
@examples(12)
@given(data=st.data())
def test_each_limit_matches_naive(limit, data):
    criterion = data.draw(st.sampled_from(CRITERIA[:4]))
    table = data.draw(tables_for(criterion, weights=data.draw(WEIGHTS), rows=18))
    value = data.draw(st.sampled_from(LIMITS[limit]))
    options = data.draw(forest_options(table, criterion=criterion, **{limit: value}))
    check(table, options)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_each_limit_has_an_effect(criterion, limit):
    table = mixed_table(criterion, seed=5)
    plain = ForestOptions(criterion, seed=4, max_features=3)
    whole = fit(table, plain)
    part, _ = check(table, replace(plain, **{limit: LIMITS[limit][1]}))
    assert all(part.tree(t).n_nodes < whole.tree(t).n_nodes for t in range(3))


# Classes


@pytest.mark.parametrize("replaced", [True, False])
@examples(10)
@given(data=st.data())
def test_class_weights_match_naive(replaced, data):
    table = data.draw(forest_tables(weights=data.draw(WEIGHTS)))
    k = table.target.n_classes
    each = data.draw(st.lists(st.sampled_from([1, 2, Fraction(1, 2)]), min_size=k, max_size=k))
    options = data.draw(forest_options(table, class_weight=each, bootstrap=replaced))
    check(table, options)


@pytest.mark.parametrize("how", ["balanced", "balanced_subsample"])
@examples(12)
@given(data=st.data())
def test_balanced_classes_match_naive(how, data):
    table = data.draw(forest_tables())
    # Rounding decides which of two branches of equal weight missing values would join.
    missing = data.draw(st.sampled_from(["learned", "branch"]))
    check(table, data.draw(forest_options(table, class_weight=how, missing=missing)))


@examples(10)
@given(data=st.data())
def test_leaf_probabilities_match_naive(data):
    table = data.draw(forest_tables())
    check(table, data.draw(forest_options(table, leaf_probability="laplace", max_depth=2)))


def test_log_loss_is_entropy():
    options = ForestOptions("entropy", max_features=2)
    check(mixed_table("entropy", seed=3), options, criterion="log_loss")


# Thresholds


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("per", PER)
@examples(6)
@given(data=st.data())
def test_random_thresholds_match_naive(per, n, data):
    criterion = data.draw(st.sampled_from(OF_SUMS))
    table = data.draw(tables_for(criterion, weights=data.draw(WEIGHTS)))
    options = data.draw(
        forest_options(table, per, criterion=criterion, thresholds="random", n_thresholds=n)
    )
    check(table, options, data.draw(fresh_rows(table)))


@pytest.mark.parametrize("criterion", OF_SUMS)
def test_random_thresholds_of_a_mixed_table_match_naive(criterion):
    options = ForestOptions(criterion, thresholds="random", max_features=3, bootstrap=False, seed=6)
    _, members = check(mixed_table(criterion, seed=1), options)
    thresholds = {n.split.threshold for m in members for n in m.nodes if n.split}
    assert len(thresholds - {None, math.inf}) > 6


@pytest.mark.parametrize("per", PER)
@examples(8)
@given(data=st.data())
def test_one_bin_per_value_equals_exact_thresholds(per, data):
    criterion = data.draw(st.sampled_from(["gini", "squared_error"]))
    table = data.draw(tables_for(criterion))
    options = data.draw(forest_options(table, per, criterion=criterion))
    model = fit(table, options, max_bins=255)
    members = assert_forest(model, forest_problem(table, options), binned=True)
    assert_forest_predictions(model, members, table)


# Whole forests


@pytest.mark.parametrize("per", PER)
@pytest.mark.parametrize("criterion", CRITERIA[:3])
def test_forests_without_ties_are_equal(criterion, per):
    table = unit_weight_table(15, 60, ["float"] * 4, None if criterion == "squared_error" else 2)
    options = ForestOptions(
        criterion, seed=8, max_features=2, max_features_per=per, min_samples_leaf=9
    )
    if per == "both":
        options = replace(options, tree_features=3)
    problem = forest_problem(table, options)
    model, members = fit(table, options), grow_forest(problem)
    assert all(len(node.best) <= 1 for m in members for node in m.nodes), "ties: use another table"
    for t, member in enumerate(members):
        tree, nodes = model.tree(t), member.nodes
        assert [tree.children(i) for i in range(tree.n_nodes)] == [n.children for n in nodes]
        assert tree.column.tolist() == [n.split.column if n.split else -1 for n in nodes]
        thresholds = [n.split.threshold if n.split else -2.0 for n in nodes]
        np.testing.assert_array_equal(tree.threshold, thresholds)
    expected = [float(value) for value in importances(problem, members)]
    assert model.feature_importances_.tolist() == pytest.approx(expected, abs=1e-12)


@examples(12)
@given(data=st.data())
def test_importances_match_naive(data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables_for(criterion))
    options = data.draw(forest_options(table, criterion=criterion))
    model = fit(table, options)
    problem = forest_problem(table, options)
    expected = importances(problem, assert_forest(model, problem))
    if any(expected):
        found = model.feature_importances_.tolist()
        assert found == pytest.approx([float(value) for value in expected], abs=1e-9)


def test_warm_start_continues_tree_numbers():
    table = mixed_table("gini", seed=2)
    options = ForestOptions(seed=12, max_features=2, n_estimators=2)
    model = fit(table, options, warm_start=True)
    assert_forest(model, forest_problem(table, options))
    model.set_params(n_estimators=5).fit(table.frame, table.y)
    more = replace(options, n_estimators=5)
    assert_forest(model, forest_problem(table, more))


# Trees alone


@pytest.mark.parametrize(
    ("criterion", "thresholds"),
    [*((c, "midpoint") for c in CRITERIA), *((c, "random") for c in OF_SUMS)],
)
def test_tree_of_a_forest_equals_decision_tree_of_the_drawn_weights(criterion, thresholds):
    table = mixed_table(criterion, seed=4)
    n = 2 if thresholds == "random" else 1
    options = ForestOptions(criterion, seed=21, max_features=2, thresholds=thresholds)
    options = replace(options, n_thresholds=n)
    problem = forest_problem(table, options)
    kind = DecisionTreeRegressor if table.target.n_classes is None else DecisionTreeClassifier
    forest = fit(table, options)
    for t in range(options.n_estimators):
        member = sampled_tree(problem, t)
        alone = kind(
            criterion=criterion,
            max_features=2,
            thresholds=thresholds,
            n_thresholds=n if thresholds == "random" else 9,
            random_state=member.seed,
            n_jobs=1,
        )
        weights = np.array([float(w) for w in member.problem.target.weights])
        tree = alone.fit(table.frame, table.y, sample_weight=weights).tree_
        assert_member(tree, member)
        np.testing.assert_array_equal(tree.column, forest.tree(t).column)
        np.testing.assert_array_equal(tree.threshold, forest.tree(t).threshold)
        np.testing.assert_array_equal(
            tree.child[~tree.is_leaf], forest.tree(t).child[~tree.is_leaf]
        )
