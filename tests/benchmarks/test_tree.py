from __future__ import annotations

import json
import math
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks import (
    alone,
    harness,
    machine,
    report,
    tree_data,
    tree_judge,
    tree_peers,
    tree_scaling,
    workloads,
)

tree, predict, iris, nominal, pruning, laboratory, lecture, drawing = MODULES = [
    import_module(f"benchmarks.workloads.tree{name}")
    for name in (
        "", "_predict", "_iris", "_nominal", "_pruning", "_laboratory", "_lecture", "_drawing"
    )
]  # fmt: skip
FAMILY = [each for module in MODULES for each in module.WORKLOADS]
TASKS = ("classes", "numbers")


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Small work on several spinning pools of threads takes long on a busy machine."""
    for name in machine.THREAD_VARIABLES:
        monkeypatch.setenv(name, "1")
    with threadpool_limits(1):
        yield


def equal_work(outcome):
    told = {(row.contestant.group, row.contestant.label): row.verdict for row in outcome.rows}
    assert set(told.values()) <= {"reference", "equal", "not installed"}, told
    return outcome.good


# Data


@pytest.mark.parametrize("task", TASKS)
def test_normal_columns_decide_in_part(task):
    sample = tree_data.normal(task, 3, 5_000)
    assert sample.X.shape == (5_000, 28)
    assert sample.X.flags.c_contiguous
    assert sample.X.dtype == np.float64
    noiseless = tree_data.signal(sample.X) > 0
    assert 0.7 < np.mean(noiseless == (sample.y > 0)) < 0.85
    assert 0.45 < np.mean(sample.y > 0) < 0.55


def test_tasks_share_their_rows():
    classes, numbers = (tree_data.normal(task, 5, 100) for task in TASKS)
    np.testing.assert_array_equal(classes.X, numbers.X)
    np.testing.assert_array_equal(classes.y, numbers.y > 0)
    assert not np.array_equal(classes.X, tree_data.normal("classes", 6, 100).X)


def test_mixed_table():
    sample = tree_data.mixed(0, 20_000)
    kinds = sample.X.select_dtypes("category")
    assert [len(column.cat.categories) for _, column in kinds.items()] == list(tree_data.LEVELS)
    assert kinds.nunique().tolist() == list(tree_data.LEVELS)
    assert sample.X.select_dtypes("float64").shape == (20_000, 10)
    gaps = sample.X.isna().mean()
    assert gaps.between(0.04, 0.06).all(), "a gap is missing at random in every column"
    assert set(np.unique(sample.y)) == {0, 1}


def test_levels_say_something():
    sample = tree_data.mixed(0, 20_000)
    shares = pd.Series(sample.y).groupby(sample.X["kind_60"], observed=True).mean()
    assert shares.std() > 0.05


# Judge


@pytest.fixture(scope="module")
def answered():
    random = np.random.default_rng(0)
    return random.random(200), random.integers(2, size=200)


def test_judge_of_classes_is_sklearns(answered):
    second, y = answered
    labels = second > 0.5
    assert tree_judge.accuracy(second, y) == pytest.approx(accuracy_score(y, labels), rel=1e-12)
    assert tree_judge.log_loss(second, y) == pytest.approx(log_loss(y, second), rel=1e-12)


def test_half_is_the_first_class():
    assert tree_judge.accuracy(np.array([0.5, 0.5]), np.array([0, 1])) == 0.5


def test_sure_and_wrong_costs_much_but_finitely():
    assert 20 < tree_judge.log_loss(np.array([1.0]), np.array([0])) < math.inf
    assert tree_judge.log_loss(np.array([1.0, 0.0]), np.array([1, 0])) == 0.0


def test_judge_of_numbers_is_sklearns():
    y, answers = np.random.default_rng(1).standard_normal((2, 100))
    told = tree_judge.of_answered_numbers(answers, tree_data.Sample(None, y))
    assert told["r2"] == pytest.approx(r2_score(y, answers), rel=1e-12)


def test_labels_and_probabilities_are_judged_alike():
    truth = tree_data.Sample(None, np.array([0, 1, 2, 1]))
    labels = np.array([0, 1, 1, 1])
    assert tree_judge.of_answers(labels, truth) == {"accuracy": 0.75, "true_class": 0.75}
    shares = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.25, 0.5, 0.25], [0.5, 0.5, 0.0]])
    told = tree_judge.of_answers(shares, truth)
    assert told == {"accuracy": 0.5, "true_class": (0.5 + 1.0 + 0.25 + 0.5) / 4}


# Peers


@pytest.fixture(scope="module")
def small():
    return {task: tree_data.normal(task, 1, 3_000) for task in TASKS}


def installed(peers):
    return {label: peer for label, peer in peers.items() if peer.installed()}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("depth", [2, 5])
def test_everyone_keeps_the_limits(task, depth, small):
    peers = {f"exact {k}": p for k, p in tree.exact_peers(task, depth).items()}
    peers |= {f"binned {k}": p for k, p in tree.binned_peers(task, depth).items()}
    leaves = {label: peer.fit(small[task]).leaves() for label, peer in installed(peers).items()}
    assert all(2 ** (depth - 1) < count <= 2**depth for count in leaves.values()), leaves


@pytest.mark.parametrize("task", TASKS)
def test_everyone_answers_with_a_constant_a_leaf(task, small):
    sample = small[task]
    for label, peer in installed(tree.binned_peers(task, 3)).items():
        grown = peer.fit(sample)
        answers = np.asarray(grown.answer(sample.X))
        assert answers.shape == sample.y.shape, label
        assert len(np.unique(answers)) <= grown.leaves(), label


@pytest.mark.parametrize("task", TASKS)
def test_boosters_grow_the_same_tree_where_bins_keep_every_value(task):
    sample = tree_data.normal(task, 4, 5_000)
    sample = tree_data.Sample(sample.X.round(1), sample.y)
    reference = tree_peers.sklearn(task, max_depth=4).fit(sample)
    leaf = reference.model.apply(sample.X)
    peers = installed(tree.binned_peers(task, 4))
    # Its bins join some of the values in the tails.
    peers.pop("scikit-learn-intelex", None)
    for label, peer in peers.items():
        pairs = set(zip(leaf, peer.fit(sample).answer(sample.X), strict=True))
        assert len(pairs) == reference.leaves(), label


def test_a_bin_a_row_makes_intelex_exact(small):
    pytest.importorskip("sklearnex")
    sample = small["numbers"]
    theirs = tree_peers.intelex("numbers", max_depth=4).fit(sample)
    exact = tree_peers.sklearn("numbers", max_depth=4).fit(sample)
    np.testing.assert_allclose(theirs.answer(sample.X), exact.answer(sample.X), rtol=1e-6)


def test_ordinal_codes_keep_gaps_and_numbers():
    sample = tree_data.mixed(2, 2_000)
    grown = tree_peers.ordinal_codes(max_depth=6).fit(sample)
    codes = np.column_stack([coded(column) for _, column in sample.X.items()])
    by_hand = DecisionTreeClassifier(max_depth=6, random_state=0).fit(codes, sample.y)
    assert grown.leaves() == by_hand.get_n_leaves()
    np.testing.assert_array_equal(grown.answer(sample.X), by_hand.predict_proba(codes)[:, 1])


def coded(column):
    """Codes by the alphabet, gaps kept."""
    if column.dtype != "category":
        return column.to_numpy()
    alphabet = {level: code for code, level in enumerate(sorted(column.cat.categories))}
    return column.astype(object).map(alphabet).to_numpy(float)


# Workloads


LARGE = [each for each in FAMILY if each not in iris.WORKLOADS]


@pytest.mark.parametrize("workload", LARGE, ids=lambda each: each.name)
def test_everyone_does_equal_work(workload):
    # No round: the warm-up alone is judged, and nothing here is about time.
    assert equal_work(harness.run(workload, rounds=0, quick=True))


@pytest.mark.parametrize("workload", [iris.fitting(2), iris.single_rows(160)], ids=["fit", "row"])
def test_iris_does_equal_work(workload):
    outcome = harness.run(workload, rounds=1, quick=True)
    assert equal_work(outcome)
    assert {row.quality["accuracy"] for row in outcome.rows} == {1.0}


def test_trees_are_not_grown_in_the_timed_part(monkeypatch):
    workload = predict.predicting("classes", 3)
    data = workload.data(0, 100)
    monkeypatch.setattr(DecisionTreeClassifier, "fit", None)
    asked = data["predict_proba"]
    assert workload.contestant("scikit-learn", "predict_proba").run(asked).shape == (100, 2)


def test_every_contestant_can_be_weighed_alone():
    workload = workloads.found("tree-exact-depth8")
    for label in ("ceiba", "scikit-learn"):
        raised = alone.memory(workload, workload.contestant(label, tree.GROUP), 0, quick=True)
        assert 0 <= raised < 500_000_000


def test_registered_names_are_unique_and_of_the_family():
    names = [each.name for each in FAMILY]
    assert len(set(names)) == len(names)
    assert sorted(each.name for each in workloads.chosen(["tree"])) == sorted(names)
    assert len(workloads.chosen(["tree-regression"])) == 8


def test_every_group_has_ours_and_a_reference():
    for workload in FAMILY:
        groups = {each.group for each in workload.contestants}
        for group in groups:
            ours = [each.ours for each in workload.contestants if each.group == group]
            assert ours.count(True) == 1, (workload.name, group)
            assert ours.count(False) >= 1, (workload.name, group)


# Scaling


@pytest.fixture
def grown_by_the_clock(monkeypatch):
    """A grower whose time is exactly n log n · p."""
    now = 0.0

    def fit(sample):
        nonlocal now
        n, p = sample.X.shape
        now += 1e-6 * n * math.log(n) * p

    monkeypatch.setattr(harness, "perf_counter", lambda: now)
    monkeypatch.setattr(harness, "settle", lambda: None)
    monkeypatch.setattr(tree_peers, "ceiba", lambda task, **more: tree_peers.Peer(fit, "ceiba"))


def test_slopes_of_the_law_itself(grown_by_the_clock, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    assert tree_scaling.main(["--quick"]) == 0
    told = json.loads((tmp_path / "tree-scaling-quick.json").read_text(encoding="utf-8"))
    assert len(told["curves"]) == 2 * len(tree_scaling.TREES)
    for curve in told["curves"]:
        assert curve["slope"] == pytest.approx(curve["expected"], rel=1e-9)
        assert len(curve["seconds"]) == len(curve["sizes"]) > 2
    rows = [curve["expected"] for curve in told["curves"] if curve["axis"] == "rows"]
    assert all(1.1 < slope < 1.2 for slope in rows), "n log n is steeper than n"
    out = capsys.readouterr().out
    assert "n log n" in out
    assert "binned, depth 8" in out
    assert (tmp_path / "tree-scaling-quick.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("task", TASKS)
def test_ours_is_timed(task, monkeypatch):
    tiny = tree_scaling.Grids(rows=(100, 400, 2), columns=(7, 14, 2), fixed_rows=200)
    for name in tree_scaling.TREES:
        found = tree_scaling.curve(name, "columns", tiny, task, seed=0, rounds=1)
        assert found.sizes == (7, 14)
        assert all(seconds > 0 for seconds in found.seconds)
