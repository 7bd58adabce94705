"""Every pruning method against a naive implementation."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.tree.model.subtrees import collapse
from ceiba.tree.prune.path import cost_complexity_path, node_risks
from ceiba.tree.prune.pessimistic import added_errors, collapsed_frames, pessimistic_frames
from tests.budget import examples
from tests.oracles import pruning_errors as errors
from tests.oracles.pruning_bound import added, bound
from tests.oracles.pruning_complexity import count, hull_path, smallest_at, weakest_links
from tests.oracles.pruning_fits import (
    assert_collapsed,
    assert_path,
    inner_after,
    naive_choice,
    risks_of,
    root_and_columns,
    square_risks,
)
from tests.oracles.pruning_nodes import (
    exact_costs,
    inner,
    leaves,
    losses,
    plain_rows,
    preorder,
    topmost,
)
from tests.oracles.pruning_reduced import HeldOut, reduced_error
from tests.oracles.tree_fits import fit
from tests.oracles.tree_naive import Options
from tests.oracles.tree_tables import tables

SOME = examples(16)
COSTS = np.array([[0, 1, 4, 2], [2, 0, 1, 1], [1, 6, 0, 1], [3, 1, 1, 0.0]])
KINDS = ["gini", "entropy", "gain_ratio", "error"]


def grown(data, criterion, rows=24, **more):
    """Draw a small table and grow its tree."""
    with_missing = data.draw(st.booleans())
    table = data.draw(tables(criterion, with_missing=with_missing, rows=rows))
    splits = data.draw(st.sampled_from(["binary", "multiway"]))
    return table, fit(table, Options(criterion, splits), **more)


def with_costs(tree):
    """Return the tree with a cost matrix."""
    n = tree.node_values.shape[1]
    return replace(tree, costs=np.ascontiguousarray(COSTS[:n, :n]))


def nodes_of(frames):
    """Return the nodes that became leaves."""
    return {frame["node"] for frame in frames}


# Cost complexity


@pytest.mark.parametrize("criterion", KINDS)
@SOME
@given(data=st.data())
def test_error_path_is_optimal_among_all_subtrees(criterion, data):
    _, model = grown(data, criterion)
    root, _ = root_and_columns(model.tree_)
    risks = risks_of(root, "error")
    assert_path(cost_complexity_path(model.tree_, "error"), root, hull_path(root, risks))
    compare_subtrees(root, risks, cost_complexity_path(model.tree_, "error"))


@SOME
@given(data=st.data())
def test_cost_path_is_optimal_among_all_subtrees(data):
    _, model = grown(data, "gini")
    root, _ = root_and_columns(model.tree_)
    risks = risks_of(root, "error", COSTS[: len(root["value"]), : len(root["value"])])
    path = cost_complexity_path(with_costs(model.tree_), "error")
    assert_path(path, root, hull_path(root, risks))
    compare_subtrees(root, risks, path)


def compare_subtrees(root, risks, path):
    """Compare with the smallest optimal subtree at every effective alpha and between them."""
    if count(root) > 300:
        return
    steps = weakest_links(root, risks)
    critical = [step.alpha for step in steps]
    between = [(a + b) / 2 for a, b in pairwise(critical) if a < b]
    for alpha in [*between, critical[-1] + 1]:
        step = path.step_at(float(alpha / root["weight"]))
        expected = smallest_at(root, risks, alpha)
        assert inner_after(root, path.pruned_nodes(step)) == expected
    for k, alpha in enumerate(critical):
        # The alphas of the path itself, with their rounding.
        step = path.step_at(float(path.alphas[k]))
        assert inner_after(root, path.pruned_nodes(step)) == smallest_at(root, risks, alpha)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
@SOME
@given(data=st.data())
def test_impurity_path_is_optimal_among_all_subtrees(criterion, data):
    _, model = grown(data, criterion)
    root, _ = root_and_columns(model.tree_)
    path = cost_complexity_path(model.tree_, "impurity")
    if criterion == "gini":
        risks = risks_of(root, "gini")
        assert_path(path, root, hull_path(root, risks))
        compare_subtrees(root, risks, path)
    else:
        risks = risks_of(root, "entropy")
        assert_path(path, root, hull_path(root, risks, tolerance=1e-12 * risks[0]))


@SOME
@given(data=st.data())
def test_regression_path_uses_the_squared_error(data):
    table, model = grown(data, "squared_error")
    root, _ = root_and_columns(model.tree_)
    risks = square_risks(model.tree_, table.frame, table.target.values, table.target.weights)
    steps = hull_path(root, risks)
    for kind in ("impurity", "error"):
        path = cost_complexity_path(model.tree_, kind)
        assert_path(path, root, steps)
    compare_subtrees(root, risks, path)


@SOME
@given(data=st.data())
def test_node_risks(data):
    _, model = grown(data, "gini")
    tree, (root, _) = model.tree_, root_and_columns(model.tree_)
    for kind, own in (("error", "error"), ("impurity", "gini")):
        expected = [float(r) / root["weight"] for _, r in sorted(risks_of(root, own).items())]
        assert node_risks(tree, kind).tolist() == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("kind", ["error", "impurity"])
@pytest.mark.parametrize("name", ["iris", "glass", "cleveland", "tic_tac_toe", "zoo"])
def test_path_of_real_tables(name, kind):
    X, y = datasets.load(name)
    model = DecisionTreeClassifier(min_samples_leaf=3).fit(X, y)
    root, _ = root_and_columns(model.tree_)
    risks = risks_of(root, "error" if kind == "error" else "gini")
    steps = weakest_links(root, risks)
    assert len(steps) > 3
    assert_path(cost_complexity_path(model.tree_, kind), root, steps)


@pytest.mark.parametrize("kind", ["impurity", "error"])
@pytest.mark.parametrize("name", ["cleveland", "glass", "german_credit"])
def test_path_of_trees_with_a_cost_matrix(name, kind):
    X, y = datasets.load(name)
    costs = 1.0 - np.eye(len(np.unique(y)))
    costs[0] *= 8
    model = DecisionTreeClassifier(cost_matrix=costs, min_samples_leaf=10).fit(X, y)
    root, _ = root_and_columns(model.tree_)
    steps = weakest_links(root, risks_of(root, "error" if kind == "error" else "gini", costs))
    assert len(steps) > 3
    assert_path(cost_complexity_path(model.tree_, kind), root, steps)


def test_path_is_the_convex_hull_of_a_real_table():
    X, y = datasets.load("cleveland")
    model = DecisionTreeClassifier().fit(X, y)
    root, _ = root_and_columns(model.tree_)
    for kind, own in (("error", "error"), ("impurity", "gini")):
        steps = hull_path(root, risks_of(root, own))
        assert_path(cost_complexity_path(model.tree_, kind), root, steps)


def test_regression_path_of_a_real_table():
    X, y = datasets.load("auto_mpg")
    model = DecisionTreeRegressor(min_samples_leaf=4).fit(X, y)
    root, _ = root_and_columns(model.tree_)
    miles = [Fraction(str(number)) for number in y]  # as printed, so that ties are ties
    steps = weakest_links(root, square_risks(model.tree_, X, miles))
    assert_path(cost_complexity_path(model.tree_), root, steps)


@SOME
@given(data=st.data())
def test_pruned_nodes_of_every_step(data):
    _, model = grown(data, "gini")
    root, _ = root_and_columns(model.tree_)
    path = cost_complexity_path(model.tree_, "error")
    steps = weakest_links(root, risks_of(root, "error"))
    for k, step in enumerate(steps):
        assert list(path.pruned_nodes(k)) == topmost(root, inner(root) - step.inner)
    first = {node: k for k, step in enumerate(steps) for node in step.pruned}
    nodes = sorted(preorder(root), key=lambda node: node["node"])
    never = [len(steps) if node["children"] else 0 for node in nodes]
    assert list(path.collapsed_at) == [first.get(i, none) for i, none in enumerate(never)]
    assert len(list(path)) == len(steps)


# Collapsing nodes


@SOME
@given(data=st.data())
def test_collapsed_tree_equals_the_pruned_dictionary(data):
    criterion = data.draw(st.sampled_from([*KINDS, "squared_error", "absolute_error"]))
    _, model = grown(data, criterion)
    tree = model.tree_
    splits = sorted(inner(root_and_columns(tree)[0]))
    nodes = [n for n in splits if data.draw(st.booleans())]
    pruned = collapse(tree, np.array(nodes, np.int32))
    assert_collapsed(tree, pruned, nodes)


# Reduced error


def validation_rows(table, data):
    """Draw validation rows from the table."""
    n = len(table.y)
    chosen = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=12))
    rows = plain_rows(table.frame)
    return [rows[i] for i in chosen], chosen


def has_cost_ties(root, costs):
    """Return whether two classes cost the same in a node: rounding then decides between them."""
    found = [sorted(losses(node["value"], costs)) for node in preorder(root) if node["weight"]]
    return any(each[:1] == each[1:2] for each in found)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@SOME
@given(data=st.data())
def test_reduced_error_prunes_the_naive_nodes(criterion, data):
    table, model = grown(data, criterion, rows=18)
    root, columns = root_and_columns(model.tree_)
    rows, chosen = validation_rows(table, data)
    classes = table.target.n_classes
    targets = [table.target.values[(3 * i) % len(table.y)] for i in chosen]
    weights = [data.draw(st.sampled_from([1, 2, 0.25])) for _ in rows]
    costs = exact_costs(None, classes) if classes else None
    if classes and data.draw(st.booleans()):
        costs = exact_costs(COSTS[:classes, :classes], classes)
        assume(not has_cost_ties(root, costs))
        model.tree_ = with_costs(model.tree_)
    expected, made = reduced_error(root, HeldOut(rows, targets, weights, columns, costs))
    y = np.array([float(target) for target in targets]).astype(table.y.dtype)
    small = model.pruned("reduced_error", table.frame.iloc[chosen], y, np.array(weights, float))
    frames = small.pruning_.frames
    assert {frame["node"] for frame in frames} == {number for number, *_ in made}
    assert small.get_n_leaves() == len(leaves(expected))
    if made:
        total, (_, _, last) = sum(weights), made[-1]
        assert frames[-1]["error_after"] == pytest.approx(float(last) / total, abs=1e-12)
        assert frames[-1]["n_leaves"] == len(leaves(expected))


# Pessimistic errors


@given(
    n=st.floats(0.01, 2000),
    fraction=st.floats(0, 1),
    confidence=st.sampled_from([0.001, 0.05, 0.1, 0.25, 0.4, 0.5]),
)
@examples(150)
def test_added_errors_equal_the_naive_bound(n, fraction, confidence):
    e = fraction * n
    found = float(added_errors(n, e, confidence))
    assert found == pytest.approx(added(n, e, confidence), abs=1e-8 * max(n, 1))


def test_added_errors_of_arrays():
    n = np.array([6.0, 9, 1, 16, 0.4, 20, 20, 20])
    e = np.array([0.0, 0, 0, 1, 0.1, 0.5, 19.6, 20])
    each = [added(a, b, 0.25) for a, b in zip(n, e, strict=True)]
    np.testing.assert_allclose(added_errors(n, e, 0.25), each, atol=1e-9)


@pytest.mark.parametrize("criterion", KINDS)
@SOME
@given(data=st.data())
def test_pessimistic_pruning_prunes_the_naive_nodes(criterion, data):
    confidence = data.draw(st.sampled_from([0.05, 0.25, 0.5]))
    _, model = grown(data, criterion, rows=40)
    root, _ = root_and_columns(model.tree_)
    expected, estimate = errors.pessimistic(root, confidence)
    frames = pessimistic_frames(model.tree_, confidence)
    assert topmost(root, nodes_of(frames)) == topmost(root, inner(root) - inner(expected))
    if 0 in nodes_of(frames):
        assert frames[-1]["estimate_after"] == pytest.approx(estimate, rel=1e-9)


@SOME
@given(data=st.data())
def test_pessimistic_pruning_and_collapsing_use_costs(data):
    _, model = grown(data, "gini", rows=40)
    root, _ = root_and_columns(model.tree_)
    costs = exact_costs(COSTS[: len(root["value"]), : len(root["value"])], len(root["value"]))
    tree = with_costs(model.tree_)
    for frames, expected in (
        (pessimistic_frames(tree, 0.25), errors.pessimistic(root, 0.25, costs)[0]),
        (collapsed_frames(tree), errors.collapsed(root, costs)),
    ):
        assert topmost(root, nodes_of(frames)) == topmost(root, inner(root) - inner(expected))


@pytest.mark.parametrize("criterion", KINDS)
@SOME
@given(data=st.data())
def test_collapsing_prunes_the_naive_nodes(criterion, data):
    _, model = grown(data, criterion, rows=40)
    root, _ = root_and_columns(model.tree_)
    expected = errors.collapsed(root)
    collapsed = nodes_of(collapsed_frames(model.tree_))
    assert sorted(collapsed) == topmost(root, inner(root) - inner(expected))


def two_leaves(weight):
    """Grow a split of ten rows of one class from a fraction of a row of the other."""
    return DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1], [10.0, weight])


@pytest.mark.parametrize("subtree_raising", [False, True])
def test_leaf_may_have_a_tenth_of_an_error_more(subtree_raising):
    def worse(e):
        """Return the pessimistic errors that the root has more as a leaf."""
        return bound(10 + e, e, 0.25) - bound(10, 0, 0.25) - bound(e, 0, 0.25)

    even = brentq(lambda e: worse(e) - 0.1, 0.01, 3)
    for factor, n_leaves in ((0.999, 1), (1.001, 2)):
        weights = [10.0, factor * even]
        rows = ([[0.0], [1.0]], [0, 1], weights) if subtree_raising else ()
        small = two_leaves(factor * even).pruned(
            "pessimistic", *rows, subtree_raising=subtree_raising, confidence=0.25
        )
        assert small.get_n_leaves() == n_leaves


def test_a_thousandth_of_an_error_is_ignored_in_collapsing():
    for weight, nodes in ((0.0009, {0}), (0.0011, set())):
        assert nodes_of(collapsed_frames(two_leaves(weight).tree_)) == nodes


@pytest.mark.parametrize("confidence", [0.01, 0.25, 0.5])
@pytest.mark.parametrize("name", ["cleveland", "vote", "glass", "crx", "german_credit"])
def test_pessimistic_pruning_of_real_tables(name, confidence):
    X, y = datasets.load(name)
    model = DecisionTreeClassifier(splits="multiway").fit(X, y)
    root, _ = root_and_columns(model.tree_)
    expected, _ = errors.pessimistic(root, confidence)
    assert inner(expected) < inner(root)
    pruned = nodes_of(pessimistic_frames(model.tree_, confidence))
    assert topmost(root, pruned) == topmost(root, inner(root) - inner(expected))


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
def test_cross_validation_equals_naive_row_losses(name, options, risk):
    X, y = datasets.load(name)
    model = DecisionTreeClassifier(**options).fit(X, y)
    assert_choice(model, X, y, risk)


def assert_choice(model, X, y, risk, weights=None):
    path = cost_complexity_path(model.tree_, risk)
    expected = naive_choice(model, X, y, path, weights=weights, risk=risk, folds=4, seed=3)
    model.set_params(random_state=3)
    for rule in ("min", "one_se"):
        pruned = model.pruned("cost_complexity", X, y, weights, risk=risk, folds=4, rule=rule)
        found = pruned.pruning_.details
        np.testing.assert_allclose(found["errors"], expected.errors, rtol=1e-9)
        np.testing.assert_allclose(found["standard_errors"], expected.standard_errors, rtol=1e-9)
        assert found["step"] == expected.choice(rule)
        assert found["alpha"] == path.alphas[found["step"]]


def test_cross_validation_with_weights_and_costs():
    X, y = datasets.load("cleveland")
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = DecisionTreeClassifier(max_depth=3, cost_matrix=[[0, 1], [3, 0]]).fit(X, y, weights)
    assert_choice(model, X, y, "error", weights)


def test_cross_validation_of_a_regression_tree():
    X, y = datasets.load("servo")
    model = DecisionTreeRegressor(max_depth=3).fit(X, y)
    assert_choice(model, X, y, "impurity")
