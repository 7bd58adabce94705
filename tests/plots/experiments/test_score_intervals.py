"""Tests of the picture of means and intervals."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba import plots
from ceiba.experiments import summarize
from ceiba.plots.style import new_figure
from tests.plots.experiments.figures import LabelLearner, by_gid, comparison, regression


def texts(artists):
    return [artist.get_text() for artist in artists]


def test_a_panel_has_the_cells_of_its_dataset():
    summary = summarize(comparison(3, 4), control="forest")
    figure = plots.score_intervals(summary)
    assert [ax.get_title(loc="left") for ax in figure.axes] == list(summary.datasets)
    for ax, row, is_left in zip(figure.axes, summary.cells, [True, False] * 2, strict=True):
        assert texts(ax.get_yticklabels()) == list(summary.learners) * is_left
        assert [line.get_xdata()[0] for line in by_gid(ax, "mean")] == [c.mean for c in row]
        drawn = [list(line.get_xdata()) for line in by_gid(ax, "interval")]
        assert drawn == [[c.interval.lower, c.interval.upper] for c in row]
        (control,) = by_gid(ax, "control")
        assert list(control.get_xdata()) == [row[2].mean] * 2
        marked = [line.get_ydata()[0] for line in by_gid(ax, "mark")]
        assert marked == [j for j, cell in enumerate(row) if cell.mark]
    assert "mean of forest" in texts(figure.legends[0].get_texts())


def test_full_and_open_marks_are_explained():
    summary = summarize(comparison(3, 4), control="forest")
    found = {cell.mark for row in summary.cells for cell in row}
    assert found == {"", "•", "○"}
    figure = plots.score_intervals(summary)
    marks = [
        (line.get_markerfacecolor() == "white", cell.mark == "○")
        for ax, row in zip(figure.axes, summary.cells, strict=True)
        for line, cell in zip(by_gid(ax, "mark"), [c for c in row if c.mark], strict=True)
    ]
    assert all(is_open == is_weak for is_open, is_weak in marks)
    assert texts(figure.legends[0].get_texts())[1:] == [
        "better than forest, p ≤ 0.05",
        "better than forest, p ≤ 0.1",
    ]


def test_failures_are_written():
    results = comparison(1, 2, broken=LabelLearner(0.9, fails_on=1), labels=LabelLearner(0.9))
    first, second = plots.score_intervals(summarize(results, "auc")).axes
    assert texts(by_gid(first, "failed")) == ["undefined", "undefined"]
    assert texts(by_gid(second, "failed")) == ["failed", "undefined"]
    assert [text.xy[1] for text in by_gid(second, "failed")] == [1, 2]
    assert len(by_gid(second, "mean")) == 1


def test_a_dataset_without_any_score_has_no_axis():
    results = comparison(0, 2, broken=LabelLearner(0.9, fails_on=1))
    first, second = plots.score_intervals(summarize(results)).axes
    assert len(first.get_xticks())
    assert not len(second.get_xticks())


def test_one_hold_out_has_points_without_intervals():
    summary = summarize(comparison(2, protocol="holdout 0.3"), "auc")
    (ax,) = plots.score_intervals(summary).axes
    assert len(by_gid(ax, "mean")) == 2
    assert not by_gid(ax, "interval")
    assert ax.get_xlabel() == "AUC"


def test_grouped_datasets_share_a_panel():
    summary = summarize(comparison(3, 4), "error", control="tree")
    figure = plots.score_intervals(summary, grouped=True)
    (ax,) = figure.axes
    assert texts(ax.get_yticklabels()) == list(summary.datasets)
    wanted = [cell.mean for row in summary.cells for cell in row]
    means = by_gid(ax, "mean")
    assert [line.get_xdata()[0] for line in means] == wanted
    heights = np.reshape([line.get_ydata()[0] for line in means], (4, 3))
    np.testing.assert_array_equal(np.diff(heights), 1)
    np.testing.assert_allclose(ax.get_yticks(), heights.mean(axis=1))
    assert len({line.get_color() for line in means}) == 3
    assert len(by_gid(ax, "control")) == 4
    assert texts(figure.legends[0].get_texts())[:3] == list(summary.learners)
    assert ax.get_xlabel() == "Error, smaller is better (95% intervals)"


def test_a_given_figure_is_drawn_on():
    figure = new_figure(5, 3)
    assert plots.score_intervals(summarize(regression()), figure=figure) is figure
    assert len(figure.axes) == 1
    assert not figure.legends


def test_other_objects_raise():
    with pytest.raises(TypeError, match="summary must be a Summary, the result of summarize"):
        plots.score_intervals(comparison(1))
