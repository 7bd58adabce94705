"""Tests of the trees of several pruning steps."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from ceiba import DecisionTreeClassifier, datasets
from ceiba.plots.style import new_figure
from ceiba.plots.trees.pruning_steps import pruning_steps
from ceiba.tree.model.subtrees import collapse
from ceiba.tree.prune.path import cost_complexity_path
from tests.plots.trees.figures import (
    boxes,
    check_no_overlaps,
    collection,
    fitted,
    folded,
    grown_from_noise,
    node_texts,
)

WIDE = (60.0, 30.0)


def panels(picture):
    """Return the axes of the trees; the last ones are those of the legend."""
    return picture.axes[:-1]


def titles(picture):
    return [ax.get_title(loc="left") for ax in panels(picture)]


def pruned_mask(ax):
    """Return a mask of the light gray boxes, in the order of the visible nodes."""
    return np.array([to_hex(c) == "#e2e2e2" for c in collection(ax, "boxes").get_edgecolor()])


@pytest.mark.parametrize("risk", ["impurity", "error"])
def test_every_panel_is_a_pruning_step(risk):
    model = fitted("iris")
    path = cost_complexity_path(model.tree_, risk)
    steps = list(range(path.n_steps))
    found = titles(pruning_steps(model, steps, risk))
    leaves = [int(n) for n in path.n_leaves]
    assert found == [
        f"Step {k}: {n} {'leaf' if n == 1 else 'leaves'}"
        for k, n in zip(steps, leaves, strict=True)
    ]


def test_risks_differ():
    model = fitted("cleveland")
    by_impurity, by_error = (titles(pruning_steps(model, risk=r)) for r in ("impurity", "error"))
    assert by_impurity != by_error


def test_pruned_nodes_are_gray_and_collapsed_ones_are_leaves():
    model = fitted("iris")
    path = cost_complexity_path(model.tree_, "error")
    order = list(model.tree_.walk())
    for step in range(path.n_steps):
        ax = panels(pruning_steps(model, [step], "error", max_size=WIDE))[0]
        pruned = collapse(model.tree_, path.pruned_nodes(step))
        assert (~pruned_mask(ax)).sum() == pruned.n_nodes
        texts = node_texts(ax)
        for node in path.pruned_nodes(step).tolist():
            best = model.classes_[model.tree_.node_values[node].argmax()]
            assert f"→ {best}" in texts[node]
            below = [n for n in order if model.tree_.parent[n] == node]
            assert pruned_mask(ax)[[order.index(n) for n in below]].all()


def test_nodes_have_the_same_position_in_all_panels():
    picture = pruning_steps(fitted("cleveland"))
    middles = [boxes(ax)[:, [0, 2]].mean(axis=1) for ax in panels(picture)]
    tops = [boxes(ax)[:, 1] for ax in panels(picture)]
    for middle, top in zip(middles[1:], tops[1:], strict=True):
        np.testing.assert_allclose(middle, middles[0], atol=1e-6)
        np.testing.assert_allclose(top, tops[0], atol=1e-6)


@pytest.mark.parametrize("name", ["cleveland", "auto_mpg"])
def test_folded_counts_are_those_of_the_step(name):
    model = fitted(name)
    path = cost_complexity_path(model.tree_)
    steps = [0, path.n_steps // 2]
    for step, ax in zip(steps, panels(pruning_steps(model, steps)), strict=True):
        pruned = collapse(model.tree_, path.pruned_nodes(step))
        kept = [
            n for n, is_pruned in zip(node_texts(ax), pruned_mask(ax), strict=True) if not is_pruned
        ]
        hidden = {node: counts for node, counts in folded(ax).items() if node in kept}
        assert len(kept) + sum(nodes for nodes, _ in hidden.values()) == pruned.n_nodes


def test_default_steps_range_from_all_leaves_to_one():
    found = titles(pruning_steps(fitted("cleveland")))
    assert 3 < len(found) <= 6
    assert found[0] == "Step 0: 55 leaves"
    assert found[-1].endswith("1 leaf")
    assert len(titles(pruning_steps(fitted("iris small")))) == 4


def test_regression_panels_share_one_color_scale():
    picture = pruning_steps(fitted("auto_mpg small"))
    first, last = (
        collection(ax, "bars").get_facecolor()[0]
        for ax in panels(picture)[:: len(panels(picture)) - 1]
    )
    np.testing.assert_allclose(first, last)


@pytest.mark.parametrize("name", ["iris", "cleveland", "lymphography", "auto_mpg"])
def test_nothing_overlaps(name):
    check_no_overlaps(pruning_steps(fitted(name)))


def test_large_tree_has_few_texts():
    picture = pruning_steps(grown_from_noise())
    assert len(panels(picture)) == 6
    assert sum(len(ax.texts) for ax in panels(picture)) < 1000


def test_leaves_predict_as_the_model_does():
    data = datasets.load("cleveland")
    model = DecisionTreeClassifier(leaf_probability="m_estimate", m_prior=500.0, max_depth=3)
    model.fit(data.table, data.y)
    path = cost_complexity_path(model.tree_)
    step = path.n_steps - 2
    texts = node_texts(panels(pruning_steps(model, [step], max_size=WIDE))[0])
    root = model.tree_.node_values[0]
    for node in path.pruned_nodes(step).tolist():
        weights = model.tree_.node_values[node] + 500 * root / root.sum()
        assert f"→ {model.classes_[weights.argmax()]}" in texts[node]


def test_bare_tree_takes_class_labels():
    texts = node_texts(panels(pruning_steps(fitted("iris").tree_, [0], classes=["A", "B", "C"]))[0])
    assert "→ A" in texts[1]


def test_given_figure_is_used():
    figure = new_figure(9, 4)
    left, right = figure.subfigures(1, 2)
    pruning_steps(fitted("iris small"), [0, 1], figure=left)
    pruning_steps(fitted("iris small"), [2], figure=right)
    assert [len(part.axes) for part in (left, right)] == [3, 2]
    check_no_overlaps(figure)


def test_max_nodes_limits_the_nodes():
    assert len(node_texts(panels(pruning_steps(fitted("iris"), [0], max_nodes=5))[0])) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": [0, 9]}, r"steps must be in \[0, 6\], got 9"),
        ({"steps": [-1]}, "got -1"),
        ({"steps": []}, "at least one step"),
        ({"risk": "gini"}, "risk must be"),
        ({"max_nodes": 0}, "max_nodes must be an int >= 1"),
        ({"max_size": (0.5, 3)}, "max_size"),
        ({"max_size": (8, 5), "figure": new_figure(8, 5)}, "no effect with a given figure"),
    ],
)
def test_invalid_options_raise(options, message):
    with pytest.raises(ValueError, match=message):
        pruning_steps(fitted("iris"), **options)
