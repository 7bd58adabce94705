"""Tests of the tidy layout, also against a naive version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba.plots.trees.diagram import TidyLayout, tree_layout
from tests.budget import examples

DISTANCE = 1.0


@st.composite
def trees(draw, max_branches=6):
    """Draw the branches of each node, a node before its branches, and widths."""
    branches, open_nodes = [[]], [0]
    size = draw(st.integers(1, 40))
    while len(branches) < size and open_nodes:
        node = open_nodes.pop(draw(st.integers(0, len(open_nodes) - 1)))
        for _ in range(draw(st.integers(1, max_branches))):
            branches[node].append(len(branches))
            open_nodes.append(len(branches))
            branches.append([])
    widths = draw(st.lists(st.integers(1, 12), min_size=len(branches), max_size=len(branches)))
    return branches, np.array(widths, float)


def naive_positions(branches, widths):
    """Push subtrees off those to their left, depth by depth; for binary trees."""
    positions = [0.0] * len(branches)

    def shift(node, by):
        positions[node] += by
        for child in branches[node]:
            shift(child, by)

    def outline(node, depth, found):
        left, right = positions[node] - widths[node] / 2, positions[node] + widths[node] / 2
        low, high = found.get(depth, (left, right))
        found[depth] = min(low, left), max(high, right)
        for child in branches[node]:
            outline(child, depth + 1, found)
        return found

    def arrange(node):
        for child in branches[node]:
            arrange(child)
        if len(branches[node]) == 2:
            first, second = branches[node]
            a, b = outline(first, 0, {}), outline(second, 0, {})
            shift(second, max(a[k][1] + DISTANCE - b[k][0] for k in a.keys() & b.keys()))
        if branches[node]:
            positions[node] = (positions[branches[node][0]] + positions[branches[node][-1]]) / 2

    arrange(0)
    return np.array(positions)


@examples(150)
@given(trees(max_branches=2))
def test_binary_trees_are_as_narrow_as_the_naive_layout(tree):
    found, expected = TidyLayout(*tree).positions(), naive_positions(*tree)
    np.testing.assert_allclose(found - found[0], expected - expected[0], atol=1e-9)


@examples(150)
@given(trees())
def test_nodes_of_one_depth_keep_the_minimum_distance(tree):
    branches, widths = tree
    layout = tree_layout(branches, widths, np.ones(len(widths)), np.ones(len(widths)))
    for depth in range(layout.depth.max() + 1):
        own = np.flatnonzero(layout.depth == depth)
        own = own[np.argsort(layout.x[own])]
        left, right = layout.x[own] - widths[own] / 2, layout.x[own] + widths[own] / 2
        assert (left[1:] - right[:-1] > DISTANCE - 1e-9).all()
        assert left[0] > -1e-9
        assert right[-1] < layout.width + 1e-9


@examples(100)
@given(trees())
def test_nodes_are_centered_above_their_ordered_branches(tree):
    branches, widths = tree
    x = TidyLayout(branches, widths).positions()
    for node, below in enumerate(branches):
        if below:
            assert x[node] == pytest.approx((x[below[0]] + x[below[-1]]) / 2, abs=1e-9)
            assert (np.diff(x[below]) > 0).all()


@examples(60)
@given(trees(max_branches=4))
def test_mirrored_tree_has_the_same_width(tree):
    branches, widths = tree
    mirrored = [below[::-1] for below in branches]
    widest = [tree_layout(b, widths, widths, widths).width for b in (branches, mirrored)]
    assert widest[0] == pytest.approx(widest[1])


def test_depth_height_is_that_of_the_tallest_box_and_condition():
    boxes, labels = np.array([2.0, 5.0, 3.0]), np.array([0.0, 1.0, 2.0])
    layout = tree_layout([[1, 2], [], []], np.full(3, 4.0), boxes, labels)
    assert layout.top.tolist() == [0.0, 6.0, 6.0]
    assert layout.depth_top.tolist() == [0.0, 4.0]
    assert layout.depth_bottom.tolist() == [2.0, 11.0]
    assert layout.height == 11.0


def test_deep_chain_needs_no_recursion():
    n = 20_001
    branches = [[i + 1, i + 2] if i % 2 == 0 and i + 2 < n else [] for i in range(n)]
    x = TidyLayout(branches, np.ones(n)).positions()
    assert (x[2::2] > x[:-2:2]).all()
