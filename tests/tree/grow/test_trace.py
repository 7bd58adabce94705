"""The trace of a tree: its splits in growth order, with their candidates."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import ceiba
from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.tree.explain.conditions import branch_text
from ceiba.tree.grow import grower as grow
from tests.tree.parts import in_parts

pd = pytest.importorskip("pandas")

GROWTH = ["depth_first", "breadth_first", "best_first"]
NAMES = {
    "node", "children", "column", "name", "split", "n_rows", "impurity", "gain", "ties", "method",
    "runner_up", "runner_up_gain", "candidate_gain", "candidate_threshold",
}  # fmt: skip


def table(n: int = 200) -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=[*"abc"])
    X["b"] = X["b"].mask(rng.random(n) < 0.1)
    X["word"] = rng.choice([*"pqr"], size=n)
    X["size"] = pd.Categorical(rng.choice([*"SML"], size=n), [*"SML"], ordered=True)
    X["same"] = 1.0
    score = np.sign(X["a"]) + 2 * (X["b"] > 0) + 2 * (X["word"] == "p") + (X["c"] > 1)
    return X, score.to_numpy().astype(int) % 3


X, Y = table()


@pytest.mark.parametrize("options", [{}, {"max_bins": 9}, {"missing": "branch"}], ids=str)
@pytest.mark.parametrize("growth", GROWTH)
def test_frames_are_the_splits_in_growth_order(growth: str, options: dict[str, Any]) -> None:
    model = DecisionTreeClassifier(growth=growth, trace=True, **options).fit(X, Y)
    tree, trace = model.tree_, model.trace_
    assert len(trace) == (~tree.is_leaf).sum()
    assert [frame.step for frame in trace] == list(range(1, len(trace) + 1))
    # Branches are numbered when their node is split.
    firsts = [int(frame["children"][0]) for frame in trace]
    assert firsts == sorted(firsts)
    for frame in trace:
        node = frame["node"]
        assert set(frame.values) == NAMES
        assert frame["children"].tolist() == tree.children(node)
        assert frame["column"] == tree.column[node]
        assert frame["name"] == X.columns[frame["column"]]
        assert frame["split"] == branch_text(
            tree.split(node), 0, tree.schema[int(tree.column[node])]
        )
        for name in ("n_rows", "impurity", "gain", "ties", "runner_up_gain"):
            assert frame[name] == getattr(tree, name)[node]
        assert frame["method"] == tree.methods[node]


def test_best_first_splits_the_open_node_of_maximum_gain() -> None:
    model = DecisionTreeClassifier(growth="best_first", trace=True).fit(X, Y)
    tree = model.tree_
    pending = {0}
    for frame in model.trace_:
        node = frame["node"]
        weighted_gain = {n: tree.weight[n] * tree.gain[n] for n in pending}
        assert weighted_gain[node] == max(weighted_gain.values())
        pending.remove(node)
        pending |= {int(c) for c in frame["children"] if not tree.is_leaf[c]}


def test_candidates_and_runner_up_are_consistent() -> None:
    model = DecisionTreeClassifier(trace=True).fit(X, Y)
    for frame in model.trace_:
        gains, thresholds = frame["candidate_gain"], frame["candidate_threshold"]
        assert gains.shape == thresholds.shape == (X.shape[1],)
        assert gains[5] == -1  # a constant column has no candidate
        assert frame["gain"] == gains.max() == gains[frame["column"]]
        assert gains.argmax() == frame["column"]
        assert np.isnan(thresholds[[3, 5]]).all()
        others = np.delete(gains, frame["column"])
        if others.max() >= 0:
            assert frame["runner_up_gain"] == others.max()
            assert gains[X.columns.get_loc(frame["runner_up"])] == others.max()
        else:
            assert frame["runner_up"] is None


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_candidate_threshold_gives_its_gain(criterion: str) -> None:
    y = X["a"].to_numpy() + (X["c"] > 0.3) * 2.0
    rows = X[["a", "c"]]
    model = DecisionTreeRegressor(trace=True, max_depth=1, criterion=criterion).fit(rows, y)
    (frame,) = model.trace_

    def loss(values: Any) -> float:
        middle = np.mean(values) if criterion == "squared_error" else np.median(values)
        power = 2 if criterion == "squared_error" else 1
        return float((np.abs(values - middle) ** power).sum())

    for j, name in enumerate(rows):
        left = rows[name] <= frame["candidate_threshold"][j]
        gain = (loss(y) - loss(y[left]) - loss(y[~left])) / len(y)
        assert frame["candidate_gain"][j] == pytest.approx(gain, rel=1e-9)


def test_max_leaf_nodes_bounds_the_frames() -> None:
    model = DecisionTreeClassifier(trace=True, max_leaf_nodes=5).fit(X, Y)
    assert len(model.trace_) == 4
    leaf = DecisionTreeClassifier(trace=True).fit(X, np.zeros(len(X), int))
    assert len(leaf.trace_) == 0


def test_columns_not_drawn_have_no_candidate() -> None:
    model = DecisionTreeClassifier(trace=True, max_features=2).fit(X.drop(columns="same"), Y)
    n_candidates = [(frame["candidate_gain"] >= 0).sum() for frame in model.trace_]
    assert max(n_candidates) == 2


@pytest.mark.parametrize("gather", [0, 3000, 256_000_000])
def test_trace_is_the_same_for_partitions(gather: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = DecisionTreeClassifier(trace=True, max_bins=12, max_leaf_nodes=15)
    whole = model.fit(X, Y).trace_
    monkeypatch.setattr(grow, "GATHER_BYTES", gather)
    parts = model.fit(in_parts(X, Y, None, [20, 90])).trace_
    assert len(whole) == len(parts) == 14
    for one, other in zip(whole, parts, strict=True):
        for name in NAMES:
            np.testing.assert_array_equal(one[name], other[name])


def test_long_trace_is_thinned(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    model = DecisionTreeClassifier(trace=True).fit(
        rng.normal(size=(6000, 3)), rng.integers(2, size=6000)
    )
    trace = model.trace_
    assert (~model.tree_.is_leaf).sum() > 1000
    assert len(trace) <= 1000
    assert trace.thinned
    assert trace[-1].step == (~model.tree_.is_leaf).sum()
    assert all(a.step < b.step for a, b in pairwise(trace))
    ceiba.save(model, tmp_path / "tree.ceiba")
    back = ceiba.load(tmp_path / "tree.ceiba").trace_
    assert [frame.step for frame in back] == [frame.step for frame in trace]


def test_trace_does_not_change_the_tree() -> None:
    plain, traced = (DecisionTreeClassifier(trace=trace).fit(X, Y).tree_ for trace in (False, True))
    for name in ("nodes", "gain", "node_values", "ties", "runner_up_column", "runner_up_gain"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(traced, name))
