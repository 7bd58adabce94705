"""The pruning oracles checked against each other, closed forms and examples done by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from tests.oracles import pruning_complexity as complexity
from tests.oracles import pruning_errors as errors
from tests.oracles import pruning_reduced as reduced
from tests.oracles.pruning_bound import added, bound
from tests.oracles.pruning_folds import Judged, judged, middles
from tests.oracles.pruning_nodes import (
    cut,
    held,
    inner,
    label,
    labels,
    leaves,
    pieces,
    plain_costs,
    shape,
    topmost,
    upwards,
    walk,
)
from tests.oracles.pruning_trees import chain, joint, leaf, made_up, numbered

EXAMPLES = settings(max_examples=40, deadline=None)
COSTS = [[0, 1, 5], [2, 0, 1], [1, 3, 0]]
NUMBER = [{"name": "x", "kind": "numeric", "levels": [], "dtype": "float64"}]


def risks_of(root, kind):
    if kind == "gini":
        return complexity.gini_risks(root)
    return complexity.error_risks(root, COSTS if kind == "cost" else plain_costs(3))


# Walking


def test_walks_see_every_node_once():
    root = chain([1, 0], [0, 2], [3, 0])
    assert [n["node"] for n in walk(root)] == [0, 1, 2, 3, 4]
    assert [n["node"] for n in upwards(root)] == [1, 3, 4, 2, 0]
    assert inner(root) == {0, 2}
    assert [n["node"] for n in leaves(root)] == [1, 3, 4]


def test_a_cut_leaves_the_tree_that_it_was_made_from():
    root = chain([1, 0], [0, 2], [3, 0])
    before = shape(root)
    assert inner(cut(root, {2})) == {0}
    assert topmost(root, {0, 2}) == [0]
    assert shape(root) == before


def test_the_label_costs_least_and_is_the_first_of_equals():
    assert label([2, 2, 1], plain_costs(3)) == 0
    assert label([1, 3, 3], plain_costs(3)) == 1
    assert label([9, 1], [[0, 1], [10, 0]]) == 1


def test_an_empty_leaf_says_what_the_node_above_it_says():
    root = numbered(joint([leaf([0, 0]), leaf([1, 4]), leaf([3, 0])]))
    assert labels(root, plain_costs(2)) == {0: 0, 1: 0, 2: 1, 3: 0}
    root = numbered(joint([leaf([2, 0]), joint([leaf([0, 0]), leaf([1, 4])])]))
    assert labels(root, plain_costs(2))[3] == 1


def stump(cut_at=1.5, weights=(3.0, 1.0), gaps=0):
    ends = [
        {"node": 1 + b, "weight": w, "children": [], "test": None} for b, w in enumerate(weights)
    ]
    test = {"kind": "threshold", "column": 0, "threshold": cut_at, "gaps": gaps}
    return {"node": 0, "weight": sum(weights), "test": test, "children": ends}


def test_gaps_take_one_branch_or_are_shared():
    known = pieces(stump(), (2.0,), NUMBER, True)
    assert [(leaf["node"], part) for leaf, part in known] == [(2, 1)]
    gap = pieces(stump(gaps=1), (None,), NUMBER, False)
    assert [(leaf["node"], part) for leaf, part in gap] == [(2, 1)]
    gap = pieces(stump(), (None,), NUMBER, True)
    assert [(leaf["node"], part) for leaf, part in gap] == [
        (1, Fraction(3, 4)),
        (2, Fraction(1, 4)),
    ]


def test_sums_of_held_rows():
    rows, targets, weights = [(1.0,), (2.0,), (None,)], [0, 1, 1], [1, 2, 4]
    assert held(stump(), rows, targets, weights, NUMBER, True, 2) == [[1, 6], [1, 3], [0, 3]]
    assert held(stump(), rows, [1, 2, 3], [1, 1, 2], NUMBER)[0] == [4, 9, 23]


# Cost complexity


@pytest.mark.parametrize("kind", ["error", "cost", "gini"])
@EXAMPLES
@given(root=made_up())
def test_the_hull_the_loop_and_all_subtrees_agree(kind, root):
    risks = risks_of(root, kind)
    levels = complexity.corners(root, risks)
    assert levels == complexity.weakest_links(root, risks)
    for alpha in alphas_around(levels):
        found = [level for level in levels if level.alpha <= alpha][-1]
        assert complexity.smallest_at(root, risks, alpha) == found.inner


def alphas_around(levels):
    """Every critical alpha, and one between any two of them."""
    critical = sorted({Fraction(level.alpha) for level in levels})
    between = [(a + b) / 2 for a, b in pairwise(critical)]
    return [*critical, *between, critical[-1] + 1]


@EXAMPLES
@given(root=made_up())
def test_all_subtrees_are_counted(root):
    found = complexity.subtrees(root)
    assert len(found) == len(set(found)) == complexity.count(root)
    best = complexity.lightest(root, complexity.gini_risks(root))
    measured = [complexity.measure(root, s, complexity.gini_risks(root)) for s in found]
    assert {n: risk for n, (risk, _) in best.items()} == {
        n: min(risk for m, risk in measured if m == n) for n, _ in measured
    }


def test_the_sequence_of_iris_is_that_of_the_books():
    # 150 flowers: a cut finds the first species, another parts the two others with 6 errors. The
    # tables of rpart show 0.5 and 0.44 for 1/3 and 44/150 of the root's 100 errors.
    root = numbered(joint([leaf([50, 0, 0]), joint([leaf([0, 49, 5]), leaf([0, 1, 45])])]))
    levels = complexity.corners(root, risks_of(root, "error"))
    assert [level.alpha for level in levels] == [0, 44, 50]
    assert [level.n_leaves for level in levels] == [3, 2, 1]
    assert [level.risk for level in levels] == [6, 50, 100]


def test_a_chain_may_fall_in_one_step():
    # The link below is stronger than that above: both go together, as the hull says.
    root = chain([4, 0], [0, 1], [3, 2])
    levels = complexity.weakest_links(root, risks_of_two(root))
    assert levels == complexity.corners(root, risks_of_two(root))
    assert [level.n_leaves for level in levels] == [3, 1]


def risks_of_two(root):
    return complexity.error_risks(root, plain_costs(2))


def test_risks_of_numbers_and_entropy():
    (found,) = complexity.squares_risks([[4, 10, 30]]).values()
    assert found == 5
    assert complexity.entropy_sum([2, 2, 0]) == 4
    assert complexity.gini_sum([0, 0]) == 0
    assert complexity.gini_sum([3, 1]) == Fraction(3, 2)


# Reduced error


def test_reduced_error_by_hand():
    root = stump()
    root["value"] = [3.0, 2.0]
    root["children"][0]["value"], root["children"][1]["value"] = [3.0, 0.0], [0.0, 2.0]
    agreeing = reduced.Held([(1.0,), (2.0,)], [0, 1], [1, 1], NUMBER, plain_costs(2))
    assert reduced.reduced_error(root, agreeing)[1] == []
    against = reduced.Held([(1.0,), (2.0,)], [0, 0], [1, 1], NUMBER, plain_costs(2))
    assert reduced.reduced_error(root, against)[1] == [(0, 1, 0)]
    nobody = reduced.Held([], [], [], NUMBER, plain_costs(2))
    assert reduced.reduced_error(root, nobody)[1] == [(0, 0, 0)]
    dear = reduced.Held([(1.0,), (2.0,), (2.0,)], [0, 0, 1], [1] * 3, NUMBER, [[0, 1], [9, 0]])
    assert reduced.loss(root, {1: 0, 2: 1}, dear) == 1
    assert reduced.loss(root, {1: 0, 2: 0}, dear) == 9


def test_reduced_error_of_numbers_by_hand():
    root = stump()
    for node, value in zip(walk(root), (2.0, 1.0, 5.0), strict=True):
        node["value"] = value
    near = reduced.Held([(1.0,), (2.0,)], [1.0, 4.0], [1, 1], NUMBER, None)
    assert reduced.reduced_error(root, near)[1] == []
    far = reduced.Held([(1.0,), (2.0,)], [3.0, 3.0], [2, 1], NUMBER, None)
    assert reduced.reduced_error(root, far)[1] == [(0, 12, 3)]


# Quinlan's bound


@pytest.mark.parametrize(("n", "share"), [(6, 0.206), (9, 0.143), (1, 0.750)])
def test_the_bounds_of_the_book(n, share):
    assert bound(n, 0, 0.25) / n == pytest.approx(share, abs=6e-4)


@pytest.mark.parametrize(("n", "e"), [(16, 1), (168, 1), (285, 2), (20, 7)])
def test_the_normal_bound_is_near_the_exact_one(n, e):
    share = bound(n, e, 0.25) / n
    assert binom.cdf(e, n, share) == pytest.approx(0.25, abs=0.03)


@given(n=st.floats(1.6, 500), share=st.floats(0, 1), confidence=st.floats(0.001, 0.5))
@settings(max_examples=100, deadline=None)
def test_the_bound_by_the_printed_formula(n, share, confidence):
    e = 1 + share * (n - 1)
    z = math.sqrt(2) * inverse_error(1 - 2 * confidence)
    if e + 0.5 >= n:
        assert added(n, e, confidence) == max(n - e, 0)
        return
    f = (e + 0.5) / n
    root = math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    printed = (f + z * z / (2 * n) + z * root) / (1 + z * z / n)
    assert added(n, e, confidence) == pytest.approx(printed * n - e, abs=1e-9 * n)


def inverse_error(share):
    """Where the error function has a value, by halving."""
    low, high = 0.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < share else (low, middle)
    return low


@given(n=st.floats(0.1, 300), share=st.floats(0, 1), confidence=st.floats(0.001, 0.5))
@settings(max_examples=100, deadline=None)
def test_less_confidence_believes_more_errors(n, share, confidence):
    e = share * n
    assert -1e-12 * n <= added(n, e, confidence)
    if e == 0 or e >= 1:
        assert bound(n, e, confidence) <= n * (1 + 1e-12) or n < 1
        assert added(n, e, confidence / 2) >= added(n, e, confidence) - 1e-9 * n


# Pessimistic pruning, collapsing, raising


def test_quinlans_example():
    # The congressional votes of the book: 6 + 9 + 1 rows without error against 16 with one.
    root = numbered(joint([leaf([6, 0]), leaf([9, 0]), leaf([0, 1])]))
    assert sum(errors.estimate(n, 0.25) for n in leaves(root)) == pytest.approx(3.273, abs=2e-3)
    assert errors.pessimistic(root, 0.25)[0]["children"] == []
    strong = numbered(joint([leaf([60, 0]), leaf([0, 50])]))
    assert inner(errors.pessimistic(strong, 0.25)[0]) == {0}


@EXAMPLES
@given(root=made_up(most=30))
def test_pruned_trees_are_pruned_already(root):
    once, believed = errors.pessimistic(root, 0.25)
    assert errors.pessimistic(once, 0.25) == (once, believed)
    assert inner(once) <= inner(root)
    collapsed = errors.collapsed(root)
    assert errors.collapsed(collapsed) == collapsed
    ends = [sum(map(errors.wrong, leaves(tree))) for tree in (root, collapsed)]
    assert ends[1] - ends[0] <= errors.ALIKE * len(leaves(root))


def test_mistakes_of_average_cost_count_one():
    costs = [[0, 3], [1, 0]]
    assert errors.wrong({"value": [4, 5]}) == 4
    assert errors.wrong({"value": [4, 5]}, costs) == Fraction(5, 2)
    assert errors.wrong({"value": [1, 5]}, costs) == Fraction(3, 2)
    assert errors.wrong({"value": [0, 5]}, costs) == 0


def test_collapsing_starts_at_the_root():
    # Neither split alone lowers the errors; together they do.
    root = numbered(
        joint([joint([leaf([3, 0]), leaf([0, 3])]), joint([leaf([4, 1]), leaf([4, 0])])])
    )
    assert inner(errors.collapsed(root)) == {0, 1}
    assert inner(errors.collapsed(numbered(joint([leaf([5, 1]), leaf([4, 2])])))) == set()


def split(number, column, threshold, children):
    test = {"kind": "threshold", "column": column, "threshold": threshold, "gaps": 0}
    return {"node": number, "test": test, "children": children}


def end(number):
    return {"node": number, "test": None, "children": []}


TWO = NUMBER * 2
# The first column parts four odd rows off; the second tells the classes apart.
TREE = split(0, 0, 0.5, [split(1, 1, 0.5, [end(3), end(4)]), end(2)])
ROWS = [(0, 0)] * 20 + [(0, 1)] * 20 + [(1, 0), (1, 1)]
CLASSES = [0] * 20 + [1] * 20 + [0, 1]


def test_a_large_branch_is_raised():
    training = errors.Training(ROWS, CLASSES, 2, TWO, 0.25, False)
    tree, done = errors.raised(TREE, [1] * len(ROWS), training)
    assert done == [(0, "raise", 1)]
    assert (tree.node["test"]["column"], tree.counts) == (1, [21, 21])
    assert [child.counts for child in tree.children] == [[21, 0], [0, 21]]


def test_gaps_are_shared_anew_in_a_raised_branch():
    rows = [*ROWS, (1, None)]
    training = errors.Training(rows, [*CLASSES, 0], 2, TWO, 0.25, True)
    tree, done = errors.raised(TREE, [1] * len(rows), training)
    assert [number for number, *_ in done] == [0]
    assert [child.counts for child in tree.children] == [
        [Fraction(43, 2), 0], [Fraction(1, 2), 21]
    ]  # fmt: skip
    assert errors.shares_of([0, 0]) == [Fraction(1, 2)] * 2


def test_raising_leaves_a_good_tree_alone():
    rows, classes = [(0, 0)] * 20 + [(0, 1)] * 20 + [(1, 0)] * 15, [0] * 20 + [1] * 20 + [1] * 15
    training = errors.Training(rows, classes, 2, TWO, 0.25, False)
    tree, done = errors.raised(TREE, [1] * len(rows), training)
    assert done == []
    assert [child.counts for child in tree.children] == [[20, 20], [0, 15]]


# Cross-validation


def test_ranges_of_alpha():
    assert middles([0, 1, 4]) == [0, 2, math.inf]


def test_the_rules_of_choice():
    found = Judged([0.30, 0.20, 0.20, 0.24, 0.50], [0.1, 0.01, 0.05, 0.1, 0.1])
    assert found.choice("min") == 2
    assert found.choice("one_se") == 3


def test_the_standard_error_of_a_share():
    found = judged([[0, 1, 1, 0, 0]], [1] * 5)
    assert found.errors == [0.4]
    assert found.deviations == pytest.approx([math.sqrt(0.4 * 0.6 / 5)])
