"""Losses, importances and rounds of gradient boosting: what is drawn is what the model has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ceiba import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    datasets,
    plots,
)

CARS, MPG = datasets.load("auto_mpg")
SMALL = {"n_estimators": 8, "max_leaf_nodes": 4, "trace": True}


@pytest.fixture(scope="module")
def validated():
    """Return a model with losses of training and validation rows."""
    model = GradientBoostingRegressor(**SMALL)
    return model.fit(CARS[:300], MPG[:300], X_val=CARS[300:], y_val=MPG[300:])


def lines_of(ax):
    return {line.get_gid(): line for line in ax.get_lines()}


def test_loss_curve_has_the_losses(validated):
    lines = lines_of(plots.loss_curve(validated).axes[0])
    assert set(lines) == {"training", "validation"}
    for name, line in lines.items():
        np.testing.assert_array_equal(line.get_ydata(), validated.losses_[name])
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 9))


def test_loss_curve_marks_the_best_round():
    model = GradientBoostingRegressor(
        200, early_stopping=True, n_iter_no_change=3, learning_rate=0.3
    ).fit(CARS, MPG)
    lines = lines_of(plots.loss_curve(model).axes[0])
    assert set(lines) == {"validation", "best"}
    best = int(np.argmin(model.losses_["validation"])) + 1
    assert lines["best"].get_xdata()[0] == best == model.n_estimators_
    assert len(lines["validation"].get_ydata()) == best + 3


def test_loss_curve_of_a_warm_start_has_all_rounds():
    model = GradientBoostingRegressor(3, warm_start=True, trace=True).fit(CARS, MPG)
    model.set_params(n_estimators=7).fit(CARS, MPG)
    line = lines_of(plots.loss_curve(model).axes[0])["training"]
    assert line.get_xdata().tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert np.isfinite(line.get_ydata()).all()


def test_split_importance_has_both_importances(validated):
    ax = plots.split_importance(validated, max_columns=3).axes[0]
    order = np.argsort(-validated.feature_importances_)[:3]
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        validated.schema_.names[j] for j in order
    ]
    for bars, kind in zip(ax.containers, ("gain", "split"), strict=True):
        widths = [bar.get_width() for bar in bars]
        np.testing.assert_array_equal(widths, validated.importances(kind)[order])


def test_the_player_draws_gradients_trees_losses_and_gains(validated):
    player = plots.play(validated, CARS[:300], columns=["weight"])
    assert len(player) == 8
    left, losses, gains = player.draw(5).axes
    lines = lines_of(left)
    order = validated.schema_.names.index("weight")
    np.testing.assert_array_equal(
        lines["gradient"].get_xdata(), np.asarray(CARS[:300].column(order), float)
    )
    np.testing.assert_array_equal(
        lines["gradient"].get_ydata(), -validated.trace_[5]["gradient"][0]
    )
    stages = list(validated.staged_predict(CARS[:300]))
    np.testing.assert_allclose(lines["tree"].get_ydata(), (stages[5] - stages[4]) / 0.1, atol=1e-9)
    assert losses.get_lines()[1].get_ydata().tolist() == validated.losses_["training"][:6].tolist()
    total = validated.trace_[5]["gain"]
    assert sum(bar.get_width() for bar in gains.patches) == pytest.approx(total)


def test_the_player_draws_classes_and_dropped_rounds():
    iris = datasets.load("iris")
    model = GradientBoostingClassifier(**SMALL).fit(iris.table, iris.y)
    assert "class setosa" in plots.play(model, iris.table).draw(2).axes[0].get_title(loc="left")
    model = GradientBoostingRegressor(
        100, early_stopping=True, n_iter_no_change=2, learning_rate=0.5, trace=True
    ).fit(CARS[:300], MPG[:300], X_val=CARS[300:], y_val=MPG[300:])
    left = plots.play(model, CARS[:300]).draw(len(model.trace_) - 1).axes[0]
    assert "dropped by early stopping" in left.get_title(loc="left")
    assert set(lines_of(left)) == {"gradient"}


def test_errors_name_the_remedy(validated):
    plain = GradientBoostingRegressor(2).fit(CARS, MPG)
    with pytest.raises(ValueError, match="trace=True, early_stopping=True or X_val"):
        plots.loss_curve(plain)
    with pytest.raises(TypeError, match="a fitted GradientBoostingClassifier"):
        plots.split_importance(AdaBoostClassifier(n_estimators=2).fit(CARS, MPG > 20))
    with pytest.raises(ValueError, match="max_columns must be at least 1"):
        plots.split_importance(validated, max_columns=0)
    with pytest.raises(ValueError, match="X must be the 300 rows"):
        plots.play(validated, CARS)
    with pytest.raises(ValueError, match="exactly one numeric column"):
        plots.play(validated, CARS[:300], columns=["weight", "origin"])
    with pytest.raises(ValueError, match="play the fitted model"):
        plots.play(validated.trace_, CARS[:300])
    nominal = datasets.load("vote")
    model = GradientBoostingClassifier(**SMALL).fit(nominal.table, nominal.y)
    with pytest.raises(ValueError, match="got only nominal ones"):
        plots.play(model, nominal.table)


def test_the_legend_is_beside_the_line_of_the_best_round():
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = GradientBoostingRegressor(30, early_stopping=True, trace=True).fit(X, 2 * X[:, 0])
    assert model.n_estimators_ > 25  # the line is at the right end
    figure = plots.loss_curve(model)
    figure.canvas.draw()
    ax = figure.axes[0]
    box = ax.get_legend().get_window_extent()
    line = ax.transData.transform((model.n_estimators_, 0.0))[0]
    assert not box.x0 < line < box.x1


def test_one_numeric_column_is_drawn():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = GradientBoostingRegressor(2, trace=True).fit(X, X[:, 0])
    for columns in ([0, 1], [7]):
        with pytest.raises(ValueError, match="a list of exactly one numeric column"):
            plots.play(model, X, columns=columns)


def test_long_names_remain_different():
    X = np.random.default_rng(0).normal(size=(60, 3))
    names = [f"balance_of_the_customer_in_year_{k}_before_the_loan_was_given" for k in "abc"]
    rows = pd.DataFrame(X, columns=names)
    model = GradientBoostingRegressor(2, trace=True).fit(rows, X[:, 0])
    gains = plots.play(model, rows).draw(0).axes[2]
    for ax in (plots.split_importance(model).axes[0], gains):
        assert len({label.get_text() for label in ax.get_yticklabels()}) == 3
