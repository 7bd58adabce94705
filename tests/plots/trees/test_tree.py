"""Tests of drawn trees: texts, folding, and no overlaps."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.exceptions import NotFittedError

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, KMeans
from ceiba.plots.style import color_of, new_figure
from ceiba.plots.trees.diagram import MAX_FONT, MIN_FONT
from ceiba.plots.trees.tree import tree
from tests.plots.trees.figures import (
    boxes,
    check_no_overlaps,
    collection,
    fitted,
    folded,
    grown_from_noise,
    node_texts,
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


def test_large_tree_has_no_overlaps():
    check_no_overlaps(tree(grown_from_noise()))


def test_node_shows_column_rows_classes_and_gain():
    texts = node_texts(tree(fitted("iris small")).axes[0])
    assert texts[0] == ["petal length (cm)", "[0] 150 rows", "50 · 50 · 50", "gain 0.333, 1 tie"]
    assert texts[2][:3] == ["> 2.45 or missing", "petal width (cm)", "[2] 100 rows"]


def test_leaf_shows_prediction_and_reason():
    texts = node_texts(tree(fitted("iris small")).axes[0])
    assert texts[1] == ["≤ 2.45", "→ setosa", "p = 1", "[1] 50 rows", "50 · 0 · 0", "pure"]
    assert texts[4][1:3] == ["→ virginica", "p = 0.978"]
    assert texts[4][-1] == "leaf limit"


def test_multiway_branches_are_labeled_with_categories():
    model = fitted("contact_lenses")
    texts = node_texts(tree(model).axes[0])
    node = next(n for n in range(model.tree_.n_nodes) if model.tree_.n_branches[n] == 3)
    labels = [texts[child][0] for child in model.tree_.children(node)]
    assert labels[1:] == ["presbyopic", "young"]
    assert labels[0] == "pre-presbyopic or"  # missing, on the next line


def test_categories_excluded_above_are_not_repeated():
    model = DecisionTreeClassifier().fit(
        [{"c": category} for category in "aabbcc"], ["x", "x", "y", "y", "z", "z"]
    )
    texts = node_texts(tree(model).axes[0])
    inner = next(n for n in (1, 2) if not model.tree_.is_leaf[n])
    labels = {texts[child][0].removesuffix(" or missing") for child in model.tree_.children(inner)}
    assert len(labels) == 2
    assert labels < {"a", "b", "c"}


def test_regression_nodes_show_values_and_a_color_scale():
    model = fitted("auto_mpg small")
    picture = tree(model)
    texts = node_texts(picture.axes[0])
    assert "value 23.515" in texts[0]
    leaf = int(np.flatnonzero(model.tree_.is_leaf)[0])
    assert f"→ {model.tree_.node_values[leaf, 0]:.3f}" in texts[leaf]
    scale = picture.axes[0].child_axes[0]
    low, high = model.tree_.node_values.min(), model.tree_.node_values.max()
    np.testing.assert_allclose(scale.get_xlim(), [low, high])


def test_bars_are_class_proportions_in_legend_colors():
    model = fitted("iris small")
    ax = tree(model).axes[0]
    bars = collection(ax, "bars")
    colors = [to_hex(color) for color in bars.get_facecolor()]
    widths = [np.ptp(path.vertices[:, 0]) for path in bars.get_paths()]
    # Nodes in the order of walk(), each with its classes in order.
    value = model.tree_.node_values[list(model.tree_.walk())]
    assert colors == [color_of(k).lower() for row in value for k in np.flatnonzero(row)]
    proportions = (value / value.sum(axis=1, keepdims=True))[value > 0]
    box = boxes(ax)[np.repeat(np.arange(len(value)), (value > 0).sum(axis=1))]
    whole = box[:, 2] - box[:, 0] - 1.6 * MAX_FONT
    np.testing.assert_allclose(np.array(widths) / whole, proportions, atol=1e-6)
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == list(model.classes_)
    patches = [to_hex(patch.get_facecolor()) for patch in legend.get_patches()]
    assert patches == [color_of(k).lower() for k in range(3)]


def test_many_classes_are_named_by_weight_in_distinct_colors():
    model = fitted("glass")
    texts = node_texts(tree(model, max_depth=0).axes[0])[0]
    heaviest = np.argsort(-model.tree_.node_values[0], kind="stable")[:3]
    counts = ", ".join(
        f"{model.classes_[k]}: {model.tree_.node_values[0, k]:.0f}" for k in heaviest
    )
    assert f"{counts}, … 3 more" in " ".join(texts).replace("\u00a0", " ")
    assert len({color_of(k) for k in range(21)}) == 21


def test_edge_width_grows_with_rows():
    model = fitted("iris small")
    widths = collection(tree(model).axes[0], "edges").get_linewidths()
    order = list(model.tree_.walk())[1:]
    assert (np.argsort(widths) == np.argsort(model.tree_.n_rows[order])).all()


def test_runner_ups_are_named_on_request():
    model = fitted("iris")
    named = [text for text in every_text(tree(model, runner_ups=True)) if text.startswith("next:")]
    assert "next: petal width (cm), 0.333" in named
    assert len(named) == (model.tree_.runner_up_column >= 0).sum()
    assert not any(text.startswith("next:") for text in every_text(tree(model)))


def test_small_trees_use_the_maximum_font():
    assert max(sizes(tree(fitted("iris small")))) == pytest.approx(MAX_FONT)


def test_font_shrinks_to_the_minimum_before_more_is_folded():
    whole, half = (tree(fitted("cleveland"), max_size=(w, 10)) for w in (16, 8))
    for picture in (whole, half):
        assert MIN_FONT <= max(sizes(picture)) < MAX_FONT
        assert (picture.get_size_inches() <= (16.001, 10.001)).all()
    assert half.get_size_inches()[0] <= 8.001
    assert len(node_texts(half.axes[0])) < len(node_texts(whole.axes[0]))


@pytest.mark.parametrize(
    "options", [{}, {"max_nodes": 9}, {"max_depth": 2}, {"node": 2, "max_nodes": 7}]
)
@pytest.mark.parametrize("name", ["cleveland", "lymphography", "auto_mpg", "noise"])
def test_folded_counts_add_up(name, options):
    model = grown_from_noise() if name == "noise" else fitted(name)
    full, root = model.tree_, options.get("node", 0)
    ax = tree(model, **options).axes[0]
    shown, hidden = node_texts(ax), folded(ax)
    below = {root}
    for node in range(root, full.n_nodes):
        if full.parent[node] in below:
            below.add(node)
    leaves = [node for node in shown if full.is_leaf[node]]
    assert hidden
    assert len(shown) + sum(nodes for nodes, _ in hidden.values()) == len(below)
    assert len(leaves) + sum(n for _, n in hidden.values()) == full.is_leaf[list(below)].sum()
    assert full.n_rows[[*leaves, *hidden]].sum() == full.n_rows[root]
    title = ax.get_title(loc="left")
    if root == 0:
        assert f"folded: {sum(nodes for nodes, _ in hidden.values()):,} not shown" in title


def test_tree_of_20_000_nodes_has_few_artists():
    model = grown_from_noise()
    assert model.tree_.n_nodes > 20_000
    ax = tree(model).axes[0]
    assert len(ax.collections) == 3
    assert len(ax.texts) < 400
    assert 30 < len(node_texts(ax)) <= 64
    assert len(ax.figure.axes) == 1


def test_heavy_nodes_are_expanded_first():
    model = grown_from_noise()
    ax = tree(model, max_nodes=21, max_size=(16, 60)).axes[0]
    expanded = {int(model.tree_.parent[node]) for node in node_texts(ax)} - {-1}
    assert min(model.tree_.weight[list(expanded)]) >= max(model.tree_.weight[list(folded(ax))])


@pytest.mark.parametrize(
    ("options", "n"),
    [({"max_nodes": 5}, 5), ({"max_depth": 1}, 3), ({"max_depth": 0}, 1), ({"node": 3}, 9)],
)
def test_limits_select_a_part(options, n):
    assert len(node_texts(tree(fitted("iris"), **options).axes[0])) == n


def test_max_nodes_none_shows_all_nodes():
    model = fitted("cleveland")
    picture = tree(model, max_nodes=None, max_size=(60, 40))
    assert len(node_texts(picture.axes[0])) == model.tree_.n_nodes
    assert not folded(picture.axes[0])
    assert len(node_texts(tree(model, max_size=(60, 40)).axes[0])) <= 64


def test_compact_nodes_omit_gains_and_reasons():
    full, compact = (every_text(tree(fitted("iris"), compact=c)) for c in (False, True))
    assert len(compact) < len(full)
    assert not any(text.startswith("gain") or text == "pure" for text in compact)


def test_max_labels_and_decimals_apply():
    model = fitted("cleveland small")
    text = " ".join(node_texts(tree(model, max_labels=1).axes[0])[2])
    assert "... 1 more" in text
    assert "gain 0.1" in node_texts(tree(model, decimals=1).axes[0])[0]


def test_classes_rename_labels_of_estimators_and_bare_trees():
    model = fitted("iris small")
    texts = node_texts(tree(model, classes=["A", "B", "C"]).axes[0])
    assert "→ A" in texts[1]
    alone = tree(model.tree_)
    assert "→ 0" in node_texts(alone.axes[0])[1]
    assert alone.axes[0].get_title(loc="left") == "Tree: 7 nodes, 4 leaves, depth 3"


def test_weights_that_differ_from_rows_are_shown():
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"], sample_weight=[1.0, 2.5])
    assert "weight 3.5" in node_texts(tree(model).axes[0])[0]


def test_names_are_not_parsed_as_math_and_long_ones_are_shortened():
    long = "a name that goes on and on without an end"
    rows = [{long: "$x^2$"}, {long: "b_{"}]
    texts = node_texts(tree(DecisionTreeClassifier().fit(rows, ["$k$", r"\frac"])).axes[0])
    assert texts[0][0] == "a name that goes on and on…"
    assert texts[1][:2] == ["$x^2$ or missing", "→ $k$"]
    figure = tree(DecisionTreeClassifier().fit(rows, ["$k$", r"\frac"]))
    check_no_overlaps(figure)
    assert figure.png()


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_single_root_is_drawn(estimator):
    picture = tree(estimator().fit([[0.0], [1.0]], [1, 1]))
    assert len(node_texts(picture.axes[0])) == 1
    assert picture.png()


def test_given_axes_fold_by_their_size():
    model = fitted("iris")
    figure = new_figure(14, 5)
    small, large = figure.subplots(1, 2, width_ratios=[1, 4])
    assert tree(model, ax=small) is figure
    tree(model, ax=large)
    check_no_overlaps(figure)
    assert len(node_texts(small)) < len(node_texts(large))
    assert "not shown" in small.get_title(loc="left")


def test_new_figure_displays_itself_without_pyplot():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    assert "data:image/png" in tree(fitted("iris small"))._repr_html_()
    assert plt.get_fignums() == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"node": 17}, r"node must be an int in \[0, 16\], got 17"),
        ({"node": -1}, "got -1"),
        ({"max_nodes": 0}, "max_nodes must be an int >= 1"),
        ({"max_depth": -1}, "max_depth must be an int >= 0"),
        ({"max_labels": 0}, "max_labels must be an int >= 1"),
        ({"decimals": -1}, "decimals must be an int >= 0"),
        ({"classes": ["a"]}, "3 classes"),
        ({"max_size": (0, 5)}, "max_size"),
        ({"max_size": (8, 5), "ax": new_figure(8, 5).subplots()}, "no effect with a given ax"),
        ({"runner_ups": True, "compact": True}, "'runner_ups' has no effect with compact=True"),
    ],
)
def test_invalid_options_raise(options, message):
    with pytest.raises(ValueError, match=message):
        tree(fitted("iris"), **options)


def test_other_models_raise():
    with pytest.raises(NotFittedError):
        tree(DecisionTreeClassifier())
    with pytest.raises(TypeError, match="must be a fitted tree of Ceiba, got KMeans"):
        tree(KMeans(1).fit([[0.0], [1.0]]))


def test_missing_matplotlib_error_names_the_extra(monkeypatch):
    model = fitted("iris small")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"ceiba\[plots\]"):
        tree(model)
