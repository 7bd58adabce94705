"""Tests of the neighbors of one row, and of leave-one-out curves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ceiba import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors, datasets, plots
from ceiba.plots.style import new_axes, new_figure
from tests.plots.mixtures.figures import inside


def moons(k=7, **options):
    X, y = datasets.load("two_moons")
    return KNeighborsClassifier(k, **options).fit(X, np.where(y == 1, "up", "down"))


def by_gid(ax, gid):
    return [artist for artist in (*ax.lines, *ax.collections) if artist.get_gid() == gid]


def contour_of(ax):
    """Return the points of the dashed outline."""
    from matplotlib.contour import ContourSet

    found = [c for c in ax.get_children() if isinstance(c, ContourSet)]
    return (
        np.concatenate([path.vertices for c in found for path in c.get_paths()]) if found else None
    )


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbors_are_those_of_the_explanation(weights):
    model, row = moons(weights=weights), np.array([[0.5, 0.2]])
    explanation = model.explain(row)
    found = explanation.neighbors
    plane, upper, lower = plots.neighbor_votes(model, row).axes
    lines = by_gid(plane, "neighbor")
    for line, number, weight in zip(lines, found.rows, found.weights, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), [row[0], model.rows_.X[number]])
        assert line.get_linewidth() == pytest.approx(0.4 + 1.8 * weight / found.weights.max())
    np.testing.assert_array_equal(by_gid(plane, "query")[0].get_offsets(), row)
    dots = upper.collections[-1].get_offsets()
    np.testing.assert_allclose(dots, np.column_stack([found.distances, found.weights]))
    assert lower.get_title(loc="left") == f"Votes: {explanation.prediction}"
    labels = [label.get_text() for label in lower.get_yticklabels()]
    widths = dict.fromkeys(labels, 0.0)
    for bar in lower.patches:
        widths[labels[round(bar.get_y() + bar.get_height() / 2)]] += bar.get_width()
    assert widths == pytest.approx(found.votes)
    assert len(lower.patches) == 7


@pytest.mark.parametrize(
    "options",
    [{}, {"scale": "std"}, {"metric": "manhattan"}, {"metric": "chebyshev"}, {"p": 3.0},
     {"metric": "mahalanobis"}, {"feature_weights": [4.0, 1.0]}, {"metric": "gower"},
     {"metric": "sqeuclidean"}],
    ids=str,
)  # fmt: skip
def test_the_outline_is_at_the_distance_of_the_farthest_neighbor(options):
    model, row = moons(**options), [[0.5, 0.2]]
    plane = plots.neighbor_votes(model, row, columns=(1, 0)).axes[0]
    outline = contour_of(plane)[:, ::-1]
    radius = model.explain(row).neighbors.distances[-1]
    index = model.index_
    distance = type(index).of(np.array(row), index.distance).search(outline, k=1)[0][:, 0]
    np.testing.assert_allclose(distance, radius, rtol=0.02)
    x0, x1 = plane.get_xlim()
    assert x0 < outline[:, 1].min()
    assert outline[:, 1].max() < x1


def test_models_of_more_columns_have_no_outline():
    table, y = datasets.load("cleveland")
    model = KNeighborsClassifier(15, metric="gower").fit(table, y)
    figure = plots.neighbor_votes(model, table[87:88], columns=("age", "max_hr"))
    plane = figure.axes[0]
    assert contour_of(plane) is None
    assert plane.get_title(loc="right") == "distances in all 13 columns"
    assert (plane.get_xlabel(), plane.get_ylabel()) == ("age", "max_hr")
    assert inside(figure)


def test_regressions_show_the_targets():
    table, y = datasets.load("auto_mpg")
    model = KNeighborsRegressor(6, weights="distance", scale="std").fit(table, y)
    row = [{**dict.fromkeys(model.schema_.names), "weight": 3000.0, "displacement": 150.0}]
    explanation = model.explain(row)
    found = explanation.neighbors
    figure = plots.neighbor_votes(model, row, columns=("displacement", "weight"))
    lower = next(ax for ax in figure.axes if ax.get_xlabel() == "target")
    (line,) = by_gid(lower, "prediction")
    assert line.get_xdata()[0] == pytest.approx(explanation.prediction)
    dots = lower.collections[-1].get_offsets()
    np.testing.assert_allclose(dots, np.column_stack([found.targets, found.weights]))
    assert inside(figure)


def test_neighbors_without_a_shown_value_are_counted():
    X = np.array([[0.0, 0.0, 1.0], [np.nan, 0.5, 1.0], [1.0, 1.0, 1.0]])
    model = KNeighborsClassifier(3).fit(X, ["a", "b", "b"])
    figure = plots.neighbor_votes(model, [[0.0, 0.0, 1.0]])
    note = "distances in all 3 columns\n1 not drawn, with a missing value"
    assert figure.axes[0].get_title(loc="right") == note
    with pytest.raises(ValueError, match="row must have values in the shown columns, but 'x0'"):
        plots.neighbor_votes(model, [[np.nan, 0.0, 1.0]])


def test_without_a_common_column_the_frequencies_are_drawn():
    X = np.array([[0.0, 0.0, np.nan], [1.0, 2.0, np.nan], [3.0, 2.0, np.nan]])
    model = KNeighborsClassifier(2, feature_weights=[0, 0, 1]).fit(X, ["a", "b", "b"])
    lower = plots.neighbor_votes(model, [[0.0, 0.0, 5.0]]).axes[2]
    assert lower.get_title(loc="right").startswith("no neighbor has a weight")
    assert [bar.get_width() for bar in lower.patches] == pytest.approx([2 / 3, 1 / 3])


def test_given_figures_and_other_numbers_of_neighbors():
    figure = new_figure(9, 4)
    assert plots.neighbor_votes(moons(), [[0.5, 0.2]], n_neighbors=3, figure=figure) is figure
    assert figure.axes[0].get_title(loc="left") == "3 neighbors of the row"
    # A neighbor at distance zero has no ball about the row.
    model = moons(1)
    plane = plots.neighbor_votes(model, model.rows_.X[:1]).axes[0]
    assert contour_of(plane) is None
    assert plane.get_title(loc="left") == "1 neighbor of the row"


def test_votes_of_other_models_raise():
    X, y = datasets.load("two_moons")
    with pytest.raises(TypeError, match="KNeighborsClassifier or KNeighborsRegressor, got Nearest"):
        plots.neighbor_votes(NearestNeighbors().fit(X), X[:1])
    with pytest.raises(ValueError, match=r"X must be one row, got 2"):
        plots.neighbor_votes(moons(), X[:2])
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "u", "v")})
    model = KNeighborsClassifier().fit(frame, y)
    with pytest.raises(ValueError, match="at least two numeric columns, got 1: see print"):
        plots.neighbor_votes(model, frame[:1])


# Leave-one-out


@pytest.mark.parametrize("learner", [KNeighborsClassifier, KNeighborsRegressor])
def test_curves_are_those_of_the_model(learner):
    X, y = datasets.load("two_moons")
    model = learner("loo", max_neighbors=12).fit(X, y)
    curve = model.loo_curve_
    ax = plots.loo_curve(model).axes[0]
    (line,) = by_gid(ax, "loss")
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 13))
    np.testing.assert_array_equal(line.get_ydata(), curve.loss)
    band = by_gid(ax, "band")[0].get_paths()[0].vertices
    at = np.searchsorted(curve.n_neighbors, 5)
    around = band[band[:, 0] == 5][:, 1]
    assert around.max() - around.min() == pytest.approx(2 * curve.standard_error[at])
    assert by_gid(ax, "best")[0].get_xdata() == [curve.best]
    assert by_gid(ax, "chosen")[0].get_xdata() == [curve.chosen]
    limit = by_gid(ax, "limit")[0].get_ydata()[0]
    assert limit == curve.loss.min() + curve.standard_error[curve.best - 1]
    name = "error rate" if learner is KNeighborsClassifier else "mean squared error"
    assert ax.get_ylabel() == f"{name}, ± one standard error"


def test_records_and_given_axes():
    model = KNeighborsClassifier("loo").fit([[0.0], [1.0], [2.0]], ["a", "b", "a"])
    ax = new_axes(4, 3)
    assert plots.loo_curve(model.loo_curve_, ax=ax) is ax.figure
    assert ax.get_ylabel() == "loss, ± one standard error"
    assert ax.get_xticks().tolist() == [1, 2]


def test_a_model_of_given_k_has_no_curve():
    with pytest.raises(TypeError, match=r"KNeighborsClassifier: fit it with n_neighbors='loo'\.$"):
        plots.loo_curve(moons())
