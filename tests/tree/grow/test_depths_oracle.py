"""Nominal columns of more levels than can be grouped in every way, beside the naive tree."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.oracles.tree_candidates import (
    MOST_EXHAUSTIVE,
    Column,
    along,
    class_shares,
    first_axis,
    levels_of,
    parted,
    spread,
)
from tests.oracles.tree_fits import GAP_RULES, fit
from tests.oracles.tree_impurity import Target, score, together
from tests.oracles.tree_naive import Options
from tests.oracles.tree_tables import NOMINAL, Table
from tests.oracles.tree_walk import assert_tree

OF_CLASSES = ["gini", "entropy", "error", "gain_ratio"]


@st.composite
def many_levels(draw, classes, gaps):
    """One nominal column with too many levels; every class occurs."""
    n = draw(st.integers(20, 40))
    code = st.integers(0, len(NOMINAL) - 1)
    cell = st.one_of(st.none(), code, code) if gaps else code
    values = list(range(MOST_EXHAUSTIVE + 1))
    rest = n - len(values)
    values += draw(st.lists(cell, min_size=rest, max_size=rest))
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    labels[:classes] = range(classes)
    weights = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return Table([Column("nominal", values, NOMINAL)], Target(labels, weights, classes))


@pytest.mark.parametrize("missing", GAP_RULES)
@pytest.mark.parametrize("criterion", OF_CLASSES)
@settings(max_examples=6, deadline=None)
@given(table=many_levels(2, gaps=True))
def test_two_classes(criterion, missing, table):
    options = Options(criterion, missing=missing, max_depth=2)
    model = fit(table, options)
    assert_tree(model, table.problem(options))
    expected = "principal" if criterion == "gain_ratio" else "ordered"
    assert model.tree_.split(0).method == expected


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("criterion", OF_CLASSES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_three_classes(criterion, gaps, data):
    table = data.draw(many_levels(3, gaps))
    assume(is_clear(root_items(table.columns[0], range(len(table.y))), table.target))
    options = Options(criterion, max_depth=1)
    check_principal(fit(table, options), table, options)


def test_two_axes_of_nearly_one_length():
    """The second axis is 0.8 % shorter than the first, and must not be mixed into it."""
    levels = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, None, 11, 0, 7, 0, 11, None, 1]
    weights = [1, 2, 3, 1, 1, 3, 3, 1, 1, 3, 3, 2, 3, 3, 1, 2, 3, 3, 1, 1]
    labels = [0, 1, 2, 0, 0, 0, 0, 1, 1, 1, 1, 2, 1, 2, 0, 1, 0, 2, 0, 0]
    table = Table([Column("nominal", levels, NOMINAL)], Target(labels, weights, 3))
    options = Options("entropy", max_depth=1)
    check_principal(fit(table, options), table, options)


def check_principal(model, table, options):
    """The root is cut along the first principal axis, where that is best."""
    root = assert_tree(model, table.problem(options), choices=False)[0]
    assert root.split.method == "principal"
    items = root_items(table.columns[0], root.rows)
    places = places_on_axis(items, table.target)
    left = [item for item in items if set(items[item]) <= set(root.split.branches[0])]
    check_cut(places, left)
    found = score(options.criterion, table.target, root.split.branches)
    best = [best_cut(options.criterion, table.target, items, places, sign) for sign in (1, -1)]
    assert any(found == pytest.approx(float(b), abs=1e-12) for b in best)


def root_items(column, rows):
    """Rows of each level, and of the gaps, if there are any, as a last level."""
    known, gaps = parted(column, rows)
    return {**levels_of(column, known), None: gaps} if gaps else levels_of(column, known)


def places_on_axis(items, target):
    """Each item's place on the first axis."""
    axis = first_axis(items, target)
    return {item: along(axis, target, rows) for item, rows in items.items()}


def is_clear(items, target):
    """Whether one axis is the longest, and items of different shares have different places."""
    sizes = np.linalg.eigvalsh(spread(items, target))
    places = places_on_axis(items, target)
    shares = {item: class_shares(target, rows) for item, rows in items.items()}
    apart = all(
        shares[one] == shares[other] or abs(places[one] - places[other]) > 1e-9
        for one, other in combinations(items, 2)
    )
    return apart and sizes[-2] < 0.98 * sizes[-1]


def check_cut(places, left):
    """All items of the left branch lie on one side of all others."""
    lefts = [place for item, place in places.items() if item in left]
    rights = [place for item, place in places.items() if item not in left]
    assert max(lefts) <= min(rights) + 1e-9 or max(rights) <= min(lefts) + 1e-9


def best_cut(criterion, target, items, places, sign):
    """The best score of all cuts, the axis taken in one direction."""
    order = sorted(items, key=lambda item: sign * places[item])
    cuts = [(order[:size], order[size:]) for size in range(1, len(order))]
    return max(
        score(criterion, target, [together([items[item] for item in side]) for side in cut])
        for cut in cuts
    )
