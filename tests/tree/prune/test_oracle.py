"""Every pruner beside its naive version."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.data.table import Table
from ceiba.tree.model.edit import collapse
from ceiba.tree.prune.cross_validation import choose_alpha
from ceiba.tree.prune.path import complexity_path
from ceiba.tree.prune.pessimistic import added_errors, collapse_cuts, pessimistic_cuts
from ceiba.tree.prune.reduced_error import reduced_error_cuts
from ceiba.tree.prune.risk import leaf_risks
from tests.oracles import pruning_errors as errors
from tests.oracles.pruning_bound import added, bound
from tests.oracles.pruning_complexity import corners, count, smallest_at, weakest_links
from tests.oracles.pruning_fits import (
    assert_cut,
    assert_path,
    kept_after,
    naive_choice,
    opened,
    risks_of,
    square_risks,
)
from tests.oracles.pruning_nodes import exact_costs, held, inner, leaves, rows_of, topmost, walk
from tests.oracles.pruning_reduced import Held, reduced_error
from tests.oracles.tree_fits import fit
from tests.oracles.tree_naive import Options
from tests.oracles.tree_tables import tables

SOME = settings(max_examples=16, deadline=None)
COSTS = np.array([[0, 1, 4, 2], [2, 0, 1, 1], [1, 6, 0, 1], [3, 1, 1, 0.0]])
KINDS = ["gini", "entropy", "gain_ratio", "error"]


def grown(data, criterion, rows=24, **more):
    """A small table and its tree."""
    gaps = data.draw(st.booleans())
    table = data.draw(tables(criterion, gaps=gaps, rows=rows))
    splits = data.draw(st.sampled_from(["binary", "multiway"]))
    return table, fit(table, Options(criterion, splits), **more)


def with_costs(tree):
    """The tree, were the costs of errors these."""
    n = tree.value.shape[1]
    return replace(tree, costs=np.ascontiguousarray(COSTS[:n, :n]))


# Cost complexity


@pytest.mark.parametrize("criterion", KINDS)
@SOME
@given(data=st.data())
def test_risk_by_error_is_that_of_all_subtrees(criterion, data):
    _, model = grown(data, criterion)
    root, _ = opened(model.tree_)
    risks = risks_of(root, "error")
    assert_path(complexity_path(model.tree_, "error"), root, corners(root, risks))
    compare_subtrees(root, risks, complexity_path(model.tree_, "error"))


@SOME
@given(data=st.data())
def test_risk_by_cost_is_that_of_all_subtrees(data):
    _, model = grown(data, "gini")
    root, _ = opened(model.tree_)
    risks = risks_of(root, "error", COSTS[: len(root["value"]), : len(root["value"])])
    path = complexity_path(with_costs(model.tree_), "error")
    assert_path(path, root, corners(root, risks))
    compare_subtrees(root, risks, path)


def compare_subtrees(root, risks, path):
    """Every critical alpha and one between each two: the smallest of the best subtrees."""
    if count(root) > 300:
        return
    levels = weakest_links(root, risks)
    critical = [level.alpha for level in levels]
    between = [(a + b) / 2 for a, b in pairwise(critical) if a < b]
    for alpha in [*between, critical[-1] + 1]:
        level = path.level_at(float(alpha / root["weight"]))
        expected = smallest_at(root, risks, alpha)
        assert kept_after(root, path.cuts(level)) == expected
    for k, alpha in enumerate(critical):
        # Just the alphas that the path itself names, however they are rounded.
        level = path.level_at(float(path.alphas[k]))
        assert kept_after(root, path.cuts(level)) == smallest_at(root, risks, alpha)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
@SOME
@given(data=st.data())
def test_risk_by_impurity_is_that_of_all_subtrees(criterion, data):
    _, model = grown(data, criterion)
    root, _ = opened(model.tree_)
    path = complexity_path(model.tree_, "impurity")
    if criterion == "gini":
        risks = risks_of(root, "gini")
        assert_path(path, root, corners(root, risks))
        compare_subtrees(root, risks, path)
    else:
        risks = risks_of(root, "entropy")
        assert_path(path, root, corners(root, risks, near=1e-12 * risks[0]))


@SOME
@given(data=st.data())
def test_numbers_have_the_risk_of_their_squares(data):
    table, model = grown(data, "squared_error")
    root, _ = opened(model.tree_)
    risks = square_risks(model.tree_, table.frame, table.target.values, table.target.weights)
    levels = corners(root, risks)
    for kind in ("impurity", "error"):
        path = complexity_path(model.tree_, kind)
        assert_path(path, root, levels)
    compare_subtrees(root, risks, path)


@SOME
@given(data=st.data())
def test_risks_of_leaves(data):
    _, model = grown(data, "gini")
    tree, (root, _) = model.tree_, opened(model.tree_)
    for kind, own in (("error", "error"), ("impurity", "gini")):
        expected = [float(r) / root["weight"] for _, r in sorted(risks_of(root, own).items())]
        assert leaf_risks(tree, kind).tolist() == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("kind", ["error", "impurity"])
@pytest.mark.parametrize("name", ["iris", "glass", "cleveland", "tic_tac_toe", "zoo"])
def test_paths_of_real_tables(name, kind):
    X, y = datasets.load(name)
    model = DecisionTreeClassifier(min_samples_leaf=3).fit(X, y)
    root, _ = opened(model.tree_)
    risks = risks_of(root, "error" if kind == "error" else "gini")
    levels = weakest_links(root, risks)
    assert len(levels) > 3
    assert_path(complexity_path(model.tree_, kind), root, levels)


@pytest.mark.parametrize("kind", ["impurity", "error"])
@pytest.mark.parametrize("name", ["cleveland", "glass", "german_credit"])
def test_paths_of_trees_that_heed_costs(name, kind):
    X, y = datasets.load(name)
    costs = 1.0 - np.eye(len(np.unique(y)))
    costs[0] *= 8
    model = DecisionTreeClassifier(cost_matrix=costs, min_samples_leaf=10).fit(X, y)
    root, _ = opened(model.tree_)
    levels = weakest_links(root, risks_of(root, "error" if kind == "error" else "gini", costs))
    assert len(levels) > 3
    assert_path(complexity_path(model.tree_, kind), root, levels)


def test_the_hull_of_a_real_table():
    X, y = datasets.load("cleveland")
    model = DecisionTreeClassifier().fit(X, y)
    root, _ = opened(model.tree_)
    for kind, own in (("error", "error"), ("impurity", "gini")):
        levels = corners(root, risks_of(root, own))
        assert_path(complexity_path(model.tree_, kind), root, levels)


def test_the_path_of_a_real_table_of_numbers():
    X, y = datasets.load("auto_mpg")
    model = DecisionTreeRegressor(min_samples_leaf=4).fit(X, y)
    root, _ = opened(model.tree_)
    miles = [Fraction(str(number)) for number in y]  # as printed, so that ties are ties
    levels = weakest_links(root, square_risks(model.tree_, X, miles))
    assert_path(complexity_path(model.tree_), root, levels)


@SOME
@given(data=st.data())
def test_levels_and_their_cuts(data):
    _, model = grown(data, "gini")
    root, _ = opened(model.tree_)
    path = complexity_path(model.tree_, "error")
    levels = weakest_links(root, risks_of(root, "error"))
    for k, level in enumerate(levels):
        cuts = list(path.cuts(k))
        assert cuts == topmost(root, inner(root) - level.inner)
    first = {number: k for k, level in enumerate(levels) for number in level.cut}
    nodes = sorted(walk(root), key=lambda node: node["node"])
    never = [len(levels) if node["children"] else 0 for node in nodes]
    assert list(path.level_of_cut) == [first.get(i, none) for i, none in enumerate(never)]
    assert len(list(path)) == len(levels)


# Collapsing nodes


@SOME
@given(data=st.data())
def test_a_collapsed_tree_is_the_cut_dictionary(data):
    criterion = data.draw(st.sampled_from([*KINDS, "squared_error", "absolute_error"]))
    _, model = grown(data, criterion)
    tree = model.tree_
    splits = sorted(inner(opened(tree)[0]))
    nodes = [n for n in splits if data.draw(st.booleans())]
    pruned = collapse(tree, np.array(nodes, np.int32))
    assert_cut(tree, pruned, nodes)


# Reduced error


def halves(table, data):
    """Rows for validation, drawn from the table itself and with other targets."""
    n = len(table.y)
    chosen = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=12))
    rows = rows_of(table.frame)
    return [rows[i] for i in chosen], chosen


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@SOME
@given(data=st.data())
def test_reduced_error_node_by_node(criterion, data):
    table, model = grown(data, criterion, rows=18)
    root, columns = opened(model.tree_)
    rows, chosen = halves(table, data)
    classes = table.target.n_classes
    targets = [table.target.values[(3 * i) % len(table.y)] for i in chosen]
    weights = [data.draw(st.sampled_from([1, 2, 0.25])) for _ in rows]
    costs = exact_costs(None, classes) if classes else None
    tree = model.tree_
    if classes and data.draw(st.booleans()):
        costs = exact_costs(COSTS[:classes, :classes], classes)
        tree = with_costs(tree)
    expected, made = reduced_error(root, Held(rows, targets, weights, columns, costs))
    sums = held(root, rows, targets, weights, columns, classes=classes)
    cuts = reduced_error_cuts(tree, np.array(sums, dtype=float))
    assert list(cuts.nodes) == topmost(root, inner(root) - inner(expected))
    assert {frame["node"] for frame in cuts.frames} == {number for number, *_ in made}
    if made:
        total, (_, _, last) = sum(weights), made[-1]
        assert cuts.frames[-1]["error_after"] == pytest.approx(float(last) / total, abs=1e-12)
        assert cuts.frames[-1]["n_leaves"] == len(leaves(expected))


# Quinlan's bound


@given(
    n=st.floats(0.01, 2000),
    share=st.floats(0, 1),
    confidence=st.sampled_from([0.001, 0.05, 0.1, 0.25, 0.4, 0.5]),
)
@settings(max_examples=150, deadline=None)
def test_the_bound_solved_for(n, share, confidence):
    e = share * n
    found = float(added_errors(n, e, confidence))
    assert found == pytest.approx(added(n, e, confidence), abs=1e-8 * max(n, 1))


def test_the_bound_of_many_leaves_at_once():
    n = np.array([6.0, 9, 1, 16, 0.4, 20, 20, 20])
    e = np.array([0.0, 0, 0, 1, 0.1, 0.5, 19.6, 20])
    each = [added(a, b, 0.25) for a, b in zip(n, e, strict=True)]
    np.testing.assert_allclose(added_errors(n, e, 0.25), each, atol=1e-9)


@pytest.mark.parametrize("criterion", KINDS)
@SOME
@given(data=st.data())
def test_pessimistic_pruning_from_the_leaves_up(criterion, data):
    confidence = data.draw(st.sampled_from([0.05, 0.25, 0.5]))
    _, model = grown(data, criterion, rows=40)
    root, _ = opened(model.tree_)
    expected, believed = errors.pessimistic(root, confidence)
    cuts = pessimistic_cuts(model.tree_, confidence)
    assert list(cuts.nodes) == topmost(root, inner(root) - inner(expected))
    if list(cuts.nodes) == [0]:
        assert cuts.frames[-1]["estimate_after"] == pytest.approx(believed, rel=1e-9)


@SOME
@given(data=st.data())
def test_errors_of_the_cheapest_class(data):
    _, model = grown(data, "gini", rows=40)
    root, _ = opened(model.tree_)
    costs = exact_costs(COSTS[: len(root["value"]), : len(root["value"])], len(root["value"]))
    tree = with_costs(model.tree_)
    for cuts, expected in (
        (pessimistic_cuts(tree, 0.25), errors.pessimistic(root, 0.25, costs)[0]),
        (collapse_cuts(tree), errors.collapsed(root, costs)),
    ):
        assert list(cuts.nodes) == topmost(root, inner(root) - inner(expected))


@pytest.mark.parametrize("criterion", KINDS)
@SOME
@given(data=st.data())
def test_collapsing_from_the_root_down(criterion, data):
    _, model = grown(data, criterion, rows=40)
    root, _ = opened(model.tree_)
    expected = errors.collapsed(root)
    assert list(collapse_cuts(model.tree_).nodes) == topmost(root, inner(root) - inner(expected))


def two_leaves(weight):
    """A split that parts ten rows of one class from a part of a row of the other."""
    return DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1], [10.0, weight])


@pytest.mark.parametrize("raising", [False, True])
def test_a_leaf_may_be_worse_by_a_tenth_of_an_error(raising):
    def worse(e):
        """By how much the root looks worse as a leaf."""
        return bound(10 + e, e, 0.25) - bound(10, 0, 0.25) - bound(e, 0, 0.25)

    even = brentq(lambda e: worse(e) - 0.1, 0.01, 3)
    for factor, n_leaves in ((0.999, 1), (1.001, 2)):
        weights = [10.0, factor * even]
        rows = ([[0.0], [1.0]], [0, 1], weights) if raising else ()
        small = two_leaves(factor * even).pruned(
            "pessimistic", *rows, raising=raising, confidence=0.25
        )
        assert small.get_n_leaves() == n_leaves


def test_a_thousandth_of_an_error_is_none():
    for weight, cuts in ((0.0009, [0]), (0.0011, [])):
        assert list(collapse_cuts(two_leaves(weight).tree_).nodes) == cuts


@pytest.mark.parametrize("confidence", [0.01, 0.25, 0.5])
@pytest.mark.parametrize("name", ["cleveland", "vote", "glass", "crx", "german_credit"])
def test_pessimistic_pruning_of_real_tables(name, confidence):
    X, y = datasets.load(name)
    model = DecisionTreeClassifier(splits="multiway").fit(X, y)
    root, _ = opened(model.tree_)
    expected, _ = errors.pessimistic(root, confidence)
    assert inner(expected) < inner(root)
    cuts = pessimistic_cuts(model.tree_, confidence)
    assert list(cuts.nodes) == topmost(root, inner(root) - inner(expected))


# Cross-validation


@pytest.mark.parametrize("risk", ["error", "impurity"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("iris", {}),
        ("cleveland", {"max_depth": 4}),
        ("vote", {"missing": "fractional", "max_depth": 3}),
        ("hepatitis", {"missing": "surrogate", "max_depth": 3}),
    ],
)
def test_cross_validation_row_by_row(name, options, risk):
    X, y = datasets.load(name)
    model = DecisionTreeClassifier(**options).fit(X, y)
    assert_choice(model, X, y, risk)


def assert_choice(model, X, y, risk, weights=None):
    path = complexity_path(model.tree_, risk)
    ways = {"risk": risk, "folds": 4, "seed": 3}
    expected = naive_choice(model, X, y, path, weights=weights, **ways)
    for rule in ("min", "one_se"):
        found = choose_alpha(model, Table.of(X), y, weights, path, rule=rule, **ways)
        np.testing.assert_allclose(found.errors, expected.errors, rtol=1e-9)
        np.testing.assert_allclose(found.standard_errors, expected.deviations, rtol=1e-9)
        assert found.level == expected.choice(rule)
        assert found.alpha == path.alphas[found.level]


def test_cross_validation_of_weights_and_costs():
    X, y = datasets.load("cleveland")
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = DecisionTreeClassifier(max_depth=3, cost_matrix=[[0, 1], [3, 0]]).fit(X, y, weights)
    assert_choice(model, X, y, "error", weights)


def test_cross_validation_of_numbers():
    X, y = datasets.load("servo")
    model = DecisionTreeRegressor(max_depth=3).fit(X, y)
    assert_choice(model, X, y, "impurity")
