from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import ceiba
import ceiba.plots
from benchmarks import harness
from benchmarks.tree import data
from benchmarks.workloads.tree import compare_pruning, missing, plot, pruning

TASKS = ("classification", "regression")
LABELS = ("ceiba", "scikit-learn")
SKLEARN = {"classification": DecisionTreeClassifier, "regression": DecisionTreeRegressor}


# Data


def test_correlated_columns_can_replace_each_other():
    sample = data.correlated_table(0, 20_000)
    absent = np.isnan(sample.X)
    assert sample.X.shape == (20_000, 10)
    assert ((absent.mean(axis=0) > 0.045) & (absent.mean(axis=0) < 0.055)).all()
    for first, copy in ((0, 6), (1, 7), (2, 8), (3, 9)):
        both = ~absent[:, first] & ~absent[:, copy]
        assert np.corrcoef(sample.X[both][:, [first, copy]].T)[0, 1] > 0.85
        assert (absent[:, first] & ~absent[:, copy]).sum() > 500, "only the copy is present"
    assert 0.45 < sample.y.mean() < 0.55


def test_test_rows_are_not_training_rows():
    whole = data.normal_table("regression", 2, 50, 6)
    part = data.split_rows(whole, 30)
    assert len(part.y) == 30
    np.testing.assert_array_equal(np.concatenate([part.X, part.test.X]), whole.X)
    np.testing.assert_array_equal(np.concatenate([part.y, part.test.y]), whole.y)


def test_values_of_four_decimals_are_distinct_in_float32():
    for column in pruning.make_table("classification", 0, 20_000).X.T:
        assert len(np.unique(column.astype(np.float32))) == len(np.unique(column))


# Paths


@pytest.fixture(scope="module")
def path_data():
    """The rows and the grown trees by task."""
    return {task: pruning.path_workload(task).make_data(2, 500) for task in TASKS}


def test_path_quality_by_hand(monkeypatch):
    monkeypatch.setattr(pruning, "ALPHAS", np.array([1e-4, 1e-3, 5e-3, 0.5]))
    alphas = np.array([0.0, 1e-3, 1e-3 + 1e-13, 0.02])
    path = pruning.Path(alphas, np.array([0.0, 1.0, 2.0, 8.0]))
    # At 0.001 the second subtree is the best, at 0.005 the third, which is of the same step.
    expected = {"steps": 3.0, "last_alpha": 0.02, "mean_risk": (0 + 1 + 2 + 8) / 4}
    assert pruning.path_quality(path, None) == expected


def test_other_risks_are_detected():
    alphas = np.array([0.0, 1e-3, 1e-2])
    one, other = (
        pruning.path_quality(pruning.Path(alphas, np.array([0.0, risk, 0.5])), None)
        for risk in (0.2, 0.4)
    )
    assert any(
        check.failure(pruning.WHOLE, other[check.metric], one[check.metric])
        for check in pruning.EQUAL_PATH["classification"]
    )


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("label", LABELS)
def test_paths_from_rows_and_from_trees_agree(task, label, path_data):
    workload = pruning.path_workload(task)
    from_tree, from_rows = (
        workload.find(label, group).run(path_data[task][group])
        for group in (pruning.GROWN, pruning.WHOLE)
    )
    np.testing.assert_array_equal(from_tree.alphas, from_rows.alphas)
    np.testing.assert_array_equal(from_tree.risks, from_rows.risks)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("alpha", [2e-3, 2e-2])
def test_risk_at_an_alpha_is_that_of_the_pruned_tree(task, alpha, path_data):
    sample = path_data[task][pruning.WHOLE]
    path = pruning.path_workload(task).find("ceiba", pruning.WHOLE).run(sample)
    tree = SKLEARN[task](random_state=0, ccp_alpha=alpha).fit(sample.X, sample.y).tree_
    leaf = tree.children_left < 0
    risk = tree.impurity[leaf] @ tree.weighted_n_node_samples[leaf] / len(sample.y)
    step = np.searchsorted(path.alphas, alpha, side="right") - 1
    assert path.risks[step] == pytest.approx(risk, rel=1e-6 if task == "regression" else 0.05)


def test_path_from_a_tree_does_not_fit(path_data, monkeypatch):
    monkeypatch.setattr(DecisionTreeClassifier, "fit", None)
    monkeypatch.setattr(ceiba.DecisionTreeClassifier, "fit", None)
    models = path_data["classification"][pruning.GROWN]
    for label in LABELS:
        run = pruning.path_workload("classification").find(label, pruning.GROWN).run
        assert len(run(models).alphas) > 1


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("n_rows", [pruning.QUICK_N_ROWS, pruning.N_ROWS])
def test_alpha_prunes(task, n_rows):
    sample = pruning.make_table(task, 0, n_rows)
    full, pruned = (
        pruning.estimator("ceiba", task, ccp_alpha=alpha).fit(sample.X, sample.y).get_n_leaves()
        for alpha in (0.0, pruning.ALPHA[task])
    )
    assert 10 < pruned < 0.9 * full


