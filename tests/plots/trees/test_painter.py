"""Tests of animated trees: growth split by split, and pruning."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from PIL import Image

from ceiba import DecisionTreeClassifier
from ceiba.plots.playback import Player
from ceiba.plots.style import ACCENT
from ceiba.plots.trees.painter import TreePainter, TreeState
from ceiba.tree.prune.path import cost_complexity_path
from ceiba.tree.prune.pessimistic import collapsed_frames, pessimistic_frames
from ceiba.tree.prune.reduced_error import misclassification_errors, reduced_error_frames
from tests.plots.trees.figures import (
    boxes,
    check_no_overlaps,
    collection,
    fitted,
    folded,
    node_texts,
    rows_of,
)


def player_of(model, frames=None, rows=None):
    frames = list(model.trace_) if frames is None else frames
    return Player(TreePainter(frames, rows, model), range(len(frames)), 2.0)


@pytest.fixture(scope="module")
def iris():
    return fitted("iris", trace=True)


@pytest.fixture(scope="module")
def cleveland():
    return fitted("cleveland", trace=True)


def highlighted(ax):
    """Return the nodes with highlighted boxes."""
    colors = [to_hex(color) for color in collection(ax, "boxes").get_edgecolor()]
    return [n for n, color in zip(node_texts(ax), colors, strict=True) if color == ACCENT.lower()]


def n_gray(ax):
    return sum(to_hex(c) == "#e2e2e2" for c in collection(ax, "boxes").get_edgecolor())


def test_each_frame_adds_the_branches_of_one_split(iris):
    player, existing = player_of(iris), 1
    for index, frame in enumerate(iris.trace_):
        existing += len(frame["children"])
        ax = player.draw(index).axes[0]
        assert len(node_texts(ax)) == existing
        assert highlighted(ax) == [frame["node"]]
    assert existing == iris.tree_.n_nodes


def test_nodes_are_leaves_until_they_are_split(iris):
    player = player_of(iris)
    first, second = (node_texts(player.draw(index).axes[0]) for index in (0, 1))
    assert "→ versicolor" in first[2]
    assert "petal width (cm)" in second[2]


def test_nodes_keep_their_positions(iris):
    player = player_of(iris)
    tops = [boxes(player.draw(index).axes[0])[:3, :2] for index in (0, 7)]
    np.testing.assert_allclose(tops[0][0], tops[1][0])


def test_gains_of_the_columns_are_drawn_beside_the_tree(iris):
    frame = iris.trace_[1]
    ax = player_of(iris).draw(1).axes[1]
    gains = np.array(frame["candidate_gain"])
    bars = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(bars, sorted(gains[gains >= 0], reverse=True))
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names[0] == frame["name"]
    assert [to_hex(bar.get_facecolor()) == ACCENT.lower() for bar in ax.patches][:2] == [
        True,
        False,
    ]


def test_titles_name_the_split(iris):
    frame = iris.trace_[1]
    title = player_of(iris).draw(1).axes[0].get_title(loc="left")
    assert title == f"Split 2 of 8: node 2, gain {frame['gain']:.3g}\n{frame['split']}"


def test_titles_with_long_names_end_beside_the_comparison():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"n" * 80: random.choice(["a" * 40, "b" * 40, "c" * 40], 90)})
    X["w" * 80] = random.random(90)
    y = (X.iloc[:, 0] == "a" * 40) | (X.iloc[:, 1] > 0.5)
    figure = player_of(DecisionTreeClassifier(trace=True).fit(X, y)).draw(0)
    figure.pixels()
    left, right = (title_box(ax) for ax in figure.axes)
    assert left.x1 < right.x0
    assert max(left.y1, right.y1) < figure.bbox.height


def test_the_chosen_column_is_drawn_even_if_many_gain_more(iris):
    gains = np.array([0.1, 0.5, 0.2, 0.3])
    frame = {**iris.trace_[0].values, "column": 0, "candidate_gain": gains}
    wide = {**frame, "candidate_gain": np.append(gains, -1.0)}
    for shown in (frame, wide):
        ax = player_of(iris, [shown]).draw(0).axes[1]
        assert [to_hex(bar.get_facecolor()) for bar in ax.patches].index(ACCENT.lower()) == 3
        assert ax.get_xlabel().endswith("larger gains:\ncorrected or excluded")
    assert ax.get_xlabel().startswith("1 more: smaller or none\n")


def title_box(ax):
    shown = ax.get_title(loc="left")
    return next(t for t in ax.findobj(Text) if t.get_text() == shown).get_window_extent()


def test_nodes_have_the_numbers_that_the_titles_name(iris):
    frames = pessimistic_frames(iris.tree_, 0.01)
    player = player_of(iris, [*iris.trace_, *frames])
    for index, frame in ((3, iris.trace_[3]), (8, frames[0])):
        ax = player.draw(index).axes[0]
        node = int(frame["node"])
        assert f"node {node}" in ax.get_title(loc="left")
        assert any(text.startswith(f"[{node}] ") for text in node_texts(ax)[node])


def test_folded_counts_grow_with_the_tree(cleveland):
    player, full = player_of(cleveland), cleveland.tree_
    counts = []
    for index in (5, 20, 53):
        ax = player.draw(index).axes[0]
        shown = node_texts(ax)
        existing = {0} | {int(c) for f in cleveland.trace_[: index + 1] for c in f["children"]}
        hidden = sum(nodes for nodes, _ in folded(ax).values())
        assert len(shown) + hidden == len(existing)
        counts.append(hidden)
    assert counts[0] < counts[-1]
    assert full.n_nodes == len(existing)


def test_split_inside_a_folded_part_highlights_it(cleveland):
    player = player_of(cleveland)
    shown = node_texts(player.draw(53).axes[0])
    index = next(i for i, f in enumerate(cleveland.trace_) if f["node"] not in shown)
    (node,) = highlighted(player.draw(index).axes[0])
    assert node in folded(player.draw(index).axes[0])
    above = cleveland.trace_[index]["node"]
    while above not in shown:
        above = int(cleveland.tree_.parent[above])
    assert above == node


@pytest.mark.parametrize("kind", ["pessimistic", "collapse", "reduced_error", "cost_complexity"])
def test_pruning_is_drawn_node_by_node(iris, kind):
    tree = iris.tree_
    held_out = np.roll(tree.node_values, 1, axis=1)
    errors = misclassification_errors(tree, held_out)
    path = cost_complexity_path(tree)
    frames = {
        "pessimistic": lambda: pessimistic_frames(tree, 0.01),
        "collapse": lambda: [
            {"node": 2, "errors_before": 1.0, "errors_after": 50.0, "n_leaves": 2},
            *collapsed_frames(tree),
        ],
        "reduced_error": lambda: reduced_error_frames(tree, errors, held_out[0].sum()),
        "cost_complexity": lambda: path.frames(path.n_steps - 1),
    }[kind]()
    player = player_of(iris, list(frames))
    below = {}
    for index, frame in enumerate(frames):
        ax, beside = player.draw(index).axes
        assert highlighted(ax) == [frame["node"]]
        below |= {n: True for n in range(tree.n_nodes) if is_below(tree, n, frame["node"])}
        assert n_gray(ax) == len(below)
        title = f"Pruning {index + 1} of {len(frames)}: node {frame['node']} becomes a leaf, "
        leaves = f"{frame['n_leaves']} lea{'f' if frame['n_leaves'] == 1 else 'ves'} left"
        assert ax.get_title(loc="left") == title + leaves
        measure = next(name for name in frame if name.endswith("_before")).removesuffix("_before")
        values = [frame[f"{measure}_before"], frame[f"{measure}_after"]]
        np.testing.assert_allclose([bar.get_width() for bar in beside.patches], values)


def test_raised_branch_replaces_its_node(iris):
    tree = iris.tree_
    branch, other = sorted(tree.children(2), key=lambda node: tree.weight[node])[::-1]
    estimates = {"errors_leaf": 9.0, "errors_tree": 5.5, "errors_branch": 5.0}
    raised = {"node": 2, "kind": "raised", "replaced_by": branch, "n_leaves": 5, **estimates}
    ax, beside = player_of(iris, [raised]).draw(0).axes
    assert highlighted(ax) == [branch]
    below = [n for n in range(tree.n_nodes) if n == other or is_below(tree, n, other)]
    assert n_gray(ax) == len(below) + 1  # and the node itself
    assert (
        ax.get_title(loc="left") == f"Pruning 1 of 1: node {branch} replaces node 2, 5 leaves left"
    )
    names = [label.get_text() for label in beside.get_yticklabels()]
    assert names == ["subtree", "leaf", "raised branch"]
    assert [bar.get_width() for bar in beside.patches] == [5.5, 9.0, 5.0]
    collapsed = {**raised, "replaced_by": None, "kind": "leaf", "errors_branch": np.inf}
    ax, beside = player_of(iris, [collapsed]).draw(0).axes
    assert highlighted(ax) == [2]
    assert len(beside.patches) == 2


@pytest.mark.parametrize("name", ["cleveland", "lymphography", "glass"])
@pytest.mark.parametrize("options", [{"algorithm": "c45"}, {"pruning": "reduced_error"}])
def test_last_frame_is_the_pruned_tree(name, options):
    model = fitted(name, splits=None, **options)
    frames = model.pruning_.trace
    assert 0 < len(frames) < 1000
    last = TreeState.during_pruning(model.grown_tree_, frames)
    assert last.exists.sum() == model.tree_.n_nodes
    assert last.is_split.sum() == (~model.tree_.is_leaf).sum()


def test_pruned_model_plays_growth_and_pruning():
    model = fitted("cleveland", algorithm="c45", trace=True)
    frames = [*model.trace_, *model.pruning_.trace]
    ax = player_of(model, frames).draw(len(frames) - 1).axes[0]
    existing = len(node_texts(ax)) - n_gray(ax)
    assert existing + sum(nodes for nodes, _ in folded(ax).values()) == model.tree_.n_nodes
    raised = [f for f in model.pruning_.trace if f.values.get("replaced_by") is not None]
    assert raised
    check_no_overlaps(player_of(model, frames).draw(len(frames) - 1))


def is_below(tree, node, above):
    while node >= 0:
        node = int(tree.parent[node])
        if node == above:
            return True
    return False


def test_growth_and_pruning_share_one_animation(iris):
    pruning = pessimistic_frames(iris.tree_, 0.01)
    player = player_of(iris, [*iris.trace_, *pruning])
    assert player.draw(7).axes[0].get_title(loc="left").startswith("Split 8 of 8")
    after = player.draw(8).axes[0]
    assert after.get_title(loc="left").startswith(f"Pruning 1 of {len(pruning)}")
    assert n_gray(after) > 0
    assert len(node_texts(after)) == iris.tree_.n_nodes


def test_regression_trees_are_animated():
    model = fitted("auto_mpg small", trace=True)
    ax = player_of(model).draw(6).axes[0]
    assert len(node_texts(ax)) + sum(n for n, _ in folded(ax).values()) == model.tree_.n_nodes


def test_animation_is_written(tmp_path):
    player = player_of(fitted("iris small", trace=True))
    path = player.save(tmp_path / "tree.gif")
    with Image.open(path) as image:
        assert image.n_frames == len(player)


def test_frames_have_no_overlaps(cleveland):
    check_no_overlaps(player_of(cleveland).draw(53))


def test_bare_trace_raises(iris):
    with pytest.raises(ValueError, match="play the fitted model"):
        TreePainter(iris.trace_, rows_of("iris"), None)
