from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.tree import DecisionTreeClassifier

from benchmarks import harness, isolated, report, workloads
from benchmarks.tree import data, peers, quality
from benchmarks.tree import scaling as tree_scaling
from benchmarks.workloads.tree import (
    compare_pruning,
    fit,
    iris,
    missing,
    nominal,
    outputs,
    plot,
    predict,
    pruning,
)
from tests.benchmarks.helpers import assert_groups_have_peers, assert_quick_run_agrees

MODULES = (fit, predict, iris, nominal, pruning, compare_pruning, missing, outputs, plot)
FAMILY = [each for module in MODULES for each in module.WORKLOADS]
TASKS = ("classification", "regression")


# Data


@pytest.mark.parametrize("task", TASKS)
def test_signal_explains_a_part_of_the_target(task):
    sample = data.normal_table(task, 3, 5_000)
    assert sample.X.shape == (5_000, 28)
    assert sample.X.flags.c_contiguous
    assert sample.X.dtype == np.float64
    noiseless = data.signal(sample.X) > 0
    assert 0.7 < np.mean(noiseless == (sample.y > 0)) < 0.85
    assert 0.45 < np.mean(sample.y > 0) < 0.55


def test_tasks_share_their_rows():
    classes, numbers = (data.normal_table(task, 5, 100) for task in TASKS)
    np.testing.assert_array_equal(classes.X, numbers.X)
    np.testing.assert_array_equal(classes.y, numbers.y > 0)
    assert not np.array_equal(classes.X, data.normal_table("classification", 6, 100).X)


@pytest.fixture(scope="module")
def mixed():
    return data.mixed_table(0, 20_000)


def test_mixed_table_has_all_categories_and_missing_values(mixed):
    categorical = mixed.X.select_dtypes("category")
    counts = [len(column.cat.categories) for _, column in categorical.items()]
    assert counts == categorical.nunique().tolist() == list(data.N_CATEGORIES)
    assert mixed.X.select_dtypes("float64").shape == (20_000, 10)
    assert mixed.X.isna().mean().between(0.04, 0.06).all()
    assert set(np.unique(mixed.y)) == {0, 1}


def test_categories_have_an_effect(mixed):
    fractions = pd.Series(mixed.y).groupby(mixed.X["nominal_60"], observed=True).mean()
    assert fractions.std() > 0.05


# Quality


def test_class_metrics_are_those_of_sklearn():
    rng = np.random.default_rng(0)
    second, y = rng.random(200), rng.integers(2, size=200)
    expected = accuracy_score(y, second > 0.5)
    assert quality.accuracy(second, y) == pytest.approx(expected, rel=1e-12)
    assert quality.log_loss(second, y) == pytest.approx(log_loss(y, second), rel=1e-12)


def test_a_probability_of_one_half_is_the_first_class():
    assert quality.accuracy(np.array([0.5, 0.5]), np.array([0, 1])) == 0.5


def test_log_loss_of_a_certain_error_is_finite():
    assert 20 < quality.log_loss(np.array([1.0]), np.array([0])) < math.inf
    assert quality.log_loss(np.array([1.0, 0.0]), np.array([1, 0])) == 0.0


def test_r2_is_that_of_sklearn():
    y, predictions = np.random.default_rng(1).standard_normal((2, 100))
    metrics = quality.score_numbers(predictions, data.Sample(None, y))
    assert metrics["r2"] == pytest.approx(r2_score(y, predictions), rel=1e-12)


def test_labels_and_probabilities_are_scored_alike():
    truth = data.Sample(None, np.array([0, 1, 2, 1]))
    metrics = quality.score_classes(np.array([0, 1, 1, 1]), truth)
    assert metrics == {"accuracy": 0.75, "true_class": 0.75}
    probabilities = [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.25, 0.5, 0.25], [0.5, 0.5, 0.0]]
    metrics = quality.score_classes(np.array(probabilities), truth)
    assert metrics == {"accuracy": 0.5, "true_class": (0.5 + 1.0 + 0.25 + 0.5) / 4}


# Peers


@pytest.fixture(scope="module")
def small():
    return {task: data.normal_table(task, 1, 3_000) for task in TASKS}


def installed(by_label):
    return {label: peer for label, peer in by_label.items() if peer.is_installed()}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("depth", [2, 5])
def test_peers_respect_the_depth(task, depth, small):
    by_label = {f"exact {k}": p for k, p in fit.exact_peers(task, depth).items()}
    by_label |= {f"binned {k}": p for k, p in fit.binned_peers(task, depth).items()}
    leaves = {
        label: peer.fit(small[task]).n_leaves() for label, peer in installed(by_label).items()
    }
    assert all(2 ** (depth - 1) < count <= 2**depth for count in leaves.values()), leaves


@pytest.mark.parametrize("task", TASKS)
def test_peers_predict_one_value_per_leaf(task, small):
    sample = small[task]
    for label, peer in installed(fit.binned_peers(task, 3)).items():
        tree = peer.fit(sample)
        predictions = np.asarray(tree.predict(sample.X))
        assert predictions.shape == sample.y.shape, label
        assert len(np.unique(predictions)) <= tree.n_leaves(), label


