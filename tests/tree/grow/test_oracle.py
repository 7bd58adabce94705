"""Trees equal the naive tree: splits, stopping, growth order, weights, bins."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.budget import examples
from tests.oracles.tree_fits import CRITERIA, GROWTH, MISSING_POLICIES, assert_predictions, fit
from tests.oracles.tree_impurity import class_weights, exact
from tests.oracles.tree_naive import Options, grow, probabilities
from tests.oracles.tree_tables import Table, fresh_rows, real_numbers, tables
from tests.oracles.tree_walk import assert_tree

# Limits that no impurity or gain of a small table equals exactly.
LIMITS = {
    "max_depth": [1, 2, 3],
    "min_samples_split": [3, 7, 0.25],
    "min_samples_leaf": [2, 4, 0.15],
    "min_weight_fraction_leaf": [0.0625, 0.125],
    "min_impurity_decrease": [0.0313, 0.1117],
    "min_impurity_split": [0.3017, 0.6173],
    "max_leaf_nodes": [2, 3, 5],
}


@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("criterion", CRITERIA)
@examples(9)
@given(data=st.data())
def test_trees_equal_the_naive_tree(criterion, splits, data):
    table = data.draw(tables(criterion))
    options = Options(criterion, splits)
    model = fit(table, options)
    nodes = assert_tree(model, table.problem(options))
    assert_predictions(model, nodes, table)


# Stopping and growth order


@pytest.mark.parametrize("limit", LIMITS)
@examples(14)
@given(data=st.data())
def test_each_limit_equals_the_naive_tree(limit, data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, with_missing=data.draw(st.booleans()), rows=30))
    value = data.draw(st.sampled_from(LIMITS[limit]))
    missing, splits = data.draw(st.sampled_from(MISSING_POLICIES)), data.draw(WAYS)
    options = Options(criterion, splits, missing, **{limit: value})
    assert_tree(fit(table, options), table.problem(options))


WAYS = st.sampled_from(["binary", "multiway"])
SOME_LIMITS = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(values) for name, values in LIMITS.items()}
)


@pytest.mark.parametrize("growth", [*GROWTH, "auto"])
@examples(16)
@given(data=st.data())
def test_limits_in_every_growth_order_equal_the_naive_tree(growth, data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, with_missing=data.draw(st.booleans()), rows=30))
    limits, splits = data.draw(SOME_LIMITS), data.draw(WAYS)
    options = Options(criterion, splits, growth=growth, **limits)
    assert_tree(fit(table, options), table.problem(options))


@pytest.mark.parametrize("maximum", [2, 3, 4, 7])
@pytest.mark.parametrize("growth", GROWTH)
@examples(6)
@given(table=tables("squared_error", with_missing=True, rows=30))
def test_max_leaf_nodes_equals_the_naive_tree(growth, maximum, table):
    options = Options("squared_error", "multiway", "branch", max_leaf_nodes=maximum, growth=growth)
    model = fit(table, options)
    assert_tree(model, table.problem(options))
    assert model.get_n_leaves() <= maximum


# Trees without ties


@pytest.mark.parametrize("growth", GROWTH)
@pytest.mark.parametrize("criterion", [c for c in CRITERIA if c != "error"])
def test_trees_without_ties_are_equal(criterion, growth):
    classes = None if criterion.endswith("_error") else 3
    kinds = ["float", "ordinal", "nominal", "int"]
    table = real_numbers(11, 40, kinds, classes, missing_rate=0.1, whole=True)
    options = Options(criterion, min_samples_leaf=4, max_leaf_nodes=5, growth=growth)
    problem = table.problem(options)
    model, nodes = fit(table, options), grow(problem)
    assert all(len(node.best) <= 1 for node in nodes), "the table has ties: choose another"
    assert_tree(model, problem, near=1e-9)
    tree = model.tree_
    assert [list(tree.children(i)) for i in range(tree.n_nodes)] == [n.children for n in nodes]
    assert list(tree.reasons) == [n.reason for n in nodes]
    assert list(tree.n_rows) == [len(n.rows) for n in nodes]
    assert list(tree.column) == [n.split.column if n.split else -1 for n in nodes]
    assert "max_leaf_nodes" in {n.reason for n in nodes}


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(2))
def test_real_weights_and_targets(criterion, seed):
    classes = None if criterion.endswith("_error") else 3
    table = real_numbers(seed, 30, ["float", "nominal", "float"], classes, missing_rate=0.2)
    options = Options(criterion, "multiway" if seed else "binary", max_depth=4)
    assert_tree(fit(table, options), table.problem(options), near=1e-9)


# Class weights and probabilities


@pytest.mark.parametrize("criterion", [c for c in CRITERIA if not c.endswith("_error")])
@examples(6)
@given(data=st.data())
def test_class_weights_multiply_sample_weights(criterion, data):
    table = data.draw(tables(criterion, with_missing=True, rows=20))
    each = data.draw(st.lists(st.sampled_from([1, 2, Fraction(1, 2)]), min_size=4, max_size=4))
    options = Options(criterion)
    given_weights = {k: float(each[k]) for k in range(table.target.n_classes)}
    model = fit(table, options, class_weight=given_weights)
    assert_tree(model, reweighted(table, each).problem(options))


@examples(12)
@given(table=tables("gini", rows=20, weighted=False))
def test_balanced_classes_have_equal_weight(table):
    n, k = len(table.y), table.target.n_classes
    each = [exact(n / (k * count)) for count in np.bincount(table.y).tolist()]
    options = Options("gini")
    model = fit(table, options, class_weight="balanced")
    assert_tree(model, reweighted(table, each).problem(options), near=1e-9)


def reweighted(table, each):
    """Return the table with each row's weight times that of its class."""
    target = table.target
    weights = [w * each[k] for w, k in zip(target.weights, target.values, strict=True)]
    return replace(table, target=replace(target, weights=weights))


