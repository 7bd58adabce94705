"""Tests of the cumulative distribution of margins."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier as SklearnForest
from sklearn.svm import LinearSVC

from ceiba import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    RandomForestClassifier,
    plots,
)
from ceiba.ensemble.common.votes import class_margin
from tests.plots.mixtures.figures import inside


def rows(n=120, classes=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.random((n, 3))
    bent = X[:, 0] + X[:, 1] ** 2 + 0.2 * random.normal(size=n)
    return X, np.digitize(bent, np.linspace(0.2, 1.4, classes + 1)[1:-1])


def naive_margins(scores, y, classes):
    """Compute row by row the score of its class minus the largest of the others."""
    found = []
    for fraction, label in zip(scores, y, strict=True):
        own = fraction[list(classes).index(label)]
        found.append(own - max(s for s, c in zip(fraction, classes, strict=True) if c != label))
    return found


def curves(ax):
    """Return the line of each curve by its label up to the colon."""
    lines = [line for line in ax.lines if ":" in str(line.get_label())]
    return {line.get_label().split(":")[0]: line for line in lines}


def check_curve(line, margins):
    """Assert that the line has the fraction of rows at each margin, and just below."""
    x, fraction = line.get_xdata(), line.get_ydata()
    margins = np.asarray(margins)
    for value in margins:
        for at in (value, value - 1e-9):
            height = fraction[np.searchsorted(x, at, side="right") - 1]
            assert height == pytest.approx(np.mean(margins <= at))
    label = f"{np.mean(margins <= 0):.1%} at 0 or below"
    assert line.get_label().split(": ")[1] == label
    assert line.get_drawstyle() == "steps-post"


@pytest.mark.parametrize(
    "model",
    [
        BaggingClassifier(n_estimators=7),
        BaggingClassifier(n_estimators=7, voting="majority"),
        RandomForestClassifier(9, max_depth=3),
        SklearnForest(9, max_depth=3, random_state=0),
        DecisionTreeClassifier(max_depth=2),
    ],
    ids=["bag", "votes", "forest", "scikit-learn forest", "tree"],
)
def test_margins_of_probabilities(model):
    X, y = rows()
    names = np.array(["low", "middle", "top"])[y]
    model.fit(X, names)
    picture = plots.margins(model, X, names)
    (line,) = curves(picture.axes[0]).values()
    check_curve(line, naive_margins(model.predict_proba(X), names, model.classes_))
    assert picture.axes[0].get_title(loc="left") == "Margins of 120 rows"
    assert inside(picture)


@pytest.mark.parametrize("algorithm", ["samme", "m1", "samme.r"])
def test_margins_of_boosting_after_some_rounds(algorithm):
    X, y = rows()

    def boosted(n_rounds):
        return AdaBoostClassifier(
            n_estimators=n_rounds, algorithm=algorithm, max_depth=2, learning_rate=0.5
        ).fit(X, y)

    model = boosted(12)
    kept = list(model.estimators_)
    found = curves(plots.margins(model, X, y, stages=[12, 1, 5]).axes[0])
    assert list(found) == ["1 round", "5 rounds", "12 rounds"]
    for stage, line in zip((1, 5, 12), found.values(), strict=True):
        check_curve(line, boosted(stage).margins(X, y))
    assert list(model.estimators_) == kept


@pytest.mark.parametrize(("n_rounds", "expected"), [(1, [1]), (40, [2, 8, 40])])
def test_stages_are_chosen_unless_given(n_rounds, expected):
    X, y = rows(classes=2)
    model = AdaBoostClassifier(n_estimators=n_rounds).fit(X, y)
    assert len(model.estimators_) == n_rounds
    found = curves(plots.margins(model, X, y).axes[0])
    assert [int(name.split()[0]) for name in found] == expected


def test_several_models_have_a_curve_each():
    X, y = rows(classes=2)
    models = {
        "bagging": BaggingClassifier(n_estimators=5).fit(X, y),
        "boosting": AdaBoostClassifier(n_estimators=15).fit(X, y),
    }
    ax = plots.margins(models, X, y).axes[0]
    found = curves(ax)
    assert list(found) == list(models)
    check_curve(found["boosting"], models["boosting"].margins(X, y))
    # Distinguishable without colors as well.
    assert [line.is_dashed() for line in found.values()] == [False, True]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [label.split(":")[0] for label in labels] == list(models)


def test_margin_of_a_single_class_is_one():
    assert class_margin(np.ones((3, 1)), np.zeros(3, int)).tolist() == [1, 1, 1]


def test_given_axes_are_used():
    X, y = rows()
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plots.margins(DecisionTreeClassifier().fit(X, y), X, y, ax=right) is figure
    assert right.has_data()
    assert not left.has_data()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stages": []}, "stages must be a sequence of rounds"),
        ({"stages": 4}, "stages must be a sequence of rounds"),
        ({"stages": [5, 0]}, "rounds from 1 to 5, got 0"),
        ({"stages": [6]}, "got 6"),
    ],
)
def test_invalid_stages_raise(options, message):
    X, y = rows(classes=2)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match=message):
        plots.margins(model, X, y, **options)


def test_other_models_raise():
    X, y = rows()
    tree = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="requires a boosted classifier, got DecisionTree"):
        plots.margins(tree, X, y, stages=[1])
    with pytest.raises(ValueError, match="requires a single boosted classifier"):
        plots.margins({"tree": tree}, X, y, stages=[1])
    with pytest.raises(ValueError, match="at least one fitted classifier"):
        plots.margins({}, X, y)
    with pytest.raises(TypeError, match="classifier with predict_proba, got LinearSVC"):
        plots.margins(LinearSVC().fit(X, y), X, y)
    with pytest.raises(ValueError, match="class 7"):
        plots.margins(tree, X, np.full(120, 7))
    with pytest.raises(ValueError, match="120 rows in X, 3 in y"):
        plots.margins(tree, X, y[:3])
