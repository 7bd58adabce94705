"""Tests of the path of one row through a tree."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.data.table import Table
from ceiba.plots.style import ACCENT, new_figure
from ceiba.plots.trees.tree import path_nodes, read_row, tree_path
from tests.plots.trees.figures import (
    check_no_overlaps,
    collection,
    fitted,
    folded,
    grown_from_noise,
    node_texts,
    rows_of,
)


def highlighted(ax):
    """Return the numbers of highlighted boxes and edges."""
    found = []
    for name in ("boxes", "edges"):
        colors = collection(ax, name).get_edgecolor()
        found.append(sum(to_hex(color) == ACCENT.lower() for color in colors))
    return found


@pytest.mark.parametrize(
    "name", ["iris", "cleveland", "lymphography", "contact_lenses", "glass", "auto_mpg"]
)
def test_path_ends_at_the_leaf_of_apply(name):
    model, rows = fitted(name), rows_of(name)
    leaves = model.apply(rows)
    for i in range(0, len(rows), 7):
        path = [step.node for step in path_nodes(model.tree_, rows.take([i]))]
        assert path[-1] == leaves[i]
        assert path[0] == 0
        assert [int(model.tree_.parent[node]) for node in path[1:]] == path[:-1]


@pytest.mark.parametrize("kind", ["float", "integer", "datetime", "nominal", "ordinal", "float32"])
def test_path_follows_every_column_type_and_missing_values(kind):
    random = np.random.default_rng(0)
    n = 120
    column = {
        "float": pd.Series(random.normal(size=n)).mask(np.arange(n) % 7 == 0),
        "integer": pd.Series(2**60 + random.integers(50, size=n), dtype="Int64").mask(
            np.arange(n) % 7 == 0
        ),
        "datetime": pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n), "h")).mask(
            np.arange(n) % 7 == 0
        ),
        "nominal": pd.Series(random.choice(list("abcdefg"), n)).mask(np.arange(n) % 7 == 0),
        "ordinal": pd.Series(pd.Categorical(random.choice(list("abc"), n), list("abcd"), True)),
        "float32": pd.Series(random.normal(size=n).astype(np.float32)),
    }[kind]
    frame = pd.DataFrame({"x": column, "z": random.normal(size=n)})
    model = DecisionTreeClassifier().fit(frame, random.integers(2, size=n))
    leaves = model.apply(frame)
    for i in range(0, n, 4):
        assert path_nodes(model.tree_, read_row(frame.iloc[[i]], model.tree_))[-1].node == leaves[i]
    assert highlighted(tree_path(model, frame.iloc[[1]]).axes[0])[0] > 1


def test_nodes_on_the_path_show_the_values_of_the_row():
    texts = node_texts(tree_path(fitted("iris"), [5.1, 3.5, None, 1.6]).axes[0])
    assert texts[0][-1] == "row: missing"
    assert texts[2][-1] == "row: 1.6"
    assert texts[7][-1] == "the row"
    assert not any("row:" in line for line in texts[4])


def test_categories_are_named():
    row = dict.fromkeys(fitted("cleveland").schema_.names)
    texts = node_texts(tree_path(fitted("cleveland"), {**row, "thal": "normal"}).axes[0])
    assert texts[0][-1] == "row: normal"


def test_path_is_highlighted_and_the_rest_is_faded():
    model = fitted("iris")
    row = [5.1, 3.5, 4.0, 1.6]
    ax = tree_path(model, row).axes[0]
    n = len(path_nodes(model.tree_, read_row(row, model.tree_)))
    assert highlighted(ax) == [n, n - 1]
    assert len(node_texts(ax)) == model.tree_.n_nodes
    colors = {text.get_color() for text in ax.texts if text.get_gid() == "node 1"}
    normal = {text.get_color() for text in ax.texts if text.get_gid() == "node 0"}
    assert not colors & normal


def test_titles_contain_the_prediction():
    model, rows = fitted("iris small"), rows_of("iris")
    row = rows.take([120])
    title = tree_path(model, row).axes[0].get_title(loc="left")
    probability = model.predict_proba(row).max()
    assert title == f"Path of a row: 2 tests, {model.predict(row)[0]} (p = {probability:.3f})"
    numbers, row = fitted("auto_mpg small"), rows_of("auto_mpg").take([0])
    title = tree_path(numbers, row).axes[0].get_title(loc="left")
    assert title == f"Path of a row: 3 tests, {numbers.predict(row)[0]:.3f}"


@pytest.mark.parametrize(
    "row",
    [
        {"a": 1.0, "b": "x"},
        [1.0, "x"],
        (1.0, "x"),
        pd.Series({"a": 1.0, "b": "x"}),
        pd.DataFrame({"a": [1.0], "b": ["x"]}),
        [{"a": 1.0, "b": "x"}],
        [[1.0, "x"]],
        Table.of([{"a": 1.0, "b": "x"}]),
    ],
)
def test_row_may_be_any_container(row):
    frame = pd.DataFrame({"a": [0.0, 1.0, 1.0], "b": ["x", "y", "x"]})
    model = DecisionTreeClassifier().fit(frame, [0, 1, 2])
    path = path_nodes(model.tree_, read_row(row, model.tree_))
    assert path[-1].node == model.apply(frame)[2]


def test_row_may_be_an_array():
    model = DecisionTreeRegressor().fit(np.array([[0.0], [1.0]]), [0.0, 1.0])
    for row in (np.array([1.0]), np.array([[1.0]])):
        assert path_nodes(model.tree_, read_row(row, model.tree_))[-1].node == 2


def test_several_rows_raise():
    with pytest.raises(ValueError, match="row must be a single row, got 2 rows"):
        tree_path(fitted("iris"), np.zeros((2, 4)))


def test_row_of_wrong_width_raises():
    with pytest.raises(ValueError, match="4"):
        tree_path(fitted("iris"), [1.0, 2.0])


def test_unknown_column_names_raise():
    with pytest.raises(ValueError, match="nothing"):
        tree_path(fitted("cleveland"), {"age": 3, "nothing": 1})


@pytest.mark.parametrize("name", ["iris", "cleveland", "lymphography", "auto_mpg"])
def test_nothing_overlaps(name):
    check_no_overlaps(tree_path(fitted(name), rows_of(name).take([5])))


def test_long_path_is_not_folded():
    model = grown_from_noise()
    deepest = int(model.tree_.depth.argmax())
    random = np.random.default_rng(1)
    X = random.normal(size=(4_000, 3))
    row = X[model.tree_.depth[model.apply(X)].argmax()]
    depth = int(model.tree_.depth[model.apply([row])[0]])
    assert depth > 20
    picture = tree_path(model, row)
    assert highlighted(picture.axes[0]) == [depth + 1, depth]
    assert not {node for node in folded(picture.axes[0]) if node in path_of(model, row)}
    assert model.tree_.depth[deepest] >= depth


def path_of(model, row):
    return {step.node for step in path_nodes(model.tree_, read_row(row, model.tree_))}


def test_folded_path_states_where_it_continues():
    model = fitted("iris")
    figure = new_figure(3, 2.4)
    tree_path(model, [5.1, 3.5, 4.0, 1.6], ax=figure.add_subplot())
    ax = figure.axes[0]
    hidden = [lines for node, lines in node_texts(ax).items() if node in folded(ax)]
    assert any(lines[-2:] == ["the row", "continues here"] for lines in hidden)


def test_size_of_given_axes_raises():
    model = fitted("iris")
    with pytest.raises(ValueError, match="'max_size' has no effect with a given ax"):
        tree_path(model, [5.1, 3.5, 1.4, 0.2], max_size=(8, 5), ax=new_figure(8, 5).add_subplot())


@pytest.mark.parametrize("options", [{"max_nodes": 5}, {"max_size": (7, 6)}, {"decimals": 1}])
def test_options_change_the_picture(options):
    row = rows_of("cleveland").take([0])
    before, after = (tree_path(fitted("cleveland"), row, **o).axes[0] for o in ({}, options))
    assert node_texts(before) != node_texts(after)


def test_class_labels_and_max_labels_apply():
    row = rows_of("iris").take([0])
    title = tree_path(fitted("iris"), row, classes=["A", "B", "C"]).axes[0].get_title(loc="left")
    assert title.endswith("A (p = 1)")
    many = tree_path(fitted("cleveland"), rows_of("cleveland").take([0]), max_labels=1)
    assert any("... 1 more" in " ".join(lines) for lines in node_texts(many.axes[0]).values())


@pytest.mark.parametrize("name", ["cleveland", "auto_mpg"])
def test_path_through_intervals_ends_at_the_leaf_of_apply(name):
    model, rows = fitted(name, splits="intervals", n_intervals=4), rows_of(name)
    assert any(model.tree_.split(n).kind == "intervals" for n in inner(model.tree_))
    leaves = model.apply(rows)
    for i in range(0, len(rows), 7):
        assert path_nodes(model.tree_, rows.take([i]))[-1].node == leaves[i]
    texts = node_texts(tree_path(model, rows.take([0])).axes[0])
    assert any(lines[0].startswith("(") and "]" in lines[0] for lines in texts.values())


def inner(tree):
    return np.flatnonzero(~tree.is_leaf).tolist()


def with_missing(table, fraction=0.4):
    """Return the rows of a table with values removed at random."""
    random = np.random.default_rng(0)
    columns = [table.column(j).astype(float) for j in range(len(table.schema))]
    frame = pd.DataFrame({c.name: v for c, v in zip(table.schema, columns, strict=True)})
    return frame.mask(random.random(frame.shape) < fraction)


def test_fractional_rows_take_every_branch_with_its_fraction():
    model = fitted("iris", missing="fractional")
    rows = with_missing(rows_of("iris"))
    expected = model.predict_proba(rows)
    tree = model.tree_
    n_divided = 0
    for i in range(0, len(rows), 5):
        path = path_nodes(tree, read_row(rows.iloc[[i]], tree))
        ends = [step for step in path if tree.is_leaf[step.node]]
        n_divided += len(ends) > 1
        fractions = np.array([step.fraction for step in ends])
        assert fractions.sum() == pytest.approx(1)
        found = fractions @ tree.leaf_values(np.array([step.node for step in ends]))
        np.testing.assert_allclose(found, expected[i], atol=1e-9)
    assert n_divided


def test_fractional_rows_state_their_fraction_at_each_node():
    model = fitted("iris", missing="fractional")
    picture = tree_path(model, [5.1, 3.5, None, None])
    ax, tree = picture.axes[0], model.tree_
    texts = node_texts(ax)
    assert texts[0][-2:] == ["row: missing", "takes every branch"]
    first = tree.children(0)[0]
    part = tree.weight[first] / tree.weight[tree.children(0)].sum()
    assert f"{part:.3g} of the row" in texts[first]
    assert not any("or missing" in line for lines in texts.values() for line in lines)
    ends = sum(
        tree.is_leaf[step.node] for step in path_nodes(tree, read_row([5.1, 3.5, None, None], tree))
    )
    probability = model.predict_proba(read_row([5.1, 3.5, None, None], tree)).max()
    assert f"{ends} leaves" in ax.get_title(loc="left")
    assert f"p = {probability:.3f}" in ax.get_title(loc="left")
    check_no_overlaps(picture)


@pytest.mark.parametrize("name", ["iris", "cleveland"])
def test_path_by_surrogates_ends_at_the_leaf_of_apply(name):
    model, rows = fitted(name, missing="surrogate"), rows_of(name)
    frame = with_missing(rows) if name == "iris" else rows
    leaves = model.apply(frame)
    for i in range(0, len(leaves), 7):
        row = frame.iloc[[i]] if name == "iris" else frame.take([i])
        assert path_nodes(model.tree_, read_row(row, model.tree_))[-1].node == leaves[i]


def test_deciding_surrogate_is_named():
    model = fitted("iris", missing="surrogate")
    first = model.tree_.surrogates_of(0)[0]
    row = [5.1, 3.5, 1.4, 0.2]
    row[model.tree_.split(0).column] = None
    texts = node_texts(tree_path(model, row).axes[0])[0]
    assert texts[-2:] == ["row: missing", f"by {first.name}: {row[first.column]}"]
    unknown = node_texts(tree_path(model, [None] * 4).axes[0])[0]
    assert unknown[-2:] == ["row: missing", "no surrogate applies"]
