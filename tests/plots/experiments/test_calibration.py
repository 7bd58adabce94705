"""Tests of reliability curves, of fitted models and of comparisons."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import log_loss

from ceiba import NaiveBayesClassifier, datasets, plots
from ceiba.experiments import SCORES, Predictions
from tests.plots.experiments.figures import LabelLearner, comparison, regression

VOTE = datasets.load("vote")


def fitted(training="ml"):
    model = NaiveBayesClassifier(training=training, missing="category")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(VOTE.table, VOTE.y)


def points(ax):
    return [np.asarray(c.get_offsets()) for c in ax.collections if len(c.get_offsets()) > 1]


def test_calibration_agrees_with_scikit_learn():
    X, y = VOTE.table, np.asarray(VOTE.y)
    models = {"generative": fitted(), "discriminative": fitted("tm")}
    figure = plots.calibration(models, X, y)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    for found, text, (name, model) in zip(
        points(figure.axes[0]), legend, models.items(), strict=True
    ):
        probability = model.predict_proba(X)
        frequency, mean = calibration_curve(y == "republican", probability[:, 1], n_bins=10)
        np.testing.assert_allclose(found, np.column_stack([mean, frequency]))
        rows = Predictions(y, model.predict(X), probability, model.classes_)
        error = SCORES["calibration_error"](rows).value
        wanted = f"log-loss {log_loss(y, probability):.3f}, calibration error {error:.3f}"
        assert text == f"{name}: {wanted}"
    assert figure.axes[0].get_title(loc="right") == "435 predictions"


def test_calibration_of_several_classes():
    iris = datasets.load("iris")
    model = NaiveBayesClassifier().fit(iris.table, iris.y)
    figure = plots.calibration(model, iris.table, iris.y)
    assert figure.axes[0].get_title(loc="right") == "450 predictions"
    figure = plots.calibration(model, iris.table, iris.y, label="setosa", n_bins=4)
    assert figure.axes[0].get_xlabel() == "predicted probability of setosa"
    assert len(figure.axes[1].patches[0].get_data().values) == 4
    with pytest.raises(ValueError, match="label must be one of the classes"):
        plots.calibration(model, iris.table, iris.y, label="rose")
    with pytest.raises(ValueError, match="n_bins must be at least 2, got 1"):
        plots.calibration(model, iris.table, iris.y, n_bins=1)


def test_calibration_of_a_comparison_has_the_pooled_rows():
    results = comparison(2, 2, labels=LabelLearner(), broken=LabelLearner(0.9, fails_on=1))
    figure = plots.calibration(results, dataset="table 1", n_bins=5)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[2:] == ["labels: no probabilities", "broken: failed"]
    assert figure.axes[0].get_title(loc="left") == "Calibration, table 1"
    assert figure.axes[0].get_title(loc="right") == "90 predictions"
    for found, text, learner in zip(
        points(figure.axes[0]), legend[:2], results.learners[:2], strict=True
    ):
        folds = [fold.predictions for fold in results.of("table 1", learner.name)]
        truth = np.concatenate([fold.y_true for fold in folds])
        probability = np.vstack([fold.probabilities for fold in folds])
        frequency, mean = calibration_curve(truth == "yes", probability[:, 1], n_bins=5)
        np.testing.assert_allclose(found, np.column_stack([mean, frequency]))
        assert text.startswith(f"{learner.name}: log-loss {log_loss(truth, probability):.3f}")


def test_many_models_have_no_intervals():
    def n_bars(n_learners):
        ax = plots.calibration(comparison(n_learners)).axes[0]
        return len(ax.containers)

    assert n_bars(4) == 4
    assert n_bars(5) == 0


def test_arguments_that_have_no_effect_raise():
    results = comparison(1, 2)
    model = fitted()
    with pytest.raises(ValueError, match="X and y have no effect with a comparison"):
        plots.calibration(results, VOTE.table, VOTE.y, dataset="table 0")
    with pytest.raises(ValueError, match="dataset must be one of table 0, table 1, got None"):
        plots.calibration(results)
    with pytest.raises(ValueError, match="dataset has no effect without a comparison, got 'iris'"):
        plots.calibration(model, VOTE.table, VOTE.y, dataset="iris")
    with pytest.raises(ValueError, match="X and y are required"):
        plots.calibration(model)
    with pytest.raises(ValueError, match="must be one of classifiers, got regressors"):
        plots.calibration(regression())
    with pytest.raises(TypeError, match="a Comparison, or a fitted classifier"):
        plots.calibration([model], VOTE.table, VOTE.y)
