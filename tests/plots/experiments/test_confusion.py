"""Tests of the confusion matrix."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from ceiba import plots
from ceiba.experiments import compare
from ceiba.plots.style import new_axes
from tests.plots.experiments.figures import (
    LabelLearner,
    comparison,
    dataset,
    regression,
)


def counted(results, name, learner):
    folds = [fold.predictions for fold in results.of(name, learner)]
    truth = np.concatenate([fold.y_true for fold in folds])
    return confusion_matrix(truth, np.concatenate([fold.y_pred for fold in folds]))


def test_cells_have_counts_and_shares_of_their_row():
    results = comparison(2, 2, n_classes=4)
    learner = results.learners[1].name
    counts = counted(results, "table 1", learner)
    (ax,) = plots.confusion(results, learner, "table 1").axes
    shares = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ax.images[0].get_array(), shares)
    texts = [text.get_text() for text in ax.texts]
    wanted = [
        f"{count}\n{share:.0%}" if count else "0"
        for count, share in zip(counts.ravel(), shares.ravel(), strict=True)
    ]
    assert texts == wanted
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b", "c", "d"]
    assert ax.get_title(loc="left") == learner
    assert ax.get_xlabel() == f"predicted class\ntable 1\n{counts.trace()} of 90 correct"


def many_classes(n_classes, n_rows):
    X, _ = dataset(0, n_rows)
    X[:, 0] = np.arange(n_rows) % n_classes
    y = np.array([f"class {code:02}" for code in range(n_classes)])[X[:, 0].astype(int)]
    return compare({"labels": LabelLearner(0.8)}, {"many": (X, y)}, protocol="2-fold", n_jobs=1)


def test_many_classes_have_counts_alone():
    (ax,) = plots.confusion(many_classes(15, 120), "labels").axes
    assert {"8", ""} <= {text.get_text() for text in ax.texts} <= {"", *map(str, range(9))}
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {45.0}


def test_very_many_classes_have_colors_alone():
    (ax,) = plots.confusion(many_classes(41, 82), "labels").axes
    assert not ax.texts
    assert ax.images[0].get_array().shape == (41, 41)


def test_a_given_axes_is_drawn_on():
    ax = new_axes(3, 3)
    assert plots.confusion(comparison(1), "tree", ax=ax) is ax.figure
    assert ax.images


def test_wrong_names_and_failures_raise():
    results = comparison(1, 2, broken=LabelLearner(0.9, fails_on=1))
    with pytest.raises(ValueError, match="learner must be one of tree, broken, got 'oak'"):
        plots.confusion(results, "oak", "table 0")
    with pytest.raises(ValueError, match="dataset must be one of table 0, table 1, got None"):
        plots.confusion(results, "tree")
    with pytest.raises(ValueError, match="which failed on table 1: ValueError: no such rows"):
        plots.confusion(results, "broken", "table 1")
    with pytest.raises(ValueError, match="must be one of classifiers, got regressors"):
        plots.confusion(regression(), "mean")
