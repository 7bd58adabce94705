"""Monotonic and interaction constraints of trees: oracle, scikit-learn, probes, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier as SklearnClassifier
from sklearn.tree import DecisionTreeRegressor as SklearnRegressor

import ceiba
from ceiba import AdaBoostRegressor, BaggingRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.base import ParameterError
from ceiba.data.schema import Schema
from ceiba.tree.constraints import resolve_interactions
from tests.budget import examples
from tests.oracles.constraint_probes import (
    assert_interactions,
    assert_monotone,
    is_monotone,
    max_interacting,
)
from tests.oracles.tree_constraints import Constraints, assert_constrained_tree, two_classes
from tests.oracles.tree_fits import MISSING_POLICIES, fit
from tests.oracles.tree_naive import Options
from tests.oracles.tree_tables import Table, tables
from tests.tree.parts import in_parts

SIGNS = [1, -1, 0, 1]


def rows(n: int = 400, missing: float = 0.0) -> tuple[Any, Any, Any]:
    """Return four columns, a target that breaks SIGNS here and there, and two classes."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(float)  # scikit-learn rounds
    y = X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] + rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, (y > 0).astype(int)


X, NUMBERS, CLASSES = rows()


def probability(model: Any) -> Any:
    return lambda rows: model.predict_proba(rows)[:, 1]


# The oracle


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@examples(30)
@given(data=st.data())
def test_constrained_trees_equal_the_naive_search(criterion: str, data: Any) -> None:
    drawn = data.draw(tables(criterion, with_missing=data.draw(st.booleans()), rows=30))
    table = Table(drawn.columns, two_classes(drawn.target), drawn.weighted)
    kinds, n = [column.kind for column in table.columns], len(table.columns)
    signs = [0 if kind == "nominal" else data.draw(st.sampled_from([-1, 0, 1])) for kind in kinds]
    sets = data.draw(st.sampled_from([None, [[0]], [[0, 1], [1, 2]]]))
    if sets is not None:
        sets = [[j for j in group if j < n] for group in sets]
        rest = sorted(set(range(n)).difference(*sets))
        sets += [rest] if rest else []
    missing = data.draw(st.sampled_from(MISSING_POLICIES))
    options = Options(criterion, missing=missing, min_samples_leaf=data.draw(st.integers(1, 3)))
    model = fit(table, options, monotonic_cst=signs, interaction_cst=sets)
    assert_constrained_tree(model, table, options, Constraints(signs, sets))


def test_the_oracle_sees_every_reason() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, size=(60, 2)).astype(float)
    y = (rng.random(60) < 0.5).astype(int)
    model = DecisionTreeClassifier(monotonic_cst=[1, -1]).fit(x, y)
    assert "monotonic_cst" in set(model.tree_.reasons)
    assert "break a monotonic constraint" in model.to_text()


# scikit-learn


def nodes_of(tree: Any) -> list[tuple[int, int, float]]:
    """Return depth-first rows, column and value of the nodes of a tree of either library."""
    found, pending = [], [0]
    while pending:
        node = pending.pop()
        column = int(tree.feature[node])
        found.append(
            (int(tree.n_node_samples[node]), max(column, -1), float(tree.value[node, 0, 0]))
        )
        if column >= 0:
            pending += [tree.children_right[node], tree.children_left[node]]
    return found


def assert_same_nodes(ours: Any, theirs: Any) -> None:
    own, other = nodes_of(ours.tree_), nodes_of(theirs.tree_)
    assert [node[:2] for node in own] == [node[:2] for node in other]
    np.testing.assert_allclose([n[2] for n in own], [n[2] for n in other], rtol=1e-9, atol=1e-9)


# Of few rows, two columns often make the same branches.
FEW_TIES: dict[str, Any] = {"min_samples_leaf": 7}


