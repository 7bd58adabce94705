"""The path of one row: where it goes, what it says, and what stands out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.data.table import Table
from ceiba.plots.style import ACCENT, new_figure
from ceiba.plots.trees.path import read_row, tree_path, visits
from tests.plots.trees.figures import (
    check_no_overlaps,
    collection,
    fitted,
    folded,
    grown_from_noise,
    rows_of,
    words,
)


def lit(ax):
    """How many boxes and edges stand out."""
    found = []
    for name in ("boxes", "edges"):
        colours = collection(ax, name).get_edgecolor()
        found.append(sum(to_hex(colour) == ACCENT.lower() for colour in colours))
    return found


@pytest.mark.parametrize(
    "name", ["iris", "cleveland", "lymphography", "contact_lenses", "glass", "auto_mpg"]
)
def test_rows_go_where_the_model_sends_them(name):
    model, rows = fitted(name), rows_of(name)
    leaves = model.apply(rows)
    for i in range(0, len(rows), 7):
        path = [visit.node for visit in visits(model.tree_, rows.take([i]))]
        assert path[-1] == leaves[i]
        assert path[0] == 0
        assert [int(model.tree_.parent[node]) for node in path[1:]] == path[:-1]


@pytest.mark.parametrize("kind", ["numbers", "whole", "time", "levels", "order", "single"])
def test_every_kind_of_column_and_gaps(kind):
    random = np.random.default_rng(0)
    n = 120
    column = {
        "numbers": pd.Series(random.normal(size=n)).mask(np.arange(n) % 7 == 0),
        "whole": pd.Series(2**60 + random.integers(50, size=n), dtype="Int64").mask(
            np.arange(n) % 7 == 0
        ),
        "time": pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n), "h")).mask(
            np.arange(n) % 7 == 0
        ),
        "levels": pd.Series(random.choice(list("abcdefg"), n)).mask(np.arange(n) % 7 == 0),
        "order": pd.Series(pd.Categorical(random.choice(list("abc"), n), list("abcd"), True)),
        "single": pd.Series(random.normal(size=n).astype(np.float32)),
    }[kind]
    frame = pd.DataFrame({"x": column, "z": random.normal(size=n)})
    model = DecisionTreeClassifier().fit(frame, random.integers(2, size=n))
    leaves = model.apply(frame)
    for i in range(0, n, 4):
        assert visits(model.tree_, read_row(frame.iloc[[i]], model.tree_))[-1].node == leaves[i]
    assert lit(tree_path(model, frame.iloc[[1]]).axes[0])[0] > 1


def test_nodes_on_the_path_have_the_row_s_own_values():
    said = words(tree_path(fitted("iris"), [5.1, 3.5, None, 1.6]).axes[0])
    assert said[0][-1] == "row: missing"
    assert said[2][-1] == "row: 1.6"
    assert said[7][-1] == "the row"
    assert not any("row:" in line for line in said[4])


def test_levels_are_named():
    row = dict.fromkeys(fitted("cleveland").schema_.names)
    said = words(tree_path(fitted("cleveland"), {**row, "thal": "normal"}).axes[0])
    assert said[0][-1] == "row: normal"


def test_the_path_stands_out_and_all_else_is_faded():
    model = fitted("iris")
    row = [5.1, 3.5, 4.0, 1.6]
    ax = tree_path(model, row).axes[0]
    n = len(visits(model.tree_, read_row(row, model.tree_)))
    assert lit(ax) == [n, n - 1]
    assert len(words(ax)) == model.tree_.n_nodes
    colours = {text.get_color() for text in ax.texts if text.get_gid() == "node 1"}
    bright = {text.get_color() for text in ax.texts if text.get_gid() == "node 0"}
    assert not colours & bright


def test_titles_tell_the_prediction():
    model, rows = fitted("iris small"), rows_of("iris")
    row = rows.take([120])
    title = tree_path(model, row).axes[0].get_title(loc="left")
    likely = model.predict_proba(row).max()
    assert title == f"Path of a row: 2 tests, {model.predict(row)[0]} (p = {likely:.3f})"
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
def test_a_row_comes_in_any_form(row):
    frame = pd.DataFrame({"a": [0.0, 1.0, 1.0], "b": ["x", "y", "x"]})
    model = DecisionTreeClassifier().fit(frame, [0, 1, 2])
    path = visits(model.tree_, read_row(row, model.tree_))
    assert path[-1].node == model.apply(frame)[2]


def test_rows_of_arrays():
    model = DecisionTreeRegressor().fit(np.array([[0.0], [1.0]]), [0.0, 1.0])
    for row in (np.array([1.0]), np.array([[1.0]])):
        assert visits(model.tree_, read_row(row, model.tree_))[-1].node == 2


def test_more_than_one_row_is_refused():
    with pytest.raises(ValueError, match="give one row to follow, not 2"):
        tree_path(fitted("iris"), np.zeros((2, 4)))


def test_a_row_of_the_wrong_width_is_refused():
    with pytest.raises(ValueError, match="4"):
        tree_path(fitted("iris"), [1.0, 2.0])


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="nothing"):
        tree_path(fitted("cleveland"), {"age": 3, "nothing": 1})


@pytest.mark.parametrize("name", ["iris", "cleveland", "lymphography", "auto_mpg"])
def test_nothing_overlaps(name):
    check_no_overlaps(tree_path(fitted(name), rows_of(name).take([5])))


def test_a_long_path_is_never_folded():
    model = grown_from_noise()
    deepest = int(model.tree_.depth.argmax())
    random = np.random.default_rng(1)
    X = random.normal(size=(4_000, 3))
    row = X[model.tree_.depth[model.apply(X)].argmax()]
    depth = int(model.tree_.depth[model.apply([row])[0]])
    assert depth > 20
    picture = tree_path(model, row)
    assert lit(picture.axes[0]) == [depth + 1, depth]
    assert not {node for node in folded(picture.axes[0]) if node in path_of(model, row)}
    assert model.tree_.depth[deepest] >= depth


def path_of(model, row):
    return {visit.node for visit in visits(model.tree_, read_row(row, model.tree_))}


def test_a_path_that_has_no_room_on_given_axes_says_where_it_goes_on():
    model = fitted("iris")
    figure = new_figure(3, 2.4)
    tree_path(model, [5.1, 3.5, 4.0, 1.6], ax=figure.add_subplot())
    ax = figure.axes[0]
    hidden = [lines for node, lines in words(ax).items() if node in folded(ax)]
    assert any(lines[-2:] == ["the row", "goes on here"] for lines in hidden)


@pytest.mark.parametrize("options", [{"max_nodes": 5}, {"max_size": (7, 6)}, {"decimals": 1}])
def test_options_change_the_picture(options):
    row = rows_of("cleveland").take([0])
    before, after = (tree_path(fitted("cleveland"), row, **o).axes[0] for o in ({}, options))
    assert words(before) != words(after)


def test_other_labels():
    row = rows_of("iris").take([0])
    title = tree_path(fitted("iris"), row, classes=["A", "B", "C"]).axes[0].get_title(loc="left")
    assert title.endswith("A (p = 1)")
    many = tree_path(fitted("cleveland"), rows_of("cleveland").take([0]), max_labels=1)
    assert any("... 1 more" in " ".join(lines) for lines in words(many.axes[0]).values())


@pytest.mark.parametrize("name", ["cleveland", "auto_mpg"])
def test_intervals_lead_where_the_model_sends_rows(name):
    model, rows = fitted(name, splits="intervals", n_intervals=4), rows_of(name)
    assert any(model.tree_.split(n).kind == "intervals" for n in inner(model.tree_))
    leaves = model.apply(rows)
    for i in range(0, len(rows), 7):
        assert visits(model.tree_, rows.take([i]))[-1].node == leaves[i]
    said = words(tree_path(model, rows.take([0])).axes[0])
    assert any(lines[0].startswith("(") and "]" in lines[0] for lines in said.values())


def inner(tree):
    return np.flatnonzero(~tree.is_leaf).tolist()


def gapped(table, share=0.4):
    """The rows of a table with gaps put in at random."""
    random = np.random.default_rng(0)
    columns = [table.column(j).astype(float) for j in range(len(table.schema))]
    frame = pd.DataFrame({c.name: v for c, v in zip(table.schema, columns, strict=True)})
    return frame.mask(random.random(frame.shape) < share)


def test_shared_rows_take_every_branch_with_its_share():
    model = fitted("iris", missing="fractional")
    rows = gapped(rows_of("iris"))
    told = model.predict_proba(rows)
    tree = model.tree_
    some = 0
    for i in range(0, len(rows), 5):
        path = visits(tree, read_row(rows.iloc[[i]], tree))
        ends = [visit for visit in path if tree.is_leaf[visit.node]]
        some += len(ends) > 1
        shares = np.array([visit.share for visit in ends])
        assert shares.sum() == pytest.approx(1)
        found = shares @ tree.values_of(np.array([visit.node for visit in ends]))
        np.testing.assert_allclose(found, told[i], atol=1e-9)
    assert some


def test_shared_rows_say_how_much_of_them_comes_where():
    model = fitted("iris", missing="fractional")
    picture = tree_path(model, [5.1, 3.5, None, None])
    ax, tree = picture.axes[0], model.tree_
    said = words(ax)
    assert said[0][-2:] == ["row: missing", "takes every branch"]
    first = tree.children(0)[0]
    part = tree.weight[first] / tree.weight[tree.children(0)].sum()
    assert f"{part:.3g} of the row" in said[first]
    assert not any("or missing" in line for lines in said.values() for line in lines)
    ends = sum(
        tree.is_leaf[visit.node] for visit in visits(tree, read_row([5.1, 3.5, None, None], tree))
    )
    likely = model.predict_proba(read_row([5.1, 3.5, None, None], tree)).max()
    assert f"{ends} leaves" in ax.get_title(loc="left")
    assert f"p = {likely:.3f}" in ax.get_title(loc="left")
    check_no_overlaps(picture)


@pytest.mark.parametrize("name", ["iris", "cleveland"])
def test_surrogates_lead_where_the_model_sends_rows(name):
    model, rows = fitted(name, missing="surrogate"), rows_of(name)
    frame = gapped(rows) if name == "iris" else rows
    leaves = model.apply(frame)
    for i in range(0, len(leaves), 7):
        row = frame.iloc[[i]] if name == "iris" else frame.take([i])
        assert visits(model.tree_, read_row(row, model.tree_))[-1].node == leaves[i]


def test_the_surrogate_that_decided_is_named():
    model = fitted("iris", missing="surrogate")
    first = model.tree_.surrogates_of(0)[0]
    row = [5.1, 3.5, 1.4, 0.2]
    row[model.tree_.split(0).column] = None
    said = words(tree_path(model, row).axes[0])[0]
    assert said[-2:] == ["row: missing", f"by {first.name}: {row[first.column]}"]
    unknown = words(tree_path(model, [None] * 4).axes[0])[0]
    assert unknown[-2:] == ["row: missing", "no surrogate known"]
