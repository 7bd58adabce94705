"""Tests of the drawn choice of components and covariance type."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from ceiba import GaussianMixture, plots
from ceiba.mixture import choose_components
from ceiba.plots.style import ACCENT, PALETTE, new_figure
from tests.plots.mixtures.figures import choice_of, inside, three_groups

PANELS = ("bic", "icl", "aic", "cv")
ALL = ("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVV", "EEV", "VEV", "VVV", "ppca")
MARKS = {"converged": np.arange(52) > 3, "spread": np.arange(52.0)}


def lines(ax):
    """Return the curves of the covariance types."""
    return [line for line in ax.lines if line.get_linestyle() != "None"]


def ring(ax):
    return next(line for line in ax.lines if line.get_markeredgecolor() == ACCENT)


def bars(ax):
    """Return begin and end of the bars of disagreeing initializations by color."""
    found = {}
    for collection in ax.collections:
        if isinstance(collection, LineCollection) and len(collection.get_segments()):
            color = to_hex(collection.get_color()[0]).upper()
            found[color] = [segment[:, 1].tolist() for segment in collection.get_segments()]
    return found


def entries(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_each_criterion_has_a_panel_and_each_form_a_line():
    choice = choice_of()
    figure = plots.mixture_choice(choice)
    assert len(figure.axes) == 4
    for ax, name in zip(figure.axes, PANELS, strict=True):
        for index, (line, form) in enumerate(zip(lines(ax), ("diag", "full"), strict=True)):
            own = choice.table["covariance_type"] == form
            np.testing.assert_array_equal(line.get_ydata(), choice.table[name][own])
            np.testing.assert_allclose(line.get_xdata(), [1, 2, 3, 4], atol=0.26)
            assert line.get_color() == PALETTE[index]
    assert entries(figure) == ["diag", "full", "proposed"]


def test_criteria_without_values_have_no_panel():
    figure = plots.mixture_choice(choice_of(cv=False))
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["BIC (min)", "ICL (min)", "AIC (min)"]
    nothing = np.full(8, np.nan)
    figure = plots.mixture_choice(choice_of(cv=False, aic=nothing, icl=nothing))
    assert len(figure.axes) == 1


def test_proposals_are_ringed_and_named():
    choice = choice_of()
    for ax, name in zip(plots.mixture_choice(choice).axes, PANELS, strict=True):
        k, form = choice.best[name]
        assert ax.get_title(loc="right") == f"{k}, {form}"
        at = (choice.table["n_components"] == k) & (choice.table["covariance_type"] == form)
        assert ring(ax).get_ydata().tolist() == choice.table[name][at].tolist()
        assert round(float(ring(ax).get_xdata()[0])) == k
    assert choice.best["bic"] != choice.best["aic"]


def test_chosen_criterion_is_bold():
    choice = choice_of()
    choice.criterion = "icl"
    figure = plots.mixture_choice(choice)
    bold = [ax._right_title.get_weight() for ax in figure.axes]
    assert bold == ["normal", "bold", "normal", "normal"]


def test_disagreeing_initializations_show_their_range():
    spread = np.array([0.0, 0.4, 12.0, 3.0, 0.0, 0.0, 0.0, 7.5])
    choice = choice_of(spread=spread)
    figure = plots.mixture_choice(choice)
    bic, icl, aic, cv = figure.axes
    for ax, values in ((bic, choice.table["bic"]), (aic, choice.table["aic"])):
        assert bars(ax) == {
            PALETTE[0]: [[values[2], values[2] + 24.0], [values[3], values[3] + 6.0]],
            PALETTE[1]: [[values[7], values[7] + 15.0]],
        }
    assert not bars(icl)
    assert not bars(cv)
    assert entries(figure) == ["diag", "full", "up to the worst\ninitialization", "proposed"]


def test_bad_initialization_does_not_change_the_limits():
    spread = np.zeros(8)
    spread[2] = 1e6
    ax = plots.mixture_choice(choice_of(spread=spread)).axes[0]
    assert ax.get_ylim() == plots.mixture_choice(choice_of()).axes[0].get_ylim()


def test_fits_that_did_not_converge_are_hollow():
    converged = np.ones(8, bool)
    converged[5] = False
    choice = choice_of(converged=converged)
    figure = plots.mixture_choice(choice)
    for ax, name in zip(figure.axes, PANELS, strict=True):
        hollow = [line for line in ax.lines if line.get_markerfacecolor() == "white"]
        drawn = np.concatenate([line.get_ydata() for line in hollow])
        assert drawn.tolist() == [choice.table[name][5]]
    assert "not converged" in entries(figure)


def test_missing_values_are_omitted():
    bic = choice_of().table["bic"].copy()
    bic[1] = np.nan
    ax = plots.mixture_choice(choice_of(bic=bic)).axes[0]
    assert [len(line.get_xdata()) for line in lines(ax)] == [3, 4]


def test_lines_follow_the_number_of_components_in_any_order_of_the_table():
    choice = choice_of(ks=(4, 1, 3, 2))
    for line in lines(plots.mixture_choice(choice).axes[0]):
        assert (np.diff(line.get_xdata()) > 0).all()


def test_every_form_has_its_own_style():
    figure = plots.mixture_choice(choice_of(ks=range(1, 10), forms=ALL))
    looks = {
        (line.get_color(), line.get_marker(), line.get_linestyle())
        for line in lines(figure.axes[0])
    }
    assert len(looks) == len(ALL)
    positions = [line.get_xdata()[0] for line in lines(figure.axes[0])]
    assert len(set(positions)) == len(ALL)
    assert np.ptp(positions) < 0.6


@pytest.mark.parametrize(
    "options",
    [{}, {"cv": False, "forms": ALL, **MARKS}, {"forms": ("full",), "ks": (3,)}],
    ids=["four panels", "every form", "one point"],
)
def test_nothing_is_clipped(options):
    assert inside(plots.mixture_choice(choice_of(**options)))


@pytest.mark.parametrize("cv", [0, 2])
def test_result_of_choose_components_is_drawn(cv):
    choice = choose_components(three_groups(60), [1, 2], ["EII", "tied"], n_init=2, cv=cv, tol=1e-2)
    figure = plots.mixture_choice(choice)
    assert len(figure.axes) == (4 if cv else 3)
    k, form = choice.chosen
    assert figure.axes[0].get_title(loc="right") == f"{k}, {form}"


def test_choice_of_a_fitted_mixture_is_drawn():
    model = GaussianMixture("icl", max_components=3, tol=1e-2).fit(three_groups(60))
    figure = plots.mixture_choice(model.choice_)
    assert figure.axes[1].get_title(loc="right") == f"{model.n_components_}, full"
    assert figure.axes[1]._right_title.get_weight() == "bold"


def test_given_figure_is_used():
    outer = new_figure(14, 6)
    left, right = outer.subfigures(1, 2)
    assert plots.mixture_choice(choice_of(), figure=right) is right
    assert len(right.axes) == 4
    assert not left.axes
