"""Nominal columns with too many categories for exhaustive search, against the naive tree."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.budget import examples
from tests.oracles.tree_candidates import (
    MAX_EXHAUSTIVE,
    Column,
    class_fractions,
    first_axis,
    projection,
    rows_by_category,
    scatter,
    split_missing,
)
from tests.oracles.tree_fits import MISSING_POLICIES, fit
from tests.oracles.tree_impurity import Target, score, together
from tests.oracles.tree_naive import Options
from tests.oracles.tree_tables import NOMINAL, Table
from tests.oracles.tree_walk import assert_tree

OF_CLASSES = ["gini", "entropy", "error", "gain_ratio"]


@st.composite
def many_categories(draw, classes, with_missing):
    """Draw a nominal column with too many categories; every class occurs."""
    n = draw(st.integers(20, 40))
    code = st.integers(0, len(NOMINAL) - 1)
    cell = st.one_of(st.none(), code, code) if with_missing else code
    values = list(range(MAX_EXHAUSTIVE + 1))
    rest = n - len(values)
    values += draw(st.lists(cell, min_size=rest, max_size=rest))
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    labels[:classes] = range(classes)
    weights = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return Table([Column("nominal", values, NOMINAL)], Target(labels, weights, classes))


@pytest.mark.parametrize("missing", MISSING_POLICIES)
@pytest.mark.parametrize("criterion", OF_CLASSES)
@examples(6)
@given(table=many_categories(2, with_missing=True))
def test_two_classes_equal_the_naive_tree(criterion, missing, table):
    options = Options(criterion, missing=missing, max_depth=2)
    model = fit(table, options)
    assert_tree(model, table.problem(options))
    expected = "principal" if criterion == "gain_ratio" else "ordered"
    assert model.tree_.split(0).method == expected


@pytest.mark.parametrize("with_missing", [False, True])
@pytest.mark.parametrize("criterion", OF_CLASSES)
@examples(15)
@given(data=st.data())
def test_three_classes_are_split_along_the_principal_axis(criterion, with_missing, data):
    table = data.draw(many_categories(3, with_missing))
    assume(is_clear(root_items(table.columns[0], range(len(table.y))), table.target))
    options = Options(criterion, max_depth=1)
    check_principal(fit(table, options), table, options)


def test_two_axes_of_nearly_equal_length():
    """The second axis is 0.8 % shorter than the first and must not be mixed with it."""
    categories = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, None, 11, 0, 7, 0, 11, None, 1]
    weights = [1, 2, 3, 1, 1, 3, 3, 1, 1, 3, 3, 2, 3, 3, 1, 2, 3, 3, 1, 1]
    labels = [0, 1, 2, 0, 0, 0, 0, 1, 1, 1, 1, 2, 1, 2, 0, 1, 0, 2, 0, 0]
    table = Table([Column("nominal", categories, NOMINAL)], Target(labels, weights, 3))
    options = Options("entropy", max_depth=1)
    check_principal(fit(table, options), table, options)


def check_principal(model, table, options):
    """Check that the root is split along the first principal axis at the best threshold."""
    root = assert_tree(model, table.problem(options), choices=False)[0]
    assert root.split.method == "principal"
    items = root_items(table.columns[0], root.rows)
    indices = positions_on_axis(items, table.target)
    left = [item for item in items if set(items[item]) <= set(root.split.branches[0])]
    check_separation(indices, left)
    found = score(options.criterion, table.target, root.split.branches)
    best = [
        best_threshold(options.criterion, table.target, items, indices, sign) for sign in (1, -1)
    ]
    assert any(found == pytest.approx(float(b), abs=1e-12) for b in best)


def root_items(column, rows):
    """Return the rows of each category, with missing values as the last one."""
    known, with_missing = split_missing(column, rows)
    return (
        {**rows_by_category(column, known), None: with_missing}
        if with_missing
        else rows_by_category(column, known)
    )


def positions_on_axis(items, target):
    """Return the position of each item on the first axis."""
    axis = first_axis(items, target)
    return {item: projection(axis, target, rows) for item, rows in items.items()}


def is_clear(items, target):
    """Return whether the longest axis is unique and different items have different positions."""
    sizes = np.linalg.eigvalsh(scatter(items, target))
    indices = positions_on_axis(items, target)
    fractions = {item: class_fractions(target, rows) for item, rows in items.items()}
    apart = all(
        fractions[one] == fractions[other] or abs(indices[one] - indices[other]) > 1e-9
        for one, other in combinations(items, 2)
    )
    return apart and sizes[-2] < 0.98 * sizes[-1]


def check_separation(indices, left):
    """Check that all items of the left branch lie on one side of all others."""
    lefts = [index for item, index in indices.items() if item in left]
    rights = [index for item, index in indices.items() if item not in left]
    assert max(lefts) <= min(rights) + 1e-9 or max(rights) <= min(lefts) + 1e-9


def best_threshold(criterion, target, items, indices, sign):
    """Return the best score of all thresholds in one direction of the axis."""
    order = sorted(items, key=lambda item: sign * indices[item])
    thresholds = [(order[:size], order[size:]) for size in range(1, len(order))]
    return max(
        score(criterion, target, [together([items[item] for item in side]) for side in threshold])
        for threshold in thresholds
    )