@pytest.mark.parametrize("task", TASKS)
def test_boosters_grow_the_exact_tree_where_bins_separate_all_values(task):
    sample = data.normal_table(task, 4, 5_000)
    sample = data.Sample(sample.X.round(1), sample.y)
    reference = peers.sklearn(task, max_depth=4).fit(sample)
    leaf = reference.model.apply(sample.X)
    by_label = installed(fit.binned_peers(task, 4))
    # Its bins merge some of the values in the tails.
    by_label.pop("scikit-learn-intelex", None)
    for label, peer in by_label.items():
        pairs = set(zip(leaf, peer.fit(sample).predict(sample.X), strict=True))
        assert len(pairs) == reference.n_leaves(), label


def test_one_bin_per_row_makes_intelex_exact(small):
    pytest.importorskip("sklearnex")
    sample = small["regression"]
    theirs = peers.intelex("regression", max_depth=4).fit(sample)
    exact = peers.sklearn("regression", max_depth=4).fit(sample)
    np.testing.assert_allclose(theirs.predict(sample.X), exact.predict(sample.X), rtol=1e-6)


def test_ordinal_codes_keep_missing_values_and_numbers():
    sample = data.mixed_table(2, 2_000)
    tree = peers.ordinal_codes(max_depth=6).fit(sample)
    codes = np.column_stack([to_codes(column) for _, column in sample.X.items()])
    expected = DecisionTreeClassifier(max_depth=6, random_state=0).fit(codes, sample.y)
    assert tree.n_leaves() == expected.get_n_leaves()
    np.testing.assert_array_equal(tree.predict(sample.X), expected.predict_proba(codes)[:, 1])


def to_codes(column):
    """Return alphabetical codes, with missing values kept."""
    if column.dtype != "category":
        return column.to_numpy()
    codes = {category: code for code, category in enumerate(sorted(column.cat.categories))}
    return column.astype(object).map(codes).to_numpy(float)


# Workloads


LARGE = [each for each in FAMILY if each not in iris.WORKLOADS]


@pytest.mark.parametrize("workload", LARGE, ids=lambda each: each.name)
def test_work_is_equal(workload):
    assert_quick_run_agrees(workload)


@pytest.mark.parametrize(
    "workload", [iris.fit_workload(2), iris.predict_workload(160)], ids=["fit", "row"]
)
def test_work_on_iris_is_equal(workload):
    comparison = assert_quick_run_agrees(workload, rounds=1)
    assert {each.metrics["accuracy"] for each in comparison.results} == {1.0}


def test_trees_are_not_grown_in_the_timed_part(monkeypatch):
    workload = predict.workload("classification", 3)
    prediction_data = workload.make_data(0, 100)["predict_proba"]
    monkeypatch.setattr(DecisionTreeClassifier, "fit", None)
    probabilities = workload.find("scikit-learn", "predict_proba").run(prediction_data)
    assert probabilities.shape == (100, 2)


def test_peak_memory_is_measured():
    workload = workloads.get("tree-exact-depth8")
    increase = isolated.peak_memory(workload, workload.find("ceiba", fit.GROUP), 0, quick=True)
    assert 0 <= increase < 500_000_000


def test_names_are_unique_and_of_the_family():
    names = [each.name for each in FAMILY]
    assert len(set(names)) == len(names)
    assert sorted(each.name for each in workloads.select(["tree"])) == sorted(names)
    assert len(workloads.select(["tree-regression"])) == 8


def test_groups_have_peers():
    assert_groups_have_peers(FAMILY)


# Scaling


@pytest.fixture
def known_growth(monkeypatch):
    """Make a fit take exactly n log n · p."""
    now = 0.0

    def fit_sample(sample):
        nonlocal now
        n, p = sample.X.shape
        now += 1e-6 * n * math.log(n) * p

    monkeypatch.setattr(harness, "perf_counter", lambda: now)
    monkeypatch.setattr(harness, "settle", lambda: None)
    monkeypatch.setattr(peers, "ceiba", lambda task, **_: peers.Peer(fit_sample, "ceiba"))


def test_slopes_of_the_expected_growth(known_growth, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    assert tree_scaling.main(["--quick"]) == 0
    text = (tmp_path / "tree-scaling-quick.json").read_text(encoding="utf-8")
    curves = json.loads(text)["curves"]
    assert len(curves) == 2 * len(tree_scaling.TREES)
    for curve in curves:
        assert curve["slope"] == pytest.approx(curve["expected_slope"], rel=1e-9)
        assert len(curve["seconds"]) == len(curve["sizes"]) > 2
    of_rows = [curve["expected_slope"] for curve in curves if curve["axis"] == "rows"]
    assert all(1.1 < slope < 1.2 for slope in of_rows), "n log n is steeper than n"
    out = capsys.readouterr().out
    assert "n log n" in out
    assert "binned, depth 8" in out
    assert (tmp_path / "tree-scaling-quick.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("task", TASKS)
def test_ours_is_timed(task):
    grids = tree_scaling.Grids(rows=(100, 400, 2), columns=(7, 14, 2), fixed_rows=200)
    for name in tree_scaling.TREES:
        curve = tree_scaling.measure_curve(name, "columns", grids, task, seed=0, rounds=1)
        assert curve.sizes == (7, 14)
        assert all(seconds > 0 for seconds in curve.seconds)
