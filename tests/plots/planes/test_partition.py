"""Tests of regression trees drawn as rectangles and as a surface."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from sklearn.tree import DecisionTreeRegressor as SklearnTree

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.plots.planes.partition import partition, surface
from tests.plots.mixtures.figures import inside


def hill(n=150, seed=0):
    """A noisy surface over two columns."""
    random = np.random.default_rng(seed)
    X = random.random((n, 2)) * (1, 50)
    return X, np.sin(5 * X[:, 0]) + (X[:, 1] / 50) ** 2 + 0.05 * random.normal(size=n)


@pytest.mark.parametrize("leaves", [2, 9, 40])
def test_rectangles_have_the_value_of_their_leaf(leaves):
    X, y = hill()
    model = DecisionTreeRegressor(max_leaf_nodes=leaves).fit(X, y)
    ax, bar = partition(model, X, y).axes
    drawn = next(c for c in ax.collections if isinstance(c, PolyCollection))
    corners = np.array([path.vertices[:4] for path in drawn.get_paths()])
    assert len(corners) == leaves
    inner = ~model.tree_.is_leaf
    for axis, seen in enumerate((ax.get_xlim(), ax.get_ylim())):
        thresholds = model.tree_.threshold[inner & (model.tree_.column == axis)]
        np.testing.assert_array_equal(
            np.unique(corners[:, :, axis]), np.unique([*seen, *thresholds])
        )
    middles = model.predict(corners.mean(axis=1))
    low, high = bar.get_ylim()
    np.testing.assert_allclose([low, high], [y.min(), y.max()])
    colors = drawn.get_facecolor()
    by_value = colors[np.argsort(middles, kind="stable")]
    # The colors grow lighter with the value.
    assert (np.diff(by_value[:, :3] @ (0.299, 0.587, 0.114)) > -2e-3).all()


def test_values_are_written_in_large_rectangles():
    X, y = hill()
    model = DecisionTreeRegressor(max_leaf_nodes=6).fit(X, y)
    ax = partition(model, X).axes[0]
    assert len(ax.texts) >= 4
    for text in ax.texts:
        assert text.get_text().replace("−", "-") == f"{model.predict([text.xy])[0]:.3g}"
    assert not partition(model, X, values=False).axes[0].texts
    crowded = DecisionTreeRegressor().fit(X, y)
    assert len(partition(crowded, X).axes[0].texts) < crowded.get_n_leaves() / 2


def test_values_are_legible_over_rows():
    X, y = hill(600)
    model = DecisionTreeRegressor(max_leaf_nodes=6).fit(X, y)
    ax, bar = partition(model, X, y).axes
    (points,) = (c for c in ax.collections if not isinstance(c, PolyCollection))
    for text in ax.texts:
        assert text.get_zorder() > points.get_zorder()
        assert text.get_bbox_patch().get_facecolor()[3] == 1
    assert bar.get_ylabel() == "predicted; points: target"


def test_values_of_narrow_leaves_are_upright():
    X = np.column_stack([np.linspace(0, 1, 100), np.arange(100) % 2.0])
    y = np.where(X[:, 0] < 0.5, 1.0, np.where(X[:, 0] < 0.55, 22.22, 3.0))
    model = DecisionTreeRegressor().fit(X, y)
    texts = {text.get_text(): text.get_rotation() for text in partition(model, X).axes[0].texts}
    assert texts == {"1": 0, "22.2": 90, "3": 0}


def test_rows_have_the_color_of_their_target():
    X, y = hill()
    model = DecisionTreeRegressor().fit(X, y)  # each row has a leaf of its own
    ax = partition(model, X, y, max_points=60).axes[0]
    rectangles, points = ax.collections
    assert len(points.get_offsets()) == 60
    corners = np.array([path.vertices[:4] for path in rectangles.get_paths()])
    for point, color in zip(points.get_offsets(), points.get_facecolor(), strict=True):
        inside_box = (point > corners.min(axis=1)).all(axis=1) & (point <= corners.max(axis=1)).all(
            axis=1
        )
        np.testing.assert_allclose(rectangles.get_facecolor()[inside_box], [color])
    assert ax.get_title(loc="left") == "DecisionTreeRegressor, 150 leaves, 150 rows (60 drawn)"
    assert len(partition(model, X).axes[0].collections) == 1


def test_further_columns_are_fixed():
    X, y = hill()
    X = np.column_stack([X, np.arange(len(X)) % 5.0])
    model = DecisionTreeRegressor(max_depth=6).fit(X, y + (X[:, 2] > 3))
    ax = partition(model, X, columns=[1, 0]).axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x1", "x0")
    title, fixed = ax.get_title(loc="left").split("\n")
    assert fixed == "fixed: x2 = 2"
    assert title.endswith(f"of {model.get_n_leaves()} visible")
    for text in ax.texts:
        point = [[text.xy[1], text.xy[0], 2.0]]
        assert text.get_text().replace("−", "-") == f"{model.predict(point)[0]:.3g}"


def faces_of(ax):
    """Corners of all faces of the surface, (n, 4, 3)."""
    (drawn,) = (c for c in ax.collections if isinstance(c, Poly3DCollection))
    return drawn._faces


def test_horizontal_faces_are_the_predictions():
    X, y = hill()
    model = DecisionTreeRegressor(max_leaf_nodes=12).fit(X, y)
    ax = surface(model, X).axes[0]
    faces = faces_of(ax)
    horizontal = np.ptp(faces[:, :, 2], axis=1) == 0
    tops = faces[horizontal]
    middles = tops.mean(axis=1)
    np.testing.assert_allclose(middles[:, 2], model.predict(middles[:, :2]))
    spans = np.ptp(tops[:, :, :2], axis=1)
    seen = np.ptp([ax.get_xlim(), ax.get_ylim()], axis=1)
    np.testing.assert_allclose(spans.prod(axis=1).sum(), seen.prod())


def test_vertical_faces_join_adjacent_predictions():
    X, y = hill()
    model = DecisionTreeRegressor(max_leaf_nodes=12).fit(X, y)
    faces = faces_of(surface(model, X).axes[0])
    walls = faces[np.ptp(faces[:, :, 2], axis=1) > 0]
    assert len(walls)
    for wall in walls:
        axis = int(np.flatnonzero(np.ptp(wall[:, :2], axis=0) == 0)[0])
        step = np.eye(2)[axis] * 1e-9
        middle = wall[:, :2].mean(axis=0)
        both = model.predict([middle - step, middle + step])
        np.testing.assert_allclose(np.sort(both), [wall[:, 2].min(), wall[:, 2].max()])
        assert wall[0, axis] in model.tree_.threshold[model.tree_.column == axis]


def test_rows_are_above_and_below_the_surface():
    X, y = hill()
    model = DecisionTreeRegressor(max_leaf_nodes=5).fit(X, y)
    ax = surface(model, X, y).axes[0]
    below, above = (c for c in ax.collections if not isinstance(c, Poly3DCollection))
    high = y >= model.predict(X)
    for points, mask in ((below, ~high), (above, high)):
        np.testing.assert_allclose(np.column_stack(points._offsets3d), np.c_[X, y][mask])
    assert below.get_zorder() < faces_layer(ax) < above.get_zorder()
    assert surface(model, X, y).axes[1].get_ylabel() == "predicted"
    assert "150 rows" in ax.get_title(loc="left")
    (c,) = surface(model, X).axes[0].collections
    assert isinstance(c, Poly3DCollection)


def test_long_names_are_shortened_in_space():
    X, y = hill()
    frame = pd.DataFrame(X, columns=["a" * 90, "b" * 90])
    picture = surface(DecisionTreeRegressor(max_leaf_nodes=5).fit(frame, y), frame)
    assert picture.axes[0].get_xlabel() == f"{21 * 'a'}…"


def faces_layer(ax):
    return next(c for c in ax.collections if isinstance(c, Poly3DCollection)).get_zorder()


def test_view_angles_apply():
    X, y = hill()
    model = DecisionTreeRegressor(max_leaf_nodes=5).fit(X, y)
    figure = Figure()
    left, right = (figure.add_subplot(1, 2, k, projection="3d") for k in (1, 2))
    assert surface(model, X, elevation=11, azimuth=22, ax=right) is figure
    assert (right.elev, right.azim) == (11, 22)
    assert not left.collections
    with pytest.raises(ValueError, match='projection="3d"'):
        surface(model, X, ax=Figure().subplots())


@pytest.mark.parametrize("draw", [partition, surface])
def test_other_models_raise(draw):
    X, y = hill()
    with pytest.raises(TypeError, match=r"draw it with plots\.regions"):
        draw(DecisionTreeClassifier().fit(X, y > 0), X)
    with pytest.raises(TypeError, match="must be a fitted regression tree of Ceiba"):
        draw(SklearnTree().fit(X, y), X)
    with pytest.raises(ValueError, match="at least 2 numeric columns, got 1"):
        draw(DecisionTreeRegressor().fit(X[:, :1], y), X[:, :1])


@pytest.mark.parametrize("draw", [partition, surface])
def test_maximum_number_of_points_without_targets_raises(draw):
    X, y = hill()
    with pytest.raises(ValueError, match="'max_points' has no effect with y=None"):
        draw(DecisionTreeRegressor(max_leaf_nodes=5).fit(X, y), X, max_points=50)


def test_surface_of_too_many_cells_raises():
    X, y = hill(1000)
    with pytest.raises(ValueError, match="more than 20,000"):
        surface(DecisionTreeRegressor().fit(X, y), X)


@pytest.mark.parametrize("draw", [partition, surface])
def test_tree_without_split_is_one_rectangle(draw):
    X, y = hill()
    figure = draw(DecisionTreeRegressor().fit(X, np.ones(len(y))), X)
    assert figure.axes[0].get_title(loc="left") == "DecisionTreeRegressor, 1 leaf"
    assert inside(figure)
