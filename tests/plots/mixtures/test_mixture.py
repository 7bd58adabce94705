"""Tests of drawn Gaussian mixtures."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from scipy.spatial.distance import mahalanobis
from sklearn.mixture import GaussianMixture as SklearnMixture

from ceiba import GaussianMixture, KMeans, plots
from ceiba.plots.mixtures.view import Components
from ceiba.plots.projection import Projection, encode_rows
from ceiba.plots.style import INK, PALETTE
from tests.plots.mixtures.figures import (
    RGB,
    inside,
    matrices,
    naive_joint,
    three_groups,
    with_missing,
)

COLLAPSED = "ignore::ceiba.mixture.CollapsedComponentWarning"
FORMS = ("full", "tied", "diag", "spherical", "EEE", "EII", "VEI", "VEV")


@pytest.fixture(scope="module")
def rows():
    return three_groups()


@pytest.fixture(scope="module")
def model(rows):
    return GaussianMixture(3).fit(rows)


def row_points(ax):
    """Return the collections of rows, without the discs of the centers."""
    found = [c for c in ax.collections if isinstance(c, PathCollection)]
    return [c for c in found if c.get_zorder() == 2]


def drawn_rows(ax):
    (points,) = row_points(ax)
    return points.get_offsets(), points.get_facecolor()[:, :3]


def ellipses(ax):
    """Return the outlines in the colors of the components, in order."""
    return [line.get_xydata() for line in ax.lines if to_hex(line.get_color()) != "#ffffff"]


def contour(ax):
    (found,) = [c for c in ax.collections if isinstance(c, QuadContourSet)]
    return found


def distances(points, mean, covariance):
    inverse = np.linalg.inv(covariance)
    return [mahalanobis(point, mean, inverse) for point in points]


def test_colors_are_mixed_by_responsibility(rows, model):
    (ax,) = plots.mixture(model, rows).axes
    points, colors = drawn_rows(ax)
    responsibilities = model.predict_proba(rows)
    assert 0.05 < responsibilities.max(axis=1).min() < 0.8, (
        "no row is ambiguous: the test would show nothing"
    )
    np.testing.assert_allclose(points, rows)
    np.testing.assert_allclose(colors, responsibilities @ RGB[:3], atol=1e-9)


def test_means_have_their_numbers(rows, model):
    (ax,) = plots.mixture(model, rows).axes
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]
    np.testing.assert_allclose([text.xy for text in ax.texts], model.means_)
    assert ax.get_title(loc="left") == "GaussianMixture (full), 3 components of 120 rows"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("d", [2, 3])
def test_ellipses_of_every_covariance_type(form, d):
    # As many components as columns: the shapes of tied and diagonal covariances are then equal.
    X = three_groups(d=d)
    model = GaussianMixture(d, covariance_type=form).fit(X)
    (ax,) = plots.mixture(model, X).axes
    axes = Projection.of(*encode_rows(X)).axes
    found = ellipses(ax)
    assert len(found) == 2 * d
    for k, covariance in enumerate(matrices(model)):
        flat = axes.T @ covariance @ axes
        for deviation, points in zip((1.0, 2.0), found[2 * k : 2 * k + 2], strict=True):
            got = distances(points, model.means_[k] @ axes, flat)
            np.testing.assert_allclose(got, deviation, rtol=1e-9)


def test_contours_enclose_their_probabilities(rows, model):
    probabilities = (0.5, 0.9)
    (ax,) = plots.mixture(model, rows, contours=probabilities).axes
    levels = contour(ax).levels
    draws, _ = model.sample(20_000)
    enclosed = [(model.score_samples(draws) >= level).mean() for level in levels]
    np.testing.assert_allclose(enclosed, sorted(probabilities, reverse=True), atol=0.015)
    for level, path in zip(levels, contour(ax).get_paths(), strict=True):
        np.testing.assert_allclose(model.score_samples(path.vertices), level, atol=0.05)


def test_wide_tables_show_the_marginal_density():
    X = three_groups(300, d=5)
    model = GaussianMixture(3).fit(X)
    (ax,) = plots.mixture(model, X, contours=(0.6,)).axes
    axes = Projection.of(*encode_rows(X)).axes
    flat = (model.weights_, model.means_ @ axes, axes.T @ matrices(model) @ axes)
    vertices = contour(ax).get_paths()[0].vertices
    found = np.log(naive_joint(vertices, *flat).sum(axis=1))
    np.testing.assert_allclose(found, contour(ax).levels[0], atol=0.05)
    draws, _ = model.sample(1_500)
    density = np.log(naive_joint(draws @ axes, *flat).sum(axis=1))
    assert (density >= contour(ax).levels[0]).mean() == pytest.approx(0.6, abs=0.05)
    assert "of variance" in ax.get_xlabel()


@pytest.mark.filterwarnings(COLLAPSED)
def test_narrow_components_get_their_contours():
    random = np.random.default_rng(0)
    wide, narrow = random.normal(size=(200, 2)), 5 + 1e-4 * random.normal(size=(50, 2))
    X = np.concatenate([wide, narrow])
    model = GaussianMixture(2).fit(X)
    (ax,) = plots.mixture(model, X, contours=(0.15,)).axes
    vertices = np.concatenate([path.vertices for path in contour(ax).get_paths()])
    assert np.abs(vertices - 5).max() < 5e-3


def test_components_agree_with_a_naive_density_under_missing_values():
    X = with_missing(three_groups(60, d=4))
    for form in ("full", "diag"):
        model = GaussianMixture(3, covariance_type=form).fit(X)
        components = Components.of_model(model)
        joint = naive_joint(X, model.weights_, model.means_, matrices(model))
        np.testing.assert_allclose(components.weighted_densities(X), joint, rtol=1e-8)
        np.testing.assert_allclose(components.log_density(X), model.score_samples(X), rtol=1e-9)
        np.testing.assert_allclose(
            components.responsibilities(X), model.predict_proba(X), atol=1e-9
        )


def test_component_without_weight_has_no_responsibility(rows):
    parts = Components(np.array([0.0, 1.0]), rows[:2], np.ones((2, 2)))
    np.testing.assert_array_equal(parts.responsibilities(rows)[:, 0], 0.0)
    assert np.isfinite(parts.log_density(rows)).all()


def test_missing_values_are_at_the_mean_and_colored_by_the_observed(rows):
    X = with_missing(rows)
    model = GaussianMixture(3).fit(X)
    (ax,) = plots.mixture(model, X).axes
    points, colors = drawn_rows(ax)
    np.testing.assert_allclose(points, np.where(np.isnan(X), np.nanmean(X, axis=0), X))
    np.testing.assert_allclose(colors, model.predict_proba(X) @ RGB[:3], atol=1e-9)
    np.testing.assert_allclose(colors[3], model.weights_ @ RGB[:3], atol=1e-9)


@pytest.fixture(scope="module")
def column(rows):
    return with_missing(rows[:, :1], fraction=0.1)


def test_one_column_is_a_density_over_a_histogram(column):
    model = GaussianMixture(2).fit(column)
    (ax,) = plots.mixture(model, column, contours=()).axes
    (curve,) = [line for line in ax.lines if line.get_color() == INK]
    x, y = curve.get_data()
    np.testing.assert_allclose(y, np.exp(model.score_samples(x[:, None])), rtol=1e-8)
    observed = column[~np.isnan(column)]
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(heights, np.histogram(observed, len(heights), density=True)[0])
    assert ax.get_ylabel() == "density"
    assert min(ax.get_yticks()) == 0


def test_one_column_keeps_its_rows_in_a_strip(column):
    model = GaussianMixture(2).fit(column)
    (ax,) = plots.mixture(model, column).axes
    points, colors = drawn_rows(ax)
    np.testing.assert_allclose(
        points[:, 0], np.where(np.isnan(column), np.nanmean(column), column)[:, 0]
    )
    assert points[:, 1].max() < 0
    assert points[:, 1].min() > ax.get_ylim()[0]
    np.testing.assert_allclose(colors, model.predict_proba(column) @ RGB[:2], atol=1e-9)


def test_one_column_has_density_lines_and_shades(column):
    model = GaussianMixture(2).fit(column)
    (ax,) = plots.mixture(model, column, contours=(0.5,), deviations=(1.5,)).axes
    lines = [line.get_ydata() for line in ax.lines if np.isnan(line.get_ydata()).any()]
    level = np.nanmax(lines[0])
    draws, _ = model.sample(20_000)
    assert (model.score_samples(draws) >= np.log(level)).mean() == pytest.approx(0.5, abs=0.015)
    shades = [c for c in ax.collections if not isinstance(c, PathCollection)]
    for k, shade in enumerate(shades):
        x = shade.get_paths()[0].vertices[:, 0]
        reach = 1.5 * np.sqrt(matrices(model)[k, 0, 0])
        np.testing.assert_allclose([x.min(), x.max()], model.means_[k, 0] + [-reach, reach])
    assert len(shades) == 2


def test_spike_does_not_flatten_the_histogram():
    x = np.concatenate([np.random.default_rng(0).normal(size=200), np.full(20, 0.3)])[:, None]
    model = SimpleNamespace(
        weights_=[0.9, 0.1], means_=[[0.0], [0.3]], covariances_=[[[1.0]], [[1e-12]]]
    )
    (ax,) = plots.mixture(model, x).axes
    tallest = max(bar.get_height() for bar in ax.patches)
    assert tallest < ax.get_ylim()[1] < 3 * tallest
    assert max(text.xy[1] for text in ax.texts) <= ax.get_ylim()[1]


def test_names_and_kinds_of_columns_follow_the_schema(rows):
    frame = pd.DataFrame(rows, columns=["width", "height"])
    size = pd.Categorical.from_codes(np.arange(120) % 3, ["s", "m", "l"], ordered=True)
    frame["height"] = size
    model = GaussianMixture(2, covariance_type="diag").fit(frame)
    only = frame[frame["height"] != "s"]
    (ax,) = plots.mixture(model, only).axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")
    points, colors = drawn_rows(ax)
    assert set(points[:, 1]) == {0.5, 1.0}
    np.testing.assert_allclose(colors, model.predict_proba(only) @ RGB[:2], atol=1e-9)


def test_legend_lists_weights_ellipses_and_contours(rows, model):
    def legend(**options):
        found = plots.mixture(model, rows, **options).axes[0].get_legend()
        return [text.get_text() for text in found.get_texts()]

    weights = [f"{k}  (weight {w:.1%})" for k, w in enumerate(model.weights_)]
    assert legend() == [
        *weights,
        "ellipses: 1, 2 σ",
        "contours enclose\n25, 50, 75, 90, 99 %",
    ]
    assert legend(contours=(), deviations=(3,)) == [*weights, "ellipses: 3 σ"]
    assert legend(contours=(), deviations=()) == weights


def test_options_change_what_is_drawn(rows, model):
    bare = plots.mixture(model, rows, contours=(), deviations=()).axes[0]
    assert not ellipses(bare)
    assert not [c for c in bare.collections if isinstance(c, QuadContourSet)]
    one = plots.mixture(model, rows, deviations=(3.0,)).axes[0]
    assert len(ellipses(one)) == 3


def test_many_components_have_other_markers_and_no_legend():
    X = three_groups(400)
    model = GaussianMixture(15, covariance_type="EII", max_iter=3, tol=0.1).fit(X)
    (ax,) = plots.mixture(model, X).axes
    assert ax.get_legend() is None
    found = row_points(ax)
    assert len(found) == 3
    likeliest = model.predict(X)
    sizes = [len(points.get_offsets()) for points in found]
    assert sizes == np.bincount(likeliest // len(PALETTE), minlength=3).tolist()


def test_large_tables_are_sampled(rows, model):
    def drawn(**options):
        (ax,) = plots.mixture(model, rows, **options).axes
        return ax.get_title(loc="left"), drawn_rows(ax)[0]

    title, first = drawn(max_points=50)
    assert len(first) == 50
    assert title == "GaussianMixture (full), 3 components of 120 rows (50 drawn)"
    assert not np.array_equal(first, drawn(max_points=50, random_state=1)[1])
    with pytest.raises(ValueError, match="max_points must be at least 1"):
        drawn(max_points=0)


@pytest.mark.parametrize("unit", [1e-70, 1e70])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_any_scale_is_drawn(unit, d):
    X = three_groups(d=d) * unit
    model = GaussianMixture(2).fit(X)
    figure = plots.mixture(model, X)
    figure.draw_without_rendering()
    (ax,) = figure.axes
    assert ax.get_xlim()[1] - ax.get_xlim()[0] == pytest.approx(
        np.ptp(drawn_rows(ax)[0][:, 0]), rel=1
    )


def test_one_row_and_one_component_are_drawn():
    model = SimpleNamespace(weights_=[1.0], means_=[[2.0, 3.0]], covariances_=[[[1.0, 0], [0, 1]]])
    (ax,) = plots.mixture(model, [[2.0, 3.0]]).axes
    assert ax.get_title(loc="left") == "SimpleNamespace, 1 component of 1 row"


def test_given_axes_are_used(rows, model):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plots.mixture(model, rows, ax=right) is figure
    assert right.collections
    assert not left.collections


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_models_of_scikit_learn_are_drawn(rows, form):
    theirs = SklearnMixture(3, covariance_type=form, random_state=0).fit(rows)
    (ax,) = plots.mixture(theirs, rows).axes
    np.testing.assert_allclose(drawn_rows(ax)[1], theirs.predict_proba(rows) @ RGB[:3], atol=1e-9)


def test_nothing_is_clipped():
    X = three_groups(d=4)
    assert inside(plots.mixture(GaussianMixture(5).fit(X), X))
    assert inside(plots.mixture(GaussianMixture(2).fit(X[:, :1]), X[:, :1]))


def test_other_models_raise(rows, model):
    with pytest.raises(TypeError, match="followed by the rows X, got ndarray"):
        plots.mixture(rows, model)
    with pytest.raises(
        TypeError, match=r"must be a fitted mixture .* got KMeans: draw it with plot"
    ):
        plots.mixture(KMeans(3).fit(rows), rows)


def test_rows_of_another_width_raise(rows, model):
    theirs = SklearnMixture(2, random_state=0).fit(rows)
    with pytest.raises(
        ValueError, match=r"3 columns \(x0, x1, x2\), but the mixture was fitted to 2"
    ):
        plots.mixture(theirs, np.ones((4, 3)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contours": (0.5, 1.0)}, "between 0 and 1"),
        ({"contours": (0.0,)}, "between 0 and 1"),
        ({"deviations": (-1.0,)}, "greater than 0"),
        ({"deviations": (np.nan,)}, "greater than 0"),
    ],
)
def test_invalid_options_raise(rows, model, options, message):
    with pytest.raises(ValueError, match=message):
        plots.mixture(model, rows, **options)


def test_mixture_uses_no_pyplot():
    code = """
import sys
import ceiba.plots
assert "matplotlib" not in sys.modules, "imported too early"
import numpy as np
from ceiba import GaussianMixture, plots
X = np.random.default_rng(0).normal(size=(40, 2))
plots.mixture(GaussianMixture(2).fit(X), X).savefig(sys.argv[1])
assert "matplotlib.pyplot" not in sys.modules, "pyplot holds global state"
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "/dev/null"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_missing_matplotlib_error_names_the_extra(rows, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "ceiba.plots.figure", None)
    with pytest.raises(ImportError, match=r"ceiba\[plots\]"):
        plots.mixture(model, rows)
    with pytest.raises(ImportError, match=r"ceiba\[plots\]"):
        plots.covariance_forms(rows, 2)
