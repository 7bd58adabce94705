"""Tests of drawn clusters and of the projection of rows."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.decomposition import PCA

from ceiba import plots
from ceiba.cluster.kmeans import KMeans
from ceiba.plots.clustering import KMeansPainter
from ceiba.plots.projection import Projection, encode_rows
from ceiba.plots.style import PALETTE
from tests.plots.figures import blobs, mixed_frame


def row_collections(ax, k):
    """Return the points of each cluster, drawn before the two rings of each center."""
    assert len(ax.collections) == 3 * k
    return ax.collections[:k]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_rows_have_the_color_of_their_cluster():
    X = blobs()
    model = KMeans(3).fit(X)
    figure = plots.clusters(model, X)
    (ax,) = figure.axes
    for cluster, points in enumerate(row_collections(ax, 3)):
        np.testing.assert_allclose(points.get_offsets(), X[model.labels_ == cluster])
        assert to_hex(points.get_facecolor()[0]).upper() == PALETTE[cluster]
    assert texts(ax) == ["0", "1", "2"]
    np.testing.assert_allclose([text.xy for text in ax.texts], model.cluster_centers_)
    assert ax.get_title(loc="left") == "KMeans, 3 clusters of 90 rows"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")


def test_legend_counts_the_rows():
    X = blobs()
    model = KMeans(3).fit(X)
    legend = plots.clusters(model, X).axes[0].get_legend()
    sizes = np.bincount(model.labels_)
    assert [t.get_text() for t in legend.get_texts()] == [
        f"{cluster}  ({size} rows)" for cluster, size in enumerate(sizes)
    ]


def test_many_clusters_have_other_markers_and_no_legend():
    X = blobs(200, k=15)
    ax = plots.clusters(KMeans(15).fit(X), X).axes[0]
    assert ax.get_legend() is None
    first, eighth = (ax.collections[c].get_paths()[0].vertices for c in (0, 7))
    assert first.shape != eighth.shape
    colors = [to_hex(ax.collections[c].get_facecolor()[0]) for c in range(15)]
    assert len(set(colors)) == 15


def test_more_columns_are_drawn_on_principal_components():
    X = blobs(d=5)
    ax = plots.clusters(KMeans(3).fit(X), X).axes[0]
    pca = PCA(2).fit(X)
    ratios = pca.explained_variance_ratio_
    assert ax.get_xlabel() == f"principal component 1 ({ratios[0]:.0%} of variance)"
    assert ax.get_ylabel() == f"principal component 2 ({ratios[1]:.0%} of variance)"
    drawn = np.concatenate([points.get_offsets() for points in row_collections(ax, 3)])
    np.testing.assert_allclose(drawn.var(axis=0), pca.transform(X).var(axis=0), rtol=1e-9)


def test_projection_equals_pca_up_to_sign():
    X = blobs(d=6)
    projected = Projection.of(*encode_rows(X)).project(X)
    expected = PCA(2).fit_transform(X)
    centered = projected - projected.mean(axis=0)
    np.testing.assert_allclose(np.abs(centered), np.abs(expected), atol=1e-9)


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
def test_projection_works_at_any_scale(unit):
    X = blobs(d=4)
    projected = Projection.of(*encode_rows(X * unit)).project(X * unit)
    np.testing.assert_allclose(
        projected / unit, Projection.of(*encode_rows(X)).project(X), rtol=1e-9
    )


def test_missing_values_are_drawn_at_the_mean():
    X = np.array([[0.0, 1.0], [2.0, np.nan], [4.0, 5.0]])
    projected = Projection.of(*encode_rows(X)).project(X)
    assert projected.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


def test_one_column_is_spread_over_the_height():
    X = blobs(d=1)
    figure = plots.clusters(KMeans(2).fit(X), X)
    (ax,) = figure.axes
    drawn = np.concatenate([points.get_offsets() for points in row_collections(ax, 2)])
    np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(X[:, 0]))
    assert np.histogram(drawn[:, 1], bins=5, range=(0, 1))[0].min() >= 15
    assert len(ax.get_yticks()) == 0
    assert ax.get_ylabel() == "rows, spread evenly"


def test_centers_of_one_column_are_vertical_lines():
    X = blobs(d=1)
    model = KMeans(2).fit(X)
    (ax,) = plots.clusters(model, X).axes
    lines = {line.get_xdata()[0] for line in ax.lines}
    np.testing.assert_allclose(sorted(lines), np.sort(model.cluster_centers_[:, 0]))


@pytest.mark.parametrize("scale", ["range", "std"])
def test_animated_rows_have_the_labels_of_a_scaled_fit(scale):
    X = blobs() * (1, 100)
    model = KMeans(3, scale=scale, trace=True).fit(X)
    painter = KMeansPainter(model.trace_, X, model)
    np.testing.assert_array_equal(painter.labels(len(model.trace_) - 1), model.labels_)


def test_tables_with_categories_and_missing_values_are_drawn():
    frame = mixed_frame()
    model = KMeans(3).fit(frame)
    ax = plots.clusters(model, frame).axes[0]
    sizes = [len(points.get_offsets()) for points in row_collections(ax, 3)]
    assert sizes == np.bincount(model.labels_).tolist()


def test_rows_are_read_under_the_schema_of_the_model():
    frame = mixed_frame()
    model = KMeans(3).fit(frame)
    red = frame[frame["color"] == "red"]
    ax = plots.clusters(model, red).axes[0]
    assert sum(len(points.get_offsets()) for points in row_collections(ax, 3)) == len(red)


def test_large_tables_are_sampled():
    X = blobs(500)
    model = KMeans(3).fit(X)

    def drawn(**options):
        ax = plots.clusters(model, X, **options).axes[0]
        return ax, np.concatenate([p.get_offsets() for p in row_collections(ax, 3)])

    ax, first = drawn(max_points=50)
    assert len(first) == 50
    assert ax.get_title(loc="left") == "KMeans, 3 clusters of 500 rows (50 drawn)"
    assert not np.array_equal(first, drawn(max_points=50, random_state=1)[1])
    with pytest.raises(ValueError, match="max_points must be at least 1"):
        drawn(max_points=0)


def test_given_axes_are_used():
    X = blobs()
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plots.clusters(KMeans(3).fit(X), X, ax=right) is figure
    assert len(right.collections) == 9
    assert not left.collections


def test_models_of_scikit_learn_are_drawn():
    X = blobs()
    model = SklearnKMeans(3, n_init=1, random_state=0).fit(X)
    assert len(plots.clusters(model, X).axes[0].collections) == 9


def test_nothing_is_clipped():
    X = blobs(d=5)
    figure = plots.clusters(KMeans(3).fit(X), X)
    figure.draw_without_rendering()
    box, page = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= page[0]
    assert box.y1 <= page[1]


def test_picture_displays_itself():
    X = blobs()
    html = plots.clusters(KMeans(3).fit(X), X)._repr_html_()
    assert html.startswith('<img src="data:image/png;base64,iVBOR')


def test_picture_is_saved(tmp_path):
    X = blobs()
    picture = plots.clusters(KMeans(3).fit(X), X)
    assert picture.save(tmp_path / "new" / "clusters.png") is picture
    with Image.open(tmp_path / "new" / "clusters.png") as image:
        assert image.size == (768, 576)


def test_rows_before_the_model_raise():
    X = blobs()
    with pytest.raises(TypeError, match="followed by the rows X, got ndarray"):
        plots.clusters(X, KMeans(3).fit(X))
