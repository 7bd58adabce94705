"""Tests of nomograms."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from ceiba import NaiveBayesClassifier, TANClassifier, datasets, plots
from ceiba.plots.style import new_figure


@cache
def load(name):
    return datasets.load(name)


@cache
def naive(training="ml"):
    data = load("vote")
    return NaiveBayesClassifier(training=training, missing="category").fit(data.table, data.y)


@cache
def tree():
    data = load("vote")
    return TANClassifier(missing="category").fit(data.table, data.y)


def marked(ax, gid):
    """Return the x positions of the marks of a kind, by line."""
    found = {}
    for line in ax.lines:
        if line.get_gid() == gid:
            found[round(float(line.get_ydata()[0]))] = np.asarray(line.get_xdata())
    return found


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def full_name(short):
    return next(n for n in load("vote").table.schema.names if n.startswith(short.rstrip("…")))


@pytest.mark.parametrize("training", ["ml", "tm"])
def test_points_are_differences_of_log_probabilities(training):
    model = naive(training)
    upper = plots.nomogram(model).axes[0]
    points = marked(upper, "categories")
    assert len(points) == 16
    for line, name in enumerate(names(upper)):
        table = np.log(model.probability_table(full_name(name)))
        wanted = table.loc["republican"] - table.loc["democrat"]
        np.testing.assert_allclose(points[line], wanted, atol=1e-9)
    lengths = [np.ptp(points[line]) for line in range(16)]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("make", [naive, tree])
def test_the_marks_of_a_row_add_up_to_its_log_odds(make):
    model, row = make(), load("vote").table[:1]
    upper, lower = plots.nomogram(model, row).axes
    marks = marked(upper, "row")
    total, prior = (marked(lower, gid)[0][0] for gid in ("total", "prior"))
    assert sum(mark[0] for mark in marks.values()) + prior == pytest.approx(total)
    probability = model.predict_proba(row).max()
    assert total == pytest.approx(np.log(probability / (1 - probability)), abs=1e-6)
    points = marked(upper, "categories")
    for line, mark in marks.items():
        assert np.abs(points[line] - mark).min() < 1e-6
    assert f"= {probability:.3g}" in lower.get_xlabel()


def test_arcs_without_a_row_are_ranges_of_the_parents_values():
    model = tree()
    upper = plots.nomogram(model).axes[0]
    ranges = [c.get_segments() for c in upper.collections if c.get_gid() == "range"]
    points = marked(upper, "categories")
    child = {child for _, child in model.arcs_}
    for line, name in enumerate(names(upper)):
        assert bool(ranges[line]) == (full_name(name) in child)
        for segment in ranges[line]:
            assert ((points[line] >= segment[0, 0]) & (points[line] <= segment[1, 0])).any()
    line = next(i for i, name in enumerate(names(upper)) if full_name(name) in child)
    table = np.log(model.probability_table(full_name(names(upper)[line])))
    wanted = table.loc["republican"] - table.loc["democrat"]
    low = min(segment[0, 0] for segment in ranges[line])
    assert low == pytest.approx(wanted.to_numpy().min())


def test_one_class_against_another_or_the_rest():
    iris = load("iris")
    model = NaiveBayesClassifier().fit(iris.table, iris.y)
    row = iris.table[60:61]
    figure = plots.nomogram(model, row, label="virginica", against="setosa")
    assert figure.axes[0].get_title(loc="left") == "Evidence for virginica against setosa"
    upper, lower = plots.nomogram(model, row).axes
    assert upper.get_title(loc="left") == "Evidence for versicolor against the other classes"
    total = marked(lower, "total")[0][0]
    assert total == pytest.approx(model.evidence(row).log_odds)
    assert "several other classes" in lower.get_xlabel()
    for line, mark in marked(upper, "row").items():
        assert np.abs(marked(upper, "categories")[line] - mark).min() < 1e-6
    assert "virginica" in plots.nomogram(model).axes[0].get_title(loc="left")


def test_labels_do_not_overlap_and_the_row_is_always_labeled():
    model, table = naive(), load("vote").table
    figure = plots.nomogram(model, table[:1])
    figure.draw_without_rendering()
    labels = [t for t in figure.axes[0].texts if t.get_gid() == "category"]
    boxes = [label.get_window_extent() for label in labels]
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[i + 1 :])
    assert sum(label.get_weight() == "bold" for label in labels) == 16


def test_densities_have_a_mark_for_a_row_only():
    iris = load("iris")
    model = NaiveBayesClassifier(distributions={0: "gaussian"}).fit(iris.table, iris.y)
    assert len(names(plots.nomogram(model).axes[0])) == 3
    assert len(names(plots.nomogram(model, iris.table[:1]).axes[0])) == 4
    only = NaiveBayesClassifier(distributions="gaussian").fit(iris.table, iris.y)
    with pytest.raises(ValueError, match="a column with categories, or a row"):
        plots.nomogram(only)


def test_columns_are_limited_and_figures_given():
    figure = new_figure(7, 4)
    assert plots.nomogram(naive(), max_columns=5, figure=figure) is figure
    assert len(names(figure.axes[0])) == 5
    assert figure.axes[0].get_title(loc="right") == "5 of 16 columns"


def test_wrong_arguments_raise():
    model = naive()
    with pytest.raises(ValueError, match="label must be one of the classes"):
        plots.nomogram(model, label="green")
    with pytest.raises(ValueError, match="against must be another class"):
        plots.nomogram(model, label="democrat", against="democrat")
    with pytest.raises(ValueError, match="max_columns must be at least 1, got 0"):
        plots.nomogram(model, max_columns=0)
    with pytest.raises(ValueError, match="one row, got 2"):
        plots.nomogram(model, load("vote").table[:2])
