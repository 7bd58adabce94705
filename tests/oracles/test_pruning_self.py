"""Pruning oracles against each other, closed forms and small examples."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from tests.budget import examples
from tests.oracles import pruning_complexity as complexity
from tests.oracles import pruning_errors as errors
from tests.oracles import pruning_reduced as reduced
from tests.oracles.pruning_bound import added, bound
from tests.oracles.pruning_folds import CrossValidation, cross_validate, geometric_means
from tests.oracles.pruning_nodes import (
    inner,
    label,
    labels,
    leaf_fractions,
    leaves,
    make_leaves,
    node_sums,
    postorder,
    preorder,
    shape,
    topmost,
    unit_costs,
)
from tests.oracles.pruning_trees import chain, join, leaf, number_nodes, random_trees

EXAMPLES = examples(40)
COSTS = [[0, 1, 5], [2, 0, 1], [1, 3, 0]]
NUMBER = [{"name": "x", "kind": "numeric", "categories": [], "dtype": "float64"}]


def risks_of(root, kind):
    if kind == "gini":
        return complexity.gini_risks(root)
    return complexity.error_risks(root, COSTS if kind == "cost" else unit_costs(3))


# Traversal


def test_traversals_visit_every_node_once():
    root = chain([1, 0], [0, 2], [3, 0])
    assert [n["node"] for n in preorder(root)] == [0, 1, 2, 3, 4]
    assert [n["node"] for n in postorder(root)] == [1, 3, 4, 2, 0]
    assert inner(root) == {0, 2}
    assert [n["node"] for n in leaves(root)] == [1, 3, 4]


def test_make_leaves_does_not_change_its_argument():
    root = chain([1, 0], [0, 2], [3, 0])
    before = shape(root)
    assert inner(make_leaves(root, {2})) == {0}
    assert topmost(root, {0, 2}) == [0]
    assert shape(root) == before


def test_label_has_minimum_cost_and_ties_go_to_the_first():
    assert label([2, 2, 1], unit_costs(3)) == 0
    assert label([1, 3, 3], unit_costs(3)) == 1
    assert label([9, 1], [[0, 1], [10, 0]]) == 1


def test_empty_leaf_predicts_as_its_parent():
    root = number_nodes(join([leaf([0, 0]), leaf([1, 4]), leaf([3, 0])]))
    assert labels(root, unit_costs(2)) == {0: 0, 1: 0, 2: 1, 3: 0}
    root = number_nodes(join([leaf([2, 0]), join([leaf([0, 0]), leaf([1, 4])])]))
    assert labels(root, unit_costs(2))[3] == 1


def stump(threshold=1.5, weights=(3.0, 1.0), missing_branch=0):
    ends = [
        {"node": 1 + b, "weight": w, "children": [], "test": None} for b, w in enumerate(weights)
    ]
    test = {
        "kind": "threshold",
        "column": 0,
        "threshold": threshold,
        "missing_branch": missing_branch,
    }
    return {"node": 0, "weight": sum(weights), "test": test, "children": ends}


def test_missing_values_take_one_branch_or_fractions_of_all():
    known = leaf_fractions(stump(), (2.0,), NUMBER, True)
    assert [(leaf["node"], part) for leaf, part in known] == [(2, 1)]
    missing = leaf_fractions(stump(missing_branch=1), (None,), NUMBER, False)
    assert [(leaf["node"], part) for leaf, part in missing] == [(2, 1)]
    missing = leaf_fractions(stump(), (None,), NUMBER, True)
    assert [(leaf["node"], part) for leaf, part in missing] == [
        (1, Fraction(3, 4)),
        (2, Fraction(1, 4)),
    ]


def test_node_sums():
    rows, targets, weights = [(1.0,), (2.0,), (None,)], [0, 1, 1], [1, 2, 4]
    assert node_sums(stump(), rows, targets, weights, NUMBER, True, 2) == [[1, 6], [1, 3], [0, 3]]
    assert node_sums(stump(), rows, [1, 2, 3], [1, 1, 2], NUMBER)[0] == [4, 9, 23]


# Cost complexity


@pytest.mark.parametrize("kind", ["error", "cost", "gini"])
@EXAMPLES
@given(root=random_trees())
def test_hull_loop_and_all_subtrees_agree(kind, root):
    risks = risks_of(root, kind)
    steps = complexity.hull_path(root, risks)
    assert steps == complexity.weakest_links(root, risks)
    for alpha in alphas_around(steps):
        found = [step for step in steps if step.alpha <= alpha][-1]
        assert complexity.smallest_at(root, risks, alpha) == found.inner


def alphas_around(steps):
    """Return every effective alpha, and one between any two of them."""
    critical = sorted({Fraction(step.alpha) for step in steps})
    between = [(a + b) / 2 for a, b in pairwise(critical)]
    return [*critical, *between, critical[-1] + 1]


@EXAMPLES
@given(root=random_trees())
def test_count_equals_the_number_of_subtrees(root):
    found = complexity.subtrees(root)
    assert len(found) == len(set(found)) == complexity.count(root)
    best = complexity.min_risks(root, complexity.gini_risks(root))
    measured = [complexity.measure(root, s, complexity.gini_risks(root)) for s in found]
    assert {n: risk for n, (risk, _) in best.items()} == {
        n: min(risk for m, risk in measured if m == n) for n, _ in measured
    }


def test_path_of_iris():
    # 150 flowers: one split separates the first species, another the two others with 6 errors.
    # rpart prints 0.5 and 0.44 for 1/3 and 44/150 of the 100 errors of the root.
    root = number_nodes(join([leaf([50, 0, 0]), join([leaf([0, 49, 5]), leaf([0, 1, 45])])]))
    steps = complexity.hull_path(root, risks_of(root, "error"))
    assert [step.alpha for step in steps] == [0, 44, 50]
    assert [step.n_leaves for step in steps] == [3, 2, 1]
    assert [step.risk for step in steps] == [6, 50, 100]


def test_chain_may_be_pruned_in_one_step():
    # The lower link is stronger than the upper one: both are pruned together.
    root = chain([4, 0], [0, 1], [3, 2])
    steps = complexity.weakest_links(root, risks_of_two(root))
    assert steps == complexity.hull_path(root, risks_of_two(root))
    assert [step.n_leaves for step in steps] == [3, 1]


def risks_of_two(root):
    return complexity.error_risks(root, unit_costs(2))


def test_squared_and_entropy_risks():
    (found,) = complexity.squared_risks([[4, 10, 30]]).values()
    assert found == 5
    assert complexity.entropy_sum([2, 2, 0]) == 4
    assert complexity.gini_sum([0, 0]) == 0
    assert complexity.gini_sum([3, 1]) == Fraction(3, 2)


# Reduced error


def test_reduced_error_of_a_stump():
    root = stump()
    root["value"] = [3.0, 2.0]
    root["children"][0]["value"], root["children"][1]["value"] = [3.0, 0.0], [0.0, 2.0]
    agreeing = reduced.HeldOut([(1.0,), (2.0,)], [0, 1], [1, 1], NUMBER, unit_costs(2))
    assert reduced.reduced_error(root, agreeing)[1] == []
    against = reduced.HeldOut([(1.0,), (2.0,)], [0, 0], [1, 1], NUMBER, unit_costs(2))
    assert reduced.reduced_error(root, against)[1] == [(0, 1, 0)]
    empty = reduced.HeldOut([], [], [], NUMBER, unit_costs(2))
    assert reduced.reduced_error(root, empty)[1] == [(0, 0, 0)]
    with_costs = reduced.HeldOut(
        [(1.0,), (2.0,), (2.0,)], [0, 0, 1], [1] * 3, NUMBER, [[0, 1], [9, 0]]
    )
    assert reduced.loss(root, {1: 0, 2: 1}, with_costs) == 1
    assert reduced.loss(root, {1: 0, 2: 0}, with_costs) == 9


def test_reduced_error_of_a_regression_stump():
    root = stump()
    for node, value in zip(preorder(root), (2.0, 1.0, 5.0), strict=True):
        node["value"] = value
    close = reduced.HeldOut([(1.0,), (2.0,)], [1.0, 4.0], [1, 1], NUMBER, None)
    assert reduced.reduced_error(root, close)[1] == []
    far = reduced.HeldOut([(1.0,), (2.0,)], [3.0, 3.0], [2, 1], NUMBER, None)
    assert reduced.reduced_error(root, far)[1] == [(0, 12, 3)]


# Pessimistic errors


@pytest.mark.parametrize(("n", "fraction"), [(6, 0.206), (9, 0.143), (1, 0.750)])
def test_error_rates_of_the_book(n, fraction):
    assert bound(n, 0, 0.25) / n == pytest.approx(fraction, abs=6e-4)


@pytest.mark.parametrize(("n", "e"), [(16, 1), (168, 1), (285, 2), (20, 7)])
def test_normal_limit_is_close_to_the_exact_one(n, e):
    fraction = bound(n, e, 0.25) / n
    assert binom.cdf(e, n, fraction) == pytest.approx(0.25, abs=0.03)


@given(n=st.floats(1.6, 500), fraction=st.floats(0, 1), confidence=st.floats(0.001, 0.5))
@examples(100)
def test_added_errors_equal_the_printed_formula(n, fraction, confidence):
    e = 1 + fraction * (n - 1)
    z = math.sqrt(2) * inverse_error(1 - 2 * confidence)
    if e + 0.5 >= n:
        assert added(n, e, confidence) == max(n - e, 0)
        return
    f = (e + 0.5) / n
    root = math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    printed = (f + z * z / (2 * n) + z * root) / (1 + z * z / n)
    assert added(n, e, confidence) == pytest.approx(printed * n - e, abs=1e-9 * n)


def inverse_error(fraction):
    """Invert the error function by bisection."""
    low, high = 0.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < fraction else (low, middle)
    return low


@given(n=st.floats(0.1, 300), fraction=st.floats(0, 1), confidence=st.floats(0.001, 0.5))
@examples(100)
def test_smaller_confidence_adds_more_errors(n, fraction, confidence):
    e = fraction * n
    assert -1e-12 * n <= added(n, e, confidence)
    if e == 0 or e >= 1:
        assert bound(n, e, confidence) <= n * (1 + 1e-12) or n < 1
        assert added(n, e, confidence / 2) >= added(n, e, confidence) - 1e-9 * n


# Pessimistic pruning, collapsing, subtree raising


def test_example_of_the_book():
    # The congressional votes of the book: 6 + 9 + 1 rows without error against 16 with one.
    root = number_nodes(join([leaf([6, 0]), leaf([9, 0]), leaf([0, 1])]))
    assert sum(errors.estimate(n, 0.25) for n in leaves(root)) == pytest.approx(3.273, abs=2e-3)
    assert errors.pessimistic(root, 0.25)[0]["children"] == []
    strong = number_nodes(join([leaf([60, 0]), leaf([0, 50])]))
    assert inner(errors.pessimistic(strong, 0.25)[0]) == {0}


@EXAMPLES
@given(root=random_trees(max_count=30))
def test_pruning_is_idempotent(root):
    once, estimate = errors.pessimistic(root, 0.25)
    assert errors.pessimistic(once, 0.25) == (once, estimate)
    assert inner(once) <= inner(root)
    collapsed = errors.collapsed(root)
    assert errors.collapsed(collapsed) == collapsed
    ends = [sum(map(errors.leaf_errors, leaves(tree))) for tree in (root, collapsed)]
    assert ends[1] - ends[0] <= errors.TOLERANCE * len(leaves(root))


def test_errors_of_mean_cost_count_one():
    costs = [[0, 3], [1, 0]]
    assert errors.leaf_errors({"value": [4, 5]}) == 4
    assert errors.leaf_errors({"value": [4, 5]}, costs) == Fraction(5, 2)
    assert errors.leaf_errors({"value": [1, 5]}, costs) == Fraction(3, 2)
    assert errors.leaf_errors({"value": [0, 5]}, costs) == 0


def test_collapsing_is_top_down():
    # Neither split alone lowers the errors; both together do.
    root = number_nodes(
        join([join([leaf([3, 0]), leaf([0, 3])]), join([leaf([4, 1]), leaf([4, 0])])])
    )
    assert inner(errors.collapsed(root)) == {0, 1}
    assert inner(errors.collapsed(number_nodes(join([leaf([5, 1]), leaf([4, 2])])))) == set()


def split(index, column, threshold, children):
    test = {"kind": "threshold", "column": column, "threshold": threshold, "missing_branch": 0}
    return {"node": index, "test": test, "children": children}


def end(index):
    return {"node": index, "test": None, "children": []}


TWO = NUMBER * 2
# The first column splits off the two last rows; the second separates the classes.
TREE = split(0, 0, 0.5, [split(1, 1, 0.5, [end(3), end(4)]), end(2)])
ROWS = [(0, 0)] * 20 + [(0, 1)] * 20 + [(1, 0), (1, 1)]
CLASSES = [0] * 20 + [1] * 20 + [0, 1]


def test_large_branch_is_raised():
    training = errors.Training(ROWS, CLASSES, 2, TWO, 0.25, False)
    tree, actions = errors.raised(TREE, [1] * len(ROWS), training)
    assert actions == [(0, "raise", 1)]
    assert (tree.node["test"]["column"], tree.counts) == (1, [21, 21])
    assert [child.counts for child in tree.children] == [[21, 0], [0, 21]]


def test_raised_branch_gets_new_fractions_of_missing_values():
    rows = [*ROWS, (1, None)]
    training = errors.Training(rows, [*CLASSES, 0], 2, TWO, 0.25, True)
    tree, actions = errors.raised(TREE, [1] * len(rows), training)
    assert [node for node, *_ in actions] == [0]
    assert [child.counts for child in tree.children] == [
        [Fraction(43, 2), 0], [Fraction(1, 2), 21]
    ]  # fmt: skip
    assert errors.known_fractions([0, 0]) == [Fraction(1, 2)] * 2


def test_raising_does_not_change_a_good_tree():
    rows, classes = [(0, 0)] * 20 + [(0, 1)] * 20 + [(1, 0)] * 15, [0] * 20 + [1] * 20 + [1] * 15
    training = errors.Training(rows, classes, 2, TWO, 0.25, False)
    tree, actions = errors.raised(TREE, [1] * len(rows), training)
    assert actions == []
    assert [child.counts for child in tree.children] == [[20, 20], [0, 15]]


# Cross-validation


def test_geometric_means():
    assert geometric_means([0, 1, 4]) == [0, 2, math.inf]


def test_selection_rules():
    found = CrossValidation([0.30, 0.20, 0.20, 0.24, 0.50], [0.1, 0.01, 0.05, 0.1, 0.1])
    assert found.choice("min") == 2
    assert found.choice("one_se") == 3


def test_standard_error_of_a_proportion():
    found = cross_validate([[0, 1, 1, 0, 0]], [1] * 5)
    assert found.errors == [0.4]
    assert found.standard_errors == pytest.approx([math.sqrt(0.4 * 0.6 / 5)])
