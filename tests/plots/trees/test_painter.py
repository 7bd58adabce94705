"""Films of trees: growth split by split, pruning cut by cut."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from ceiba.plots.playback.player import Player
from ceiba.plots.style import ACCENT
from ceiba.plots.trees.painter import Moment, TreePainter
from ceiba.tree.prune.path import complexity_cuts, complexity_path
from ceiba.tree.prune.pessimistic import collapse_cuts, pessimistic_cuts
from ceiba.tree.prune.reduced_error import reduced_error_cuts
from tests.plots.trees.figures import (
    boxes,
    check_no_overlaps,
    collection,
    fitted,
    folded,
    rows_of,
    words,
)


def film(model, frames=None, rows=None):
    frames = list(model.trace_) if frames is None else frames
    return Player(TreePainter(frames, rows, model), range(len(frames)), 2.0)


@pytest.fixture(scope="module")
def iris():
    return fitted("iris", trace=True)


@pytest.fixture(scope="module")
def cleveland():
    return fitted("cleveland", trace=True)


def lit(ax):
    """Nodes whose boxes stand out."""
    colours = [to_hex(colour) for colour in collection(ax, "boxes").get_edgecolor()]
    return [n for n, colour in zip(words(ax), colours, strict=True) if colour == ACCENT.lower()]


def grey(ax):
    return sum(to_hex(c) == "#e2e2e2" for c in collection(ax, "boxes").get_edgecolor())


def test_each_frame_adds_the_branches_of_one_split(iris):
    player, there = film(iris), 1
    for place, frame in enumerate(iris.trace_):
        there += len(frame["children"])
        ax = player.draw(place).axes[0]
        assert len(words(ax)) == there
        assert lit(ax) == [frame["node"]]
    assert there == iris.tree_.n_nodes


def test_nodes_are_leaves_until_they_are_split(iris):
    player = film(iris)
    first, second = (words(player.draw(place).axes[0]) for place in (0, 1))
    assert "→ versicolor" in first[2]
    assert "petal width (cm)" in second[2]


def test_nothing_moves(iris):
    player = film(iris)
    tops = [boxes(player.draw(place).axes[0])[:3, :2] for place in (0, 7)]
    np.testing.assert_allclose(tops[0][0], tops[1][0])


def test_what_the_columns_offered_stands_beside(iris):
    frame = iris.trace_[1]
    ax = film(iris).draw(1).axes[1]
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
    title = film(iris).draw(1).axes[0].get_title(loc="left")
    assert title == f"Split 2 of 8, node 2: {frame['split']}, gain {frame['gain']:.3g}"


def test_folded_parts_tell_what_is_there_by_then(cleveland):
    player, grown = film(cleveland), cleveland.tree_
    counts = []
    for place in (5, 20, 53):
        ax = player.draw(place).axes[0]
        shown = words(ax)
        there = {0} | {int(c) for f in cleveland.trace_[: place + 1] for c in f["children"]}
        hidden = sum(nodes for nodes, _ in folded(ax).values())
        assert len(shown) + hidden == len(there)
        counts.append(hidden)
    assert counts[0] < counts[-1]
    assert grown.n_nodes == len(there)


def test_a_split_inside_a_folded_part_lights_it_up(cleveland):
    player = film(cleveland)
    shown = words(player.draw(53).axes[0])
    place = next(i for i, f in enumerate(cleveland.trace_) if f["node"] not in shown)
    (node,) = lit(player.draw(place).axes[0])
    assert node in folded(player.draw(place).axes[0])
    above = cleveland.trace_[place]["node"]
    while above not in shown:
        above = int(cleveland.tree_.parent[above])
    assert above == node


@pytest.mark.parametrize("kind", ["pessimistic", "collapse", "reduced_error", "cost_complexity"])
def test_pruning_is_played_cut_by_cut(iris, kind):
    tree = iris.tree_
    held = np.roll(tree.value, 1, axis=1)
    path = complexity_path(tree)
    frames = {
        "pessimistic": lambda: pessimistic_cuts(tree, 0.01).frames,
        "collapse": lambda: [
            {"node": 2, "errors_before": 1.0, "errors_after": 50.0, "n_leaves": 2},
            *collapse_cuts(tree).frames,
        ],
        "reduced_error": lambda: reduced_error_cuts(tree, held).frames,
        "cost_complexity": lambda: complexity_cuts(tree, path, path.n_levels - 1).frames,
    }[kind]()
    player = film(iris, list(frames))
    below = {}
    for place, frame in enumerate(frames):
        ax, beside = player.draw(place).axes
        assert lit(ax) == [frame["node"]]
        below |= {n: True for n in range(tree.n_nodes) if is_below(tree, n, frame["node"])}
        assert grey(ax) == len(below)
        title = f"Cut {place + 1} of {len(frames)}: node {frame['node']} becomes a leaf, "
        leaves = f"{frame['n_leaves']} lea{'f' if frame['n_leaves'] == 1 else 'ves'} left"
        assert ax.get_title(loc="left") == title + leaves
        measure = next(name for name in frame if name.endswith("_before")).removesuffix("_before")
        values = [frame[f"{measure}_before"], frame[f"{measure}_after"]]
        np.testing.assert_allclose([bar.get_width() for bar in beside.patches], values)


def test_a_branch_is_raised_into_the_place_of_its_node(iris):
    tree = iris.tree_
    heir, other = sorted(tree.children(2), key=lambda node: tree.weight[node])[::-1]
    estimates = {"errors_leaf": 9.0, "errors_tree": 5.5, "errors_branch": 5.0}
    raised = {"node": 2, "kind": "raised", "replacing": heir, "n_leaves": 5, **estimates}
    ax, beside = film(iris, [raised]).draw(0).axes
    assert lit(ax) == [heir]
    below = [n for n in range(tree.n_nodes) if n == other or is_below(tree, n, other)]
    assert grey(ax) == len(below) + 1  # and the node itself
    assert (
        ax.get_title(loc="left") == f"Cut 1 of 1: node {heir} takes the place of 2, 5 leaves left"
    )
    names = [label.get_text() for label in beside.get_yticklabels()]
    assert names == ["as it was", "as a leaf", "raised"]
    assert [bar.get_width() for bar in beside.patches] == [5.5, 9.0, 5.0]
    cut = {**raised, "replacing": None, "kind": "leaf", "errors_branch": np.inf}
    ax, beside = film(iris, [cut]).draw(0).axes
    assert lit(ax) == [2]
    assert len(beside.patches) == 2


@pytest.mark.parametrize("name", ["cleveland", "lymphography", "glass"])
@pytest.mark.parametrize("options", [{"algorithm": "c45"}, {"pruning": "reduced_error"}])
def test_the_last_frame_is_the_pruned_tree(name, options):
    model = fitted(name, splits=None, **options)
    frames = model.pruning_.trace
    assert 0 < len(frames) < 1000
    last = Moment.pruning(model.grown_tree_, frames)
    assert last.there.sum() == model.tree_.n_nodes
    assert last.split.sum() == (~model.tree_.is_leaf).sum()


def test_a_pruned_model_plays_its_growth_and_its_cuts():
    model = fitted("cleveland", algorithm="c45", trace=True)
    frames = [*model.trace_, *model.pruning_.trace]
    ax = film(model, frames).draw(len(frames) - 1).axes[0]
    there = len(words(ax)) - grey(ax)
    assert there + sum(nodes for nodes, _ in folded(ax).values()) == model.tree_.n_nodes
    raised = [f for f in model.pruning_.trace if f.values.get("replacing") is not None]
    assert raised
    check_no_overlaps(film(model, frames).draw(len(frames) - 1))


def is_below(tree, node, above):
    while node >= 0:
        node = int(tree.parent[node])
        if node == above:
            return True
    return False


def test_growth_and_pruning_in_one_film(iris):
    cuts = pessimistic_cuts(iris.tree_, 0.01).frames
    player = film(iris, [*iris.trace_, *cuts])
    assert player.draw(7).axes[0].get_title(loc="left").startswith("Split 8 of 8")
    after = player.draw(8).axes[0]
    assert after.get_title(loc="left").startswith(f"Cut 1 of {len(cuts)}")
    assert grey(after) > 0
    assert len(words(after)) == iris.tree_.n_nodes


def test_numbers_grow_too():
    model = fitted("auto_mpg small", trace=True)
    ax = film(model).draw(6).axes[0]
    assert len(words(ax)) + sum(n for n, _ in folded(ax).values()) == model.tree_.n_nodes


def test_a_film_is_written(tmp_path):
    player = film(fitted("iris small", trace=True))
    path = player.save(tmp_path / "tree.gif")
    with Image.open(path) as image:
        assert image.n_frames == len(player)


def test_frames_have_no_overlaps(cleveland):
    check_no_overlaps(film(cleveland).draw(53))


def test_a_trace_alone_is_refused(iris):
    with pytest.raises(ValueError, match="play the fitted model itself"):
        TreePainter(iris.trace_, rows_of("iris"), None)
