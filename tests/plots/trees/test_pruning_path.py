"""Tests of the cost-complexity path and of tables that compare trees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import StepPatch
from sklearn.tree import DecisionTreeRegressor as SklearnTree

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.inference import wilson
from ceiba.plots.style import new_figure
from ceiba.plots.trees.comparison import presets, pruning_table
from ceiba.plots.trees.pruning_path import pruning_path
from ceiba.tree.compare.presets import compare_presets
from ceiba.tree.compare.pruning import PruningRow, PruningTable
from ceiba.tree.prune.cross_validation import AlphaChoice, geometric_means
from ceiba.tree.prune.path import CostComplexityPath, cost_complexity_path
from tests.plots.mixtures.figures import inside


def hill(n=150, seed=0):
    """A noisy surface over two columns."""
    random = np.random.default_rng(seed)
    X = random.random((n, 2)) * (1, 50)
    return X, np.sin(5 * X[:, 0]) + (X[:, 1] / 50) ** 2 + 0.05 * random.normal(size=n)


def stairs(ax):
    return [patch for patch in ax.patches if isinstance(patch, StepPatch)]


def path_of(risk="error", alphas=(0.0, 0.002, 0.01, 0.05, 0.3), leaves=(40, 21, 9, 3, 1)):
    """Return a path with made-up numbers."""
    steps = len(alphas)
    risks = np.linspace(0.02, 0.5, steps)
    of_root = np.array([steps]), risk, np.array([steps]), np.array([-1]), np.zeros(1)
    return CostComplexityPath(np.array(alphas), np.array(leaves), risks, *of_root)


def choice_by(rule, path, errors=(0.30, 0.24, 0.20, 0.22, 0.45)):
    return AlphaChoice(path.alphas, np.array(errors), np.full(len(errors), 0.03), rule, 7)


def rings(ax):
    """Return the positions of the marked trees by label."""
    return {
        line.get_label().split(":")[0]: tuple(line.get_xydata()[0])
        for line in ax.lines
        if line.get_markerfacecolor() == "none"
    }


@pytest.mark.parametrize("risk", ["error", "impurity"])
def test_steps_extend_from_their_alpha_to_the_next(risk):
    path = path_of(risk)
    figure = pruning_path(path)
    leaves, risks = figure.axes
    for ax, values in ((leaves, path.n_leaves), (risks, path.risks)):
        drawn, ends, _ = stairs(ax)[0].get_data()
        np.testing.assert_array_equal(drawn, values)
        np.testing.assert_array_equal(ends[1:-1], path.alphas[1:])
        assert 0 < ends[0] < path.alphas[1]  # the left end is 0
        assert ends[-1] > path.alphas[-1]
        assert ax.get_xscale() == "log"
    assert risks.get_ylabel() == f"training {risk}"
    assert leaves.get_yscale() == "log"
    assert set(leaves.get_yticks()) <= set(path.n_leaves)
    assert not figure.legends


@pytest.mark.parametrize(("risk", "panels"), [("error", 2), ("impurity", 3)])
def test_cross_validated_errors_are_at_the_middle_of_their_steps(risk, panels):
    path = path_of(risk)
    choice = choice_by("one_se", path)
    figure = pruning_path(path, choice)
    assert len(figure.axes) == panels
    (bars,) = figure.axes[-1].containers
    x, errors = bars.lines[0].get_data()
    np.testing.assert_array_equal(errors, choice.errors)
    np.testing.assert_allclose(x[1:-1], geometric_means(path.alphas)[1:-1])
    reach = np.array([segment[:, 1] for segment in bars.lines[2][0].get_segments()])
    np.testing.assert_allclose(reach, np.column_stack([errors - 0.03, errors + 0.03]))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "cross-validated, 7 folds" in labels
    assert inside(figure)


def test_errors_of_many_steps_are_a_band():
    alphas, leaves = np.append(0.0, np.geomspace(1e-4, 1, 99)), np.arange(100, 0, -1)
    path = path_of(alphas=alphas, leaves=leaves)
    choice = choice_by("min", path, np.linspace(0.4, 0.2, 100))
    ax = pruning_path(path, choice).axes[-1]
    assert not ax.containers
    (band,) = ax.collections
    (line,) = (line for line in ax.lines if line.get_label().startswith("cross-validated"))
    np.testing.assert_array_equal(line.get_ydata(), choice.errors)
    heights = band.get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose([heights.min(), heights.max()], [0.2 - 0.03, 0.4 + 0.03])


@pytest.mark.parametrize("rule", ["min", "one_se"])
def test_cross_validated_tree_shows_its_choice(rule):
    X, y = hill()
    model = DecisionTreeClassifier(
        pruning="cost_complexity", prune_risk="error", prune_rule=rule, prune_folds=4
    ).fit(X, y > 0.4)
    figure = pruning_path(model)
    path = cost_complexity_path(model.grown_tree_, "error")
    np.testing.assert_array_equal(stairs(figure.axes[0])[0].get_data()[0], path.n_leaves)
    details = model.pruning_.details
    drawn = figure.axes[-1].containers[0].lines[0].get_ydata()
    np.testing.assert_array_equal(drawn, details["errors"][-len(drawn) :])
    bold = [t.get_text() for t in figure.legends[0].get_texts() if t.get_weight() == "bold"]
    n = model.get_n_leaves()
    assert [text.split(": ")[1] for text in bold] == [f"{n} {'leaf' if n == 1 else 'leaves'}"]


def test_step_of_a_pruned_tree_is_marked():
    X, y = hill()
    model = DecisionTreeRegressor().fit(X, y)
    plain = pruning_path(model)
    assert not plain.legends
    pruned = model.pruned("step", step=20)
    figure = pruning_path(pruned)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[-1] == f"this tree: {pruned.get_n_leaves()} leaves"
    path = cost_complexity_path(model.tree_)
    ((_, value),) = rings(figure.axes[-1]).values()
    assert value == path.risks[20]
    assert figure.axes[-1].get_ylabel() == "training squared error"
    medians = DecisionTreeRegressor(criterion="absolute_error").fit(X, y)
    assert pruning_path(medians).axes[-1].get_ylabel() == "training impurity"


def test_regression_errors_share_one_panel():
    X, y = hill()
    model = DecisionTreeRegressor(pruning="cost_complexity", prune_folds=3).fit(X, y)
    figure = pruning_path(model)
    assert [ax.get_ylabel() for ax in figure.axes] == ["leaves", "squared error"]


@pytest.mark.parametrize("rule", ["min", "one_se"])
def test_both_rules_are_marked_and_the_chosen_one_is_bold(rule):
    path = path_of()
    choice = choice_by(rule, path)
    figure = pruning_path(path, choice)
    ax = figure.axes[-1]
    x = ax.containers[0].lines[0].get_xdata()
    steps = {
        "minimum error": choice.with_rule("min").step,
        "one standard error": choice.with_rule("one_se").step,
    }
    assert steps == {"minimum error": 2, "one standard error": 3}
    assert rings(ax) == {name: (x[at], choice.errors[at]) for name, at in steps.items()}
    for panel in figure.axes:
        vertical = {line.get_xdata()[0] for line in panel.lines if len(set(line.get_xdata())) == 1}
        assert {x[2], x[3]} <= vertical
    limit = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    assert limit == [0.20 + 0.03]
    bold = [t.get_text() for t in figure.legends[0].get_texts() if t.get_weight() == "bold"]
    chosen = {"min": "minimum error: 9 leaves", "one_se": "one standard error: 3 leaves"}
    assert bold == [chosen[rule]]


def test_step_that_cannot_be_chosen_is_omitted():
    path = path_of(alphas=(0.0, 0.0, 0.01, 0.05, 0.3))  # the first step is free
    choice = choice_by("min", path, errors=(0.2, 0.2, 0.3, 0.3, 0.4))
    ax = pruning_path(path, choice).axes[-1]
    assert len(ax.containers[0].lines[0].get_xdata()) == 4
    assert rings(ax)["minimum error"][1] == 0.2


def test_invalid_paths_raise():
    path = path_of()
    with pytest.raises(ValueError, match="choice must have the alphas of the path"):
        pruning_path(path, choice_by("min", path_of(alphas=(0.0, 0.1, 0.2, 0.3, 0.4))))
    with pytest.raises(ValueError, match="path must have a step with alpha > 0"):
        pruning_path(path_of(alphas=(0.0,), leaves=(1,)))
    with pytest.raises(TypeError, match=r"must be a fitted tree or .* got DecisionTreeRegressor"):
        pruning_path(SklearnTree().fit([[0.0], [1.0]], [0.0, 1.0]))


def table_of(measure="error", methods=("unpruned", "reduced error", "cost complexity, one_se")):
    """Return a table of pruning methods with made-up numbers."""
    rows = tuple(
        PruningRow(method, 60 // (k + 1), 9 - k, *(wilson(5 * k + j, 100) for j in (0, 30, 20)))
        for k, method in enumerate(methods)
    )
    return PruningTable(rows, {}, measure, ("Validation: 100 rows given.", "Intervals: 95 %."))


@pytest.mark.parametrize("measure", ["error", "squared error"])
def test_errors_of_methods_have_intervals(measure):
    table = table_of(measure)
    figure = pruning_table(table)
    errors, leaves = figure.axes
    assert [label.get_text() for label in errors.get_yticklabels()] == [
        "unpruned",
        "reduced error",
        "cost complexity\none standard error",
    ]
    kinds = ("training", "validation", "cross_validated")
    for bars, kind in zip(errors.containers, kinds, strict=True):
        intervals = [getattr(row, kind) for row in table]
        x, y = bars.lines[0].get_data()
        np.testing.assert_allclose(x, [interval.estimate for interval in intervals])
        np.testing.assert_allclose(y, range(len(table)), atol=0.3)
        ends = np.array([segment[:, 0] for segment in bars.lines[2][0].get_segments()])
        expected = [(interval.lower, interval.upper) for interval in intervals]
        np.testing.assert_allclose(ends, expected, atol=1e-12)
        assert bars.get_label() == kind.replace("_", "-")
    assert (errors.get_xlabel(), leaves.get_xlabel()) == (measure, "leaves")
    assert errors.get_ylim()[0] > errors.get_ylim()[1]  # as the table reads, from the top
    assert inside(figure)


def test_leaves_of_methods_are_bars():
    table = table_of()
    figure = pruning_table(table)
    ax = figure.axes[1]
    assert [bar.get_width() for bar in ax.patches] == [row.n_leaves for row in table]
    assert [text.get_text() for text in ax.texts] == [
        f"{row.n_leaves}  (depth {row.depth})" for row in table
    ]
    assert figure.get_supxlabel() == "\n".join(table.notes)


@pytest.mark.parametrize(("draw", "given"), [(pruning_path, path_of), (pruning_table, table_of)])
def test_given_figure_is_used(draw, given):
    left, right = new_figure(14, 6).subfigures(1, 2)
    assert draw(given(), figure=right) is right
    assert len(right.axes) == 2
    assert not left.axes


def test_presets_have_a_bar_in_every_panel():
    vote = datasets.load("vote")
    table = compare_presets(vote.table, vote.y)
    figure = presets(table)
    n = len(table.rows)
    for ax, entry in zip(figure.axes, ("n_leaves", "depth", "error"), strict=True):
        values = [getattr(row, entry) for row in table]
        assert [bar.get_width() for bar in ax.patches[:n]] == values
        shown = [float(text.get_text().split(" of ")[0]) for text in ax.texts[:n]]
        np.testing.assert_allclose(shown, values, atol=5e-4)
        assert ax.get_xlim()[1] > max(bar.get_width() for bar in ax.patches)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["Hunt\n", "ID3\n", "C4.5\n", "CART\n"]
    roots = [text.get_text() for text in figure.axes[0].texts[n:]]
    assert roots == [f"first split: {row.root}" for row in table]
    assert inside(figure)


def test_presets_shorten_a_long_condition_before_its_end():
    X = pd.DataFrame({"n" * 90: ["a", "a", "b", "b"]})
    figure = presets(compare_presets(X, [0, 0, 1, 1], presets=("cart",)))
    assert figure.axes[0].texts[-1].get_text() == f"first split: {18 * 'n'}…{14 * 'n'} = a"
    assert inside(figure)
    assert figure.axes[0].get_position().width > 0.15


def test_leaves_before_pruning_are_hollow_bars():
    vote = datasets.load("vote")
    table = compare_presets(vote.table, vote.y, presets=("c45", "cart"))
    row = table["c45"]
    assert row.grown_leaves > row.n_leaves
    leaves, depth, _ = presets(table).axes
    pruned, whole = leaves.patches[2:]
    assert pruned.get_width() == row.grown_leaves
    assert (pruned.get_visible(), whole.get_visible()) == (True, False)
    assert leaves.texts[0].get_text() == f"{row.n_leaves} of {row.grown_leaves}"
    assert not any(bar.get_visible() for bar in depth.patches[2:])


def test_presets_without_a_split_and_without_an_error():
    table = compare_presets([[1.0], [1.0]], ["a", "a"], presets=("cart",))
    assert presets(table).axes[2].get_xlim() == (0, 1)
    left, right = new_figure(14, 3).subfigures(1, 2)
    assert presets(table, figure=right) is right
    assert not left.axes
