"""Tests of the picture of an explanation: contributions, and what stands beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ceiba import (
    DecisionTreeClassifier,
    GaussianMixture,
    GradientBoostingRegressor,
    KMeans,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NaiveBayesClassifier,
    datasets,
    plots,
)
from ceiba.plots.style import new_figure
from tests.plots.mixtures.figures import inside


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def bars(ax):
    """Return start and end of each bar."""
    return np.array([(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches])


def heart_model(learner):
    table, y = datasets.load("cleveland")
    return learner.fit(table, y), table[3:4]


def test_bars_lead_from_the_base_to_the_score():
    model, row = heart_model(NaiveBayesClassifier())
    found = model.explain(row)
    figure = plots.explanation(found)
    ax, probability = figure.axes
    k = found.outputs.index(found.prediction)
    steps = bars(ax)
    order = np.argsort(-np.abs(found.contributions[:, k]), kind="stable")[: len(steps)]
    np.testing.assert_allclose(np.diff(steps)[:, 0], found.contributions[order, k])
    np.testing.assert_allclose(steps[0, 0], found.base[k])
    np.testing.assert_allclose(steps[1:, 0], steps[:-1, 1])
    np.testing.assert_allclose(steps[-1, 1], found.scores[k])
    names = [f"{found.columns[j]} = " for j in order]
    assert all(text.startswith(name) for text, name in zip(labels(ax)[1:-1], names, strict=True))
    assert ax.get_xlabel() == f"log-odds of {found.prediction!r}"
    np.testing.assert_allclose(np.sort(bars(probability)[:, 1]), np.sort(found.probabilities))
    assert inside(figure)


def test_other_outputs():
    model, row = heart_model(NaiveBayesClassifier())
    found = model.explain(row)
    (other,) = set(found.outputs) - {found.prediction}
    ax = plots.explanation(found, output=other).axes[0]
    assert ax.get_xlabel() == f"log-odds of {other!r}"
    assert bars(ax)[-1, 1] == pytest.approx(found.scores[found.outputs.index(other)])


@pytest.mark.parametrize("n_columns", [3, 60])
def test_columns_beyond_the_limit_are_summed(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, n_columns))
    model = GradientBoostingRegressor(40).fit(X, X @ rng.normal(size=n_columns))
    found = model.explain(X[:1])
    figure = plots.explanation(found)
    (ax,) = figure.axes
    assert inside(figure)
    assert bars(ax)[-1, 1] == pytest.approx(found.scores[0])
    used = int((found.contributions != 0).sum())
    assert labels(ax)[0] == "base value"
    if n_columns == 3:
        assert len(ax.patches) == used == 3
    else:
        assert labels(ax)[-2] == f"{used - 12} other columns"
        assert len(ax.patches) == 13
    short = plots.explanation(found, max_columns=1)
    assert len(short.axes[0].patches) == 2
    assert bars(short.axes[0])[-1, 1] == pytest.approx(found.scores[0])


def test_the_path_of_a_tree_is_beside_its_contributions():
    model, row = heart_model(DecisionTreeClassifier(max_depth=4))
    found = model.explain(row)
    figure = plots.explanation(found)
    _, path, probability = figure.axes
    assert [text.get_text() for text in path.texts] == found.path
    assert probability.get_xlabel() == "probability"
    assert inside(figure)


def test_a_long_path_ends_at_the_leaf():
    X = np.arange(60.0)[:, None]
    found = DecisionTreeClassifier().fit(X, np.tile([0, 1], 30)).explain(X[-1:])
    assert len(found.path) > 12
    path = plots.explanation(found).axes[1]
    assert [text.get_text() for text in path.texts] == found.path[-12:]
    assert path.get_title(loc="right") == f"the last 12 of {len(found.path)} conditions"


def test_components_have_responsibilities_and_distances():
    table, _ = datasets.load("iris")
    found = GaussianMixture(3).fit(table).explain(table[60:61])
    figure = plots.explanation(found)
    _, responsibility, distance = figure.axes
    assert [int(label) for label in labels(distance)] == np.argsort(found.distances).tolist()
    np.testing.assert_allclose(bars(distance)[:, 1], np.sort(found.distances))
    assert bars(responsibility)[0, 1] == pytest.approx(found.responsibilities.max())
    assert inside(figure)
    found = KMeans(3).fit(table).explain(table[60:61])
    ax, distance = plots.explanation(found).axes
    assert ax.get_xlabel() == f"squared distance of {found.prediction}"
    assert bars(distance)[0, 1] == pytest.approx(found.distances.min())


@pytest.mark.parametrize("metric", ["gower", "cosine"])
def test_neighbors_are_drawn_with_the_parts_of_their_distances(metric):
    X, y = datasets.load("iris")
    model = KNeighborsClassifier(20, metric=metric).fit(X[1:], y[1:])
    found = model.explain(X[:1])
    figure = plots.explanation(found)
    ax, votes, key = figure.axes
    ends = np.zeros(15)
    for bar in ax.patches:
        ends[round(bar.get_y() + bar.get_height() / 2)] += bar.get_width()
    np.testing.assert_allclose(ends, found.neighbors.distances[:15])
    assert ax.get_title(loc="right") == "15 of 20 neighbors"
    assert votes.get_xlabel() == "votes"
    names = found.columns if metric == "gower" else ["all columns"]
    assert [text.get_text() for text in key.texts] == names
    assert inside(figure)


def test_columns_of_neighbors_beyond_the_limit_are_summed():
    X, y = datasets.load("iris")
    found = KNeighborsClassifier(20, metric="gower").fit(X[1:], y[1:]).explain(X[:1])
    *_, key = plots.explanation(found, max_columns=1).axes
    assert [text.get_text() for text in key.texts][1:] == ["3 other columns"]


def test_regressions_by_neighbors_without_votes():
    table, y = datasets.load("auto_mpg")
    found = KNeighborsRegressor(4).fit(table, y).explain(table[:1])
    figure = plots.explanation(found)
    ax, key = figure.axes
    assert len(labels(ax)) == 4
    assert key.get_title(loc="left") == "Parts of the distances"
    assert inside(figure)


def test_given_figures_and_errors():
    model, row = heart_model(NaiveBayesClassifier())
    found = model.explain(row)
    figure = new_figure(9, 5)
    assert plots.explanation(found, figure=figure) is figure
    with pytest.raises(TypeError, match=r"got NaiveBayesClassifier: pass model.explain\(row\)"):
        plots.explanation(model)
    with pytest.raises(TypeError, match="must be an Explanation, got int"):
        plots.explanation(3)
    with pytest.raises(ValueError, match=r"output must be one of \[0, 1\], got 'yes'"):
        plots.explanation(found, output="yes")
    rows = np.arange(60.0)[:, None]
    number = GradientBoostingRegressor(2).fit(rows, rows[:, 0]).explain(rows[:1])
    with pytest.raises(ValueError, match="output must be None for a single score, got 1"):
        plots.explanation(number, output=1)
    endless = replace(number, scores=np.array([np.inf]))
    with pytest.raises(ValueError, match="output must have a finite score, got inf for raw score"):
        plots.explanation(endless)
    with pytest.raises(ValueError, match="max_columns must be at least 1, got 0"):
        plots.explanation(found, max_columns=0)
    neighbors = KNeighborsClassifier(2).fit([[0.0], [1.0]], ["a", "b"]).explain([[0.2]])
    with pytest.raises(ValueError, match="output has no effect"):
        plots.explanation(neighbors, output="a")
    X, weight = np.array([[0.0], [1.0], [2.0]]), [1.0, 1.0, 0.0]
    model = NaiveBayesClassifier(distributions="gaussian").fit(X, ["a", "a", "c"], weight)
    with pytest.raises(ValueError, match=r"output must have a finite score, got -inf for .* 'c'"):
        plots.explanation(model.explain(X[:1]), output="c")


LONG = [f"average_monthly_balance_of_the_customer_{k}_years_ago" for k in ("one", "two", "six")]


def boosted_explanation(offset=0.0, scale=1.0):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(100, 3)), columns=LONG)
    y = offset + scale * (rows.to_numpy() @ [1.0, 0.5, 0.2])
    return GradientBoostingRegressor(10, min_samples_leaf=5).fit(rows, y).explain(rows[:1])


def test_long_names_remain_different_and_keep_their_values():
    found = boosted_explanation()
    own = labels(plots.explanation(found).axes[0])[1:-1]
    assert len(own) == len(set(own)) == 3
    order = np.argsort(-np.abs(found.contributions[:, 0]), kind="stable")
    for text, j in zip(own, order, strict=True):
        assert text.endswith(f" = {found.values[j]:.4g}")
        assert len(text) <= 34
    names = [text.partition(" = ")[0] for text in own]
    assert len(set(names)) == 3


@pytest.mark.parametrize(("offset", "scale"), [(1.2e6, 2e5), (1e12, 1e9), (0.0, 1e-8)])
def test_numbers_have_the_digits_of_their_differences(offset, scale):
    """Base value, contributions and score add up as printed, to a hundredth of the largest."""
    found = boosted_explanation(offset, scale)
    lines = str(found).split("contributions to the raw score:\n")[1].splitlines()
    base, *changes, score = (float(line.split()[-1]) for line in lines)
    largest = np.abs(found.contributions).max()
    assert base + sum(changes) == pytest.approx(score, abs=0.01 * largest)
    assert sum(changes) == pytest.approx(float(found.contributions.sum()), abs=0.01 * largest)
    texts = [text.get_text().replace("−", "-") for text in plots.explanation(found).axes[0].texts]
    assert float(texts[0]) == pytest.approx(found.base[0], abs=0.01 * largest)
    assert float(texts[-1]) == pytest.approx(found.scores[0], abs=0.01 * largest)
    heading = float(str(found).splitlines()[0].removeprefix("prediction: "))
    assert heading == pytest.approx(found.prediction, abs=0.01 * largest)


def test_whole_numbers_have_no_exponent():
    assert "e+" not in str(boosted_explanation(1.2e6, 2e5))
