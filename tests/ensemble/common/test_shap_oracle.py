"""Shapley values of ensembles against all coalitions of columns, and of shap's own explainer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from ceiba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from ceiba.data.table import Table
from ceiba.export import to_sklearn
from ceiba.tree.explain.shap import TreeSum, node_predictions
from tests.budget import examples
from tests.ensemble.common.test_explain import check_additive
from tests.oracles.shap_naive import (
    branches,
    interventional_value,
    path_dependent_value,
    shapley_values,
)
from tests.tree.explain.test_shap import mixed_frame, targets

BOOSTED = [
    GradientBoostingClassifier(3, max_leaf_nodes=6),
    GradientBoostingClassifier(3, max_leaf_nodes=6, dropout=0.5),
    GradientBoostingClassifier(3, max_leaf_nodes=6, subsample=0.5),
    GradientBoostingClassifier(3, max_leaf_nodes=6, multi_strategy="multi_output_tree"),
    GradientBoostingRegressor(4, max_leaf_nodes=6, dropout=0.5),
    GradientBoostingRegressor(3, max_leaf_nodes=6, method="gradient", loss="absolute_error"),
    GradientBoostingRegressor(3, max_leaf_nodes=6, init="zero", max_features=0.5),
]
FORESTS = [
    RandomForestClassifier(3, max_depth=4),
    RandomForestClassifier(3, max_depth=4, thresholds="random", bootstrap=False),
    ExtraTreesClassifier(3, max_depth=4),
    RandomForestRegressor(3, max_depth=4, max_bins=16),
]


def check_oracle(model: Any, rows: Any, n_background: int) -> None:
    """Compare the values of the first row with those of all coalitions, tree by tree."""
    trees = sum_of_trees(model)
    table, others = Table.of(rows, model.schema_), range(1, 1 + n_background)
    expected = 0.0
    for tree, values, output in trees:
        branch = branches(tree, table)

        def value_of(known, tree=tree, branch=branch, values=values):
            if n_background:
                return interventional_value(tree, branch, values, 0, known, others)
            return path_dependent_value(tree, branch, values, 0, known)

        found = shapley_values(value_of, len(tree.schema))
        expected = expected + found @ output
    background = rows.iloc[1 : 1 + n_background] if n_background else None
    found = model.shap_values(rows.iloc[:1], background)[0]
    np.testing.assert_allclose(found.reshape(len(found), -1), expected, rtol=1e-9, atol=1e-12)


def sum_of_trees(model: Any) -> list[tuple[Any, Any, Any]]:
    """Return the trees with the values of their nodes, and a matrix from values to scores."""
    if not hasattr(model, "boosted_trees_"):
        trees = list(model)
        return [
            (
                tree.tree_,
                node_predictions(tree.tree_),
                np.eye(node_predictions(tree.tree_).shape[1]) / len(trees),
            )
            for tree in trees
        ]
    boosted = model.boosted_trees_
    trees = [boosted.tree(number) for number in range(boosted.n_trees)]
    outputs = np.eye(boosted.n_outputs)
    return [
        (tree, node_predictions(tree), outputs[[number % boosted.n_outputs]])
        for number, tree in enumerate(trees)
    ]


@pytest.mark.parametrize("n_background", [0, 6])
@pytest.mark.parametrize(
    "learner", BOOSTED + FORESTS, ids=lambda model: " ".join(repr(model).split())
)
def test_values_are_those_of_all_coalitions(learner: Any, n_background: int) -> None:
    rng = np.random.default_rng(7)
    frame = mixed_frame(rng, 160)
    is_classifier = hasattr(learner, "predict_proba")
    y = targets(rng, frame, is_classifier)
    weight = rng.integers(1, 4, len(frame)).astype(float)
    model = clone(learner).fit(frame, y, sample_weight=weight)
    check_oracle(model, frame.iloc[: 1 + n_background], n_background)


@given(st.integers(0, 2**32 - 1), st.sampled_from(BOOSTED + FORESTS), st.sampled_from([0, 3]))
@examples(60)
def test_values_add_up_to_the_scores(seed: int, learner: Any, n_background: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(45, 120))
    frame = mixed_frame(rng, n)
    if rng.random() < 0.3:
        frame["a"] = np.nan
    is_classifier = hasattr(learner, "predict_proba")
    y = targets(rng, frame, is_classifier)
    model = clone(learner).set_params(random_state=int(rng.integers(100)))
    check_additive(model.fit(frame, y), frame, n_background)


def test_one_column_repeated_and_deep_trees() -> None:
    # A path of 60 conditions on two columns, and one on 80 columns, more than a pattern has bits.
    X = np.column_stack([np.arange(64.0), np.arange(64.0)[::-1] % 5])
    model = DecisionTreeRegressor(max_depth=60).fit(X, 3.0 ** np.arange(64))
    assert model.tree_.depth.max() == 60
    for background in (None, X[:9]):
        found = model.shap_values(X, background)
        base = model.predict(X) - found.sum(axis=1)
        np.testing.assert_allclose(base, base[0], atol=1e-10 * 3.0**63)
    X = np.triu(np.ones((81, 80)))[:, ::-1]
    y = 5.0 ** (np.arange(81) - 80)
    model = DecisionTreeRegressor().fit(X, y)
    assert model.tree_.depth.max() == 80
    found = model.shap_values(X)
    base = model._tree_sum().explain(Table.of(X, model.schema_)).base
    np.testing.assert_allclose(base + found.sum(axis=1), y, atol=1e-12)
    with pytest.raises(ValueError, match="at most 64 columns on a path"):
        model.shap_values(X, X[:3])


def test_branches_without_rows_and_pruned_trees() -> None:
    rng = np.random.default_rng(0)
    frame = mixed_frame(rng, 200)
    y = targets(rng, frame, True)
    weight = np.where(frame["c"].isin(["u", "v"]), 0.0, 1.0)
    model = DecisionTreeClassifier(
        algorithm="id3", missing="learned", max_depth=4, empty_branches=True
    ).fit(frame, y, sample_weight=weight)
    check_additive(model, frame, 0)
    check_additive(model, frame, 5)
    # Covers of zero, as a tree has whose rows were replaced: nodes divide their own evenly.
    tree = model.tree_
    whole = TreeSum.of([tree], [node_predictions(tree)], np.ones(1))
    empty = TreeSum(
        whole.nodes, whole.tree_offsets, whole.words, whole.tables, whole.schema,
        whole.leaf_values, np.zeros(len(whole.cover)), whole.scale,
    )  # fmt: skip
    table = Table.of(frame.iloc[:20], model.schema_)
    found = empty.explain(table)
    total = found.base + found.values.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_proba(frame.iloc[:20]), atol=1e-12)
    pruned = DecisionTreeClassifier(max_depth=8).fit(frame, y).pruned("cost_complexity", alpha=0.01)
    check_additive(pruned, frame, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [DecisionTreeClassifier(max_depth=6), RandomForestClassifier(8, max_depth=6),
     DecisionTreeRegressor(max_depth=6), RandomForestRegressor(8, max_depth=6)],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
@pytest.mark.parametrize("is_interventional", [False, True])
def test_values_are_those_of_the_package_shap(learner: Any, is_interventional: bool) -> None:
    shap = pytest.importorskip("shap", reason="requires ceiba[interop]")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)).astype(np.float32).astype(np.float64)
    signal = X[:, 0] * X[:, 1] + X[:, 2]
    y = np.digitize(signal, [-0.5, 0.5]) if hasattr(learner, "predict_proba") else signal
    model = clone(learner).fit(X, y)
    background = X[:20] if is_interventional else None
    options = {
        "feature_perturbation": "interventional" if is_interventional else "tree_path_dependent"
    }
    explainer = shap.TreeExplainer(to_sklearn(model), background, **options)
    expected = np.asarray(explainer.shap_values(X[:40], check_additivity=False))
    # shap keeps the values of trees in float64, but thresholds and rows in float32.
    np.testing.assert_allclose(model.shap_values(X[:40], background), expected, atol=1e-6)
