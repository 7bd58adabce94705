"""Tests of ROC curves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from ceiba import plots
from ceiba.plots.style import new_axes
from tests.plots.experiments.figures import LabelLearner, by_gid, comparison, regression


def pooled(results, dataset, learner):
    folds = [fold.predictions for fold in results.of(dataset, learner)]
    truth = np.concatenate([fold.y_true for fold in folds])
    return truth, np.vstack([fold.probabilities for fold in folds])


def test_curves_are_those_of_the_pooled_rows():
    results = comparison(3, 2)
    figure = plots.roc(results, "table 1")
    (ax,) = figure.axes
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    lines = by_gid(ax, "roc")
    for line, text, learner in zip(lines, legend, results.learners, strict=True):
        truth, probabilities = pooled(results, "table 1", learner.name)
        false, true, _ = roc_curve(truth == "yes", probabilities[:, 1])
        np.testing.assert_allclose(line.get_xydata(), np.column_stack([false, true]))
        area = roc_auc_score(truth == "yes", probabilities[:, 1])
        assert text == f"{learner.name}: {area:.3f}"
    assert "pooled" in figure.legends[0].get_title().get_text()
    assert ax.get_title(loc="left") == "ROC, table 1"
    assert ax.get_title(loc="right") == "90 predictions"


def test_a_class_against_the_rest():
    results = comparison(1, n_classes=4)
    figure = plots.roc(results, label="c")
    truth, probabilities = pooled(results, "table 0", "tree")
    area = roc_auc_score(truth == "c", probabilities[:, 2])
    assert figure.legends[0].get_texts()[0].get_text() == f"tree: {area:.3f}"
    assert figure.axes[0].get_ylabel() == "true positive rate, c"
    with pytest.raises(ValueError, match="label is required with 4 classes: one of"):
        plots.roc(results)
    with pytest.raises(ValueError, match=r"label must be one of the classes .*, got 'e'"):
        plots.roc(results, label="e")


def test_the_first_of_two_classes_can_be_chosen():
    results = comparison(1)
    first, second = (
        by_gid(plots.roc(results, label=label).axes[0], "roc")[0].get_xydata()
        for label in ("no", "yes")
    )
    # The classes are exchanged, and with them both axes, from the other end.
    grid = np.linspace(0, 1, 7) + 0.01
    found = np.interp(grid, *first.T)
    np.testing.assert_allclose(found, np.interp(grid, *(1 - second[::-1, ::-1]).T), atol=1e-9)
    assert not np.array_equal(first, second)
    assert plots.roc(results).axes[0].get_ylabel() == "true positive rate, yes"


def test_learners_without_probabilities_are_named():
    results = comparison(1, 2, labels=LabelLearner(), broken=LabelLearner(0.9, fails_on=1))
    figure = plots.roc(results, "table 1")
    assert len(by_gid(figure.axes[0], "roc")) == 1
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[1:] == ["labels: no probabilities", "broken: failed"]
    with pytest.raises(ValueError, match=r"with probabilities on table 0, got labels \(no prob"):
        plots.roc(comparison(0, labels=LabelLearner()))


def test_given_axes_have_a_legend_inside():
    ax = new_axes(4, 4)
    assert plots.roc(comparison(2), ax=ax) is ax.figure
    assert len(ax.get_legend().get_texts()) == 2
    assert not ax.figure.legends


def test_unknown_names_raise():
    results = comparison(1, 2)
    with pytest.raises(ValueError, match="dataset must be one of table 0, table 1, got None"):
        plots.roc(results)
    with pytest.raises(ValueError, match="got 'iris'"):
        plots.roc(results, "iris")
    with pytest.raises(ValueError, match="must be one of classifiers, got regressors"):
        plots.roc(regression())
