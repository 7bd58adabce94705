"""Tests of scores against seconds, and of labels without overlaps."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from ceiba import plots
from ceiba.plots.experiments.time_scores import _pareto_front
from ceiba.plots.style import new_figure
from tests.plots.experiments.figures import (
    LONG_NAMES,
    LabelLearner,
    by_gid,
    comparison,
    regression,
    sweep,
    with_seconds,
)


def spread(results, seed=0):
    random = np.random.default_rng(seed)
    names = [learner.name for learner in results.learners]
    return with_seconds(results, {name: 10 ** random.uniform(-3, 1) for name in names})


def drawn_points(ax):
    lines = by_gid(ax, "best") + by_gid(ax, "others")
    return {point for line in lines for point in zip(*line.get_data(), strict=True)}


def test_points_are_means_over_datasets():
    results = comparison(3, 2)
    seconds = {"tree": 4.0, "naive Bayes, TM, ridge 3": 0.5, "forest": 0.25}
    (ax,) = plots.time_scores(with_seconds(results, seconds)).axes
    found = sorted(drawn_points(ax))
    fastest_first = sorted(seconds.items(), key=lambda pair: pair[1])
    for (x, y), (name, time) in zip(found, fastest_first, strict=True):
        assert x == pytest.approx(time)
        means = [results.mean("accuracy", table, name) for table in ("table 0", "table 1")]
        assert y == pytest.approx(np.mean(means))
    assert ax.get_title(loc="left") == "means over 2 datasets"
    assert ax.get_xscale() == "log"


def test_seconds_of_datasets_have_their_geometric_mean():
    results = comparison(1, 2)
    results = with_seconds(results, {"table 0": 0.01, "table 1": 1.0}, by="dataset")
    (ax,) = plots.time_scores(results).axes
    ((x, _),) = drawn_points(ax)
    assert x == pytest.approx(0.1)
    figure = plots.time_scores(results, per_dataset=True)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["table 0", "table 1"]
    xs = [x for ax in figure.axes for x, _ in drawn_points(ax)]
    assert xs == pytest.approx([0.01, 1.0])


def test_the_front_has_the_learners_that_none_dominates():
    seconds, scores = np.array([1.0, 2.0, 3.0, 3.0, 4.0]), np.array([0.5, 0.4, 0.8, 0.7, 0.8])
    assert _pareto_front(seconds, scores, True).tolist() == [0, 2]
    assert _pareto_front(seconds, scores, False).tolist() == [0, 1]


def test_the_front_is_drawn():
    results = with_seconds(
        comparison(3), {"tree": 4.0, "naive Bayes, TM, ridge 3": 0.5, "forest": 2.0}
    )
    (ax,) = plots.time_scores(results).axes
    assert by_gid(ax, "front")[0].get_xdata().tolist() == pytest.approx([0.5, 4.0])
    assert by_gid(ax, "others")[0].get_xdata().tolist() == pytest.approx([2.0])
    # Of errors the smallest are best, so the same learners are on the front.
    (ax,) = plots.time_scores(results, "error").axes
    assert by_gid(ax, "front")[0].get_xdata().tolist() == pytest.approx([0.5, 4.0])
    assert ax.get_ylabel() == "Error, smaller is better"


@pytest.mark.parametrize("n_learners", [1, 3, 8, 15])
def test_labels_cover_neither_each_other_nor_points(n_learners):
    (ax,) = plots.time_scores(spread(comparison(n_learners))).axes
    figure = ax.figure
    figure.draw_without_rendering()
    labels = by_gid(ax, "label")
    assert len({label.get_text() for label in labels}) == n_learners
    boxes = [label.get_window_extent() for label in labels]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    points = ax.transData.transform(sorted(drawn_points(ax)))
    assert not any(box.contains(*point) for box in boxes for point in points)
    frame = ax.get_window_extent()
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)
    assert all(frame.y0 <= box.y0 and box.y1 <= frame.y1 for box in boxes)


def test_far_labels_are_joined_with_their_points():
    results = with_seconds(comparison(8), dict.fromkeys(LONG_NAMES, 1.0))
    crowded = plots.time_scores(results, figure=new_figure(3, 1.6))
    joined = [text for text in crowded.axes[0].texts if text.arrow_patch is not None]
    assert joined
    roomy = plots.time_scores(results)
    assert not [text for text in roomy.axes[0].texts if text.arrow_patch is not None]


def test_learners_without_a_score_are_listed():
    results = comparison(2, 2, broken=LabelLearner(0.9, fails_on=1))
    (ax,) = plots.time_scores(results).axes
    assert ax.get_title(loc="right") == "no score: broken"
    assert len(by_gid(ax, "label")) == 2
    first, second = plots.time_scores(results, per_dataset=True).axes
    assert len(by_gid(first, "label")) == 3
    assert len(by_gid(second, "label")) == 2
    with pytest.raises(ValueError, match="must have a learner with accuracy on every dataset"):
        plots.time_scores(comparison(0, 2, broken=LabelLearner(0.9, fails_on=1)))


def test_times_of_zero_are_drawn():
    results = with_seconds(comparison(1), {"tree": 0.0})
    ((x, _),) = drawn_points(plots.time_scores(results).axes[0])
    assert x > 0


def test_regressions_and_errors():
    assert plots.time_scores(regression()).axes[0].get_ylabel() == "R²"
    with pytest.raises(ValueError, match=r"score of a regression must be one of r2, .*'accuracy'"):
        plots.time_scores(regression(), "accuracy")
    with pytest.raises(ValueError, match=r"score of a classification must be .*, got 'speed'"):
        plots.time_scores(comparison(1), "speed")
    with pytest.raises(TypeError, match=r"the result of compare, got Sweep: pass its \.comparison"):
        plots.time_scores(sweep(["k"], [(1,)]))
