"""Tests of decision regions by number of neighbors, and of Voronoi cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.path import Path
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier as Peer

import ceiba
from ceiba import KNeighborsClassifier, KNeighborsRegressor, datasets, plots
from ceiba.plots.neighbors.voronoi import Cells
from ceiba.plots.planes.section import pale_colors
from ceiba.plots.style import new_axes, new_figure
from tests.plots.mixtures.figures import inside


def plane(n=60, seed=0, classes=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    return X, np.digitize(X[:, 0] + np.sin(3 * X[:, 1]), np.linspace(-0.8, 0.8, classes - 1))


def grid_of(ax):
    """Return the centers of the cells of a picture, and their colors."""
    (image,) = ax.images
    colors = np.asarray(image.get_array())
    x0, x1, y0, y1 = image.get_extent()
    n = len(colors)
    step = (np.arange(n) + 0.5) / n
    points = np.stack(np.meshgrid(x0 + step * (x1 - x0), y0 + step * (y1 - y0)), -1)
    return points.reshape(-1, 2), colors.reshape(-1, 3)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
def test_panels_are_the_predictions_of_models_of_each_k(weights):
    X, y = plane()
    model = KNeighborsClassifier(3, weights=weights, scale="std").fit(X, y)
    ks = (1, 7, 60)
    figure = plots.regions_by_k(model, X, y, ks, resolution=20)
    for ax, k in zip(figure.axes, ks, strict=True):
        own = KNeighborsClassifier(k, weights=weights, scale="std").fit(X, y)
        points, colors = grid_of(ax)
        predicted = np.eye(3)[own.predict(points)]
        np.testing.assert_allclose(colors, pale_colors(predicted), atol=1e-12)
        wrong = int((own.predict(X) != y).sum())
        rings = [c for c in ax.collections if c.get_label().startswith("misclassified")]
        assert [len(c.get_offsets()) for c in rings] == ([wrong] if wrong else [])


def test_probabilities_mix_the_colors():
    X, y = plane()
    model = KNeighborsClassifier(5).fit(X, y)
    (ax,) = plots.regions_by_k(model, X, y, 9, resolution=15, probabilities=True).axes
    points, colors = grid_of(ax)
    votes = KNeighborsClassifier(9).fit(X, y).predict_proba(points)
    np.testing.assert_allclose(colors, pale_colors(votes), atol=1e-12)


def test_notes_have_the_leave_one_out_accuracy():
    X, y = plane()
    figure = plots.regions_by_k(KNeighborsClassifier().fit(X, y), X, y, (1, 5, 60), resolution=5)
    for ax, k in zip(figure.axes[:2], (1, 5), strict=True):
        accuracy = np.mean(Peer(k).fit(X, y).predict(X) == y)
        left_out = cross_val_score(Peer(k), X, y, cv=LeaveOneOut()).mean()
        wanted = f"accuracy {accuracy:.2f}\nleave-one-out {left_out:.2f}"
        assert ax.get_title(loc="right") == wanted
    # All rows cannot be neighbors of one of them.
    assert (
        figure.axes[2].get_title(loc="right")
        == f"accuracy {np.mean(y == np.bincount(y).argmax()):.2f}"
    )


@pytest.mark.parametrize(
    ("n", "titles"),
    [(4, ["k = 1", "k = 4"]), (60, ["k = 1", "k = 5", "k = 25", "k = 60"]),
     (1_001, ["k = 1", "k = 5", "k = 25", "k = 125"])],
)  # fmt: skip
def test_default_panels(n, titles):
    X, y = plane(n)
    figure = plots.regions_by_k(KNeighborsClassifier(1).fit(X, y), X, resolution=3)
    assert [ax.get_title(loc="left") for ax in figure.axes] == titles
    assert not figure.legends


def test_sections_and_given_figures():
    table, y = datasets.load("cleveland", as_frame=True)
    model = KNeighborsClassifier(metric="gower").fit(table, y)
    figure = new_figure(8, 4)
    drawn = plots.regions_by_k(
        model, table, y, (1, 30), columns=["age", "cholesterol"], resolution=8, figure=figure
    )
    assert drawn is figure
    assert figure.get_suptitle().startswith("11 other columns fixed")
    assert [ax.get_xlabel() for ax in figure.axes] == ["age", "age"]
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["0  (164 rows)", "1  (139 rows)", "misclassified"]
    assert inside(figure)


def test_a_model_of_files_has_no_leave_one_out_accuracy(tmp_path):
    pytest.importorskip("pyarrow")
    X, y = plane()
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    model = KNeighborsClassifier().fit(ceiba.scan(tmp_path / "rows.csv", target="y"))
    figure = plots.regions_by_k(model, frame, y, (1, 9), resolution=6)
    points, colors = grid_of(figure.axes[1])
    votes = KNeighborsClassifier(9).fit(X, y).predict(points)
    np.testing.assert_allclose(colors, pale_colors(np.eye(3)[votes]), atol=1e-12)
    assert figure.axes[0].get_title(loc="right") == "accuracy 1.00"
    with pytest.raises(ValueError, match="must have its training rows in memory"):
        plots.voronoi(model)
    with pytest.raises(ValueError, match="must have its training rows in memory"):
        plots.neighbor_votes(model, frame[:1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((1, 61), "Expected n_neighbors <= n_samples_fit"),
        ((0,), "n_neighbors must be an int of at least 1, got 0"),
        ((), "at least one number"),
        ("loo", "n_neighbors must be an int of at least 1, got 'loo'"),
    ],
)
def test_invalid_numbers_raise(given, message):
    X, y = plane()
    with pytest.raises(ValueError, match=message):
        plots.regions_by_k(KNeighborsClassifier().fit(X, y), X, y, given)


def test_invalid_tables_and_models_raise():
    X, y = plane()
    model = KNeighborsClassifier().fit(X, y)
    with pytest.raises(ValueError, match="resolution must be at least 2, got 1"):
        plots.regions_by_k(model, X, y, resolution=1)
    table, target = datasets.load("vote")
    with pytest.raises(ValueError, match="at least 2 numeric columns, got 0"):
        plots.regions_by_k(KNeighborsClassifier().fit(table, target), table, target, (1,))
    with pytest.raises(TypeError, match="must be a fitted KNeighborsClassifier, got KNeighborsReg"):
        plots.regions_by_k(KNeighborsRegressor().fit(X, y), X, y)
    with pytest.raises(TypeError, match="got KNeighborsClassifier of sklearn"):
        plots.voronoi(Peer().fit(X, y))


# Voronoi cells


def cells_of(ax):
    (drawn,) = (c for c in ax.collections if isinstance(c, PolyCollection))
    return [path.vertices for path in drawn.get_paths()], drawn.get_facecolor()[:, :3]


@pytest.mark.parametrize(
    "options", [{}, {"scale": "std"}, {"metric": "mahalanobis"}, {"feature_weights": [9.0, 0.5]}],
    ids=str,
)  # fmt: skip
def test_cells_have_the_class_of_their_nearest_row(options):
    X, y = plane()
    X = X * [1000.0, 1.0]
    model = KNeighborsClassifier(5, **options).fit(X, y)
    ax = plots.voronoi(model).axes[0]
    outlines, colors = cells_of(ax)
    assert len(outlines) == 60
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    points = np.random.default_rng(1).uniform((x0, y0), (x1, y1), (300, 2))
    inside_cell = np.array([Path(outline).contains_points(points) for outline in outlines])
    np.testing.assert_array_equal(inside_cell.sum(axis=0), 1)
    nearest = KNeighborsClassifier(1, **options).fit(X, y).predict(points)
    found = colors[inside_cell.argmax(axis=0)]
    np.testing.assert_allclose(found, pale_colors(np.eye(3)[nearest]), atol=1e-9)


def test_the_boundary_separates_classes():
    X, y = plane()
    ax = plots.voronoi(KNeighborsClassifier(1).fit(X, y)).axes[0]
    (boundary,) = (c for c in ax.collections if c.get_gid() == "boundary")
    segments = np.array(boundary.get_segments())
    middle, along = segments.mean(axis=1), segments[:, 1] - segments[:, 0]
    across = 1e-9 * np.column_stack([-along[:, 1], along[:, 0]])
    long = np.linalg.norm(along, axis=1) > 1e-6
    model = KNeighborsClassifier(1).fit(X, y)
    sides = model.predict((middle - across)[long]), model.predict((middle + across)[long])
    assert (sides[0] != sides[1]).all()
    # Both ends are equally far from the two nearest rows.
    distances = model.kneighbors(segments.reshape(-1, 2), 2)[0]
    np.testing.assert_allclose(distances[:, 0], distances[:, 1], atol=1e-9)


def test_equal_rows_share_the_cell_of_the_first():
    X = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    model = KNeighborsClassifier(1).fit(X, ["b", "a", "a", "b"])
    ax = plots.voronoi(model).axes[0]
    outlines, colors = cells_of(ax)
    assert len(outlines) == 2
    left = int(np.argmin([outline[:, 0].min() for outline in outlines]))
    wanted = pale_colors(np.eye(2)[[1 if k == left else 0 for k in (0, 1)]])
    np.testing.assert_allclose(colors, wanted)
    assert ax.get_title(loc="right") == "2 in the cell of an equal row"


@pytest.mark.parametrize("X", [[[3.0, 4.0]], [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]])
def test_few_rows_and_rows_on_a_line_have_cells(X):
    model = KNeighborsClassifier(1).fit(X, np.arange(len(X)))
    assert len(cells_of(plots.voronoi(model).axes[0])[0]) == len(X)


def test_cells_fill_the_box():
    X = np.random.default_rng(3).integers(0, 5, (40, 2)).astype(float)
    different = np.unique(X, axis=0)
    cells = Cells.of(different, np.array([-1.0, -1.0]), np.array([5.0, 6.0]))

    def area(outline):
        x, y = outline.T
        return 0.5 * abs(x @ np.roll(y, 1) - y @ np.roll(x, 1))

    assert sum(map(area, cells.outlines)) == pytest.approx(42.0)
    assert cells.owners.tolist() == list(range(len(different)))


def test_voronoi_uses_given_axes():
    X, y = plane()
    ax = new_axes(4, 3)
    assert plots.voronoi(KNeighborsClassifier().fit(X, y), ax=ax) is ax.figure
    assert inside(plots.voronoi(KNeighborsClassifier().fit(X, y)))


def test_models_without_polygons_raise():
    X, y = plane()
    with pytest.raises(ValueError, match="Euclidean distances in both columns, got metric='manh"):
        plots.voronoi(KNeighborsClassifier(metric="manhattan").fit(X, y))
    with pytest.raises(ValueError, match="Euclidean distances in both columns"):
        plots.voronoi(KNeighborsClassifier(feature_weights=[1.0, 0.0]).fit(X, y))
    with pytest.raises(ValueError, match="Euclidean distances in both columns"):
        plots.voronoi(KNeighborsClassifier(metric="cosine").fit(X, y))
    with pytest.raises(ValueError, match="two numeric columns, got 3: draw two columns"):
        plots.voronoi(KNeighborsClassifier().fit(np.column_stack([X, y]), y))
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "u", "v")})
    with pytest.raises(ValueError, match="must be numeric, but 'b' is nominal"):
        plots.voronoi(KNeighborsClassifier().fit(frame, y))
    with pytest.raises(ValueError, match=r"at most 1e\+06, got .*: set scale='std'"):
        plots.voronoi(KNeighborsClassifier().fit(X * [1e9, 1], y))
    X[3, 0] = np.nan
    with pytest.raises(ValueError, match="without missing values, got 1 with one"):
        plots.voronoi(KNeighborsClassifier().fit(X, y))
