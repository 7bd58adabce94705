"""Shapley values of trees: against all coalitions, additivity, threads, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.data.table import Table
from ceiba.tree.explain.shap import TreeSum, node_predictions
from tests.budget import examples
from tests.oracles.shap_naive import (
    branches,
    interventional_value,
    path_dependent_value,
    shapley_values,
)


def mixed_frame(rng, n):
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.integers(0, 6, n),
            "c": pd.Categorical(rng.choice(["u", "v", "w", "x"], n)),
            "d": rng.normal(size=n).astype(np.float32),
            "e": pd.Categorical(rng.choice(["low", "mid", "high"], n), ordered=True),
        }
    )
    frame.loc[rng.random(n) < 0.2, "a"] = np.nan
    frame.loc[rng.random(n) < 0.2, "c"] = None
    return frame


def targets(rng, frame, classes):
    signal = frame["a"].fillna(0.3).to_numpy() * (frame["b"].to_numpy() > 2)
    signal = signal + (frame["c"].isin(["u", "x"])).to_numpy() + 0.3 * rng.normal(size=len(frame))
    if not classes:
        return signal
    return np.array(["p", "q", "r"])[np.digitize(signal, [0.2, 0.9])]


OPTIONS = [
    {"max_depth": 4},
    {"algorithm": "c45", "missing": "learned", "max_depth": 3, "pruning": "none"},
    {"algorithm": "id3", "missing": "learned", "max_depth": 3, "empty_branches": True},
    {"missing": "branch", "splits": "intervals", "n_intervals": 3, "max_depth": 3},
]


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 1, 2, 3]),
    st.booleans(),
    st.sampled_from([0, 12]),
)
def test_values_are_those_of_all_coalitions(seed, option, classes, n_background):
    rng = np.random.default_rng(seed)
    frame = mixed_frame(rng, 80)
    classes = classes or option > 0
    learner = DecisionTreeClassifier if classes else DecisionTreeRegressor
    model = learner(**OPTIONS[option]).fit(frame, targets(rng, frame, classes))
    tree = model.tree_
    rows = mixed_frame(rng, 60)[list(frame.columns)].iloc[: 2 + n_background]
    table = Table.of(rows, model.schema_)
    values, branch = node_predictions(tree), branches(tree, table)
    background = rows.iloc[2:] if n_background else None
    others = range(2, 2 + n_background)
    found = model.shap_values(rows.iloc[:2], background)
    found = found if classes else found[:, :, None]
    for row in range(2):
        if n_background:
            expected = shapley_values(
                lambda known, i=row: interventional_value(tree, branch, values, i, known, others),
                len(tree.schema),
            )
        else:
            expected = shapley_values(
                lambda known, i=row: path_dependent_value(tree, branch, values, i, known),
                len(tree.schema),
            )
        np.testing.assert_allclose(found[row], expected, rtol=1e-10, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.booleans())
@examples(20)
def test_fractional_rows_pass_a_missing_column_as_the_training_rows_do(seed, classes):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(70, 4)).round(1)
    X[rng.random(X.shape) < 0.25] = np.nan
    signal = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + np.nan_to_num(X[:, 2])
    learner = DecisionTreeClassifier if classes else DecisionTreeRegressor
    model = learner(missing="fractional", max_depth=5)
    model.fit(X, np.digitize(signal, [-0.5, 0.5]) if classes else signal)
    tree = model.tree_
    values, branch = node_predictions(tree), branches(tree, Table.of(X[:4], tree.schema))
    found = model.shap_values(X[:4]).reshape(4, 4, -1)
    for row in range(4):
        observed = set(np.flatnonzero(~np.isnan(X[row])).tolist())
        expected = shapley_values(
            lambda known, i=row, own=observed: path_dependent_value(
                tree, branch, values, i, known & own
            ),
            4,
        )
        np.testing.assert_allclose(found[row], expected, rtol=1e-10, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.booleans())
@examples(20)
def test_fractional_rows_with_absent_categories_add_up(seed, is_c45):
    rng = np.random.default_rng(seed)
    frame = mixed_frame(rng, 120)
    options = {"algorithm": "c45", "pruning": "none"} if is_c45 else {"missing": "fractional"}
    model = DecisionTreeClassifier(**options).fit(frame[:80], targets(rng, frame, True)[:80])
    total = model.explain(frame[:1]).base + model.shap_values(frame).sum(axis=1)
    np.testing.assert_allclose(total, model.predict_proba(frame), rtol=1e-10, atol=1e-12)
    complete = frame[frame.notna().all(axis=1)][["a", "b", "d"]]
    model = DecisionTreeClassifier(**options).fit(complete, complete["a"] * complete["b"] > 0.5)
    found = model.shap_values(complete, complete[:5])
    total = model.predict_proba(complete[:5]).mean(axis=0) + found.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_proba(complete), rtol=1e-10, atol=1e-12)


def test_the_path_of_a_fractional_row_ends_where_it_reaches_several_leaves():
    X = [[0.0], [1.0], [5.0], [6.0]]
    model = DecisionTreeClassifier(missing="fractional").fit(X, ["a", "a", "b", "b"])
    assert model.explain([[0.5]]).path == ["x0 <= 3"]
    assert model.explain([[np.nan]]).path == []


def boosted(n_trees=6, n_columns=20):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, n_columns))
    y = X @ rng.normal(size=n_columns) + X[:, 0] * X[:, 1]
    trees, score = [], np.zeros(len(y))
    for _ in range(n_trees):
        model = DecisionTreeRegressor(max_leaf_nodes=120).fit(X, y - score)
        score += 0.3 * model.predict(X)
        trees.append(model.tree_)
    return X, trees, score


def test_sum_of_trees_is_additive_and_does_not_depend_on_threads():
    # Deep trees with up to 20 columns on a path: quadrature of more points than a vector has.
    X, trees, score = boosted()
    whole = TreeSum.of(trees, [node_predictions(tree) for tree in trees], np.full(len(trees), 0.3))
    table = Table.of(X, trees[0].schema)
    found = whole.explain(table, threads=1)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), score[:, None], rtol=1e-10)
    np.testing.assert_array_equal(whole.explain(table, threads=2).values, found.values)
    background = table.take(np.arange(30))
    others = whole.explain(table, background, threads=1)
    np.testing.assert_allclose(others.base[0], score[:30].mean(), rtol=1e-10)
    np.testing.assert_allclose(others.base + others.values.sum(axis=1), score[:, None], rtol=1e-10)
    np.testing.assert_array_equal(whole.explain(table, background, threads=2).values, others.values)


def test_each_tree_adds_to_its_output():
    X, trees, _ = boosted(4)
    values = np.concatenate([node_predictions(tree)[:, 0] for tree in trees])
    joined = TreeSum.of(trees, [node_predictions(tree) for tree in trees], np.ones(4))
    by_output = TreeSum(
        joined.nodes, joined.tree_offsets, joined.words, joined.tables, joined.schema, values,
        joined.cover, joined.scale, np.array([0, 1, 0, 1], np.int32), np.array([5.0, -5.0]),
    )  # fmt: skip
    table = Table.of(X[:9], joined.schema)
    for background in (None, table):
        found = by_output.explain(table, background)
        for output in (0, 1):
            own = trees[output::2]
            alone = TreeSum.of(own, [node_predictions(tree) for tree in own], np.ones(2))
            expected = alone.explain(table, background)
            np.testing.assert_allclose(
                found.values[:, :, output], expected.values[:, :, 0], rtol=1e-12
            )
            assert found.base[output] == pytest.approx(expected.base[0] + (5.0, -5.0)[output])


def test_many_classes_and_unseen_categories():
    rng = np.random.default_rng(3)
    frame = mixed_frame(rng, 400)
    y = rng.integers(0, 11, 400)  # more outputs than the kernel takes at a time
    model = DecisionTreeClassifier(max_depth=6).fit(frame, y)
    rows = frame.iloc[:20].assign(c="new")
    with pytest.warns(UserWarning, match="new"):
        found = model.shap_values(rows)
    missing = model.shap_values(frame.iloc[:20].assign(c=None))
    np.testing.assert_array_equal(found, missing)
    with pytest.warns(UserWarning, match="new"):
        probabilities = model.predict_proba(rows)
    base = model._tree_sum().explain(Table.of(frame, model.schema_)).base
    np.testing.assert_allclose(base + found.sum(axis=1), probabilities, rtol=1e-10, atol=1e-14)


def test_single_leaf():
    model = DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    assert model.shap_values([[1.0]]).tolist() == [[0.0]]
    explanation = model.explain([[1.0]])
    assert explanation.base.tolist() == explanation.scores.tolist() == [3.0]


def test_refusals():
    rng = np.random.default_rng(0)
    frame = mixed_frame(rng, 60)
    y = targets(rng, frame, True)
    model = DecisionTreeClassifier(missing="surrogate").fit(frame, y)
    with pytest.raises(ValueError, match="missing='surrogate'"):
        model.shap_values(frame)
    model = DecisionTreeClassifier(missing="fractional").fit(frame, y)
    with pytest.raises(ValueError, match="background requires rows that follow one branch"):
        model.shap_values(frame, frame)
    model = DecisionTreeClassifier().fit(frame, y)
    with pytest.raises(ValueError, match="X must be one row, got 2"):
        model.explain(frame.iloc[:2])
    with pytest.raises(ValueError, match="0 sample"):
        model.shap_values(frame, frame.iloc[:0])
