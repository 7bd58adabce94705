"""Tidy places: against a naive version, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceiba.plots.trees.layout import tidy_places, tree_layout

GAP = 1.0


@st.composite
def trees(draw, most=6):
    """Branches of each node, a node before its branches, and a width for each."""
    branches, waiting = [[]], [0]
    size = draw(st.integers(1, 40))
    while len(branches) < size and waiting:
        node = waiting.pop(draw(st.integers(0, len(waiting) - 1)))
        for _ in range(draw(st.integers(1, most))):
            branches[node].append(len(branches))
            waiting.append(len(branches))
            branches.append([])
    widths = draw(st.lists(st.integers(1, 12), min_size=len(branches), max_size=len(branches)))
    return branches, np.array(widths, float)


def naive_places(branches, widths):
    """Subtrees pushed off all to their left, level by level; for at most two branches a node."""
    places = [0.0] * len(branches)

    def shift(node, by):
        places[node] += by
        for child in branches[node]:
            shift(child, by)

    def outline(node, level, found):
        left, right = places[node] - widths[node] / 2, places[node] + widths[node] / 2
        low, high = found.get(level, (left, right))
        found[level] = min(low, left), max(high, right)
        for child in branches[node]:
            outline(child, level + 1, found)
        return found

    def place(node):
        for child in branches[node]:
            place(child)
        if len(branches[node]) == 2:
            first, second = branches[node]
            a, b = outline(first, 0, {}), outline(second, 0, {})
            shift(second, max(a[k][1] + GAP - b[k][0] for k in a.keys() & b.keys()))
        if branches[node]:
            places[node] = (places[branches[node][0]] + places[branches[node][-1]]) / 2

    place(0)
    return np.array(places)


@settings(max_examples=150, deadline=None)
@given(trees(most=2))
def test_binary_trees_are_as_narrow_as_the_naive_layout(tree):
    found, expected = tidy_places(*tree), naive_places(*tree)
    np.testing.assert_allclose(found - found[0], expected - expected[0], atol=1e-9)


@settings(max_examples=150, deadline=None)
@given(trees())
def test_no_two_nodes_of_a_level_are_closer_than_the_gap(tree):
    branches, widths = tree
    layout = tree_layout(branches, widths, np.ones(len(widths)), np.ones(len(widths)))
    for level in range(layout.level.max() + 1):
        mine = np.flatnonzero(layout.level == level)
        mine = mine[np.argsort(layout.x[mine])]
        left, right = layout.x[mine] - widths[mine] / 2, layout.x[mine] + widths[mine] / 2
        assert (left[1:] - right[:-1] > GAP - 1e-9).all()
        assert left[0] > -1e-9
        assert right[-1] < layout.width + 1e-9


@settings(max_examples=100, deadline=None)
@given(trees())
def test_nodes_stand_in_the_middle_above_their_branches_in_order(tree):
    branches, widths = tree
    x = tidy_places(branches, widths)
    for node, below in enumerate(branches):
        if below:
            assert x[node] == pytest.approx((x[below[0]] + x[below[-1]]) / 2, abs=1e-9)
            assert (np.diff(x[below]) > 0).all()


@settings(max_examples=60, deadline=None)
@given(trees(most=4))
def test_the_mirror_image_of_a_tree_is_as_wide(tree):
    branches, widths = tree
    mirrored = [below[::-1] for below in branches]
    widest = [tree_layout(b, widths, widths, widths).width for b in (branches, mirrored)]
    assert widest[0] == pytest.approx(widest[1])


def test_levels_are_as_high_as_their_highest_box_and_condition():
    boxes, labels = np.array([2.0, 5.0, 3.0]), np.array([0.0, 1.0, 2.0])
    layout = tree_layout([[1, 2], [], []], np.full(3, 4.0), boxes, labels)
    assert layout.top.tolist() == [0.0, 6.0, 6.0]
    assert layout.band.tolist() == [0.0, 4.0]
    assert layout.floor.tolist() == [2.0, 11.0]
    assert layout.height == 11.0


def test_a_deep_chain_is_no_recursion():
    n = 20_001
    branches = [[i + 1, i + 2] if i % 2 == 0 and i + 2 < n else [] for i in range(n)]
    x = tidy_places(branches, np.ones(n))
    assert (x[2::2] > x[:-2:2]).all()
