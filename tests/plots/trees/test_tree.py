"""Drawn trees: what is said, what is folded, and that nothing overlaps."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.exceptions import NotFittedError

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, KMeans
from ceiba.plots.style import colour_of, new_figure
from ceiba.plots.trees.colors import class_colour
from ceiba.plots.trees.scene import LARGEST, SMALLEST
from ceiba.plots.trees.tree import tree
from tests.plots.trees.figures import (
    boxes,
    check_no_overlaps,
    collection,
    fitted,
    folded,
    grown_from_noise,
    words,
)


def every_text(picture):
    return [text.get_text() for text in picture.axes[0].texts]


def sizes(picture):
    return {round(text.get_fontsize(), 6) for text in picture.axes[0].texts}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("iris small", {}),
        ("iris", {"runner_ups": True}),
        ("cleveland", {}),
        ("cleveland small", {}),
        ("cleveland", {"compact": True}),
        ("lymphography", {}),
        ("contact_lenses", {}),
        ("glass", {"max_nodes": 30}),
        ("auto_mpg", {}),
        ("auto_mpg small", {}),
    ],
)
def test_nothing_overlaps(name, options):
    check_no_overlaps(tree(fitted(name), **options))


def test_nothing_of_a_large_tree_overlaps():
    check_no_overlaps(tree(grown_from_noise()))


def test_a_node_says_what_it_asks_and_whom_it_holds():
    said = words(tree(fitted("iris small")).axes[0])
    assert said[0] == ["petal length (cm)", "[0] 150 rows", "50 · 50 · 50", "gain 0.333, 1 tie"]
    assert said[2][:3] == ["> 2.45 or missing", "petal width (cm)", "[2] 100 rows"]


def test_a_leaf_says_what_it_predicts_and_why_it_stopped():
    said = words(tree(fitted("iris small")).axes[0])
    assert said[1] == ["≤ 2.45", "→ setosa", "p = 1", "[1] 50 rows", "50 · 0 · 0", "pure"]
    assert said[4][1:3] == ["→ virginica", "p = 0.978"]
    assert said[4][-1] == "leaf limit"


def test_levels_have_their_own_names_and_many_branches_stand_side_by_side():
    model = fitted("contact_lenses")
    said = words(tree(model).axes[0])
    node = next(n for n in range(model.tree_.n_nodes) if model.tree_.n_branches[n] == 3)
    labels = [said[child][0] for child in model.tree_.children(node)]
    assert labels[1:] == ["presbyopic", "young"]
    assert labels[0] == "pre-presbyopic or"  # missing, on the next line


def test_levels_that_the_way_excludes_are_not_named_again():
    model = DecisionTreeClassifier().fit(
        [{"c": level} for level in "aabbcc"], ["x", "x", "y", "y", "z", "z"]
    )
    said = words(tree(model).axes[0])
    inner = next(n for n in (1, 2) if not model.tree_.is_leaf[n])
    labels = {said[child][0].removesuffix(" or missing") for child in model.tree_.children(inner)}
    assert len(labels) == 2
    assert labels < {"a", "b", "c"}


def test_numbers_have_values_and_a_scale():
    model = fitted("auto_mpg small")
    picture = tree(model)
    said = words(picture.axes[0])
    assert "value 23.515" in said[0]
    leaf = int(np.flatnonzero(model.tree_.is_leaf)[0])
    assert f"→ {model.tree_.value[leaf, 0]:.3f}" in said[leaf]
    scale = picture.axes[0].child_axes[0]
    low, high = model.tree_.value.min(), model.tree_.value.max()
    np.testing.assert_allclose(scale.get_xlim(), [low, high])


def test_bars_are_the_shares_of_the_classes_in_the_colours_of_the_legend():
    model = fitted("iris small")
    ax = tree(model).axes[0]
    bars = collection(ax, "bars")
    colours = [to_hex(colour) for colour in bars.get_facecolor()]
    wide = [np.ptp(path.vertices[:, 0]) for path in bars.get_paths()]
    # Nodes in the order of walk(), each with its classes in order.
    value = model.tree_.value[list(model.tree_.walk())]
    assert colours == [colour_of(k).lower() for row in value for k in np.flatnonzero(row)]
    shares = (value / value.sum(axis=1, keepdims=True))[value > 0]
    box = boxes(ax)[np.repeat(np.arange(len(value)), (value > 0).sum(axis=1))]
    whole = box[:, 2] - box[:, 0] - 1.6 * LARGEST
    np.testing.assert_allclose(np.array(wide) / whole, shares, atol=1e-6)
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == list(model.classes_)
    patches = [to_hex(patch.get_facecolor()) for patch in legend.get_patches()]
    assert patches == [colour_of(k).lower() for k in range(3)]


def test_many_classes_are_named_by_weight_and_have_colours_of_their_own():
    model = fitted("glass")
    said = words(tree(model, max_depth=0).axes[0])[0]
    heaviest = np.argsort(-model.tree_.value[0], kind="stable")[:3]
    counts = ", ".join(f"{model.classes_[k]}: {model.tree_.value[0, k]:.0f}" for k in heaviest)
    assert f"{counts}, … 3 more" in " ".join(said).replace("\u00a0", " ")
    assert len({class_colour(k) for k in range(21)}) == 21


def test_edges_are_as_thick_as_their_rows_are_many():
    model = fitted("iris small")
    thick = collection(tree(model).axes[0], "edges").get_linewidths()
    order = list(model.tree_.walk())[1:]
    assert (np.argsort(thick) == np.argsort(model.tree_.n_rows[order])).all()


def test_runner_ups_are_named_where_asked_for():
    model = fitted("iris")
    named = [text for text in every_text(tree(model, runner_ups=True)) if text.startswith("next:")]
    assert "next: petal width (cm), 0.333" in named
    assert len(named) == (model.tree_.runner_up_column >= 0).sum()
    assert not any(text.startswith("next:") for text in every_text(tree(model)))


def test_small_trees_have_large_text():
    assert max(sizes(tree(fitted("iris small")))) == pytest.approx(LARGEST)


def test_text_shrinks_to_a_floor_and_then_more_is_folded():
    whole, half = (tree(fitted("cleveland"), max_size=(w, 10)) for w in (16, 8))
    for picture in (whole, half):
        assert SMALLEST <= max(sizes(picture)) < LARGEST
        assert (picture.get_size_inches() <= (16.001, 10.001)).all()
    assert half.get_size_inches()[0] <= 8.001
    assert len(words(half.axes[0])) < len(words(whole.axes[0]))


@pytest.mark.parametrize(
    "options", [{}, {"max_nodes": 9}, {"max_depth": 2}, {"node": 2, "max_nodes": 7}]
)
@pytest.mark.parametrize("name", ["cleveland", "lymphography", "auto_mpg", "noise"])
def test_folded_counts_add_up(name, options):
    model = grown_from_noise() if name == "noise" else fitted(name)
    grown, start = model.tree_, options.get("node", 0)
    ax = tree(model, **options).axes[0]
    shown, hidden = words(ax), folded(ax)
    below = {start}
    for node in range(start, grown.n_nodes):
        if grown.parent[node] in below:
            below.add(node)
    leaves = [node for node in shown if grown.is_leaf[node]]
    assert hidden
    assert len(shown) + sum(nodes for nodes, _ in hidden.values()) == len(below)
    assert len(leaves) + sum(n for _, n in hidden.values()) == grown.is_leaf[list(below)].sum()
    assert grown.n_rows[[*leaves, *hidden]].sum() == grown.n_rows[start]
    title = ax.get_title(loc="left")
    if start == 0:
        assert f"folded: {sum(nodes for nodes, _ in hidden.values()):,} not shown" in title


def test_a_tree_of_20_000_nodes_is_few_artists():
    model = grown_from_noise()
    assert model.tree_.n_nodes > 20_000
    ax = tree(model).axes[0]
    assert len(ax.collections) == 3
    assert len(ax.texts) < 400
    assert 30 < len(words(ax)) <= 64
    assert len(ax.figure.axes) == 1


def test_heavy_nodes_are_opened_first():
    model = grown_from_noise()
    ax = tree(model, max_nodes=21, max_size=(16, 60)).axes[0]
    opened = {int(model.tree_.parent[node]) for node in words(ax)} - {-1}
    assert min(model.tree_.weight[list(opened)]) >= max(model.tree_.weight[list(folded(ax))])


@pytest.mark.parametrize(
    ("options", "n"),
    [({"max_nodes": 5}, 5), ({"max_depth": 1}, 3), ({"max_depth": 0}, 1), ({"node": 3}, 9)],
)
def test_a_part_can_be_asked_for(options, n):
    assert len(words(tree(fitted("iris"), **options).axes[0])) == n


def test_all_nodes_may_be_shown():
    model = fitted("cleveland")
    picture = tree(model, max_nodes=None, max_size=(60, 40))
    assert len(words(picture.axes[0])) == model.tree_.n_nodes
    assert not folded(picture.axes[0])
    assert len(words(tree(model, max_size=(60, 40)).axes[0])) <= 64


def test_compact_nodes_leave_out_gains_and_reasons():
    full, compact = (every_text(tree(fitted("iris"), compact=c)) for c in (False, True))
    assert len(compact) < len(full)
    assert not any(text.startswith("gain") or text == "pure" for text in compact)


def test_labels_and_decimals():
    model = fitted("cleveland small")
    text = " ".join(words(tree(model, max_labels=1).axes[0])[2])
    assert "... 1 more" in text
    assert "gain 0.1" in words(tree(model, decimals=1).axes[0])[0]


def test_classes_may_be_renamed_and_a_tree_needs_no_estimator():
    model = fitted("iris small")
    said = words(tree(model, classes=["A", "B", "C"]).axes[0])
    assert "→ A" in said[1]
    alone = tree(model.tree_)
    assert "→ 0" in words(alone.axes[0])[1]
    assert alone.axes[0].get_title(loc="left") == "Tree: 7 nodes, 4 leaves, depth 3"


def test_weights_are_told_from_rows():
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"], sample_weight=[1.0, 2.5])
    assert "weight 3.5" in words(tree(model).axes[0])[0]


def test_names_are_no_formulas_and_long_ones_are_cut():
    long = "a name that goes on and on without an end"
    rows = [{long: "$x^2$"}, {long: "b_{"}]
    said = words(tree(DecisionTreeClassifier().fit(rows, ["$k$", r"\frac"])).axes[0])
    assert said[0][0] == "a name that goes on and on…"
    assert said[1][:2] == ["$x^2$ or missing", "→ $k$"]
    figure = tree(DecisionTreeClassifier().fit(rows, ["$k$", r"\frac"]))
    check_no_overlaps(figure)
    assert figure.png()


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_a_root_alone(estimator):
    picture = tree(estimator().fit([[0.0], [1.0]], [1, 1]))
    assert len(words(picture.axes[0])) == 1
    assert picture.png()


def test_given_axes_are_drawn_on_and_fold_by_their_size():
    model = fitted("iris")
    figure = new_figure(14, 5)
    small, large = figure.subplots(1, 2, width_ratios=[1, 4])
    assert tree(model, ax=small) is figure
    tree(model, ax=large)
    check_no_overlaps(figure)
    assert len(words(small)) < len(words(large))
    assert "not shown" in small.get_title(loc="left")


def test_a_new_figure_shows_itself_and_belongs_to_nobody():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    assert "data:image/png" in tree(fitted("iris small"))._repr_html_()
    assert plt.get_fignums() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"node": 17}, "nodes 0 to 16"),
        ({"node": -1}, "no node -1"),
        ({"max_nodes": 0}, "at least 1"),
        ({"max_depth": -1}, "not be negative"),
        ({"max_labels": 0}, "max_labels must be at least 1"),
        ({"decimals": -1}, "decimals not negative"),
        ({"classes": ["a"]}, "3 classes"),
        ({"max_size": (0, 5)}, "max_size"),
    ],
)
def test_bad_options_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        tree(fitted("iris"), **options)


def test_what_is_no_fitted_tree_is_refused():
    with pytest.raises(NotFittedError):
        tree(DecisionTreeClassifier())
    with pytest.raises(TypeError, match="KMeans has no tree"):
        tree(KMeans(1).fit([[0.0], [1.0]]))


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    model = fitted("iris small")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"ceiba\[app\]"):
        tree(model)
