"""Tests of regression trees drawn as step functions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from sklearn.tree import DecisionTreeRegressor as SklearnTree

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.plots.planes.step_functions import step_functions
from ceiba.plots.style import PALETTE, new_figure
from tests.plots.mixtures.figures import inside


def wave(n=80, seed=0):
    """A noisy sine along one column."""
    random = np.random.default_rng(seed)
    x = random.uniform(0, 6, n)
    return x[:, None], np.sin(x) + 0.2 * random.normal(size=n)


def hill(n=150, seed=0):
    """A noisy surface over two columns."""
    random = np.random.default_rng(seed)
    X = random.random((n, 2)) * (1, 50)
    return X, np.sin(5 * X[:, 0]) + (X[:, 1] / 50) ** 2 + 0.05 * random.normal(size=n)


def stairs(ax):
    return [patch for patch in ax.patches if isinstance(patch, StepPatch)]


@pytest.mark.parametrize("options", [{}, {"max_depth": 3}, {"max_bins": 9}, {"max_leaf_nodes": 2}])
def test_steps_are_what_the_tree_predicts(options):
    x, y = wave()
    model = DecisionTreeRegressor(**options).fit(x, y)
    (drawn,) = stairs(step_functions(model, x, y).axes[0])
    values, edges, _ = drawn.get_data()
    assert sorted(edges[1:-1]) == sorted(model.tree_.threshold[~model.tree_.is_leaf])
    assert (np.diff(edges) > 0).all()
    everywhere = np.concatenate([edges[1:], (edges[1:] + edges[:-1]) / 2, x[:, 0]])
    at = np.searchsorted(edges[1:], everywhere)  # a threshold belongs to the step before it
    np.testing.assert_array_equal(values[at], model.predict(everywhere[:, None]))
    assert edges[0] < x.min()
    assert edges[-1] > x.max()


def test_rows_are_drawn_below_the_steps():
    x, y = wave()
    x[:5] = np.nan
    model = DecisionTreeRegressor(max_depth=2).fit(x, y)
    (points,) = step_functions(model, x, y).axes[0].collections
    np.testing.assert_array_equal(points.get_offsets(), np.column_stack([x, y])[5:])
    (points,) = step_functions(model, x, y, max_points=10).axes[0].collections
    assert len(points.get_offsets()) == 10
    (others,) = step_functions(model, x, y, max_points=10, random_state=1).axes[0].collections
    assert not np.array_equal(points.get_offsets(), others.get_offsets())


def test_trees_are_side_by_side_with_their_errors():
    x, y = wave()
    models = [DecisionTreeRegressor(max_depth=d).fit(x, y) for d in (1, 2, 3, 5)]
    figure = step_functions(models, x, y)
    assert len(figure.axes) == 4
    for ax, model in zip(figure.axes, models, strict=True):
        leaves, depth = model.get_n_leaves(), model.get_depth()
        assert ax.get_title(loc="left") == f"{leaves} leaves, depth {depth}"
        error = np.mean((model.predict(x) - y) ** 2)
        assert ax.get_title(loc="right") == f"MSE {error:.3g}"
        assert len(stairs(ax)[0].get_data()[0]) == leaves
        assert ax.get_ylim() == figure.axes[0].get_ylim()
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "", "x0", "x0"]
    assert [ax.get_ylabel() for ax in figure.axes] == ["y", "", "y", ""]
    assert inside(figure)


@pytest.mark.parametrize("given_axes", [False, True])
def test_trees_are_overlaid_on_one_pair_of_axes(given_axes):
    x, y = wave()
    models = {f"to depth {d}": DecisionTreeRegressor(max_depth=d).fit(x, y) for d in (1, 3)}
    outer = Figure()
    left, right = outer.subplots(1, 2)
    figure = step_functions(models, x, y, **({"ax": right} if given_axes else {"overlay": True}))
    ax = right if given_axes else figure.axes[0]
    assert (figure is outer) == given_axes
    assert not left.patches
    assert [patch.get_edgecolor() for patch in stairs(ax)] == [
        patch.get_edgecolor() for patch in Figure().subplots().bar([0, 1], 1, edgecolor=PALETTE[:2])
    ]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    errors = [np.mean((model.predict(x) - y) ** 2) for model in models.values()]
    assert labels == [
        f"{name}  (MSE {error:.3g})" for name, error in zip(models, errors, strict=True)
    ]


def test_any_container_of_one_column_is_drawn():
    x, y = wave()
    frame = pd.DataFrame({"time": x[:, 0]})
    model = DecisionTreeRegressor(max_depth=3).fit(frame, y)
    for given in (frame, frame["time"], x[:, 0], x, x[:, 0].tolist(), x.tolist()):
        figure = step_functions(model, given, y)
        (points,) = figure.axes[0].collections
        np.testing.assert_array_equal(points.get_offsets(), np.column_stack([x, y]))
        assert figure.axes[0].get_xlabel() == "time"


def test_steps_of_integers():
    x = np.arange(12)
    y = np.array([3.0, 1.0, 4.0])[x // 4]
    model = DecisionTreeRegressor().fit(x[:, None], y)
    values, edges, _ = stairs(step_functions(model, x, y).axes[0])[0].get_data()
    assert values.tolist() == [3.0, 1.0, 4.0]
    assert (3 <= edges[1] < 4) & (7 <= edges[2] < 8)


def test_tree_without_split_is_a_horizontal_line():
    x, y = wave()
    ax = step_functions(DecisionTreeRegressor().fit(x, np.full(len(x), 2.5)), x, y).axes[0]
    assert stairs(ax)[0].get_data()[0].tolist() == [2.5]
    assert ax.get_title(loc="left") == "1 leaf, depth 0"


def test_given_figure_is_used():
    x, y = wave()
    model = DecisionTreeRegressor(max_depth=1).fit(x, y)
    left, right = new_figure(8, 3).subfigures(1, 2)
    assert step_functions([model, model], x, y, figure=right) is right
    assert len(right.axes) == 2
    assert not left.axes
    with pytest.raises(ValueError, match="ax and figure must not be given together"):
        step_functions(model, x, y, figure=right, ax=right.axes[0])


def test_other_models_raise():
    x, y = wave()
    X, z = hill()
    with pytest.raises(TypeError, match="must be fitted regression trees of Ceiba, got Decision"):
        step_functions(DecisionTreeClassifier().fit(x, y > 0), x, y)
    with pytest.raises(TypeError, match="regression trees of Ceiba"):
        step_functions(SklearnTree().fit(x, y), x, y)
    with pytest.raises(ValueError, match=r"columns with plots\.partition"):
        step_functions(DecisionTreeRegressor().fit(X, z), X, z)
    model = DecisionTreeRegressor(max_depth=2).fit(x, y)
    with pytest.raises(ValueError, match="at least one tree"):
        step_functions([], x, y)
    with pytest.raises(ValueError, match="at most 7 trees, got 8"):
        step_functions([model] * 8, x, y, overlay=True)
    with pytest.raises(ValueError, match="a row without missing values"):
        step_functions(model, np.full((3, 1), np.nan), y[:3])
