"""Tests of the comparison of a linear model with a tree."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from ceiba import DecisionTreeClassifier, datasets
from ceiba.plots.planes.regions import boundaries
from ceiba.plots.style import new_figure
from tests.plots.mixtures.figures import inside


def test_defaults_compare_a_line_with_a_staircase():
    figure = boundaries(folds=5)
    axes = np.array(figure.axes).reshape(2, 2)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for line, name in zip(axes, ("linear_boundary", "nonlinear_boundary"), strict=True):
        X, y = datasets.load(name)
        assert [text.get_text() for text in line[0].texts] == [name]
        models = LogisticRegression(C=1e6, solver="newton-cholesky"), DecisionTreeClassifier()
        for ax, model in zip(line, models, strict=True):
            held_out = cross_val_score(model, X, y, cv=folds).mean()
            training = model.fit(X, y).score(X, y)
            accuracies = f"training {training:.2f}\ncross-validated {held_out:.2f}"
            assert ax.get_title(loc="right") == accuracies
        assert len(line[1].collections[0].get_paths()) == model.get_n_leaves() > 4
    assert [ax.get_title(loc="left") for ax in axes[0]] == ["logistic regression", "decision tree"]
    linear, tree = (ax.get_title(loc="right").split("\n")[0] for ax in axes[1])
    assert (linear, tree) == ("training 0.97", "training 1.00")
    assert inside(figure)


def test_tables_models_and_folds_apply():
    moons = datasets.load("two_moons", n_rows=60)
    models = {"bayes": GaussianNB()}
    figures = [
        boundaries([moons, "xor"], models=models, folds=3, random_state=seed) for seed in (0, 1)
    ]
    titles = [[ax.get_title(loc="right") for ax in figure.axes] for figure in figures]
    assert len(titles[0]) == 2
    assert titles[0] != titles[1]
    assert not hasattr(models["bayes"], "classes_")  # clones are fitted
    left, right = new_figure(8, 4).subfigures(1, 2)
    assert boundaries(["xor"], models=models, folds=3, figure=right) is right
    assert not left.axes


@pytest.mark.parametrize(
    ("tables", "options", "message"),
    [
        ("xor", {}, "tables must be a sequence"),
        ([], {}, "tables must be a sequence"),
        (["iris"], {}, "two numeric columns"),
        (["xor"], {"models": {}}, "models must contain at least one"),
    ],
)
def test_tables_of_other_width_raise(tables, options, message):
    with pytest.raises(ValueError, match=message):
        boundaries(tables, **options)


def test_regression_tables_raise():
    numbers = datasets.names(task="regression")
    with pytest.raises(ValueError, match="must be for classification"):
        boundaries([numbers[0]])
