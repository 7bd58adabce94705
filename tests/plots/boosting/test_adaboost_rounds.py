"""Tests of the rounds of boosting, as a picture and as an animation."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from PIL import Image
from sklearn.linear_model import LogisticRegression

from ceiba import AdaBoostClassifier, DecisionTreeClassifier, datasets, plots
from ceiba.base.trace import Trace
from ceiba.plots.boosting.adaboost_rounds import AdaBoostPainter
from ceiba.plots.boosting.adaboost_view import relative_weights
from ceiba.plots.boosting.cells import Cells
from ceiba.plots.planes.section import Section
from ceiba.plots.style import INK, MUTED, PALETTE
from tests.budget import examples
from tests.plots.figures import blobs, traced
from tests.plots.mixtures.figures import inside

RGB = np.array([to_rgb(color) for color in PALETTE])


def plane(n=90, classes=2, seed=0):
    """Return classes that no stump separates, on columns of different scale."""
    random = np.random.default_rng(seed)
    X = random.random((n, 2)) * (1, 50)
    bent = X[:, 0] + (X[:, 1] / 50) ** 2 + 0.15 * random.normal(size=n)
    return X, np.digitize(bent, np.linspace(0.4, 1.3, classes + 1)[1:-1])


def boosted(X, y, **options):
    return AdaBoostClassifier(**{"n_estimators": 12, "trace": True, **options}).fit(X, y)


@pytest.fixture(scope="module")
def table():
    return plane()


@pytest.fixture(scope="module")
def model(table):
    return boosted(*table)


def rows_of(ax):
    return next(c for c in ax.collections if c.get_gid() == "rows")


def lines_of(ax, name):
    """Return the ends of the lines of the ensemble or of the estimator, (n, 2, 2)."""
    return [np.array(s) for c in ax.collections if c.get_gid() == name for s in c.get_segments()]


def color_at(ax, points):
    """Return the color of the cell of each point; upper edges belong to it."""
    (mesh,) = (c for c in ax.collections if isinstance(c, QuadMesh))
    corners = mesh.get_coordinates()
    column = np.searchsorted(corners[0, :, 0], points[:, 0]) - 1
    row = np.searchsorted(corners[:, 0, 1], points[:, 1]) - 1
    return np.asarray(mesh.get_array())[row, column, :3]


def pale(codes):
    return 0.38 * RGB[codes] + 0.62


def random_points(ax, n=300):
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    return np.random.default_rng(1).uniform((x0, y0), (x1, y1), (n, 2))


# The picture


@pytest.mark.parametrize("options", [{}, {"max_depth": 3}, {"max_bins": 8}], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_regions_are_the_predictions_of_the_ensemble_after_the_round(classes, options):
    X, y = plane(classes=classes)
    model = boosted(X, y, **options)
    shown = [1, 2, len(model.trace_)]
    picture = plots.rounds(model, X, y, rounds=shown)
    for ax, stage in zip(picture.axes, shown, strict=False):
        points = random_points(ax)
        predicted = list(model.staged_predict(points))[stage - 1]
        np.testing.assert_allclose(color_at(ax, points), pale(predicted), atol=1e-9)


def test_other_estimators_are_drawn_on_a_grid(table):
    X, y = table
    model = boosted(X, y, estimator=LogisticRegression(), n_estimators=3)
    ax = plots.rounds(model, X, y, rounds=[1], resolution=20).axes[0]
    (mesh,) = (c for c in ax.collections if isinstance(c, QuadMesh))
    assert mesh.get_array().shape == (20, 20, 3)
    x, y_edges = mesh.get_coordinates()[0, :, 0], mesh.get_coordinates()[:, 0, 1]
    middles = np.stack(
        np.meshgrid((x[1:] + x[:-1]) / 2, (y_edges[1:] + y_edges[:-1]) / 2), -1
    ).reshape(-1, 2)
    predicted = next(iter(model.staged_predict(middles)))
    np.testing.assert_allclose(color_at(ax, middles), pale(predicted), atol=1e-9)
    assert len(lines_of(ax, "estimator"))


def test_estimator_of_a_round_is_the_line_of_its_stump(table, model):
    X, y = table
    shown = [1, 3, 7]
    picture = plots.rounds(model, X, y, rounds=shown)
    for ax, step in zip(picture.axes, shown, strict=False):
        tree = model.estimators_[step - 1].tree_
        (line,) = lines_of(ax, "estimator")
        axis = int(tree.column[0])
        np.testing.assert_array_equal(line[:, axis], tree.threshold[0])
        np.testing.assert_array_equal(line[:, 1 - axis], (ax.get_ylim, ax.get_xlim)[axis]())
        assert next(c for c in ax.collections if c.get_gid() == "estimator").get_linestyle()[0][1]


def test_area_of_rows_is_proportional_to_weight(table, model):
    X, y = table
    shown = [1, 2, 12]
    picture = plots.rounds(model, X, y, rounds=shown)
    sizes = {}
    for ax, step in zip(picture.axes, shown, strict=False):
        rows = rows_of(ax)
        weights = np.asarray(model.trace_[step - 1]["weights"])
        index_of = {tuple(point): i for i, point in enumerate(X)}
        order = [index_of[tuple(point)] for point in rows.get_offsets()]
        assert sorted(order) == list(range(len(X)))
        sizes[step] = rows.get_sizes()
        shown_at = (sizes[step] > 3.0) & (sizes[step] < 900.0)
        ratio = sizes[step][shown_at] / weights[order][shown_at]
        np.testing.assert_allclose(ratio, ratio[0])
        assert (np.diff(sizes[step]) <= 0).all()  # lighter rows are on top
    assert np.ptp(sizes[1]) == 0
    assert np.ptp(sizes[12]) > 0


def test_misclassified_rows_are_ringed(table, model):
    X, y = table
    ax = plots.rounds(model, X, y, rounds=[4]).axes[0]
    rows = rows_of(ax)
    ringed = [to_hex(edge) == INK for edge in rows.get_edgecolor()]
    missed = model.estimators_[3].predict(X) != y
    assert missed.any()
    found = {tuple(p) for p in rows.get_offsets()[ringed]}
    assert found == {tuple(p) for p in X[missed]}


def test_colors_and_markers_are_those_of_the_classes():
    X, y = plane(classes=3)
    model = boosted(X, y, n_estimators=2)
    rows = rows_of(plots.rounds(model, X, y, rounds=[1]).axes[0])
    index_of = {tuple(point): i for i, point in enumerate(X)}
    codes = y[[index_of[tuple(point)] for point in rows.get_offsets()]]
    np.testing.assert_allclose(rows.get_facecolor()[:, :3], RGB[codes])
    corners = [len(path.vertices) for path in rows.get_paths()]
    assert len({(code, n) for code, n in zip(codes, corners, strict=True)}) == 3
    # Equal weights have equal areas, whatever the marker.
    areas = [path.clip_to_bbox([[-9, -9], [9, 9]]).to_polygons()[0] for path in rows.get_paths()]
    areas = np.array([area(corners) for corners in areas]) * rows.get_sizes()
    np.testing.assert_allclose(areas, areas[0], rtol=0.02)


def area(corners):
    x, y = np.transpose(corners)
    return abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))) / 2


def test_without_classes_rows_are_gray(table, model):
    picture = plots.rounds(model, table[0], rounds=[2])
    assert {to_hex(color) for color in rows_of(picture.axes[0]).get_facecolor()} == {MUTED.lower()}
    labels = [text.get_text() for text in picture.legends[0].get_texts()]
    assert not any(label.startswith("class") for label in labels)
    assert len(picture.axes[1].get_legend().get_texts()) == 1


def test_curves_are_the_errors_and_alphas_of_all_rounds(table, model):
    X, y = table
    picture = plots.rounds(model, X, y, rounds=[1, 5])
    error, alpha = picture.axes[-2:]
    steps = [frame.step for frame in model.trace_]
    for ax, name in ((error, "error"), (alpha, "alpha")):
        values = [frame[name] for frame in model.trace_]
        np.testing.assert_array_equal(ax.lines[1].get_xydata(), np.transpose([steps, values]))
        (marks,) = (line for line in ax.lines if line.get_gid() == "shown")
        np.testing.assert_array_equal(marks.get_xydata(), [(1, values[0]), (5, values[4])])
    ensemble = [np.mean(predicted != y) for predicted in model.staged_predict(X)]
    np.testing.assert_allclose(error.lines[-2].get_ydata(), ensemble)


def test_panels_show_round_error_and_weight(table, model):
    ax = plots.rounds(model, *table, rounds=[3]).axes[0]
    frame = model.trace_[2]
    assert ax.get_title(loc="left") == "Round 3"
    note = f"error {frame['error']:.3f}, α {frame['alpha']:.2f}"
    assert ax.get_title(loc="right") == note
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")


def test_estimator_that_is_not_kept_is_noted_and_has_no_line(table):
    X, y = table
    model = boosted(X, y, estimator=LogisticRegression(C=1 / len(y)), n_estimators=60)
    assert model.stop_reason_ == "chance"
    last = model.trace_[-1].step
    assert last == len(model.estimators_) + 1
    picture = plots.rounds(model, X, y, rounds=[last - 1, last], resolution=30)
    kept, left = picture.axes[:2]
    assert left.get_title(loc="right") == f"error {model.trace_[-1]['error']:.3f}, not kept"
    assert len(lines_of(kept, "estimator"))
    assert not len(lines_of(left, "estimator"))
    points = random_points(left)
    np.testing.assert_array_equal(color_at(left, points), color_at(kept, points))


@pytest.mark.parametrize(
    ("rounds", "expected"), [(1, [1]), (4, [1, 2, 3, 4]), (12, [1, 2, 3, 4, 7, 12])]
)
def test_default_rounds_are_six(table, rounds, expected):
    X, y = table
    picture = plots.rounds(boosted(X, y, n_estimators=rounds), X, y)
    titles = [ax.get_title(loc="left") for ax in picture.axes[:-2]]
    assert titles == [f"Round {step}" for step in expected]
    assert inside(picture)


def test_further_columns_are_fixed_and_listed():
    iris = datasets.load("iris")
    model = boosted(iris.table, iris.y, max_depth=2)
    names = ["petal length (cm)", "petal width (cm)"]
    picture = plots.rounds(model, iris.table, iris.y, rounds=[1, 12], columns=names)
    assert picture.get_suptitle() == "fixed: sepal length (cm) = 5.8, sepal width (cm) = 3"
    assert picture.axes[0].get_ylabel() == names[1]
    ax = picture.axes[1]
    points = random_points(ax)
    rows = np.column_stack([np.full(300, 5.8), np.full(300, 3.0), points])
    frame = pd.DataFrame(rows, columns=iris.feature_names)
    predicted = np.searchsorted(model.classes_, list(model.staged_predict(frame))[-1])
    np.testing.assert_allclose(color_at(ax, points), pale(predicted), atol=1e-9)
    assert inside(picture)


def test_rounds_of_a_thinned_trace_are_those_it_kept(table, model):
    X, y = table
    trace = Trace(max_frames=4)
    for frame in model.trace_:
        trace.record(frame.step, frame.values)
    kept = [frame.step for frame in trace]
    assert len(kept) < 12
    thin = SimpleNamespace(**{
        name: getattr(model, name)
        for name in ("schema_", "classes_", "estimators_", "staged_predict")
    }, trace_=trace)  # fmt: skip
    picture = plots.rounds(thin, X, y, rounds=kept[1:2])
    same = plots.rounds(model, X, y, rounds=kept[1:2])
    points = random_points(same.axes[0])
    drawn, expected = (color_at(p.axes[0], points) for p in (picture, same))
    np.testing.assert_array_equal(drawn, expected)
    missing = kept[1] + 1
    with pytest.raises(ValueError, match=f"thinned to every .* got {missing}"):
        plots.rounds(thin, X, y, rounds=[missing])


def test_large_tables_are_sampled(table, model):
    rows = rows_of(plots.rounds(model, *table, rounds=[1], max_points=20).axes[0])
    assert len(rows.get_offsets()) == 20
    other = plots.rounds(model, *table, rounds=[1], max_points=20, random_state=1).axes[0]
    assert not np.array_equal(rows.get_offsets(), rows_of(other).get_offsets())


def test_given_figure_is_used(table, model):
    figure = Figure(layout="constrained")
    assert plots.rounds(model, *table, rounds=[1, 2, 3, 4], figure=figure) is figure
    assert len(figure.axes) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": [0]}, "in the trace, from 1 to 12, got 0"),
        ({"rounds": []}, "rounds must be a sequence"),
        ({"rounds": 3}, "rounds must be a sequence"),
        ({"resolution": 1}, "resolution must be at least 2"),
        ({"columns": ["x0"]}, "columns must be 2 names"),
    ],
)
def test_invalid_options_raise(table, model, options, message):
    with pytest.raises(ValueError, match=message):
        plots.rounds(model, *table, **options)


def test_other_models_raise(table, model):
    X, y = table
    with pytest.raises(ValueError, match="fit the model with trace=True"):
        plots.rounds(boosted(X, y, trace=False), X, y)
    with pytest.raises(
        TypeError, match="AdaBoostClassifier fitted with trace=True, got DecisionTree"
    ):
        plots.rounds(DecisionTreeClassifier().fit(X, y), X, y)
    with pytest.raises(ValueError, match="the 90 rows that the model was fitted to, got 40"):
        plots.rounds(model, X[:40], y[:40])
    wide = np.column_stack([X, X[:, 0] - X[:, 1]])
    with pytest.raises(ValueError, match="columns must be given for a table of 3 columns"):
        plots.rounds(boosted(wide, y), wide, y)


def test_frames_without_weights_raise(table, model):
    X, y = table
    bare = [{"error": 0.1, "alpha": 1.0, "wrong": np.zeros(90, bool)}]
    without = SimpleNamespace(**{**vars(model), "trace_": bare})
    without.staged_predict = model.staged_predict
    with pytest.raises(ValueError, match="does not contain weights"):
        plots.rounds(without, X, y)


# The animation


def test_animation_has_every_round(table, model, tmp_path):
    X, y = table
    player = plots.play(model, X, tmp_path / "fit.gif", y=y, max_frames=3)
    assert isinstance(player.painter, AdaBoostPainter)
    assert len(plots.play(model, X, y=y)) == 12
    with Image.open(tmp_path / "fit.gif") as image:
        assert image.n_frames == 3


def test_frame_of_the_animation_is_the_round(table, model):
    X, y = table
    player = plots.play(model, X, y=y)
    figure = player.draw(4)
    ax, error, alpha = figure.axes
    still = plots.rounds(model, X, y, rounds=[5]).axes[0]
    points = random_points(still)
    np.testing.assert_array_equal(color_at(ax, points), color_at(still, points))
    np.testing.assert_array_equal(rows_of(ax).get_sizes(), rows_of(still).get_sizes())
    frame = model.trace_[4]
    wrong = f"{frame['wrong'].sum()} rows misclassified, {frame['error']:.1%} of the weight"
    assert ax.get_title(loc="left") == f"Round 5 of 12: {wrong}"
    for panel, name in ((error, "error"), (alpha, "alpha")):
        whole, done = panel.lines[:2]
        assert (len(whole.get_xdata()), len(done.get_xdata())) == (12, 5)
        assert done.get_ydata()[-1] == frame[name]
    assert inside(figure)


def test_animation_keeps_its_limits(table, model):
    player = plots.play(model, table[0])
    first, last = player.draw(0), player.draw(11)
    for one, other in zip(first.axes, last.axes, strict=True):
        assert (one.get_xlim(), one.get_ylim()) == (other.get_xlim(), other.get_ylim())


def test_animation_shows_the_chosen_columns():
    iris = datasets.load("iris")
    model = boosted(iris.table, iris.y, n_estimators=2)
    with pytest.raises(ValueError, match="for example columns="):
        plots.play(model, iris.table, y=iris.y)
    figure = plots.play(model, iris.table, y=iris.y, columns=[3, 0]).draw(1)
    assert figure.axes[0].get_xlabel() == "petal width (cm)"
    assert "fixed: sepal width (cm) = 3, petal length" in figure.axes[0].get_title(loc="left")


def test_bare_trace_raises(table, model):
    with pytest.raises(ValueError, match="play the fitted model"):
        plots.play(model.trace_, table[0])


@pytest.mark.parametrize("option", [{"y": [0] * 90}, {"columns": [0, 1]}])
def test_options_of_other_animations_raise(option):
    X = blobs()
    with pytest.raises(ValueError, match=f"'{next(iter(option))}' has no effect"):
        plots.play(traced(X), X, **option)


# Cells


@examples(60)
@given(
    codes=st.integers(1, 6).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(0, 2), min_size=width, max_size=width), min_size=1, max_size=6
        )
    )
)
def test_borders_are_between_different_codes(codes):
    table = np.array(codes)
    height, width = table.shape
    x, y = np.arange(width + 1.0) ** 2, np.arange(height + 1.0) * 3
    cells = Cells((x, y), np.zeros((table.size, 2)))
    pieces = []
    for line in cells.borders(table.ravel()):
        for one, other in pairwise(line.tolist()):
            axis = int(one[0] == other[0])  # along which the piece runs
            assert one[1 - axis] == other[1 - axis]
            first, last = np.searchsorted((x, y)[axis], sorted([one[axis], other[axis]]))
            pieces += [(axis, one[1 - axis], at) for at in range(first, last)]
    assert len(set(pieces)) == len(pieces)
    naive = {
        (1, float(x[j + 1]), i)
        for i in range(height)
        for j in range(width - 1)
        if table[i, j] != table[i, j + 1]
    } | {
        (0, float(y[i + 1]), j)
        for i in range(height - 1)
        for j in range(width)
        if table[i, j] != table[i + 1, j]
    }
    assert set(pieces) == naive


def test_borders_are_joined_lines():
    stairs = np.tril(np.ones((5, 5), int))
    cells = Cells((np.arange(6.0), np.arange(6.0)), np.zeros((25, 2)))
    (line,) = cells.borders(stairs.ravel())
    assert len(line) == 9
    assert {tuple(line[0]), tuple(line[-1])} == {(1, 0), (5, 4)}
    island = np.zeros((5, 5), int)
    island[2, 2] = 1
    (loop,) = cells.borders(island.ravel())
    np.testing.assert_array_equal(loop[0], loop[-1])
    assert sorted(map(tuple, loop[:-1])) == [(2, 2), (2, 3), (3, 2), (3, 3)]


def test_trees_with_many_thresholds_are_drawn_on_the_grid():
    X, _ = plane(2_000)
    y = np.random.default_rng(0).integers(2, size=2_000)
    tree = DecisionTreeClassifier().fit(X, y)
    cells = Cells.of([tree], Section.of(tree, X), 50)
    assert cells.shape == (50, 50)
    small = DecisionTreeClassifier(max_depth=2).fit(X, y)
    assert Cells.of([small], Section.of(small, X), 50).shape != (50, 50)


def test_relative_weights_have_mean_one():
    assert relative_weights({"weights": [1.0, 2.0, 6.0]}).mean() == 1
