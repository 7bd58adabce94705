"""Trees of pruning levels side by side."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from ceiba import DecisionTreeClassifier, datasets
from ceiba.plots.style import new_figure
from ceiba.plots.trees.depths import tree_levels
from ceiba.tree.model.edit import collapse
from ceiba.tree.prune.path import complexity_path
from tests.plots.trees.figures import (
    boxes,
    check_no_overlaps,
    collection,
    fitted,
    folded,
    grown_from_noise,
    words,
)

WIDE = (60.0, 30.0)


def panels(picture):
    """The axes of the trees; the last are those of the legend."""
    return picture.axes[:-1]


def titles(picture):
    return [ax.get_title(loc="left") for ax in panels(picture)]


def gone(ax):
    """Which boxes are light grey, in the order of the shown nodes."""
    return np.array([to_hex(c) == "#e2e2e2" for c in collection(ax, "boxes").get_edgecolor()])


@pytest.mark.parametrize("risk", ["impurity", "error"])
def test_every_panel_is_a_level(risk):
    model = fitted("iris")
    path = complexity_path(model.tree_, risk)
    levels = list(range(path.n_levels))
    found = titles(tree_levels(model, levels, risk))
    leaves = [int(n) for n in path.n_leaves]
    assert found == [
        f"Level {k}: {n} {'leaf' if n == 1 else 'leaves'}"
        for k, n in zip(levels, leaves, strict=True)
    ]


def test_risks_differ():
    model = fitted("cleveland")
    by_impurity, by_error = (titles(tree_levels(model, risk=r)) for r in ("impurity", "error"))
    assert by_impurity != by_error


def test_removed_nodes_are_grey_and_cut_ones_are_leaves():
    model = fitted("iris")
    path = complexity_path(model.tree_, "error")
    order = list(model.tree_.walk())
    for level in range(path.n_levels):
        ax = panels(tree_levels(model, [level], "error", max_size=WIDE))[0]
        pruned = collapse(model.tree_, path.cuts(level))
        assert (~gone(ax)).sum() == pruned.n_nodes
        said = words(ax)
        for node in path.cuts(level).tolist():
            best = model.classes_[model.tree_.value[node].argmax()]
            assert f"→ {best}" in said[node]
            below = [n for n in order if model.tree_.parent[n] == node]
            assert gone(ax)[[order.index(n) for n in below]].all()


def test_every_node_stands_at_the_same_place_in_all_panels():
    picture = tree_levels(fitted("cleveland"))
    middles = [boxes(ax)[:, [0, 2]].mean(axis=1) for ax in panels(picture)]
    tops = [boxes(ax)[:, 1] for ax in panels(picture)]
    for middle, top in zip(middles[1:], tops[1:], strict=True):
        np.testing.assert_allclose(middle, middles[0], atol=1e-6)
        np.testing.assert_allclose(top, tops[0], atol=1e-6)


@pytest.mark.parametrize("name", ["cleveland", "auto_mpg"])
def test_folded_counts_are_those_of_the_level(name):
    model = fitted(name)
    path = complexity_path(model.tree_)
    levels = [0, path.n_levels // 2]
    for level, ax in zip(levels, panels(tree_levels(model, levels)), strict=True):
        pruned = collapse(model.tree_, path.cuts(level))
        there = [n for n, away in zip(words(ax), gone(ax), strict=True) if not away]
        hidden = {node: counts for node, counts in folded(ax).items() if node in there}
        assert len(there) + sum(nodes for nodes, _ in hidden.values()) == pruned.n_nodes


def test_levels_are_chosen_from_all_leaves_to_one():
    found = titles(tree_levels(fitted("cleveland")))
    assert 3 < len(found) <= 6
    assert found[0] == "Level 0: 55 leaves"
    assert found[-1].endswith("1 leaf")
    assert len(titles(tree_levels(fitted("iris small")))) == 4


def test_numbers_have_one_scale_for_all_panels():
    picture = tree_levels(fitted("auto_mpg small"))
    first, last = (
        collection(ax, "bars").get_facecolor()[0]
        for ax in panels(picture)[:: len(panels(picture)) - 1]
    )
    np.testing.assert_allclose(first, last)


@pytest.mark.parametrize("name", ["iris", "cleveland", "lymphography", "auto_mpg"])
def test_nothing_overlaps(name):
    check_no_overlaps(tree_levels(fitted(name)))


def test_a_large_tree():
    picture = tree_levels(grown_from_noise())
    assert len(panels(picture)) == 6
    assert sum(len(ax.texts) for ax in panels(picture)) < 1000


def test_leaves_predict_by_the_model_s_own_rule():
    data = datasets.load("cleveland")
    model = DecisionTreeClassifier(leaf_probability="m_estimate", m=500.0, max_depth=3)
    model.fit(data.table, data.y)
    path = complexity_path(model.tree_)
    level = path.n_levels - 2
    said = words(panels(tree_levels(model, [level], max_size=WIDE))[0])
    root = model.tree_.value[0]
    for node in path.cuts(level).tolist():
        weights = model.tree_.value[node] + 500 * root / root.sum()
        assert f"→ {model.classes_[weights.argmax()]}" in said[node]


def test_a_tree_alone_with_labels():
    said = words(panels(tree_levels(fitted("iris").tree_, [0], classes=["A", "B", "C"]))[0])
    assert "→ A" in said[1]


def test_a_given_figure_is_drawn_on():
    figure = new_figure(9, 4)
    left, right = figure.subfigures(1, 2)
    tree_levels(fitted("iris small"), [0, 1], figure=left)
    tree_levels(fitted("iris small"), [2], figure=right)
    assert [len(part.axes) for part in (left, right)] == [3, 2]
    check_no_overlaps(figure)


def test_few_nodes_may_be_asked_for():
    assert len(words(panels(tree_levels(fitted("iris"), [0], max_nodes=5))[0])) == 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"levels": [0, 9]}, "levels 0 to 6"),
        ({"levels": [-1]}, "level -1"),
        ({"levels": []}, "levels is empty"),
        ({"risk": "gini"}, "risk must be"),
        ({"max_nodes": 0}, "at least 1"),
        ({"max_size": (0.5, 3)}, "max_size"),
    ],
)
def test_bad_options_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        tree_levels(fitted("iris"), **options)
