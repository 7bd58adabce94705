"""Forests of Ceiba beside the naive forest, tree for tree and node for node."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracles.forest_fits import assert_forest_predictions, estimator, fit
from tests.oracles.forest_naive import ForestOptions, grow_forest, importances, seedling
from tests.oracles.forest_tables import (
    GAP_RULES,
    even_numbers,
    forest_options,
    forest_problem,
    forest_tables,
    tables_for,
)
from tests.oracles.forest_walk import assert_forest, assert_member
from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import Target
from tests.oracles.tree_tables import Table, fresh_rows

CRITERIA = ["gini", "entropy", "squared_error", "absolute_error", "poisson"]
# Criteria that add up; a median is searched between any two values only.
OF_SUMS = [criterion for criterion in CRITERIA if criterion != "absolute_error"]
PER = ["node", "tree", "both"]
WEIGHTS = st.sampled_from(["one", "whole", "other"])
MIXED = ["float", "nominal", "int", "ordinal", "float"]
# Limits that no impurity or gain of a small table meets exactly.
LIMITS = {
    "max_depth": [1, 2, 3],
    "min_samples_split": [3, 6, 0.35],
    "min_samples_leaf": [2, 3, 0.15],
    "min_weight_fraction_leaf": [0.0625, 0.125],
    "min_impurity_decrease": [0.0313, 0.1117],
    "max_leaf_nodes": [2, 3, 5],
}


def check(table, options, more=None, **given_options):
    """All trees, and what the forest says of its own rows and of others."""
    model = fit(table, options, **given_options)
    members = assert_forest(model, forest_problem(table, options))
    assert_forest_predictions(model, members, table)
    if more is not None:
        assert_forest_predictions(model, members, more)
    return model, members


def mixed_table(criterion, seed=0, n=22):
    """A table of real numbers with columns of all kinds and gaps."""
    table = even_numbers(seed, n, MIXED, 3 if criterion in ("gini", "entropy") else None, 0.1)
    if criterion != "poisson":
        return table
    return replace(table, target=replace(table.target, values=[seed + i % 4 for i in range(n)]))


# Columns


@pytest.mark.parametrize("per", PER)
@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_every_tree_is_the_naive_one(criterion, per, data):
    table = data.draw(tables_for(criterion, weights=data.draw(WEIGHTS)))
    options = data.draw(forest_options(table, per, criterion=criterion))
    check(table, options, data.draw(fresh_rows(table)))


@pytest.mark.parametrize("per", PER)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_tree_on_a_table_of_all_kinds(criterion, per):
    options = ForestOptions(criterion, seed=9, max_features=2, features_per=per, max_depth=4)
    if per == "both":
        options = replace(options, tree_features=4)
    model, members = check(mixed_table(criterion), options)
    assert len({node.split.column for m in members for node in m.nodes if node.split}) > 2
    assert max(model.tree(t).max_depth for t in range(3)) > 1


@pytest.mark.parametrize(
    ("asked", "m"), [("sqrt", 3), ("log2", 3), (0.5, 5), (7, 7), (1.0, 11), (None, None)]
)
def test_how_many_columns_a_node_looks_at(asked, m):
    table = even_numbers(4, 25, ["float"] * 11, 3)
    options = ForestOptions(seed=3, max_features=m, max_depth=3)
    model = fit(table, options, max_features=asked)
    assert_forest(model, forest_problem(table, options))


@pytest.mark.parametrize("per", PER)
def test_more_columns_than_words_of_a_draw(per):
    table = even_numbers(6, 25, ["float"] * 30, 3)
    options = ForestOptions(seed=2**64 - 1, max_features=9, features_per=per, max_depth=3)
    check(table, options if per != "both" else replace(options, tree_features=18))


def test_defaults_are_the_root_of_all_columns_and_all_columns():
    classes, numbers = even_numbers(1, 20, ["float"] * 6, 2), even_numbers(1, 20, ["float"] * 6)
    for table, criterion, m in ((classes, "gini", 2), (numbers, "squared_error", 6)):
        options = ForestOptions(criterion, max_features=m)
        model = type(estimator(options, table.target.n_classes))(n_estimators=3)
        model.fit(table.frame, table.y)
        assert_forest(model, forest_problem(table, options))


# Rows


@pytest.mark.parametrize("share", [None, 0.4, 1.0, 3])
@pytest.mark.parametrize("replaced", [True, False])
@settings(max_examples=7, deadline=None)
@given(data=st.data())
def test_drawn_rows(replaced, share, data):
    table = data.draw(forest_tables(weights=data.draw(WEIGHTS)))
    if isinstance(share, int):
        share = min(share, sum(w > 0 for w in table.target.weights))
    options = data.draw(forest_options(table, bootstrap=replaced, max_samples=share))
    check(table, options)


@pytest.mark.parametrize("how", ["whole", "other"])
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_sample_weights(criterion, how, data):
    table = data.draw(tables_for(criterion, weights=how, rows=18))
    options = data.draw(forest_options(table, criterion=criterion))
    check(table, options)


def test_more_draws_than_rows():
    table = even_numbers(2, 12, ["float", "float"], 2)
    check(table, ForestOptions(max_samples=40, max_features=1))


# Gaps and levels


@pytest.mark.parametrize("missing", GAP_RULES)
@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_gaps(criterion, missing, data):
    table = data.draw(tables_for(criterion, wild=data.draw(st.booleans()), rows=16))
    options = data.draw(forest_options(table, criterion=criterion, missing=missing))
    check(table, options, data.draw(fresh_rows(table)))


def many_levels(classes):
    """Levels that do not fit into one word of a node, beside a column of numbers."""
    rng = np.random.default_rng(7)
    labels = tuple(f"level {i:02d}" for i in range(90))
    n = 80
    codes = [None if rng.random() < 0.05 else int(c) for c in rng.integers(90, size=n)]
    columns = [Column("nominal", codes, labels), Column("float", rng.normal(size=n).tolist())]
    values = rng.integers(classes or 9, size=n).tolist()
    return Table(columns, Target(values, [1] * n, classes), False)


@pytest.mark.parametrize("missing", GAP_RULES)
@pytest.mark.parametrize("classes", [2, None])
def test_many_levels(classes, missing):
    table = many_levels(classes)
    criterion = "gini" if classes else "squared_error"
    options = ForestOptions(criterion, missing=missing, max_features=1, max_depth=3, seed=1)
    _, members = check(table, options)
    assert 0 in {n.split.column for m in members for n in m.nodes if n.split}


# Limits


@pytest.mark.parametrize("limit", LIMITS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_each_limit_alone(limit, data):
    criterion = data.draw(st.sampled_from(CRITERIA[:4]))
    table = data.draw(tables_for(criterion, weights=data.draw(WEIGHTS), rows=18))
    value = data.draw(st.sampled_from(LIMITS[limit]))
    options = data.draw(forest_options(table, criterion=criterion, **{limit: value}))
    check(table, options)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_each_limit_matters(criterion, limit):
    table = mixed_table(criterion, seed=5)
    plain = ForestOptions(criterion, seed=4, max_features=3)
    whole = fit(table, plain)
    part, _ = check(table, replace(plain, **{limit: LIMITS[limit][1]}))
    assert all(part.tree(t).n_nodes < whole.tree(t).n_nodes for t in range(3))


# Classes


@pytest.mark.parametrize("replaced", [True, False])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_class_weights_multiply(replaced, data):
    table = data.draw(forest_tables(weights=data.draw(WEIGHTS)))
    k = table.target.n_classes
    each = data.draw(st.lists(st.sampled_from([1, 2, Fraction(1, 2)]), min_size=k, max_size=k))
    options = data.draw(forest_options(table, class_weight=each, bootstrap=replaced))
    check(table, options)


@pytest.mark.parametrize("how", ["balanced", "balanced_subsample"])
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_balanced_classes(how, data):
    table = data.draw(forest_tables())
    # Which of two branches that weigh the same gaps would join is for rounding to say.
    missing = data.draw(st.sampled_from(["learned", "branch"]))
    check(table, data.draw(forest_options(table, class_weight=how, missing=missing)))


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_leaf_probabilities(data):
    table = data.draw(forest_tables())
    check(table, data.draw(forest_options(table, leaf_probability="laplace", max_depth=2)))


def test_log_loss_is_entropy():
    options = ForestOptions("entropy", max_features=2)
    check(mixed_table("entropy", seed=3), options, criterion="log_loss")


# Thresholds


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("per", PER)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_random_thresholds(per, n, data):
    criterion = data.draw(st.sampled_from(OF_SUMS))
    table = data.draw(tables_for(criterion, weights=data.draw(WEIGHTS)))
    options = data.draw(
        forest_options(table, per, criterion=criterion, thresholds="random", n_thresholds=n)
    )
    check(table, options, data.draw(fresh_rows(table)))


@pytest.mark.parametrize("criterion", OF_SUMS)
def test_random_thresholds_on_a_table_of_all_kinds(criterion):
    options = ForestOptions(criterion, thresholds="random", max_features=3, bootstrap=False, seed=6)
    _, members = check(mixed_table(criterion, seed=1), options)
    cuts = {n.split.threshold for m in members for n in m.nodes if n.split}
    assert len(cuts - {None, math.inf}) > 6


@pytest.mark.parametrize("per", PER)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_a_bin_for_every_value_parts_rows_as_exact_thresholds_do(per, data):
    criterion = data.draw(st.sampled_from(["gini", "squared_error"]))
    table = data.draw(tables_for(criterion))
    options = data.draw(forest_options(table, per, criterion=criterion))
    model = fit(table, options, max_bins=255)
    members = assert_forest(model, forest_problem(table, options), binned=True)
    assert_forest_predictions(model, members, table)


# Whole forests


@pytest.mark.parametrize("per", PER)
@pytest.mark.parametrize("criterion", CRITERIA[:3])
def test_without_ties_the_forests_are_equal(criterion, per):
    table = even_numbers(15, 60, ["float"] * 4, None if criterion == "squared_error" else 2)
    options = ForestOptions(criterion, seed=8, max_features=2, features_per=per, min_samples_leaf=9)
    if per == "both":
        options = replace(options, tree_features=3)
    problem = forest_problem(table, options)
    model, members = fit(table, options), grow_forest(problem)
    assert all(len(node.best) <= 1 for m in members for node in m.nodes), "ties: take another table"
    for t, member in enumerate(members):
        tree, nodes = model.tree(t), member.nodes
        assert [tree.children(i) for i in range(tree.n_nodes)] == [n.children for n in nodes]
        assert tree.column.tolist() == [n.split.column if n.split else -1 for n in nodes]
        cuts = [n.split.threshold if n.split else math.nan for n in nodes]
        np.testing.assert_array_equal(tree.threshold, cuts)
    expected = [float(share) for share in importances(problem, members)]
    assert model.feature_importances_.tolist() == pytest.approx(expected, abs=1e-12)


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_importances(data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables_for(criterion))
    options = data.draw(forest_options(table, criterion=criterion))
    model = fit(table, options)
    problem = forest_problem(table, options)
    expected = importances(problem, assert_forest(model, problem))
    if any(expected):
        found = model.feature_importances_.tolist()
        assert found == pytest.approx([float(share) for share in expected], abs=1e-9)


def test_more_trees_go_on_counting():
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
def test_a_tree_of_a_forest_is_a_tree_of_the_drawn_weights(criterion, thresholds):
    table = mixed_table(criterion, seed=4)
    n = 2 if thresholds == "random" else 1
    options = ForestOptions(criterion, seed=21, max_features=2, thresholds=thresholds)
    options = replace(options, n_thresholds=n)
    problem = forest_problem(table, options)
    kind = DecisionTreeRegressor if table.target.n_classes is None else DecisionTreeClassifier
    forest = fit(table, options)
    for t in range(options.n_estimators):
        member = seedling(problem, t)
        alone = kind(
            criterion=criterion,
            max_features=2,
            thresholds=thresholds,
            n_thresholds=n,
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
