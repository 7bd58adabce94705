"""Tests of the curve of a score against a parameter."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba import plots
from ceiba.experiments import summarize
from ceiba.plots.style import new_figure
from tests.plots.experiments.figures import by_gid, comparison, sweep


def vertices(band):
    return band.get_paths()[0].vertices


def test_a_curve_has_means_and_intervals():
    found = sweep(["max_depth"], [(4,), (1,), (2,), (3,)])
    (row,) = summarize(found.comparison).cells
    (ax,) = plots.sweep_curve(found).axes
    (curve,) = by_gid(ax, "curve")
    order = [1, 2, 3, 0]
    assert curve.get_xdata().tolist() == [1, 2, 3, 4]
    assert curve.get_ydata().tolist() == [row[j].mean for j in order]
    (band,) = by_gid(ax, "band")
    limits = [end for cell in row for end in (cell.interval.lower, cell.interval.upper)]
    assert set(limits) == set(vertices(band)[:, 1])
    assert ax.get_xlabel() == "max_depth"
    assert [text.get_text() for text in ax.get_xticklabels()] == ["4", "1", "2", "3"]


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1, 2, 4, 8, 16], "log"),
        ([0.01, 0.03, 0.1, 0.3, 1.0], "log"),
        ([1, 2, 3, 4, 5, 6], "linear"),
        ([0, 1, 10, 100], "linear"),
        ([1, 2], "linear"),
        ([5, 6, 7.5], "linear"),
    ],
)
def test_geometric_values_have_a_log_axis(values, scale):
    (ax,) = plots.sweep_curve(sweep(["ridge"], [(value,) for value in values])).axes
    assert ax.get_xscale() == scale
    assert by_gid(ax, "curve")[0].get_xdata().tolist() == values


@pytest.mark.parametrize("values", [["gini", "entropy"], [1, 2, None], [True, False]])
def test_other_values_are_categories(values):
    (ax,) = plots.sweep_curve(sweep(["option"], [(value,) for value in values])).axes
    assert [text.get_text() for text in ax.get_xticklabels()] == [str(value) for value in values]
    assert by_gid(ax, "curve")[0].get_xdata().tolist() == list(range(len(values)))
    assert not by_gid(ax, "band")
    (intervals,) = by_gid(ax, "interval")
    assert len(intervals.get_segments()) == len(values)


def test_other_parameters_have_a_line_each_and_datasets_a_panel_each():
    settings = [(depth, criterion) for criterion in ("gini", "entropy") for depth in (1, 2, 3)]
    found = sweep(["max_depth", "criterion"], settings, n_datasets=2)
    summary = summarize(found.comparison, "log_loss")
    figure = plots.sweep_curve(found, "log_loss")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "criterion='gini'",
        "criterion='entropy'",
    ]
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["table 0", "table 1"]
    for ax, row in zip(figure.axes, summary.cells, strict=True):
        first, second = by_gid(ax, "curve")
        assert first.get_ydata().tolist() == [cell.mean for cell in row[:3]]
        assert second.get_ydata().tolist() == [cell.mean for cell in row[3:]]
        (best,) = by_gid(ax, "best")
        means = [cell.mean for cell in row]
        assert best.get_ydata()[0] == min(means)
        depth = settings[means.index(min(means))][0]
        assert best.get_xdata()[0] == depth
        assert ax.get_title(loc="right") == f"best {min(means):.3g} at {depth}"


def test_a_value_without_a_mean_interrupts_the_curve():
    found = sweep(["k"], [(1,), (2,), (3,)], failing=[1])
    (ax,) = plots.sweep_curve(found).axes
    assert np.isnan(by_gid(ax, "curve")[0].get_ydata()).tolist() == [False, True, False]
    assert by_gid(ax, "failed")[0].get_xdata().tolist() == [2]
    # The values beside it have no band, and so an interval of their own.
    assert len(by_gid(ax, "interval")[0].get_segments()) == 2


def test_a_sweep_that_failed_has_no_best_value():
    (ax,) = plots.sweep_curve(sweep(["k"], [(1,), (2,)], failing=[0, 1])).axes
    assert not by_gid(ax, "best")
    assert ax.get_title(loc="right") == ""


def test_given_figures_and_errors():
    figure, found = new_figure(5, 3), sweep(["k"], [(1,), (2,)])
    assert plots.sweep_curve(found, figure=figure) is figure
    with pytest.raises(ValueError, match=r"score of a classification must be .*, got 'rmse'"):
        plots.sweep_curve(found, "rmse")
    with pytest.raises(TypeError, match="sweep must be a Sweep, the result of sweep"):
        plots.sweep_curve(comparison(1))