@pytest.mark.parametrize("way", ["plain", "laplace", "m_estimate"])
@examples(9)
@given(data=st.data())
def test_leaf_probabilities_equal_the_naive_tree(way, data):
    table = data.draw(tables("gini", rows=20))
    m = data.draw(st.sampled_from([0.5, 2.0, 7.0])) if way == "m_estimate" else 2.0
    options = Options("gini", max_depth=2)
    model = fit(table, options, leaf_probability=way, m_prior=m)
    nodes = assert_tree(model, table.problem(options))
    target = table.target
    rows = table.problem(options).rows
    prior = [Fraction(c) / table.problem(options).weight for c in class_weights(target, rows)]
    counts = [class_weights(target, nodes[leaf].rows) for leaf in model.apply(table.frame)]
    expected = [[float(p) for p in probabilities(c, way, prior, m)] for c in counts]
    found = model.predict_proba(table.frame)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(table.frame)), found, rtol=1e-12)
    # Ties go to the first class; equal fractions are computed alike.
    assert model.predict(table.frame).tolist() == found.argmax(axis=1).tolist()


# Drawn columns


@examples(20)
@given(data=st.data())
def test_drawn_column_is_split_at_its_best(data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, with_missing=True, rows=25))
    seed = data.draw(st.integers(0, 3))
    options = Options(criterion)
    model = fit(table, options, max_features=1, random_state=seed)
    assert_tree(model, table.problem(options), drawn=True)


# Bins


@pytest.mark.parametrize("missing", MISSING_POLICIES)
@pytest.mark.parametrize("growth", GROWTH)
@examples(9)
@given(data=st.data())
def test_one_bin_per_value_gives_the_exact_tree(growth, missing, data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, with_missing=True, rows=30))
    splits, maximum = data.draw(WAYS), data.draw(st.sampled_from([None, 4]))
    options = Options(criterion, splits, missing, max_leaf_nodes=maximum, growth=growth)
    exactly, binned = fit(table, options), fit(table, options, max_bins=255)
    nodes = assert_tree(binned, table.problem(options), choices=False)
    expected = assert_tree(exactly, table.problem(options))
    assert [n.rows for n in nodes] == [n.rows for n in expected]
    assert [n.children for n in nodes] == [n.children for n in expected]
    assert [n.reason for n in nodes] == [n.reason for n in expected]
    for name in ("n_rows", "weight", "impurity", "gain", "node_values", "ties", "column"):
        np.testing.assert_array_equal(getattr(binned.tree_, name), getattr(exactly.tree_, name))
    for i, node in enumerate(nodes):
        if node.split:
            assert binned.tree_.missing_child(i) == exactly.tree_.missing_child(i)


@examples(20)
@given(data=st.data())
def test_few_bins_keep_node_statistics_exact(data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, with_missing=True, rows=40))
    options = Options(criterion, data.draw(WAYS), data.draw(st.sampled_from(MISSING_POLICIES)))
    model = fit(table, options, max_bins=data.draw(st.integers(2, 4)))
    nodes = assert_tree(model, table.problem(options), choices=False)
    assert_predictions(model, nodes, table)
    assert_predictions(model, nodes, data.draw(fresh_rows(table)))


# Containers


@examples(10)
@given(table=tables("gini", kinds=("float",), with_missing=True, rows=25))
def test_array_and_frame_give_the_same_tree(table):
    options = Options("gini")
    framed = fit(table, options)
    model = type(framed)(criterion="gini")
    model.fit(table.frame.to_numpy(), table.y, sample_weight=table.sample_weight)
    assert_tree(model, table.problem(options))
    np.testing.assert_array_equal(model.tree_.nodes, framed.tree_.nodes)


@examples(10)
@given(data=st.data())
def test_rows_of_zero_weight_are_ignored(data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, with_missing=True, rows=25))
    options = Options(criterion, min_samples_leaf=0.15)
    kept = table.problem(options).rows
    small = Table(
        [replace(c, values=[c.values[i] for i in kept]) for c in table.columns],
        replace(
            table.target,
            values=[table.target.values[i] for i in kept],
            weights=[table.target.weights[i] for i in kept],
        ),
    )
    whole, part = fit(table, options), fit(small, options)
    for name in ("n_rows", "weight", "impurity", "gain", "node_values", "column", "threshold"):
        np.testing.assert_array_equal(getattr(whole.tree_, name), getattr(part.tree_, name))
