from __future__ import annotations

from dataclasses import fields
from importlib import import_module

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import ceiba
import ceiba.plots
from benchmarks import harness, machine, tree_data

pruning, laboratory, lecture, drawing = (
    import_module(f"benchmarks.workloads.tree_{name}")
    for name in ("pruning", "laboratory", "lecture", "drawing")
)
TASKS = ("classes", "numbers")
SKLEARN = {"classes": DecisionTreeClassifier, "numbers": DecisionTreeRegressor}


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Small work on several spinning pools of threads takes long on a busy machine."""
    for name in machine.THREAD_VARIABLES:
        monkeypatch.setenv(name, "1")
    with threadpool_limits(1):
        yield


# Data


def test_relatives_stand_in_for_each_other():
    sample = tree_data.related(0, 20_000)
    gaps = np.isnan(sample.X)
    assert sample.X.shape == (20_000, 10)
    assert ((gaps.mean(axis=0) > 0.045) & (gaps.mean(axis=0) < 0.055)).all()
    for first, akin in ((0, 6), (1, 7), (2, 8), (3, 9)):
        both = ~gaps[:, first] & ~gaps[:, akin]
        assert np.corrcoef(sample.X[both][:, [first, akin]].T)[0, 1] > 0.85
        alone = gaps[:, first] & ~gaps[:, akin]
        assert alone.sum() > 500, "a relative is known where the column is not"
    assert 0.45 < sample.y.mean() < 0.55


def test_new_rows_are_not_grown_from():
    whole = tree_data.normal("numbers", 2, 50, 6)
    part = tree_data.parted(whole, 30)
    assert len(part.y) == 30
    np.testing.assert_array_equal(np.concatenate([part.X, part.new.X]), whole.X)
    np.testing.assert_array_equal(np.concatenate([part.y, part.new.y]), whole.y)


def test_four_decimals_are_told_apart_in_float32():
    X = pruning.table("classes", 0, 20_000).X
    for column in X.T:
        assert len(np.unique(column.astype(np.float32))) == len(np.unique(column))


# Paths


def test_judge_of_a_path_by_hand(monkeypatch):
    monkeypatch.setattr(pruning, "PRICES", np.array([1e-4, 1e-3, 5e-3, 0.5]))
    alphas = np.array([0.0, 1e-3, 1e-3 + 1e-13, 0.02])
    told = pruning.path_quality(pruning.Path(alphas, np.array([0.0, 1.0, 2.0, 8.0])), None)
    # At 0.001 the second tree is the best, at 0.005 the third, which is of the same level.
    assert told == {"levels": 3.0, "last_alpha": 0.02, "mean_risk": (0 + 1 + 2 + 8) / 4}


def test_levels_in_another_order_do_not_pass_for_equal():
    alphas = np.array([0.0, 1e-3, 1e-2])
    one = pruning.path_quality(pruning.Path(alphas, np.array([0.0, 0.2, 0.5])), None)
    other = pruning.path_quality(pruning.Path(alphas, np.array([0.0, 0.4, 0.5])), None)
    complaints = [
        check.complaint(pruning.WHOLE, other[check.number], one[check.number])
        for check in pruning.SAME_PATH["classes"]
    ]
    assert any(complaints)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("label", ["ceiba", "scikit-learn"])
def test_paths_from_rows_and_from_grown_trees_agree(task, label):
    workload = pruning.paths(task)
    data = workload.data(1, 500)
    grown, whole = (
        workload.contestant(label, group).run(data[group])
        for group in (pruning.GROWN, pruning.WHOLE)
    )
    np.testing.assert_array_equal(grown.alphas, whole.alphas)
    np.testing.assert_array_equal(grown.risks, whole.risks)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("alpha", [2e-3, 2e-2])
def test_risk_at_a_price_is_that_of_the_pruned_tree(task, alpha):
    workload = pruning.paths(task)
    data = workload.data(2, 500)
    sample = data[pruning.WHOLE]
    path = workload.contestant("ceiba", pruning.WHOLE).run(sample)
    tree = SKLEARN[task](random_state=0, ccp_alpha=alpha).fit(sample.X, sample.y).tree_
    leaf = tree.children_left < 0
    risk = tree.impurity[leaf] @ tree.weighted_n_node_samples[leaf] / len(sample.y)
    level = np.searchsorted(path.alphas, alpha, side="right") - 1
    assert path.risks[level] == pytest.approx(risk, rel=1e-6 if task == "numbers" else 0.05)


def test_the_path_alone_grows_nothing(monkeypatch):
    workload = pruning.paths("classes")
    grown = workload.data(0, 200)[pruning.GROWN]
    monkeypatch.setattr(DecisionTreeClassifier, "fit", None)
    monkeypatch.setattr(ceiba.DecisionTreeClassifier, "fit", None)
    for label in ("ceiba", "scikit-learn"):
        assert len(workload.contestant(label, pruning.GROWN).run(grown).alphas) > 1


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("rows", [pruning.QUICK_ROWS, pruning.ROWS])
def test_the_price_prunes(task, rows):
    sample = pruning.table(task, 0, rows)
    whole, cut = (
        pruning.estimator("ceiba", task, ccp_alpha=alpha).fit(sample.X, sample.y).get_n_leaves()
        for alpha in (0.0, pruning.ALPHA[task])
    )
    assert 10 < cut < 0.9 * whole


# Laboratory


@pytest.mark.parametrize(
    ("group", "rows", "word"),
    [(laboratory.HELD_OUT, 150, "held out"), (laboratory.GIVEN, 200, "given")],
)
def test_laboratory_sees_the_rows_of_its_group(group, rows, word):
    workload = laboratory.laboratories("numbers")
    sample = workload.data(0, 200)[group]
    found = workload.contestant("ceiba", group).run(sample)
    assert word in found.notes[0]
    assert found.models["unpruned"].tree_.n_rows[0] == rows
    assert laboratory.quality(found, sample) == {"leaves": float(rows), "ways": 3.0}


def test_growing_once_is_growing_and_no_more(monkeypatch):
    called = []
    fit = ceiba.DecisionTreeRegressor.fit

    def reports_progress(model, X, y):
        called.append(X)
        return fit(model, X, y)

    monkeypatch.setattr(ceiba.DecisionTreeRegressor, "fit", reports_progress)
    workload = laboratory.laboratories("numbers")
    sample = workload.data(0, 100)[laboratory.GIVEN]
    workload.contestant("ceiba growing once", laboratory.GIVEN).run(sample)
    assert len(called) == 1
    assert called[0] is sample.X


# Lecture


@pytest.mark.parametrize(
    ("way", "missing", "algorithm"),
    [
        ("surrogate", "surrogate", "cart"),
        ("fractional", "fractional", "cart"),
        ("c45", "fractional", "c45"),
    ],
)
def test_ways_differ_from_the_reference(way, missing, algorithm):
    sample = tree_data.related(0, 1_000)
    peers = lecture.peers(way)
    ours, learned = (peers[label].fit(sample).model for label in ("ceiba", "ceiba learned"))
    assert ours.tree_.missing == missing
    assert ours.algorithm == algorithm
    assert learned.tree_.missing == "branch"
    assert ours.tree_.n_nodes != learned.tree_.n_nodes


def test_the_reference_is_what_ours_does_untold():
    sample = tree_data.related(3, 1_000)
    learned = lecture.peers("c45")["ceiba learned"].fit(sample).model
    untold = ceiba.DecisionTreeClassifier().fit(sample.X, sample.y)
    assert learned.tree_.to_text() == untold.tree_.to_text()


def test_new_rows_are_asked():
    sample = tree_data.parted(tree_data.related(0, 2_000), 1_000)
    tree = lecture.peers("surrogate")["ceiba learned"].fit(sample)
    told = lecture.quality(tree, sample)
    assert told["accuracy"] == tree.model.score(sample.new.X, sample.new.y)
    assert told["accuracy"] < tree.model.score(sample.X, sample.y) == 1.0


# Drawing


def test_trees_are_drawn_as_if_for_the_first_time(monkeypatch):
    drawn = []
    plot = ceiba.plots.tree

    def reports_progress(tree, **options):
        # A tree keeps what it has worked out beside its fields.
        names = {entry.name for entry in fields(tree)}
        drawn.append((set(vars(tree)) - names, options))
        return plot(tree, **options)

    monkeypatch.setattr(ceiba.plots, "tree", reports_progress)
    trees = drawing.data(0, 300)["compact"]
    for _ in range(2):
        drawing.draw("ceiba", "compact")(trees)
    assert drawn == [(set(), {"compact": True})] * 2


def test_the_canvas_is_painted():
    trees = drawing.data(0, 300)["boxes"]
    picture = drawing.draw("ceiba", "boxes")(trees)
    assert not picture.stale, "pixels are part of the work"
    assert picture.canvas.buffer_rgba().shape[2] == 4
    told = drawing.quality(picture, trees)
    assert told["words"] > 50
    assert [told["width"], told["height"]] == picture.get_size_inches().tolist()


def test_what_is_drawn_at_full_size():
    workload = drawing.WORKLOADS[0]
    trees = workload.data(0, workload.rows)["boxes"]
    sizes = {label: tree.n_nodes for label, tree in trees.items()}
    assert 19_000 < sizes["ceiba"] < 21_000
    assert sizes[f"ceiba, {drawing.SMALL} leaves"] == 2 * drawing.SMALL - 1


def test_a_meagre_picture_fails(monkeypatch):
    plot = ceiba.plots.tree
    monkeypatch.setattr(
        ceiba.plots,
        "tree",
        lambda tree, **more: plot(tree, max_nodes=3 if tree.n_leaves > drawing.SMALL else 64),
    )
    outcome = harness.run(drawing.WORKLOADS[0], rounds=0, quick=True)
    assert not outcome.good