@pytest.mark.parametrize("limits", [{}, {"max_leaf_nodes": 30}, {"max_depth": 6}], ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_regression_trees_equal_scikit_learns(limits: dict[str, Any], missing: float) -> None:
    own, target, _ = rows(missing=missing)
    options = {"monotonic_cst": SIGNS, **FEW_TIES, **limits}
    ours = DecisionTreeRegressor(**options).fit(own, target)
    theirs = SklearnRegressor(**options, random_state=0).fit(own, target)
    assert_same_nodes(ours, theirs)
    free = DecisionTreeRegressor(**FEW_TIES, **limits).fit(own, target)
    assert nodes_of(free.tree_) != nodes_of(ours.tree_)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_classification_trees_equal_scikit_learns(criterion: str) -> None:
    # Weights without ties. scikit-learn splits pure nodes if their impurity is rounded to more than
    # zero, so nodes are not compared.
    weight = np.random.default_rng(1).random(len(X)) + 0.5
    options: dict[str, Any] = {"criterion": criterion, "monotonic_cst": SIGNS}
    ours = DecisionTreeClassifier(**options).fit(X, CLASSES, weight)
    theirs = SklearnClassifier(**options, random_state=0).fit(X, CLASSES, weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_friedman_mse_grows_scikit_learns_trees(missing: float) -> None:
    own, target, _ = rows(missing=missing)
    with pytest.warns(FutureWarning):
        theirs = SklearnRegressor(criterion="friedman_mse", **FEW_TIES).fit(own, target)
    ours = DecisionTreeRegressor(criterion="friedman_mse", **FEW_TIES).fit(own, target)
    assert_same_nodes(ours, theirs)
    assert ours.get_params()["criterion"] == "friedman_mse"


# Probes


GROWTH: list[dict[str, Any]] = [
    {},
    {"max_leaf_nodes": 20},
    {"growth": "breadth_first", "max_leaf_nodes": 20},
    {"max_bins": 12},
    {"missing": "branch"},
    {"missing": "majority"},
    {"splitter": "random"},
    {"thresholds": "quantile", "threshold_scope": "root"},
    {"thresholds": "value"},
    {"max_features": 2},
    {"ccp_alpha": 0.002},
    {"pruning": "reduced_error"},
]
OF_CLASSES: list[dict[str, Any]] = [
    {"criterion": "entropy"},
    {"criterion": "log_loss"},
    {"criterion": "gain_ratio"},
    {"criterion": "error"},
    {"class_weight": "balanced"},
    {"class_weight": {0: 3.5}},
    {"cost_matrix": np.array([[0, 1.0], [3.7, 0]])},
    {"pruning": "pessimistic"},
    {"collapse": True},
]


@pytest.mark.parametrize("options", [*GROWTH, {"criterion": "poisson"}], ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_regression_trees_are_monotone(options: dict[str, Any], missing: float) -> None:
    own, target, _ = rows(missing=missing)
    weight = np.random.default_rng(2).random(len(own)) + 0.1 if missing else None
    target = np.exp(target / 4)
    model = DecisionTreeRegressor(monotonic_cst=SIGNS, **options).fit(own, target, weight)
    assert_monotone(model.predict, own[:60], SIGNS)
    free = DecisionTreeRegressor(**options).fit(own, target, weight)
    assert not is_monotone(free.predict, own[:60], SIGNS)


@pytest.mark.parametrize("options", [*GROWTH, *OF_CLASSES], ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_classification_trees_are_monotone(options: dict[str, Any], missing: float) -> None:
    own, _, target = rows(missing=missing)
    weight = np.random.default_rng(2).random(len(own)) + 0.1 if missing else None
    model = DecisionTreeClassifier(monotonic_cst=SIGNS, **options).fit(own, target, weight)
    assert_monotone(probability(model), own[:60], SIGNS)
    free = DecisionTreeClassifier(**options).fit(own, target, weight)
    assert not is_monotone(probability(free), own[:60], SIGNS)


def test_ordinal_and_integer_columns_are_constrained_and_nominal_ones_are_free() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({
        "size": pd.Categorical(rng.choice([*"SML"], 300), [*"SML"], ordered=True),
        "n": rng.integers(0, 20, 300),
        "color": pd.Categorical(rng.choice([*"rgb"], 300)),
    })  # fmt: skip
    y = frame["n"] % 5 + frame["size"].cat.codes * (frame["color"].cat.codes - 1) + rng.random(300)
    model = DecisionTreeRegressor(monotonic_cst={"size": 1, "n": -1}).fit(frame, y)
    other = frame.assign(n=frame["n"] + 3)
    assert (model.predict(other) <= model.predict(frame)).all()
    by_size = [
        model.predict(frame.assign(size=pd.Categorical([s] * 300, [*"SML"], ordered=True)))
        for s in "SML"
    ]
    assert (np.diff(by_size, axis=0) >= 0).all()
    assert np.ptp(by_size, axis=0).max() > 0


def test_a_tree_pruned_by_cross_validation_is_monotone() -> None:
    model = DecisionTreeRegressor(monotonic_cst=SIGNS, pruning="cost_complexity", prune_rule="min")
    model.fit(X, NUMBERS)
    assert 1 < model.get_n_leaves() < model.unpruned().get_n_leaves()
    assert_monotone(model.predict, X[:60], SIGNS)


def test_pruned_trees_stay_monotone_at_every_step() -> None:
    model = DecisionTreeClassifier(monotonic_cst=SIGNS).fit(X, CLASSES)
    steps = len(model.cost_complexity_pruning_path(X, CLASSES).ccp_alphas)
    for step in range(0, steps, 3):
        assert_monotone(probability(model.pruned("step", step=step)), X[:40], SIGNS)
    with pytest.raises(ParameterError, match="requires subtree_raising=False"):
        model.pruned("pessimistic", X, CLASSES, subtree_raising=True)


@pytest.mark.parametrize("classify", [True, False])
def test_members_of_ensembles_keep_constraints(classify: bool) -> None:
    if classify:
        member = DecisionTreeClassifier(monotonic_cst=SIGNS)
        bagging = ceiba.BaggingClassifier(member, 5).fit(X, CLASSES)
        assert_monotone(probability(bagging), X[:40], SIGNS)
        return
    member = DecisionTreeRegressor(monotonic_cst=SIGNS, interaction_cst=[[0, 1]])
    assert_monotone(BaggingRegressor(member, 5).fit(X, NUMBERS).predict, X[:40], SIGNS)
    for tree in AdaBoostRegressor(member, n_estimators=5).fit(X, NUMBERS).estimators_:
        assert_monotone(tree.predict, X[:40], SIGNS)
        assert_interactions(tree.tree_, [[0, 1], [2, 3]])


# Engines, threads, files


@pytest.mark.parametrize("bounds", [[], [130, 131, 260]])
def test_partitions_grow_the_same_constrained_tree(bounds: list[int], monkeypatch: Any) -> None:
    from ceiba.tree.grow import grower

    options = {"monotonic_cst": SIGNS, "interaction_cst": [[0, 1], [1, 2, 3]], "max_bins": 16}
    whole = DecisionTreeClassifier(**options).fit(X, CLASSES)
    # No row is gathered: every depth is solved from sums.
    monkeypatch.setattr(grower, "GATHER_BYTES", 0)
    parts = in_parts(X, CLASSES, None, bounds)
    model = DecisionTreeClassifier(**options).fit(parts)
    assert model.tree_.nodes.tobytes() == whole.tree_.nodes.tobytes()
    assert model.tree_.node_values.tobytes() == whole.tree_.node_values.tobytes()
    # Depth by depth, and then the rest in memory.
    monkeypatch.setattr(grower, "GATHER_BYTES", 250 * 52)
    model = DecisionTreeClassifier(**options).fit(parts)
    assert model.tree_.node_values.tobytes() == whole.tree_.node_values.tobytes()


@pytest.mark.parametrize("limits", [{}, {"max_leaf_nodes": 200}, {"max_features": 2}], ids=str)
def test_threads_do_not_change_constrained_trees(limits: dict[str, Any]) -> None:
    own, target, _ = rows(20_000)
    options = {"monotonic_cst": SIGNS, "interaction_cst": "pairwise", "min_samples_leaf": 20}
    one, two = (
        DecisionTreeRegressor(**options, **limits, n_jobs=n).fit(own, target) for n in (1, 2)
    )
    assert one.tree_.nodes.tobytes() == two.tree_.nodes.tobytes()
    assert_monotone(one.predict, own[:40], SIGNS)
    assert_interactions(one.tree_, [[i, j] for i in range(4) for j in range(4)])


def test_constrained_trees_are_saved(tmp_path: Any) -> None:
    model = DecisionTreeClassifier(monotonic_cst=SIGNS, interaction_cst=[[0, 1]]).fit(X, CLASSES)
    ceiba.save(model, tmp_path / "tree.ceiba")
    loaded = ceiba.load(tmp_path / "tree.ceiba")
    assert loaded.get_params()["monotonic_cst"] == SIGNS
    assert loaded.get_params()["interaction_cst"] == [[0, 1]]
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


# Interactions


SETS = [[0, 1], [2], [1, 3]]


@pytest.mark.parametrize(
    "options",
    [
        {}, {"max_leaf_nodes": 30}, {"max_features": 1}, {"max_bins": 8}, {"missing": "fractional"},
        {"missing": "branch", "splits": "intervals", "n_intervals": 3},
        {"criterion": "absolute_error"}, {"splitter": "random"}, {"feature_reuse": "none"},
    ],
    ids=str,
)  # fmt: skip
def test_paths_stay_in_a_set(options: dict[str, Any]) -> None:
    own, target, _ = rows(missing=0.1)
    model = DecisionTreeRegressor(interaction_cst=SETS, **options).fit(own, target)
    assert_interactions(model.tree_, SETS)
    assert max_interacting(model.tree_) == 2
    assert max_interacting(DecisionTreeRegressor(**options).fit(own, target).tree_) > 2


def test_surrogates_are_refused_with_interactions() -> None:
    with pytest.raises(ParameterError, match="interaction_cst requires another missing"):
        DecisionTreeRegressor(interaction_cst=SETS, missing="surrogate").fit(X, NUMBERS)


# Refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"splits": "multiway"}, "monotonic_cst requires splits='binary', got 'multiway'"),
        ({"splits": "intervals"}, "monotonic_cst requires splits='binary', got 'intervals'"),
        ({"missing": "fractional"}, "requires missing='learned', .* got 'fractional'"),
        ({"missing": "surrogate"}, "requires missing='learned', .* got 'surrogate'"),
        ({"leaf_probability": "laplace"}, "requires leaf_probability='plain', got 'laplace'"),
        ({"leaf_probability": "m_estimate"}, "requires leaf_probability='plain'"),
        ({"algorithm": "c45"}, "monotonic_cst requires"),
        (
            {"pruning": "pessimistic", "subtree_raising": True},
            "requires subtree_raising=False, got True",
        ),
    ],
    ids=str,
)
def test_settings_that_break_constraints_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        DecisionTreeClassifier(monotonic_cst=SIGNS, **options).fit(X, CLASSES)


def test_medians_and_three_classes_are_refused() -> None:
    with pytest.raises(ParameterError, match="requires criterion='squared_error' or 'poisson'"):
        DecisionTreeRegressor(monotonic_cst=SIGNS, criterion="absolute_error").fit(X, NUMBERS)
    three = np.arange(len(X)) % 3
    with pytest.raises(ParameterError, match="monotonic_cst requires two classes, got 3"):
        DecisionTreeClassifier(monotonic_cst=SIGNS).fit(X, three)
    with pytest.raises(ParameterError, match="monotonic_cst has shape 1 but"):
        DecisionTreeClassifier(monotonic_cst=[1]).fit(X, CLASSES)


def test_no_sign_and_one_class_are_no_constraint() -> None:
    free = DecisionTreeRegressor().fit(X, NUMBERS)
    zeros = DecisionTreeRegressor(monotonic_cst=[0, 0, 0, 0]).fit(X, NUMBERS)
    assert zeros.tree_.nodes.tobytes() == free.tree_.nodes.tobytes()
    single = DecisionTreeClassifier(monotonic_cst=SIGNS).fit(X, np.zeros(len(X), int))
    assert single.get_n_leaves() == 1


@pytest.mark.parametrize(
    ("n_columns", "expected"),
    [(1, None), (2, None), (3, [[0, 1], [0, 2], [1, 2]])],
)
def test_pairwise_stands_for_all_pairs(n_columns: int, expected: Any) -> None:
    found = resolve_interactions("pairwise", Schema.numeric(n_columns))
    assert (found and [pair.tolist() for pair in found]) == expected
    if n_columns == 3:
        pairs = resolve_interactions([[0, 1], [0, 2], [1, 2]], Schema.numeric(3))
        assert found[0].dtype == pairs[0].dtype


@pytest.mark.parametrize("learner", [DecisionTreeClassifier(), ceiba.RandomForestRegressor(2)])
def test_pairs_of_many_columns_raise(learner: Any) -> None:
    wide = np.zeros((20, 1001))
    with pytest.raises(ParameterError, match="1,001, which form 500,500 pairs"):
        learner.set_params(interaction_cst="pairwise").fit(wide, np.arange(20) % 2)
