"""The naive tree agrees with hand calculations, brute force and scikit-learn."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.budget import examples
from tests.oracles.tree_candidates import (
    Column,
    Rules,
    all_groupings,
    candidates,
    column_candidates,
    first_axis,
    rows_by_category,
)
from tests.oracles.tree_impurity import (
    Target,
    gain,
    impurity,
    lower_median,
    score,
    split_info,
    together,
)
from tests.oracles.tree_naive import Options, Problem, grow, importances, path, probabilities
from tests.oracles.tree_tables import NOMINAL, Table, category_columns, real_numbers, targets


def classes(text, n_classes=None, weights=None):
    """Return a target written as digits: "0011"."""
    values = [int(c) for c in text]
    return Target(values, weights or [1] * len(values), n_classes or max(values) + 1)


def categories(text, kind="nominal"):
    """Return a column written as letters, with "?" as missing: "aab?"."""
    labels = tuple(sorted(set(text) - {"?"}))
    return Column(kind, [None if c == "?" else labels.index(c) for c in text], labels)


def numbers(*values):
    return Column("float", list(values))


def summary(found):
    """Return threshold or groups, branches and missing branch of each candidate."""
    return [
        (c.threshold if c.groups is None else c.groups, c.branches, c.missing_branch) for c in found
    ]


# Hand calculations


def test_class_impurities_by_hand():
    target, rows = classes("0001"), [0, 1, 2, 3]
    assert impurity("gini", target, rows) == Fraction(3, 8)
    assert impurity("error", target, rows) == Fraction(1, 4)
    assert impurity("entropy", target, rows) == pytest.approx(0.811278, abs=1e-6)
    # Two of twenty.
    assert impurity("entropy", classes("00000000000000000011"), range(20)) == pytest.approx(
        0.468996, abs=1e-6
    )
    # As many classes as rows: bounded by log2 of their number, not by 1.
    assert impurity("entropy", classes("01234567"), range(8)) == 3


def test_weighted_regression_impurities_by_hand():
    target = Target([0, 1, 5], [1, 2, 1])
    # Mean 7/4, squares 49/16 + 2 * 9/16 + 169/16; median 1, distances 1 and 4.
    assert impurity("squared_error", target, [0, 1, 2]) == Fraction(236, 64)
    assert impurity("absolute_error", target, [0, 1, 2]) == Fraction(5, 4)
    assert lower_median(Target([0, 1], [1, 1]), [0, 1]) == 0


TENNIS = {
    # Quinlan (1986): fourteen Saturday mornings.
    "outlook": "ssorrrossrsoor",
    "temperature": "hhhmcccmcmmmhm",
    "humidity": "hhhhnnnhnnnhnh",
    "wind": "wswwwsswwwssws",
    "play": "00111010111110",
}


def tennis(**options):
    columns = [categories(TENNIS[name]) for name in ("outlook", "temperature", "humidity", "wind")]
    return Problem(columns, classes(TENNIS["play"]), Options(splits="multiway", **options))


def test_tennis_gains_and_ratios():
    problem = tennis(criterion="entropy")
    found = candidates(problem.columns, problem.target, problem.rows, problem.options)
    gains = [gain("entropy", problem.target, c.branches) for c in found]
    assert gains == pytest.approx([0.2467, 0.0292, 0.1518, 0.0481], abs=1e-4)
    assert split_info(problem.target, found[0].branches) == pytest.approx(1.577, abs=1e-3)
    ratios = [score("gain_ratio", problem.target, c.branches) for c in found]
    assert ratios == pytest.approx([0.1564, 0.0188, 0.1518, 0.0488], abs=1e-4)


def test_tennis_tree():
    problem = tennis(criterion="entropy", growth="breadth_first")
    nodes = grow(problem)
    # Outlook (overcast, rain, sunny), then wind in the rain and humidity in the sun.
    assert [node.split.column if node.split else None for node in nodes] == [
        *[0, None, 3, 2],
        *[None] * 4,
    ]
    assert [node.children for node in nodes if node.children] == [[1, 2, 3], [4, 5], [6, 7]]
    assert [node.reason for node in nodes if not node.children] == ["pure"] * 5
    assert [len(node.rows) for node in nodes] == [14, 4, 5, 5, 2, 3, 3, 2]
    fractions = importances(problem, nodes)
    total = 14 * 0.940286
    assert fractions == pytest.approx(
        [14 * 0.24675 / total, 0, 4.85475 / total, 4.85475 / total], 1e-4
    )
    assert path(nodes, [2, None, 1, None]) == [0, 3, 7]


# Candidates, in their order


def test_thresholds_with_learned_missing_branch():
    column, target = numbers(3.0, 1.0, None, 1.0, 2.0), classes("01010")
    found = column_candidates(0, column, target, range(5), Rules())
    assert summary(found) == [
        (1.5, [[1, 2, 3], [0, 4]], 0),
        (1.5, [[1, 3], [0, 2, 4]], 1),
        (2.5, [[1, 2, 3, 4], [0]], 0),
        (2.5, [[1, 3, 4], [0, 2]], 1),
        (float("inf"), [[0, 1, 3, 4], [2]], 1),
    ]


def test_thresholds_with_a_branch_for_missing():
    column, target = Column("int", [3, 1, None, 1, 6]), classes("01010")
    found = column_candidates(0, column, target, range(5), Rules(missing="branch"))
    assert summary(found) == [
        (2, [[1, 3], [0, 4], [2]], 2),
        (4.5, [[0, 1, 3], [4], [2]], 2),
        (float("inf"), [[0, 1, 3, 4], [2]], 1),
    ]


def test_thresholds_with_missing_in_the_majority():
    target = classes("0101", weights=[1, 1, 2, 5])
    found = column_candidates(
        0, categories("abc?", "ordinal"), target, range(4), Rules(missing="majority")
    )
    # Left and right weigh 1 and 3, then 2 and 2: ties go left.
    assert summary(found) == [(0, [[0], [1, 2, 3]], 1), (1, [[0, 1, 3], [2]], 0)]


def test_threshold_separates_adjacent_floats():
    low, high = 1.0, np.nextafter(1.0, 2.0).item()
    found = column_candidates(0, numbers(low, high), classes("01"), range(2), Rules())
    assert summary(found) == [(low, [[0], [1]], 0)]


def test_categories_are_ordered_by_class_fractions():
    # Fractions of class 1: a 1, b 0, missing 1/2, c 1/2.
    column, target = categories("aabb??cc"), classes("11000101")
    found = column_candidates(0, column, target, range(8), Rules())
    assert [(c.groups, c.missing_branch, c.method) for c in found] == [
        ([[1], [0, 2]], 1, "ordered"),
        ([[1, 2], [0]], 1, "ordered"),
        ([[1, 2], [0]], 0, "ordered"),
    ]


def test_all_groupings_of_three_categories_and_missing():
    column, target = categories("abc?"), classes("0120")
    found = column_candidates(0, column, target, range(4), Rules())
    assert [c.groups[0] for c in found] == [[0], [1], [0, 1], [2], [0, 2], [1, 2], [0, 1, 2]]
    assert {c.missing_branch for c in found} == {1}
    assert {c.method for c in found} == {"exhaustive"}


def test_groupings_with_a_branch_for_missing():
    column, target = categories("ab?"), classes("010")
    found = column_candidates(0, column, target, range(3), Rules(missing="branch"))
    assert summary(found) == [
        ([[0], [1]], [[0], [1], [2]], 2),
        ([[0, 1], []], [[0, 1], [2]], 1),
    ]


def test_multiway_splits_with_missing():
    column, target = categories("abb?"), classes("0101")
    for missing, expected in {
        "learned": [([[0, 3], [1, 2]], 0), ([[0], [1, 2, 3]], 1)],
        "branch": [([[0], [1, 2], [3]], 2)],
        "majority": [([[0], [1, 2, 3]], 1)],
    }.items():
        rules = Rules(splits="multiway", missing=missing)
        found = column_candidates(0, column, target, range(4), rules)
        assert [(c.branches, c.missing_branch) for c in found] == expected


@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize(
    "column", [numbers(7.0, None), categories("a?"), categories("a?", "ordinal")]
)
def test_single_value_with_missing(column, splits):
    for missing, count in {"learned": 1, "branch": 1, "majority": 0}.items():
        rules = Rules(splits=splits, missing=missing)
        found = column_candidates(0, column, classes("01"), range(2), rules)
        assert [c.branches for c in found] == [[[0], [1]]] * count


# Stopping and order


STEP = Problem([numbers(1.0, 2.0, 3.0, 4.0)], classes("0110"))


@pytest.mark.parametrize(
    ("options", "reasons"),
    [
        ({}, ["split", "pure", "split", "pure", "pure"]),
        ({"min_impurity_split": 0.5}, ["impurity"]),
        ({"max_depth": 1}, ["split", "pure", "max_depth"]),
        ({"min_samples_split": 4}, ["split", "pure", "min_samples_split"]),
        ({"min_samples_leaf": 2}, ["split", "min_samples_split", "min_samples_split"]),
        ({"min_samples_leaf": 0.6}, ["min_samples_leaf"]),
        ({"min_weight_fraction_leaf": 0.51}, ["min_samples_leaf"]),
        # The first gain is 1/2 - 3/4 * 4/9 = 1/6.
        ({"min_impurity_decrease": 0.17}, ["min_impurity_decrease"]),
        ({"max_leaf_nodes": 2}, ["split", "pure", "max_leaf_nodes"]),
    ],
)
def test_reasons_of_stopping(options, reasons):
    options = {"min_samples_split": 3 if options.get("min_samples_leaf") == 2 else 2, **options}
    nodes = grow(Problem(STEP.columns, STEP.target, Options(**options)))
    assert [node.reason for node in nodes] == reasons


def test_identical_rows_cannot_be_split():
    nodes = grow(Problem([numbers(1.0, 1.0), categories("??")], classes("01")))
    assert [node.reason for node in nodes] == ["no_split"]


def test_ties_go_to_the_first_candidate():
    twice = Problem([STEP.columns[0]] * 2, STEP.target)
    root = grow(twice)[0]
    assert (root.split.column, root.split.threshold) == (0, 1.5)
    # The mirrored threshold, and both in the second column.
    assert len(root.best) == 4


@pytest.mark.parametrize(
    ("growth", "children"),
    [
        ("depth_first", {0: [1, 2], 1: [3, 4], 2: [7, 8], 3: [5, 6]}),
        ("breadth_first", {0: [1, 2], 1: [3, 4], 2: [5, 6], 3: [7, 8]}),
        ("best_first", {0: [1, 2], 1: [5, 6], 2: [3, 4], 5: [7, 8]}),
    ],
)
def test_node_numbers_follow_the_growth_order(growth, children):
    # The root separates 50 and 60, of maximum gain, from 0, 1 and 3.
    problem = Problem(
        [numbers(1.0, 2.0, 3.0, 4.0, 5.0)],
        Target([0, 1, 3, 50, 60], [1] * 5),
        Options("squared_error", growth=growth),
    )
    nodes = grow(problem)
    assert {i: node.children for i, node in enumerate(nodes) if node.children} == children


def test_leaf_probabilities_by_hand():
    prior = [Fraction(1, 4), Fraction(3, 4)]
    assert probabilities([3, 1], "plain", prior, 2) == [Fraction(3, 4), Fraction(1, 4)]
    assert probabilities([3, 1], "laplace", prior, 2) == [Fraction(4, 6), Fraction(2, 6)]
    assert probabilities([3, 1], "m_estimate", prior, 2) == [Fraction(7, 12), Fraction(5, 12)]


# Brute force


@pytest.mark.parametrize("missing", ["learned", "branch"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "squared_error"])
@examples(25)
@given(data=st.data())
def test_ordered_groupings_are_exact(criterion, missing, data):
    """Breiman et al. (1984) and Fisher (1958): no other grouping has a larger gain."""
    n = data.draw(st.integers(2, 25))
    column = data.draw(category_columns(n, with_missing=True, maximum=7))
    target, _ = data.draw(targets(n, None if criterion == "squared_error" else 2))
    rows = [i for i, w in enumerate(target.weights) if w > 0]
    if target.n_classes == 1:
        return
    found = column_candidates(0, column, target, rows, Rules(criterion, missing=missing))
    assert {c.method for c in found} <= {"ordered", "known"}
    known = [i for i in rows if column.values[i] is not None]
    items = rows_by_category(column, known)
    with_missing = [i for i in rows if column.values[i] is None]
    extra = [with_missing] if with_missing and missing == "branch" else []
    if with_missing and missing == "learned":
        items[None] = with_missing
    every = []
    for left in all_groupings(items):
        sides = [left, [item for item in items if item not in left]]
        every.append([together([items[item] for item in side]) for side in sides] + extra)
    if extra and known:
        every.append([known, with_missing])
    best = max((gain(criterion, target, c.branches) for c in found), default=0)
    assert best == pytest.approx(
        max((gain(criterion, target, branches) for branches in every), default=0), abs=1e-12
    )


def test_first_axis_has_maximum_variance():
    # Categories differ in the fractions of class 0 and class 2; class 1 hardly varies.
    text = "a" * 8 + "b" * 8 + "c" * 8
    target = classes("000000010001122222222221")
    axis = first_axis(rows_by_category(categories(text), range(24)), target)
    assert abs(axis[1]) < 0.1 < min(abs(axis[0]), abs(axis[2]))
    assert axis[0] * axis[2] < 0


# scikit-learn


def sklearn_tree(table, criterion, **options):
    kind = DecisionTreeRegressor if table.target.n_classes is None else DecisionTreeClassifier
    model = kind(criterion=criterion, **options)
    X = np.array([column.values for column in table.columns], dtype=float).T
    return model.fit(X, table.y, table.sample_weight).tree_


# Small nodes are not split: columns tie there.
@pytest.mark.parametrize("limits", [{"max_depth": 2}, {"min_samples_leaf": 5}])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_sklearn_grows_the_same_tree(criterion, limits):
    number = None if criterion.endswith("_error") else 3
    table = real_numbers(3, 50, ["float", "float"], number)
    nodes = grow(Problem(table.columns, table.target, Options(criterion, **limits)))
    peer = sklearn_tree(table, criterion, **limits)
    assert len(nodes) == peer.node_count
    pairs = [(0, 0)]
    while pairs:
        own, other = pairs.pop()
        node = nodes[own]
        assert len(node.rows) == peer.n_node_samples[other]
        close = pytest.approx(peer.impurity[other], abs=1e-9)
        assert float(impurity(criterion, table.target, node.rows)) == close
        if node.split:
            assert node.split.column == peer.feature[other]
            assert node.split.threshold == pytest.approx(peer.threshold[other], rel=1e-6)
            sides = peer.children_left[other], peer.children_right[other]
            pairs += zip(node.children, sides, strict=True)


def test_frames_have_the_values_of_the_columns():
    table = Table(
        [
            numbers(1.5, None),
            Column("int", [2**60, None]),
            categories("b?"),
            categories("?b", "ordinal"),
        ],
        classes("01"),
    )
    frame = table.frame
    assert frame.isna().to_numpy().tolist() == [[False, False, False, True], [True] * 3 + [False]]
    assert frame["x1"][0] == 2**60
    assert frame["x3"].cat.ordered
    assert not frame["x2"].cat.ordered
    assert list(NOMINAL) == sorted(NOMINAL)