# Comparison of pruning methods


@pytest.mark.parametrize(
    ("group", "n_rows", "note"),
    [(compare_pruning.HELD_OUT, 150, "held out"), (compare_pruning.GIVEN, 200, "given")],
)
def test_comparison_uses_the_rows_of_its_group(group, n_rows, note):
    workload = compare_pruning.workload("regression")
    sample = workload.make_data(0, 200)[group]
    result = workload.find("ceiba", group).run(sample)
    assert note in result.notes[0]
    assert result.models["unpruned"].tree_.n_rows[0] == n_rows
    assert compare_pruning.quality(result, sample) == {"leaves": float(n_rows), "methods": 3.0}


def test_peer_of_the_comparison_fits_once(monkeypatch):
    calls = []
    fit = ceiba.DecisionTreeRegressor.fit

    def record(model, X, y):
        calls.append(X)
        return fit(model, X, y)

    monkeypatch.setattr(ceiba.DecisionTreeRegressor, "fit", record)
    workload = compare_pruning.workload("regression")
    sample = workload.make_data(0, 100)[compare_pruning.GIVEN]
    workload.find("ceiba, one tree", compare_pruning.GIVEN).run(sample)
    assert len(calls) == 1
    assert calls[0] is sample.X


# Missing values


@pytest.fixture(scope="module")
def correlated():
    return data.split_rows(data.correlated_table(0, 2_000), 1_000)


@pytest.mark.parametrize(
    ("method", "policy", "algorithm"),
    [
        ("surrogate", "surrogate", "cart"),
        ("fractional", "fractional", "cart"),
        ("c45", "fractional", "c45"),
    ],
)
def test_methods_differ_from_the_reference(method, policy, algorithm, correlated):
    peers = missing.peers(method)
    ours, learned = (peers[label].fit(correlated).model for label in ("ceiba", "ceiba learned"))
    assert ours.tree_.missing == policy
    assert ours.algorithm == algorithm
    assert learned.tree_.missing == "branch"
    assert ours.tree_.n_nodes != learned.tree_.n_nodes


def test_reference_is_the_default(correlated):
    learned = missing.peers("c45")["ceiba learned"].fit(correlated).model
    default = ceiba.DecisionTreeClassifier().fit(correlated.X, correlated.y)
    assert learned.tree_.to_text() == default.tree_.to_text()


def test_accuracy_is_that_of_the_test_rows(correlated):
    tree = missing.peers("surrogate")["ceiba learned"].fit(correlated)
    accuracy = missing.quality(tree, correlated)["accuracy"]
    assert accuracy == tree.model.score(correlated.test.X, correlated.test.y)
    assert accuracy < tree.model.score(correlated.X, correlated.y) == 1.0


# Plots


@pytest.fixture(scope="module")
def trees():
    return plot.make_data(0, 300)


def test_trees_are_drawn_without_cached_values(trees, monkeypatch):
    calls = []
    draw = ceiba.plots.tree

    def record(tree, **options):
        names = {field.name for field in fields(tree)}
        calls.append((set(vars(tree)) - names, options))
        return draw(tree, **options)

    monkeypatch.setattr(ceiba.plots, "tree", record)
    for _ in range(2):
        plot.draw("ceiba", "compact")(trees["compact"])
    assert calls == [(set(), {"compact": True})] * 2


def test_canvas_is_rendered(trees):
    figure = plot.draw("ceiba", "boxes")(trees["boxes"])
    assert not figure.stale, "pixels are part of the work"
    assert figure.canvas.buffer_rgba().shape[2] == 4
    metrics = plot.quality(figure, trees)
    assert metrics["words"] > 50
    assert [metrics["width"], metrics["height"]] == figure.get_size_inches().tolist()


def test_tree_of_full_size_has_20_000_nodes():
    workload = plot.WORKLOADS[0]
    by_label = workload.make_data(0, workload.n_rows)["boxes"]
    sizes = {label: tree.n_nodes for label, tree in by_label.items()}
    assert 19_000 < sizes["ceiba"] < 21_000
    assert sizes[f"ceiba, {plot.SMALL} leaves"] == 2 * plot.SMALL - 1


def test_figure_with_little_text_fails(monkeypatch):
    draw = ceiba.plots.tree

    def draw_little(tree, **options):
        return draw(tree, max_nodes=3 if tree.n_leaves > plot.SMALL else 64)

    monkeypatch.setattr(ceiba.plots, "tree", draw_little)
    assert not harness.run(plot.WORKLOADS[0], rounds=0, quick=True).passed
