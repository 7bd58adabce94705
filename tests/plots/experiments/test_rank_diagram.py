"""Tests of the critical-difference diagram."""

from __future__ import annotations

import pytest

from ceiba import plots
from ceiba.experiments import rank_learners
from ceiba.plots.experiments.rank_diagram import _lanes
from ceiba.plots.style import new_axes
from tests.plots.experiments.figures import LabelLearner, by_gid, comparison


@pytest.mark.parametrize(("n_learners", "n_datasets"), [(2, 2), (3, 4), (8, 10), (15, 3)])
def test_ranks_groups_and_names_are_drawn(n_learners, n_datasets):
    results = comparison(n_learners, n_datasets, n=60)
    ranking = rank_learners(results)
    (ax,) = plots.rank_diagram(results).axes
    assert len(ranking.learners) == n_learners
    starts = [line.get_xdata()[0] for line in by_gid(ax, "learner")]
    assert sorted(starts) == sorted(ranking.ranks)
    ranks = dict(zip(ranking.learners, ranking.ranks, strict=True))
    bars = sorted(tuple(line.get_xdata()) for line in by_gid(ax, "group"))
    assert bars == sorted((ranks[group[0]], ranks[group[-1]]) for group in ranking.groups)
    (cd,) = by_gid(ax, "cd")
    worst, end = cd.get_xdata()
    assert worst - end == pytest.approx(ranking.critical_difference)
    assert ax.get_xlim()[0] > ax.get_xlim()[1]  # the best are at the right
    assert min(ax.get_xlim()) <= end


def test_the_better_half_is_at_the_right():
    (ax,) = plots.rank_diagram(comparison(5, 4)).axes
    names = {text.get_text(): text.get_horizontalalignment() for text in by_gid(ax, "name")}
    sides = [side for _, side in sorted(names.items(), key=lambda pair: pair[0][0].isdigit())]
    assert sides == ["right"] * 3 + ["left"] * 2
    assert "1.00  tree" in names


def test_lines_to_names_do_not_cross():
    (ax,) = plots.rank_diagram(comparison(8, 4)).axes
    lines = [line.get_xydata() for line in by_gid(ax, "learner")]
    for (start, corner, end), other in ((a, b) for a in lines for b in lines if a is not b):
        low, high = sorted([corner[0], end[0]])
        crosses = low < other[0][0] < high and other[1][1] > corner[1]
        assert not crosses or start[0] == other[0][0]


def test_bars_of_a_lane_do_not_overlap():
    groups = [(1.0, 2.0), (1.5, 3.0), (2.5, 4.0), (3.5, 5.0)]
    assert _lanes(groups) == [[groups[0], groups[2]], [groups[1], groups[3]]]


def test_the_note_has_friedmans_test():
    def note(results):
        (ax,) = plots.rank_diagram(results).axes
        return by_gid(ax, "note")[0].get_text()

    assert note(comparison(3, 12)) == "12 datasets, Friedman p < 0.001"
    assert note(comparison(2, 2)) == "2 datasets, Friedman p = 0.500: no difference found"


def test_scores_and_axes_can_be_given():
    ax = new_axes(6, 3)
    assert plots.rank_diagram(comparison(3, 3), "log_loss", ax=ax) is ax.figure
    assert ax.get_title(loc="left") == "Average ranks by log-loss"
    figure = plots.rank_diagram(comparison(3, 3), "auc")
    assert figure.axes[0].get_title(loc="left") == "Average ranks by AUC"


def test_ranks_require_datasets_learners_and_scores():
    with pytest.raises(ValueError, match="at least two learners and two datasets, got 3 and 1"):
        plots.rank_diagram(comparison(3))
    with pytest.raises(ValueError, match="two datasets, got 1 and 2"):
        plots.rank_diagram(comparison(1, 2))
    broken = comparison(2, 2, broken=LabelLearner(0.9, fails_on=1))
    with pytest.raises(ValueError, match="broken has no accuracy on table 1: ValueError"):
        plots.rank_diagram(broken)
    with pytest.raises(ValueError, match="score of a classification must be one of"):
        plots.rank_diagram(comparison(2, 2), "r2")
    with pytest.raises(TypeError, match="comparison must be a Comparison"):
        plots.rank_diagram([0.1, 0.2])
