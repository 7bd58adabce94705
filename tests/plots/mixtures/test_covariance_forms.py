"""Tests of several covariance types side by side."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba import GaussianMixture, plots
from ceiba.plots.mixtures.mixture import _matching_numbers
from ceiba.plots.mixtures.view import Components
from ceiba.plots.style import ACCENT, new_figure
from tests.plots.mixtures.figures import inside, three_groups, with_missing

FORMS = ("spherical", "diag", "tied", "full")


@pytest.fixture(scope="module")
def rows():
    return three_groups()


@pytest.fixture(scope="module")
def figure(rows):
    return plots.covariance_forms(rows, 3)


def ellipses(ax):
    return [line.get_xydata() for line in ax.lines if line.get_zorder() == 3.1]


def test_each_form_has_a_panel_with_its_ellipses(rows, figure):
    assert [ax.get_title(loc="left") for ax in figure.axes] == list(FORMS)
    assert [len(ellipses(ax)) for ax in figure.axes] == [6] * 4
    for points in ellipses(figure.axes[0])[::2]:
        radius = np.linalg.norm(points - points[:-1].mean(axis=0), axis=1)
        np.testing.assert_allclose(radius, radius[0])
    shapes = [points - points[:-1].mean(axis=0) for points in ellipses(figure.axes[2])[::2]]
    np.testing.assert_allclose(shapes[0], shapes[1], atol=1e-9)


def test_titles_contain_likelihood_and_bic(rows, figure):
    bics = []
    for ax, form in zip(figure.axes, FORMS, strict=True):
        model = GaussianMixture(3, covariance_type=form).fit(rows)
        bics.append(model.bic(rows))
        note = f"log-likelihood {model.log_likelihood_:.6g}\nBIC {bics[-1]:.6g}"
        assert ax.get_title(loc="right").replace("−", "-") == note
    colors = [ax._right_title.get_color() for ax in figure.axes]
    assert [color == ACCENT for color in colors] == (np.array(bics) == min(bics)).tolist()


def test_panels_share_their_axes_and_colors(figure):
    assert len({ax.get_xlim() for ax in figure.axes}) == 1
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    assert [ax.get_ylabel() for ax in figure.axes] == ["x1", "", "", ""]


def test_axes_of_similar_range_have_one_scale(rows, figure):
    assert {ax.get_aspect() for ax in figure.axes} == {1.0}
    wide = plots.covariance_forms(rows * [100.0, 1.0], 2, ["full"])
    assert wide.axes[0].get_aspect() == "auto"
    assert inside(figure)
    assert inside(plots.covariance_forms(rows, 2, ["full"]))


def test_components_are_numbered_as_in_the_first_panel(rows):
    first = Components.of_model(GaussianMixture(3).fit(rows))
    order = [2, 0, 1]
    turned = Components(first.weights[order], first.means[order], first.covariances[order])
    assert _matching_numbers(turned, first) == order
    assert _matching_numbers(first, first) == [0, 1, 2]
    fewer = Components(first.weights[:2], first.means[:2], first.covariances[:2])
    assert _matching_numbers(fewer, first) == [0, 1]
    assert _matching_numbers(turned, fewer) == [2, 0, 1]


@pytest.mark.filterwarnings("ignore::ceiba.mixture.CollapsedComponentWarning")
def test_options_are_passed_to_the_mixture(rows):
    figure = plots.covariance_forms(rows, 2, ["full"], max_iter=1, tol=10.0, covariance_floor=0.9)
    model = GaussianMixture(2, max_iter=1, tol=10.0, covariance_floor=0.9).fit(rows)
    assert model.log_likelihood_ != GaussianMixture(2).fit(rows).log_likelihood_
    assert f"{model.log_likelihood_:.6g}".replace("-", "−") in figure.axes[0].get_title(loc="right")
    with pytest.raises(TypeError, match="no_such_option"):
        plots.covariance_forms(rows, 2, no_such_option=1)


def test_many_forms_take_several_rows(rows):
    forms = ["EII", "VII", "EEI", "VVI", "EEE"]
    figure = plots.covariance_forms(rows, 2, forms, max_iter=3, tol=0.1)
    tops = [ax.get_subplotspec().rowspan.start for ax in figure.axes]
    assert tops == [0, 0, 0, 1, 1]
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "", "x0", "x0", "x0"]
    assert [ax.get_ylabel() for ax in figure.axes] == ["x1", "", "", "x1", ""]
    assert inside(figure)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_any_width_with_missing(d):
    X = with_missing(three_groups(d=d))
    figure = plots.covariance_forms(X, 2, ["EII", "full"], max_iter=4, tol=0.1)
    assert inside(figure)
    assert len(figure.axes) == 2


def test_drawn_rows_are_sampled_but_all_are_fitted(rows):
    figure = plots.covariance_forms(rows, 2, ["full"], max_points=30)
    (points,) = [c for c in figure.axes[0].collections if c.get_zorder() == 2]
    assert len(points.get_offsets()) == 30
    whole = GaussianMixture(2).fit(rows).log_likelihood_
    assert f"{whole:.6g}".replace("-", "−") in figure.axes[0].get_title(loc="right")


def test_given_figure_is_used(rows):
    outer = new_figure(14, 4)
    left, right = outer.subfigures(1, 2)
    assert plots.covariance_forms(rows, 2, ["tied", "full"], figure=right) is right
    assert len(right.axes) == 2
    assert not left.axes


@pytest.mark.parametrize("forms", ["full", [], ()])
def test_forms_must_be_a_sequence(rows, forms):
    with pytest.raises(ValueError, match="forms must be a sequence"):
        plots.covariance_forms(rows, 2, forms)
